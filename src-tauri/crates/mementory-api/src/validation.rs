//! Validates a file against the rules of its formats.
use crate::{
    ApiError, ApiResult, Job,
    inspection::container_findings,
    opening::{check_format_known, open},
    trust::Trust,
    types::{CheckedSignature, Finding, Validation},
};
use mementory_formats::{Catalog, DeltaFile, Detected, FaultKind, FormatError, Passphrase, by_id, detect as detect_in};
use mementory_model::{Issue, Limits, is_damage};
use std::path::Path;

/// A property that a file must have in addition to being valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The file is signed.
    Signed,
    /// The file is not signed.
    Unsigned,
    /// The file is a full export.
    Full,
    /// The file is an incremental export.
    Incremental,
    /// The file is a disclosed part of a bundle.
    Subset,
    /// The file is an event log.
    Log,
    /// The file is a delta to apply to another file.
    Delta,
}

impl Expected {
    const ALL: [Self; 7] =
        [Self::Signed, Self::Unsigned, Self::Subset, Self::Log, Self::Full, Self::Incremental, Self::Delta];

    /// Parses the name of a property.
    ///
    /// # Errors
    /// `usage` for any other word.
    pub fn parse(word: &str) -> ApiResult<Self> {
        Self::ALL.into_iter().find(|e| e.as_str() == word).ok_or_else(|| {
            ApiError::usage(format!(
                "{word} is not something to expect. Use signed, unsigned, subset, log, full, incremental or delta."
            ))
        })
    }

    /// Name of the property.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Unsigned => "unsigned",
            Self::Full => "full",
            Self::Incremental => "incremental",
            Self::Subset => "subset",
            Self::Log => "log",
            Self::Delta => "delta",
        }
    }

    fn matches(self, found: &mementory_formats::Validation) -> bool {
        match self {
            Self::Signed => found.signature.0,
            Self::Unsigned => !found.signature.0,
            _ => found.kind.as_deref() == Some(self.as_str()),
        }
    }
}

/// The checks to make on a file. By default, the file only has to be valid in the format that is detected.
#[derive(Debug, Clone, Copy, Default)]
pub struct Check<'a> {
    /// Id of the format in which the file must be valid. None: the detected format.
    pub format: Option<&'a str>,
    /// Another property that the file must have, besides being valid.
    pub expect: Option<Expected>,
    /// Public keys in hex or as did:key. If the list is not empty, the file must have a valid signature by one of these
    /// keys.
    pub trust: &'a [String],
    /// For a delta, the base against which it is checked.
    pub base: Option<&'a Path>,
    /// The passphrase that opens a file that is encrypted as a whole.
    pub passphrase: Option<&'a dyn Passphrase>,
    /// Total size in bytes that may be read, as in an import. None: the default limit.
    pub limit_bytes: Option<u64>,
}

/// Validates a file against the rules of its format. Changes nothing. If the file contains the sources of several
/// formats, all of them are validated, because an import reads all of them. The source with the highest confidence whose
/// format has rules determines the format, version, level, kind and signature of the result. If several sources have this
/// confidence, it is the last one in the order of their files.
///
/// # Errors
/// The file is unreadable, over a limit (`limit`), of an unknown major version (`unsupported_version`) or encrypted
/// (`passphrase_needed`, `passphrase_wrong`); its format has no validator; a key is malformed; the job was cancelled. An
/// invalid or unrecognised file is not an error: the result contains `ok: false`.
pub fn validate(path: &Path, check: &Check, job: &Job) -> ApiResult<Validation> {
    let Check { format, trust, passphrase, limit_bytes, .. } = *check;
    let limits = limit_bytes.map_or_else(Limits::default, Limits::allowing);
    check_format_known(format)?;
    let trusted = Trust::parse(trust)?;
    let mut catalog = open(path, &limits, passphrase)?;
    catalog.cancel_with(job.cancel_flag());
    let found = detect_in(&catalog, &limits, format)?;
    // The sort is stable, so of sources with equal confidence the last one comes first, with and without rules.
    let mut sources: Vec<&Detected> = found.sources.iter().rev().collect();
    sources.sort_by(|a, b| b.claim.confidence.total_cmp(&a.claim.confidence));
    let Some(&strongest) = sources.first() else {
        let reason = catalog
            .issues()
            .first()
            .map_or_else(|| "not a file of a format that Mementory knows".into(), |i| i.message.clone());
        let place = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        return Ok(invalid_result(format, "not_recognised", place, &reason));
    };
    let (with_rules, without_rules): (Vec<&Detected>, Vec<&Detected>) = sources
        .into_iter()
        .partition(|source| by_id(source.format).is_some_and(|format| format.capabilities().validate));
    let input = ValidatedInput { path, catalog: &catalog, limits: &limits, check, trusted: &trusted };
    let mut with_rules = with_rules.into_iter();
    let Some(main) = with_rules.next() else {
        let name = by_id(strongest.format).map_or(strongest.format, |format| format.name());
        let message = format!("{name} has no rules to check a file against. Nothing was changed.");
        return Err(ApiError::new("not_supported", 2, message));
    };
    let mut result = input.validate(main, true)?;
    for source in with_rules {
        match input.validate(source, false) {
            Ok(other) => {
                result.records = result.records.saturating_add(other.records);
                add_new_findings(&mut result.errors, other.errors);
                add_new_findings(&mut result.warnings, other.warnings);
            }
            Err(error) if error.code == "cancelled" => return Err(error),
            Err(error) => {
                let place = error.details.get("place").cloned().unwrap_or_default();
                result.errors.push(Finding { code: error.code.into(), place, message: error.message });
            }
        }
    }
    for source in without_rules {
        input.add_unchecked(source, &mut result);
    }
    let issue = |issue: &Issue| {
        let Issue { code, place, message } = issue.clone();
        Finding { code, place, message }
    };
    let is_reported =
        |issue: &&Issue| result.errors.iter().any(|known| (&known.code, &known.place) == (&issue.code, &issue.place));
    let unread = catalog.issues().iter().filter(|issue| !is_reported(issue)).map(issue).collect();
    add_new_findings(&mut result.warnings, unread);
    Ok(Validation { ok: result.errors.is_empty(), ..result })
}

/// A file, and everything that is needed to validate its sources.
struct ValidatedInput<'a> {
    path: &'a Path,
    catalog: &'a Catalog,
    limits: &'a Limits,
    check: &'a Check<'a>,
    trusted: &'a Trust,
}

impl ValidatedInput<'_> {
    /// Validates one source and the archives that contain it. Only the main source is compared with the base and must
    /// have the expected property.
    fn validate(&self, source: &Detected, is_main: bool) -> ApiResult<Validation> {
        let Self { path, catalog, limits, check, trusted } = *self;
        let passphrase = check.passphrase;
        let reader = by_id(source.format)
            .ok_or_else(|| ApiError::internal("The format of this file has no reader. Nothing was changed."))?;
        let validated = reader.validate_with(catalog, source, limits, check.trust, passphrase);
        // The archives are checked after the validator has run, because entries that it has read to the end need not be
        // read again.
        let faults = container_findings(catalog, source)?;
        let mut result = match validated {
            Ok(result) => result,
            Err(FormatError::Io { place, source: error }) if is_damage(&error) => {
                let damaged = invalid_result(Some(source.format), "damaged_entry", place, &error.to_string());
                return Ok(with_faults(damaged, faults));
            }
            Err(error @ FormatError::Invalid { code: "passphrase_wrong", .. }) => return Err(error.into()),
            // An archive with a contradictory structure makes the file invalid, but is not an error of this function.
            Err(FormatError::Refused { place, reason })
                if catalog.faults().iter().any(|fault| fault.kind == FaultKind::Structure) =>
            {
                let refused = invalid_result(Some(source.format), "refused_input", place, &reason);
                return Ok(with_faults(refused, faults));
            }
            Err(FormatError::Invalid { code, place, message }) => {
                return Ok(with_faults(invalid_result(Some(source.format), code, place, &message), faults));
            }
            Err(other) => return Err(other.into()),
        };
        // An error of the validator is removed if `faults` contains it too.
        result
            .errors
            .retain(|found| !faults.iter().any(|fault| (&fault.code, &fault.place) == (&found.code, &found.place)));
        result.errors.extend(faults);
        let signature = trusted.verify_signatures(reader, catalog, source, limits, &mut result)?;
        if let Some(base) = check.base.filter(|_| is_main) {
            let usage =
                || ApiError::usage("Only a delta has a base, and this file is not a delta. Check it without --base.");
            let delta = DeltaFile { path, catalog, detected: source, limits, passphrase };
            let base_findings = reader.check_base(&delta, base)?.ok_or_else(usage)?;
            result.errors.extend(base_findings.errors);
            result.warnings.extend(base_findings.warnings);
        }
        if let Some(expected) = check.expect.filter(|expected| is_main && !expected.matches(&result)) {
            result.errors.push(mementory_formats::Finding {
                code: "not_as_expected".into(),
                place: path.display().to_string(),
                message: format!("expected {}, but it is not", expected.as_str()),
            });
        }
        Ok(Validation {
            ok: result.errors.is_empty(),
            format: Some(source.format.into()),
            signature,
            version: result.version,
            level: result.level,
            records: u32::try_from(result.records).unwrap_or(u32::MAX),
            kind: result.kind,
            errors: result.errors.into_iter().map(Finding::from).collect(),
            warnings: result.warnings.into_iter().map(Finding::from).collect(),
        })
    }

    /// Adds a warning for a source of a format without a validator. Such a source has no signature, so it also adds an
    /// error if the file has to be signed.
    fn add_unchecked(&self, source: &Detected, result: &mut Validation) {
        let name = by_id(source.format).map_or(source.format, |format| format.name());
        let member = source.claim.parts.first().and_then(|part| self.catalog.members().get(part.member));
        let place = member.map(|member| member.place.clone()).unwrap_or_default();
        if !self.check.trust.is_empty() {
            let message = format!("the files of {name} are not signed, but a signature by a trusted key is required");
            let finding = Finding { code: "signature_missing".into(), place: place.clone(), message };
            add_new_findings(&mut result.errors, vec![finding]);
        }
        let message = format!("an import reads the files of {name} too, which has no rules to check them against");
        add_new_findings(&mut result.warnings, vec![Finding { code: "not_checked".into(), place, message }]);
    }
}

/// Adds the findings that are not in the list yet. Sources in the same archive have the same faults of this archive.
fn add_new_findings(list: &mut Vec<Finding>, findings: Vec<Finding>) {
    for finding in findings {
        if !list.iter().any(|known| (&known.code, &known.place) == (&finding.code, &finding.place)) {
            list.push(finding);
        }
    }
}

/// Adds the faults of the archive. If the validator reported an error with the same code as one of these faults, all
/// errors of the validator are removed, so that no fault is listed twice.
fn with_faults(mut result: Validation, faults: Vec<mementory_formats::Finding>) -> Validation {
    if faults.iter().any(|fault| result.errors.iter().any(|error| error.code == fault.code)) {
        result.errors.clear();
    }
    result.errors.extend(faults.into_iter().map(Finding::from));
    result
}

/// The answer for a file that cannot be read. `place` is whole, as in the error of an import: in an archive, the name of
/// an entry alone could be that of a file beside it.
fn invalid_result(format: Option<&str>, code: &str, place: String, message: &str) -> Validation {
    Validation {
        ok: false,
        format: format.map(str::to_owned),
        version: None,
        level: None,
        records: 0,
        kind: None,
        signature: CheckedSignature::default(),
        errors: vec![Finding { code: code.into(), place, message: message.into() }],
        warnings: Vec::new(),
    }
}
