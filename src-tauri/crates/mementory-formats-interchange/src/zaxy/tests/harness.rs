//! Keys and helpers for tests that read, write and check bundles.
use crate::{by_id, detect, zaxy::Zaxy};
use ed25519_dalek::Signer as _;
use mementory_format::testkit::shared;
pub(crate) use mementory_format::testkit::{MemorySource, Scratch, repo};
use mementory_format::{
    Catalog, Detected, Format, FormatError, ReadContext, Signed, Signer, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Limits, Timestamp};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file of the reference data, or None if it is not available.
pub(crate) fn reference(name: &str) -> Option<PathBuf> {
    shared(&format!("reference/zaxy/{name}"))
}

pub(crate) fn fixture(case: &str) -> PathBuf {
    repo().join("fixtures/zaxy").join(case).join("input.json")
}

/// An empty vault at a fixed time.
pub(crate) fn empty() -> MemorySource {
    let (vault, now) = (Some("0191b2c3-0000".into()), Some("2026-05-01T12:00:00.5Z"));
    MemorySource { vault, now, ..MemorySource::default() }
}

/// The only source in a file, with the format that was detected.
pub(crate) fn source(path: &Path) -> Option<(Catalog, Detected, &'static dyn Format)> {
    let catalog = Catalog::open(&[path.to_path_buf()], &Limits::default(), None).unwrap();
    let mut detection = detect(&catalog, &Limits::default(), None).unwrap();
    assert!(detection.ties.is_empty(), "{}", path.display());
    let detected = detection.sources.pop()?;
    let format = by_id(detected.format).unwrap();
    Some((catalog, detected, format))
}

pub(crate) fn read_into(path: &Path, memory: &mut MemorySource) -> Result<(), FormatError> {
    let (catalog, detected, format) = source(path).expect("a source");
    let now = Timestamp::from_micros(0).unwrap();
    let context = ReadContext { limits: Limits::default(), now, passphrase: None };
    format.read(&catalog, &detected, &context, memory)?;
    assert!(memory.files.is_empty() && memory.tombstones.is_empty(), "a bundle has neither attachments nor tombstones");
    Ok(())
}

pub(crate) fn read(path: &Path) -> MemorySource {
    let mut memory = empty();
    read_into(path, &mut memory).unwrap();
    memory
}

pub(crate) fn validate(path: &Path) -> Result<Validation, FormatError> {
    let (catalog, detected, format) = source(path).expect("a source");
    format.validate(&catalog, &detected, &Limits::default(), &[])
}

pub(crate) fn codes(findings: &[mementory_format::Finding]) -> Vec<&str> {
    let mut codes: Vec<&str> = findings.iter().map(|f| f.code.as_str()).collect();
    codes.sort_unstable();
    codes
}

/// Returns the signature of a file. None if the file is not signed.
pub(crate) fn signature(path: &Path) -> Option<Signed> {
    let (catalog, detected, format) = source(path)?;
    let mut out = None;
    let visited = format.signatures(&catalog, &detected, &Limits::default(), &mut |signed| {
        out = Some(signed);
        Ok(())
    });
    visited.ok().and(out)
}

/// True if the signature is valid. Like real callers, verifies it with a cryptography library.
pub(crate) fn is_valid_signature(signed: &Signed) -> bool {
    let Some((key, signature)) = &signed.token else { return false };
    match signed.algorithm.as_str() {
        "ed25519" => {
            let (Ok(key), Ok(signature)) = (key.as_slice().try_into(), signature.as_slice().try_into()) else {
                return false;
            };
            ed25519_dalek::VerifyingKey::from_bytes(key).is_ok_and(|k| {
                k.verify_strict(&signed.message, &ed25519_dalek::Signature::from_bytes(signature)).is_ok()
            })
        }
        "ml-dsa-65" => {
            let (Ok(key), Ok(signature)) = (key.as_slice().try_into(), signature.as_slice().try_into()) else {
                return false;
            };
            ml_dsa::Signature::<ml_dsa::MlDsa65>::decode(signature).is_some_and(|s| {
                ml_dsa::VerifyingKey::<ml_dsa::MlDsa65>::decode(key).verify_with_context(&signed.message, &[], &s)
            })
        }
        _ => false,
    }
}

/// A test key: algorithm and seed byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TestKey(pub &'static str, pub u8);

impl TestKey {
    pub const BOTH: [TestKey; 2] = [TestKey("ed25519", 9), TestKey("ml-dsa-65", 9)];

    fn ed25519_key(self) -> ed25519_dalek::SigningKey {
        ed25519_dalek::SigningKey::from_bytes(&[self.1; 32])
    }
    fn ml_dsa_key(self) -> ml_dsa::ExpandedSigningKey<ml_dsa::MlDsa65> {
        ml_dsa::ExpandedSigningKey::from_seed(&[self.1; 32].into())
    }
}

impl Signer for TestKey {
    fn algorithm(&self) -> &'static str {
        self.0
    }
    fn public_key(&self) -> Vec<u8> {
        match self.0 {
            "ed25519" => self.ed25519_key().verifying_key().to_bytes().to_vec(),
            _ => self.ml_dsa_key().verifying_key().encode().to_vec(),
        }
    }
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        Ok(match self.0 {
            "ed25519" => self.ed25519_key().sign(message).to_bytes().to_vec(),
            _ => self.ml_dsa_key().sign_deterministic(message, &[]).unwrap().encode().to_vec(),
        })
    }
}

pub(crate) fn options(key: Option<TestKey>) -> WriteOptions {
    WriteOptions { everything: true, signer: key.map(|k| Arc::new(k) as Arc<dyn Signer>), ..WriteOptions::default() }
}

pub(crate) fn write(memory: &mut MemorySource, out: &Path, key: Option<TestKey>) -> WriteReport {
    let plan = Zaxy.plan(memory, &options(key)).unwrap();
    let report = Zaxy.write(memory, out, &options(key)).unwrap();
    assert_eq!((&plan.version, &plan.by_kind, &plan.losses), (&report.version, &report.by_kind, &report.losses));
    report
}

/// Copies a file for the checks in `tests/interop` if `MEMENTORY_ZAXY_OUT` names a folder for it.
pub(crate) fn copy_for_interop(path: &Path, name: &str) {
    if let Some(folder) = std::env::var_os("MEMENTORY_ZAXY_OUT") {
        std::fs::copy(path, Path::new(&folder).join(name)).unwrap();
    }
}
