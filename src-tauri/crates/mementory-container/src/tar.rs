//! Lists tar archives. Their entries are read in place, like stored entries of a ZIP file.
use super::{source::Source, zip::Entry};
use std::io::{ErrorKind, Result};

/// Bytes of a header block.
const BLOCK_BYTES: usize = 512;
/// Offset of the magic `ustar` in a header.
const MAGIC_OFFSET: usize = 257;
/// File type bits of links and of other entries that are not files, as in Unix modes.
const LINK_MODE: u32 = 0o120_000;
const FOLDER_MODE: u32 = 0o040_000;
const DEVICE_MODE: u32 = 0o020_000;

/// The entries of a tar archive.
pub(super) struct Listing {
    /// In the order of the archive, including duplicates.
    pub(super) entries: Vec<Entry>,
    /// True if the archive ends inside an entry, or if a header is missing where one is expected.
    pub(super) truncated: bool,
}

/// True for the first block of a tar archive that has the magic of POSIX or GNU.
pub(super) fn is_tar_head(head: &[u8]) -> bool {
    head.get(MAGIC_OFFSET..MAGIC_OFFSET + 5) == Some(b"ustar")
}

/// Number of bytes that [`is_tar_head`] examines.
pub(super) const TAR_HEAD: usize = BLOCK_BYTES;

/// Lists at most `max` entries.
///
/// # Errors
/// I/O. Damage is not an error: it sets `truncated`.
pub(super) fn list(source: &Source, max: u64) -> Result<Listing> {
    let mut archive = ::tar::Archive::new(source.window(0)?);
    let mut listing = Listing { entries: Vec::new(), truncated: false };
    for entry in archive.entries_with_seek()? {
        if listing.entries.len() as u64 >= max {
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if is_damage(&error) => {
                listing.truncated = true;
                break;
            }
            Err(error) => return Err(error),
        };
        let kind = entry.header().entry_type();
        let mode = match kind {
            _ if kind.is_file() || kind.is_contiguous() => 0,
            _ if kind.is_dir() => FOLDER_MODE,
            _ if kind.is_symlink() || kind.is_hard_link() => LINK_MODE,
            _ if kind.is_pax_global_extensions() => continue,
            // Sparse files are not read either, because they are stored without their gaps. Exports contain none.
            _ => DEVICE_MODE,
        };
        let raw_name = entry.path_bytes().into_owned();
        let name = String::from_utf8_lossy(&raw_name).into_owned();
        let (at, size) = (entry.raw_file_position(), entry.size());
        let len = size.min(source.len().saturating_sub(at));
        listing.truncated |= len < size;
        listing.entries.push(Entry::stored(name, &raw_name, at, len, size, mode));
    }
    Ok(listing)
}

/// True for errors that come from the bytes and not from the system.
fn is_damage(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other
    )
}
