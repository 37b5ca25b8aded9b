//! Decides what an import does with a record that the vault already has.
use super::{
    ImportRun, KnownRecord, Merge, SOURCE_BLOCKED,
    exported::{EARLIER_EXPORT, export_of},
};
use crate::{VaultResult, import::sequence::Recency};
use mementory_model::{Kind, Record, normal_text};
use mementory_store::Flags;
use rusqlite::params;
use std::cmp::Ordering;

/// What an import does with a record that the vault already has.
pub(super) enum Verdict {
    /// The content is the same.
    Same,
    /// The vault keeps its version for this reason, for example because it is newer or was edited.
    KeepExisting(&'static str),
    /// The record would bring deleted or redacted words back.
    Blocked(&'static str),
    /// The content is new.
    Changed,
}

impl ImportRun<'_> {
    pub(super) fn decide(&self, known: &KnownRecord, record: &Record, digest: &[u8; 16]) -> VaultResult<Verdict> {
        if known.digest == *digest && !self.has_newer_details(known, record)? {
            return Ok(Verdict::Same);
        }
        if self.options.merge == Some(Merge::SkipDuplicates) {
            return Ok(Verdict::KeepExisting("the vault has a record with this id"));
        }
        if self.options.merge != Some(Merge::Overwrite) {
            if known.flags & Flags::EDITED != 0 && self.had_version(known.row, digest)? {
                return Ok(Verdict::KeepExisting("told before the person's own words"));
            }
            if self.recency == Recency::Earlier {
                return Ok(Verdict::KeepExisting("of an earlier state than what the vault has"));
            }
            let export_order = match export_of(self.recency, &self.context.keys, record) {
                Some((time, group)) => self.exports.compare(self.connection, known.row, time, group)?,
                None => None,
            };
            if export_order == Some(Ordering::Less) {
                return Ok(Verdict::KeepExisting(EARLIER_EXPORT));
            }
            let by_time = self.recency != Recency::Next && export_order != Some(Ordering::Greater);
            if by_time && self.is_older(known, record)? || self.older_unit && record.kind == Kind::Message {
                return Ok(Verdict::KeepExisting("older than what the vault has"));
            }
        }
        if is_bitemporal(record) && reopens(&self.stored_record(known.row)?, record) {
            return Ok(Verdict::KeepExisting("closed in the vault"));
        }
        // A newer version would bring the redacted words back.
        if known.flags & Flags::REDACTED != 0 {
            return Ok(Verdict::Blocked("redacted before"));
        }
        if self.source_is_blocked(record)? {
            return Ok(Verdict::Blocked(SOURCE_BLOCKED));
        }
        if self.blocklist.has_blocked_text(&self.context.keys, record) && !self.has_same_text(known.row, record)? {
            return Ok(Verdict::Blocked("same words deleted before"));
        }
        Ok(Verdict::Changed)
    }

    /// True when the source's own change time says that the vault has the newer version.
    fn is_older(&self, known: &KnownRecord, record: &Record) -> VaultResult<bool> {
        // A memory without a change time counts as unchanged since it was created.
        let never_changed = record.times.created.filter(|_| record.kind == Kind::Memory);
        let Some(updated) = record.times.updated.or(never_changed) else { return Ok(false) };
        // The list position of a conversation may be newer than its stored version.
        if record.kind == Kind::Conversation && known.sort > updated.as_micros() {
            return Ok(true);
        }
        Ok(self.stored_record(known.row)?.times.updated.is_some_and(|s| s > updated))
    }

    /// True when an earlier version of the row had exactly this content.
    fn had_version(&self, row: i64, digest: &[u8; 16]) -> VaultResult<bool> {
        Ok(self
            .connection
            .prepare_cached("SELECT 1 FROM versions WHERE row = ?1 AND digest = ?2")?
            .exists(params![row, digest])?)
    }

    fn has_same_text(&self, row: i64, record: &Record) -> VaultResult<bool> {
        Ok(normal_text(&self.stored_record(row)?.text) == normal_text(&record.text))
    }
}

/// True for statements, which are superseded rather than changed (spec of `.mem` v1.1 §4.1).
pub(super) fn is_bitemporal(record: &Record) -> bool {
    matches!(record.kind, Kind::Fact | Kind::Relation)
}

/// True when `incoming` would clear the end or the successor of a bi-temporal statement. A closed statement can be
/// superseded but is never reopened, even if it is still open in an older export.
pub(super) fn reopens(stored: &Record, incoming: &Record) -> bool {
    let superseded = |r: &Record| r.links.iter().any(|l| l.relation == "superseded_by");
    stored.times.valid_to.is_some() && incoming.times.valid_to.is_none() || superseded(stored) && !superseded(incoming)
}
