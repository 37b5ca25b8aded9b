//! Lists tar archives. Their entries are read in place, like stored entries of a ZIP file.
use super::{source::Source, zip::Entry};
use std::io::{BufReader, ErrorKind, Read, Result};

/// Number of damaged headers after which the rest of an archive is not listed, because each of them costs a search for
/// the next header.
const MAX_DAMAGED_HEADERS: u32 = 1000;
/// Bytes of a header block.
const BLOCK_BYTES: usize = 512;
/// Offset of the checksum in a header.
const CHECKSUM_OFFSET: usize = 148;
/// Offset of the magic `ustar` in a header.
const MAGIC_OFFSET: usize = 257;
/// File type bits of links and of other entries that are not files, as in Unix modes.
const LINK_MODE: u32 = 0o120_000;
const FOLDER_MODE: u32 = 0o040_000;
const DEVICE_MODE: u32 = 0o020_000;

/// The entries of a tar archive.
pub(super) struct Listing {
    /// Entries in the order of the archive, including duplicates.
    pub(super) entries: Vec<Entry>,
    /// True if the archive ends inside an entry, or if a header is missing where one is expected.
    pub(super) is_truncated: bool,
}

/// True for the first block of a tar archive that has the magic of POSIX or GNU.
pub(super) fn is_tar_head(head: &[u8]) -> bool {
    head.get(MAGIC_OFFSET..MAGIC_OFFSET + 5) == Some(b"ustar")
}

/// Number of bytes that [`is_tar_head`] examines.
pub(super) const TAR_HEAD_BYTES: usize = BLOCK_BYTES;

/// Lists at most `max` entries. If a header is damaged, the entries after the next undamaged header are listed too.
///
/// # Errors
/// I/O. Damage is not an error: it sets `is_truncated`.
pub(super) fn list(source: &Source, max: u64) -> Result<Listing> {
    let mut listing = Listing { entries: Vec::new(), is_truncated: false };
    let mut start = 0;
    for _ in 0..=MAX_DAMAGED_HEADERS {
        let Some(damage) = list_from(source, start, max, &mut listing)? else { break };
        listing.is_truncated = true;
        match find_header(source, damage.saturating_add(BLOCK_BYTES as u64))? {
            Some(position) => start = position,
            None => break,
        }
    }
    Ok(listing)
}

/// Adds the entries from the header at `start` on, up to the end or to damage. Returns the offset at which a header is
/// damaged or missing.
fn list_from(source: &Source, start: u64, max: u64, listing: &mut Listing) -> Result<Option<u64>> {
    let mut archive = ::tar::Archive::new(source.slice(start, u64::MAX).window(0)?);
    let mut next_offset = start;
    for entry in archive.entries_with_seek()? {
        if listing.entries.len() as u64 >= max {
            break;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if is_damage(&error) => return Ok(Some(next_offset)),
            Err(error) => return Err(error),
        };
        let (position, size) = (start + entry.raw_file_position(), entry.size());
        next_offset = position.saturating_add(size).checked_next_multiple_of(BLOCK_BYTES as u64).unwrap_or(u64::MAX);
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
        let len = size.min(source.len().saturating_sub(position));
        listing.is_truncated |= len < size;
        listing.entries.push(Entry::stored(name, &raw_name, position, len, size, mode));
    }
    Ok(None)
}

/// The offset of the first block from `position` on that is a header with a correct checksum.
fn find_header(source: &Source, mut position: u64) -> Result<Option<u64>> {
    let mut reader = BufReader::with_capacity(128 << 10, source.window(position)?);
    let mut block = [0; BLOCK_BYTES];
    loop {
        match reader.read_exact(&mut block) {
            Ok(()) if is_tar_head(&block) && has_checksum(&block) => return Ok(Some(position)),
            Ok(()) => position += BLOCK_BYTES as u64,
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// True if the stated checksum of a header matches its bytes. The field of the checksum counts as spaces.
fn has_checksum(block: &[u8; BLOCK_BYTES]) -> bool {
    let (bytes_before, rest) = block.split_at(CHECKSUM_OFFSET);
    let (field, bytes_after) = rest.split_at(8);
    let sum: u32 = bytes_before.iter().chain(b"        ").chain(bytes_after).map(|byte| u32::from(*byte)).sum();
    let digits = std::str::from_utf8(field).unwrap_or_default().trim_matches([' ', '\0']);
    u32::from_str_radix(digits, 8) == Ok(sum)
}

/// True for errors that come from the bytes and not from the system.
fn is_damage(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other
    )
}
