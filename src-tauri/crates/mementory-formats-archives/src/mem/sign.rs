//! Signs a bundle (spec v1.1 §1.3): the manifest's exact bytes, and each tombstone in canonical form without its
//! `signature`. The caller provides the signer. [`super::signatures`] lists the signatures for verification.
use super::{
    bundle::{Bundle, MANIFEST_FILE, SIGNATURE_FILE},
    conformance::{CheckDepth, Report, Severity, check_bundle},
    kinds::TOMBSTONE_SPEC,
    output_target::OutputTarget,
    signature_token::sign_as_token,
    signatures::signed_bytes,
    tombstones::{set_slot_signature, slot_signature},
    wire::{decode, line},
};
use crate::detect;
use mementory_format::{Catalog, FormatError, SignFiles, Signer};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use sha2::{Digest, Sha256};
use std::{io::Read, path::Path};

/// The result of [`sign`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBundle {
    /// Public key in hex.
    pub key: String,
    /// `bundleDigest` of the bundle, or the SHA-256 of its manifest if there is none (version 1.0).
    pub digest: String,
    /// True if an earlier signature was replaced.
    pub replaced: bool,
}

/// Adds a signature to the line of a tombstone.
pub(super) fn sign_tombstone(source: &str, signer: &dyn Signer, depth: u32) -> Result<String, FormatError> {
    let malformed_error = || FormatError::invalid("malformed", TOMBSTONE_SPEC.path(), "malformed tombstone record");
    let mut tree = decode(&TOMBSTONE_SPEC, source, depth).map_err(|_| malformed_error())?;
    let message = signed_bytes(&tree).ok_or_else(malformed_error)?;
    if let Some((_, covered)) = slot_signature(&tree) {
        set_slot_signature(&mut tree, sign_as_token(signer, &covered)?);
    }
    tree.set("signature", Tree::Text(sign_as_token(signer, &message)?));
    line(&TOMBSTONE_SPEC, &tree).map_err(|_| malformed_error())
}

/// Signs the bundle at `bundle` (a folder, or an archive that contains the bundle): copies all files byte for byte to
/// `out` and adds a new `manifest.sig`. If `out` is the bundle's own folder, only `manifest.sig` is written. If `out`
/// ends in `.zip`, an archive is written.
///
/// # Errors
/// Fails if the bundle has errors, if the input does not contain exactly one bundle, or if `out` exists and is not the
/// bundle itself. After an error, nothing is left at a new `out`, and a bundle that is signed in place is unchanged.
pub fn sign(bundle: &Path, signer: &dyn Signer, out: &Path) -> Result<SignedBundle, FormatError> {
    let limits = Limits::default();
    with_valid_bundle(bundle, &limits, &mut |source, report| {
        let signature = format!("{}\n", sign_as_token(signer, &report.manifest_bytes)?);
        let is_in_place = bundle.is_dir() && same_folder(&bundle.join(&source.prefix), out);
        if is_in_place {
            replace_file(&out.join(SIGNATURE_FILE), signature.as_bytes())?;
        } else {
            copy_bundle(source, report, out, Some(&signature))?;
        }
        let digest = report.manifest.as_ref().and_then(|m| m.bundle_digest.clone());
        Ok(SignedBundle {
            key: hex::encode(signer.public_key()),
            digest: digest.unwrap_or_else(|| hex::encode(Sha256::digest(&report.manifest_bytes))),
            replaced: source.files.contains_key(SIGNATURE_FILE),
        })
    })
}

impl SignFiles for super::Mem {
    fn signs_in_place(&self) -> bool {
        true
    }
    fn sign(
        &self,
        path: &Path,
        signer: &dyn Signer,
        out: &Path,
        _now: Timestamp,
        _limits: &Limits,
    ) -> Result<(), FormatError> {
        sign(path, signer, out).map(|_| ())
    }
}

/// Copies a bundle byte for byte, including its signature. A folder can be copied into an archive (if `out` ends in
/// `.zip`), and an archive into a folder.
///
/// # Errors
/// The same errors as [`sign`].
pub fn pack(bundle: &Path, out: &Path) -> Result<(), FormatError> {
    with_valid_bundle(bundle, &Limits::default(), &mut |source, report| copy_bundle(source, report, out, None))
}

type BundleAction<'a, T> = &'a mut dyn FnMut(&Bundle, &Report) -> Result<T, FormatError>;

/// Calls `action` with the only bundle at `path` if the bundle has no errors.
fn with_valid_bundle<T>(path: &Path, limits: &Limits, action: BundleAction<T>) -> Result<T, FormatError> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
    let detection = detect(&catalog, limits, Some("mem"))?;
    let [source] = detection.sources.as_slice() else {
        let message = format!("exactly one .mem bundle is needed here, {} were found", detection.sources.len());
        return Err(FormatError::invalid("not_one_bundle", path.display().to_string(), message));
    };
    let bundle = Bundle::open(&catalog, source, limits)?;
    let report = check_bundle(&bundle, CheckDepth::Import, &mut || Ok(()))?;
    if let Some(refusal) = report.fatal_error(&bundle, &[]) {
        return Err(refusal);
    }
    if let Some((_, code, finding)) = report.findings.iter().find(|(s, ..)| *s == Severity::Error) {
        return Err(FormatError::invalid(code, bundle.place_of(&finding.place), finding.message.clone()));
    }
    if let Some(path) = bundle.unreadable.keys().next() {
        let message = "the bundle contains a link, a device or an entry that cannot be read, so it cannot be copied";
        return Err(FormatError::invalid("path_escapes", bundle.place_of(path), message));
    }
    action(&bundle, &report)
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Replaces a file atomically.
fn replace_file(target: &Path, bytes: &[u8]) -> Result<(), FormatError> {
    let partial_path = target.with_extension("sig.partial");
    let io = |e| FormatError::io(SIGNATURE_FILE, e);
    let result = std::fs::write(&partial_path, bytes).and_then(|()| std::fs::rename(&partial_path, target));
    if result.is_err() {
        let _ = std::fs::remove_file(&partial_path);
    }
    result.map_err(io)
}

/// Copies all files. If `signature` is given, it replaces the existing signature.
fn copy_bundle(bundle: &Bundle, report: &Report, out: &Path, signature: Option<&str>) -> Result<(), FormatError> {
    let mut target = OutputTarget::create(out, &[])?;
    let mut copy = || -> Result<(), FormatError> {
        let listed_files = report.manifest.iter().flat_map(|m| &m.files);
        let digests: std::collections::BTreeMap<_, _> = listed_files.map(|f| (f.path.as_str(), &f.sha256)).collect();
        for (path, member) in &bundle.files {
            if signature.is_some() && *path == SIGNATURE_FILE {
                continue;
            }
            let mut bytes = Vec::new();
            let bound = bundle.limits.mem_file_bytes;
            bundle.catalog.read(member, |r| {
                r.take(bound + 1).read_to_end(&mut bytes).map_err(|e| FormatError::io(&member.place, e))
            })?;
            if bytes.len() as u64 > bound {
                return Err(FormatError::Limit { limit: "mem_file_bytes", place: member.place.clone(), figure: bound });
            }
            // Another program may have changed the file since the check, and only checked bytes may be signed.
            let entry = target.write_file(path, &bytes)?;
            let is_same = digests.get(path).is_none_or(|digest| **digest == entry.sha256);
            if !is_same || (*path == MANIFEST_FILE && bytes != report.manifest_bytes) {
                let message = "the file was changed by another program while it was read";
                return Err(FormatError::invalid("checksum_mismatch", &member.place, message));
            }
        }
        if let Some(signature) = signature {
            target.write_file(SIGNATURE_FILE, signature.as_bytes())?;
        }
        Ok(())
    };
    let result = copy().and_then(|()| target.finish());
    if result.is_err() {
        let _ = if out.is_dir() { std::fs::remove_dir_all(out) } else { std::fs::remove_file(out) };
    }
    result
}
