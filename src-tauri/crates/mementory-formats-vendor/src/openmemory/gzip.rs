//! Files that are compressed with gzip, which the catalog leaves as they are.
use flate2::read::MultiGzDecoder;
use mementory_format::{Catalog, FormatError, Member};
use mementory_json::decoded_head;
use mementory_model::{EXPANSION, Limits};
use std::io::{self, Read};

/// Number of decompressed bytes that detection reads.
const HEAD_BYTES: usize = 64 << 10;
/// First bytes of such a file.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// True if a file is compressed by its name. Its content is checked when it is read.
pub(super) fn has_ending(member: &Member) -> bool {
    member.file_name().to_ascii_lowercase().ends_with(".gz")
}

/// The start of the content. None if the file is not compressed, or damaged from the start.
pub(super) fn head(catalog: &Catalog, member: &Member) -> Option<Vec<u8>> {
    if !catalog.head(member, MAGIC.len()).ok()?.starts_with(&MAGIC) {
        return None;
    }
    let head = catalog.read(member, |bytes| {
        let mut content = MultiGzDecoder::new(bytes);
        decoded_head(&mut content, HEAD_BYTES).map_err(|e| FormatError::io(&member.place, e))
    });
    head.ok()
}

/// The content of a compressed file. It may have the size to which an archive may expand, and not more.
pub(super) struct Content<R: Read> {
    decoder: MultiGzDecoder<R>,
    left: u64,
}

impl<R: Read> Content<R> {
    pub(super) fn new(bytes: R, member: &Member, limits: &Limits) -> Self {
        let left = limits.expanded_bytes.max(member.size.saturating_mul(EXPANSION)).min(limits.total_bytes);
        Self { decoder: MultiGzDecoder::new(bytes), left }
    }
}

impl<R: Read> Read for Content<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.decoder.read(out)?;
        self.left = self
            .left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the file expands to more than is allowed"))?;
        Ok(count)
    }
}
