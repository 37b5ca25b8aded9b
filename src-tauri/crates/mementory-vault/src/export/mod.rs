//! Export: collect → write → read back → validate → rename. No output gets its final name before it has been validated.
mod changed;
mod evidence;
mod export_cleanup;
pub(crate) mod export_reader;
mod partial_output;
mod signer;
pub(crate) mod source;

pub use evidence::{EvidencePackOptions, EvidenceParts, WrittenEvidencePack};
pub use export_cleanup::WrittenFiles;

use crate::{
    VaultError, VaultResult, applied::Applied, context::Context, failed_step::FailedStep, query::ListQuery,
    scratch::Scratch,
};
use mementory_formats::{
    Catalog, Detection, Finding, Format, FormatError, Passphrase, Validation, WriteOptions, WriteReport, by_id, detect,
    file_sha256, sha256,
};
use mementory_model::{Issue, Limits, Timestamp};
use mementory_store::unwrap_format;
use partial_output::{
    PartialOutput, companion_files, fsync_folder, move_companions_back, rename_companions, rename_to_final_name,
    sync_tree,
};
use source::VaultSource;
use std::{
    path::{Path, PathBuf},
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// The records to export, and the options of the export.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Filters. `limit`, `sort` and `cursor` are ignored. `since` is compared with the time of a record. To export only
    /// records that changed since then, set `since` in `writing` instead.
    pub query: ListQuery,
    /// True if all records are exported.
    pub everything: bool,
    /// True if sensitive values are replaced with `[REDACTED:class]`, except those that the person chose to ignore. The
    /// content of attached files is not searched.
    pub cover: bool,
    /// Options of the writer. The value of `everything` in them is ignored.
    pub writing: WriteOptions,
}

/// One run of an export: the scope and the time, a flag that cancels the run, and a progress callback.
#[derive(Clone, Copy)]
pub struct ExportRun<'a> {
    /// The records to export, and the options of the export.
    pub scope: &'a Scope,
    /// Time of the export.
    pub now: Timestamp,
    /// Cancels the export when set.
    pub cancel: &'a AtomicBool,
    /// Receives the stage (`write`, `validate`) and the number of records read so far.
    pub progress: &'a dyn Fn(&str, u64),
}

impl Scope {
    fn write_options(&self) -> WriteOptions {
        let verifier = Some(std::sync::Arc::new(signer::SignatureVerifier) as _);
        WriteOptions { everything: self.everything, verifier, ..self.writing.clone() }
    }
}

/// Result of an export.
#[derive(Debug, Clone)]
pub struct ExportOutcome {
    /// Path of the export.
    pub path: PathBuf,
    /// Companion files next to the export.
    pub beside: Vec<PathBuf>,
    /// Report of the writer.
    pub report: WriteReport,
    /// Number of different sensitive values that were masked.
    pub covered: u32,
    /// Number of bytes written.
    pub bytes: u64,
    /// The digest that the format defines. If the format defines none, the SHA-256 of the file or, for a folder, of the
    /// list of its files.
    pub digest: String,
    /// Result of validating the export after it was written.
    pub validation: Validation,
    /// Files and folders that were written.
    pub written: WrittenFiles,
}

/// Writes and previews exports, and writes Evidence Packs.
#[derive(Clone, Copy)]
pub struct Exporter<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Exporter<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Exporter<'_> {
    /// Exports the records of the run's scope in a format to `out`.
    ///
    /// # Errors
    /// `Exists` without `overwrite`, or if a companion file would replace another file; `NotAnExport` if something
    /// other than an export would be replaced; `Usage` for a place inside the vault; format and I/O errors, which leave
    /// `out` as it was before. An export that does not validate is kept, and `validation` contains the errors. They may
    /// come from lines that already had errors when they were imported, since such lines are exported unchanged. The
    /// person decides whether to keep the file.
    pub fn export(
        &self,
        format: &str,
        out: &Path,
        overwrite: bool,
        run: ExportRun<'_>,
    ) -> VaultResult<Applied<ExportOutcome>> {
        let passphrase = run.scope.writing.passphrase.as_deref();
        let writer = writer_for(format)?;
        let place = out.display().to_string();
        self.context.check_outside(out)?;
        if out.symlink_metadata().is_ok() {
            if !overwrite {
                return Err(VaultError::Exists(place));
            }
            if !is_former_export(writer, out) {
                return Err(VaultError::NotAnExport(place));
            }
        }
        let PartialOutput { folder: temp_folder, path: partial, parent } = PartialOutput::for_output(out)?;
        (run.progress)("write", 0);
        let (report, covered) = self.write_to(writer, &partial, run)?;
        (run.progress)("validate", 0);
        let beside = companion_files(temp_folder.path(), &partial).map_err(|e| VaultError::io(&place, e))?;
        let target = |companion: &Path| parent.join(companion.file_name().unwrap_or_default());
        if let Some(existing) = beside.iter().map(|c| target(c)).find(|t| t.symlink_metadata().is_ok()) {
            return Err(VaultError::Exists(existing.display().to_string()));
        }
        let (validation, mut digest) = read_back(writer, &partial, &beside, passphrase)?;
        if !report.digest.is_empty() {
            digest.clone_from(&report.digest);
        }
        let mut bytes = sync_tree(&partial).map_err(|e| VaultError::io(&place, e))?;
        for companion in &beside {
            bytes += sync_tree(companion).map_err(|e| VaultError::io(&place, e))?;
        }
        // The export itself is renamed last, so that it never exists without the files that it names.
        rename_companions(&beside, &target)
            .and_then(|()| rename_to_final_name(&partial, out, temp_folder.path()))
            .inspect_err(|_| move_companions_back(&beside, &target))
            .map_err(|e| VaultError::io(&place, e))?;
        let roots = std::iter::once(out.to_path_buf()).chain(beside.iter().map(|c| target(c))).collect();
        // The files have their final names, so the export has succeeded whatever fails from here on. If the state of
        // its files cannot be read, the export can no longer be removed.
        let written = WrittenFiles::read_state(roots);
        let is_read = written.is_ok();
        let written = written.unwrap_or_else(|_| WrittenFiles::unknown(out));
        let is_synced = fsync_folder(&parent);
        let detail = audit_detail(report.by_kind.values().sum(), &validation, passphrase.is_some(), covered);
        let logged = self.context.store.write(|tx| {
            mementory_store::audit::append(tx, &self.context.keys, run.now, "export", format, &detail)?;
            crate::file_locations::store_export_path(tx, out)
        });
        let beside = beside.iter().map(|companion| target(companion)).collect();
        let outcome =
            ExportOutcome { path: out.to_path_buf(), beside, report, covered, bytes, digest, validation, written };
        Ok(Applied::new(outcome)
            .warn_if(logged.is_err(), FailedStep::AuditLog)
            .warn_if(!is_read, FailedStep::ReadBack)
            .warn_if(!is_synced, FailedStep::Sync))
    }

    /// Removes an export that was just written, and logs the removal.
    ///
    /// # Errors
    /// `ChangedSince`, in which case nothing is removed; I/O.
    pub fn remove_export(&self, written: &WrittenFiles, format: &str, now: Timestamp) -> VaultResult<Applied<()>> {
        written.remove()?;
        let log = |tx: &rusqlite::Transaction<'_>| {
            mementory_store::audit::append(tx, &self.context.keys, now, "remove_export", format, "")
        };
        Ok(Applied::new(()).then(FailedStep::AuditLog, |()| self.context.store.write(log)))
    }

    /// Previews an export: its content, its losses, and the number of values that it would mask. Runs the writer
    /// without writing anything.
    pub fn export_preview(&self, format: &str, run: ExportRun<'_>) -> VaultResult<(WriteReport, u32)> {
        let writer = writer_for(format)?;
        let mut source = VaultSource::new(self.context, Some(writer), run)?;
        let report = writer.plan(&mut source, &run.scope.write_options()).map_err(unwrap_format)?;
        completed_report(report, &mut source, run.scope)
    }

    /// Returns the text that an export would write, for the clipboard, and the detail for its log entry. Stores
    /// nothing. Once the text is copied, [`record_copied_text`](crate::FileLocations::record_copied_text) writes the
    /// log entry.
    ///
    /// # Errors
    /// `Usage` for a format that is not written, `not_supported` for a format that cannot be copied as text.
    pub fn export_text(&self, format: &str, run: ExportRun<'_>) -> VaultResult<(String, String)> {
        let writer = writer_for(format)?;
        let mut source = VaultSource::new(self.context, Some(writer), run)?;
        let (text, report) = writer.text(&mut source).map_err(unwrap_format)?;
        let records: u64 = report.by_kind.values().sum();
        let covered = match source.masked_count() {
            0 => String::new(),
            n => format!(", {n} covered"),
        };
        Ok((text, format!("{records} records{covered}")))
    }

    fn write_to(
        &self,
        writer: &'static dyn Format,
        partial: &Path,
        run: ExportRun<'_>,
    ) -> VaultResult<(WriteReport, u32)> {
        let mut source = VaultSource::new(self.context, Some(writer), run)?;
        let report = writer.write(&mut source, partial, &run.scope.write_options()).map_err(unwrap_format)?;
        let completed = completed_report(report, &mut source, run.scope)?;
        if run.cancel.load(Ordering::Relaxed) {
            return Err(VaultError::Cancelled);
        }
        Ok(completed)
    }
}

/// Adds to a writer's report the losses and the withheld records that only the source knows. Also returns the number of
/// values that were masked.
fn completed_report(
    mut report: WriteReport,
    source: &mut VaultSource<'_>,
    scope: &Scope,
) -> VaultResult<(WriteReport, u32)> {
    check_version(&report, scope)?;
    source.report_unexported(&mut report.losses)?;
    source.add_withheld_counts(&mut report.withheld);
    Ok((report, source.masked_count()))
}

fn writer_for(format: &str) -> VaultResult<&'static dyn Format> {
    by_id(format)
        .filter(|f| f.capabilities().write)
        .ok_or_else(|| VaultError::Usage(format!("Mementory does not write the format {format}.")))
}

/// Returns an error if the person requested a version other than the version that was written. A writer that supports
/// only one version ignores the request. A request for "1" also accepts "1.0".
fn check_version(report: &WriteReport, scope: &Scope) -> VaultResult<()> {
    let Some(wanted) = &scope.writing.version else { return Ok(()) };
    let is_written =
        report.version.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if is_written {
        return Ok(());
    }
    let version = wanted.chars().take(20).collect();
    Err(VaultError::Format(FormatError::Version { place: "export".into(), version }))
}

/// True if `path` may be replaced by a new export. A file may be replaced by any export that is a file. A folder may be
/// replaced only if it is empty or an export of the same format, since everything in it is removed.
fn is_former_export(writer: &dyn Format, path: &Path) -> bool {
    let Ok(kind) = path.symlink_metadata().map(|m| m.file_type()) else { return false };
    if !writer.capabilities().folder || !kind.is_dir() {
        return !writer.capabilities().folder && kind.is_file();
    }
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    let file_types: Vec<_> = entries.map(|e| e.and_then(|e| e.file_type()).ok()).collect();
    // A folder that contains only folders may have an export inside it, but is not one itself.
    let has_files = file_types.iter().any(|k| k.is_some_and(|k| k.is_file()));
    file_types.is_empty() || has_files && is_whole_export(writer, path).unwrap_or(false)
}

/// True if the whole content of a folder is one export of this format.
fn is_whole_export(writer: &dyn Format, path: &Path) -> Result<bool, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None)?;
    let detection = detect(&catalog, &limits, None)?;
    Ok(detection.sources.len() == 1
        && detection.sources.iter().all(|s| s.format == writer.id())
        && detection.unknown.is_empty())
}

/// Reads the export back and validates it like any other file. If an import would refuse an archive because of a fault,
/// this fault counts as an error too. Returns the result of the validation, and the digest of what was written.
fn read_back(
    writer: &dyn Format,
    path: &Path,
    beside: &[PathBuf],
    passphrase: Option<&dyn Passphrase>,
) -> VaultResult<(Validation, String)> {
    let limits = Limits::default();
    let paths: Vec<PathBuf> = std::iter::once(path.to_path_buf()).chain(beside.iter().cloned()).collect();
    let scratch = Scratch(path.parent().unwrap_or(Path::new(".")).to_path_buf());
    let catalog = Catalog::open_with(&paths, &limits, Some(&scratch), passphrase).map_err(unwrap_format)?;
    let detection: Detection = detect(&catalog, &limits, Some(writer.id())).map_err(unwrap_format)?;
    let source = detection.sources.first().ok_or_else(|| {
        VaultError::Format(FormatError::invalid(
            "export_not_valid",
            writer.id(),
            "what was written is not recognised as its own format",
        ))
    })?;
    let mut validation = writer.validate_with(&catalog, source, &limits, &[], passphrase).map_err(unwrap_format)?;
    validation.errors.extend(source.listing_faults(&catalog).into_iter().map(|fault| {
        let Issue { code, place, message } = fault.issue.clone();
        Finding { code, place, message }
    }));
    Ok((validation, digest_of(path)?))
}

/// Returns the SHA-256 of a file. For a folder, the SHA-256 of the list of its files as `sha256sum` prints it, sorted
/// by path.
fn digest_of(path: &Path) -> VaultResult<String> {
    if path.is_file() {
        return file_sha256(path).map_err(unwrap_format);
    }
    let io = |e| VaultError::io(path.display().to_string(), e);
    let (mut files, mut pending) = (Vec::new(), vec![path.to_path_buf()]);
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).map_err(io)? {
            let found = entry.map_err(io)?.path();
            if found.is_dir() {
                pending.push(found);
                continue;
            }
            let name = found.strip_prefix(path).unwrap_or(&found).to_string_lossy().replace('\\', "/");
            files.push((name, file_sha256(&found).map_err(unwrap_format)?));
        }
    }
    files.sort();
    let mut lines = String::new();
    for (name, digest) in &files {
        lines += &format!("{digest}  {name}\n");
    }
    sha256(&mut lines.as_bytes(), "export").map_err(unwrap_format)
}

/// Returns the detail of an export's log entry: the number of records, and properties of the file without its name and
/// path.
fn audit_detail(records: u64, validation: &Validation, encrypted: bool, covered: u32) -> String {
    let mut parts = vec![format!("{records} records")];
    parts.extend(validation.signature.0.then(|| "signed".to_owned()));
    parts.extend(encrypted.then(|| "encrypted".to_owned()));
    parts.extend((covered > 0).then(|| format!("{covered} covered")));
    parts.push(if validation.errors.is_empty() { "valid" } else { "not valid" }.to_owned());
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{Finding, Validation, audit_detail, by_id, read_back};
    use std::{io::Write, path::Path};

    #[test]
    fn the_log_entry_has_the_properties_of_the_exported_file() {
        let plain = Validation::default();
        assert_eq!(audit_detail(1, &plain, false, 0), "1 records, valid");
        let mut signed = Validation::default();
        signed.signature.0 = true;
        assert_eq!(audit_detail(3589, &signed, true, 23), "3589 records, signed, encrypted, 23 covered, valid");
        let finding = Finding { code: "checksum".into(), place: "items".into(), message: "it differs".into() };
        signed.errors.push(finding);
        assert_eq!(audit_detail(2, &signed, false, 0), "2 records, signed, not valid");
    }

    fn write_zip(path: &Path, entries: &[(&str, &[u8])]) {
        let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
        for (name, bytes) in entries {
            zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
    }

    #[test]
    fn an_export_that_an_import_would_refuse_is_not_valid() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.alf");
        let manifest = br#"{"alf_version":"1.0.0","created_at":"2026-01-01T00:00:00Z","agent":{"id":
            "0197f2a0-1111-7000-8000-00000000000a","name":"n","source_runtime":"openclaw"},"layers":{}}"#;
        for (name, expected) in [("raw/openclaw/b.md", None), ("raw/openclaw/A.md", Some("container_similar_names"))] {
            let files: [(&str, &[u8]); 3] = [("manifest.json", manifest), ("raw/openclaw/a.md", b"a"), (name, b"b")];
            write_zip(&path, &files);
            let (validation, _) = read_back(by_id("alf").unwrap(), &path, &[], None).unwrap();
            assert_eq!(validation.errors.first().map(|found| found.code.as_str()), expected, "{name}");
        }
    }
}
