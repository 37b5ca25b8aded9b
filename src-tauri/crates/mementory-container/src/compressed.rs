//! Replaces gzip files (`.gz`, `.tgz`) and zstd files (`.zst`, `.zstd`) with their content. The content is written to
//! scratch space, because it is read several times and, if it is a tar archive, at any position.
use super::{
    catalog::Catalog,
    compressed_name::{content_name, is_compressed_name},
    member::{Location, Member},
    nested,
    resources::{MAX_IN_MEMORY_BYTES, Resources},
    unpack::{Unpacked, unpack},
};
use crate::FormatError;
use flate2::bufread::MultiGzDecoder;
use mementory_model::{Issue, Limits};
use std::io::{BufReader, Error, Read};

/// First bytes of a gzip file whose method is deflate.
const GZIP_HEAD: [u8; 3] = [0x1f, 0x8b, 8];
/// First bytes of a zstd frame.
const ZSTD_HEAD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Largest window of a zstd file that is opened, as a power of two: 128 MiB, the limit of zstd's own program. A larger
/// window could use up the memory.
const MAX_ZSTD_WINDOW: u32 = 27;

/// Compression method of a file.
#[derive(Debug, Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// Decides by the first bytes of a file. None for a file that is not compressed.
    fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(&GZIP_HEAD) {
            return Some(Self::Gzip);
        }
        head.starts_with(&ZSTD_HEAD).then_some(Self::Zstd)
    }

    /// Returns a reader of the decompressed content. A file may consist of several compressed streams, which are all
    /// read.
    fn decoder<'r>(self, bytes: &'r mut dyn Read) -> Result<Box<dyn Read + 'r>, Error> {
        let bytes = BufReader::with_capacity(128 << 10, bytes);
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?;
                decoder.window_log_max(MAX_ZSTD_WINDOW)?;
                Box::new(decoder)
            }
        })
    }
}

/// Unpacks the member if it is a compressed file that is not a file of the user. A damaged file is unpacked up to the
/// damage, and the damage is added as an issue.
///
/// # Errors
/// I/O; `Limit` with `expanded_bytes` for a file that expands more than any export does.
pub(super) fn open(
    catalog: &mut Catalog,
    member: &mut Member,
    limits: &Limits,
    resources: Resources,
) -> Result<(), FormatError> {
    if member.depth > limits.archive_depth || !may_be_unpacked(catalog, member) {
        return Ok(());
    }
    // A read error is not returned here, because the next read of the file reports it.
    let Some(compression) = catalog.head(member, ZSTD_HEAD.len()).ok().and_then(|head| Compression::of(&head)) else {
        return Ok(());
    };
    let packed_bytes = member.size;
    catalog.expansion.count_archive(member, packed_bytes);
    let budget = catalog.expansion.bytes_left(member, limits);
    let max_bytes = if resources.spool.is_some() { budget } else { budget.min(MAX_IN_MEMORY_BYTES) };
    let place = member.place.clone();
    let unpacked = catalog.read(member, |bytes| {
        let mut decoder = compression.decoder(bytes).map_err(|e| FormatError::io(&place, e))?;
        unpack(&mut decoder, max_bytes, resources.spool, &place)
    })?;
    let Unpacked { source, damage } = match unpacked {
        Some(unpacked) => unpacked,
        None if max_bytes < budget => {
            let message = format!("compressed, with more than {max_bytes} bytes, not opened");
            catalog.issues.push(Issue::new("limit", &place, message));
            return Ok(());
        }
        None => return Err(FormatError::Limit { limit: "expanded_bytes", place, figure: max_bytes.saturating_add(1) }),
    };
    catalog.expansion.count_unpacked(member, packed_bytes, source.len(), limits)?;
    if let Some(damage) = damage {
        let message = format!("damaged or cut off, opened up to the damage: {damage}");
        catalog.issues.push(Issue::new("damaged_entry", &place, message));
    }
    member.name = content_name(&member.name);
    member.size = source.len();
    member.location = Location::Unpacked(source);
    Ok(())
}

/// True if the member is replaced with its content when it is compressed: a file that was opened by its own path, or a
/// file in a folder or in an archive of an export whose name has the extension of a compressed file. Files of the user
/// stay compressed.
fn may_be_unpacked(catalog: &Catalog, member: &Member) -> bool {
    let has_name = is_compressed_name(&member.name);
    match &member.location {
        Location::File(_) => member.place == member.name || has_name && !nested::is_user_file(&member.name),
        Location::Zip { archive, .. } if has_name && !nested::is_user_file(&member.name) => {
            let outer_archive = catalog.archives.get(*archive);
            outer_archive
                .is_some_and(|outer_archive| !outer_archive.contains_user_files && !outer_archive.has_conversations)
        }
        Location::Unpacked(_) => has_name,
        _ => false,
    }
}
