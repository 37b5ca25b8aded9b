//! Exports records, previews exports, and makes the text for the clipboard.
use super::{context::Context, filter, now, offers::Offers, progress::ProgressThrottle, sensitive::SensitiveValues};
use crate::{ApiError, ApiResult, Applied, Job, files, types::*};
use mementory_formats::{FormatOptions, Passphrase, Signer, WriteOptions, by_id};
use mementory_model::{LossReport, Timestamp};
use mementory_vault::{ExportRun, FailedStep, Scope};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

/// Exports from the vault.
#[derive(Clone, Copy)]
pub struct Exports<'s> {
    context: &'s Context,
}

impl<'s> Exports<'s> {
    pub(super) fn new(context: &'s Context) -> Self {
        Self { context }
    }
}

impl Exports<'_> {
    /// Returns the content and the losses of an export without writing it.
    pub fn preview(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        self.preview_with(request, &ExportOptions::default(), job)
    }

    /// Like [`Self::preview`], but with options.
    pub fn preview_with(&self, request: &ExportRequest, options: &ExportOptions, job: &Job) -> ApiResult<Exported> {
        let request = &with_format_id(request);
        check_capabilities(request, options)?;
        self.scan_before_masking(request, job)?;
        let _guard = self.context.snapshot_guard();
        let cancel = job.cancel_flag();
        let scope = self.scope(request, options)?;
        let throttle = ProgressThrottle::new(job);
        let progress = |stage: &str, n| throttle.report(stage, n, 0, n);
        let run = ExportRun { scope: &scope, now: now(), cancel: &cancel, progress: &progress };
        let (report, covered) = self.context.vault.exporter().export_preview(&request.format, run)?;
        Ok(Exported { covered, ..export_result(request, Path::new(&request.out), &report, 0, String::new(), None) })
    }

    /// Makes the text of an export for the clipboard. No file is written.
    ///
    /// # Errors
    /// `not_supported` for a format that is not plain text.
    pub fn text(&self, request: &ExportRequest, job: &Job) -> ApiResult<String> {
        let options = ExportOptions::default();
        let request = &with_format_id(request);
        check_capabilities(request, &options)?;
        self.scan_before_masking(request, job)?;
        let _guard = self.context.snapshot_guard();
        let cancel = job.cancel_flag();
        let scope = self.scope(request, &options)?;
        let throttle = ProgressThrottle::new(job);
        let progress = |stage: &str, n| throttle.report(stage, n, 0, n);
        let run = ExportRun { scope: &scope, now: now(), cancel: &cancel, progress: &progress };
        let (text, detail) = self.context.vault.exporter().export_text(&request.format, run)?;
        *self.context.clipboard_text.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((request.format.clone(), detail));
        Ok(text)
    }

    /// Writes an audit entry that says that the last text for the clipboard was copied. Only the first call for a text
    /// has an effect.
    pub fn record_copied_text(&self) -> ApiResult<()> {
        let _guard = self.context.write_guard();
        let text = self.context.clipboard_text.lock().unwrap_or_else(PoisonError::into_inner).take();
        text.map_or(Ok(()), |(format, detail)| {
            Ok(self.context.vault.file_locations().record_copied_text(&format, &detail, now())?)
        })
    }

    /// Writes an export, reads it back and validates it.
    pub fn export(&self, request: &ExportRequest, job: &Job) -> ApiResult<Applied<Exported>> {
        self.export_with(request, &ExportOptions::default(), job)
    }

    /// Like [`Self::export`], but with options, for example to sign or encrypt the export, or to write only what
    /// changed.
    ///
    /// # Errors
    /// Errors of the writer; `usage` for a malformed time.
    pub fn export_with(
        &self,
        request: &ExportRequest,
        options: &ExportOptions,
        job: &Job,
    ) -> ApiResult<Applied<Exported>> {
        if request.out.trim().is_empty() {
            return Err(ApiError::usage(
                "No file is named for the export. Nothing was written. Choose where to save it.",
            ));
        }
        let request = &with_format_id(request);
        check_capabilities(request, options)?;
        self.scan_before_masking(request, job)?;
        let (cancel, throttle) = (job.cancel_flag(), ProgressThrottle::new(job));
        let _guard = self.context.snapshot_guard();
        let export_guard = Offers::new(self.context).begin_file_export(Path::new(&request.out));
        let scope = self.scope(request, options)?;
        let progress = |stage: &str, n| throttle.report(stage, n, 0, n);
        let run = ExportRun { scope: &scope, now: now(), cancel: &cancel, progress: &progress };
        let out = Path::new(&request.out);
        let applied = self.context.vault.exporter().export(&request.format, out, request.overwrite, run)?;
        let Applied { value: outcome, mut warnings } = applied;
        export_guard.mark_written(std::iter::once(&outcome.path).chain(&outcome.beside));
        let mut out = export_result(
            request,
            &outcome.path,
            &outcome.report,
            outcome.bytes,
            outcome.digest,
            Some(&outcome.validation),
        );
        out.covered = outcome.covered;
        if out.signature.present {
            // The signature is verified by reading the written file, not the data in memory.
            match files::signed_by(&outcome.path, options.passphrase.as_deref()) {
                Ok(signed_by) => {
                    out.signature.valid = Some(!signed_by.is_empty());
                    out.signature.key = signed_by.first().map(hex::encode).or(out.signature.key);
                }
                // A written file that cannot be read back causes only a warning, because the export is complete.
                Err(_) => {
                    out.signature.valid = None;
                    warnings.insert(FailedStep::ReadBack);
                }
            }
        }
        let invalid = (!out.validated).then(|| (outcome.written, request.format.clone()));
        *self.context.invalid_export.lock().unwrap_or_else(PoisonError::into_inner) = invalid;
        Ok(Applied { value: out, warnings })
    }

    /// Deletes the last export, if it did not pass its check. Cannot delete any other file.
    ///
    /// # Errors
    /// `changed_since` if `path` is not that export, or if any part of the export has changed since it was written;
    /// `io`. After `changed_since`, nothing was removed.
    pub fn remove(&self, path: &str) -> ApiResult<Applied<()>> {
        let _guard = self.context.write_guard();
        let mut invalid = self.context.invalid_export.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((written, format)) = invalid.as_ref().filter(|(written, _)| written.path() == Path::new(path)) else {
            let message =
                "This is not the file that was just exported. Nothing was deleted. Delete it in the file manager.";
            return Err(ApiError::new("changed_since", 6, message).with("path", path));
        };
        let removed = self.context.vault.exporter().remove_export(written, format, now())?;
        *invalid = None;
        Ok(removed)
    }

    /// Scans new and changed records if values are to be masked, because masking uses the results of the last scan.
    fn scan_before_masking(&self, request: &ExportRequest, job: &Job) -> ApiResult<()> {
        if request.cover {
            SensitiveValues::new(self.context).scan_pending(false, job)?;
        }
        Ok(())
    }

    fn scope(&self, request: &ExportRequest, options: &ExportOptions) -> ApiResult<Scope> {
        let signer = options.signer.clone().or_else(|| request.sign.then(|| self.context.vault.exporter().signer()));
        let mut query = filter::query(&self.context.vault, &request.filter)?;
        // In an export, `since` is compared with the last change of a record, so that older records that were edited
        // are exported too.
        let since = query.since.take().and_then(Timestamp::from_micros);
        let write_options = WriteOptions {
            everything: false,
            since,
            base: options.base.clone(),
            signer,
            verifier: None,
            passphrase: options.passphrase.clone(),
            encoding: options.encoding.clone(),
            version: options.version.clone(),
            source_version: options.source_version.clone(),
            strip_identifiers: options.strip_identifiers,
            artifact_threshold: options.artifact_threshold,
            format_options: options.selector.clone().map(FormatOptions::new).unwrap_or_default(),
        };
        Ok(Scope {
            query,
            everything: filter::is_unfiltered(&request.filter),
            cover: request.cover,
            writing: write_options,
        })
    }
}

/// Options of an export that are not part of the request. Requests are stored with reports, but these options may
/// contain keys and passphrases.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The key that signs the export instead of the vault's key.
    pub signer: Option<Arc<dyn Signer>>,
    /// The passphrase with which the export is encrypted.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// The export on which a delta or an incremental export is based.
    pub base: Option<PathBuf>,
    /// The encoding: `json`, `yaml` or `jsonl`. For MIF also `mem0`, `generic` or `markdown`, which contain only
    /// memories.
    pub encoding: Option<String>,
    /// Version of the format to write.
    pub version: Option<String>,
    /// In a conversion to the same format, the version of the input. The export has this version if the program can
    /// write it and `version` is None.
    pub source_version: Option<String>,
    /// True to leave out the identifiers of platforms and accounts.
    pub strip_identifiers: bool,
    /// Workspace files of fewer bytes than this are embedded in an `.alf`. Larger ones are only listed.
    pub artifact_threshold: Option<u64>,
    /// The entries to export, if the format can select entries.
    pub selector: Option<crate::portable::Selector>,
}

/// Replaces the format name in the request with the format's id, because the command line also accepts other names.
fn with_format_id(request: &ExportRequest) -> ExportRequest {
    let format = by_id(&request.format).map_or_else(|| request.format.clone(), |format| format.id().to_owned());
    ExportRequest { format, ..request.clone() }
}

/// Refuses a request that the format cannot fulfil, because the person would otherwise rely on a missing signature or
/// encryption, or mistake a full export for a partial one.
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
    if options.base.is_some() && !capabilities.accepts_base {
        return refuse("be based on an earlier export");
    }
    if options.encoding.is_some() && !capabilities.encodings {
        return refuse("be written in another encoding");
    }
    if options.selector.is_some() && !capabilities.selects_entries {
        return refuse("be limited to selected entries");
    }
    Ok(())
}

fn export_result(
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
        note: by_id(&request.format).and_then(|format| format.export_note()).map(str::to_owned),
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
            export_result(&request, Path::new("x"), &report, 0, String::new(), Some(&validation))
        };
        let out = export_with(vec![finding("checksum"), finding("count")]);
        assert!(!out.validated);
        assert_eq!((out.first_error.map(|first| first.code).as_deref(), out.errors), (Some("checksum"), 2));
        let valid = export_with(Vec::new());
        assert!(valid.validated && valid.first_error.is_none() && valid.errors == 0);
    }
}
