//! Import: detect → read → plan or stage → commit → index → report. One import is one batch. The store's transaction
//! makes it atomic. If the process dies between the commit of the store and that of the index, the index catches up by
//! means of the change log. The segments of the index are written while the store commits, and published after the
//! commit.
mod apply;
mod renamed_folder;
mod sequence;
mod sink;
mod undo;

pub use apply::Merge;

use crate::{
    VaultError, VaultResult,
    context::Context,
    diff_status::ExportDiffStatus,
    export_diff::export_diff,
    import_report::{ImportReport, MissingPart},
};
use apply::{ImportRun, Renames, scope_digest};
use mementory_formats::{Catalog, Detected, Detection, Format, FormatError, Passphrase, ReadContext, Sink, by_id};
use mementory_model::{Issue, Limits, Timestamp, is_damage};
use mementory_store::{PackWriter, Store, unwrap_format};
use renamed_folder::RenamedFolder;
use sequence::{DateRule, ReadingOrder, SourceTime, StateOrder, reading_order};
use sink::{CHANNEL_MESSAGES, ChannelSink, Message};
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::{Arc, atomic::AtomicBool, atomic::Ordering, mpsc::Receiver, mpsc::sync_channel},
};

/// Options of an import.
pub struct ImportOptions<'a> {
    /// True if the import is only planned and nothing is written.
    pub dry_run: bool,
    /// Paths of the files, to be shown later; empty for an input without files.
    pub paths: &'a [String],
    /// True if records are imported even if the same words were deleted or redacted. A record with a deleted id stays
    /// blocked.
    pub include_blocked: bool,
    /// How to resolve a conflict with an existing record. `None` means that the newer version wins.
    pub merge: Option<Merge>,
    /// Ids of tombstones with an invalid signature. Such a tombstone was changed after signing and deletes nothing.
    pub forged: BTreeSet<String>,
    /// True if an import that contains a deletion is refused as a whole, since nobody has reviewed what the deletion
    /// would remove.
    pub refuse_deletions: bool,
    /// Called after everything was read and before the commit. If it returns false, the input has changed since it
    /// was inspected, and the import fails.
    pub is_unchanged: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Places of invalid signatures. These signatures are not stored, so that no export can write them again.
    pub dropped_signatures: Vec<String>,
    /// Warnings found before the import that belong in its report.
    pub prior_warnings: &'a [Issue],
    /// Findings of an earlier check of the files. Findings that the readers do not report are added to the report.
    pub findings: &'a [Issue],
    /// True if files that do not match their own inventory of contents and checksums are imported as far as they are
    /// intact.
    pub salvage: bool,
    /// True if the records are read only to be written in the same format again. In that case the reader ignores
    /// extension slots ([`Format::read_elements`]).
    pub is_conversion: bool,
    /// The missing or damaged parts of the files, if the person chose to import the remainder.
    pub missing: &'a [MissingPart],
    /// Limits of the readers.
    pub limits: Limits,
    /// Time of the import.
    pub now: Timestamp,
    /// Decrypts encrypted input.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// Cancels the import when set. Checked before each message of the reader is processed.
    pub cancel: &'a AtomicBool,
    /// Called with the stage, the bytes read, the bytes in total and the number of records so far.
    pub progress: &'a (dyn Fn(&str, u64, u64, u64) + Sync),
}

/// A function that runs the readers into a sink. Returns format and error of each source that failed completely.
type ReadSources<'r> = &'r (dyn Fn(&mut ChannelSink<'_>) -> Result<Vec<(String, FormatError)>, FormatError> + Sync);

/// Imports files, and undoes imports.
#[derive(Clone, Copy)]
pub struct Importer<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Importer<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Importer<'_> {
    /// Imports everything that `detection` recognised in `catalog` as one batch.
    ///
    /// # Errors
    /// A format error if no source could be read; `Cancelled`; an exceeded limit; errors of the store. After an error,
    /// nothing of the batch is in the vault.
    pub fn import(
        &self,
        catalog: &Catalog,
        detection: &Detection,
        options: &ImportOptions<'_>,
    ) -> VaultResult<ImportReport> {
        let total: u64 = detection.sources.iter().map(|s| s.total_bytes).sum();
        let mut report = ImportReport { dry_run: options.dry_run, ..ImportReport::default() };
        report.start(catalog, detection);
        let order = self.reading_order(catalog, detection, options)?;
        report.states.clone_from(&order.reached);
        report.exports.clone_from(&order.exports);
        let context =
            ReadContext { limits: options.limits.clone(), now: options.now, passphrase: options.passphrase.clone() };
        let mut renamed: Vec<Option<RenamedFolder>> = Vec::with_capacity(detection.sources.len());
        for source in &detection.sources {
            renamed.push(match by_id(source.format) {
                Some(format) => RenamedFolder::find(self.context, format, catalog, source, &context, options.cancel)?,
                None => None,
            });
        }
        let read_source = |format: &dyn Format, source: &Detected, sink: &mut dyn Sink| match options.salvage {
            true => format.salvage(catalog, source, &context, sink),
            false if options.is_conversion => format.read_elements(catalog, source, &context, sink),
            false => format.read(catalog, source, &context, sink),
        };
        let read = |sink: &mut ChannelSink<'_>| {
            let mut failed = Vec::new();
            let mut offset = 0;
            for (index, recency) in order.sources.iter().copied() {
                let Some(source) = detection.sources.get(index) else { continue };
                let Some(format) = by_id(source.format) else { continue };
                sink.begin_source(offset, recency, source.format)?;
                let result = match renamed.get(index).and_then(Option::as_ref) {
                    Some(folder) => read_source(format, source, &mut folder.sink(sink)),
                    None => read_source(format, source, sink),
                };
                match result {
                    Ok(()) => {}
                    Err(error @ (FormatError::Cancelled | FormatError::Store(_) | FormatError::Limit { .. })) => {
                        return Err(error);
                    }
                    // If a part of a delta were kept, the next delta would continue an incomplete state.
                    Err(error) if recency.state == StateOrder::Next => return Err(error),
                    // The person may want only this damaged source from the archive, so the import fails instead of
                    // importing only the other sources.
                    Err(error) if !options.salvage && is_beside_others(catalog, detection, index) => return Err(error),
                    Err(error) => failed.push((source.format.to_owned(), error)),
                }
                offset += source.total_bytes;
            }
            // If no source could be read, the import has no report, so the last error is returned.
            if failed.len() == detection.sources.len()
                && let Some((_, error)) = failed.pop()
            {
                return Err(error);
            }
            Ok(failed)
        };
        self.import_batch(report, catalog.roots(), total, &read, options)
    }

    fn reading_order(
        &self,
        catalog: &Catalog,
        detection: &Detection,
        options: &ImportOptions<'_>,
    ) -> VaultResult<ReadingOrder> {
        // A manifest that cannot be read counts as a manifest without a state, since the reader reports its fault
        // later.
        let state = |source: &Detected| by_id(source.format)?.state_of(catalog, source, &options.limits).ok().flatten();
        let states: Vec<_> = detection.sources.iter().map(state).collect();
        let date = |source: &Detected| {
            let date = by_id(source.format)?.date_of(catalog, source, &options.limits).ok().flatten()?;
            let group = scope_digest(&self.context.keys, &date.scope);
            let rule = if date.overrides_records { DateRule::OverRecords } else { DateRule::UnderRecords };
            // Without this limit, an export dated in the future would make every later export count as earlier.
            Some(SourceTime { time: date.time.min(options.now), group, rule })
        };
        let dates: Vec<_> = detection.sources.iter().map(date).collect();
        self.context.store.read(|connection| reading_order(connection, &states, &dates))
    }

    /// Imports the records that `read` sends, as one batch named `name`. The records need not come from files.
    ///
    /// # Errors
    /// As [`Importer::import`].
    pub fn import_from(
        &self,
        name: &str,
        read: &(dyn Fn(&mut dyn Sink) -> Result<(), FormatError> + Sync),
        options: &ImportOptions<'_>,
    ) -> VaultResult<ImportReport> {
        let report = ImportReport { dry_run: options.dry_run, ..ImportReport::default() };
        self.import_batch(report, &[name.to_owned()], 0, &|sink| read(sink).map(|()| Vec::new()), options)
    }

    fn import_batch(
        &self,
        mut report: ImportReport,
        names: &[String],
        total: u64,
        read: ReadSources<'_>,
        options: &ImportOptions<'_>,
    ) -> VaultResult<ImportReport> {
        for warning in options.prior_warnings {
            report.warn(&warning.code, &warning.place, &warning.message);
        }
        report.missing = options.missing.to_vec();
        let renames = self.collect_renames(total, read, options)?;
        if options.dry_run {
            self.context.store.read(|connection| {
                let mut run = ImportRun::plan(self.context, connection, options, &mut report)?;
                run.renames = renames;
                self.run_readers(&mut run, read, options, total)?;
                run.finish().map(|_| ())
            })?;
            return Ok(report);
        }
        match self.stage_batch(&mut report, names, total, read, renames, options) {
            Ok((seq, blobs)) => {
                (options.progress)("index", total, total, u64::from(report.total().found));
                self.finish_after_commit(seq, blobs, &mut report);
                report.gone = self.count_gone(&report);
                Ok(report)
            }
            Err(error) => {
                self.context.index_rollback();
                // An error here is ignored, because the first error is returned. New blobs that are left are removed
                // when the vault is next opened.
                let _ = self.context.sweep_blobs();
                Err(error)
            }
        }
    }

    /// Returns the number of records of each kind that are in earlier exports of the same account and not in this
    /// import.
    fn count_gone(&self, report: &ImportReport) -> BTreeMap<String, u32> {
        let (Some(format), Ok(diff)) = (&report.format, export_diff(self.context)) else { return BTreeMap::new() };
        let gone_counts =
            diff.counts.iter().filter(|((of, _, status), _)| of == format && *status == ExportDiffStatus::Gone);
        gone_counts.map(|((_, kind, _), n)| ((*kind).to_owned(), *n)).collect()
    }

    /// Finds the records that need a fresh id, in a first pass over all of them.
    fn collect_renames(&self, total: u64, read: ReadSources<'_>, options: &ImportOptions<'_>) -> VaultResult<Renames> {
        if options.merge != Some(Merge::Rename) {
            return Ok(Renames::default());
        }
        let mut renames = self.context.store.read(|connection| {
            let mut scratch = ImportReport::default();
            let planning_options = ImportOptions {
                dry_run: true,
                forged: options.forged.clone(),
                dropped_signatures: options.dropped_signatures.clone(),
                limits: options.limits.clone(),
                passphrase: options.passphrase.clone(),
                ..*options
            };
            let mut run = ImportRun::plan(self.context, connection, &planning_options, &mut scratch)?;
            run.renames.collecting = true;
            self.run_readers(&mut run, read, &planning_options, total)?;
            Ok(std::mem::take(&mut run.renames))
        })?;
        renames.collecting = false;
        Ok(renames)
    }

    /// Commits the index and cleans up after the store's commit. The import has succeeded, so an error here does not
    /// make it fail.
    fn finish_after_commit(&self, seq: u64, blobs: HashSet<[u8; 32]>, report: &mut ImportReport) {
        let indexed = self.context.index_commit(seq).or_else(|_| self.context.index_recover());
        if indexed.and_then(|()| self.context.with_index(mementory_search::SearchIndex::release_writer)).is_err() {
            let message = "the search index is behind; it catches up at the next change or opening";
            report.warn("index_behind", "index", message);
        }
        // The bytes of blocked files are removed. If that fails, they are removed when the vault is next opened.
        let _ = self.remove_unreferenced(blobs);
    }

    /// Removes the elements of `blobs` to which no record refers.
    fn remove_unreferenced(&self, blobs: HashSet<[u8; 32]>) -> VaultResult<()> {
        let unreferenced_blobs: Vec<[u8; 32]> = self.context.store.read(|c| {
            let mut statement = c.prepare("SELECT 1 FROM named_blobs WHERE blob = ?1")?;
            let mut unreferenced_blobs = Vec::new();
            for blob in blobs {
                if !statement.exists([blob])? {
                    unreferenced_blobs.push(blob);
                }
            }
            Ok(unreferenced_blobs)
        })?;
        unreferenced_blobs.iter().try_for_each(|blob| self.context.blobs.remove(blob))
    }

    fn stage_batch(
        &self,
        report: &mut ImportReport,
        names: &[String],
        total: u64,
        read: ReadSources<'_>,
        renames: Renames,
        options: &ImportOptions<'_>,
    ) -> VaultResult<(u64, HashSet<[u8; 32]>)> {
        let uid = mementory_store::ids::random_hex_id()?;
        let write = |tx: &rusqlite::Transaction<'_>, written: &dyn Fn()| {
            tx.execute(
                "INSERT INTO batches (uid, at, format, names) VALUES (?1, ?2, ?3, ?4)",
                rusqlite::params![
                    uid,
                    options.now.as_micros(),
                    report.format,
                    serde_json::to_string(names).unwrap_or_default()
                ],
            )?;
            let batch = tx.last_insert_rowid();
            let packs = PackWriter::new(tx, batch)?;
            let mut run = ImportRun::stage(self.context, tx, options, report, batch, packs)?;
            run.renames = renames;
            self.run_readers(&mut run, read, options, total)?;
            let blobs = run.finish()?;
            drop(run);
            if options.is_unchanged.is_some_and(|is_unchanged| !is_unchanged()) {
                let message = "the file was changed by another program while it was read";
                let place = names.first().cloned().unwrap_or_default();
                return Err(VaultError::Format(FormatError::invalid("changed_while_reading", place, message)));
            }
            written();
            report.batch.clone_from(&uid);
            let sum = report.total();
            tx.execute(
                "UPDATE batches SET report = ?2, added = ?3, updated = ?4 WHERE id = ?1",
                rusqlite::params![batch, serde_json::to_string(&report).unwrap_or_default(), sum.added, sum.updated],
            )?;
            tx.execute("INSERT INTO changes (op, target) VALUES (3, ?1)", [batch])?;
            let detail = format!("added {} updated {}", sum.added, sum.updated);
            mementory_store::audit::append(tx, &self.context.keys, options.now, "import", &uid, &detail)?;
            crate::file_locations::store_import_paths(tx, &uid, options.now.as_micros(), options.paths)?;
            self.context.blobs.sync()?;
            Ok((Store::last_change(tx)?, blobs))
        };
        std::thread::scope(|scope| {
            // Segments are written while the store commits. An error here is ignored, because the commit of the index
            // then fails too and reports its error.
            let close_segments =
                || drop(scope.spawn(|| self.context.with_index(mementory_search::SearchIndex::close_segments)));
            let committed = self.context.store.write(|tx| write(tx, &close_segments))?;
            // The store's log is written into its database meanwhile. The batch is committed, so an error here does not
            // matter: the log is read together with the database until a later checkpoint succeeds.
            let _ = self.context.store.checkpoint();
            Ok(committed)
        })
    }

    /// Runs the readers on a new thread and processes their messages on the current thread.
    fn run_readers(
        &self,
        run: &mut ImportRun<'_>,
        read: ReadSources<'_>,
        options: &ImportOptions<'_>,
        total: u64,
    ) -> VaultResult<()> {
        let stage = if options.dry_run { "read" } else { "store" };
        let failed = std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel::<Message>(CHANNEL_MESSAGES);
            let reader = scope.spawn(move || {
                let mut sink = ChannelSink::new(&sender, &self.context.blobs, options);
                let failed = read(&mut sink)?;
                sink.flush()?;
                Ok(failed)
            });
            let consumed = process_messages(&receiver, run, options, stage, total);
            // Dropping the receiver stops the reader at its next send.
            drop(receiver);
            let read = reader
                .join()
                .unwrap_or_else(|_| Err(FormatError::invalid("panic", "reader", "the reader stopped unexpectedly")));
            consumed?;
            read.map_err(unwrap_format)
        })?;
        for (format, error) in failed {
            run.drop_source(&format, missing_part(&error), options.salvage);
        }
        Ok(())
    }
}

/// True if the source belongs to a format with a validator, and its archive contains another source.
fn is_beside_others(catalog: &Catalog, detection: &Detection, index: usize) -> bool {
    let Some(source) = detection.sources.get(index) else { return false };
    let archives = source.archives(catalog);
    let has_rules = by_id(source.format).is_some_and(|format| format.capabilities().validate);
    let mut others = detection.sources.iter().enumerate().filter(|(other, _)| *other != index);
    has_rules && others.any(|(_, other)| other.archives(catalog).iter().any(|archive| archives.contains(archive)))
}

/// Returns the report entry for a source that could not be read.
fn missing_part(error: &FormatError) -> MissingPart {
    let (code, place) = match error {
        FormatError::Invalid { code, place, .. } => (*code, place.as_str()),
        FormatError::Refused { place, .. } => ("refused_input", place.as_str()),
        FormatError::Version { place, .. } => ("unsupported_version", place.as_str()),
        FormatError::Io { place, source } if is_damage(source) => ("damaged_entry", place.as_str()),
        FormatError::Io { place, .. } => ("io", place.as_str()),
        _ => ("unreadable", ""),
    };
    MissingPart { place: place.to_owned(), reason: format!("{code}: {error}") }
}

fn process_messages(
    receiver: &Receiver<Message>,
    run: &mut ImportRun<'_>,
    options: &ImportOptions<'_>,
    stage: &str,
    total: u64,
) -> VaultResult<()> {
    for message in receiver {
        if options.cancel.load(Ordering::Relaxed) {
            return Err(VaultError::Cancelled);
        }
        if let Message::Progress(bytes) = message {
            (options.progress)(stage, bytes.min(total.max(bytes)), total, run.found_count());
            continue;
        }
        run.process_message(message)?;
    }
    Ok(())
}
