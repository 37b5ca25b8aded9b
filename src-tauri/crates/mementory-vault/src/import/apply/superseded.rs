//! Marks records as superseded: statements that a newer version of a text no longer contains, since the assistant no
//! longer remembers them, and memories that a new memory replaces. All of them stay in the vault with their history.
use super::details::note_planned_details;
use crate::{
    VaultResult,
    import::{apply::ImportRun, apply::KnownRecord, apply::SeenRecord},
};
use mementory_formats::by_id;
use mementory_model::{Kind, Record};
use mementory_store::{
    Flags,
    ids::{content_digest, record_id},
    kind_code,
};
use rusqlite::params;
use std::collections::HashSet;

/// Status of a statement that a newer text no longer contains.
const SUPERSEDED: &str = "superseded";
/// Status of a memory that was deleted at its source. The source reported the deletion as a new memory that replaces
/// it.
const DELETED: &str = "deleted";
/// Relation of a memory to the memory that it replaces.
const SUPERSEDES: &str = "supersedes";

/// Marks statements that a newer text no longer contains.
pub(super) struct SupersededStatements<'a, 'i> {
    pub(super) run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> SupersededStatements<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl SupersededStatements<'_, '_> {
    /// If the first record of a unit has changed, marks as superseded the facts that were derived from it and that the
    /// unit no longer contains. Does nothing if the input contains facts as separate units.
    pub(super) fn supersede_dropped(&mut self, unit: &[Record], ids: &[[u8; 16]]) -> VaultResult<()> {
        let Some(text) = unit.first().filter(|r| r.kind == Kind::Memory && !self.run.vault_was_empty) else {
            return Ok(());
        };
        if self.has_separate_facts(text) {
            return Ok(());
        }
        let Some(id) = ids.first() else { return Ok(()) };
        let Some(text_row) = self.run.seen.get(id).filter(|seen| seen.written && seen.row > 0).map(|seen| seen.row)
        else {
            return Ok(());
        };
        let rows_in_unit: HashSet<i64> =
            ids.iter().filter_map(|id| self.run.seen.get(id)).map(|seen| seen.row).collect();
        let place = format!("{}#{}", text.origin.container, text.origin.pointer);
        for row in self.facts_of(id)? {
            if row != text_row && !rows_in_unit.contains(&row) && self.supersede(row, text, SUPERSEDED)? {
                let message = "a statement that the newer text no longer makes; it is kept as superseded";
                self.run.report.warn("statements_gone", &place, message);
            }
        }
        Ok(())
    }

    /// True if the input contains facts as separate units. In that case a unit without a fact does not mean that the
    /// fact was dropped. This applies to formats with tombstones, which state what was deleted, and to records of
    /// another format. An increment does not even contain the facts that have not changed.
    fn has_separate_facts(&self, text: &Record) -> bool {
        let format = self.run.source_format;
        let has_tombstones = by_id(format).is_some_and(|format| format.capabilities().tombstones);
        has_tombstones || !format.is_empty() && text.origin.format != format
    }

    /// Marks the memories of the vault that a new memory of the unit replaces. A memory that the input contains is not
    /// marked, since the input states its status itself. Memories that were edited, redacted or moved to the Trash stay
    /// as they are.
    pub(super) fn supersede_replaced(&mut self, unit: &[Record], ids: &[[u8; 16]]) -> VaultResult<()> {
        if self.run.vault_was_empty {
            return Ok(());
        }
        for (record, id) in unit.iter().zip(ids).filter(|(record, _)| record.kind == Kind::Memory) {
            if !self.run.seen.get(id).is_some_and(|seen| seen.written) {
                continue;
            }
            for link in record.links.iter().filter(|link| link.relation == SUPERSEDES && link.kind == Kind::Memory) {
                let old_id = record_id(&self.run.context.keys, &link.target);
                if old_id == *id || self.run.seen.contains_key(&old_id) {
                    continue;
                }
                let Some(known) = self.run.known_record(&old_id)? else { continue };
                let status = self.run.stored_record(known.row)?.status;
                let is_open = !matches!(status.as_deref(), Some(SUPERSEDED | DELETED | "archived"));
                if is_open && !known.trashed && known.flags & (Flags::EDITED | Flags::REDACTED) == 0 {
                    let status = if record.status.as_deref() == Some(DELETED) { DELETED } else { SUPERSEDED };
                    self.supersede(known.row, record, status)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the facts that were derived from the record with this id and neither edited nor redacted.
    fn facts_of(&self, id: &[u8; 16]) -> VaultResult<Vec<i64>> {
        let mut statement = self.run.connection.prepare_cached(
            "SELECT r.row FROM links l JOIN records r ON r.row = l.row \
             WHERE l.target = ?1 AND l.relation = 'derived_from' AND r.kind = ?2 AND r.flags & ?3 = 0",
        )?;
        let edited_or_redacted = Flags::EDITED | Flags::REDACTED;
        let rows = statement.query_map(params![id, kind_code(Kind::Fact), edited_or_redacted], |r| r.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn supersede(&mut self, row: i64, by: &Record, status: &str) -> VaultResult<bool> {
        let id: [u8; 16] = self
            .run
            .connection
            .prepare_cached("SELECT id FROM records WHERE row = ?1")?
            .query_row([row], |r| r.get(0))?;
        let mut fact = self.run.stored_record(row)?;
        if fact.status.as_deref() == Some(status) {
            return Ok(false);
        }
        fact.status = Some(status.into());
        // With this time, a later import of the older text is recognised as older.
        fact.times.updated = by.times.updated.or(fact.times.updated);
        let Some(known): Option<KnownRecord> = self.run.known_record(&id)? else { return Ok(false) };
        note_planned_details(self.run, &id, &fact);
        let digest = content_digest(&self.run.context.keys, &fact);
        if self.run.seen.get(&id).is_some_and(|seen| seen.written) {
            self.run.replace_in_batch(row, &id, known.trashed, &mut fact, &digest, 0)?;
        } else {
            self.run.new_version(&known, &id, &mut fact, &digest, 0)?;
        }
        let updated = by.times.updated.map_or(i64::MIN, mementory_model::Timestamp::as_micros);
        let written = self.run.staging.is_some();
        let source = self.run.source_index;
        let seen =
            SeenRecord { row, updated, written, source, trashed: known.trashed, ..SeenRecord::new(&fact, &digest) };
        self.run.seen.insert(id, seen);
        self.run.superseded.insert(id);
        Ok(true)
    }
}
