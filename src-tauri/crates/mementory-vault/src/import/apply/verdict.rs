//! Decides what an import does with a record that the vault already has.
use super::{
    ImportRun, KnownRecord, Merge, SOURCE_BLOCKED,
    closing::{Closing, is_bitemporal},
    details::Details,
    exported::{EARLIER_STATE, OLDER, decisive_order},
};
use crate::{VaultResult, import::sequence::StateOrder};
use mementory_model::{Kind, Record, Timestamp, normal_text};
use mementory_store::Flags;
use rusqlite::params;
use std::cmp::Ordering;

/// What an import does with a record that the vault already has.
pub(super) enum Verdict {
    /// The content is the same as in the vault's version.
    Same,
    /// The vault keeps its version for this reason, for example because it is newer or was edited.
    KeepExisting(&'static str),
    /// The record would bring deleted or redacted words back.
    Blocked(&'static str),
    /// The content differs from the vault's version, which it replaces.
    Changed,
}

/// Compares records of the input with the versions that the vault has.
pub(super) struct Comparison<'a, 'i> {
    run: &'a ImportRun<'i>,
}

impl<'a, 'i> Comparison<'a, 'i> {
    pub(super) fn new(run: &'a ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl Comparison<'_, '_> {
    pub(super) fn decide(&self, known: &KnownRecord, record: &Record, digest: &[u8; 16]) -> VaultResult<Verdict> {
        if known.digest == *digest && !Details::new(self.run).are_newer(known, record)? {
            return Ok(Verdict::Same);
        }
        if self.run.options.merge == Some(Merge::SkipDuplicates) {
            return Ok(Verdict::KeepExisting("the vault has a record with this id"));
        }
        if self.run.options.merge != Some(Merge::Overwrite) {
            if known.flags & Flags::EDITED != 0 && self.had_version(known.row, digest)? {
                return Ok(Verdict::KeepExisting("older than what the person wrote"));
            }
            if self.run.recency.state == StateOrder::Earlier {
                return Ok(Verdict::KeepExisting(EARLIER_STATE));
            }
            let order = self.order_to_known(known, record)?;
            if let Some((Ordering::Less, reason)) = order {
                return Ok(Verdict::KeepExisting(reason));
            }
            if self.run.older_unit && record.kind == Kind::Message {
                return Ok(Verdict::KeepExisting(OLDER));
            }
            let is_stated_newer = order.is_some_and(|(order, _)| order == Ordering::Greater);
            let details = (known.digest == *digest).then(|| Details::new(self.run).digest(record));
            if !is_stated_newer && self.was_replaced_at_once(known.row, digest, details)? {
                return Ok(Verdict::KeepExisting("an earlier version in an import that the vault has"));
            }
        }
        let closing = Closing::of(record);
        if is_bitemporal(record) && Closing::of(&self.run.stored_content(known.row)?).is_reopened_by(closing) {
            return Ok(Verdict::KeepExisting("closed in the vault"));
        }
        // A newer version would bring the redacted words back.
        if known.flags & Flags::REDACTED != 0 {
            return Ok(Verdict::Blocked("redacted before"));
        }
        if self.run.source_is_blocked(record)? {
            return Ok(Verdict::Blocked(SOURCE_BLOCKED));
        }
        if self.run.blocklist.has_blocked_text(&self.run.context.keys, record)
            && !self.has_same_text(known.row, record)?
        {
            return Ok(Verdict::Blocked("same words deleted before"));
        }
        Ok(Verdict::Changed)
    }

    /// Returns whether the record is older or newer than the vault's version, with the reason to report if the vault's
    /// version is kept. Returns None if nothing shows which is newer.
    fn order_to_known(&self, known: &KnownRecord, record: &Record) -> VaultResult<Option<(Ordering, &'static str)>> {
        let (export, state) = (self.run.own_export, self.run.recency.state);
        if state == StateOrder::Next {
            return Ok(Some((Ordering::Greater, OLDER)));
        }
        let by_export = self.run.exports.compare(self.run.connection, known.row, export, state)?;
        let by_time = self.compare_times(known, record)?;
        Ok(decisive_order(export, by_export, by_time))
    }

    /// Compares the times at which the source last changed the record and the vault's version. Returns None if one of
    /// the times is unknown.
    fn compare_times(&self, known: &KnownRecord, record: &Record) -> VaultResult<Option<Ordering>> {
        let Some(updated) = stated_time(record) else { return Ok(None) };
        // The list position of a conversation may be newer than its stored version.
        if record.kind == Kind::Conversation && known.sort > updated.as_micros() {
            return Ok(Some(Ordering::Less));
        }
        Ok(Details::new(self.run).updated_time(known)?.map(|stored| updated.as_micros().cmp(&stored)))
    }

    /// True if an earlier version of the row had exactly this content.
    fn had_version(&self, row: i64, digest: &[u8; 16]) -> VaultResult<bool> {
        Ok(self
            .run
            .connection
            .prepare_cached("SELECT 1 FROM versions WHERE row = ?1 AND digest = ?2")?
            .exists(params![row, digest])?)
    }

    /// True if one import wrote a version with this content and, directly after it, the next version of the row.
    /// Importing the content again must not make it current. With `details`, the details of the version must match too;
    /// the caller passes them if the current version has the same content.
    fn was_replaced_at_once(&self, row: i64, digest: &[u8; 16], details: Option<i64>) -> VaultResult<bool> {
        Ok(self
            .run
            .connection
            .prepare_cached(
                "SELECT 1 FROM versions v WHERE v.row = ?1 AND v.digest = ?2 \
                 AND (?3 IS NULL OR v.details IS NULL OR v.details = ?3) AND v.batch IN ( \
                 SELECT n.batch FROM versions n WHERE n.row = v.row AND n.version = v.version + 1 \
                 UNION ALL \
                 SELECT r.version_batch FROM records r WHERE r.row = v.row AND r.version = v.version + 1)",
            )?
            .exists(params![row, digest, details])?)
    }

    fn has_same_text(&self, row: i64, record: &Record) -> VaultResult<bool> {
        Ok(normal_text(&self.run.stored_content(row)?.text) == normal_text(&record.text))
    }
}

/// Returns the time at which the source last changed a record. A memory without a time of change counts as unchanged
/// since its creation.
pub(super) fn stated_time(record: &Record) -> Option<Timestamp> {
    record.times.updated.or(record.times.created.filter(|_| record.kind == Kind::Memory))
}
