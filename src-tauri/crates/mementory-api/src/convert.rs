//! From one file to another. The records pass through a vault that nobody can open again: a temporary folder, encrypted
//! under random words that are kept nowhere, removed at the end. So a conversion knows exactly what an import followed by
//! an export knows, and leaves nothing behind.
use crate::{ApiError, ApiResult, CreateOptions, ExportMeans, Job, Passphrase, Session, files, types::*};
use serde::Serialize;
use std::sync::Arc;

/// What a conversion wrote, and from what.
#[derive(Debug, Clone, Serialize)]
pub struct Converted {
    /// As of an export.
    #[serde(flatten)]
    pub exported: Exported,
    /// What was read.
    pub source: Source,
}

/// What was read.
#[derive(Debug, Clone, Serialize)]
pub struct Source {
    /// Format id; null when it was several.
    pub format: Option<String>,
    /// Its version, where it says one.
    pub version: Option<String>,
}

/// Read `request`'s input and write it as `export` says. `opening`: passphrase of an encrypted input.
///
/// # Errors
/// Those of an import and of an export. Nothing is written then, and nothing kept in either case.
pub fn convert(
    request: &ImportRequest,
    opening: Option<Arc<dyn Passphrase>>,
    export: &ExportRequest,
    means: &ExportMeans,
    job: &Job,
) -> ApiResult<Converted> {
    let folder = tempfile::Builder::new().prefix("mementory-convert-").tempdir().map_err(|e| {
        ApiError::new("io", 7, format!("There is no room for the conversion: {e}. Nothing was written."))
    })?;
    let secret = zeroize::Zeroizing::new(format!("{} {}", files::suggest_passphrase()?, files::suggest_passphrase()?));
    let options = CreateOptions { kdf_floor: true };
    let (session, _) = Session::create(&folder.path().join("Mementory.mementory"), &secret, options)?;
    let report = session.import_with(request, opening, false, job)?;
    let mut exported = session.export_with(export, means, job)?;
    not_read(&report, &mut exported);
    Ok(Converted { exported, source: Source { format: report.format, version: report.version } })
}

/// What could not be read is not in what was written: there is no import report here to say so.
fn not_read(report: &ImportReport, exported: &mut Exported) {
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
