//! Import: detect → read → plan or stage → commit → index → report. One drop is one batch; the store transaction makes
//! it atomic, the change log lets the index catch up if the process dies between the two commits.
mod apply;
mod counts;
mod sink;
mod undo;

pub use counts::{ImportCounts, ImportReport, Item, ItemOutcome, KindCounts, SourceSeen};

use crate::{
    Vault, VaultError, VaultResult,
    error::unwrap_format,
    store::{PackWriter, Store},
};
pub(crate) use apply::Facts;
use apply::Importer;
use keepsake_formats::{Catalog, Detection, FormatError, ReadContext, by_id};
use keepsake_model::{DroppedAs, Limits, Timestamp};
use sink::{ChannelSink, Message};
use std::sync::{
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, sync_channel},
};

/// What goes into an import besides the bytes.
pub struct ImportOptions<'a> {
    /// Only plan: nothing is written.
    pub dry_run: bool,
    /// Let records in that are held back because the same words were deleted (ids stay blocked).
    pub let_in: bool,
    /// Bounds.
    pub limits: Limits,
    /// The clock.
    pub now: Timestamp,
    /// Looked at between records.
    pub cancel: &'a AtomicBool,
    /// Stage, bytes done, bytes in all, records so far.
    pub progress: &'a (dyn Fn(&str, u64, u64, u64) + Sync),
}

impl Vault {
    /// Imports everything that `detection` recognised in `catalog` as one batch.
    ///
    /// # Errors
    /// Fatal format errors of a source when nothing else was recognised, `Cancelled`, limits, the store. After any
    /// error nothing of the batch is there.
    pub fn import(
        &self,
        catalog: &Catalog,
        detection: &Detection,
        options: &ImportOptions<'_>,
    ) -> VaultResult<ImportReport> {
        let stage = if options.dry_run { "read" } else { "store" };
        let total: u64 = detection.sources.iter().map(|s| s.total_bytes).sum();
        let mut report = ImportReport { dry_run: options.dry_run, ..ImportReport::default() };
        report.start(catalog, detection);
        if options.dry_run {
            self.store.read(|connection| {
                let mut importer = Importer::plan(self, connection, options, &mut report)?;
                self.pump(catalog, detection, options, &mut importer, stage, total)?;
                importer.finish()
            })?;
            return Ok(report);
        }
        let uid = crate::ids::random_text()?;
        let result = self.store.write(|tx| {
            tx.execute(
                "INSERT INTO batches (uid, at, format, names) VALUES (?1, ?2, ?3, ?4)",
                rusqlite::params![
                    uid,
                    options.now.as_micros(),
                    report.format,
                    serde_json::to_string(catalog.roots()).unwrap_or_default()
                ],
            )?;
            let batch = tx.last_insert_rowid();
            let packs = PackWriter::new(tx, batch)?;
            let mut importer = Importer::stage(self, tx, options, &mut report, batch, packs)?;
            self.pump(catalog, detection, options, &mut importer, stage, total)?;
            importer.finish()?;
            drop(importer);
            report.batch.clone_from(&uid);
            tx.execute(
                "UPDATE batches SET report = ?2, added = ?3, updated = ?4 WHERE id = ?1",
                rusqlite::params![
                    batch,
                    serde_json::to_string(&report).unwrap_or_default(),
                    report.total().added,
                    report.total().updated
                ],
            )?;
            tx.execute("INSERT INTO changes (op, target) VALUES (3, ?1)", [batch])?;
            let detail = format!("added {} updated {}", report.total().added, report.total().updated);
            crate::audit::append(tx, &self.keys, options.now, "import", &uid, &detail)?;
            self.blobs.sync()?;
            Ok(Store::last_change(tx)?)
        });
        match result {
            Ok(seq) => {
                (options.progress)("index", total, total, u64::from(report.total().found));
                self.index_commit(seq)?;
                self.with_index(crate::index::SearchIndex::rest)?;
                self.store.checkpoint()?;
                self.apply_foreign_tombstones(&mut report, options.now)?;
                Ok(report)
            }
            Err(error) => {
                self.index_rollback();
                self.sweep_blobs()?;
                Err(error)
            }
        }
    }

    /// Runs the readers on a thread of their own and hands their messages to `take` on this one.
    fn pump(
        &self,
        catalog: &Catalog,
        detection: &Detection,
        options: &ImportOptions<'_>,
        importer: &mut Importer<'_>,
        stage: &str,
        total: u64,
    ) -> VaultResult<()> {
        let keep = !options.dry_run;
        let context = ReadContext { limits: options.limits.clone(), now: options.now };
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Message>(8);
            let reader = scope.spawn(move || {
                let mut offset = 0;
                let mut errors: Vec<(String, FormatError)> = Vec::new();
                for source in &detection.sources {
                    let Some(format) = by_id(source.format) else { continue };
                    let mut sink = ChannelSink::new(&sender, &self.blobs, keep, options.cancel, offset);
                    match format.read(catalog, source, &context, &mut sink) {
                        Ok(()) => {}
                        Err(error @ (FormatError::Cancelled | FormatError::Store(_) | FormatError::Limit { .. })) => {
                            return Err(error);
                        }
                        Err(error) => errors.push((source.format.to_owned(), error)),
                    }
                    offset += source.total_bytes;
                }
                Ok(errors)
            });
            let consumed = consume(&receiver, importer, options, stage, total);
            // Dropping the receiver stops the reader at its next send.
            drop(receiver);
            let read = reader
                .join()
                .unwrap_or_else(|_| Err(FormatError::invalid("panic", "reader", "the reader stopped unexpectedly")));
            consumed?;
            let errors = read.map_err(unwrap_format)?;
            let only = detection.sources.len() == errors.len();
            for (format, error) in errors {
                if only {
                    return Err(unwrap_format(error));
                }
                importer.drop_source(&format, &error.to_string());
            }
            Ok(())
        })
    }
}

fn consume(
    receiver: &Receiver<Message>,
    importer: &mut Importer<'_>,
    options: &ImportOptions<'_>,
    stage: &str,
    total: u64,
) -> VaultResult<()> {
    for message in receiver {
        if options.cancel.load(Ordering::Relaxed) {
            return Err(VaultError::Cancelled);
        }
        if let Message::Progress(bytes) = message {
            (options.progress)(stage, bytes.min(total.max(bytes)), total, importer.found());
            continue;
        }
        importer.take(message)?;
    }
    Ok(())
}

/// Stable name of an outcome of dropping.
pub(crate) fn dropped_outcome(outcome: DroppedAs) -> ItemOutcome {
    match outcome {
        DroppedAs::Skipped => ItemOutcome::Skipped,
        DroppedAs::Failed => ItemOutcome::Failed,
    }
}
