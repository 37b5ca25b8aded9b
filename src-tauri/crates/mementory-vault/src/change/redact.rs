//! Redaction: chosen spans go from every version, the verbatim, the index and every derived item; a skeleton stays.
use super::{
    bury::Occasion,
    erase::{EraseOutcome, Target},
    replace::{LEAST, Removal},
    spans::Spans,
};
use crate::{Vault, VaultError, VaultResult};
use mementory_erasure_check::{Evidence, Receipt};
use mementory_model::{Timestamp, normal_sentences, normal_text};
use mementory_store::{Entry, Flags, RowView, Store};
use rusqlite::{Connection, params};
use std::{
    collections::{BTreeMap, HashSet},
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
};

/// Records that say the same words and that one redaction goes through at most, what was derived from the record itself not
/// counted: "all of them" is said beforehand, and has to be true.
pub(super) const PLACES: usize = 10_000;
/// Records read at once.
pub(super) const READ: usize = 200;

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

/// What a redaction did to the store, for the steps after it.
pub(super) struct Aftermath<'a> {
    pub(super) seq: u64,
    pub(super) changed: &'a [i64],
    pub(super) words: &'a [String],
    pub(super) receipt_id: String,
    pub(super) now: Timestamp,
}

impl Vault {
    /// Redacts spans of one record for good. With `everywhere` other records that hold the same words are redacted too.
    ///
    /// # Errors
    /// `Usage` for spans that are empty, overlap or lie outside the text; `TooMany` for words that stand in more records
    /// than one redaction goes through.
    pub fn redact(
        &self,
        id: &str,
        spans: &[RedactSpan],
        everywhere: bool,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<EraseOutcome> {
        let Work { target, cut, own, others } = self.redaction(id, spans, everywhere, &AtomicBool::new(false))?;
        let words: Vec<String> = cut.removed.iter().map(|(w, _)| w.clone()).collect();
        let known = HashSet::from([target.view.row]);
        let parts = self.parts_holding(&Removal::exact(cut.removed.clone()), &known, true)?;
        let receipt_id = mementory_store::ids::random_text()?;
        let mut evidence = Evidence::default();
        progress("record");
        let written = self.store.write(|tx| {
            let occasion = Occasion { reason: "redaction", receipt: &receipt_id, now };
            self.set_text(tx, &target.view, (&target.record.text, &cut.text), &own, &mut evidence)?;
            let mut changed = vec![target.view.row];
            let tombstone = self.bury_redacted(tx, &target, &own, &words, &occasion)?;
            // Not all of them in memory at once: they may be thousands.
            let read = others.iter().flat_map(|(views, removal)| views.chunks(READ).map(move |some| (some, removal)));
            for (views, removal) in read {
                let read = self.read_targets(tx, views.to_vec())?;
                let rows: HashSet<i64> = self.redact_rows(tx, views, removal, &mut evidence)?.into_iter().collect();
                for before in read.iter().filter(|before| rows.contains(&before.view.row)) {
                    self.bury_redacted(tx, before, removal, &words, &occasion)?;
                    let whole = |text: &&String| removal.record_text(text).is_some_and(|new| cut.is_mark(&new));
                    evidence.texts.extend(before.texts.iter().filter(whole).cloned());
                    changed.push(before.view.row);
                }
            }
            let (old_blobs, part_count) = self.rewrite_parts(tx, &parts)?;
            evidence.blobs = old_blobs;
            evidence.parts = part_count;
            evidence.copies = changed.len().saturating_sub(1) as u32;
            super::erase::clean_reports(tx, &cut.names())?;
            super::erase::pending_receipt(tx, &receipt_id, now)?;
            tx.execute("INSERT INTO changes (op, target) VALUES (1, ?1)", [target.view.row])?;
            mementory_store::audit::append(tx, &self.keys, now, "redact", id, &format!("{} records", changed.len()))?;
            Ok((Store::last_change(tx)?, tombstone, changed))
        });
        if written.is_err() {
            self.drop_parts(&parts)?;
        }
        let (seq, tombstone, changed) = written?;
        // After the commit nothing may fail: rows that are not looked at now are queued for the next look.
        let _ = self.look_at(&changed);
        let after = Aftermath { seq, changed: &changed, words: &words, receipt_id, now };
        let receipt = self.after_redacting(after, &mut evidence, progress)?;
        Ok(EraseOutcome { tombstones: vec![tombstone], receipt, copies_redacted: changed.len() as u32 })
    }

    /// The records that redacting these spans would change, this one first. Nothing is changed.
    ///
    /// # Errors
    /// As [`redact`](Self::redact); `Cancelled`.
    pub fn redact_plan(
        &self,
        id: &str,
        spans: &[RedactSpan],
        everywhere: bool,
        cancelled: &AtomicBool,
    ) -> VaultResult<Vec<RowView>> {
        let work = self.redaction(id, spans, everywhere, cancelled)?;
        let mut out = vec![work.target.view];
        for (views, removal) in work.others {
            for view in views {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                if self.store.read(|c| self.holds(c, &view, &removal))? {
                    out.push(view);
                }
            }
        }
        Ok(out)
    }

    /// What a redaction takes out of which records: the rule of the redaction and of what is said before it.
    fn redaction(&self, id: &str, spans: &[RedactSpan], everywhere: bool, cancelled: &AtomicBool) -> VaultResult<Work> {
        let target = self.read_target(self.find(id)?)?;
        let cut = cut(&target.record.text, spans)?;
        let derived = self.derived_of(&target.view)?;
        let mut elsewhere = Vec::new();
        if everywhere {
            let known: HashSet<i64> = derived.iter().map(|v| v.row).chain([target.view.row]).collect();
            let words = cut.removed.iter().filter(|(words, _)| words.chars().count() >= LEAST);
            let normal: Vec<String> = words.map(|(w, _)| normal_text(w)).filter(|w| !w.is_empty()).collect();
            elsewhere = self.all_with(&normal, &known, PLACES, cancelled)?;
            // Neighbours in a pack are rewritten together.
            elsewhere.sort_by_key(|view| view.pack);
        }
        let others = [(derived, cut.removal(&target.record.text, false)), (elsewhere, cut.plain())];
        let own = cut.removal(&target.record.text, true);
        Ok(Work { target, cut, own, others })
    }

    /// True when a version of a record holds what is to go.
    fn holds(&self, c: &Connection, view: &RowView, removal: &Removal) -> VaultResult<bool> {
        for (pack, slots) in version_places(c, view)? {
            if self.changes(c, pack, &slots, &mut |record: &mut mementory_model::Record| removal.record(record))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True when `change` finds something in one of these entries of a pack.
    fn changes(
        &self,
        c: &Connection,
        pack: i64,
        slots: &HashSet<u32>,
        change: &mut impl FnMut(&mut mementory_model::Record) -> bool,
    ) -> VaultResult<bool> {
        let mut any = false;
        for slot in slots {
            any |= change(&mut self.store.packs.record(c, pack, *slot)?);
        }
        Ok(any)
    }

    /// What follows the store's commit: index, write-ahead log, and the check of it all.
    pub(super) fn after_redacting(
        &self,
        after: Aftermath<'_>,
        evidence: &mut Evidence,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Receipt> {
        for blob in &evidence.blobs {
            self.blobs.remove(blob)?;
        }
        progress("search_index");
        let erased: Vec<u64> = after.changed.iter().map(|r| *r as u64).collect();
        for row in after.changed {
            self.reindex(*row)?;
        }
        self.index_commit(after.seq)?;
        self.with_index(|i| i.purge(&erased))?;
        progress("write_ahead_log");
        self.store.packs.forget();
        evidence.wal_clean = self.store.checkpoint()?;
        evidence.texts.extend(after.words.iter().filter(|w| w.chars().count() >= LEAST).cloned());
        let telling = |w: &String| w.chars().count() >= LEAST;
        evidence.sentences = after.words.iter().map(|w| normal_text(w)).filter(telling).collect();
        evidence.rewritten_rows = after.changed.to_vec();
        progress("database_pages");
        self.prove_and_wipe(after.receipt_id, evidence, after.now, true, &|| Ok(()))
    }

    fn read_target(&self, view: RowView) -> VaultResult<Target> {
        let id = view.id_text();
        let read = self.store.read(|c| self.read_targets(c, vec![view]))?;
        read.into_iter().next().ok_or_else(|| VaultError::not_found(&id))
    }

    /// Records derived from this one, and those it was derived from stay as they are.
    pub(super) fn derived_of(&self, view: &RowView) -> VaultResult<Vec<RowView>> {
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
        (old, new): (&str, &str),
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
        Ok(!self.redact_rows(tx, std::slice::from_ref(view), removal, evidence)?.is_empty())
    }

    /// The same for many, each of their packs rewritten once. The rows in which something was there.
    fn redact_rows(
        &self,
        tx: &Connection,
        views: &[RowView],
        removal: &Removal,
        evidence: &mut Evidence,
    ) -> VaultResult<Vec<i64>> {
        let mut change = |record: &mut mementory_model::Record| removal.record(record);
        let mut places: BTreeMap<i64, HashSet<u32>> = BTreeMap::new();
        let mut changed = Vec::new();
        for view in views {
            let mut any = false;
            for (pack, slots) in version_places(tx, view)? {
                if self.changes(tx, pack, &slots, &mut change)? {
                    any = true;
                    places.entry(pack).or_default().extend(slots);
                }
            }
            if any {
                changed.push(view);
            }
        }
        for (pack, slots) in places {
            self.rewrite_slots(tx, pack, &slots, evidence, &mut change)?;
        }
        for view in &changed {
            self.after_redaction(tx, view)?;
            tx.prepare_cached("INSERT INTO changes (op, target) VALUES (1, ?1)")?.execute([view.row])?;
        }
        Ok(changed.into_iter().map(|view| view.row).collect())
    }

    fn after_redaction(&self, tx: &Connection, view: &RowView) -> VaultResult<()> {
        let record = self.store.packs.record(tx, view.pack, view.slot)?;
        mementory_store::write_columns(tx, view.row, &record)?;
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
        mut change: impl FnMut(&mut mementory_model::Record) -> bool,
    ) -> VaultResult<bool> {
        let mut any = false;
        for (pack, slots) in version_places(tx, view)? {
            // Look before writing: a pack in which nothing changes is left alone.
            if !self.changes(tx, pack, &slots, &mut change)? {
                continue;
            }
            any = true;
            self.rewrite_slots(tx, pack, &slots, evidence, &mut change)?;
        }
        Ok(any)
    }

    /// Changes these entries of a pack, and remembers what its former bytes looked like.
    fn rewrite_slots(
        &self,
        tx: &Connection,
        pack: i64,
        slots: &HashSet<u32>,
        evidence: &mut Evidence,
        change: &mut impl FnMut(&mut mementory_model::Record) -> bool,
    ) -> VaultResult<()> {
        let (old, new) = self.store.packs.rewrite(tx, pack, |slot, entry| {
            if !slots.contains(&slot) {
                return Ok(Some(entry));
            }
            let mut record = entry.to_record()?;
            change(&mut record);
            Ok(Some(Entry::from_record(&mut record)?))
        })?;
        evidence.pack(pack, &old, &new);
        Ok(())
    }
}

/// A redaction that was thought through.
struct Work {
    target: Target,
    cut: Cut,
    /// For the record itself.
    own: Removal,
    /// Records derived from it, and others that may say the same words; each with what goes from them.
    others: [(Vec<RowView>, Removal); 2],
}

/// The packs and slots of a record's versions, the current one included.
fn version_places(c: &Connection, view: &RowView) -> VaultResult<BTreeMap<i64, HashSet<u32>>> {
    let mut places: BTreeMap<i64, HashSet<u32>> = BTreeMap::from([(view.pack, HashSet::from([view.slot]))]);
    let mut statement = c.prepare_cached("SELECT pack, slot FROM versions WHERE row = ?1")?;
    for place in statement.query_map([view.row], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, u32>(1)?)))? {
        let (pack, slot) = place?;
        places.entry(pack).or_default().insert(slot);
    }
    Ok(places)
}

/// A text with its spans replaced.
struct Cut {
    /// The text as it is to be.
    text: String,
    /// What was cut out, with its replacement.
    removed: Vec<(String, String)>,
    /// Where, in bytes of the former text.
    places: Vec<Range<usize>>,
}

impl Cut {
    /// What stands for a text that goes as a whole: the first span's mark.
    fn mark(&self) -> &str {
        self.removed.first().map_or("", |(_, mark)| mark)
    }

    fn is_mark(&self, text: &str) -> bool {
        text == self.mark()
    }

    /// Sentences of the spans that tell something on their own: a span may run over several, and elsewhere (in bullets,
    /// in statements taken from the text) each stands alone.
    fn sentences(&self) -> Vec<String> {
        let all = self.removed.iter().flat_map(|(words, _)| normal_sentences(words));
        all.filter(|s| s.len() >= 12 && s.contains(' ')).collect()
    }

    /// For names in import reports: few letters may stand in any.
    fn names(&self) -> Removal {
        Removal::exact(self.removed.iter().filter(|(words, _)| words.len() >= 8).cloned().collect())
    }

    /// For records that say the same words.
    fn plain(&self) -> Removal {
        Removal::exact(self.removed.clone()).and_sentences(self.sentences(), self.mark())
    }

    /// For the record itself and for what was derived from it: also strings that tell a part of the former text which a
    /// span covers or cuts through.
    fn removal(&self, former: &str, own: bool) -> Removal {
        let mut pairs = self.removed.clone();
        if own {
            pairs.push((former.to_owned(), self.text.clone()));
        }
        Removal::exact(pairs)
            .and_sentences(self.sentences(), self.mark())
            .and_spans(Spans::new(former, &self.places), self.mark())
    }
}

/// Cuts spans out of a text.
fn cut(text: &str, spans: &[RedactSpan]) -> VaultResult<Cut> {
    let usage = |m: &str| VaultError::Usage(m.to_owned());
    if spans.is_empty() {
        return Err(usage("Nothing is selected."));
    }
    // Byte offset of every code point, and of the end.
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut spans = spans.to_vec();
    spans.sort_by_key(|s| s.start);
    let mut out = Cut { text: String::with_capacity(text.len()), removed: Vec::new(), places: Vec::new() };
    let mut at = 0;
    for span in &spans {
        let outside = || usage("A span is empty, overlaps another or lies outside the text.");
        let (Some(start), Some(end)) = (offsets.get(span.start as usize), offsets.get(span.end as usize)) else {
            return Err(outside());
        };
        if start >= end || *start < at {
            return Err(outside());
        }
        if span.class.is_empty()
            || !span.class.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        {
            return Err(usage("A class is written in lower case letters, digits and underscores."));
        }
        out.text.push_str(&text[at..*start]);
        let mark = format!("[REDACTED:{}]", span.class);
        out.text.push_str(&mark);
        out.removed.push((text[*start..*end].to_owned(), mark));
        out.places.push(*start..*end);
        at = *end;
    }
    out.text.push_str(&text[at..]);
    Ok(out)
}
