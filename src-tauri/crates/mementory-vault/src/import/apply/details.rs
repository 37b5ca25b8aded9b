//! What a source says of a record beyond the content that an import compares by its digest: links, entities, vectors
//! and the original text. Two exports of the same content may differ in these, so a difference alone is no change. It
//! is one if the source says that it is newer.
use super::{
    ImportRun, KnownRecord, Merge,
    closing::{Closing, is_bitemporal},
    exported::decisive_order,
};
use crate::{VaultResult, import::sequence::StateOrder};
use mementory_model::{Kind, Record, Verbatim};
use mementory_store::Flags;
use std::cmp::Ordering;

/// Compares details of records of the input with what the vault has.
pub(super) struct Details<'a, 'i> {
    run: &'a ImportRun<'i>,
}

impl<'a, 'i> Details<'a, 'i> {
    pub(super) fn new(run: &'a ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl Details<'_, '_> {
    /// True if the record has the same content as the vault's version, but the source says that it is newer, and other
    /// details of it differ. What a person edited or redacted stays.
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
        if grows(record) && by_export != Some(Ordering::Greater) {
            return Ok(false);
        }
        let is_later = state == StateOrder::Later;
        let may_be_newer = is_next
            || is_later
            || by_export == Some(Ordering::Greater)
            || record.times.updated.is_some()
            || is_superseded(record);
        if !may_be_newer {
            return Ok(false);
        }
        let stored = self.run.stored_content(known.row)?;
        let (closing, stored_closing) = (Closing::of(record), Closing::of(&stored));
        if stored_closing.is_reopened_by(closing) {
            return Ok(false);
        }
        let times = (record.times.updated, stored.times.updated);
        let by_time = (times != (None, None)).then(|| times.0.cmp(&times.1));
        let order = decisive_order(export, by_export, by_time).map(|(order, _)| order);
        let newer = is_next
            || closing.is_reopened_by(stored_closing)
            || order == Some(Ordering::Greater)
            || is_later && order != Some(Ordering::Less);
        Ok(newer && details_differ(&self.run.stored_record(known.row)?, record))
    }

    /// True if the record, which is newer than an occurrence of the same content in this input, has other details.
    pub(super) fn differ_from_row(&self, row: i64, record: &Record, is_of_later_export: bool) -> VaultResult<bool> {
        if row <= 0 || record.repeats || grows(record) && !is_of_later_export {
            return Ok(false);
        }
        let stored = self.run.stored_record(row)?;
        Ok(details_differ(&stored, record) && !Closing::of(&stored).is_reopened_by(Closing::of(record)))
    }

    /// Gives a record of a delta the files of the version that it changes, because deltas do not say which files belong
    /// to a record (ALF §4.3).
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

/// True for conversations and messages: their details and times change whenever the conversation continues, so only an
/// export that says when it was made shows which of them are newer.
fn grows(record: &Record) -> bool {
    matches!(record.kind, Kind::Conversation | Kind::Message)
}

fn is_superseded(record: &Record) -> bool {
    is_bitemporal(record) && record.links.iter().any(|link| link.relation == "superseded_by")
}

fn details_differ(stored: &Record, record: &Record) -> bool {
    stored.links != record.links
        || stored.entities != record.entities
        || stored.embeddings != record.embeddings
        || original_differs(stored.verbatim.as_ref(), record.verbatim.as_ref())
}

/// Whether the original texts differ in more than the notation of the same JSON.
fn original_differs(stored: Option<&Verbatim>, now: Option<&Verbatim>) -> bool {
    let Some(now) = now else { return false };
    let Some(stored) = stored else { return true };
    if stored.text == now.text {
        return false;
    }
    let value = |verbatim: &Verbatim| serde_json::from_str::<serde_json::Value>(&verbatim.text).ok();
    match (value(stored), value(now)) {
        (Some(before), Some(after)) => before != after,
        _ => true,
    }
}
