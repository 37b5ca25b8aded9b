//! What is done with files alone: signing keys, signatures, disclosures, hard deletion in an archive. No vault is needed.
use crate::{ApiError, ApiResult, files, trust, types::*};
use mementory_crypto::portable::{Algorithm, SigningKey};
use mementory_formats::{
    FormatError, Passphrase, Signer,
    alf::{
        delta::{self, Applied, ApplyError},
        purge,
    },
    is_uuid, mem, zaxy,
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

pub use mementory_formats::zaxy::{Disclosure, Grain, Selector};

/// Largest key file that is read, in bytes.
const KEY_LIMIT: u64 = 64 << 10;

/// A new key pair.
#[derive(Debug, Clone, Serialize)]
pub struct MadeKey {
    /// `ed25519` or `ml-dsa-65`.
    pub algorithm: String,
    /// In hex.
    pub public_key: String,
    /// First 16 bytes of the SHA-256 of the public key, in hex.
    pub fingerprint: String,
}

/// Make a key pair: the private key as PKCS#8 PEM that only its owner may read, the public key in hex. Neither file may
/// be there already.
///
/// # Errors
/// `usage` for an unknown algorithm, `exists`, `io`. After an error neither file is there.
pub fn make_key(algorithm: &str, private: &Path, public: &Path) -> ApiResult<MadeKey> {
    let known =
        || ApiError::new("usage", 2, format!("{algorithm} is no algorithm for keys: ed25519 and ml-dsa-65 are."));
    let algorithm = Algorithm::parse(algorithm).ok_or_else(known)?;
    let key = SigningKey::generate(algorithm)
        .map_err(|_| ApiError::new("random", 7, "The system gave no random numbers. No key was made."))?;
    write_new(private, key.to_pem().as_bytes(), true)?;
    if let Err(error) = write_new(public, format!("{}\n", key.public_hex()).as_bytes(), false) {
        let _ = std::fs::remove_file(private);
        return Err(error);
    }
    Ok(MadeKey {
        algorithm: algorithm.as_str().into(),
        public_key: key.public_hex(),
        fingerprint: fingerprint(&key.public_key()),
    })
}

/// How a key is shown to people.
pub fn fingerprint(public: &[u8]) -> String {
    hex::encode(&Sha256::digest(public)[..16])
}

fn write_new(path: &Path, bytes: &[u8], secret: bool) -> ApiResult<()> {
    let failed = |e: std::io::Error| {
        let place = path.display();
        match e.kind() {
            std::io::ErrorKind::AlreadyExists => {
                ApiError::new("exists", 7, format!("{place} is already there. Nothing was written."))
            }
            _ => ApiError::new("io", 7, format!("{place} could not be written: {e}.")),
        }
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if secret { 0o600 } else { 0o644 });
    let mut file = options.open(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)
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
        self.0.sign(message).map_err(|_| FormatError::invalid("signing_failed", "key", "the key could not sign"))
    }
}

/// The private key in a PKCS#8 PEM file.
///
/// # Errors
/// `io`, and `bad_key` for a file that holds no Ed25519 or ML-DSA-65 key.
pub fn signer_from(file: &Path) -> ApiResult<Arc<dyn Signer>> {
    let place = file.display();
    let bad =
        || ApiError::new("bad_key", 2, format!("{place} holds no private key of a kind that Mementory signs with."));
    let io = |e: std::io::Error| ApiError::new("io", 7, format!("{place} could not be read: {e}."));
    let opened = std::fs::File::open(file).map_err(io)?;
    let mut text = zeroize::Zeroizing::new(String::new());
    std::io::Read::read_to_string(&mut std::io::Read::take(opened, KEY_LIMIT), &mut text).map_err(|e| {
        match e.kind() {
            std::io::ErrorKind::InvalidData => bad(),
            _ => io(e),
        }
    })?;
    Ok(Arc::new(FileSigner(SigningKey::from_pem(&text).map_err(|_| bad())?)))
}

/// Sign a bundle or an export that can carry a signature; `out` = where to, the file itself where that is possible. The
/// result is checked as [`files::validate`] does, against the signer's own key.
///
/// # Errors
/// `not_supported` for a format that carries no signature of this kind, what is wrong with the file, `io`.
pub fn sign(path: &Path, signer: &dyn Signer, out: Option<&Path>, job: &crate::Job) -> ApiResult<Validation> {
    let out = out.unwrap_or(path);
    let limits = Limits::default();
    match format_of(path, &limits)? {
        "mem" => {
            mem::sign::sign(path, signer, out)?;
        }
        "zaxy" => in_place(path, out, |new| zaxy::sign(path, signer, new, Timestamp::now(), &limits))?,
        other => {
            let message = format!("A file of the format {other} is signed when it is exported, not afterwards.");
            return Err(ApiError::new("not_supported", 2, message));
        }
    }
    let trust = [hex::encode(signer.public_key())];
    files::validate(out, &files::Check { trust: &trust, ..files::Check::default() }, job)
}

/// A provable part of a signed Zaxy bundle, written to the new file `out`.
///
/// # Errors
/// `exists` when there is a file at `out` (the bundle itself is one), not a signed bundle, one that does not fit its own
/// root, `signature_invalid` for one that was changed after it was signed, `io`.
pub fn disclose(bundle: &Path, selector: &Selector, out: &Path) -> ApiResult<Disclosure> {
    let limits = Limits::default();
    let catalog = files::open(bundle, &limits, None)?;
    trust::hold(&catalog, &mementory_formats::detect(&catalog, &limits, Some("zaxy"))?, &limits)?;
    let mut written = Disclosure { disclosed: 0, of: 0 };
    put(out, false, |new| {
        written = zaxy::disclose(bundle, selector, new, &limits)?;
        Ok(())
    })?;
    Ok(written)
}

/// [`put`], where the source itself may be replaced.
fn in_place(source: &Path, out: &Path, write: impl FnOnce(&Path) -> Result<(), FormatError>) -> ApiResult<()> {
    let same = match (source.canonicalize(), out.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    put(out, same, write)
}

/// Writes beside `out` and puts it there when it is whole. What is there is only replaced if that is wanted.
fn put(out: &Path, replace: bool, write: impl FnOnce(&Path) -> Result<(), FormatError>) -> ApiResult<()> {
    let io = |e: std::io::Error| ApiError::new("io", 7, format!("{} could not be written: {e}.", out.display()));
    if out.symlink_metadata().is_ok() && !replace {
        return Err(ApiError::new("exists", 7, format!("{} is already there. Nothing was written.", out.display())));
    }
    let parent = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let holder = tempfile::Builder::new().prefix(".mementory-partial-").tempdir_in(parent).map_err(io)?;
    let partial = holder.path().join("new");
    write(&partial)?;
    std::fs::rename(&partial, out).map_err(io)
}

fn format_of(path: &Path, limits: &Limits) -> ApiResult<&'static str> {
    let catalog = files::open(path, limits, None)?;
    let found = mementory_formats::detect(&catalog, limits, None)?;
    match found.sources.as_slice() {
        [one] => Ok(one.format),
        _ => Err(ApiError::new("not_recognised", 6, format!("{} is not one file of a known format.", path.display()))),
    }
}

/// What applying deltas came to.
#[derive(Debug, Clone, Serialize)]
pub struct AppliedDeltas {
    /// The new archive.
    pub path: String,
    /// Sequence that it stands at.
    pub sequence: u64,
    /// Records made new.
    pub created: u64,
    /// Records changed.
    pub updated: u64,
    /// Records deleted.
    pub deleted: u64,
    /// Lines that were not applied.
    pub findings: Vec<Finding>,
    /// Read back and valid.
    pub validated: bool,
}

/// Applies deltas to an `.alf`, in order, all or none; the result is the new file `out`. `opening` opens what is encrypted;
/// the result is encrypted under it if the base was.
///
/// # Errors
/// `delta_wrong_agent`, `delta_already_applied`, `delta_gap` (one before it is missing), `delta_wrong_base`,
/// `delta_sequence_order`, what is wrong with a file, `exists`, `io`. Nothing is written then.
pub fn apply(
    base: &Path,
    deltas: &[PathBuf],
    out: &Path,
    opening: Option<&dyn Passphrase>,
    job: &crate::Job,
) -> ApiResult<AppliedDeltas> {
    let mut applied = Applied::default();
    put(out, false, |new| {
        applied = delta::apply_with(base, deltas, new, &Limits::default(), opening).map_err(|error| match error {
            ApplyError::Format(error) => error,
            refused => FormatError::invalid(refused.code(), "delta", refused.to_string()),
        })?;
        Ok(())
    })?;
    let check = files::Check { format: Some("alf"), passphrase: opening, ..files::Check::default() };
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

/// How to purge.
#[derive(Debug, Clone, Default)]
pub struct PurgeRequest {
    /// The archive.
    pub archive: PathBuf,
    /// Ids of its records.
    pub ids: Vec<String>,
    /// A new archive; without it the old one is replaced.
    pub out: Option<PathBuf>,
    /// Why; `user_request` without it.
    pub reason: Option<String>,
    /// Who asked for it: the id of a principal.
    pub requested_by: Option<String>,
    /// Deltas of the same agent: what is in them goes too.
    pub deltas: Vec<PathBuf>,
    /// Not records but all of the agent: the archive and its deltas.
    pub whole_agent: bool,
    /// Opens what is encrypted; it is encrypted under it again.
    pub opening: Option<Arc<dyn Passphrase>>,
    /// Links to what goes are taken out as well.
    pub strip_links: bool,
    /// Only say what would happen.
    pub dry_run: bool,
}

/// What was purged.
#[derive(Debug, Clone, Serialize)]
pub struct PurgeResult {
    /// The audit record, as it was written.
    pub audit: serde_json::Value,
    /// Where.
    pub audit_path: Option<String>,
    /// Partitions that changed.
    pub partitions_affected: Vec<String>,
    /// Records removed.
    pub removed: u64,
    /// Changes removed from deltas, by their name.
    pub deltas_affected: BTreeMap<String, u64>,
    /// Files removed as a whole; in a dry run those that would be.
    pub files_removed: Vec<String>,
    /// Ids that no record has.
    pub not_found: Vec<String>,
    /// Places that still hold the text, or cannot be searched.
    pub leftovers: Vec<Leftover>,
}

/// A place that a purge does not reach.
#[derive(Debug, Clone, Serialize)]
pub struct Leftover {
    /// Entry of the archive.
    pub place: String,
    /// Code.
    pub reason: String,
}

/// Hard deletion in a local `.alf` archive: of records, or of the whole agent.
///
/// # Errors
/// `not_found` when no record has any of the ids, `delta_wrong_agent`, `usage` for a request that names no id or one that
/// is not, what is wrong with a file, `io`. Nothing is changed then, unless `io` came after the first of several files: the
/// audit record beside the archive then has no time of completion and names the files that are left.
pub fn purge_archive(request: &PurgeRequest) -> ApiResult<PurgeResult> {
    let usage = |message: &str| Err(ApiError::new("usage", 2, message));
    match (request.whole_agent, request.ids.is_empty(), &request.out) {
        (true, false, _) => return usage("Either records or the whole agent: ids have no place beside --whole-agent."),
        (true, _, Some(_)) => return usage("A whole agent is removed, not written: --out has no place there."),
        (false, true, _) => return usage("Name the records that are to go, or the whole agent."),
        _ => {}
    }
    // a name would stay in the audit record for good
    if request.requested_by.as_deref().is_some_and(|id| !is_uuid(id)) {
        return usage("Who asked is said by the id of a principal (a UUID), never by a name.");
    }
    let options = purge::PurgeOptions {
        out: request.out.clone(),
        reason: request.reason.clone().unwrap_or_else(|| "user_request".into()),
        requested_by: request.requested_by.clone(),
        strip_links: request.strip_links,
        dry_run: request.dry_run,
        deltas: request.deltas.clone(),
        passphrase: request.opening.clone(),
        now: Timestamp::now(),
        limits: Limits::default(),
    };
    if request.whole_agent {
        let gone = purge::purge_agent(&request.archive, &options)?;
        return Ok(PurgeResult {
            files_removed: gone.files.iter().map(|path| path.display().to_string()).collect(),
            ..result(&gone.audit, gone.audit_path, gone.removed)?
        });
    }
    let purged = match purge::purge(&request.archive, &request.ids, &options) {
        Err(FormatError::Invalid { code: "not_found", message, .. }) => {
            return Err(ApiError::new("not_found", 1, format!("Nothing was removed: {message}.")));
        }
        other => other?,
    };
    let mut deltas_affected = purged.removed_from;
    deltas_affected.retain(|name, _| !purged.audit.partitions_affected.contains(name));
    Ok(PurgeResult {
        deltas_affected,
        not_found: purged.not_found,
        leftovers: purged.leftovers.into_iter().map(|l| Leftover { place: l.place, reason: l.reason }).collect(),
        ..result(&purged.audit, purged.audit_path, purged.removed)?
    })
}

fn result(audit: &purge::Audit, audit_path: Option<PathBuf>, removed: u64) -> ApiResult<PurgeResult> {
    Ok(PurgeResult {
        audit: serde_json::to_value(audit)
            .map_err(|_| ApiError::new("internal", 7, "The audit record could not be shown."))?,
        audit_path: audit_path.map(|path| path.display().to_string()),
        partitions_affected: audit.partitions_affected.clone(),
        removed,
        deltas_affected: BTreeMap::new(),
        files_removed: vec![],
        not_found: vec![],
        leftovers: vec![],
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// `fixtures/zaxy/*`: of a bundle that does not hold nothing is disclosed, for nobody could verify it.
    #[test]
    fn only_a_bundle_that_holds_is_disclosed_in_part() {
        let fixtures = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures/zaxy");
        let scratch = tempfile::tempdir().unwrap();
        let (mut whole, mut refused) = (0, Vec::new());
        for case in std::fs::read_dir(&fixtures).unwrap().map(|entry| entry.unwrap().path()) {
            let told = std::fs::read(case.join("case.json")).unwrap();
            let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
            if told["kind"] != "signed" {
                continue;
            }
            let name = case.file_name().unwrap().to_string_lossy().into_owned();
            let out = scratch.path().join(format!("{name}.json"));
            let made = disclose(&case.join("input.json"), &Selector::default(), &out);
            assert_eq!(made.is_ok(), told["signature"] == true, "{name}");
            assert_eq!(made.is_ok(), out.exists(), "{name}");
            match made {
                Ok(_) => {
                    let part = files::validate(&out, &files::Check::default(), &crate::Job::default()).unwrap();
                    assert_eq!((part.ok, part.signature.valid), (true, Some(true)), "{name}");
                    whole += 1;
                }
                Err(error) => {
                    let codes = [told["refused"].as_str().unwrap_or_default(), "signature_invalid"];
                    assert!(
                        codes.contains(&error.code) && error.details.contains_key("place"),
                        "{name}: {}",
                        error.code
                    );
                    if told["signature"] == false {
                        assert_eq!(error.code, "signature_invalid", "{name}");
                        refused.push(name);
                    }
                }
            }
        }
        refused.sort();
        assert_eq!(
            (whole, refused),
            (4, ["tampered-header", "tampered-signature", "unknown-algorithm"].map(str::to_owned).to_vec())
        );
    }
}
