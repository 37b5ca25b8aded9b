//! What an import remembers about each record that it has read.
use super::{Closing, short_digest};
use mementory_model::{Kind, Record};

/// A record of this input. There may be millions, so the fields are as small as possible. The row is 0 if the record is
/// new and the import is only planned, or if the record was not imported and its row was not looked up.
pub(super) struct SeenRecord {
    pub(super) row: i64,
    pub(super) digest: u64,
    pub(super) updated: i64,
    /// Index of the source in `ImportRun::sources`.
    pub(super) source: u32,
    pub(super) kind: Kind,
    /// True if the source is a dated export and the record belongs to it.
    pub(super) is_of_dated_export: bool,
    /// Whether the record is a closed statement.
    pub(super) closing: Closing,
    /// True if this batch wrote the record's current version, or would write it if the import were not only planned.
    pub(super) written: bool,
    /// True if the record was redacted. Nothing of a redacted record may be written.
    pub(super) redacted: bool,
    pub(super) trashed: bool,
}

impl SeenRecord {
    /// Describes a record without a row and without times.
    pub(super) fn new(record: &Record, digest: &[u8; 16]) -> Self {
        Self {
            row: 0,
            digest: short_digest(digest),
            updated: i64::MIN,
            source: 0,
            kind: record.kind,
            is_of_dated_export: false,
            closing: Closing::of(record),
            written: false,
            redacted: false,
            trashed: false,
        }
    }

    /// True if this occurrence was not imported, and another occurrence with the digest `digest` may be imported
    /// because its content differs. Always false for files and repeated records, which are decided only once.
    pub(super) fn may_have_other_outcome(&self, record: &Record, digest: &[u8; 16]) -> bool {
        let is_decided_once = record.repeats || record.kind == Kind::Attachment;
        self.row == 0 && !self.written && !is_decided_once && self.digest != short_digest(digest)
    }
}
