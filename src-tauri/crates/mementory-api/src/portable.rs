//! Operations on files that need no vault: signing keys, signatures, disclosures, deltas, and permanent deletion from
//! an archive.
use crate::{ApiError, ApiResult, files, new_file::new_file, trust, types::*};
use mementory_crypto::portable::{Algorithm, SigningKey};
use mementory_formats::{
    Format, FormatError, FormatOptions, Passphrase, PurgeOptions, PurgeReport, Signer, archive_editing, by_id,
    disclosure, is_uuid, registry,
};
use mementory_model::{Limits, Timestamp};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use mementory_formats::{Disclosure, Grain, Selector};

/// Largest size in bytes of a key file that is read.
const MAX_KEY_FILE_BYTES: u64 = 64 << 10;

/// A generated key pair.
#[derive(Debug, Clone, Serialize)]
pub struct GeneratedKey {
    /// `ed25519` or `ml-dsa-65`.
    pub algorithm: String,
    /// The public key in hex.
    pub public_key: String,
    /// First 16 bytes of the SHA-256 of the public key, in hex.
    pub fingerprint: String,
}

/// Generates a key pair and writes both keys to new files: the private key as PKCS#8 PEM, readable by its owner only,
/// and the public key in hex.
///
/// # Errors
/// `usage` for an unknown algorithm; `exists` if one of the files exists; `io`. After an error, neither file exists.
pub fn generate_key(algorithm: &str, private: &Path, public: &Path) -> ApiResult<GeneratedKey> {
    let unknown_algorithm_error = || {
        ApiError::usage(format!("{algorithm} is not a signing algorithm. No key was made. Use ed25519 or ml-dsa-65."))
    };
    let algorithm = Algorithm::parse(algorithm).ok_or_else(unknown_algorithm_error)?;
    let key = SigningKey::generate(algorithm).map_err(|_| {
        ApiError::new("random", 7, "The system provided no random numbers. No key was made. Try again.")
    })?;
    write_new(private, key.to_pem().as_bytes(), true)?;
    if let Err(error) = write_new(public, format!("{}\n", key.public_hex()).as_bytes(), false) {
        let _ = std::fs::remove_file(private);
        return Err(error);
    }
    Ok(GeneratedKey {
        algorithm: algorithm.as_str().into(),
        public_key: key.public_hex(),
        fingerprint: fingerprint(&key.public_key()),
    })
}

/// Returns the short form of a public key that people compare: the first 16 bytes of the key's SHA-256, in hex.
pub fn fingerprint(public: &[u8]) -> String {
    hex::encode(&Sha256::digest(public)[..16])
}

fn write_new(path: &Path, bytes: &[u8], is_secret: bool) -> ApiResult<()> {
    let write_error = |e: std::io::Error| {
        let place = path.display();
        match e.kind() {
            std::io::ErrorKind::AlreadyExists => ApiError::exists(place),
            _ => ApiError::io(format!("{place} could not be written: {e}. No key was made.")),
        }
    };
    let mut file = new_file(path, is_secret).map_err(write_error)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(write_error)
}

#[derive(Debug)]
struct FileSigner(SigningKey);

impl Signer for FileSigner {
    fn algorithm(&self) -> &'static str {
        self.0.algorithm().as_str()
    }

    fn public_key(&self) -> Vec<u8> {
        self.0.public_key()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        self.0.sign(message).map_err(|_| FormatError::invalid("signing_failed", "key", "signing with this key failed"))
    }
}

/// Reads the private key from a PKCS#8 PEM file.
///
/// # Errors
/// `io`; `bad_key` if the file contains no Ed25519 or ML-DSA-65 key.
pub fn signer_from(file: &Path) -> ApiResult<Arc<dyn Signer>> {
    let place = file.display();
    let bad_key_error = || {
        ApiError::new(
            "bad_key",
            2,
            format!(
                "{place} holds no key to sign with. Nothing was changed. Use an Ed25519 or ML-DSA-65 key as PKCS#8 PEM."
            ),
        )
    };
    let io_error = |e: std::io::Error| ApiError::io(format!("{place} could not be read: {e}. Nothing was changed."));
    let opened = std::fs::File::open(file).map_err(io_error)?;
    let mut text = zeroize::Zeroizing::new(String::new());
    std::io::Read::read_to_string(&mut std::io::Read::take(opened, MAX_KEY_FILE_BYTES), &mut text).map_err(
        |e| match e.kind() {
            std::io::ErrorKind::InvalidData => bad_key_error(),
            _ => io_error(e),
        },
    )?;
    Ok(Arc::new(FileSigner(SigningKey::from_pem(&text).map_err(|_| bad_key_error())?)))
}

/// Signs a bundle or an export. Writes the signed file to `out`, or over the original if `out` is None, and validates
/// the signed file against the signer's key.
///
/// # Errors
/// `not_supported` for a format that cannot be signed after the export; `exists` if `out` is another file that exists;
/// errors of an invalid file; `io`.
pub fn sign(path: &Path, signer: &dyn Signer, out: Option<&Path>, job: &crate::Job) -> ApiResult<Validation> {
    let out = out.unwrap_or(path);
    let limits = Limits::default();
    let format = format_of(path, &limits)?;
    let Some(signing) = format.file_signing() else {
        let signed = registry().iter().filter(|format| format.file_signing().is_some()).map(|format| format.id());
        let message = format!(
            "A file of the format {} has no signature. Nothing was changed. Files of these formats can be signed: {}.",
            format.id(),
            signed.collect::<Vec<_>>().join(", ")
        );
        return Err(ApiError::new("not_supported", 2, message));
    };
    let sign_to = |new: &Path| signing.sign(path, signer, new, Timestamp::now(), &limits);
    if signing.signs_in_place() {
        if !is_same_file(path, out) && out.symlink_metadata().is_ok() {
            return Err(ApiError::exists(out.display()));
        }
        sign_to(out)?;
    } else {
        write_maybe_in_place(path, out, sign_to)?;
    }
    let trust = [hex::encode(signer.public_key())];
    files::validate(out, &files::Check { trust: &trust, ..files::Check::default() }, job)
}

/// Writes the selected entries of a signed Zaxy bundle, with a proof, to the new file `out`.
///
/// # Errors
/// `exists` if `out` exists; an error if the bundle is not signed or does not match its root hash; `signature_invalid`
/// if the bundle was changed after it was signed; `io`.
pub fn disclose(bundle: &Path, selector: &Selector, out: &Path) -> ApiResult<Disclosure> {
    let limits = Limits::default();
    let catalog = files::open(bundle, &limits, None)?;
    let (format, parts) = disclosure().ok_or_else(unsupported_error)?;
    let detected = mementory_formats::detect(&catalog, &limits, Some(format.id()))?;
    trust::require_valid_signatures(&catalog, &detected, &limits)?;
    let selection = FormatOptions::new(selector.clone());
    let mut written = Disclosure { disclosed: 0, total: 0 };
    write_atomically(out, false, |new| {
        written = parts.disclose(bundle, &selection, new, &limits)?;
        Ok(())
    })?;
    Ok(written)
}

/// Like [`write_atomically`], but `out` may be `source` itself. In that case, `source` is replaced.
fn write_maybe_in_place(
    source: &Path,
    out: &Path,
    write: impl FnOnce(&Path) -> Result<(), FormatError>,
) -> ApiResult<()> {
    write_atomically(out, is_same_file(source, out), write)
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

/// Writes to a temporary file next to `out` and renames it once it is complete. An existing file is replaced only if
/// `replace` is set.
fn write_atomically(out: &Path, replace: bool, write: impl FnOnce(&Path) -> Result<(), FormatError>) -> ApiResult<()> {
    let io =
        |e: std::io::Error| ApiError::io(format!("{} could not be written: {e}. Nothing was changed.", out.display()));
    if out.symlink_metadata().is_ok() && !replace {
        return Err(ApiError::exists(out.display()));
    }
    let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = tempfile::Builder::new().prefix(".mementory-partial-").tempdir_in(parent).map_err(io)?;
    let partial = temporary.path().join("new");
    write(&partial)?;
    std::fs::rename(&partial, out).map_err(io)
}

/// The error for an operation that no format supports.
fn unsupported_error() -> ApiError {
    ApiError::new("not_supported", 2, "No format of this program can do that. Nothing was changed.")
}

fn format_of(path: &Path, limits: &Limits) -> ApiResult<&'static dyn Format> {
    let catalog = files::open(path, limits, None)?;
    let detected = mementory_formats::detect(&catalog, limits, None)?;
    match detected.sources.as_slice() {
        [one] => by_id(one.format).ok_or_else(unsupported_error),
        _ => Err(ApiError::new(
            "not_recognised",
            6,
            format!("{} is not a single file of a known format. Nothing was changed.", path.display()),
        )),
    }
}

/// Result of applying deltas.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedDeltas {
    /// Path of the new archive.
    pub path: String,
    /// Sequence number of the new archive.
    pub sequence: u64,
    /// Number of records created.
    pub created: u64,
    /// Number of records changed.
    pub updated: u64,
    /// Number of records deleted.
    pub deleted: u64,
    /// Lines that could not be applied.
    pub findings: Vec<Finding>,
    /// True if the new archive was read back and is valid.
    pub validated: bool,
}

/// Applies deltas to an `.alf` archive in order, either all of them or none, and writes the result to the new file
/// `out`. `passphrase` opens encrypted files. If the base was encrypted, the result is encrypted with it too.
///
/// # Errors
/// `delta_wrong_agent`; `delta_already_applied`; `delta_gap` if an earlier delta is missing; `delta_wrong_base`;
/// `delta_sequence_order`; errors of an invalid file; `exists`; `io`. After an error, nothing is written.
pub fn apply(
    base: &Path,
    deltas: &[PathBuf],
    out: &Path,
    passphrase: Option<&dyn Passphrase>,
    job: &crate::Job,
) -> ApiResult<AppliedDeltas> {
    let (format, archives) = archive_editing().ok_or_else(unsupported_error)?;
    let mut applied = mementory_formats::AppliedDeltas::default();
    write_atomically(out, false, |new| {
        applied = archives.apply_deltas(base, deltas, new, &Limits::default(), passphrase)?;
        Ok(())
    })?;
    let check = files::Check { format: Some(format.id()), passphrase, ..files::Check::default() };
    let checked = files::validate(out, &check, job)?;
    Ok(AppliedDeltas {
        path: out.display().to_string(),
        sequence: applied.sequence,
        created: applied.created,
        updated: applied.updated,
        deleted: applied.deleted,
        findings: applied.findings.into_iter().map(Finding::from).collect(),
        validated: checked.ok,
    })
}

/// Request to permanently delete records from an archive, or to delete the archive as a whole.
#[derive(Debug, Clone, Default)]
pub struct PurgeRequest {
    /// Path of the archive.
    pub archive: PathBuf,
    /// Ids of the records to delete.
    pub ids: Vec<String>,
    /// Path of the new archive. None replaces the old one.
    pub out: Option<PathBuf>,
    /// Reason to state in the audit record. None means `user_request`.
    pub reason: Option<String>,
    /// Id of the principal who requested the deletion.
    pub requested_by: Option<String>,
    /// Deltas of the same agent, from which the records are deleted too.
    pub deltas: Vec<PathBuf>,
    /// True to delete the whole agent (the archive and its deltas) instead of single records.
    pub whole_agent: bool,
    /// The passphrase that opens encrypted files and encrypts the new ones.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// True to also remove links to the deleted records.
    pub strip_links: bool,
    /// True to only report what would be deleted.
    pub dry_run: bool,
}

/// Result of a permanent deletion.
#[derive(Debug, Clone, Serialize)]
pub struct PurgeResult {
    /// Content of the audit record.
    pub audit: serde_json::Value,
    /// Path of the audit record. None if no audit record was written.
    pub audit_path: Option<String>,
    /// Partitions of the archive that changed.
    pub partitions_affected: Vec<String>,
    /// Number of records removed.
    pub removed: u64,
    /// For each delta, by name: the number of changes that were removed from it.
    pub deltas_affected: BTreeMap<String, u64>,
    /// Paths of the deleted files. In a dry run, paths of the files that would be deleted.
    pub files_removed: Vec<String>,
    /// Requested ids for which there is no record.
    pub not_found: Vec<String>,
    /// Entries of the archive that may still contain text of the deleted records.
    pub leftovers: Vec<Leftover>,
}

/// An entry of an archive that still contains deleted text, or that cannot be searched for such text.
#[derive(Debug, Clone, Serialize)]
pub struct Leftover {
    /// Name of the entry in the archive.
    pub place: String,
    /// Code of the reason why the entry is listed.
    pub reason: String,
}

/// Deletes records, or the whole agent, permanently from a local `.alf` archive.
///
/// # Errors
/// `not_found` if no record has any of the ids; `delta_wrong_agent`; `usage` for missing or malformed ids; errors of an
/// invalid file; `io`. After an error, nothing is changed, unless `io` occurs after the first of several files was
/// written. In that case, the audit record next to the archive has no completion time and names the remaining files.
pub fn purge_archive(request: &PurgeRequest) -> ApiResult<PurgeResult> {
    let usage = |message: &str| Err(ApiError::usage(message));
    match (request.whole_agent, request.ids.is_empty(), &request.out) {
        (true, false, _) => {
            return usage("Ids and --whole-agent cannot be combined. Nothing was removed. Use one of them.");
        }
        (true, _, Some(_)) => {
            return usage(
                "--whole-agent writes no new archive, so it cannot be combined with --out. Nothing was removed.",
            );
        }
        (false, true, _) => {
            return usage("No ids were given. Nothing was removed. Give the ids of records, or use --whole-agent.");
        }
        _ => {}
    }
    // Names are refused, because a person's name would remain in the audit record permanently.
    if request.requested_by.as_deref().is_some_and(|id| !is_uuid(id)) {
        return usage("--requested-by takes the id of a principal (a UUID), not a name. Nothing was removed.");
    }
    let (_, archives) = archive_editing().ok_or_else(unsupported_error)?;
    let options = PurgeOptions {
        out: request.out.clone(),
        reason: request.reason.clone().unwrap_or_else(|| "user_request".into()),
        requested_by: request.requested_by.clone(),
        strip_links: request.strip_links,
        dry_run: request.dry_run,
        deltas: request.deltas.clone(),
        passphrase: request.passphrase.clone(),
        now: Timestamp::now(),
        limits: Limits::default(),
    };
    if request.whole_agent {
        return Ok(purge_result(archives.purge_everything(&request.archive, &options)?));
    }
    let purged = match archives.purge(&request.archive, &request.ids, &options) {
        Err(FormatError::Invalid { code: "not_found", message, .. }) => {
            return Err(ApiError::new("not_found", 1, format!("Nothing was removed: {message}.")));
        }
        other => other?,
    };
    Ok(purge_result(purged))
}

fn purge_result(purged: PurgeReport) -> PurgeResult {
    let mut deltas_affected = purged.removed_from;
    deltas_affected.retain(|name, _| !purged.partitions_affected.contains(name));
    let text = |path: &PathBuf| path.display().to_string();
    PurgeResult {
        audit: purged.audit,
        audit_path: purged.audit_path.as_ref().map(text),
        partitions_affected: purged.partitions_affected,
        removed: purged.removed,
        deltas_affected,
        files_removed: purged.files_removed.iter().map(text).collect(),
        not_found: purged.not_found,
        leftovers: purged.leftovers.into_iter().map(|l| Leftover { place: l.place, reason: l.reason }).collect(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Tests every bundle in `fixtures/zaxy`. A bundle that cannot be verified must not be disclosed, because a
    /// disclosed part of it could not be verified either.
    #[test]
    fn only_a_bundle_that_verifies_is_disclosed() {
        let fixtures = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/zaxy");
        let scratch = tempfile::tempdir().unwrap();
        let (mut disclosed, mut refused) = (0, Vec::new());
        for case in std::fs::read_dir(&fixtures).unwrap().map(|entry| entry.unwrap().path()) {
            let text = std::fs::read(case.join("case.json")).unwrap();
            let expected: serde_json::Value = serde_json::from_slice(&text).unwrap();
            if expected["kind"] != "signed" {
                continue;
            }
            let name = case.file_name().unwrap().to_string_lossy().into_owned();
            let out = scratch.path().join(format!("{name}.json"));
            let disclosure_result = disclose(&case.join("input.json"), &Selector::default(), &out);
            assert_eq!(disclosure_result.is_ok(), expected["signature"] == true, "{name}");
            assert_eq!(disclosure_result.is_ok(), out.exists(), "{name}");
            match disclosure_result {
                Ok(_) => {
                    let part = files::validate(&out, &files::Check::default(), &crate::Job::default()).unwrap();
                    assert_eq!((part.ok, part.signature.valid), (true, Some(true)), "{name}");
                    disclosed += 1;
                }
                Err(error) => {
                    let codes = [expected["refused"].as_str().unwrap_or_default(), "signature_invalid"];
                    assert!(
                        codes.contains(&error.code) && error.details.contains_key("place"),
                        "{name}: {}",
                        error.code
                    );
                    if expected["signature"] == false {
                        assert_eq!(error.code, "signature_invalid", "{name}");
                        refused.push(name);
                    }
                }
            }
        }
        refused.sort();
        assert_eq!(
            (disclosed, refused),
            (5, ["tampered-header", "tampered-signature", "unknown-algorithm"].map(str::to_owned).to_vec())
        );
    }
}
