//! Redacts records: removes chosen spans from every version, `verbatim`, the index and every derived record. A skeleton
//! of the record stays.
use crate::{
    VaultError, VaultResult,
    applied::Applied,
    context::Context,
    erasure::{
        eraser::EraseOutcome, ledger::ErasureLedger, passthrough_files::PassthroughFiles, quotations::changed_texts,
        quotations::changed_texts_of, receipts::Receipts, redacted_text::RedactSpan, redacted_text::RedactedText,
        redacted_text::replace_spans, reports::ErasedNames, reports::clean_reports, row_redaction::RowRedaction,
        same_words::SameWords, targets::RECORDS_PER_READ, targets::Target, targets::Targets,
        write_tombstones::TombstoneContext, write_tombstones::TombstoneWriter,
    },
    erasure_ledger::{ErasureAct, word_fingerprint},
    failed_step::FailedStep,
    sensitive::Scanner,
    word_removal::Removal,
};
use mementory_erasure_check::{Evidence, Receipt};
use mementory_model::{MIN_SEARCHED_CHARS, Record, Timestamp, normal_text};
use mementory_store::{RowView, Store};
use rusqlite::Connection;
use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// Maximum number of other records with the same words that one redaction processes, not counting the records derived
/// from the redacted record. Above this number the redaction is refused, because its preview promises to redact all of
/// them.
pub(crate) const MAX_RECORDS: usize = 10_000;

/// Changes of a committed redaction, for the steps after the commit.
pub(crate) struct CommittedRedaction<'a> {
    pub(crate) seq: u64,
    pub(crate) changed: &'a [i64],
    pub(crate) words: &'a [String],
    pub(crate) receipt_id: String,
    pub(crate) now: Timestamp,
}

/// Redacts text spans and sensitive values.
#[derive(Clone, Copy)]
pub struct Redactor<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Redactor<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Redactor<'_> {
    /// Redacts spans of one record for good. With `everywhere`, other records with the same words are redacted too.
    ///
    /// # Errors
    /// `Usage` for spans that are empty, overlap, lie outside the text or are all redacted already; `TooMany` if the
    /// number of records that contain the words is larger than one redaction allows.
    pub fn redact(
        &self,
        id: &str,
        spans: &[RedactSpan],
        everywhere: bool,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Applied<EraseOutcome>> {
        let mut evidence = Evidence::default();
        let plan = self.make_plan(id, spans, everywhere, &AtomicBool::new(false), &mut evidence)?;
        let RedactionPlan { target, redacted, own_removal, others } = plan;
        let words: Vec<String> = redacted.removed.iter().map(|(w, _)| w.clone()).collect();
        let known_rows = HashSet::from([target.view.row]);
        let exact = Removal::exact(redacted.removed.clone());
        evidence.quotations = changed_texts(&target, &own_removal, &exact);
        for (views, removal) in &others {
            if removal.removes_more_than_exact_words() {
                evidence
                    .quotations
                    .extend(changed_texts_of(self.context, views, |target| changed_texts(target, removal, &exact))?);
            }
        }
        let removal_in_files = Removal::exact(redacted.removed.iter().chain(&evidence.quotations).cloned().collect());
        let passthrough = PassthroughFiles::new(self.context).files_with_words(&removal_in_files, &known_rows, true)?;
        let receipt_id = mementory_store::ids::random_hex_id()?;
        let act = RefCell::new(ErasureAct { at: now.as_micros(), ..ErasureAct::default() });
        let is_listed = Cell::new(true);
        progress("record");
        let written = self.context.store.write(|tx| {
            let tombstone_context =
                TombstoneContext { reason: "redaction", receipt: &receipt_id, now, act: &act, earlier: None };
            self.set_text(tx, &target.view, (&target.record.text, &redacted.text), &own_removal, &mut evidence)?;
            let mut changed = vec![target.view.row];
            let tombstone = TombstoneWriter::new(self.context).write_redacted(
                tx,
                &target,
                &own_removal,
                &words,
                &tombstone_context,
            )?;
            // The records are read in chunks, because there may be thousands.
            let read = others
                .iter()
                .flat_map(|(views, removal)| views.chunks(RECORDS_PER_READ).map(move |chunk| (chunk, removal)));
            for (views, removal) in read {
                let visit = &mut |record: &Record| {
                    evidence.add_record(record);
                    Ok(())
                };
                let read = Targets::new(self.context).read_targets(tx, views.to_vec(), visit)?;
                let rows: HashSet<i64> = RowRedaction::new(self.context)
                    .redact_rows(tx, views, removal, &mut evidence)?
                    .into_iter()
                    .collect();
                for before in read.iter().filter(|before| rows.contains(&before.view.row)) {
                    TombstoneWriter::new(self.context).write_redacted(
                        tx,
                        before,
                        removal,
                        &words,
                        &tombstone_context,
                    )?;
                    let is_removed_whole =
                        |text: &&String| removal.record_text(text).is_some_and(|new| redacted.is_mark(&new));
                    evidence.texts.extend(before.texts.iter().filter(is_removed_whole).cloned());
                    changed.push(before.view.row);
                }
            }
            let (old_blobs, file_count) = PassthroughFiles::new(self.context).rewrite_files(tx, &passthrough)?;
            evidence.blobs = old_blobs;
            evidence.passthrough_files = file_count;
            evidence.copies = changed.len().saturating_sub(1) as u32;
            clean_reports(tx, &redacted.removal_in_reports(), &ErasedNames::default())?;
            crate::erasure::receipts::pending_receipt(tx, &receipt_id, now)?;
            tx.execute("INSERT INTO changes (op, target) VALUES (1, ?1)", [target.view.row])?;
            mementory_store::audit::append(
                tx,
                &self.context.keys,
                now,
                "redact",
                id,
                &format!("{} records", changed.len()),
            )?;
            let fingerprints = redacted
                .removed
                .iter()
                .map(|(words, mark)| word_fingerprint(&self.context.keys, words, mark))
                .collect();
            is_listed.set(
                ErasureLedger::new(self.context).add(&receipt_id, ErasureAct { words: fingerprints, ..act.take() })?,
            );
            Ok((Store::last_change(tx)?, tombstone, changed))
        });
        ErasureLedger::new(self.context).end(&receipt_id, written.is_ok());
        let (seq, tombstone, changed) = PassthroughFiles::new(self.context).after_write(&passthrough, written)?;
        // A failure needs no warning: rows that are not scanned now stay in the scan queue.
        let _ = Scanner::new(self.context).scan_rows(&changed);
        let committed = CommittedRedaction { seq, changed: &changed, words: &words, receipt_id, now };
        let id = committed.receipt_id.clone();
        let receipt = Receipts::after_commit(self.after_redacting(committed, &mut evidence, progress), id, now);
        let (tombstones, copies_redacted) = (vec![tombstone], changed.len() as u32);
        let outcome = receipt.map(|receipt| EraseOutcome { tombstones, receipt, copies_redacted });
        Ok(outcome.warn_if(!is_listed.get(), FailedStep::ErasureList))
    }

    /// Returns the records that redacting these spans would change, first the record that contains the spans. Changes
    /// nothing.
    ///
    /// # Errors
    /// As for [`redact`](Self::redact); `Cancelled`.
    pub fn redact_plan(
        &self,
        id: &str,
        spans: &[RedactSpan],
        everywhere: bool,
        cancelled: &AtomicBool,
    ) -> VaultResult<Vec<RowView>> {
        let plan = self.make_plan(id, spans, everywhere, cancelled, &mut Evidence::default())?;
        let mut out = vec![plan.target.view];
        for (views, removal) in plan.others {
            for view in views {
                if cancelled.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                if self.context.store.read(|c| RowRedaction::new(self.context).has_words(c, &view, &removal))? {
                    out.push(view);
                }
            }
        }
        Ok(out)
    }

    /// Finds the records that a redaction changes and the words that it removes from each. The redaction and its
    /// preview use this plan.
    fn make_plan(
        &self,
        id: &str,
        spans: &[RedactSpan],
        everywhere: bool,
        cancelled: &AtomicBool,
        evidence: &mut Evidence,
    ) -> VaultResult<RedactionPlan> {
        let target = self.read_target(self.context.find(id)?, evidence)?;
        let redacted = replace_spans(&target.record.text, spans)?;
        let derived = self.derived_of(&target.view)?;
        let mut other_views = Vec::new();
        if everywhere {
            let known_rows: HashSet<i64> = derived.iter().map(|v| v.row).chain([target.view.row]).collect();
            let words = redacted.removed.iter().filter(|(words, _)| words.chars().count() >= MIN_SEARCHED_CHARS);
            let normal_words: Vec<String> = words.map(|(w, _)| normal_text(w)).filter(|w| !w.is_empty()).collect();
            other_views =
                SameWords::new(self.context).all_with_sentences(&normal_words, &known_rows, MAX_RECORDS, cancelled)?;
            // Records of the same pack are rewritten together.
            other_views.sort_by_key(|view| view.pack);
        }
        let others =
            [(derived, redacted.removal(&target.record.text, false)), (other_views, redacted.removal_elsewhere())];
        let own_removal = redacted.removal(&target.record.text, true);
        Ok(RedactionPlan { target, redacted, own_removal, others })
    }

    /// Runs the steps after the store's commit: removes blobs, updates the index, truncates the write-ahead log, runs
    /// the check.
    pub(crate) fn after_redacting(
        &self,
        committed: CommittedRedaction<'_>,
        evidence: &mut Evidence,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Receipt> {
        for blob in &evidence.blobs {
            self.context.blobs.remove(blob)?;
        }
        progress("search_index");
        let erased: Vec<u64> = committed.changed.iter().map(|r| *r as u64).collect();
        for row in committed.changed {
            self.context.reindex(*row)?;
        }
        self.context.index_commit(committed.seq)?;
        self.context.with_index(|i| i.purge(&erased))?;
        progress("write_ahead_log");
        self.context.store.packs.clear_cache();
        evidence.wal_clean = self.context.store.checkpoint()?;
        evidence.texts.extend(committed.words.iter().filter(|w| w.chars().count() >= MIN_SEARCHED_CHARS).cloned());
        let is_distinctive = |w: &String| w.chars().count() >= MIN_SEARCHED_CHARS;
        evidence.sentences = committed.words.iter().map(|w| normal_text(w)).filter(is_distinctive).collect();
        evidence.rewritten_rows = committed.changed.to_vec();
        progress("database_pages");
        Receipts::new(self.context).check_and_store(committed.receipt_id, evidence, committed.now, true, &|| Ok(()))
    }

    fn read_target(&self, view: RowView, evidence: &mut Evidence) -> VaultResult<Target> {
        let id = view.id_text();
        let visit = &mut |record: &Record| {
            evidence.add_record(record);
            Ok(())
        };
        let read = self.context.store.read(|c| Targets::new(self.context).read_targets(c, vec![view], visit))?;
        read.into_iter().next().ok_or_else(|| VaultError::not_found(&id))
    }

    /// Returns the records derived from the record in `view`.
    pub(crate) fn derived_of(&self, view: &RowView) -> VaultResult<Vec<RowView>> {
        self.context.store.read(|c| {
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

    /// Sets the record's own text and removes the words from its other fields, its `verbatim` and its versions.
    fn set_text(
        &self,
        tx: &Connection,
        view: &RowView,
        (old, new): (&str, &str),
        removal: &Removal,
        evidence: &mut Evidence,
    ) -> VaultResult<()> {
        RowRedaction::new(self.context).rewrite_versions(tx, view, evidence, |record| {
            if record.text == old {
                new.clone_into(&mut record.text);
            }
            removal.clean_record(record);
            true
        })?;
        RowRedaction::new(self.context).update_redacted_row(tx, view, evidence)
    }
}

/// The records that a redaction changes, and the words that it removes from them.
struct RedactionPlan {
    target: Target,
    redacted: RedactedText,
    /// The words to remove from the record itself.
    own_removal: Removal,
    /// Records derived from the target, and other records that may contain the same words. Each group has its own words
    /// to remove.
    others: [(Vec<RowView>, Removal); 2],
}
