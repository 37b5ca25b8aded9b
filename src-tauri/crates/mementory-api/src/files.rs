//! What needs no vault: detection and validation.
use crate::{
    ApiError, ApiResult, Job,
    trust::{Trust, signers},
    types::*,
};
use mementory_formats::{Catalog, Detection as Found, Passphrase, by_id, detect as detect_in, mif, pam, registry};
use mementory_model::{Limits, Timestamp};
use mementory_vault::Scratch;
use std::path::{Path, PathBuf};

/// Every format, and what is done with it.
pub fn formats() -> Vec<FormatInfo> {
    registry()
        .iter()
        .map(|format| {
            let able = format.capabilities();
            FormatInfo {
                id: format.id().into(),
                name: format.name().into(),
                read: able.read,
                write: able.write,
                signs: able.signs,
                encrypts: able.encrypts,
            }
        })
        .collect()
}

/// What lies at these paths. Nothing is opened, and a link is not followed.
pub fn path_info(paths: &[String]) -> Vec<PathInfo> {
    let info = |path: &String| {
        let meta = Path::new(path).symlink_metadata().ok();
        PathInfo {
            path: path.clone(),
            folder: meta.as_ref().is_some_and(std::fs::Metadata::is_dir),
            size: meta.filter(std::fs::Metadata::is_file).map(|meta| meta.len()),
        }
    };
    paths.iter().map(info).collect()
}

/// The backups of a vault that lie beside it, the newest first. Needs no passphrase, and none of them is opened.
pub fn backups_of(vault: &Path) -> Vec<FoundBackup> {
    let view = |found: mementory_vault::FoundBackup| FoundBackup {
        name: found.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        path: found.path.display().to_string(),
        changed_at: found.changed.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok()).and_then(|since| {
            Timestamp::from_micros(i64::try_from(since.as_micros()).ok()?).map(Timestamp::to_rfc3339)
        }),
    };
    mementory_vault::backups_of(vault).into_iter().map(view).collect()
}

/// What are these files? One result for each path; content decides, not names. A file that is encrypted as a whole is
/// opened with the passphrase; without one nothing but that is said of it.
///
/// # Errors
/// A path that is not there, may not be read, or is neither file nor folder; `passphrase_wrong`.
pub fn detect(paths: &[PathBuf], passphrase: Option<&dyn Passphrase>) -> ApiResult<Detections> {
    let limits = Limits::default();
    let scratch = Scratch(std::env::temp_dir());
    // All paths together: several files can be one export.
    let catalog = match passphrase {
        Some(_) => Catalog::open_with(paths, &limits, Some(&scratch), passphrase)?,
        None => Catalog::open(paths, &limits, None)?,
    };
    let found = detect_in(&catalog, &limits, None)?;
    let mut results = describe(&catalog, &found);
    // The catalog knows its roots by name; who asked knows them by path, and asks for the import with it.
    for (result, path) in results.iter_mut().zip(paths) {
        result.path = path.display().to_string();
    }
    Ok(Detections { results })
}

/// What one file is, within `limits`: for a look that nobody asked for.
pub(crate) fn look_at(path: &Path, limits: &Limits, scratch: &Scratch) -> ApiResult<Option<Detection>> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, Some(scratch))?;
    let found = detect_in(&catalog, limits, None)?;
    Ok(describe(&catalog, &found).into_iter().next())
}

/// One result for each given path.
pub(crate) fn describe(catalog: &Catalog, found: &Found) -> Vec<Detection> {
    catalog.roots().iter().enumerate().map(|(root, path)| describe_root(catalog, found, root, path)).collect()
}

fn describe_root(catalog: &Catalog, found: &Found, root: usize, path: &str) -> Detection {
    let here = |member: usize| catalog.members().get(member).is_some_and(|m| m.root == root);
    let place = |member: usize| catalog.members().get(member).map(|m| m.place.clone()).unwrap_or_default();
    let mut out = Detection {
        path: path.to_owned(),
        format: None,
        version: None,
        confidence: 0.0,
        encrypted: catalog.is_closed(root),
        reason: String::new(),
        parts: Vec::new(),
        missing_parts: Vec::new(),
        candidates: Vec::new(),
    };
    let mut formats: Vec<&str> = Vec::new();
    for source in &found.sources {
        let parts: Vec<_> = source.claim.parts.iter().filter(|p| here(p.member)).collect();
        if parts.is_empty() {
            continue;
        }
        if formats.is_empty() {
            out.version.clone_from(&source.claim.version);
            out.confidence = source.claim.confidence;
            out.reason.clone_from(&source.claim.reason);
        }
        formats.push(source.format);
        out.missing_parts.extend(source.claim.missing_parts.iter().cloned());
        out.parts.extend(parts.into_iter().map(|p| PartInfo {
            path: place(p.member),
            format: Some(source.format.into()),
            role: p.role.as_str().into(),
        }));
        out.candidates.push(Candidate {
            format: source.format.into(),
            confidence: source.claim.confidence,
            reason: source.claim.reason.clone(),
        });
    }
    for (member, candidates) in found.ties.iter().filter(|(m, _)| here(*m)) {
        out.reason = format!("{} could be more than one format", place(*member));
        out.candidates.extend(candidates.iter().map(|c| Candidate {
            format: c.format.into(),
            confidence: c.confidence,
            reason: c.reason.clone(),
        }));
        formats.clear();
    }
    out.parts.extend(found.unknown.iter().filter(|m| here(**m)).map(|m| PartInfo {
        path: place(*m),
        format: None,
        role: "unknown".into(),
    }));
    let mut distinct = formats.clone();
    distinct.dedup();
    if let [one] = distinct.as_slice() {
        out.format = Some((*one).to_owned());
        out.candidates.clear();
    } else if out.reason.is_empty() {
        out.reason =
            catalog.issues().first().map_or_else(|| "nothing in it was recognised".into(), |i| i.message.clone());
    }
    out
}

/// Wrong usage when a format is named that there is not.
pub(crate) fn known_format(format: Option<&str>) -> ApiResult<()> {
    match format.filter(|f| by_id(f).is_none()) {
        Some(unknown) => Err(ApiError::new("usage", 2, format!("Mementory does not know a format called {unknown}."))),
        None => Ok(()),
    }
}

/// What a file is to be, besides valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Carries a signature.
    Signed,
    /// Carries none.
    Unsigned,
    /// Holds everything.
    Full,
    /// Holds what changed.
    Incremental,
    /// A disclosed part.
    Subset,
    /// An event log.
    Log,
    /// Changes to apply to another file.
    Delta,
}

impl Expected {
    const ALL: [Self; 7] =
        [Self::Signed, Self::Unsigned, Self::Subset, Self::Log, Self::Full, Self::Incremental, Self::Delta];

    /// By its name. Wrong usage for any other word.
    pub fn parse(word: &str) -> ApiResult<Self> {
        Self::ALL.into_iter().find(|e| e.as_str() == word).ok_or_else(|| {
            ApiError::new(
                "usage",
                2,
                format!("{word} cannot be expected: signed, unsigned, subset, log, full, incremental or delta can."),
            )
        })
    }

    /// Its name.
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

    fn is(self, found: &mementory_formats::Validation) -> bool {
        match self {
            Self::Signed => found.signature.0,
            Self::Unsigned => !found.signature.0,
            _ => found.kind.as_deref() == Some(self.as_str()),
        }
    }
}

/// What is asked of a file. The default: is it a valid one of whatever format it is?
#[derive(Debug, Clone, Copy, Default)]
pub struct Check<'a> {
    /// Take it for this format.
    pub format: Option<&'a str>,
    /// It has to be this besides.
    pub expect: Option<Expected>,
    /// Public keys, in hex or as did:key; with any, the file must have a valid signature of one of them.
    pub trust: &'a [String],
    /// What a delta builds on, which it is then checked against.
    pub base: Option<&'a Path>,
    /// Opens a file that is encrypted as a whole.
    pub passphrase: Option<&'a dyn Passphrase>,
}

/// Is this a valid file of its format? Changes nothing.
///
/// # Errors
/// Not recognised, not readable, encrypted (`passphrase_needed`, `passphrase_wrong`), no validator for the format, or a
/// key that is none. An invalid file is not an error but `ok: false`.
pub fn validate(path: &Path, check: &Check, _job: &Job) -> ApiResult<Validation> {
    let Check { format, expect, trust, base, passphrase } = *check;
    let limits = Limits::default();
    known_format(format)?;
    let trusted = Trust::parse(trust)?;
    let catalog = open(path, &limits, passphrase)?;
    let found = detect_in(&catalog, &limits, format)?;
    let Some(source) = found.sources.iter().max_by(|a, b| a.claim.confidence.total_cmp(&b.claim.confidence)) else {
        let reason = catalog
            .issues()
            .first()
            .map_or_else(|| "not a file of a format that Mementory knows".into(), |i| i.message.clone());
        return Ok(invalid(format, "not_recognised", path, &reason));
    };
    let reader = by_id(source.format).ok_or_else(|| ApiError::new("internal", 7, "The format is not registered."))?;
    if !reader.capabilities().validate {
        return Err(ApiError::new("not_supported", 2, format!("There is no validator for {}.", reader.name())));
    }
    let checked = match passphrase {
        Some(passphrase) if source.format == "mif" => mif::validate_with(&catalog, source, &limits, passphrase),
        _ => reader.validate(&catalog, source, &limits, trust),
    };
    let mut result = match checked {
        Ok(result) => result,
        Err(error @ mementory_formats::FormatError::Invalid { code: "passphrase_wrong", .. }) => {
            return Err(error.into());
        }
        Err(mementory_formats::FormatError::Invalid { code, place, message }) => {
            return Ok(invalid(Some(source.format), code, Path::new(&place), &message));
        }
        Err(other) => return Err(other.into()),
    };
    let signature = trusted.judge(reader, &catalog, source, &limits, &mut result)?;
    if let Some(base) = base {
        let usage = || ApiError::new("usage", 2, "Only a delta builds on another file.");
        match source.format {
            "alf_delta" => {
                result.errors.extend(mementory_formats::alf::delta::check_base(base, path, &limits, passphrase)?);
            }
            "pam" => {
                let delta = pam::export_of(&catalog, source, &limits)?.filter(|e| e.incremental).ok_or_else(usage)?;
                result.warnings.extend(pam::check_base(base, &delta, &limits)?);
            }
            _ => return Err(usage()),
        }
    }
    if let Some(expected) = expect.filter(|e| !e.is(&result)) {
        result.errors.push(mementory_formats::Finding {
            code: "not_as_expected".into(),
            place: path.display().to_string(),
            message: format!("it was to be {}, and is not", expected.as_str()),
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

fn invalid(format: Option<&str>, code: &str, place: &Path, message: &str) -> Validation {
    let place = place.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
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

/// Opens one file or folder. What is in an encrypted one is held in scratch space, encrypted again under a key that only
/// this run knows.
pub(crate) fn open(path: &Path, limits: &Limits, passphrase: Option<&dyn Passphrase>) -> ApiResult<Catalog> {
    let scratch = Scratch(std::env::temp_dir());
    let catalog = Catalog::open_with(&[path.to_path_buf()], limits, Some(&scratch), passphrase)?;
    catalog.refuse_closed()?;
    Ok(catalog)
}

/// The keys whose signatures are on a file and hold; none when one does not.
pub(crate) fn signed_by(path: &Path, passphrase: Option<&dyn Passphrase>) -> ApiResult<Vec<Vec<u8>>> {
    let limits = Limits::default();
    let catalog = open(path, &limits, passphrase)?;
    let found = detect_in(&catalog, &limits, None)?;
    Ok(signers(&catalog, &found, &limits, &|_| false)
        .map_or_else(|_| Vec::new(), |found| found.keys.into_iter().map(|(_, key)| key).collect()))
}

pub(crate) fn signature(validation: &mementory_formats::Validation) -> SignatureInfo {
    let (present, algorithm, valid, trusted, key) = validation.signature.clone();
    SignatureInfo { present, algorithm, valid, trusted, key }
}

/// How strong is this passphrase? Nothing is kept.
pub fn passphrase_strength(passphrase: &str) -> PassphraseStrength {
    let (score, label, reason) = mementory_crypto::strength(passphrase);
    PassphraseStrength { score, label: label.into(), reason }
}

/// Four random words, as a suggestion.
pub fn suggest_passphrase() -> ApiResult<String> {
    mementory_crypto::suggest().map_err(|_| ApiError::new("random", 7, "The system gave no random numbers."))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::path_info;

    #[test]
    fn a_file_has_a_size_and_a_folder_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "four").unwrap();
        let paths =
            [file, folder.path().to_path_buf(), folder.path().join("gone")].map(|path| path.display().to_string());
        let told: Vec<_> = path_info(&paths).into_iter().map(|info| (info.path, info.folder, info.size)).collect();
        let [file, folder, gone] = paths;
        assert_eq!(told, [(file, false, Some(4)), (folder, true, None), (gone, false, None)]);
    }
}
