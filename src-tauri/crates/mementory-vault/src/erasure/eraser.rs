//! Erases records for good, with everything that contains their content. Writes signed tombstones, and a receipt with
//! the result of the erasure check.
use crate::{
    VaultResult,
    applied::Applied,
    cancel,
    context::Context,
    erasure::{
        ledger::ErasureLedger, passthrough_files::PassthroughFiles, quotations::changed_texts, receipts::Receipts,
        receipts::pending_receipt, reports::ErasedNames, reports::clean_reports, row_redaction::RowRedaction,
        sabotage::Sabotage, same_words::SameWords, targets::EraseScope, targets::Target, targets::Targets,
        targets::sentences_of, targets::texts_of, vectors::add_to_evidence, write_tombstones::EarlierErasure,
        write_tombstones::TombstoneContext, write_tombstones::TombstoneWriter,
    },
    erasure_ledger::{ErasureAct, word_fingerprint},
    failed_step::FailedStep,
    word_removal::{ERASED_MARK, Removal},
};
use mementory_erasure_check::{Evidence, IndexCleanup, Receipt};
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{RowView, Store, tombstones::TombstoneRow};
use rusqlite::{Connection, params};
use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashSet},
    sync::atomic::AtomicBool,
};

/// Preview of an erasure: everything that it would remove.
#[derive(Debug, Clone, Default)]
pub struct ErasePlan {
    /// All records that would be removed, the requested ones first.
    pub records: Vec<RowView>,
    /// Number of records in `records` whose erasure is requested. The other records depend on them.
    pub requested: usize,
    /// Number of versions that would be removed, including the current versions.
    pub versions: u32,
    /// Number of links that would be removed.
    pub links: u32,
    /// Number of files whose last reference would be removed.
    pub files: u32,
    /// Number of passthrough files that contain words of these records.
    pub passthrough: u32,
    /// Other records that contain sentences of these records.
    pub copies: Vec<RowView>,
}

/// Result of an erasure or redaction.
#[derive(Debug, Clone)]
pub struct EraseOutcome {
    /// Tombstones of the erased or redacted records.
    pub tombstones: Vec<TombstoneRow>,
    /// The receipt, with the result of the erasure check.
    pub receipt: Receipt,
    /// Number of other records that were redacted because they contain the same words. After a redaction, the number of
    /// all redacted records.
    pub copies_redacted: u32,
}

/// Request to erase records: their ids, the scope and the reason.
pub(crate) struct EraseRequest<'a> {
    pub(crate) ids: &'a [String],
    pub(crate) scope: EraseScope,
    pub(crate) reason: &'a str,
    /// Other records to redact because they contain the same words.
    pub(crate) copies: &'a [String],
    pub(crate) now: Timestamp,
    /// Set if this erasure was already made in a newer copy of the vault. Then the receipt id, the tombstone ids and
    /// the time of that erasure are used.
    pub(crate) earlier: Option<&'a EarlierErasure>,
    /// Cancels the erasure if set before anything is erased. Once the commit has begun, the erasure is finished and
    /// checked.
    pub(crate) cancel: &'a AtomicBool,
}

/// A committed erasure, for the steps after the commit.
struct CommittedErasure<'a> {
    seq: u64,
    receipt_id: String,
    targets: &'a [Target],
    rows_to_reindex: &'a [i64],
}

/// Erases records for good.
#[derive(Clone, Copy)]
pub struct Eraser<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Eraser<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Eraser<'_> {
    /// Lists everything that erasing `ids` would remove. Changes nothing.
    pub fn erase_plan(&self, ids: &[String]) -> VaultResult<ErasePlan> {
        let targets = Targets::new(self.context).erase_targets(ids, EraseScope::Requested, &mut |_| Ok(()))?;
        let rows: HashSet<i64> = targets.iter().map(|t| t.view.row).collect();
        let links: i64 = self.context.store.read(|c| {
            let mut sum = 0;
            let mut count = c.prepare("SELECT count(*) FROM links WHERE row = ?1 OR target = ?2")?;
            for target in &targets {
                sum += count.query_row(params![target.view.row, target.view.id], |r| r.get::<_, i64>(0))?;
            }
            Ok(sum)
        })?;
        let copies = SameWords::new(self.context).same_words(&sentences_of(&targets), &rows)?;
        Ok(ErasePlan {
            requested: ids.iter().collect::<HashSet<_>>().len(),
            versions: targets.iter().map(|t| t.versions.len() as u32).sum(),
            links: u32::try_from(links).unwrap_or(u32::MAX),
            files: targets.iter().filter(|t| t.view.kind == Kind::Attachment).count() as u32,
            passthrough: PassthroughFiles::new(self.context)
                .files_with_words(&Removal::erased(&texts_of(&targets), &[]), &rows, false)?
                .len() as u32,
            records: targets.into_iter().map(|t| t.view).collect(),
            copies,
        })
    }

    /// Erases `ids` for good. `copies` are the ids of other records to redact because they contain the same words.
    pub fn erase(
        &self,
        ids: &[String],
        reason: &str,
        copies: &[String],
        now: Timestamp,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Applied<EraseOutcome>> {
        self.erase_until(ids, reason, copies, now, &AtomicBool::new(false), progress)
    }

    /// Like [`erase`](Self::erase), but stops if `cancel` is set before anything is erased.
    ///
    /// # Errors
    /// `Cancelled` if the erasure was stopped. In that case nothing was changed.
    pub fn erase_until(
        &self,
        ids: &[String],
        reason: &str,
        copies: &[String],
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(&str),
    ) -> VaultResult<Applied<EraseOutcome>> {
        let request = EraseRequest { ids, scope: EraseScope::Requested, reason, copies, now, earlier: None, cancel };
        self.run(&request, progress, Sabotage::default())
    }

    /// Like [`erase`](Self::erase), but leaves out the steps that `sabotage` names.
    #[cfg(feature = "sabotage")]
    pub fn erase_sabotaged(
        &self,
        ids: &[String],
        now: Timestamp,
        sabotage: Sabotage,
    ) -> VaultResult<Applied<EraseOutcome>> {
        let cancel = &AtomicBool::new(false);
        let request =
            EraseRequest { ids, scope: EraseScope::Requested, reason: "test", copies: &[], now, earlier: None, cancel };
        self.run(&request, &|_| {}, sabotage)
    }

    pub(crate) fn run(
        &self,
        request: &EraseRequest<'_>,
        progress: &dyn Fn(&str),
        sabotage: Sabotage,
    ) -> VaultResult<Applied<EraseOutcome>> {
        let mut evidence = Evidence::default();
        let cancel = request.cancel;
        let visit = &mut |record: &Record| {
            evidence.add_record(record);
            cancel::check(cancel)
        };
        let targets = Targets::new(self.context).erase_targets(request.ids, request.scope, visit)?;
        let rows: HashSet<i64> = targets.iter().map(|t| t.view.row).collect();
        let sentences = sentences_of(&targets);
        let copies = self.read_copies_to_redact(request.copies, &rows, &mut evidence)?;
        let texts = texts_of(&targets);
        let removal = Removal::erased(&texts, &[]);
        let redaction = Removal::sentences(sentences.clone(), ERASED_MARK);
        evidence.quotations = copies.iter().flat_map(|copy| changed_texts(copy, &redaction, &removal)).collect();
        let with_quotations = (!evidence.quotations.is_empty()).then(|| Removal::erased(&texts, &evidence.quotations));
        let removal_in_files = with_quotations.as_ref().unwrap_or(&removal);
        let passthrough = PassthroughFiles::new(self.context).files_with_words(removal_in_files, &rows, true)?;
        let receipt_id = match request.earlier {
            Some(earlier) => earlier.receipt.clone(),
            None => mementory_store::ids::random_hex_id()?,
        };
        let act = RefCell::new(ErasureAct { at: request.now.as_micros(), ..ErasureAct::default() });
        let is_listed = Cell::new(true);
        progress("record");
        if sabotage.keeps_pages() {
            self.context.store.writer().execute_batch("PRAGMA secure_delete = OFF")?;
        }
        cancel::check(cancel)?;
        let written = self.context.store.write_until(cancel, |tx| {
            let tombstone_context = TombstoneContext {
                reason: request.reason,
                receipt: &receipt_id,
                now: request.now,
                act: &act,
                earlier: request.earlier,
            };
            let blobs = self.erase_rows(tx, &targets, &mut evidence, sabotage)?;
            let rows_to_reindex =
                self.redact_copies(tx, &copies, &redaction, &sentences, &tombstone_context, &mut evidence)?;
            let batches_with_records = batches_left(tx)?;
            let was_last_of_import =
                |target: &Target| target.view.batch.is_some_and(|batch| !batches_with_records.contains(&batch));
            clean_reports(tx, &removal, &ErasedNames::collect(&targets, &was_last_of_import))?;
            let (old_blobs, files_changed) = PassthroughFiles::new(self.context).rewrite_files(tx, &passthrough)?;
            evidence.blobs = blobs.into_iter().chain(old_blobs).collect();
            evidence.passthrough_files = files_changed;
            let tombstones = TombstoneWriter::new(self.context).write_erased(tx, &targets, &tombstone_context)?;
            pending_receipt(tx, &receipt_id, request.now)?;
            if request.earlier.is_none() {
                let keys = &self.context.keys;
                let sentences_of_copies = sentences.iter().filter(|_| !rows_to_reindex.is_empty());
                let sentences =
                    sentences_of_copies.map(|sentence| word_fingerprint(keys, sentence, ERASED_MARK)).collect();
                // The list is written before the commit, so that nothing is destroyed without an entry in the list of
                // erasures.
                is_listed
                    .set(ErasureLedger::new(self.context).add(&receipt_id, ErasureAct { sentences, ..act.take() })?);
            }
            Ok((Store::last_change(tx)?, tombstones, rows_to_reindex))
        });
        if sabotage.keeps_pages() {
            self.context.store.writer().execute_batch("PRAGMA secure_delete = ON")?;
        }
        if request.earlier.is_none() {
            ErasureLedger::new(self.context).end(&receipt_id, written.is_ok());
        }
        let (seq, tombstones, rows_to_reindex) =
            PassthroughFiles::new(self.context).after_write(&passthrough, written)?;
        evidence.texts = texts;
        let committed = CommittedErasure {
            seq,
            receipt_id: receipt_id.clone(),
            targets: &targets,
            rows_to_reindex: &rows_to_reindex,
        };
        let receipt = self.after_erasing(committed, request, &mut evidence, progress, sabotage);
        let receipt = Receipts::after_commit(receipt, receipt_id, request.now);
        let outcome =
            receipt.map(|receipt| EraseOutcome { tombstones, receipt, copies_redacted: rows_to_reindex.len() as u32 });
        Ok(outcome.warn_if(!is_listed.get(), FailedStep::ErasureList))
    }

    /// Runs the steps after the store's commit: removes attachments, updates the index, truncates the write-ahead log,
    /// and runs the erasure check.
    fn after_erasing(
        &self,
        committed: CommittedErasure<'_>,
        request: &EraseRequest<'_>,
        evidence: &mut Evidence,
        progress: &dyn Fn(&str),
        sabotage: Sabotage,
    ) -> VaultResult<Receipt> {
        let CommittedErasure { seq, receipt_id, targets, rows_to_reindex } = committed;
        let rows: HashSet<i64> = targets.iter().map(|t| t.view.row).collect();
        progress("attachments");
        if !sabotage.keeps_blobs() {
            for blob in &evidence.blobs {
                self.context.blobs.remove(blob)?;
            }
            self.context.blobs.sync()?;
        }
        progress("search_index");
        evidence.erased_rows = targets.iter().map(|t| t.view.row).collect();
        let erased: Vec<u64> = evidence.erased_rows.iter().map(|r| *r as u64).collect();
        let erase_from_index = || {
            if !sabotage.keeps_index() {
                return self.context.with_index(|i| i.erase(&erased, seq));
            }
            rows.iter().try_for_each(|row| self.context.index_delete(*row))?;
            self.context.index_commit(seq)
        };
        // If no row has to be reindexed, the check itself calls `erase_from_index`, while it searches the database.
        // Otherwise the index is updated here, before the check.
        let clean_index: IndexCleanup<'_> = if rows_to_reindex.is_empty() { &erase_from_index } else { &|| Ok(()) };
        if !rows_to_reindex.is_empty() {
            erase_from_index()?;
            for row in rows_to_reindex {
                self.context.reindex(*row)?;
            }
            self.context.index_commit(seq)?;
            let changed: Vec<u64> = rows_to_reindex.iter().map(|r| *r as u64).collect();
            self.context.with_index(|i| i.purge(&changed))?;
        }
        self.context.forget_loaded_vectors();
        progress("write_ahead_log");
        self.context.store.packs.clear_cache();
        evidence.wal_clean = self.context.store.checkpoint()?;
        evidence.copies = rows_to_reindex.len() as u32;
        evidence.rewritten_rows = rows_to_reindex.to_vec();
        progress("database_pages");
        let may_wipe = sabotage == Sabotage::default();
        Receipts::new(self.context).check_and_store(receipt_id, evidence, request.now, may_wipe, clean_index)
    }

    /// Reads the copies to redact. Copies that are erased by the same request are left out.
    fn read_copies_to_redact(
        &self,
        ids: &[String],
        erased: &HashSet<i64>,
        evidence: &mut Evidence,
    ) -> VaultResult<Vec<Target>> {
        let views = ids.iter().map(|id| self.context.find(id)).collect::<VaultResult<Vec<_>>>()?;
        let views = views.into_iter().filter(|view| !erased.contains(&view.row)).collect();
        self.context.store.read(|c| {
            Targets::new(self.context).read_targets(c, views, &mut |record| {
                evidence.add_record(record);
                Ok(())
            })
        })
    }

    /// Removes the erased sentences from the copies, and writes a tombstone for each copy. Returns the rows that
    /// changed.
    fn redact_copies(
        &self,
        tx: &Connection,
        copies: &[Target],
        redaction: &Removal,
        sentences: &[String],
        tombstone_context: &TombstoneContext<'_>,
        evidence: &mut Evidence,
    ) -> VaultResult<Vec<i64>> {
        let mut changed = Vec::new();
        for copy in copies {
            // A pack may contain several copies. Rewriting it for one copy does not change the slots of the others.
            if RowRedaction::new(self.context).redact_row(tx, &copy.view, redaction, evidence)? {
                let tombstone_context = TombstoneContext { reason: "same_words", ..*tombstone_context };
                TombstoneWriter::new(self.context).write_redacted(
                    tx,
                    copy,
                    redaction,
                    sentences,
                    &tombstone_context,
                )?;
                mementory_store::audit::append(
                    tx,
                    &self.context.keys,
                    tombstone_context.now,
                    "redact",
                    &copy.view.id_text(),
                    "same words",
                )?;
                changed.push(copy.view.row);
            }
        }
        Ok(changed)
    }

    /// Removes the rows and rewrites the packs. Returns the blobs that no record refers to any more.
    fn erase_rows(
        &self,
        tx: &Connection,
        targets: &[Target],
        evidence: &mut Evidence,
        sabotage: Sabotage,
    ) -> VaultResult<Vec<[u8; 32]>> {
        let mut by_pack: BTreeMap<i64, HashSet<u32>> = BTreeMap::new();
        for (pack, slot) in targets.iter().flat_map(|t| &t.versions) {
            by_pack.entry(*pack).or_default().insert(*slot);
        }
        for (pack, slots) in by_pack {
            if sabotage.keeps_packs() {
                evidence.add_pack(pack, &self.context.store.packs.stored(tx, pack)?, &[]);
                continue;
            }
            let (old, new) = self
                .context
                .store
                .packs
                .rewrite(tx, pack, |slot, entry| Ok((!slots.contains(&slot)).then_some(entry)))?;
            evidence.add_pack(pack, &old, &new);
        }
        let mut blobs: Vec<[u8; 32]> = Vec::new();
        for target in targets {
            let row = target.view.row;
            add_to_evidence(tx, row, evidence)?;
            // Blobs with earlier bytes of a file, which an undo would restore, are removed too.
            blobs.extend(
                tx.prepare_cached("SELECT DISTINCT blob FROM named_blobs WHERE row = ?1")?
                    .query_map([row], |r| r.get::<_, [u8; 32]>(0))?
                    .collect::<Result<Vec<_>, _>>()?,
            );
            for sql in [
                "DELETE FROM records WHERE row = ?1",
                "DELETE FROM versions WHERE row = ?1",
                "DELETE FROM tags WHERE row = ?1",
                "DELETE FROM links WHERE row = ?1",
                "DELETE FROM files WHERE row = ?1",
                "DELETE FROM file_versions WHERE row = ?1",
                "DELETE FROM moved WHERE row = ?1",
                "DELETE FROM file_refs WHERE row = ?1 OR file = ?1",
            ] {
                tx.prepare_cached(sql)?.execute([row])?;
            }
            tx.prepare_cached("DELETE FROM links WHERE target = ?1")?.execute([target.view.id])?;
            tx.prepare_cached("DELETE FROM reviews WHERE record = ?1")?.execute([target.view.id])?;
            crate::insight_decisions::forget(tx, &target.view.id)?;
        }
        for target in targets {
            // A message or chunk that was restored from the Trash separately is not erased, but loses its owner.
            tx.prepare_cached("UPDATE records SET owner = NULL WHERE owner = ?1")?.execute([target.view.row])?;
        }
        mementory_store::trash::reroot_orphans(tx)?;
        log_removed_rows(tx, targets)?;
        blobs.sort_unstable();
        blobs.dedup();
        let mut unused_blobs = Vec::new();
        for blob in blobs {
            if !tx.prepare_cached("SELECT 1 FROM named_blobs WHERE blob = ?1")?.exists([blob])? {
                unused_blobs.push(blob);
            }
        }
        Ok(unused_blobs)
    }
}

/// Writes the removed rows to the change log. Deletes older log entries about these rows in one pass, because the log
/// has no index by row.
fn log_removed_rows(tx: &Connection, targets: &[Target]) -> VaultResult<()> {
    tx.execute_batch("CREATE TEMP TABLE gone (row INTEGER PRIMARY KEY)")?;
    {
        let mut insert_row = tx.prepare("INSERT OR IGNORE INTO temp.gone (row) VALUES (?1)")?;
        for target in targets {
            insert_row.execute([target.view.row])?;
        }
    }
    tx.execute("DELETE FROM changes WHERE op IN (1, 2) AND target IN (SELECT row FROM temp.gone)", [])?;
    tx.execute("INSERT INTO changes (op, target) SELECT 2, row FROM temp.gone", [])?;
    tx.execute_batch("DROP TABLE temp.gone")?;
    Ok(())
}

/// Returns the ids of the batches that still have records.
fn batches_left(tx: &Connection) -> VaultResult<HashSet<i64>> {
    let mut statement =
        tx.prepare("SELECT id FROM batches b WHERE EXISTS (SELECT 1 FROM records r WHERE r.batch = b.id)")?;
    let batches = statement.query_map([], |r| r.get(0))?;
    Ok(batches.collect::<Result<_, _>>()?)
}
