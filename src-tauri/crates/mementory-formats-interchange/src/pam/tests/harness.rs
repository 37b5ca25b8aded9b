//! Helpers for tests that read, write and check stores.
use crate::{by_id, detect, pam::Pam};
pub(super) use mementory_format::testkit::{MemorySource, Scratch, repo, shared};
use mementory_format::{
    Catalog, Detection, Format, FormatError, ReadContext, Signed, Signer, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Limits, Record, Timestamp};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{io::Write, path::Path};

pub(super) fn open(path: &Path, format: Option<&str>) -> (Catalog, Detection) {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, format).unwrap();
    (catalog, detection)
}

/// Reads every source at a path with the format that was detected for it.
pub(super) fn read_any(path: &Path) -> Result<MemorySource, FormatError> {
    let (catalog, detection) = open(path, None);
    assert!(!detection.sources.is_empty(), "no source in {}", path.display());
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut sink = MemorySource::default();
    for source in &detection.sources {
        by_id(source.format).unwrap().read(&catalog, source, &context, &mut sink)?;
    }
    Ok(sink)
}

/// Reads the sources at a path, which must all be PAM.
pub(super) fn read(path: &Path) -> Result<MemorySource, FormatError> {
    let (_, detection) = open(path, None);
    assert!(!detection.sources.is_empty() && detection.sources.iter().all(|s| s.format == "pam"), "{}", path.display());
    read_any(path)
}

pub(super) fn full_export() -> WriteOptions {
    WriteOptions { everything: true, ..WriteOptions::default() }
}

pub(super) fn write(source: &mut MemorySource, path: &Path, options: &WriteOptions) -> WriteReport {
    let report = Pam.write(source, path, options).unwrap();
    let planned = Pam.plan(source, options).unwrap();
    assert_eq!((&planned.by_kind, &planned.withheld), (&report.by_kind, &report.withheld), "plan and writing agree");
    assert_eq!(planned.losses, report.losses);
    copy_for_interop(path);
    report
}

/// Copies the output for `tests/interop/pam_check.py` if `MEMENTORY_PAM_OUT` names a folder for it.
fn copy_for_interop(path: &Path) {
    let Some(folder) = std::env::var_os("MEMENTORY_PAM_OUT").filter(|_| path.is_dir()) else { return };
    let name = path.components().rev().take(2).map(|c| c.as_os_str().to_string_lossy().into_owned());
    let name = name.collect::<Vec<_>>().join("-");
    copy(path, &Path::new(&folder).join(name));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let at = entry.unwrap().path();
        let target = to.join(at.file_name().unwrap());
        if at.is_dir() { copy(&at, &target) } else { std::fs::copy(&at, &target).map(drop).unwrap() }
    }
}

pub(super) fn validate(path: &Path) -> Validation {
    let (catalog, detection) = open(path, Some("pam"));
    Pam.validate(&catalog, &detection.sources[0], &Limits::default(), &[]).unwrap()
}

pub(super) fn errors(path: &Path) -> Vec<String> {
    validate(path).errors.into_iter().map(|f| format!("{} {}", f.code, f.place)).collect()
}

pub(super) fn signatures(path: &Path) -> Vec<Signed> {
    let (catalog, detection) = open(path, Some("pam"));
    let mut out = Vec::new();
    Pam.signatures(&catalog, &detection.sources[0], &Limits::default(), &mut |s| {
        out.push(s);
        Ok(())
    })
    .unwrap();
    out
}

pub(super) fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(super) fn ids(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
}

/// All records as JSON, sorted by key.
pub(super) fn sorted_json(records: &[Record]) -> Vec<Value> {
    let mut out: Vec<Value> = records.iter().map(|r| serde_json::to_value(r).unwrap()).collect();
    out.sort_by_key(|v| format!("{}{}", v["key"], v["kind"]));
    out
}

pub(super) fn pack(folder: &Path, path: &Path) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let mut pending = vec![folder.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let at = entry.unwrap().path();
            if at.is_dir() {
                pending.push(at);
            } else {
                let name = at.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
                zip.write_all(&std::fs::read(&at).unwrap()).unwrap();
            }
        }
    }
    zip.finish().unwrap();
}

/// A signer whose signature is a digest of the message.
#[derive(Debug)]
pub(super) struct DigestSigner;

impl Signer for DigestSigner {
    fn algorithm(&self) -> &'static str {
        "ed25519"
    }
    fn public_key(&self) -> Vec<u8> {
        vec![7; 32]
    }
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        let digest = Sha256::digest(message).to_vec();
        Ok([digest.clone(), digest].concat())
    }
}
