//! Imports files, undoes imports, and returns the reports of past imports.
use super::{
    context::Context,
    filter,
    import_report::report_view,
    keys::KeyRing,
    now,
    offers::Offers,
    path_exists,
    progress::{ProgressThrottle, progress},
    time,
};
use crate::{
    ApiError, ApiResult, Applied, Job, files,
    inspection::{Inspection, inspect, refuse_damage, with_salvage_hint},
    trust::{InvalidSignature, Signers, verify_signers},
    types::*,
};
use mementory_formats::{
    Catalog, Detection as Detected, ExportIdentity, FormatError, Passphrase, Role, by_id, detect, is_unreadable_entry,
    nearest, registry,
};
use mementory_model::{Issue, Limits};
use mementory_vault::{FailedImport, ImportOptions, Merge, Scratch};
use std::{collections::HashSet, path::PathBuf, sync::Arc};

/// Imports into the vault.
#[derive(Clone, Copy)]
pub struct Imports<'s> {
    context: &'s Context,
}

impl<'s> Imports<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Imports<'_> {
    /// Reads the input and plans one batch. Commits the batch unless `dry_run` is set.
    pub fn import(&self, request: &ImportRequest, dry_run: bool, job: &Job) -> ApiResult<ImportReport> {
        self.import_with(request, None, dry_run, job)
    }

    /// Like [`Self::import`], but with a passphrase for encrypted input. A failed import is recorded in the audit log
    /// without file names.
    pub fn import_with(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        dry_run: bool,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        self.import_guarded(request, passphrase, dry_run, &ImportGuards::default(), job)
    }

    /// Imports a file that no person has looked at, as one batch.
    ///
    /// # Errors
    /// `brings_deletions` if the file contains deletions; `changed_while_reading` if `is_unchanged` returns false at
    /// the end. After these errors, nothing was changed.
    pub(super) fn import_unattended(
        &self,
        request: &ImportRequest,
        is_unchanged: &(dyn Fn() -> bool + Sync),
        job: &Job,
    ) -> ApiResult<ImportReport> {
        let guards =
            ImportGuards { refuse_deletions: true, is_unchanged: Some(is_unchanged), ..ImportGuards::default() };
        self.import_guarded(request, None, false, &guards, job)
    }

    /// Imports a file for a conversion. If the file is a single source of the format `converts_to`, its elements are read
    /// unchanged, so that the export can write them back unchanged.
    pub(crate) fn import_for_conversion(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        converts_to: Option<&str>,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        self.import_guarded(request, passphrase, false, &ImportGuards { converts_to, ..ImportGuards::default() }, job)
    }

    fn import_guarded(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        dry_run: bool,
        guards: &ImportGuards<'_>,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        // Only the id of a known format is logged, because the request may contain any text as its format.
        let mut format = request.format.clone().filter(|id| by_id(id).is_some()).unwrap_or_default();
        let result = self.run_import(request, passphrase, dry_run, guards, job, &mut format);
        if let Err(error) = &result
            && !dry_run
            && error.code != "cancelled"
        {
            let _guard = self.context.write_guard();
            // The import error is returned even if the audit entry cannot be written.
            let failed = FailedImport {
                paths: if request.text.is_some() { Vec::new() } else { request.paths.clone() },
                code: error.code.into(),
                message: error.message.clone(),
                details: error.details.clone(),
            };
            let _ = self.context.vault.file_locations().record_failed_import(&format, failed, now());
        }
        result
    }

    /// Plans an import without committing it. Unlike [`Self::import`], accepts files with an invalid signature without
    /// the person's consent, and lists these signatures in `invalid_signatures` of the report.
    pub fn plan(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        let request = ImportRequest { accept_invalid_signature: true, ..request.clone() };
        self.import_with(&request, passphrase, true, job)
    }

    fn run_import(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        dry_run: bool,
        guards: &ImportGuards<'_>,
        job: &Job,
        format: &mut String,
    ) -> ApiResult<ImportReport> {
        let limits = request.limit_bytes.map_or_else(Limits::default, Limits::allowing);
        files::check_format_known(request.format.as_deref())?;
        job.report(progress("detect", 0, 0, 0));
        let catalog = match &request.text {
            Some(text) => Catalog::from_text(text, &limits),
            None => {
                let paths: Vec<PathBuf> = request.paths.iter().map(PathBuf::from).collect();
                let scratch = Scratch(self.context.vault.dir().to_path_buf());
                Catalog::open_with(&paths, &limits, Some(&scratch), passphrase.as_deref())?
            }
        };
        catalog.refuse_unopened()?;
        let detection = detect(&catalog, &limits, request.format.as_deref())?;
        if detection.sources.is_empty() {
            return Err(not_recognised_error(&catalog, &detection, request, &limits)?);
        }
        refuse_mere_file_lists(&catalog, &detection)?;
        if let [source] = detection.sources.as_slice() {
            source.format.clone_into(format);
        }
        let input = Input { catalog: &catalog, detection: &detection, limits: &limits, passphrase };
        self.import_detected(&input, request, dry_run, guards, job)
            .map_err(|error| with_salvage_hint(error, &catalog, &detection, request.salvage))
    }

    /// Imports sources that were detected.
    fn import_detected(
        &self,
        input: &Input<'_>,
        request: &ImportRequest,
        dry_run: bool,
        guards: &ImportGuards<'_>,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        let Input { catalog, detection, limits, passphrase } = input;
        let known = KeyRing::new(self.context).known_keys()?;
        let mut signers = verify_signers(catalog, detection, limits, &|key| known.contains(key));
        let mut inspection = None;
        if request.salvage {
            let inspected = inspect(catalog, detection, limits, true, passphrase.as_deref())?;
            // Signatures of deletions in missing or damaged parts need not be valid, because these deletions are not
            // applied.
            signers.leave_out(&inspected.missing);
            inspection = Some(inspected);
        }
        let refused_signature = match request.accept_invalid_signature {
            true => Ok(()),
            false => signers.refuse_invalid("Nothing was imported."),
        };
        if refused_signature.is_err() && !request.salvage {
            // Damage is reported instead of an invalid signature, because damage may be the reason why the signature is
            // invalid.
            refuse_damage(catalog, detection)?;
        }
        refused_signature?;
        let Signers { keys, forged, invalid } = signers;
        let mut warnings: Vec<Issue> = invalid.iter().filter_map(InvalidSignature::dropped_warning).collect();
        warnings.extend(self.delta_base_warnings(catalog, detection, limits)?);
        let Inspection { findings, missing } = match inspection {
            Some(inspection) => inspection,
            None => inspect(catalog, detection, limits, false, passphrase.as_deref())?,
        };
        let throttle = ProgressThrottle::new(job);
        let cancel = job.cancel_flag();
        let options = ImportOptions {
            dry_run,
            paths: if request.text.is_some() { &[] } else { &request.paths },
            include_blocked: request.include_blocked,
            merge: request.merge.map(|merge| match merge {
                MergeStrategy::SkipDuplicates => Merge::SkipDuplicates,
                MergeStrategy::Overwrite => Merge::Overwrite,
                MergeStrategy::Rename => Merge::Rename,
            }),
            forged,
            refuse_deletions: guards.refuse_deletions,
            is_unchanged: guards.is_unchanged,
            dropped_signatures: invalid.iter().map(|signature| signature.place.clone()).collect(),
            prior_warnings: &warnings,
            findings: &findings,
            salvage: request.salvage,
            is_conversion: matches!(detection.sources.as_slice(), [one] if guards.converts_to == Some(one.format)),
            missing: &missing,
            limits: (*limits).clone(),
            now: now(),
            passphrase: passphrase.clone(),
            cancel: &cancel,
            progress: &|stage, done, total, records| throttle.report(stage, done, total, records),
        };
        let _guard = (!dry_run).then(|| self.context.write_guard());
        let outcome = self.context.vault.importer().import(catalog, detection, &options)?;
        if !dry_run {
            KeyRing::new(self.context).pin_signers(keys);
            Offers::new(self.context).mark_imported(&request.paths);
        }
        let mut out = report_view(&outcome);
        out.invalid_signatures = invalid.into_iter().map(|signature| signature.place).collect();
        out.sources = files::describe(catalog, detection, &[]);
        Ok(out)
    }

    /// Returns warnings for incremental exports that were imported before, or whose base is neither in the vault nor in
    /// the input.
    fn delta_base_warnings(&self, catalog: &Catalog, found: &Detected, limits: &Limits) -> ApiResult<Vec<Issue>> {
        let identified =
            found.sources.iter().filter_map(|source| Some((source, by_id(source.format)?.export_identities()?)));
        // Unreadable sources are skipped here, because the import itself reports them.
        let exports: Vec<ExportIdentity> = identified
            .filter_map(|(source, format)| format.export_of(catalog, source, limits).ok().flatten())
            .collect();
        if !exports.iter().any(|export| export.incremental) {
            return Ok(Vec::new());
        }
        let mut imported_ids: HashSet<String> = HashSet::new();
        for (id, format) in registry().iter().filter_map(|format| Some((format.id(), format.export_identities()?))) {
            let name = format.passthrough_name();
            let texts = self.context.vault.files().passthrough_texts(id, name, limits.side_file_bytes)?;
            imported_ids.extend(texts.iter().filter_map(|text| format.id_in_passthrough(text)));
        }
        let mut out = Vec::new();
        for delta in exports.iter().filter(|export| export.incremental) {
            let is_in_input = exports.iter().any(|other| other.id == delta.base && other.place != delta.place);
            if delta.base.as_ref().is_some_and(|base| !imported_ids.contains(base)) && !is_in_input {
                let message = "this holds only the changes since an export that was not imported into this vault; \
                               records without changes are missing";
                out.push(Issue::new("delta_base_unknown", format!("{}/base_export_id", delta.place), message));
            }
            if delta.id.as_ref().is_some_and(|id| imported_ids.contains(id)) {
                let message = "these changes were imported before";
                out.push(Issue::new("delta_taken_before", format!("{}/export_id", delta.place), message));
            }
        }
        Ok(out)
    }

    /// Lists the batches, newest first.
    pub fn list(&self) -> ApiResult<Batches> {
        let places = self.context.vault.file_locations().all()?.imports;
        let batches = self
            .context
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

    /// Lists failed imports with the sequence number of their audit entry, the paths of their files, and the error.
    pub fn failed(&self) -> ApiResult<FailedImports> {
        let all = self.context.vault.file_locations().all()?.failed.into_iter();
        let failed = all.map(|(seq, import)| crate::types::FailedImport {
            seq: u32::try_from(seq).unwrap_or(u32::MAX),
            paths: import.paths,
            error: ErrorBody { code: import.code, message: import.message, details: import.details },
        });
        Ok(FailedImports { failed: failed.collect() })
    }

    /// Returns the stored report of a batch.
    pub fn report(&self, batch: &str) -> ApiResult<ImportReport> {
        let found = self.context.vault.batches().batch_report(batch).map_err(|error| match error {
            mementory_vault::VaultError::NotFound { .. } => filter::no_such_import_error(batch),
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

    /// Undoes a whole batch.
    pub fn undo(&self, batch: &str, job: &Job) -> ApiResult<Applied<Undone>> {
        let _guard = self.context.write_guard();
        let undone = self.context.vault.importer().undo_until(batch, now(), &job.cancel_flag())?;
        Ok(undone.map(|removed| Undone { removed }))
    }
}

/// The files to import, and the sources that were detected in them.
struct Input<'a> {
    catalog: &'a Catalog,
    detection: &'a Detected,
    limits: &'a Limits,
    passphrase: Option<Arc<dyn Passphrase>>,
}

/// The checks for a file that no person has looked at, and the target format of a conversion.
#[derive(Clone, Copy, Default)]
struct ImportGuards<'a> {
    refuse_deletions: bool,
    is_unchanged: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Id of the format to which the records are converted. None if elements of this format cannot be written back
    /// unchanged.
    converts_to: Option<&'a str>,
}

/// Refuses input that only lists the files of an export without containing any of them. Formats with a validator are
/// excepted, because the validator reports missing files with its own error codes.
fn refuse_mere_file_lists(catalog: &Catalog, detection: &Detected) -> ApiResult<()> {
    let mut lists = detection.sources.iter().filter(|source| {
        !source.claim.missing_parts.is_empty()
            && source.claim.parts.iter().all(|part| part.role == Role::Manifest)
            && by_id(source.format).is_none_or(|format| !format.capabilities().validate)
    });
    let (Some(first), true) = (lists.next(), lists.count() + 1 == detection.sources.len()) else { return Ok(()) };
    // The error of an unreadable file in the input is returned instead, because it explains why parts are missing.
    if let Some(Issue { place, message, .. }) = catalog.issues().iter().find(|issue| is_unreadable_entry(issue)) {
        return Err(FormatError::Refused { place: place.clone(), reason: message.clone() }.into());
    }
    let name = by_id(first.format).map_or(first.format, |format| format.name());
    let missing = first.claim.missing_parts.join(", ");
    let message = format!(
        "This file only lists the parts of a {name} export and contains none of them. Nothing was imported. Download \
         the parts ({missing}) and drop them together with it."
    );
    Err(ApiError::new("only_a_list", 6, message).with("format", name).with("missing_parts", missing))
}

/// Makes the error for input that no format recognised, or that several formats recognised. The error contains the
/// reason.
///
/// # Errors
/// Errors of the formats when they are asked whether they could read the input.
fn not_recognised_error(
    catalog: &Catalog,
    detection: &Detected,
    request: &ImportRequest,
    limits: &Limits,
) -> ApiResult<ApiError> {
    let name = catalog.roots().first().cloned().unwrap_or_else(|| "This".into());
    if let Some((_, candidates)) = detection.ties.first() {
        let names: Vec<&str> = candidates.iter().map(|c| c.format).collect();
        return Ok(ApiError::new(
            "ambiguous",
            6,
            format!("{name} could be {}. Nothing was imported. Choose the format.", names.join(" or ")),
        )
        .with("candidates", names.join(",")));
    }
    if let Some(issue) = catalog.issues().first() {
        return Ok(ApiError::new(
            "not_recognised",
            6,
            format!("Nothing was imported. {}: {}. Your vault is unchanged.", issue.place, issue.message),
        )
        .with("place", &issue.place)
        .with("reason", &issue.code));
    }
    let as_format = request.format.as_deref().map(|f| format!(" as {f}")).unwrap_or_default();
    let error = |hint: &str| {
        let message = format!("{name} is not recognised{as_format}. Nothing was imported. {hint}");
        ApiError::new("not_recognised", 6, message).with("place", &name)
    };
    if request.format.is_some() {
        return Ok(error("If you know its format, choose it."));
    }
    let candidates = nearest(catalog, limits, &files::members_of_unknown_roots(catalog, detection))?;
    let formats = files::nearest_candidates(candidates.iter());
    let names: Vec<&str> = formats.iter().map(|candidate| candidate.format.as_str()).collect();
    let is_only_if_chosen = |format: &str| by_id(format).is_some_and(|format| format.capabilities().only_if_chosen);
    let keep_hint = formats.iter().find(|candidate| is_only_if_chosen(&candidate.format));
    let keep_hint = keep_hint.map_or(String::new(), |keep| format!(" `{}`: {}.", keep.format, keep.reason));
    let hint = match formats.iter().find(|candidate| !is_only_if_chosen(&candidate.format)) {
        None => format!("If you know its format, choose it.{keep_hint}"),
        Some(best) => format!("The nearest format is {}: {}. Choose a format.{keep_hint}", best.format, best.reason),
    };
    Ok(error(&hint).with("candidates", names.join(",")))
}
