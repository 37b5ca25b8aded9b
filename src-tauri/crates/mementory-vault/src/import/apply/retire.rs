//! Statements that an assistant dropped from a text it keeps: the text's new version no longer has them, so they are no
//! longer what it remembers. They stay, superseded, with their history.
use super::{Importer, Known, Seen, short};
use crate::VaultResult;
use mementory_model::{Kind, Record};
use mementory_store::{
    Flags,
    ids::{content_digest, record_id},
    kind_code,
};
use rusqlite::params;
use std::collections::HashSet;

/// Status of a statement that a newer text does not make any more.
const SUPERSEDED: &str = "superseded";

impl Importer<'_> {
    /// Retires the facts of a unit's first record that the unit, a newer telling, does not hold.
    pub(super) fn retire(&mut self, unit: &[Record]) -> VaultResult<()> {
        let Some(text) = unit.first().filter(|r| r.kind == Kind::Memory && !self.empty) else { return Ok(()) };
        let id = record_id(&self.vault.keys, &text.key);
        let Some(of) = self.seen.get(&id).filter(|seen| seen.written && seen.row > 0).map(|seen| seen.row) else {
            return Ok(());
        };
        let told: HashSet<i64> = unit
            .iter()
            .filter_map(|r| self.seen.get(&record_id(&self.vault.keys, &r.key)))
            .map(|seen| seen.row)
            .collect();
        let place = format!("{}#{}", text.origin.container, text.origin.pointer);
        for row in self.facts_of(&id)? {
            if row != of && !told.contains(&row) && self.supersede(row, text)? {
                let message = "a statement that the newer text no longer makes; it is kept as superseded";
                self.report.warn("statements_gone", &place, message);
            }
        }
        Ok(())
    }

    /// Facts that were taken from the record with this id, as far as an import wrote their present version.
    fn facts_of(&self, id: &[u8; 16]) -> VaultResult<Vec<i64>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT r.row FROM links l JOIN records r ON r.row = l.row \
             WHERE l.target = ?1 AND l.relation = 'derived_from' AND r.kind = ?2 AND r.flags & ?3 = 0",
        )?;
        let kept = Flags::EDITED | Flags::REDACTED;
        let rows = statement.query_map(params![id, kind_code(Kind::Fact), kept], |r| r.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn supersede(&mut self, row: i64, by: &Record) -> VaultResult<bool> {
        let id: [u8; 16] =
            self.connection.prepare_cached("SELECT id FROM records WHERE row = ?1")?.query_row([row], |r| r.get(0))?;
        let mut fact = self.stored(row)?;
        if fact.status.as_deref() == Some(SUPERSEDED) {
            return Ok(false);
        }
        fact.status = Some(SUPERSEDED.into());
        // The older text, told again later, is then known to be older.
        fact.times.updated = by.times.updated.or(fact.times.updated);
        let Some(known): Option<Known> = self.known(&id)? else { return Ok(false) };
        let digest = content_digest(&self.vault.keys, &fact);
        if self.seen.get(&id).is_some_and(|seen| seen.written) {
            self.replace_in_batch(row, known.trashed, &mut fact, &digest, 0)?;
        } else {
            self.new_version(&known, &mut fact, &digest, 0)?;
        }
        let updated = by.times.updated.map_or(i64::MIN, mementory_model::Timestamp::as_micros);
        let seen = Seen {
            row,
            digest: short(&digest),
            updated,
            written: self.staging.is_some(),
            redacted: false,
            trashed: known.trashed,
        };
        self.seen.insert(id, seen);
        self.retired.insert(id);
        Ok(true)
    }
}
