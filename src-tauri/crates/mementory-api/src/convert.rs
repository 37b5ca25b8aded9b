//! Converts a file from one format to another by importing it into a temporary vault and exporting that vault. The
//! vault is encrypted with a random passphrase that is never stored, and is removed at the end. A conversion therefore
//! preserves exactly what an import followed by an export preserves. The ids in the output depend only on the input, so
//! that two conversions of the same file give the same bytes, apart from the time of writing. If values are masked or
//! identifiers are removed, the ids are random.
use crate::{ApiError, ApiResult, Applied, CreateOptions, ExportOptions, Job, Passphrase, Session, files, types::*};
use mementory_formats::{Catalog, by_id, file_sha256};
use mementory_model::Limits;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Result of a conversion: the export that was written, and the format of the input.
#[derive(Debug, Clone, Serialize)]
pub struct Converted {
    /// Result of the export.
    #[serde(flatten)]
    pub exported: Exported,
    /// Format of the input.
    pub source: Source,
}

/// Format of the input.
#[derive(Debug, Clone, Serialize)]
pub struct Source {
    /// Id of the format. Null if the input had several formats.
    pub format: Option<String>,
    /// Version of the format, if the file states one.
    pub version: Option<String>,
}

/// Converts the input of `request` to the format and file of `export`. `input_passphrase` opens an encrypted input.
///
/// # Errors
/// Errors of an import and of an export. After an error, nothing is written.
pub fn convert(
    request: &ImportRequest,
    input_passphrase: Option<Arc<dyn Passphrase>>,
    export: &ExportRequest,
    options: &ExportOptions,
    job: &Job,
) -> ApiResult<Applied<Converted>> {
    let folder = tempfile::Builder::new()
        .prefix("mementory-convert-")
        .tempdir()
        .map_err(|e| ApiError::io(format!("A temporary folder could not be made: {e}. Nothing was written.")))?;
    let secret = zeroize::Zeroizing::new(format!("{} {}", files::suggest_passphrase()?, files::suggest_passphrase()?));
    let dir = folder.path().join("Mementory.mementory");
    // If values are masked or identifiers removed, the ids are random. Ids that depend on the input could be used to
    // confirm a guess of such a value.
    let hides_values = export.cover || options.strip_identifiers;
    let session = match input_digest(request).filter(|_| !hides_values) {
        Some(seed) => Session::create_temporary(&dir, &secret, &seed)?,
        None => Session::create(&dir, &secret, CreateOptions { kdf_floor: true })?.0,
    };
    // If the input is encrypted and the output is not, elements cannot be written back unchanged, because secrets in
    // the records have to be replaced.
    let loses_encryption = input_passphrase.is_some() && options.passphrase.is_none();
    let writes_back = writes_elements_back(export, options) && !loses_encryption;
    let converts_to = by_id(&export.format).filter(|_| writes_back).map(|format| format.id());
    let report = session.imports().import_for_conversion(request, input_passphrase, converts_to, job)?;
    let is_same_format = by_id(&export.format).is_some_and(|format| report.format.as_deref() == Some(format.id()));
    let source_version = report.version.clone().filter(|_| is_same_format);
    let options = ExportOptions { source_version, ..options.clone() };
    let mut exported = session.exports().export_with(export, &options, job)?;
    add_unread_as_losses(&report, &mut exported);
    let source = Source { format: report.format, version: report.version };
    Ok(exported.map(|exported| Converted { exported, source }))
}

/// SHA-256 of the input, from which the ids in the output are derived. It covers all bytes, because records of
/// different inputs may have the same keys and must not get the same ids. None if the input cannot be read or is too
/// large. In that case, the import reports the reason.
fn input_digest(request: &ImportRequest) -> Option<[u8; 32]> {
    let limits = request.limit_bytes.map_or_else(Limits::default, Limits::allowing);
    let mut lines = request.text.clone().unwrap_or_default();
    let mut bytes_left = limits.total_bytes;
    for path in request.paths.iter().map(Path::new) {
        let mut files: Vec<(PathBuf, String)> = Vec::new();
        for (found, size) in Catalog::files_at(path, &limits).ok()? {
            bytes_left = bytes_left.checked_sub(size)?;
            let digest = file_sha256(&found).ok()?;
            files.push((found.strip_prefix(path).unwrap_or(&found).to_path_buf(), digest));
        }
        files.sort();
        files.iter().for_each(|(name, digest)| lines += &format!("{digest}  {}\n", name.display()));
    }
    Some(Sha256::digest(lines).into())
}

/// True if a conversion to the input's own format writes untouched elements back unchanged. With masking, another
/// version or another encoding, the elements are written again from the imported records instead.
fn writes_elements_back(export: &ExportRequest, options: &ExportOptions) -> bool {
    let changes_elements = export.cover
        || options.strip_identifiers
        || options.version.is_some()
        || options.encoding.is_some()
        || options.base.is_some()
        || options.selector.is_some();
    !changes_elements
}

/// Adds the records that could not be read to the losses, because a conversion has no import report.
fn add_unread_as_losses(report: &ImportReport, exported: &mut Exported) {
    let (field, kind) = ("record", "left_out");
    if report.total.failed == 0 {
        return;
    }
    for item in report.items.iter().filter(|item| item.outcome == "failed") {
        let note = format!("it could not be read: {}", item.reason);
        exported.losses.push(Loss { record: item.place.clone(), field: field.into(), kind: kind.into(), note });
    }
    match exported.loss_counts.iter_mut().find(|c| c.field == field && c.kind == kind) {
        Some(known) => known.count += report.total.failed,
        None => {
            exported.loss_counts.push(LossCount { field: field.into(), kind: kind.into(), count: report.total.failed })
        }
    }
}
