//! Removes words from every version of a row.
use crate::{VaultResult, context::Context, erasure::vectors::add_to_evidence, word_removal::Removal};
use mementory_erasure_check::Evidence;
use mementory_store::{Entry, Flags, RowView};
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashSet};

/// Removes words from every version of a row.
#[derive(Clone, Copy)]
pub(crate) struct RowRedaction<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> RowRedaction<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl RowRedaction<'_> {
    /// True if a version of the record contains words of `removal`.
    pub(crate) fn has_words(&self, c: &Connection, view: &RowView, removal: &Removal) -> VaultResult<bool> {
        for (pack, slots) in version_places(c, view)? {
            if self.would_change(c, pack, &slots, &mut |record: &mut mementory_model::Record| {
                removal.clean_record(record)
            })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if `change` would change one of these entries of a pack. Works on copies and writes nothing.
    pub(crate) fn would_change(
        &self,
        c: &Connection,
        pack: i64,
        slots: &HashSet<u32>,
        change: &mut impl FnMut(&mut mementory_model::Record) -> bool,
    ) -> VaultResult<bool> {
        let mut is_changed = false;
        for slot in slots {
            is_changed |= change(&mut self.context.store.packs.record(c, pack, *slot)?);
        }
        Ok(is_changed)
    }

    /// Removes words from every version of a record. Returns true if a version contained any of the words.
    pub(crate) fn redact_row(
        &self,
        tx: &Connection,
        view: &RowView,
        removal: &Removal,
        evidence: &mut Evidence,
    ) -> VaultResult<bool> {
        Ok(!self.redact_rows(tx, std::slice::from_ref(view), removal, evidence)?.is_empty())
    }

    /// Removes words from every version of several records, rewriting each pack once. Returns the rows that changed.
    pub(crate) fn redact_rows(
        &self,
        tx: &Connection,
        views: &[RowView],
        removal: &Removal,
        evidence: &mut Evidence,
    ) -> VaultResult<Vec<i64>> {
        let mut change = |record: &mut mementory_model::Record| removal.clean_record(record);
        let mut places: BTreeMap<i64, HashSet<u32>> = BTreeMap::new();
        let mut changed = Vec::new();
        for view in views {
            let mut is_changed = false;
            for (pack, slots) in version_places(tx, view)? {
                if self.would_change(tx, pack, &slots, &mut change)? {
                    is_changed = true;
                    places.entry(pack).or_default().extend(slots);
                }
            }
            if is_changed {
                changed.push(view);
            }
        }
        for (pack, slots) in places {
            self.rewrite_slots(tx, pack, &slots, evidence, &mut change)?;
        }
        for view in &changed {
            self.update_redacted_row(tx, view, evidence)?;
            tx.prepare_cached("INSERT INTO changes (op, target) VALUES (1, ?1)")?.execute([view.row])?;
        }
        Ok(changed.into_iter().map(|view| view.row).collect())
    }

    pub(crate) fn update_redacted_row(
        &self,
        tx: &Connection,
        view: &RowView,
        evidence: &mut Evidence,
    ) -> VaultResult<()> {
        // Writing the columns removes the vectors, so the vectors are added to the evidence first.
        add_to_evidence(tx, view.row, evidence)?;
        let record = self.context.store.packs.record(tx, view.pack, view.slot)?;
        mementory_store::write_columns(tx, view.row, &record)?;
        tx.execute("UPDATE records SET flags = flags | ?2 WHERE row = ?1", params![view.row, Flags::REDACTED])?;
        // The words were removed from earlier versions too, so the rows of these versions also get the flag.
        tx.execute("UPDATE versions SET flags = flags | ?2 WHERE row = ?1", params![view.row, Flags::REDACTED])?;
        mementory_store::details::clear(tx, view.row)
    }

    pub(crate) fn rewrite_versions(
        &self,
        tx: &Connection,
        view: &RowView,
        evidence: &mut Evidence,
        mut change: impl FnMut(&mut mementory_model::Record) -> bool,
    ) -> VaultResult<bool> {
        let mut is_changed = false;
        for (pack, slots) in version_places(tx, view)? {
            // A pack is rewritten only if one of its entries changes.
            if !self.would_change(tx, pack, &slots, &mut change)? {
                continue;
            }
            is_changed = true;
            self.rewrite_slots(tx, pack, &slots, evidence, &mut change)?;
        }
        Ok(is_changed)
    }

    /// Applies `change` to these records of a pack and rewrites the pack. Samples of the pack's old bytes go into
    /// `evidence`, so that the erasure check can search for them.
    pub(crate) fn rewrite_slots(
        &self,
        tx: &Connection,
        pack: i64,
        slots: &HashSet<u32>,
        evidence: &mut Evidence,
        change: &mut impl FnMut(&mut mementory_model::Record) -> bool,
    ) -> VaultResult<()> {
        let (old, new) = self.context.store.packs.rewrite(tx, pack, |slot, entry| {
            if !slots.contains(&slot) {
                return Ok(Some(entry));
            }
            let mut record = entry.to_record()?;
            change(&mut record);
            Ok(Some(Entry::from_record(&mut record)?))
        })?;
        evidence.add_pack(pack, &old, &new);
        Ok(())
    }
}

/// Returns the packs and slots of all versions of a record, including the current version.
fn version_places(c: &Connection, view: &RowView) -> VaultResult<BTreeMap<i64, HashSet<u32>>> {
    let mut places: BTreeMap<i64, HashSet<u32>> = BTreeMap::from([(view.pack, HashSet::from([view.slot]))]);
    let mut statement = c.prepare_cached("SELECT pack, slot FROM versions WHERE row = ?1")?;
    for place in statement.query_map([view.row], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?)))? {
        let (pack, slot) = place?;
        places.entry(pack).or_default().insert(slot);
    }
    Ok(places)
}
