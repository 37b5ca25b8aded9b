//! Import, undo, export.
use super::{
    Session, now, path_exists,
    progress::{ProgressThrottle, progress},
    time,
};
use crate::{
    ApiError, ApiResult, Job, files,
    trust::{Signers, signers},
    types::*,
};
use mementory_formats::{Catalog, Detection as Detected, Passphrase, Signer, WriteOptions, by_id, detect, pam};
use mementory_model::{Issue, Limits, LossReport, Timestamp};
use mementory_vault::{FailedImport, ImportOptions, ItemOutcome, KindCounts, Merge, Scope, Scratch};
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

impl Session {
    /// Import one batch: read, plan and, unless `dry_run`, commit it.
    pub fn import(&self, request: &ImportRequest, dry_run: bool, job: &Job) -> ApiResult<ImportReport> {
        self.import_with(request, None, dry_run, job)
    }

    /// The same, with a passphrase for encrypted input. A failed import is entered in the audit log without file names.
    pub fn import_with(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        dry_run: bool,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        // The log must hold only known format ids: the request may name anything.
        let mut format = request.format.clone().filter(|id| by_id(id).is_some()).unwrap_or_default();
        let result = self.run_import(request, passphrase, dry_run, job, &mut format);
        if let Err(error) = &result
            && !dry_run
            && error.code != "cancelled"
        {
            let _guard = self.write_guard();
            // Return the import error even if the audit entry cannot be written.
            let failed = FailedImport {
                paths: if request.text.is_some() { Vec::new() } else { request.paths.clone() },
                code: error.code.into(),
                message: error.message.clone(),
                details: error.details.clone(),
            };
            let _ = self.vault.file_locations().record_failed_import(&format, failed, now());
        }
        result
    }

    fn run_import(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        dry_run: bool,
        job: &Job,
        format: &mut String,
    ) -> ApiResult<ImportReport> {
        let limits = request.limit_bytes.map_or_else(Limits::default, Limits::allowing);
        files::known_format(request.format.as_deref())?;
        job.report(progress("detect", 0, 0, 0));
        let catalog = match &request.text {
            Some(text) => Catalog::from_text(text, &limits),
            None => {
                let paths: Vec<PathBuf> = request.paths.iter().map(PathBuf::from).collect();
                let scratch = Scratch(self.vault.dir().to_path_buf());
                Catalog::open_with(&paths, &limits, Some(&scratch), passphrase.as_deref())?
            }
        };
        catalog.refuse_closed()?;
        let detection = detect(&catalog, &limits, request.format.as_deref())?;
        if detection.sources.is_empty() {
            return Err(not_recognised_error(&catalog, &detection, request));
        }
        if let [source] = detection.sources.as_slice() {
            source.format.clone_into(format);
        }
        let known = self.known_keys()?;
        let Signers { keys, forged, mut warnings } =
            signers(&catalog, &detection, &limits, &|key| known.contains(key))?;
        warnings.extend(self.delta_base_warnings(&catalog, &detection, &limits)?);
        let throttle = ProgressThrottle::new(job);
        let cancel = job.cancel_flag();
        let options = ImportOptions {
            dry_run,
            paths: if request.text.is_some() { &[] } else { &request.paths },
            let_in: request.let_in,
            merge: request.merge.map(|merge| match merge {
                MergeStrategy::SkipDuplicates => Merge::SkipDuplicates,
                MergeStrategy::Overwrite => Merge::Overwrite,
                MergeStrategy::Rename => Merge::Rename,
            }),
            forged,
            notes: &warnings,
            limits,
            now: now(),
            passphrase,
            cancel: &cancel,
            progress: &|stage, done, total, records| throttle.report(stage, done, total, records),
        };
        let _guard = (!dry_run).then(|| self.write_guard());
        let outcome = self.vault.importer().import(&catalog, &detection, &options)?;
        if !dry_run {
            self.pin_signers(keys);
            self.mark_imported(&request.paths);
        }
        let mut out = report_view(&outcome);
        out.sources = files::describe(&catalog, &detection);
        Ok(out)
    }

    /// Warnings for incremental exports whose base is neither in the vault nor among the input, or that were imported before.
    fn delta_base_warnings(&self, catalog: &Catalog, found: &Detected, limits: &Limits) -> ApiResult<Vec<Issue>> {
        let of_pam = found.sources.iter().filter(|source| source.format == "pam");
        // The import itself reports what cannot be read.
        let exports: Vec<pam::Export> =
            of_pam.filter_map(|source| pam::export_of(catalog, source, limits).ok().flatten()).collect();
        if !exports.iter().any(|export| export.incremental) {
            return Ok(Vec::new());
        }
        let kept = self.vault.files().passthrough_texts("pam", pam::FRAME, limits.side_file_bytes)?;
        let known: HashSet<String> = kept.iter().filter_map(|frame| pam::id_of_frame(frame)).collect();
        let mut out = Vec::new();
        for delta in exports.iter().filter(|export| export.incremental) {
            let in_input = exports.iter().any(|other| other.id == delta.base && other.place != delta.place);
            if delta.base.as_ref().is_some_and(|base| !known.contains(base)) && !in_input {
                let message = "this holds only the changes since an export that was not imported into this vault; \
                               records without changes are missing";
                out.push(Issue::new("delta_base_unknown", format!("{}/base_export_id", delta.place), message));
            }
            if delta.id.as_ref().is_some_and(|id| known.contains(id)) {
                let message = "these changes were imported before";
                out.push(Issue::new("delta_taken_before", format!("{}/export_id", delta.place), message));
            }
        }
        Ok(out)
    }

    /// The batches, newest first.
    pub fn imports(&self) -> ApiResult<Batches> {
        let places = self.vault.file_locations().all()?.imports;
        let batches = self
            .vault
            .batches()
            .batches()?
            .into_iter()
            .map(|b| BatchInfo {
                file: places.get(&b.uid).and_then(|(_, paths)| paths.iter().find(|path| path_exists(path)).cloned()),
                batch: b.uid,
                at: time(b.at),
                format: b.format,
                names: b.names,
                added: b.added,
                updated: b.updated,
                unchanged: b.total.unchanged,
                blocked: b.total.blocked,
                skipped: b.total.skipped,
                failed: b.total.failed,
                undone: b.undone,
                edited_since: b.edited_since,
            })
            .collect();
        Ok(Batches { batches })
    }

    /// Failed imports by their entry in the audit log: the paths of their files, and the error.
    pub fn failed_imports(&self) -> ApiResult<FailedImports> {
        let all = self.vault.file_locations().all()?.failed.into_iter();
        let failed = all.map(|(seq, import)| crate::types::FailedImport {
            seq: u32::try_from(seq).unwrap_or(u32::MAX),
            paths: import.paths,
            error: ErrorBody { code: import.code, message: import.message, details: import.details },
        });
        Ok(FailedImports { failed: failed.collect() })
    }

    /// The stored report of a batch.
    pub fn import_report(&self, batch: &str) -> ApiResult<ImportReport> {
        let found = self.vault.batches().batch_report(batch).map_err(|error| match error {
            mementory_vault::VaultError::NotFound { .. } => no_such_import(batch),
            other => other.into(),
        })?;
        let report = serde_json::from_str(&found).map_err(|_| {
            ApiError::new(
                "vault_damaged",
                5,
                "The report of this import is damaged. Its records are not. Check the vault.",
            )
        })?;
        Ok(report_view(&report))
    }

    /// Undo a whole batch.
    pub fn undo_import(&self, batch: &str, _job: &Job) -> ApiResult<Undone> {
        let _guard = self.write_guard();
        Ok(Undone { removed: self.vault.importer().undo(batch, now())? })
    }

    /// What an export would hold and lose; nothing is written.
    pub fn export_preview(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        self.export_preview_with(request, &ExportOptions::default(), job)
    }

    /// The same, with options.
    pub fn export_preview_with(
        &self,
        request: &ExportRequest,
        options: &ExportOptions,
        job: &Job,
    ) -> ApiResult<Exported> {
        check_capabilities(request, options)?;
        self.scan_before_masking(request, job)?;
        let _guard = self.snapshot_guard();
        let cancel = job.cancel_flag();
        let scope = self.scope(request, options)?;
        let throttle = ProgressThrottle::new(job);
        let progress = |stage: &str, n| throttle.report(stage, n, 0, n);
        let (report, covered) =
            self.vault.exporter().export_preview(&request.format, &scope, now(), &cancel, &progress)?;
        Ok(Exported { covered, ..exported(request, Path::new(&request.out), &report, 0, String::new(), None) })
    }

    /// The text of an export for the clipboard; no file is written.
    ///
    /// # Errors
    /// `not_supported` for a format that is not plain text.
    pub fn export_text(&self, request: &ExportRequest, job: &Job) -> ApiResult<String> {
        let options = ExportOptions::default();
        check_capabilities(request, &options)?;
        self.scan_before_masking(request, job)?;
        let _guard = self.snapshot_guard();
        let cancel = job.cancel_flag();
        let scope = self.scope(request, &options)?;
        let throttle = ProgressThrottle::new(job);
        let progress = |stage: &str, n| throttle.report(stage, n, 0, n);
        let (text, detail) = self.vault.exporter().export_text(&request.format, &scope, now(), &cancel, &progress)?;
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = Some((request.format.clone(), detail));
        Ok(text)
    }

    /// Enter in the audit log that the last text was copied. Only the first call after a text was made has an effect.
    pub fn text_taken(&self) -> ApiResult<()> {
        let _guard = self.write_guard();
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner).take();
        text.map_or(Ok(()), |(format, detail)| {
            Ok(self.vault.file_locations().record_copied_text(&format, &detail, now())?)
        })
    }

    /// Write, read back, validate.
    pub fn export(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        self.export_with(request, &ExportOptions::default(), job)
    }

    /// The same with options: signed, encrypted, incremental …
    ///
    /// # Errors
    /// Those of the writer; `usage` for a malformed time.
    pub fn export_with(&self, request: &ExportRequest, options: &ExportOptions, job: &Job) -> ApiResult<Exported> {
        if request.out.trim().is_empty() {
            return Err(ApiError::new(
                "usage",
                2,
                "No file is named for the export. Nothing was written. Choose where to save it.",
            ));
        }
        check_capabilities(request, options)?;
        self.scan_before_masking(request, job)?;
        let (cancel, throttle) = (job.cancel_flag(), ProgressThrottle::new(job));
        let _guard = self.snapshot_guard();
        let export_guard = self.begin_file_export(Path::new(&request.out));
        let outcome = self.vault.exporter().export(
            &request.format,
            Path::new(&request.out),
            &self.scope(request, options)?,
            request.overwrite,
            now(),
            &cancel,
            &|stage, n| throttle.report(stage, n, 0, n),
        )?;
        export_guard.files_written(std::iter::once(&outcome.path).chain(&outcome.beside));
        let mut out =
            exported(request, &outcome.path, &outcome.report, outcome.bytes, outcome.digest, Some(&outcome.validation));
        out.covered = outcome.covered;
        if out.signature.present {
            // Verify the file on disk, not what was meant to be written.
            let signed_by = files::signed_by(&outcome.path, options.passphrase.as_deref())?;
            out.signature.valid = Some(!signed_by.is_empty());
            out.signature.key = signed_by.first().map(hex::encode).or(out.signature.key);
        }
        let invalid = (!out.validated).then(|| (outcome.written, request.format.clone()));
        *self.invalid_export.lock().unwrap_or_else(PoisonError::into_inner) = invalid;
        Ok(out)
    }

    /// Delete the export that was just written and did not pass its check. Nothing else can be deleted this way.
    ///
    /// # Errors
    /// `changed_since` when `path` is not that export or something there was changed since (nothing is removed then), `io`.
    pub fn remove_export(&self, path: &str) -> ApiResult<()> {
        let _guard = self.write_guard();
        let mut invalid = self.invalid_export.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((written, format)) = invalid.as_ref().filter(|(written, _)| written.path() == Path::new(path)) else {
            let message =
                "This is not the file that was just exported. Nothing was deleted. Delete it in the file manager.";
            return Err(ApiError::new("changed_since", 6, message).with("path", path));
        };
        self.vault.exporter().remove_export(written, format, now())?;
        *invalid = None;
        Ok(())
    }

    /// Masking uses the results of the last scan, so scan first.
    fn scan_before_masking(&self, request: &ExportRequest, job: &Job) -> ApiResult<()> {
        if request.cover {
            self.scan_pending(false, job)?;
        }
        Ok(())
    }

    fn scope(&self, request: &ExportRequest, options: &ExportOptions) -> ApiResult<Scope> {
        let signer = options.signer.clone().or_else(|| request.sign.then(|| self.vault.exporter().signer()));
        let query = self.query(&request.filter)?;
        let since = query.since.and_then(Timestamp::from_micros);
        let write_options = WriteOptions {
            everything: false,
            since,
            base: options.base.clone(),
            signer,
            passphrase: options.passphrase.clone(),
            encoding: options.encoding.clone(),
            version: options.version.clone(),
            strip_identifiers: options.strip_identifiers,
            artifact_threshold: options.artifact_threshold,
            format_options: options.zaxy.clone().map(mementory_formats::FormatOptions::new).unwrap_or_default(),
        };
        Ok(Scope { query, everything: is_unfiltered(&request.filter), cover: request.cover, writing: write_options })
    }
}

/// Options of an export beside the request. They include keys and passphrases, which must not be in a request: requests
/// are stored with reports.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// Sign with this key instead of the vault's key.
    pub signer: Option<Arc<dyn Signer>>,
    /// Encrypt under this passphrase.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// The export that a delta or an incremental export builds on.
    pub base: Option<PathBuf>,
    /// `json`, `yaml` or `jsonl`; for MIF also `mem0`, `generic` or `markdown`, which hold memories only.
    pub encoding: Option<String>,
    /// Version of the format.
    pub version: Option<String>,
    /// Leave identifiers of platforms and accounts out.
    pub strip_identifiers: bool,
    /// Workspace files below this many bytes are embedded in an `.alf`; larger ones are only named.
    pub artifact_threshold: Option<u64>,
    /// Which entries of a Zaxy bundle.
    pub zaxy: Option<crate::portable::Selector>,
}

/// Refuse to export in a format that cannot be signed or encrypted as requested: the person would trust the file.
fn check_capabilities(request: &ExportRequest, options: &ExportOptions) -> ApiResult<()> {
    let Some(format) = by_id(&request.format) else { return Ok(()) };
    let capabilities = format.capabilities();
    let refuse = |what: &str| {
        let message = format!(
            "{} cannot {what}. Nothing was written. Choose another format, or export without it.",
            format.name()
        );
        Err(ApiError::new("not_supported", 2, message))
    };
    if options.passphrase.is_some() && !capabilities.encrypts {
        return refuse("be encrypted");
    }
    if (request.sign || options.signer.is_some()) && !capabilities.signs {
        return refuse("be signed");
    }
    Ok(())
}

pub(super) fn no_such_import(batch: &str) -> ApiError {
    ApiError::new("not_found", 1, "This vault has no import with this id. Nothing was changed.").with("id", batch)
}

fn is_unfiltered(filter: &Filter) -> bool {
    filter.kind.is_none()
        && filter.source.is_none()
        && filter.status.is_none()
        && filter.tag.is_none()
        && filter.record_type.is_none()
        && filter.since.is_none()
        && filter.until.is_none()
        && filter.ids.is_none()
        && filter.standing.is_none()
        && filter.file_kind.is_none()
        && filter.batch.is_none()
}

fn exported(
    request: &ExportRequest,
    path: &Path,
    report: &mementory_formats::WriteReport,
    bytes: u64,
    digest: String,
    validation: Option<&mementory_formats::Validation>,
) -> Exported {
    let LossReport { items, counts } = &report.losses;
    Exported {
        path: path.display().to_string(),
        format: request.format.clone(),
        version: report.version.clone(),
        records: report.by_kind.values().map(|n| *n as u32).sum(),
        by_kind: report.by_kind.iter().map(|(k, n)| (k.clone(), *n as u32)).collect(),
        covered: 0,
        bytes,
        digest,
        validated: validation.is_some_and(|v| v.errors.is_empty()),
        first_error: validation.and_then(|v| v.errors.first().cloned()).map(Finding::from),
        errors: validation.map_or(0, |v| u32::try_from(v.errors.len()).unwrap_or(u32::MAX)),
        signature: validation.map(files::signature).unwrap_or_default(),
        losses: items
            .iter()
            .map(|l| Loss {
                record: l.record.clone(),
                field: l.field.clone(),
                kind: l.kind.as_str().into(),
                note: l.note.clone(),
            })
            .collect(),
        loss_counts: counts
            .iter()
            .map(|((field, kind), n)| LossCount { field: field.clone(), kind: kind.as_str().into(), count: *n as u32 })
            .collect(),
        withheld: report
            .withheld
            .iter()
            .map(|(reason, n)| Withheld { reason: reason.clone(), count: *n as u32 })
            .collect(),
    }
}

/// The error for input that no format recognised, with the reason.
fn not_recognised_error(catalog: &Catalog, detection: &Detected, request: &ImportRequest) -> ApiError {
    let name = catalog.roots().first().cloned().unwrap_or_else(|| "This".into());
    if let Some((_, candidates)) = detection.ties.first() {
        let names: Vec<&str> = candidates.iter().map(|c| c.format).collect();
        return ApiError::new(
            "ambiguous",
            6,
            format!("{name} could be {}. Nothing was imported. Choose the format.", names.join(" or ")),
        )
        .with("candidates", names.join(","));
    }
    if let Some(issue) = catalog.issues().first() {
        return ApiError::new(
            "not_recognised",
            6,
            format!("Nothing was imported. {name}: {}. Your vault is unchanged.", issue.message),
        )
        .with("place", &issue.place)
        .with("reason", &issue.code);
    }
    let as_format = request.format.as_deref().map(|f| format!(" as {f}")).unwrap_or_default();
    ApiError::new(
        "not_recognised",
        6,
        format!("{name} is not recognised{as_format}. Nothing was imported. If you know its format, choose it."),
    )
    .with("place", name)
}

fn outcome_view(k: &KindCounts) -> Outcome {
    Outcome {
        found: k.found,
        added: k.added,
        updated: k.updated,
        unchanged: k.unchanged,
        blocked: k.blocked,
        skipped: k.skipped,
        failed: k.failed,
    }
}

fn report_view(r: &mementory_vault::ImportReport) -> ImportReport {
    ImportReport {
        batch: r.batch.clone(),
        format: r.format.clone(),
        version: r.version.clone(),
        dry_run: r.dry_run,
        total: outcome_view(&r.total()),
        by_kind: r.by_kind.iter().map(|(k, c)| (k.clone(), outcome_view(c))).collect(),
        tombstones_applied: r.counts.tombstones_applied,
        conversations: r.counts.conversations,
        messages: r.counts.messages,
        memories: r.counts.memories,
        attachments: AttachmentCounts {
            referenced: r.counts.attachments_referenced,
            present: r.counts.attachments_present,
        },
        missing_attachments: r.counts.attachments_missing,
        missing_parts: r.missing_parts.clone(),
        missing_files: r.missing_files.clone(),
        gone: r.gone.clone(),
        warnings: r
            .warnings
            .iter()
            .map(|(key, (place, message, count))| Warning {
                code: key.split(' ').next().unwrap_or_default().into(),
                place: place.clone(),
                message: message.clone(),
                count: *count,
            })
            .collect(),
        items: r
            .items
            .iter()
            .map(|i| ReportItem {
                kind: i.kind.clone(),
                place: i.place.clone(),
                outcome: match i.outcome {
                    ItemOutcome::Added => "added",
                    ItemOutcome::Updated => "updated",
                    ItemOutcome::Unchanged => "unchanged",
                    ItemOutcome::Blocked => "blocked",
                    ItemOutcome::Skipped => "skipped",
                    ItemOutcome::Failed => "failed",
                }
                .into(),
                reason: i.reason.clone(),
            })
            .collect(),
        coming: r
            .coming
            .iter()
            .map(|c| ComingItem { kind: c.kind.clone(), place: c.place.clone(), text: c.text.clone() })
            .collect(),
        sources: r
            .sources
            .iter()
            .map(|s| Detection {
                path: s.places.first().map(|p| p.split("!/").next().unwrap_or(p).to_owned()).unwrap_or_default(),
                format: Some(s.format.clone()),
                version: s.version.clone(),
                confidence: s.confidence,
                encrypted: false,
                reason: s.reason.clone(),
                parts: Vec::new(),
                missing_parts: Vec::new(),
                candidates: Vec::new(),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mementory_formats::{Finding as Found, Validation, WriteReport};

    #[test]
    fn the_first_error_of_the_validation_is_reported() {
        let finding = |code: &str| Found { code: code.into(), place: "a.jsonl:1".into(), message: "is not so".into() };
        let export_with = |errors: Vec<Found>| {
            let validation = Validation { errors, ..Validation::default() };
            let (request, report) = (ExportRequest::default(), WriteReport::default());
            exported(&request, Path::new("x"), &report, 0, String::new(), Some(&validation))
        };
        let out = export_with(vec![finding("checksum"), finding("count")]);
        assert!(!out.validated);
        assert_eq!((out.first_error.map(|first| first.code).as_deref(), out.errors), (Some("checksum"), 2));
        let valid = export_with(Vec::new());
        assert!(valid.validated && valid.first_error.is_none() && valid.errors == 0);
    }
}
