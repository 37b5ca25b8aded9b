//! A stand-in for the vault: a sink that keeps everything, and a record source over it.
use crate::{by_id, detect, pam::Pam};
pub(super) use mementory_format::testkit::{repo, shared};
use mementory_format::{
    AttachmentFile, Catalog, Detection, Format, FormatError, PassthroughItem, ReadContext, RecordSource, Signed,
    Signer, Sink, SourceAbout, StoredRecord, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, RecordKey, Timestamp, Tombstone, Unit};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeSet,
    io::{Cursor, Read, Write},
    path::{Path, PathBuf},
};

#[derive(Default)]
pub(super) struct Shelf {
    pub records: Vec<Record>,
    pub parts: Vec<(PassthroughItem, Vec<u8>)>,
    pub notes: Vec<Issue>,
    pub dropped: Vec<Dropped>,
    pub edited: BTreeSet<usize>,
    pub now: Option<&'static str>,
}

fn bytes_of(bytes: &mut dyn Read) -> Result<Vec<u8>, FormatError> {
    let mut out = Vec::new();
    bytes.read_to_end(&mut out).map_err(|e| FormatError::io("test", e))?;
    Ok(out)
}

impl Sink for Shelf {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        bytes_of(bytes).map(drop)
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        self.parts.push((item, bytes_of(bytes)?));
        Ok(())
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        Ok(())
    }
    fn note(&mut self, issue: Issue) {
        self.notes.push(issue);
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.dropped.push(dropped);
    }
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        Ok(())
    }
}

/// A vault id as the vault makes one: a digest of kind and key.
pub(super) fn vault_id(key: &RecordKey) -> String {
    hex::encode(&Sha256::digest(format!("{}|{}", key.scope, key.value))[..16])
}

impl RecordSource for Shelf {
    fn about(&self) -> SourceAbout {
        SourceAbout {
            vault_id: "0191b2c3-0000-7000-8000-000000000001".into(),
            name: "Test vault".into(),
            generator: "mementory/0.1.0".into(),
            now: Timestamp::parse(self.now.unwrap_or("2026-11-20T12:00:00Z")).unwrap(),
        }
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let known: BTreeSet<String> = self.records.iter().map(|r| vault_id(&r.key)).collect();
        let find = |key: &RecordKey| Some(vault_id(key)).filter(|id| known.contains(id));
        for kind in Kind::ALL {
            for (i, record) in self.records.iter().enumerate().filter(|(_, r)| r.kind == kind) {
                let message = record.message.as_ref().and_then(|m| m.parent.as_ref());
                visit(StoredRecord {
                    id: vault_id(&record.key),
                    edited: self.edited.contains(&i),
                    link_ids: record.links.iter().map(|l| find(&l.target)).collect(),
                    parent_id: record.parent.as_ref().and_then(&find),
                    message_parent_id: message.and_then(&find),
                    attachment_ids: record.attachments.iter().map(|a| vault_id(&a.key)).collect(),
                    redactions: vec![],
                    record: record.clone(),
                })?;
            }
        }
        Ok(())
    }
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        Ok(vec![])
    }
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        Ok(mementory_format::testkit::formats_of(&self.parts))
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.parts.iter().filter(|(i, _)| i.format == format).try_for_each(|(i, b)| visit(i, &mut Cursor::new(b)))
    }
    fn attachment(
        &mut self,
        _: &str,
        _: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        Ok(false)
    }
}

impl Shelf {
    pub(super) fn position(&self, key: &str) -> usize {
        self.records.iter().position(|r| r.key.value == key).unwrap_or_else(|| panic!("no record {key}"))
    }
    pub(super) fn record(&self, key: &str) -> &Record {
        &self.records[self.position(key)]
    }
    pub(super) fn edit(&mut self, key: &str, change: impl FnOnce(&mut Record)) {
        let at = self.position(key);
        change(&mut self.records[at]);
        self.edited.insert(at);
    }
    pub(super) fn codes(&self) -> BTreeSet<String> {
        self.notes.iter().map(|n| n.code.clone()).collect()
    }
}

/// A folder that vanishes.
pub(super) struct Scratch(pub PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("mementory-pam-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
    /// A file in it, folders made.
    pub(super) fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn open(path: &Path, format: Option<&str>) -> (Catalog, Detection) {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, format).unwrap();
    (catalog, detection)
}

/// Reads whatever is there, with the format that claims it.
pub(super) fn read_any(path: &Path) -> Result<Shelf, FormatError> {
    let (catalog, detection) = open(path, None);
    assert!(!detection.sources.is_empty(), "no source in {}", path.display());
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    let mut shelf = Shelf::default();
    for source in &detection.sources {
        by_id(source.format).unwrap().read(&catalog, source, &context, &mut shelf)?;
    }
    Ok(shelf)
}

/// Reads PAM, and nothing but PAM.
pub(super) fn read(path: &Path) -> Result<Shelf, FormatError> {
    let (_, detection) = open(path, None);
    assert!(!detection.sources.is_empty() && detection.sources.iter().all(|s| s.format == "pam"), "{}", path.display());
    read_any(path)
}

pub(super) fn everything() -> WriteOptions {
    WriteOptions { everything: true, ..WriteOptions::default() }
}

pub(super) fn write(shelf: &mut Shelf, path: &Path, options: &WriteOptions) -> WriteReport {
    let report = Pam.write(shelf, path, options).unwrap();
    let planned = Pam.plan(shelf, options).unwrap();
    assert_eq!((&planned.by_kind, &planned.withheld), (&report.by_kind, &report.withheld), "plan and writing agree");
    assert_eq!(planned.losses, report.losses);
    keep(path);
    report
}

/// Leaves a copy for `tests/interop/pam_check.py`, if a folder for it is named.
fn keep(path: &Path) {
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

/// All records as JSON, in one order.
pub(super) fn told(records: &[Record]) -> Vec<Value> {
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

/// Says what it was asked to sign.
#[derive(Debug)]
pub(super) struct Echo;

impl Signer for Echo {
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
