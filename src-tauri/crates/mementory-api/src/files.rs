//! Detects and validates files. No vault is needed.
pub(crate) use crate::opening::{check_format_known, open};
use crate::{ApiError, ApiResult, trust::verify_signers, types::*};
pub use crate::{
    opened_paths::{path_text, real_path, sort_opened},
    validation::{Check, Expected, validate},
};
pub use mementory_formats::create_private_file;
use mementory_formats::{Catalog, Detection as Found, Passphrase, by_id, detect as detect_in, nearest, registry};
use mementory_model::{Limits, Timestamp};
use mementory_vault::Scratch;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

/// Lists every format with its capabilities.
pub fn formats() -> Vec<FormatInfo> {
    registry()
        .iter()
        .map(|format| {
            let capabilities = format.capabilities();
            FormatInfo {
                id: format.id().into(),
                name: format.name().into(),
                read: capabilities.read,
                write: capabilities.write,
                signs: capabilities.signs,
                encrypts: capabilities.encrypts,
            }
        })
        .collect()
}

/// The media type to send to a server with a file of this format.
pub fn media_type(format: Option<&str>) -> &'static str {
    format.and_then(by_id).map_or("application/json", |format| format.media_type())
}

/// Returns the kind and size of what exists at each path. Opens nothing and does not follow links.
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

/// Name of Mementory's folder in the system's folder for application data.
const PROGRAM_FOLDER_NAME: &str = "app.mementory.desktop";

/// Mementory's folder for lists of erasures, which contains one file for each vault. It is in the folder
/// `MEMENTORY_DATA_DIR` or, if this variable is not set, in the system's folder for application data. None if neither
/// is known.
pub fn ledger_folder() -> Option<PathBuf> {
    let env_path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = env_path("MEMENTORY_DATA_DIR").or_else(|| {
        let folder = if cfg!(windows) {
            env_path("APPDATA")
        } else if cfg!(target_os = "macos") {
            env_path("HOME").map(|home| home.join("Library/Application Support"))
        } else {
            env_path("XDG_DATA_HOME").or_else(|| env_path("HOME").map(|home| home.join(".local/share")))
        };
        folder.map(|folder| folder.join(PROGRAM_FOLDER_NAME))
    });
    data.map(|data| data.join("erasures"))
}

/// Lists the backups in the same folder as a vault, newest first. The backups are not opened, so no passphrase is
/// needed.
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

/// Detects the formats of files from their content. Returns one result for each path. The passphrase opens files that
/// are encrypted as a whole. Without a passphrase, the result for such a file only says that the file is encrypted.
///
/// # Errors
/// A path that does not exist, cannot be read, or is neither a file nor a folder; `passphrase_wrong`.
pub fn detect(paths: &[PathBuf], passphrase: Option<&dyn Passphrase>) -> ApiResult<Detections> {
    let limits = Limits::default();
    let scratch = Scratch(std::env::temp_dir());
    // All paths are opened together, because several files can belong to one export.
    let catalog = match passphrase {
        Some(_) => Catalog::open_with(paths, &limits, Some(&scratch), passphrase)?,
        None => Catalog::open(paths, &limits, None)?,
    };
    let detected = detect_in(&catalog, &limits, None)?;
    let nearest = nearest(&catalog, &limits, &members_of_unknown_roots(&catalog, &detected))?;
    let mut results = describe(&catalog, &detected, &nearest);
    // The catalog contains only the names of its roots, but callers need the path that they passed in order to import
    // it.
    for (result, path) in results.iter_mut().zip(paths) {
        result.path = path.display().to_string();
    }
    Ok(Detections { results })
}

/// Detects the format of one file without reading more than `limits` allows. Used for background scans.
pub(crate) fn detect_one(path: &Path, limits: &Limits, scratch: &Scratch) -> ApiResult<Option<Detection>> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, Some(scratch))?;
    let detected = detect_in(&catalog, limits, None)?;
    Ok(describe(&catalog, &detected, &[]).into_iter().next())
}

/// The indexes of the members of all paths in which no format was recognised.
pub(crate) fn members_of_unknown_roots(catalog: &Catalog, found: &Found) -> Vec<usize> {
    let root_of = |member: usize| catalog.members().get(member).map(|m| m.root);
    let parts = found.sources.iter().flat_map(|source| source.claim.parts.iter().map(|part| part.member));
    let known_roots: HashSet<usize> =
        parts.chain(found.ties.iter().map(|(member, _)| *member)).filter_map(root_of).collect();
    found.unknown.iter().copied().filter(|m| root_of(*m).is_some_and(|root| !known_roots.contains(&root))).collect()
}

/// The candidate formats of members, as [`nearest`] returns them: the index of each member, and its candidates.
pub(crate) type CandidatesByMember = [(usize, Vec<mementory_formats::Candidate>)];

/// Returns the detection result for each root of the catalog. `nearest` contains the candidate formats of members that
/// no format recognised.
pub(crate) fn describe(catalog: &Catalog, found: &Found, nearest: &CandidatesByMember) -> Vec<Detection> {
    catalog.roots().iter().enumerate().map(|(root, path)| describe_root(catalog, found, nearest, root, path)).collect()
}

fn describe_root(catalog: &Catalog, found: &Found, nearest: &CandidatesByMember, root: usize, path: &str) -> Detection {
    let is_in_root = |member: usize| catalog.members().get(member).is_some_and(|m| m.root == root);
    let place = |member: usize| catalog.members().get(member).map(|m| m.place.clone()).unwrap_or_default();
    let mut out = Detection {
        path: path.to_owned(),
        format: None,
        version: None,
        confidence: 0.0,
        encrypted: catalog.is_unopened(root),
        reason: String::new(),
        parts: Vec::new(),
        missing_parts: Vec::new(),
        candidates: Vec::new(),
        tie: false,
    };
    let mut formats: Vec<&str> = Vec::new();
    for source in &found.sources {
        let parts: Vec<_> = source.claim.parts.iter().filter(|p| is_in_root(p.member)).collect();
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
    for (member, candidates) in found.ties.iter().filter(|(m, _)| is_in_root(*m)) {
        out.reason = format!("{} could be more than one format", place(*member));
        out.candidates.extend(candidates.iter().map(|c| Candidate {
            format: c.format.into(),
            confidence: c.confidence,
            reason: c.reason.clone(),
        }));
        out.tie = true;
        formats.clear();
    }
    if out.parts.is_empty() && !out.tie {
        out.candidates = nearest_candidates(nearest.iter().filter(|(member, _)| is_in_root(*member)));
    }
    out.parts.extend(found.unknown.iter().filter(|m| is_in_root(**m)).map(|m| PartInfo {
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
        out.reason = reason_of_unknown(catalog, root, path);
    }
    out
}

/// The reason why no format was recognised in a path: the path is a copy of another one, it is damaged, or neither.
fn reason_of_unknown(catalog: &Catalog, root: usize, path: &str) -> String {
    if let Some(copy) = catalog.dropped().iter().find(|dropped| dropped.place == path) {
        return copy.reason.split_once(": ").map_or(copy.reason.as_str(), |(_, words)| words).to_owned();
    }
    let is_inside =
        |place: &str| place.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['!', '/']));
    let size: u64 = catalog.members().iter().filter(|member| member.root == root).map(|member| member.size).sum();
    let issue = catalog.issues().iter().find(|issue| is_inside(&issue.place));
    issue.map_or_else(|| unrecognised_reason(size), |issue| issue.message.clone())
}

/// The message that nothing was recognised. For an unusually large file, it states the size as a hint to the cause.
fn unrecognised_reason(bytes: u64) -> String {
    if bytes < 1_000_000_000 {
        return "no part of it was recognised".into();
    }
    format!("no part of its {:.1} GB was recognised", bytes as f64 / 1e9)
}

/// The candidate formats for the members of one path. Each format is listed once, the best one first.
pub(crate) fn nearest_candidates<'n>(
    members: impl Iterator<Item = &'n (usize, Vec<mementory_formats::Candidate>)>,
) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = Vec::new();
    for candidate in members.flat_map(|(_, candidates)| candidates) {
        match out.iter_mut().find(|known| known.format == candidate.format) {
            Some(known) => known.confidence = known.confidence.max(candidate.confidence),
            None => out.push(Candidate {
                format: candidate.format.into(),
                confidence: candidate.confidence,
                reason: candidate.reason.clone(),
            }),
        }
    }
    out.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    out
}

/// The public keys that signed a file. Empty if any signature is invalid, other than that of a tombstone.
pub(crate) fn signed_by(path: &Path, passphrase: Option<&dyn Passphrase>) -> ApiResult<Vec<Vec<u8>>> {
    let limits = Limits::default();
    let catalog = open(path, &limits, passphrase)?;
    let detected = detect_in(&catalog, &limits, None)?;
    let signers = verify_signers(&catalog, &detected, &limits, &|_| false);
    let whole_is_valid = signers.invalid.iter().all(|signature| signature.of_tombstone);
    let keys = signers.keys.into_iter().filter(|_| whole_is_valid);
    Ok(keys.map(|(_, key)| key).collect())
}

pub(crate) fn signature(validation: &mementory_formats::Validation) -> SignatureInfo {
    let (present, algorithm, valid, trusted, key) = validation.signature.clone();
    SignatureInfo { present, algorithm, valid, trusted, key }
}

/// Rates the strength of a passphrase. The passphrase is not stored.
pub fn passphrase_strength(passphrase: &str) -> PassphraseStrength {
    let (score, label, reason) = mementory_crypto::strength(passphrase);
    PassphraseStrength { score, label: label.into(), reason }
}

/// Suggests a passphrase of four random words.
pub fn suggest_passphrase() -> ApiResult<String> {
    mementory_crypto::suggest().map_err(|_| {
        ApiError::new("random", 7, "The system provided no random numbers, so no passphrase was suggested. Try again.")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{detect, path_info};

    #[test]
    fn the_message_for_a_huge_file_that_is_not_an_export_states_its_size() {
        let folder = tempfile::tempdir().unwrap();
        for (name, begin) in [("list.json", "["), ("lines.jsonl", ""), ("page.html", "<html>")] {
            let path = folder.path().join(name);
            std::fs::write(&path, begin).unwrap();
            // The file is sparse, so it occupies little space on the disk.
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10_000_000_000).unwrap();
            let found = detect(&[path], None).unwrap().results.remove(0);
            assert_eq!(
                (found.format, found.reason.as_str()),
                (None, "no part of its 10.0 GB was recognised"),
                "{name}"
            );
        }
    }

    #[test]
    fn path_info_distinguishes_files_folders_and_missing_paths() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        std::fs::write(&file, "four").unwrap();
        let paths =
            [file, folder.path().to_path_buf(), folder.path().join("missing")].map(|path| path.display().to_string());
        let infos: Vec<_> = path_info(&paths).into_iter().map(|info| (info.path, info.folder, info.size)).collect();
        let [file, folder, missing] = paths;
        assert_eq!(infos, [(file, false, Some(4)), (folder, true, None), (missing, false, None)]);
    }
}
