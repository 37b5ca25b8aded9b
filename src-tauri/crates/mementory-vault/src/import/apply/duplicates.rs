//! Merges the occurrences of a record that one input contains more than once. An occurrence that is newer than the
//! former one and has other content becomes a new version of the record, as if it had been imported separately. An
//! older occurrence is skipped.
use super::{
    CHANGED, DUPLICATE, ImportRun, SOURCE_BLOCKED, SeenRecord,
    closing::Closing,
    details::{Details, note_planned_details},
    exported::decisive_order,
    files::FileImport,
    record_place, short_digest,
    verdict::{Comparison, Verdict, stated_time},
};
use crate::{
    VaultResult,
    import::sequence::{Recency, StateOrder},
    import_report::ItemOutcome,
};
use mementory_model::{Kind, Record};
use std::cmp::Ordering;

/// Reason for skipping a record whose content differs from that of a newer occurrence.
const OLDER: &str = "older than another version in this input";
/// Reason for a new version that comes from another occurrence of a record in the same input.
const ANOTHER_VERSION: &str = "another version in this input";

/// Merges further occurrences of the records of an input.
pub(super) struct DuplicateImport<'a, 'i> {
    run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> DuplicateImport<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl DuplicateImport<'_, '_> {
    /// Merges another occurrence of a record of this input.
    pub(super) fn merge(
        &mut self,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        self.run.superseded.remove(id);
        let Some(seen) = self.run.seen.get(id) else { return Ok(()) };
        let (row, written, trashed) = (seen.row, seen.written, seen.trashed);
        let same_content = seen.digest == short_digest(digest);
        // An earlier record referred to this file, so the file already has a row. The row now gets the complete record.
        if record.kind == Kind::Attachment {
            if self.state_order(seen) == Some(Ordering::Less) {
                return Ok(());
            }
            return if written && row > 0 {
                self.run.replace_in_batch(row, id, trashed, record, digest, extra_flags)
            } else {
                self.update_file_row(id, record, digest, extra_flags)
            };
        }
        if record.repeats {
            return if same_content && row > 0 { self.run.write_links(row, record) } else { Ok(()) };
        }
        let order = self.order(seen, record);
        // If nothing shows which occurrence is newer, the occurrence that comes later in the input counts as newer.
        let is_newer = order.is_none_or(Ordering::is_ge);
        let is_stated_newer = order == Some(Ordering::Greater);
        let is_of_later_export = self.export_order(seen) == Some(Ordering::Greater);
        let is_same =
            same_content && !Details::new(self.run).differ_from_former(id, record, order, is_of_later_export)?;
        // The vault may have kept its version only because the former occurrence came from an earlier export, so this
        // occurrence is compared with the vault's version.
        if is_newer && row > 0 && !written && (!is_same || is_of_later_export) {
            return self.merge_with_known(id, record, digest, extra_flags);
        }
        let (outcome, reason) = if is_same {
            (ItemOutcome::Skipped, DUPLICATE)
        } else if !is_newer {
            (ItemOutcome::Skipped, OLDER)
        } else if let Some(reason) = self.block_reason_of_version(id, record)? {
            (ItemOutcome::Blocked, reason)
        } else {
            (ItemOutcome::Updated, ANOTHER_VERSION)
        };
        self.run.report.note(Some(record.kind), &record_place(record), outcome, reason);
        if written && (is_same || outcome == ItemOutcome::Updated) {
            self.run.note_exported(self.run.own_export, row);
        }
        if is_same && is_stated_newer {
            self.note_newest(id, record, digest, written);
        }
        let known = if is_newer && row > 0 { self.run.known_record(id)? } else { None };
        match (outcome, known) {
            (ItemOutcome::Skipped, Some(known)) => self.run.reposition(&known, record, extra_flags, false),
            (ItemOutcome::Updated, known) => {
                self.note_newest(id, record, digest, true);
                match known {
                    Some(known) => self.run.new_version(&known, id, record, digest, extra_flags),
                    // A new record has no row while the import is only planned.
                    None => FileImport::new(self.run).add_attachments(id, record).map(|_| ()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Updates the row of a file to which a record of this input referred before, if the source shows that `record` is
    /// newer than the vault's version.
    fn update_file_row(
        &mut self,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let Some(known) = self.run.known_record(id)? else { return Ok(()) };
        let known = Details::new(self.run).complete(&known, record)?;
        let is_newer = match known.digest == *digest {
            true => Details::new(self.run).are_newer(&known, record)?,
            false => {
                self.run.recency.state == StateOrder::Later
                    && matches!(Comparison::new(self.run).decide(&known, record, digest)?, Verdict::Changed)
            }
        };
        if is_newer {
            self.run.report.note(Some(record.kind), &record_place(record), ItemOutcome::Updated, CHANGED);
            self.run.new_version(&known, id, record, digest, extra_flags)?;
        }
        Ok(())
    }

    /// Merges another occurrence of a record that the vault has and of which this batch has written no version.
    fn merge_with_known(
        &mut self,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let Some(known) = self.run.known_record(id)? else { return Ok(()) };
        let written = self.run.update_known(&known, id, record, digest, extra_flags)?;
        self.note_newest(id, record, digest, written);
        Ok(())
    }

    /// Notes the newest occurrence of a record that has been seen before.
    fn note_newest(&mut self, id: &[u8; 16], record: &Record, digest: &[u8; 16], written: bool) {
        let newest = self.run.occurrence(record, digest);
        if written {
            note_planned_details(self.run, id, record);
        }
        if let Some(seen) = self.run.seen.get_mut(id) {
            let (row, redacted, trashed) = (seen.row, seen.redacted, seen.trashed);
            *seen = SeenRecord { row, redacted, trashed, written, ..newest };
        }
    }

    /// Returns the reason for blocking another version of a record that is not blocked itself.
    fn block_reason_of_version(&self, id: &[u8; 16], record: &Record) -> VaultResult<Option<&'static str>> {
        if self.run.blocklist.has_redacted_words(id, record) {
            return Ok(Some("redacted elsewhere"));
        }
        if self.run.blocklist.has_blocked_text(&self.run.context.keys, record) {
            return Ok(Some("same words deleted before"));
        }
        Ok(self.run.source_is_blocked(record)?.then_some(SOURCE_BLOCKED))
    }

    /// Returns whether the record is older or newer than the former occurrence. Returns None if nothing shows which is
    /// newer. A closed statement is newer than an open statement.
    fn order(&self, seen: &SeenRecord, record: &Record) -> Option<Ordering> {
        let closing = Closing::of(record);
        if seen.closing.is_reopened_by(closing) {
            return Some(Ordering::Less);
        }
        if self.run.recency.state == StateOrder::Next {
            return Some(Ordering::Greater);
        }
        let by_state = self.state_order(seen);
        if by_state == Some(Ordering::Less) {
            return by_state;
        }
        if closing.is_reopened_by(seen.closing) {
            return Some(Ordering::Greater);
        }
        let unit = self.run.unit_updated.filter(|_| record.kind == Kind::Message);
        let time = stated_time(record).or(unit).filter(|_| seen.updated > i64::MIN);
        let by_time = time.map(|time| time.as_micros().cmp(&seen.updated));
        if by_state.is_some() {
            return by_time.filter(|order| order.is_ne()).or(by_state);
        }
        decisive_order(self.run.own_export, self.export_order(seen), by_time).map(|(order, _)| order)
    }

    /// Compares the state numbers of the sources of this occurrence and the former one. Returns None if the numbers do
    /// not decide. A source in an earlier state than the vault's never replaces content of another source, as in a
    /// separate import.
    fn state_order(&self, seen: &SeenRecord) -> Option<Ordering> {
        let Recency { state, number, .. } = self.run.recency;
        let former_number = self.run.sources.get(seen.source as usize).and_then(|former| former.number);
        match (number, former_number) {
            (Some(number), Some(former_number)) if number.group == former_number.group => {
                Some(number.sequence.cmp(&former_number.sequence)).filter(|order| order.is_ne())
            }
            _ => (state == StateOrder::Earlier).then_some(Ordering::Less),
        }
    }

    /// Compares the dates of the exports that contain the current occurrence and the former one. Returns None if one of
    /// the exports has no date, or if the state numbers decide.
    fn export_order(&self, seen: &SeenRecord) -> Option<Ordering> {
        if self.state_order(seen).is_some() {
            return None;
        }
        let is_dated = matches!(self.run.recency.state, StateOrder::Unknown | StateOrder::Later);
        let export = self.run.own_export.filter(|_| is_dated)?;
        let former_source = self.run.sources.get(seen.source as usize).filter(|_| seen.is_of_dated_export)?;
        Some(export.time.cmp(&former_source.made_at?.time))
    }
}
