//! Signing (spec v1.1 §1.3): the manifest as it lies on disk, each tombstone in canonical form without its `signature`.
//! The key stays with the caller; whether a signature holds is judged beside the key library ([`super::signed`]).
use super::{
    bundle::{Bundle, MANIFEST, SIGNATURE},
    kinds::TOMBSTONE,
    place::Place,
    signed::signed_bytes,
    verify::{Depth, Report, Severity, verify},
    wire::{decode, line},
};
use crate::detect;
use mementory_format::{Catalog, FormatError, Signer};
use mementory_json::Tree;
use mementory_model::Limits;
use sha2::{Digest, Sha256};
use std::{io::Read, path::Path};

/// What [`sign`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedBundle {
    /// Public key, in hex.
    pub key: String,
    /// `bundleDigest` of the bundle, or SHA-256 of its manifest where that has none (format 1.0).
    pub digest: String,
    /// True when another signature was there before.
    pub replaced: bool,
}

/// `ed25519:<public key>:<signature>`, both in lowercase hex.
pub(super) fn token(signer: &dyn Signer, message: &[u8]) -> Result<String, FormatError> {
    let key = signer.public_key();
    if signer.algorithm() != "ed25519" || key.len() != 32 {
        let message = "a .mem bundle is signed with an Ed25519 key and no other";
        return Err(FormatError::invalid("key_not_supported", SIGNATURE, message));
    }
    let signature = signer.sign(message)?;
    if signature.len() != 64 {
        return Err(FormatError::invalid("signing_failed", SIGNATURE, "the signer gave no Ed25519 signature"));
    }
    Ok(format!("ed25519:{}:{}", hex::encode(key), hex::encode(signature)))
}

/// The line of a tombstone with a signature in it.
pub(super) fn tombstone(source: &str, signer: &dyn Signer, depth: u32) -> Result<String, FormatError> {
    let failed = || FormatError::invalid("malformed", TOMBSTONE.path(), "malformed tombstone record");
    let mut tree = decode(&TOMBSTONE, source, depth).map_err(|_| failed())?;
    let message = signed_bytes(&tree).ok_or_else(failed)?;
    tree.set("signature", Tree::Text(token(signer, &message)?));
    line(&TOMBSTONE, &tree).map_err(|_| failed())
}

/// Signs the bundle at `bundle` (a folder or an archive that holds one) into `out`: every file as it is, byte for byte,
/// and a new `manifest.sig`. With `out` = the bundle's own folder only that file is written. `out` ending in `.zip` is
/// written as an archive.
///
/// # Errors
/// A bundle with any fault is not signed, nor one that is not alone; the error names the first. `out` must not exist
/// unless it is the bundle itself. Nothing is left behind after an error.
pub fn sign(bundle: &Path, signer: &dyn Signer, out: &Path) -> Result<SignedBundle, FormatError> {
    let limits = Limits::default();
    opened(bundle, &limits, &mut |bundle_in, report| {
        let signature = format!("{}\n", token(signer, &report.manifest_bytes)?);
        let in_place = bundle.is_dir() && same_folder(&bundle.join(&bundle_in.prefix), out);
        if in_place {
            replace(&out.join(SIGNATURE), signature.as_bytes())?;
        } else {
            copied(bundle_in, report, out, Some(&signature))?;
        }
        let digest = report.manifest.as_ref().and_then(|m| m.bundle_digest.clone());
        Ok(SignedBundle {
            key: hex::encode(signer.public_key()),
            digest: digest.unwrap_or_else(|| hex::encode(Sha256::digest(&report.manifest_bytes))),
            replaced: bundle_in.files.contains_key(SIGNATURE),
        })
    })
}

/// Copies a bundle as it is, signature included: a folder into an archive (`out` ends in `.zip`) or the other way round.
///
/// # Errors
/// As [`sign`].
pub fn pack(bundle: &Path, out: &Path) -> Result<(), FormatError> {
    opened(bundle, &Limits::default(), &mut |bundle_in, report| copied(bundle_in, report, out, None))
}

type Act<'a, T> = &'a mut dyn FnMut(&Bundle, &Report) -> Result<T, FormatError>;

/// The one bundle at `path`, when nothing is wrong with it.
fn opened<T>(path: &Path, limits: &Limits, act: Act<T>) -> Result<T, FormatError> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, None)?;
    let found = detect(&catalog, limits, Some("mem"))?;
    let [one] = found.sources.as_slice() else {
        let message = format!("one .mem bundle is asked for, {} are here", found.sources.len());
        return Err(FormatError::invalid("not_one_bundle", path.display().to_string(), message));
    };
    let bundle = Bundle::open(&catalog, one, limits)?;
    let report = verify(&bundle, Depth::Import, &mut || Ok(()))?;
    if let Some(refusal) = report.refusal(&bundle) {
        return Err(refusal);
    }
    if let Some((_, code, finding)) = report.findings.iter().find(|(s, ..)| *s == Severity::Error) {
        return Err(FormatError::invalid(code, bundle.place_of(&finding.place), finding.message.clone()));
    }
    if let Some(path) = bundle.unreadable.first() {
        let message = "a link or device cannot be copied";
        return Err(FormatError::invalid("path_escapes", bundle.place_of(path), message));
    }
    act(&bundle, &report)
}

fn same_folder(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Over a file that may be there: whole, or not at all.
fn replace(target: &Path, bytes: &[u8]) -> Result<(), FormatError> {
    let partial = target.with_extension("sig.partial");
    let io = |e| FormatError::io(SIGNATURE, e);
    let done = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, target));
    if done.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    done.map_err(io)
}

/// All files, with another signature if there is one to write.
fn copied(bundle: &Bundle, report: &Report, out: &Path, signature: Option<&str>) -> Result<(), FormatError> {
    let mut place = Place::create(out, &[])?;
    let mut copy = || -> Result<(), FormatError> {
        let listed = report.manifest.iter().flat_map(|m| &m.files);
        let digests: std::collections::BTreeMap<_, _> = listed.map(|f| (f.path.as_str(), &f.sha256)).collect();
        for (path, member) in &bundle.files {
            if signature.is_some() && *path == SIGNATURE {
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
            // What is signed is what was checked, not what another program put there meanwhile.
            let entry = place.put(path, &bytes)?;
            let same = digests.get(path).is_none_or(|digest| **digest == entry.sha256);
            if !same || (*path == MANIFEST && bytes != report.manifest_bytes) {
                let message = "the file changed while it was read";
                return Err(FormatError::invalid("checksum_mismatch", &member.place, message));
            }
        }
        if let Some(signature) = signature {
            place.put(SIGNATURE, signature.as_bytes())?;
        }
        Ok(())
    };
    let done = copy().and_then(|()| place.finish());
    if done.is_err() {
        let _ = if out.is_dir() { std::fs::remove_dir_all(out) } else { std::fs::remove_file(out) };
    }
    done
}
