//! Import, undo, export.
use super::{
    Session, is_there, now,
    progress::{Gate, progress},
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
    /// Read, plan and (unless `dry_run`) commit one batch.
    pub fn import(&self, request: &ImportRequest, dry_run: bool, job: &Job) -> ApiResult<ImportReport> {
        self.import_with(request, None, dry_run, job)
    }

    /// The same, with a passphrase for encrypted input. The log is told of one that failed, without a name.
    pub fn import_with(
        &self,
        request: &ImportRequest,
        passphrase: Option<Arc<dyn Passphrase>>,
        dry_run: bool,
        job: &Job,
    ) -> ApiResult<ImportReport> {
        // Of what was asked for only a format that there is: anything may stand there.
        let mut format = request.format.clone().filter(|id| by_id(id).is_some()).unwrap_or_default();
        let done = self.read_in(request, passphrase, dry_run, job, &mut format);
        if let Err(error) = &done
            && !dry_run
            && error.code != "cancelled"
        {
            let _turn = self.changing();
            // What went wrong is the answer, also where the log cannot be told of it.
            let told = FailedImport {
                paths: if request.text.is_some() { Vec::new() } else { request.paths.clone() },
                code: error.code.into(),
                message: error.message.clone(),
                details: error.details.clone(),
            };
            let _ = self.vault.import_failed(&format, told, now());
        }
        done
    }

    fn read_in(
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
            return Err(nothing(&catalog, &detection, request));
        }
        if let [source] = detection.sources.as_slice() {
            source.format.clone_into(format);
        }
        let known = self.known_keys()?;
        let Signers { keys, forged, mut doubts } = signers(&catalog, &detection, &limits, &|key| known.contains(key))?;
        doubts.extend(self.unknown_bases(&catalog, &detection, &limits)?);
        let gate = Gate::new(job);
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
            notes: &doubts,
            limits,
            now: now(),
            passphrase,
            cancel: &cancel,
            progress: &|stage, done, total, records| gate.report(stage, done, total, records),
        };
        let _turn = (!dry_run).then(|| self.changing());
        let outcome = self.vault.import(&catalog, &detection, &options)?;
        if !dry_run {
            self.pin_signers(keys);
            self.imported_from(&request.paths);
        }
        let mut out = report_view(&outcome);
        out.sources = files::describe(&catalog, &detection);
        Ok(out)
    }

    /// Increments whose base is neither in the vault nor beside them, or that were taken in before.
    fn unknown_bases(&self, catalog: &Catalog, found: &Detected, limits: &Limits) -> ApiResult<Vec<Issue>> {
        let of_pam = found.sources.iter().filter(|source| source.format == "pam");
        // What cannot be read is told by the import itself.
        let exports: Vec<pam::Export> =
            of_pam.filter_map(|source| pam::export_of(catalog, source, limits).ok().flatten()).collect();
        if !exports.iter().any(|export| export.incremental) {
            return Ok(Vec::new());
        }
        let kept = self.vault.kept_parts("pam", pam::FRAME, limits.side_file_bytes)?;
        let kept: HashSet<String> = kept.iter().filter_map(|frame| pam::id_of_frame(frame)).collect();
        let mut out = Vec::new();
        for delta in exports.iter().filter(|export| export.incremental) {
            let beside = exports.iter().any(|other| other.id == delta.base && other.place != delta.place);
            if delta.base.as_ref().is_some_and(|base| !kept.contains(base)) && !beside {
                let message = "this holds only what changed since an export that this vault has not taken in; \
                               what did not change is not in it";
                out.push(Issue::new("delta_base_unknown", format!("{}/base_export_id", delta.place), message));
            }
            if delta.id.as_ref().is_some_and(|id| kept.contains(id)) {
                let message = "this vault has taken in this increment before";
                out.push(Issue::new("delta_taken_before", format!("{}/export_id", delta.place), message));
            }
        }
        Ok(out)
    }

    /// The batches, newest first.
    pub fn imports(&self) -> ApiResult<Batches> {
        let places = self.vault.whereabouts()?.imports;
        let batches = self
            .vault
            .batches()?
            .into_iter()
            .map(|b| BatchInfo {
                file: places.get(&b.uid).and_then(|(_, paths)| paths.iter().find(|path| is_there(path)).cloned()),
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

    /// Imports that failed, by their entry in the log: where their files lay, and what was said at the time.
    pub fn failed_imports(&self) -> ApiResult<FailedImports> {
        let all = self.vault.whereabouts()?.failed.into_iter();
        let failed = all.map(|(seq, told)| crate::types::FailedImport {
            seq: u32::try_from(seq).unwrap_or(u32::MAX),
            paths: told.paths,
            error: ErrorBody { code: told.code, message: told.message, details: told.details },
        });
        Ok(FailedImports { failed: failed.collect() })
    }

    /// The report kept with a batch.
    pub fn import_report(&self, batch: &str) -> ApiResult<ImportReport> {
        let found = self.vault.batch_report(batch).map_err(|error| match error {
            mementory_vault::VaultError::NotFound { .. } => no_such_import(batch),
            other => other.into(),
        })?;
        let report = serde_json::from_str(&found)
            .map_err(|_| ApiError::new("vault_damaged", 5, "The report of this import is damaged."))?;
        Ok(report_view(&report))
    }

    /// Take a batch back whole.
    pub fn undo_import(&self, batch: &str, _job: &Job) -> ApiResult<Undone> {
        let _turn = self.changing();
        Ok(Undone { removed: self.vault.undo_import(batch, now())? })
    }

    /// What an export would hold and lose; nothing is written.
    pub fn export_preview(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        self.export_preview_with(request, &ExportMeans::default(), job)
    }

    /// The same, with means.
    pub fn export_preview_with(&self, request: &ExportRequest, means: &ExportMeans, job: &Job) -> ApiResult<Exported> {
        able(request, means)?;
        self.look_before(request, job)?;
        let _turn = self.exporting();
        let cancel = job.cancel_flag();
        let scope = self.scope(request, means)?;
        let gate = Gate::new(job);
        let told = |stage: &str, n| gate.report(stage, n, 0, n);
        let (report_out, covered) = self.vault.export_preview(&request.format, &scope, now(), &cancel, &told)?;
        Ok(Exported { covered, ..exported(request, Path::new(&request.out), &report_out, 0, String::new(), None) })
    }

    /// The text of an export, to paste somewhere else; nothing is written.
    ///
    /// # Errors
    /// `not_supported` for a format that is no such text.
    pub fn export_text(&self, request: &ExportRequest, job: &Job) -> ApiResult<String> {
        let means = ExportMeans::default();
        able(request, &means)?;
        self.look_before(request, job)?;
        let _turn = self.exporting();
        let cancel = job.cancel_flag();
        let scope = self.scope(request, &means)?;
        let gate = Gate::new(job);
        let told = |stage: &str, n| gate.report(stage, n, 0, n);
        let (text, detail) = self.vault.export_text(&request.format, &scope, now(), &cancel, &told)?;
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = Some((request.format.clone(), detail));
        Ok(text)
    }

    /// Tell the log that the text which was made last was taken along. Told once; without a text it is told nothing.
    pub fn text_taken(&self) -> ApiResult<()> {
        let _turn = self.changing();
        let made = self.text.lock().unwrap_or_else(PoisonError::into_inner).take();
        made.map_or(Ok(()), |(format, detail)| Ok(self.vault.text_taken(&format, &detail, now())?))
    }

    /// Write, read back, validate.
    pub fn export(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        self.export_with(request, &ExportMeans::default(), job)
    }

    /// The same, signed, encrypted, incremental …
    ///
    /// # Errors
    /// Besides those of the writer: `usage` for a time that is none.
    pub fn export_with(&self, request: &ExportRequest, means: &ExportMeans, job: &Job) -> ApiResult<Exported> {
        if request.out.trim().is_empty() {
            return Err(ApiError::new("usage", 2, "Choose where to save the export."));
        }
        able(request, means)?;
        self.look_before(request, job)?;
        let (cancel, gate) = (job.cancel_flag(), Gate::new(job));
        let _turn = self.exporting();
        let writing = self.writing(Path::new(&request.out));
        let outcome = self.vault.export(
            &request.format,
            Path::new(&request.out),
            &self.scope(request, means)?,
            request.overwrite,
            now(),
            &cancel,
            &|stage, n| gate.report(stage, n, 0, n),
        )?;
        writing.done(std::iter::once(&outcome.path).chain(&outcome.beside));
        let mut out =
            exported(request, &outcome.path, &outcome.report, outcome.bytes, outcome.digest, Some(&outcome.validation));
        out.covered = outcome.covered;
        if out.signature.present {
            // Said of what is on the disk now, not of what was to be written.
            let signed_by = files::signed_by(&outcome.path, means.passphrase.as_deref())?;
            out.signature.valid = Some(!signed_by.is_empty());
            out.signature.key = signed_by.first().map(hex::encode).or(out.signature.key);
        }
        let faulty = (!out.validated).then(|| (outcome.written, request.format.clone()));
        *self.faulty.lock().unwrap_or_else(PoisonError::into_inner) = faulty;
        Ok(out)
    }

    /// Take away the export that was just written and did not pass its check: that one, and nothing else.
    ///
    /// # Errors
    /// `changed_since` when `path` is not that export or something there was changed since (nothing is removed then), `io`.
    pub fn remove_export(&self, path: &str) -> ApiResult<()> {
        let _turn = self.changing();
        let mut faulty = self.faulty.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((written, format)) = faulty.as_ref().filter(|(written, _)| written.path() == Path::new(path)) else {
            let message = "This is not the file that was just exported. Nothing was deleted.";
            return Err(ApiError::new("changed_since", 6, message).with("path", path));
        };
        self.vault.remove_export(written, format, now())?;
        *faulty = None;
        Ok(())
    }

    /// What is covered is known by the last look: it has to be of now.
    fn look_before(&self, request: &ExportRequest, job: &Job) -> ApiResult<()> {
        if request.cover {
            self.look(false, job)?;
        }
        Ok(())
    }

    fn scope(&self, request: &ExportRequest, means: &ExportMeans) -> ApiResult<Scope> {
        let signer = means.signer.clone().or_else(|| request.sign.then(|| self.vault.signer()));
        let query = self.query(&request.filter)?;
        let since = query.since.and_then(Timestamp::from_micros);
        let writing = WriteOptions {
            everything: false,
            since,
            base: means.base.clone(),
            signer,
            passphrase: means.passphrase.clone(),
            encoding: means.encoding.clone(),
            version: means.version.clone(),
            strip_identifiers: means.strip_identifiers,
            artifact_threshold: means.artifact_threshold,
            format_options: means.zaxy.clone().map(mementory_formats::FormatOptions::new).unwrap_or_default(),
        };
        Ok(Scope { query, everything: everything(&request.filter), cover: request.cover, writing })
    }
}

/// What an export may use besides the request: keys and passphrases never travel in a request.
#[derive(Debug, Clone, Default)]
pub struct ExportMeans {
    /// Sign with this key instead of the vault's own.
    pub signer: Option<Arc<dyn Signer>>,
    /// Encrypt.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// The export that a delta or an incremental export builds on.
    pub base: Option<PathBuf>,
    /// `json`, `yaml` or `jsonl`; for MIF also `mem0`, `generic` or `markdown`, which hold memories only.
    pub encoding: Option<String>,
    /// Version of the format.
    pub version: Option<String>,
    /// Leave identifiers of platforms and accounts out.
    pub strip_identifiers: bool,
    /// Files of a workspace below this many bytes travel inside an `.alf`, others are only named.
    pub artifact_threshold: Option<u64>,
    /// Which entries of a Zaxy bundle.
    pub zaxy: Option<crate::portable::Selector>,
}

/// Nobody may think that a file is encrypted or signed which is not.
fn able(request: &ExportRequest, means: &ExportMeans) -> ApiResult<()> {
    let Some(format) = by_id(&request.format) else { return Ok(()) };
    let able = format.capabilities();
    let refuse = |what: &str| {
        let message = format!("{} has no way to {what}. Nothing was written.", format.name());
        Err(ApiError::new("not_supported", 2, message))
    };
    if means.passphrase.is_some() && !able.encrypts {
        return refuse("encrypt what is in it");
    }
    if (request.sign || means.signer.is_some()) && !able.signs {
        return refuse("carry a signature");
    }
    Ok(())
}

pub(super) fn no_such_import(batch: &str) -> ApiError {
    ApiError::new("not_found", 1, "There is no such import.").with("id", batch)
}

/// True when nothing is filtered.
fn everything(filter: &Filter) -> bool {
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

/// Nothing was recognised, or an empty export: an error with the reason, nothing changed.
fn nothing(catalog: &Catalog, detection: &Detected, request: &ImportRequest) -> ApiError {
    let name = catalog.roots().first().cloned().unwrap_or_else(|| "This".into());
    if let Some((_, candidates)) = detection.ties.first() {
        let names: Vec<&str> = candidates.iter().map(|c| c.format).collect();
        return ApiError::new(
            "ambiguous",
            6,
            format!("{name} could be {}. Nothing was imported. Choose a format.", names.join(" or ")),
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
    let asked = request.format.as_deref().map(|f| format!(" as {f}")).unwrap_or_default();
    ApiError::new(
        "not_recognised",
        6,
        format!(
            "We don't know this kind of file{asked}. {name} was not imported. If you know what it is, choose a format."
        ),
    )
    .with("place", name)
}

fn outcome(k: &KindCounts) -> Outcome {
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
        total: outcome(&r.total()),
        by_kind: r.by_kind.iter().map(|(k, c)| (k.clone(), outcome(c))).collect(),
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
    fn what_a_check_found_first_is_handed_on() {
        let found = |code: &str| Found { code: code.into(), place: "a.jsonl:1".into(), message: "is not so".into() };
        let told = |errors: Vec<Found>| {
            let validation = Validation { errors, ..Validation::default() };
            let (request, report) = (ExportRequest::default(), WriteReport::default());
            exported(&request, Path::new("x"), &report, 0, String::new(), Some(&validation))
        };
        let out = told(vec![found("checksum"), found("count")]);
        assert!(!out.validated);
        assert_eq!((out.first_error.map(|first| first.code).as_deref(), out.errors), (Some("checksum"), 2));
        let fine = told(Vec::new());
        assert!(fine.validated && fine.first_error.is_none() && fine.errors == 0);
    }
}
