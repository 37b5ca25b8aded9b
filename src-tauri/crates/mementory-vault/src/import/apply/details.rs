//! What a source states about a record in addition to its compared content: links, entities, vectors and the original
//! text. A row stores a digest of these details, so the body is read only if the digests differ. Different details
//! count as a change if the source dates its version later, or if neither version has a time and the record has more
//! details than before.
use super::{
    ImportRun, KnownRecord, Merge,
    closing::{Closing, is_bitemporal},
    detail_set::DetailSet,
    exported::decisive_order,
};
use crate::{VaultResult, import::sequence::StateOrder};
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{Flags, details};
use std::cmp::Ordering;

/// Compares the details of records of the input with those of the vault's versions.
pub(super) struct Details<'a, 'i> {
    run: &'a ImportRun<'i>,
}

impl<'a, 'i> Details<'a, 'i> {
    pub(super) fn new(run: &'a ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl Details<'_, '_> {
    /// Returns the digest of the details, to be stored with a record. Returns `NOT_COMPUTED` for a record whose details
    /// no import compares.
    pub(super) fn digest(&self, record: &Record) -> i64 {
        match self.are_compared(record) {
            true => details::digest(&self.run.context.keys, record),
            false => details::NOT_COMPUTED,
        }
    }

    /// Returns the details of a record, or None if imports do not compare them.
    pub(super) fn detail_set(&self, record: &Record) -> Option<DetailSet> {
        self.are_compared(record).then(|| DetailSet::of(&self.run.context.keys, record))
    }

    fn are_compared(&self, record: &Record) -> bool {
        !record.repeats && (!grows(record) || self.run.own_export.is_some())
    }

    /// Reads from the body the values that an older program did not store in the row. Stores them in the row unless the
    /// import is only planned.
    pub(super) fn complete(&self, known: &KnownRecord, record: &Record) -> VaultResult<KnownRecord> {
        let is_needed = match record.kind {
            // For a conversation, the list position is compared instead.
            Kind::Conversation => false,
            Kind::Message => record.times.updated.is_some(),
            _ => !record.repeats,
        };
        if known.details.is_some() || !is_needed {
            return Ok(*known);
        }
        let stored = self.run.stored_record(known.row)?;
        let digest = match known.flags & Flags::REDACTED {
            0 => details::digest(&self.run.context.keys, &stored),
            _ => details::NOT_COMPUTED,
        };
        let updated = known.updated.max(stored.times.updated.map(Timestamp::as_micros));
        if self.run.staging.is_some() {
            details::complete(self.run.connection, known.row, digest, updated)?;
        }
        Ok(KnownRecord { details: Some(digest), updated, ..*known })
    }

    /// Returns the time at which the source last changed the vault's version, in microseconds since 1970. Returns None
    /// if the vault has no such time.
    pub(super) fn updated_time(&self, known: &KnownRecord) -> VaultResult<Option<i64>> {
        match (known.details, known.updated) {
            (None, None) => Ok(self.run.stored_content(known.row)?.times.updated.map(Timestamp::as_micros)),
            (_, updated) => Ok(updated),
        }
    }

    /// True if all details of the record are the same as in the vault's version. False if the vault has no digest to
    /// compare.
    fn is_same(&self, known: &KnownRecord, record: &Record) -> bool {
        known.details.is_some_and(|digest| digest != details::NOT_COMPUTED && digest == self.digest(record))
    }

    /// True if the record has the same content as the vault's version, but newer details that differ. Always false if a
    /// person edited or redacted the vault's version.
    pub(super) fn are_newer(&self, known: &KnownRecord, record: &Record) -> VaultResult<bool> {
        if known.flags & (Flags::EDITED | Flags::REDACTED) != 0 || record.repeats {
            return Ok(false);
        }
        let (export, state) = (self.run.own_export, self.run.recency.state);
        let is_next = match self.run.options.merge {
            Some(Merge::SkipDuplicates | Merge::Rename) => return Ok(false),
            Some(Merge::Overwrite) => true,
            None => match state {
                StateOrder::Earlier => return Ok(false),
                StateOrder::Next => true,
                StateOrder::Unknown | StateOrder::Later => false,
            },
        };
        let by_export = match is_next {
            true => None,
            false => self.run.exports.compare(self.run.connection, known.row, export, state)?,
        };
        if grows(record) && by_export != Some(Ordering::Greater) || self.is_same(known, record) {
            return Ok(false);
        }
        let times = (record.times.updated.map(Timestamp::as_micros), self.updated_time(known)?);
        let by_time = (times != (None, None)).then(|| times.0.cmp(&times.1));
        let order = decisive_order(export, by_export, by_time).map(|(order, _)| order);
        let is_newer =
            is_next || order == Some(Ordering::Greater) || state == StateOrder::Later && order != Some(Ordering::Less);
        let is_undated = order.is_none() && state == StateOrder::Unknown;
        if !is_newer && !is_undated && !is_superseded(record) {
            return Ok(false);
        }
        let stored = self.run.stored_record(known.row)?;
        let (closing, stored_closing) = (Closing::of(record), Closing::of(&stored));
        if stored_closing.is_reopened_by(closing) {
            return Ok(false);
        }
        let keys = &self.run.context.keys;
        let (now, before) = (DetailSet::of(keys, record), DetailSet::of(keys, &stored));
        Ok(match is_newer || closing.is_reopened_by(stored_closing) {
            true => now.differs_from(&before),
            false => is_undated && now.adds_to(keys, &before, self.run.source_format),
        })
    }

    /// True if the record may be newer than the version with the same content in this input or in the vault, and its
    /// details differ from the details of that version. `order` compares the record with that version, if their order
    /// is known.
    pub(super) fn differ_from_former(
        &self,
        id: &[u8; 16],
        record: &Record,
        order: Option<Ordering>,
        is_of_later_export: bool,
    ) -> VaultResult<bool> {
        let Some(seen) = self.run.seen.get(id) else { return Ok(false) };
        let may_be_newer = match order {
            Some(order) => order == Ordering::Greater,
            // A version without a time does not replace the details of a version with a time, as in a separate import.
            None => seen.updated == i64::MIN,
        };
        if !may_be_newer || record.repeats || grows(record) && !is_of_later_export {
            return Ok(false);
        }
        let is_stated_newer = order.is_some() || record.times.updated.is_some();
        let keys = &self.run.context.keys;
        let details_differ = |before: &DetailSet| {
            let now = DetailSet::of(keys, record);
            if is_stated_newer { now.differs_from(before) } else { now.adds_to(keys, before, self.run.source_format) }
        };
        // While planning, the records of this input are not stored, so their details are kept in memory.
        if self.run.staging.is_none() && seen.written {
            return Ok(self.run.planned_details.get(id).is_some_and(details_differ));
        }
        if seen.row <= 0 || self.stored_digest(seen.row)? == Some(self.digest(record)) {
            return Ok(false);
        }
        let stored = self.run.stored_record(seen.row)?;
        Ok(details_differ(&DetailSet::of(keys, &stored)) && !Closing::of(&stored).is_reopened_by(Closing::of(record)))
    }

    fn stored_digest(&self, row: i64) -> VaultResult<Option<i64>> {
        let sql = "SELECT details FROM records WHERE row = ?1";
        let stored: Option<i64> = self.run.connection.prepare_cached(sql)?.query_row([row], |r| r.get(0))?;
        Ok(stored.filter(|digest| *digest != details::NOT_COMPUTED))
    }

    /// Adds to a record of a delta the files of the version that the record changes, because deltas do not say which
    /// files belong to a record (ALF §4.3).
    pub(super) fn add_files_of_known(&self, id: &[u8; 16], record: &mut Record) -> VaultResult<()> {
        if self.run.recency.state != StateOrder::Next || !record.attachments.is_empty() {
            return Ok(());
        }
        let row = match self.run.seen.get(id) {
            Some(seen) => seen.row,
            None => self.run.known_record(id)?.map_or(0, |known| known.row),
        };
        if row > 0 {
            record.attachments = self.run.stored_content(row)?.attachments;
        }
        Ok(())
    }
}

/// While planning: stores the details of the newest version of a record, so that another occurrence can be compared
/// with them.
pub(super) fn note_planned_details(run: &mut ImportRun<'_>, id: &[u8; 16], record: &Record) {
    if run.staging.is_some() {
        return;
    }
    match Details::new(run).detail_set(record) {
        Some(details) => run.planned_details.insert(*id, details),
        None => run.planned_details.remove(id),
    };
}

/// True for conversations and messages. Their details and times change whenever the conversation continues, so it is
/// known which details are newer only if the export states when it was made.
pub(super) fn grows(record: &Record) -> bool {
    matches!(record.kind, Kind::Conversation | Kind::Message)
}

fn is_superseded(record: &Record) -> bool {
    is_bitemporal(record) && record.links.iter().any(|link| link.relation == "superseded_by")
}
