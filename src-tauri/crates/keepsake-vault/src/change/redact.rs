//! Redaction: chosen spans go from every version, the verbatim, the index and every derived item; a skeleton stays.
use super::{
    copies::telling_sentences,
    erase::EraseOutcome,
    replace::{LEAST, Removal},
};
use crate::{
    Vault, VaultError, VaultResult,
    store::{Entry, Flags, RowView, Store},
    tombstones::{TombstoneRow, store_own},
    verify::Evidence,
};
use keepsake_model::{Derived, Timestamp, TombstoneOp, normal_text};
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashSet};

/// A span of a record's text, in code points, end exclusive.
#[derive(Debug, Clone)]
pub struct RedactSpan {
    /// First code point.
    pub start: u32,
    /// One past the last.
    pub end: u32,
    /// Class written in its place, `[a-z0-9_]+`.
    pub class: String,
}

impl Vault {
    /// Redacts spans of one record for good. With `everywhere` other records that hold the same words are redacted too.
    ///
    /// # Errors
    /// `Usage` for spans that are empty, overlap or lie outside the text.
    pub fn redact(
        &self,
        id: &str,
        spans: &[RedactSpan],
        everywhere: bool,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<EraseOutcome> {
        let view = self.find(id)?;
        let record = self.store.read(|c| self.store.packs.record(c, view.pack, view.slot))?;
        let (new_text, removed) = cut(&record.text, spans)?;
        let mut pairs = vec![(record.text.clone(), new_text.clone())];
        pairs.extend(removed.clone());
        let removal = Removal::exact(pairs);
        let rows: HashSet<i64> = HashSet::from([view.row]);
        let mut others = self.derived_of(&view)?;
        if everywhere {
            let words: Vec<String> = removed.iter().map(|(w, _)| normal_text(w)).filter(|w| !w.is_empty()).collect();
            let known: HashSet<i64> = others.iter().map(|v| v.row).chain([view.row]).collect();
            others.extend(self.same_words(&words, &known)?);
        }
        let parts = self.parts_holding(&Removal::exact(removed.clone()), &rows)?;
        let receipt_id = crate::ids::random_text()?;
        let mut evidence = Evidence::default();
        progress("record");
        let (seq, tombstone, changed) = self.store.write(|tx| {
            self.set_text(tx, &view, &record.text, &new_text, &removal, &mut evidence)?;
            let mut changed = vec![view.row];
            let elsewhere = Removal::exact(removed.clone());
            for other in &others {
                if self.redact_row(tx, other, &elsewhere, &mut evidence)? {
                    changed.push(other.row);
                }
            }
            let (old_blobs, part_count) = self.rewrite_parts(tx, &parts, &removal)?;
            evidence.blobs = old_blobs;
            evidence.parts = part_count;
            let row = TombstoneRow {
                id: format!("tomb_{}", crate::ids::random_text()?),
                op: TombstoneOp::Redact,
                kind: view.kind.as_str().into(),
                target: view.id_text(),
                scope: if record.origin.format == "mem" { "mem".into() } else { "keepsake".into() },
                origin_id: record.origin_id.clone(),
                source: Some(view.platform.clone()),
                at: now,
                actor: "owner".into(),
                reason: "redaction".into(),
                derived: Derived::default(),
                signature: String::new(),
                own: true,
                receipt: Some(receipt_id.clone()),
                signature_valid: false,
                verbatim: None,
            };
            super::erase::pending_receipt(tx, &receipt_id, now)?;
            let tombstone = store_own(tx, &self.keys, row, &view.id, &[], &[])?;
            for row in &changed {
                tx.execute("INSERT INTO changes (op, target) VALUES (1, ?1)", [row])?;
            }
            crate::audit::append(tx, &self.keys, now, "redact", id, &format!("{} records", changed.len()))?;
            Ok((Store::last_change(tx)?, tombstone, changed))
        })?;
        for blob in &evidence.blobs {
            self.blobs.remove(blob)?;
        }
        progress("search_index");
        let erased: Vec<u64> = changed.iter().map(|r| *r as u64).collect();
        for row in &changed {
            self.reindex(*row)?;
        }
        self.index_commit(seq)?;
        self.with_index(|i| i.purge(&erased))?;
        progress("write_ahead_log");
        self.store.packs.forget();
        evidence.wal_clean = self.store.checkpoint()?;
        evidence.texts = removed.iter().map(|(w, _)| w.clone()).filter(|w| w.chars().count() >= LEAST).collect();
        evidence.sentences = removed.iter().map(|(w, _)| normal_text(w)).filter(|w| w.contains(' ')).collect();
        evidence.redacted_rows.clone_from(&changed);
        progress("database_pages");
        let receipt = self.prove_and_wipe(receipt_id, evidence, now, true)?;
        Ok(EraseOutcome { tombstones: vec![tombstone], receipt, copies_redacted: changed.len() as u32 })
    }

    /// Records derived from this one, and those it was derived from stay as they are.
    fn derived_of(&self, view: &RowView) -> VaultResult<Vec<RowView>> {
        self.store.read(|c| {
            let mut statement =
                c.prepare_cached("SELECT row FROM links WHERE target = ?1 AND relation = 'derived_from'")?;
            let rows = statement.query_map([view.id], |r| r.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
            let mut out = Vec::new();
            for row in rows {
                out.extend(RowView::by_row(c, row)?);
            }
            Ok(out)
        })
    }

    /// Sets the record's own text and removes the words from its other fields, verbatim and versions.
    fn set_text(
        &self,
        tx: &Connection,
        view: &RowView,
        old: &str,
        new: &str,
        removal: &Removal,
        evidence: &mut Evidence,
    ) -> VaultResult<()> {
        self.rewrite_versions(tx, view, evidence, |record| {
            if record.text == old {
                new.clone_into(&mut record.text);
            }
            removal.record(record);
            true
        })?;
        self.after_redaction(tx, view)
    }

    /// Removes words from every version of a record. True when something was there.
    pub(super) fn redact_row(
        &self,
        tx: &Connection,
        view: &RowView,
        removal: &Removal,
        evidence: &mut Evidence,
    ) -> VaultResult<bool> {
        if !self.rewrite_versions(tx, view, evidence, |record| removal.record(record))? {
            return Ok(false);
        }
        self.after_redaction(tx, view)?;
        tx.execute("INSERT INTO changes (op, target) VALUES (1, ?1)", [view.row])?;
        Ok(true)
    }

    fn after_redaction(&self, tx: &Connection, view: &RowView) -> VaultResult<()> {
        let record = self.store.packs.record(tx, view.pack, view.slot)?;
        self.write_current(tx, view.row, &record)?;
        tx.execute("UPDATE records SET flags = flags | ?2 WHERE row = ?1", params![view.row, Flags::REDACTED])?;
        // Words in the history are gone too, so the versions carry the mark as well.
        tx.execute("UPDATE versions SET flags = flags | ?2 WHERE row = ?1", params![view.row, Flags::REDACTED])?;
        Ok(())
    }

    fn rewrite_versions(
        &self,
        tx: &Connection,
        view: &RowView,
        evidence: &mut Evidence,
        mut change: impl FnMut(&mut keepsake_model::Record) -> bool,
    ) -> VaultResult<bool> {
        let mut places: BTreeMap<i64, HashSet<u32>> = BTreeMap::from([(view.pack, HashSet::from([view.slot]))]);
        {
            let mut statement = tx.prepare_cached("SELECT pack, slot FROM versions WHERE row = ?1")?;
            for place in statement.query_map([view.row], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?)))? {
                let (pack, slot) = place?;
                places.entry(pack).or_default().insert(slot);
            }
        }
        let mut any = false;
        for (pack, slots) in places {
            // Look before writing: a pack in which nothing changes is left alone.
            let mut touched = false;
            for slot in &slots {
                let mut record = self.store.packs.record(tx, pack, *slot)?;
                touched |= change(&mut record);
            }
            if !touched {
                continue;
            }
            any = true;
            let (old, new) = self.store.packs.rewrite(tx, pack, |slot, entry| {
                if !slots.contains(&slot) {
                    return Ok(Some(entry));
                }
                let mut record = entry.to_record()?;
                change(&mut record);
                Ok(Some(Entry::from_record(&mut record)?))
            })?;
            evidence.pack(&old, &new);
        }
        Ok(any)
    }

    /// Other records that say what this one says; for the redact dialog.
    pub fn copies_of(&self, id: &str) -> VaultResult<Vec<RowView>> {
        let view = self.find(id)?;
        let record = self.store.read(|c| self.store.packs.record(c, view.pack, view.slot))?;
        self.same_words(&telling_sentences(&record), &HashSet::from([view.row]))
    }
}

/// The text with its spans replaced, and what was cut out with its replacement.
fn cut(text: &str, spans: &[RedactSpan]) -> VaultResult<(String, Vec<(String, String)>)> {
    let usage = |m: &str| VaultError::Usage(m.to_owned());
    if spans.is_empty() {
        return Err(usage("Nothing is selected."));
    }
    let chars: Vec<char> = text.chars().collect();
    let mut spans = spans.to_vec();
    spans.sort_by_key(|s| s.start);
    let (mut out, mut removed, mut at) = (String::new(), Vec::new(), 0usize);
    for span in &spans {
        let (start, end) = (span.start as usize, span.end as usize);
        if start >= end || end > chars.len() || start < at {
            return Err(usage("A span is empty, overlaps another or lies outside the text."));
        }
        if span.class.is_empty()
            || !span.class.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        {
            return Err(usage("A class is written in lower case letters, digits and underscores."));
        }
        out.extend(&chars[at..start]);
        let mark = format!("[REDACTED:{}]", span.class);
        removed.push((chars[start..end].iter().collect(), mark.clone()));
        out.push_str(&mark);
        at = end;
    }
    out.extend(&chars[at..]);
    Ok((out, removed))
}
