//! Checks files before they are imported. The import report contains the findings of the validators. A file that is
//! damaged, or that lacks a part of its own inventory, is imported only if the person chooses to import the remainder.
use crate::{ApiError, ApiResult};
use mementory_formats::{
    Catalog, Detected, Detection, Fault, FaultKind, Finding, Format, FormatError, Passphrase, by_id,
};
use mementory_model::{Issue, Limits, is_damage};
use mementory_vault::MissingPart;
use std::collections::BTreeSet;

/// Largest number of missing or damaged parts that a report lists.
const MAX_LISTED_PARTS: usize = 1000;

/// The findings of an inspection that allows the import.
#[derive(Debug, Default)]
pub(crate) struct Inspection {
    /// Findings of validators that do not stop the import.
    pub findings: Vec<Issue>,
    /// The missing or damaged parts. Empty unless the person chose to import the remainder.
    pub missing: Vec<MissingPart>,
}

/// A fault that stops an import.
struct StoppingFault {
    code: &'static str,
    /// The missing or damaged part.
    part: MissingPart,
    /// True if the other parts can still be imported.
    can_salvage: bool,
}

/// Inspects the detected sources. With `salvage`, damaged files are imported as far as possible. Even then, two faults
/// stop an import: an archive with a contradictory structure, and an entry name that some systems do not accept. If an
/// archive contains only sources of formats without a validator, a header that differs from the archive's directory is
/// only reported.
///
/// # Errors
/// An error with the code of the first fault and exit code 1. Its detail `missing` lists every missing or damaged part.
pub(crate) fn inspect(
    catalog: &Catalog,
    found: &Detection,
    limits: &Limits,
    salvage: bool,
    passphrase: Option<&dyn Passphrase>,
) -> ApiResult<Inspection> {
    let mut out = Inspection::default();
    let tolerant_archives = tolerant_archives(catalog, found);
    let is_tolerated = |fault: &&Fault| fault.is_header_difference() && tolerant_archives.contains(&fault.archive);
    let structural_faults = catalog.faults().iter().filter(|f| f.kind == FaultKind::Structure && !is_tolerated(f));
    refuse_if_any(&structural_faults.map(structural_fault).collect::<Vec<_>>(), false)?;
    out.findings.extend(catalog.faults().iter().filter(is_tolerated).map(|fault| {
        let Issue { code, place, message } = fault.issue.clone();
        Issue { code, place, message: format!("{message}; it was read as the directory says, if its bytes are whole") }
    }));
    let mut stopping_faults: Vec<StoppingFault> = Vec::new();
    for source in &found.sources {
        let Some(format) = by_id(source.format).filter(|format| format.capabilities().validate) else { continue };
        let archives = source.archives(catalog);
        let names = catalog.faults().iter().filter(|f| f.kind == FaultKind::Name && archives.contains(&f.archive));
        refuse_if_any(&names.map(structural_fault).collect::<Vec<_>>(), false)?;
        let codes =
            format.import_refuses().or(Some(format.salvage_codes()).filter(|codes| salvage && !codes.is_empty()));
        let found_by_validator = match codes {
            Some(codes) => validate(format, catalog, source, (limits, passphrase), codes, &mut out)?,
            None => Vec::new(),
        };
        // Damaged entries are searched for after the validator has run, so that only the entries that it did not read
        // are unpacked again.
        let damaged = catalog.damaged_entries(|archive| archives.contains(&archive))?;
        stopping_faults.extend(damaged.iter().map(|fault| damage_fault(format, catalog, source, fault)));
        // A fault that both the validator and this search found is listed once.
        for fault in found_by_validator {
            if !stopping_faults.iter().any(|known| known.code == fault.code && known.part.place == fault.part.place) {
                stopping_faults.push(fault);
            }
        }
    }
    refuse_if_any(&stopping_faults, salvage)?;
    out.missing = stopping_faults.into_iter().map(|fault| fault.part).take(MAX_LISTED_PARTS).collect();
    Ok(out)
}

/// The archives that contain only sources of formats without a validator. The specifications of these formats do not
/// say which archives are invalid, so damaged entries are skipped and the other entries are read.
fn tolerant_archives(catalog: &Catalog, found: &Detection) -> BTreeSet<usize> {
    let (strict, tolerant): (Vec<_>, Vec<_>) = found
        .sources
        .iter()
        .partition(|source| by_id(source.format).is_none_or(|format| format.capabilities().validate));
    let strict: BTreeSet<usize> = strict.iter().flat_map(|source| source.archives(catalog)).collect();
    tolerant.iter().flat_map(|source| source.archives(catalog)).filter(|archive| !strict.contains(archive)).collect()
}

/// Refuses damaged archives, but does not validate their content.
///
/// # Errors
/// As [`inspect`].
pub(crate) fn refuse_damage(catalog: &Catalog, found: &Detection) -> ApiResult<()> {
    let mut stopping_faults: Vec<StoppingFault> = Vec::new();
    stopping_faults.extend(catalog.faults().iter().filter(|f| f.kind == FaultKind::Structure).map(structural_fault));
    for source in &found.sources {
        let Some(format) = by_id(source.format) else { continue };
        let archives = source.archives(catalog);
        let damaged = catalog.damaged_entries(|archive| archives.contains(&archive))?;
        stopping_faults.extend(damaged.iter().map(|fault| damage_fault(format, catalog, source, fault)));
    }
    refuse_if_any(&stopping_faults, false)
}

/// Returns findings for the faults and damaged entries of the archives that contain the source. For other archives of
/// the input, only a contradictory structure is reported.
///
/// # Errors
/// I/O.
pub(crate) fn container_findings(catalog: &Catalog, source: &Detected) -> ApiResult<Vec<Finding>> {
    let archives = source.archives(catalog);
    let damaged = catalog.damaged_entries(|archive| archives.contains(&archive))?;
    let finding = |fault: &Fault| {
        let Issue { code, place, message } = fault.issue.clone();
        Finding { code, place, message }
    };
    Ok(source.listing_faults(catalog).into_iter().chain(&damaged).map(finding).collect())
}

/// Adds a sentence to the message of an import error that says whether the intact remainder of the file can be imported
/// with `salvage`.
pub(crate) fn with_salvage_hint(error: ApiError, catalog: &Catalog, found: &Detection, salvage: bool) -> ApiError {
    let formats = || found.sources.iter().filter_map(|source| Some((by_id(source.format)?, source)));
    let place = error.details.get("place").cloned().unwrap_or_default();
    if error.details.contains_key("salvage") {
        return error;
    }
    let is_damaged_file = error.exit == 1 && !place.is_empty() && error.code != "signature_invalid";
    let can_salvage = formats().any(|(format, source)| format.can_salvage(catalog, source, error.code, &place))
        || (is_damaged_file && has_shared_archive(catalog, found));
    if can_salvage && !salvage {
        return with_sentence(error, SALVAGE_HINT).with("salvage", true);
    }
    // The sentence is added only for faults of the file. A cancelled import and a full disk have other exit codes, and
    // an invalid signature can be accepted with another option.
    match salvage && !can_salvage && error.exit == 1 && error.code != "signature_invalid" {
        true => with_sentence(error, "--salvage does nothing for this fault: there is nothing left to go by."),
        false => error,
    }
}

/// True if an archive contains more than one source, so that intact sources can be imported without a damaged one.
fn has_shared_archive(catalog: &Catalog, found: &Detection) -> bool {
    let mut seen_archives = BTreeSet::new();
    found.sources.iter().flat_map(|source| source.archives(catalog)).any(|archive| !seen_archives.insert(archive))
}

/// The hint for damaged files whose remainder can be imported.
const SALVAGE_HINT: &str = "To import what is left of it, use --salvage.";

fn with_sentence(error: ApiError, sentence: &str) -> ApiError {
    ApiError { message: format!("{} {sentence}", error.message), ..error }
}

fn structural_fault(fault: &Fault) -> StoppingFault {
    let Issue { place, message, .. } = fault.issue.clone();
    let part = MissingPart { place, reason: format!("{}: {message}", fault.code) };
    StoppingFault { code: fault.code, part, can_salvage: false }
}

fn damage_fault(format: &dyn Format, catalog: &Catalog, source: &Detected, fault: &Fault) -> StoppingFault {
    let stopping = structural_fault(fault);
    let can_salvage = format.can_salvage(catalog, source, stopping.code, &stopping.part.place);
    StoppingFault { can_salvage, ..stopping }
}

/// Validates a source. Returns the errors that have one of the `codes`, and adds all other findings to `out`.
fn validate(
    format: &dyn Format,
    catalog: &Catalog,
    source: &Detected,
    (limits, passphrase): (&Limits, Option<&dyn Passphrase>),
    codes: &[&'static str],
    out: &mut Inspection,
) -> ApiResult<Vec<StoppingFault>> {
    let checked = match format.validate_with(catalog, source, limits, &[], passphrase) {
        Ok(checked) => checked,
        // The error is ignored here, because damaged entries are listed separately and the import itself reports
        // everything else that cannot be read.
        Err(FormatError::Io { source, .. }) if is_damage(&source) => return Ok(Vec::new()),
        Err(FormatError::Invalid { .. } | FormatError::Refused { .. } | FormatError::Version { .. }) => {
            return Ok(Vec::new());
        }
        Err(other) => return Err(other.into()),
    };
    let issue = |f: Finding| Issue { code: f.code, place: f.place, message: f.message };
    let mut stopping = Vec::new();
    for finding in checked.errors {
        match codes.iter().find(|code| **code == finding.code) {
            Some(code) => {
                let can_salvage = format.can_salvage(catalog, source, code, &finding.place);
                let reason = format!("{code}: {}", finding.message);
                stopping.push(StoppingFault { code, part: MissingPart { place: finding.place, reason }, can_salvage });
            }
            None => out.findings.push(issue(finding)),
        }
    }
    out.findings.extend(checked.warnings.into_iter().map(issue));
    Ok(stopping)
}

fn refuse_if_any(stopping: &[StoppingFault], salvage: bool) -> ApiResult<()> {
    let Some(StoppingFault { code, part: first, .. }) = stopping.first().filter(|_| !salvage) else { return Ok(()) };
    let number_of_others = match stopping.len() {
        1 => String::new(),
        n => format!(" ({} more)", n - 1),
    };
    let reason = first.reason.split_once(": ").map_or(first.reason.as_str(), |(_, message)| message);
    let subject = if first.place.is_empty() { "The file" } else { first.place.as_str() };
    let message = format!(
        "{subject}: {reason}{number_of_others}. Nothing was imported. Get the file again from where it came from."
    );
    let listed_parts: Vec<&MissingPart> = stopping.iter().map(|fault| &fault.part).take(MAX_LISTED_PARTS).collect();
    let missing = serde_json::to_string(&listed_parts).unwrap_or_default();
    let error = ApiError::new(code, 1, message).with("place", &first.place).with("missing", missing);
    Err(match stopping.iter().all(|fault| fault.can_salvage) {
        true => with_sentence(error, SALVAGE_HINT).with("salvage", true),
        false => error.with("salvage", false),
    })
}
