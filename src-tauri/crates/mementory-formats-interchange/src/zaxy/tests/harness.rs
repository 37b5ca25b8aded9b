//! A sink, a record source and keys in memory, and bundles in temporary folders.
use crate::{by_id, detect, zaxy::Zaxy};
use ed25519_dalek::Signer as _;
pub(crate) use mementory_format::testkit::repo;
use mementory_format::testkit::shared;
use mementory_format::{
    AttachmentFile, Catalog, Detected, Format, FormatError, PassthroughItem, ReadContext, RecordSource, Signed, Signer,
    Sink, SourceAbout, StoredRecord, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, RecordKey, Timestamp, Tombstone, Unit};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// A file of the shared reference data.
pub(crate) fn reference(name: &str) -> Option<PathBuf> {
    shared(&format!("reference/zaxy/{name}"))
}

pub(crate) fn fixture(case: &str) -> PathBuf {
    repo().join("fixtures/zaxy").join(case).join("input.json")
}

/// A temporary folder that goes away.
pub(crate) struct Temp(pub PathBuf);

impl Temp {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mementory-zaxy-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a reader said; also what a writer may ask.
#[derive(Default)]
pub(crate) struct Taken {
    pub records: Vec<Record>,
    pub parts: Vec<(PassthroughItem, Vec<u8>)>,
    pub notes: Vec<Issue>,
    pub dropped: Vec<Dropped>,
    pub edited: Vec<String>,
    pub tombstones: Vec<Tombstone>,
}

impl Sink for Taken {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        panic!("a bundle has no attachments")
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let mut all = vec![];
        bytes.read_to_end(&mut all).unwrap();
        self.parts.push((item, all));
        Ok(())
    }
    fn tombstone(&mut self, _: Tombstone) -> Result<(), FormatError> {
        panic!("a bundle has no tombstones")
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

/// Vault id of a key, as a stand-in for the keyed hash.
pub(crate) fn vault_id(key: &RecordKey) -> String {
    hex::encode(&Sha256::digest(format!("{}\u{0}{}", key.scope, key.value))[..16])
}

impl RecordSource for Taken {
    fn about(&self) -> SourceAbout {
        let now = Timestamp::parse("2026-05-01T12:00:00.5Z").unwrap();
        SourceAbout { vault_id: "0191b2c3-0000".into(), name: "n".into(), generator: "mementory/test".into(), now }
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let held: BTreeMap<String, &Record> = self.records.iter().map(|r| (vault_id(&r.key), r)).collect();
        let present = |key: &RecordKey| Some(vault_id(key)).filter(|id| held.contains_key(id));
        for kind in Kind::ALL {
            for (id, record) in held.iter().filter(|(_, r)| r.kind == kind) {
                visit(StoredRecord {
                    id: id.clone(),
                    edited: self.edited.contains(&record.key.value),
                    link_ids: record.links.iter().map(|l| present(&l.target)).collect(),
                    parent_id: record.parent.as_ref().and_then(&present),
                    message_parent_id: None,
                    attachment_ids: record.attachments.iter().map(|a| vault_id(&a.key)).collect(),
                    redactions: vec![],
                    record: (*record).clone(),
                })?;
            }
        }
        Ok(())
    }
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        Ok(self.tombstones.clone())
    }
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        Ok(mementory_format::testkit::formats_of(&self.parts))
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.parts.iter().filter(|(i, _)| i.format == format).try_for_each(|(i, b)| visit(i, &mut b.as_slice()))
    }
    fn attachment(
        &mut self,
        _: &str,
        _: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        Ok(false)
    }
}

/// The one source in a file, of the format that detection says.
pub(crate) fn source(path: &Path) -> Option<(Catalog, Detected, &'static dyn Format)> {
    let catalog = Catalog::open(&[path.to_path_buf()], &Limits::default(), None).unwrap();
    let mut found = detect(&catalog, &Limits::default(), None).unwrap();
    assert!(found.ties.is_empty(), "{}", path.display());
    let detected = found.sources.pop()?;
    let format = by_id(detected.format).unwrap();
    Some((catalog, detected, format))
}

pub(crate) fn read_into(path: &Path, taken: &mut Taken) -> Result<(), FormatError> {
    let (catalog, detected, format) = source(path).expect("a source");
    let now = Timestamp::from_micros(0).unwrap();
    let context = ReadContext { limits: Limits::default(), now, passphrase: None };
    format.read(&catalog, &detected, &context, taken)
}

pub(crate) fn read(path: &Path) -> Taken {
    let mut taken = Taken::default();
    read_into(path, &mut taken).unwrap();
    taken
}

pub(crate) fn validate(path: &Path) -> Result<Validation, FormatError> {
    let (catalog, detected, format) = source(path).expect("a source");
    format.validate(&catalog, &detected, &Limits::default(), &[])
}

pub(crate) fn codes(found: &[mementory_format::Finding]) -> Vec<&str> {
    let mut codes: Vec<&str> = found.iter().map(|f| f.code.as_str()).collect();
    codes.sort_unstable();
    codes
}

/// The signature of a file.
pub(crate) fn signature(path: &Path) -> Option<Signed> {
    let (catalog, detected, format) = source(path)?;
    let mut out = None;
    let visited = format.signatures(&catalog, &detected, &Limits::default(), &mut |signed| {
        out = Some(signed);
        Ok(())
    });
    visited.ok().and(out)
}

/// Does it hold? As a caller with a key library judges.
pub(crate) fn holds(signed: &Signed) -> bool {
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

/// A key of a test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key(pub &'static str, pub u8);

impl Key {
    pub const BOTH: [Key; 2] = [Key("ed25519", 9), Key("ml-dsa-65", 9)];

    fn ed(self) -> ed25519_dalek::SigningKey {
        ed25519_dalek::SigningKey::from_bytes(&[self.1; 32])
    }
    fn ml(self) -> ml_dsa::ExpandedSigningKey<ml_dsa::MlDsa65> {
        ml_dsa::ExpandedSigningKey::from_seed(&[self.1; 32].into())
    }
}

impl Signer for Key {
    fn algorithm(&self) -> &'static str {
        self.0
    }
    fn public_key(&self) -> Vec<u8> {
        match self.0 {
            "ed25519" => self.ed().verifying_key().to_bytes().to_vec(),
            _ => self.ml().verifying_key().encode().to_vec(),
        }
    }
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        Ok(match self.0 {
            "ed25519" => self.ed().sign(message).to_bytes().to_vec(),
            _ => self.ml().sign_deterministic(message, &[]).unwrap().encode().to_vec(),
        })
    }
}

pub(crate) fn options(key: Option<Key>) -> WriteOptions {
    WriteOptions { everything: true, signer: key.map(|k| Arc::new(k) as Arc<dyn Signer>), ..WriteOptions::default() }
}

pub(crate) fn write(taken: &mut Taken, out: &Path, key: Option<Key>) -> WriteReport {
    let plan = Zaxy.plan(taken, &options(key)).unwrap();
    let report = Zaxy.write(taken, out, &options(key)).unwrap();
    assert_eq!((&plan.version, &plan.by_kind, &plan.losses), (&report.version, &report.by_kind, &report.losses));
    report
}

/// Leaves a copy for checks outside (`tests/interop`), if a folder for it is named.
pub(crate) fn keep(path: &Path, name: &str) {
    if let Some(folder) = std::env::var_os("MEMENTORY_ZAXY_OUT") {
        std::fs::copy(path, Path::new(&folder).join(name)).unwrap();
    }
}
