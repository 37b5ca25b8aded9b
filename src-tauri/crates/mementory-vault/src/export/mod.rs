//! Export: collect → write → read back → validate → rename. Nothing is at its final name before it was validated.
mod evidence;
mod export_cleanup;
pub(crate) mod export_reader;
mod signer;
pub(crate) mod source;

pub use evidence::{EvidenceMade, EvidenceOrder, EvidenceParts};
pub use export_cleanup::Written;

use crate::{VaultError, VaultResult, context::Context, query::ListQuery, scratch::Scratch};
use mementory_formats::{
    Catalog, Detection, Format, FormatError, Passphrase, Validation, WriteOptions, WriteReport, by_id, detect,
};
use mementory_model::{Limits, Timestamp};
use mementory_store::unwrap_format;
use source::VaultSource;
use std::{
    path::{Path, PathBuf},
    sync::{atomic::AtomicBool, atomic::Ordering},
};

/// What goes out.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Filters; `limit`, `sort` and `cursor` are not looked at.
    pub query: ListQuery,
    /// True when nothing is filtered.
    pub everything: bool,
    /// Replace sensitive values by `[REDACTED:class]` on the way out, those left aside that the person ignores. What is
    /// inside attached files is not looked at.
    pub cover: bool,
    /// How to write; `everything` in it is not looked at.
    pub writing: WriteOptions,
}

impl Scope {
    fn options(&self) -> WriteOptions {
        WriteOptions { everything: self.everything, ..self.writing.clone() }
    }
}

/// What was written.
#[derive(Debug, Clone)]
pub struct ExportOutcome {
    /// Where.
    pub path: PathBuf,
    /// Files beside it that belong to it.
    pub beside: Vec<PathBuf>,
    /// Writer's report.
    pub report: WriteReport,
    /// Different sensitive values that were covered.
    pub covered: u32,
    /// Bytes written.
    pub bytes: u64,
    /// The format's digest, or SHA-256 of the file.
    pub digest: String,
    /// Result of the validation that followed.
    pub validation: Validation,
    /// What is on the disk now.
    pub written: Written,
}

/// Exports, previews of them, and Evidence Packs.
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
    /// Writes `scope` in a format to `out`.
    ///
    /// # Errors
    /// `Exists` unless `overwrite`, `NotAnExport` when something else would be replaced, `Usage` for a place inside the
    /// vault; format and I/O errors, after which nothing is at `out` that was not there before.
    /// An output that does not validate is kept and said to be so in `validation`: lines that came in with faults of
    /// their own go back out as they came, and whether to keep the file is the person's choice.
    #[expect(clippy::too_many_arguments, reason = "one entry point")]
    pub fn export(
        &self,
        format: &str,
        out: &Path,
        scope: &Scope,
        overwrite: bool,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(&str, u64),
    ) -> VaultResult<ExportOutcome> {
        let writer = writer(format)?;
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
        let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The partial file is next to the target, so that the rename stays on one file system.
        let holder = tempfile::Builder::new()
            .prefix(".mementory-partial-")
            .tempdir_in(parent)
            .map_err(|e| VaultError::io(&place, e))?;
        let partial = holder
            .path()
            .join(out.file_name().ok_or_else(|| VaultError::Usage("The export needs a file name.".into()))?);
        progress("write", 0);
        let (report, covered) = self.write_to(writer, &partial, scope, now, cancel, progress)?;
        progress("validate", 0);
        let beside = companions(holder.path(), &partial).map_err(|e| VaultError::io(&place, e))?;
        let target = |companion: &Path| parent.join(companion.file_name().unwrap_or_default());
        if let Some(there) = beside.iter().map(|c| target(c)).find(|t| t.symlink_metadata().is_ok()) {
            return Err(VaultError::Exists(there.display().to_string()));
        }
        let (validation, mut digest) = check(writer, &partial, &beside, scope.writing.passphrase.as_deref())?;
        if !report.digest.is_empty() {
            digest.clone_from(&report.digest);
        }
        let mut bytes = sync_tree(&partial).map_err(|e| VaultError::io(&place, e))?;
        for companion in &beside {
            bytes += sync_tree(companion).map_err(|e| VaultError::io(&place, e))?;
        }
        // The file itself last: it is never there without what it names.
        for companion in &beside {
            std::fs::rename(companion, target(companion)).map_err(|e| VaultError::io(&place, e))?;
        }
        put_in_place(&partial, out, holder.path()).map_err(|e| VaultError::io(&place, e))?;
        let roots = std::iter::once(out.to_path_buf()).chain(beside.iter().map(|c| target(c))).collect();
        let written = Written::of(roots).map_err(|e| VaultError::io(&place, e))?;
        let encrypted = scope.writing.passphrase.is_some();
        let detail = audit_detail(report.by_kind.values().sum(), &validation, encrypted, covered);
        self.context.store.write(|tx| {
            mementory_store::audit::append(tx, &self.context.keys, now, "export", format, &detail)?;
            crate::file_locations::exported_to(tx, out)
        })?;
        let beside = beside.iter().map(|companion| target(companion)).collect();
        Ok(ExportOutcome { path: out.to_path_buf(), beside, report, covered, bytes, digest, validation, written })
    }

    /// Takes away an export that was just written, and says so in the log.
    ///
    /// # Errors
    /// `ChangedSince`: then nothing is removed; I/O.
    pub fn remove_export(&self, written: &Written, format: &str, now: Timestamp) -> VaultResult<()> {
        written.remove()?;
        self.context
            .store
            .write(|tx| mementory_store::audit::append(tx, &self.context.keys, now, "remove_export", format, ""))
    }

    /// What an export would hold and lose, and how many values it would cover. The writer runs without writing.
    pub fn export_preview(
        &self,
        format: &str,
        scope: &Scope,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(&str, u64),
    ) -> VaultResult<(WriteReport, u32)> {
        let writer = writer(format)?;
        let mut source = VaultSource::new(self.context, Some(writer), scope, now, cancel, progress)?;
        let mut report = writer.plan(&mut source, &scope.options()).map_err(unwrap_format)?;
        source.left_behind(&mut report.losses)?;
        source.withheld(&mut report.withheld);
        Ok((report, source.covered()))
    }

    /// What an export would write, as a text to paste somewhere, with what the log keeps of it when it is taken along
    /// ([`record_copied_text`](crate::FileLocations::record_copied_text)); nothing else is kept.
    ///
    /// # Errors
    /// `Usage` for a format that is not written, `not_supported` for one that is no such text.
    pub fn export_text(
        &self,
        format: &str,
        scope: &Scope,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(&str, u64),
    ) -> VaultResult<(String, String)> {
        let writer = writer(format)?;
        let mut source = VaultSource::new(self.context, Some(writer), scope, now, cancel, progress)?;
        let (text, report) = writer.text(&mut source).map_err(unwrap_format)?;
        let records: u64 = report.by_kind.values().sum();
        let covered = match source.covered() {
            0 => String::new(),
            n => format!(", {n} covered"),
        };
        Ok((text, format!("{records} records{covered}")))
    }

    fn write_to(
        &self,
        writer: &'static dyn Format,
        partial: &Path,
        scope: &Scope,
        now: Timestamp,
        cancel: &AtomicBool,
        progress: &dyn Fn(&str, u64),
    ) -> VaultResult<(WriteReport, u32)> {
        let mut source = VaultSource::new(self.context, Some(writer), scope, now, cancel, progress)?;
        let mut report = writer.write(&mut source, partial, &scope.options()).map_err(unwrap_format)?;
        source.left_behind(&mut report.losses)?;
        source.withheld(&mut report.withheld);
        if cancel.load(Ordering::Relaxed) {
            return Err(VaultError::Cancelled);
        }
        Ok((report, source.covered()))
    }
}

fn writer(format: &str) -> VaultResult<&'static dyn Format> {
    by_id(format)
        .filter(|f| f.capabilities().write)
        .ok_or_else(|| VaultError::Usage(format!("Mementory does not write the format {format}.")))
}

/// Whether `path` may be replaced by a new export: a file by a file; a folder only if it is empty or an export of the
/// same format, since all that is in it goes.
fn is_former_export(writer: &dyn Format, path: &Path) -> bool {
    let Ok(kind) = path.symlink_metadata().map(|m| m.file_type()) else { return false };
    if !writer.capabilities().folder || !kind.is_dir() {
        return !writer.capabilities().folder && kind.is_file();
    }
    let Ok(entries) = std::fs::read_dir(path) else { return false };
    let kinds: Vec<_> = entries.map(|e| e.and_then(|e| e.file_type()).ok()).collect();
    // A folder that only holds folders may hold an export among other things; it is none itself.
    let own_files = kinds.iter().any(|k| k.is_some_and(|k| k.is_file()));
    kinds.is_empty() || own_files && recognised(writer, path).unwrap_or(false)
}

/// True when all of a folder is one export of this format.
fn recognised(writer: &dyn Format, path: &Path) -> Result<bool, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None)?;
    let found = detect(&catalog, &limits, None)?;
    Ok(found.sources.len() == 1 && found.sources.iter().all(|s| s.format == writer.id()) && found.unknown.is_empty())
}

/// What a writer put beside its file (conversations of a memory store).
fn companions(holder: &Path, partial: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(holder)? {
        let path = entry?.path();
        if path != partial {
            out.push(path);
        }
    }
    out.sort();
    Ok(out)
}

/// Reads back what was written, with the same detection and validator that any other file gets.
fn check(
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
    let validation = writer.validate(&catalog, source, &limits, &[]).map_err(unwrap_format)?;
    let digest =
        if path.is_file() { mementory_formats::file_sha256(path).map_err(unwrap_format)? } else { String::new() };
    Ok((validation, digest))
}

/// An export in the clear is for its owner only.
#[cfg(unix)]
fn private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn private(_path: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Makes a file or folder durable and private; returns its size.
fn sync_tree(path: &Path) -> std::io::Result<u64> {
    private(path)?;
    if path.is_file() {
        let file = std::fs::File::open(path)?;
        file.sync_all()?;
        return Ok(file.metadata()?.len());
    }
    let mut sum = 0;
    let mut pending = vec![path.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                private(&path)?;
                let file = std::fs::File::open(&path)?;
                file.sync_all()?;
                sum += file.metadata()?.len();
            }
        }
        std::fs::File::open(&dir)?.sync_all()?;
    }
    Ok(sum)
}

/// Renames the finished export to its name; what stood there is set aside first and removed last.
fn put_in_place(partial: &Path, out: &Path, holder: &Path) -> std::io::Result<()> {
    if out.exists() {
        let aside = holder.join("replaced");
        std::fs::rename(out, &aside)?;
        if let Err(error) = std::fs::rename(partial, out) {
            std::fs::rename(&aside, out)?;
            return Err(error);
        }
        return Ok(());
    }
    std::fs::rename(partial, out)
}

/// What the log keeps of an export: how much, and how the file is. Neither its name nor where it lies.
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
    use super::{Validation, audit_detail};
    use mementory_formats::Finding;

    #[test]
    fn the_log_says_how_an_exported_file_is() {
        let plain = Validation::default();
        assert_eq!(audit_detail(1, &plain, false, 0), "1 records, valid");
        let mut signed = Validation::default();
        signed.signature.0 = true;
        assert_eq!(audit_detail(3589, &signed, true, 23), "3589 records, signed, encrypted, 23 covered, valid");
        let fault = Finding { code: "checksum".into(), place: "items".into(), message: "it differs".into() };
        signed.errors.push(fault);
        assert_eq!(audit_detail(2, &signed, false, 0), "2 records, signed, not valid");
    }
}
