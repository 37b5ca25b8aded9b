//! Checks files before they are imported. The import reports the findings of the validators. A file that is damaged, or
//! lacks something that its own inventory lists, is imported only if the person chooses to import the remainder.
use crate::{ApiError, ApiResult};
use mementory_formats::{
    Catalog, Detected, Detection, Fault, FaultKind, Finding, Format, FormatError, Passphrase, by_id,
};
use mementory_model::{Issue, Limits, is_damage};
use mementory_vault::MissingPart;
use std::collections::BTreeSet;

/// Upper limit for the missing parts that are listed.
const MAX_LISTED_PARTS: usize = 1000;

/// Findings in files that may be imported.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// Findings of validators that do not stop the import.
    pub findings: Vec<Issue>,
    /// The missing or damaged parts; empty unless the person chose to import the remainder.
    pub missing: Vec<MissingPart>,
}

/// A fault that stops an import: a stable code, and the missing or damaged part.
type StoppingFault = (&'static str, MissingPart);

/// Inspects the detected sources. With `salvage`, damaged files are imported as far as possible. Two faults stop an
/// import nevertheless: an archive with a contradictory structure, and an entry name that not every system accepts.
///
/// # Errors
/// An error with the code of the first fault and exit code 1, and every missing or damaged part in `missing`.
pub(crate) fn inspect(
    catalog: &Catalog,
    found: &Detection,
    limits: &Limits,
    salvage: bool,
    passphrase: Option<&dyn Passphrase>,
) -> ApiResult<Inspection> {
    let mut out = Inspection::default();
    let forged = catalog.faults().iter().filter(|f| f.kind == FaultKind::Structure);
    refuse(&forged.map(stopping_fault).collect::<Vec<_>>(), false)?;
    let mut stopping: Vec<StoppingFault> = Vec::new();
    for source in &found.sources {
        let Some(format) = by_id(source.format).filter(|format| format.capabilities().validate) else { continue };
        let archives = archives_of(catalog, source);
        let names = catalog.faults().iter().filter(|f| f.kind == FaultKind::Name && archives.contains(&f.archive));
        refuse(&names.map(stopping_fault).collect::<Vec<_>>(), false)?;
        let damaged = catalog.damaged_entries(|archive| archives.contains(&archive))?;
        stopping.extend(damaged.iter().map(stopping_fault));
        if let Some(codes) = format.import_refuses() {
            validate(format, catalog, source, (limits, passphrase), codes, &mut stopping, &mut out)?;
        }
    }
    refuse(&stopping, salvage)?;
    out.missing = stopping.into_iter().map(|(_, part)| part).take(MAX_LISTED_PARTS).collect();
    Ok(out)
}

/// Refuses damaged archives, but does not validate their content.
///
/// # Errors
/// As [`inspect`].
pub(crate) fn refuse_damage(catalog: &Catalog, found: &Detection) -> ApiResult<()> {
    let mut stopping: Vec<StoppingFault> = Vec::new();
    stopping.extend(catalog.faults().iter().filter(|f| f.kind == FaultKind::Structure).map(stopping_fault));
    for source in &found.sources {
        let archives = archives_of(catalog, source);
        stopping.extend(catalog.damaged_entries(|archive| archives.contains(&archive))?.iter().map(stopping_fault));
    }
    refuse(&stopping, false)
}

/// The archives that a source is in.
pub(crate) fn archives_of(catalog: &Catalog, source: &Detected) -> BTreeSet<usize> {
    let members = source.claim.parts.iter().filter_map(|part| catalog.members().get(part.member));
    members.filter_map(|member| member.archive).collect()
}

/// Findings for the faults and damaged entries of the archives that a source is in, and for contradictory structures
/// of any archive of the input.
///
/// # Errors
/// I/O.
pub(crate) fn container_findings(catalog: &Catalog, source: &Detected) -> ApiResult<Vec<Finding>> {
    let archives = archives_of(catalog, source);
    let listed = catalog.faults().iter().filter(|f| f.kind == FaultKind::Structure || archives.contains(&f.archive));
    let damaged = catalog.damaged_entries(|archive| archives.contains(&archive))?;
    let finding = |fault: &Fault| {
        let Issue { code, place, message } = fault.issue.clone();
        Finding { code, place, message }
    };
    Ok(listed.chain(&damaged).map(finding).collect())
}

fn stopping_fault(fault: &Fault) -> StoppingFault {
    let Issue { place, message, .. } = fault.issue.clone();
    (fault.code, MissingPart { place, reason: format!("{}: {message}", fault.code) })
}

fn validate(
    format: &dyn Format,
    catalog: &Catalog,
    source: &Detected,
    (limits, passphrase): (&Limits, Option<&dyn Passphrase>),
    codes: &[&'static str],
    stopping: &mut Vec<StoppingFault>,
    out: &mut Inspection,
) -> ApiResult<()> {
    let checked = match format.validate_with(catalog, source, limits, &[], passphrase) {
        Ok(checked) => checked,
        // Damaged entries are listed already. If anything else cannot be read, the import itself reports it.
        Err(FormatError::Io { source, .. }) if is_damage(&source) => return Ok(()),
        Err(FormatError::Invalid { .. } | FormatError::Refused { .. } | FormatError::Version { .. }) => return Ok(()),
        Err(other) => return Err(other.into()),
    };
    let issue = |f: Finding| Issue { code: f.code, place: f.place, message: f.message };
    for finding in checked.errors {
        match codes.iter().find(|code| **code == finding.code) {
            Some(code) => {
                let reason = format!("{code}: {}", finding.message);
                stopping.push((code, MissingPart { place: finding.place, reason }));
            }
            None => out.findings.push(issue(finding)),
        }
    }
    out.findings.extend(checked.warnings.into_iter().map(issue));
    Ok(())
}

fn refuse(stopping: &[StoppingFault], salvage: bool) -> ApiResult<()> {
    let Some((code, first)) = stopping.first().filter(|_| !salvage) else { return Ok(()) };
    let more = match stopping.len() {
        1 => String::new(),
        n => format!(" ({} more)", n - 1),
    };
    let reason = first.reason.split_once(": ").map_or(first.reason.as_str(), |(_, message)| message);
    let what = if first.place.is_empty() { "The file" } else { first.place.as_str() };
    let message = format!("{what}: {reason}{more}. Nothing was imported. Get the file again from where it came from.");
    let listed: Vec<&MissingPart> = stopping.iter().map(|(_, part)| part).take(MAX_LISTED_PARTS).collect();
    let missing = serde_json::to_string(&listed).unwrap_or_default();
    Err(ApiError::new(code, 1, message).with("place", &first.place).with("missing", missing))
}
