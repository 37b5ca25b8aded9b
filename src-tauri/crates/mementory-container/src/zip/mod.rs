//! Reads ZIP files, including streamed files, files with other bytes in front, truncated files, Zip64, and names in old
//! encodings. Reads the central directory or, without one, the local headers. The code is our own, because strict
//! readers hide duplicate names, the raw bytes of names, encrypted entries and links, and the readable entries of a
//! truncated download.
mod contradictions;
mod directory;
mod entry;
mod names;
mod recover;

pub(super) use contradictions::{Contradiction, HEADER_DIFFERS, contradictions};
pub(super) use directory::{Directory, directory};
pub(super) use entry::{Entry, EntryKind, PATCH_MESSAGE, unsupported_method_message};
pub(super) use names::safe_name;
pub(super) use recover::recover;

/// Start of a local header.
const LOCAL_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
/// Start of a central directory entry.
const CENTRAL_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
/// Start of the end-of-central-directory record.
const END_SIGNATURE: [u8; 4] = *b"PK\x05\x06";

/// True for the first bytes of a ZIP file.
pub(super) fn is_zip_head(head: &[u8]) -> bool {
    head.starts_with(&LOCAL_SIGNATURE) || head.starts_with(&END_SIGNATURE)
}

fn le16(bytes: &[u8], position: usize) -> u16 {
    bytes.get(position..position + 2).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
}

fn le32(bytes: &[u8], position: usize) -> u32 {
    u32::from(le16(bytes, position)) | u32::from(le16(bytes, position + 2)) << 16
}

fn le64(bytes: &[u8], position: usize) -> u64 {
    u64::from(le32(bytes, position)) | u64::from(le32(bytes, position + 4)) << 32
}

/// The payload of the extra field with this id.
fn extra_field(mut extra: &[u8], id: u16) -> Option<&[u8]> {
    while extra.len() >= 4 {
        let len = usize::from(le16(extra, 2));
        let payload = extra.get(4..4 + len)?;
        if le16(extra, 0) == id {
            return Some(payload);
        }
        extra = &extra[4 + len..];
    }
    None
}
