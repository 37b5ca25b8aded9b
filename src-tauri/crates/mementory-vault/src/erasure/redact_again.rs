//! Repeats a redaction from the list of erasures in an older copy of the vault. The list has only fingerprints, which
//! are used to find the words in the records.
use crate::{
    VaultResult,
    context::Context,
    erasure::{
        passthrough_files::PassthroughFiles, quotations::changed_texts, quotations::changed_texts_of,
        receipts::pending_receipt, redactor::CommittedRedaction, redactor::Redactor, row_redaction::RowRedaction,
        targets::RECORDS_PER_READ, targets::Target, targets::Targets, write_tombstones::EarlierErasure,
        write_tombstones::TombstoneContext, write_tombstones::TombstoneWriter,
    },
    erasure_ledger::{ErasureAct, WordFinder, text_fingerprint},
    sensitive::Scanner,
    word_removal::{ERASED_MARK, Removal},
};
use mementory_erasure_check::Evidence;
use mementory_model::{Record, Timestamp};
use mementory_store::{RowView, Store, ids::fingerprint};
use rusqlite::Connection;
use std::{
    cell::RefCell,
    collections::{HashMap, HashSet},
};

/// Redacts the words that were redacted in a newer copy of the vault.
#[derive(Clone, Copy)]
pub(crate) struct RedactAgain<'v> {
    context: &'v Context,
}

impl<'v> RedactAgain<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl RedactAgain<'_> {
    /// Redacts the words of an act in `views`, which are the records that the act redacted. Returns true if the receipt
    /// is complete.
    pub(crate) fn run(
        &self,
        act: &ErasureAct,
        views: Vec<RowView>,
        earlier: &EarlierErasure,
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<bool> {
        let mut evidence = Evidence::default();
        let pairs = self.find_words(act, &views, &mut evidence)?;
        let (words, sentences) = pairs;
        let removed: Vec<String> = words.iter().chain(&sentences).map(|(words, _)| words.clone()).collect();
        let exact_removal = Removal::exact(words.clone());
        let removal =
            Removal::exact(words.clone()).and_sentences(sentences.into_iter().map(|(s, _)| s).collect(), ERASED_MARK);
        let rows = views.iter().map(|view| view.row).collect();
        if removal.removes_more_than_exact_words() {
            evidence.quotations =
                changed_texts_of(self.context, &views, |target| changed_texts(target, &removal, &exact_removal))?;
        }
        let removal_in_files = Removal::exact(words.into_iter().chain(evidence.quotations.iter().cloned()).collect());
        let passthrough = PassthroughFiles::new(self.context).files_with_words(&removal_in_files, &rows, true)?;
        let former_fingerprints: HashMap<[u8; 16], HashSet<&str>> = act
            .records
            .iter()
            .filter_map(|entry| {
                let fingerprints = entry.former.iter().chain(&entry.blocked).map(String::as_str);
                Some((entry.id()?, fingerprints.collect()))
            })
            .collect();
        let receipt_id = format!("{}r", earlier.receipt);
        let unused_act = RefCell::new(ErasureAct::default());
        progress("record");
        let written = self.context.store.write(|tx| {
            let tombstone_context = TombstoneContext {
                reason: "redaction",
                receipt: &receipt_id,
                now,
                act: &unused_act,
                earlier: Some(earlier),
            };
            let mut changed = Vec::new();
            for chunk in views.chunks(RECORDS_PER_READ) {
                for before in Targets::new(self.context).read_targets(tx, chunk.to_vec(), &mut |_| Ok(()))? {
                    let fingerprints = former_fingerprints.get(&before.view.id);
                    // If the redaction was made before the vault had a list of erasures, only the fingerprint that
                    // blocks the text in imports is known.
                    let is_former_text = |text: &str| {
                        let keys = &self.context.keys;
                        let blocked = fingerprint(keys, before.view.kind, text).map(hex::encode);
                        fingerprints.is_some_and(|fingerprints| {
                            fingerprints.contains(text_fingerprint(keys, text).as_str())
                                || blocked.is_some_and(|fingerprint| fingerprints.contains(fingerprint.as_str()))
                        })
                    };
                    if self.redact(tx, &before, &removal, &is_former_text, &mut evidence)? {
                        TombstoneWriter::new(self.context).write_redacted(
                            tx,
                            &before,
                            &removal,
                            &removed,
                            &tombstone_context,
                        )?;
                        changed.push(before.view.row);
                    }
                }
            }
            let (old_blobs, file_count) = PassthroughFiles::new(self.context).rewrite_files(tx, &passthrough)?;
            evidence.blobs = old_blobs;
            evidence.passthrough_files = file_count;
            pending_receipt(tx, &receipt_id, now)?;
            let detail = format!("{} records", changed.len());
            mementory_store::audit::append(tx, &self.context.keys, now, "redact", &earlier.receipt, &detail)?;
            Ok((Store::last_change(tx)?, changed))
        });
        let (seq, changed) = PassthroughFiles::new(self.context).after_write(&passthrough, written)?;
        let _ = Scanner::new(self.context).scan_rows(&changed);
        let committed = CommittedRedaction { seq, changed: &changed, words: &removed, receipt_id, now };
        // The redaction is committed. If a later step fails, the pending receipt makes the next opening of the vault
        // finish the redaction.
        let receipt = Redactor::new(self.context).after_redacting(committed, &mut evidence, progress);
        Ok(receipt.is_ok_and(|receipt| receipt.complete))
    }

    /// Finds the words and the sentences of the act in these records. Returns each with its replacement.
    #[allow(clippy::type_complexity, reason = "two lists of the same")]
    fn find_words(
        &self,
        act: &ErasureAct,
        views: &[RowView],
        evidence: &mut Evidence,
    ) -> VaultResult<(Vec<(String, String)>, Vec<(String, String)>)> {
        let keys = &self.context.keys;
        let (mut words, mut sentences) = (WordFinder::new(keys, &act.words), WordFinder::new(keys, &act.sentences));
        for chunk in views.chunks(RECORDS_PER_READ) {
            let visit = &mut |record: &Record| {
                evidence.add_record(record);
                Ok(())
            };
            let read =
                self.context.store.read(|c| Targets::new(self.context).read_targets(c, chunk.to_vec(), visit))?;
            for text in read.iter().flat_map(|target| target.texts.iter().chain(&target.parts)) {
                words.search(text);
                sentences.search_normalized(text);
            }
        }
        Ok((words.words.into_iter().collect(), sentences.words.into_iter().collect()))
    }

    /// Removes the words from every version of a record. Returns true if a version changed. If a fingerprint shows that
    /// words were removed from a text, but none of these words is found in it, replaces the whole text and drops its
    /// `verbatim` and embeddings.
    fn redact(
        &self,
        tx: &Connection,
        before: &Target,
        removal: &Removal,
        is_former_text: &dyn Fn(&str) -> bool,
        evidence: &mut Evidence,
    ) -> VaultResult<bool> {
        let rows = RowRedaction::new(self.context);
        let former_texts: Vec<String> = before.texts.iter().filter(|text| is_former_text(text)).cloned().collect();
        let is_changed = rows.rewrite_versions(tx, &before.view, evidence, |record| {
            let (text, title) = (record.text.clone(), record.title.clone());
            let mut changed = removal.clean_record(record);
            let mut is_replaced = false;
            if record.text == text && former_texts.contains(&text) {
                record.text = ERASED_MARK.to_owned();
                is_replaced = true;
            }
            if record.title == title && title.as_ref().is_some_and(|title| former_texts.contains(title)) {
                record.title = Some(ERASED_MARK.to_owned());
                is_replaced = true;
            }
            if is_replaced {
                record.verbatim = None;
                record.embeddings.clear();
                changed = true;
            }
            changed
        })?;
        if is_changed {
            rows.update_redacted_row(tx, &before.view, evidence)?;
            tx.prepare_cached("INSERT INTO changes (op, target) VALUES (1, ?1)")?.execute([before.view.row])?;
            evidence.texts.extend(former_texts.into_iter().filter(|text| removal.record_text(text).is_none()));
        }
        Ok(is_changed)
    }
}
