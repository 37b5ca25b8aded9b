//! Test doubles for the sink, the record source and the signer, and bundles in temporary folders.
use crate::{detect, mem::Mem};
pub(crate) use mementory_format::testkit::repo;
use mementory_format::testkit::shared;
use mementory_format::{
    AttachmentFile, Catalog, Detected, Format, FormatError, PassthroughItem, ReadContext, RecordSource, Sink,
    SourceDescription, StoredRecord, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, RecordKey, Timestamp, Tombstone, Unit};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    io::Read,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder of the reference data, or None if it is not available.
pub(crate) fn reference(path: &str) -> Option<PathBuf> {
    shared(&format!("reference/mem/{path}"))
}

pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-05-01T12:00:00Z").unwrap()
}

/// A temporary folder that is removed when dropped.
pub(crate) struct TempDir(pub PathBuf);

impl TempDir {
    pub fn new() -> Self {
        static NEXT_FOLDER_NUMBER: AtomicU32 = AtomicU32::new(0);
        let n = NEXT_FOLDER_NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mementory-mem-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Default)]
pub(crate) struct MemorySink {
    pub records: Vec<Record>,
    pub tombstones: Vec<Tombstone>,
    pub parts: Vec<(PassthroughItem, Vec<u8>)>,
    pub notes: Vec<Issue>,
    pub dropped: Vec<Dropped>,
    pub cancel: bool,
}

impl Sink for MemorySink {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        panic!("a bundle has no attachments")
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let mut content = vec![];
        bytes.read_to_end(&mut content).unwrap();
        self.parts.push((item, content));
        Ok(())
    }
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError> {
        assert!(self.records.is_empty(), "tombstones come first");
        self.tombstones.push(tombstone);
        Ok(())
    }
    fn note(&mut self, issue: Issue) {
        self.notes.push(issue);
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.dropped.push(dropped);
    }
    fn progress(&mut self, _: u64) -> Result<(), FormatError> {
        if self.cancel { Err(FormatError::Cancelled) } else { Ok(()) }
    }
}

impl MemorySink {
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.tombstones.is_empty() && self.parts.is_empty()
    }
}

pub(crate) fn single_bundle(catalog: &Catalog, limits: &Limits) -> Detected {
    let detection = detect(catalog, limits, Some("mem")).unwrap();
    assert_eq!(detection.sources.len(), 1, "one bundle");
    detection.sources.into_iter().next().unwrap()
}

pub(crate) fn read_with(path: &Path, limits: &Limits, sink: &mut MemorySink) -> Result<(), FormatError> {
    let catalog = Catalog::open(&[path.to_path_buf()], limits, None).unwrap();
    let detected = single_bundle(&catalog, limits);
    Mem.read(&catalog, &detected, &ReadContext { limits: limits.clone(), now: now(), passphrase: None }, sink)
}

pub(crate) fn read(path: &Path) -> MemorySink {
    let mut sink = MemorySink::default();
    read_with(path, &Limits::default(), &mut sink).unwrap();
    sink
}

/// All signatures in a bundle.
pub(crate) fn signatures(path: &Path) -> Vec<mementory_format::Signed> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let mut out = Vec::new();
    Mem.signatures(&catalog, &single_bundle(&catalog, &limits), &limits, &mut |signed| {
        out.push(signed);
        Ok(())
    })
    .unwrap();
    out
}

pub(crate) fn validate(path: &Path, trust: &[String]) -> Validation {
    try_validate(path, trust).unwrap()
}

pub(crate) fn try_validate(path: &Path, trust: &[String]) -> Result<Validation, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    Mem.validate(&catalog, &single_bundle(&catalog, &limits), &limits, trust)
}

pub(crate) fn write(sink: &MemorySink, edited: &[&str], out: &Path) -> WriteReport {
    write_as(sink, edited, out, WriteOptions::default()).unwrap()
}

/// Writes a bundle with these options, and checks that a dry run returns the same report.
pub(crate) fn write_as(
    sink: &MemorySink,
    edited: &[&str],
    out: &Path,
    options: WriteOptions,
) -> Result<WriteReport, FormatError> {
    let options = WriteOptions { everything: true, ..options };
    let report = Mem.write(&mut MemorySource { sink, edited }, out, &options)?;
    let planned_report = Mem.plan(&mut MemorySource { sink, edited }, &options)?;
    assert_eq!(planned_report.by_kind, report.by_kind);
    assert_eq!(planned_report.withheld, report.withheld);
    assert_eq!(planned_report.losses.counts, report.losses.counts);
    Ok(report)
}

/// A record source over the records in a sink.
pub(crate) fn source(sink: &MemorySink) -> impl RecordSource + '_ {
    MemorySource { sink, edited: &[] }
}

/// A signer for tests. Its signature is a digest of the message, so tests can check which bytes were signed.
#[derive(Debug)]
pub(crate) struct FakeSigner;

impl FakeSigner {
    pub const KEY: [u8; 32] = [7; 32];

    pub fn signature_of(message: &[u8]) -> Vec<u8> {
        Sha256::digest(message).repeat(2)
    }
}

impl mementory_format::Signer for FakeSigner {
    fn algorithm(&self) -> &'static str {
        "ed25519"
    }
    fn public_key(&self) -> Vec<u8> {
        Self::KEY.to_vec()
    }
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, FormatError> {
        Ok(Self::signature_of(message))
    }
}

/// True if the bundle has signatures, and [`FakeSigner`] made all of them over exactly the listed bytes.
pub(crate) fn all_signed_by_fake(path: &Path) -> bool {
    let is_by_fake = |s: &mementory_format::Signed| {
        s.token == Some((FakeSigner::KEY.to_vec(), FakeSigner::signature_of(&s.message)))
    };
    let listed_signatures = signatures(path);
    !listed_signatures.is_empty() && listed_signatures.iter().all(is_by_fake)
}

/// Vault id for a key. It is a plain hash; a real vault uses a keyed hash.
pub(crate) fn vault_id(key: &RecordKey) -> String {
    hex::encode(&Sha256::digest(format!("{}\u{0}{}", key.scope, key.value))[..16])
}

struct MemorySource<'a> {
    sink: &'a MemorySink,
    edited: &'a [&'a str],
}

impl RecordSource for MemorySource<'_> {
    fn description(&self) -> SourceDescription {
        SourceDescription { vault_id: "v".into(), name: "n".into(), generator: "mementory/test".into(), now: now() }
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let by_id: BTreeMap<String, &Record> = self.sink.records.iter().map(|r| (vault_id(&r.key), r)).collect();
        let id_in_vault = |key: &RecordKey| Some(vault_id(key)).filter(|id| by_id.contains_key(id));
        for kind in Kind::ALL {
            for (id, record) in by_id.iter().filter(|(_, r)| r.kind == kind) {
                visit(StoredRecord {
                    id: id.clone(),
                    edited: self.edited.contains(&record.key.value.as_str()),
                    changed: None,
                    link_ids: record.links.iter().map(|l| id_in_vault(&l.target)).collect(),
                    parent_id: record.parent.as_ref().and_then(&id_in_vault),
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
        Ok(self.sink.tombstones.clone())
    }
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        Ok(mementory_format::testkit::formats_of(&self.sink.parts))
    }
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        for (item, bytes) in self.sink.parts.iter().filter(|(i, _)| i.format == format) {
            visit(item, &mut bytes.as_slice())?;
        }
        Ok(())
    }
    fn attachment(
        &mut self,
        _: &str,
        _: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        Ok(false)
    }
}

pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    let mut pending = vec![folder.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                out.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    out
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for (name, bytes) in files(from) {
        let target = to.join(name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, bytes).unwrap();
    }
}

/// Writes a bundle of these files, with a matching manifest (version 1.1 without summaries) and CHECKSUMS.
pub(crate) fn bundle(folder: &Path, data: &[(&str, &str)]) {
    let mut listed_files = vec![];
    let mut sums: Vec<String> = vec![];
    for (path, text) in data {
        let target = folder.join(path);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, text).unwrap();
        let digest = hex::encode(Sha256::digest(text));
        listed_files.push(format!("{{\"bytes\":{},\"path\":\"{path}\",\"sha256\":\"{digest}\"}}", text.len()));
        sums.push(format!("{digest}  {path}\n"));
    }
    sums.sort_by(|a, b| a[66..].cmp(&b[66..]));
    let counts: Vec<String> = data
        .iter()
        .map(|(path, text)| {
            let name = path.rsplit('/').next().unwrap().trim_end_matches(".jsonl");
            let name = match name {
                "tombstones" => "tombstone",
                "log" => "audit",
                name => name,
            };
            format!("\"{name}\":{}", text.lines().filter(|l| !l.trim().is_empty()).count())
        })
        .collect();
    let manifest = format!(
        "{{\"capabilities\":[],\"conformanceLevel\":\"L1\",\"counts\":{{{}}},\"createdAt\":\"2026-01-01T00:00:00Z\",\
         \"embeddingDim\":0,\"embeddingModel\":\"\",\"embeddingsIncluded\":false,\"exportMode\":\"full\",\
         \"files\":[{}],\"format\":\"1.1.0\",\"generator\":\"test/1\",\"schemaVersion\":1}}",
        counts.join(","),
        listed_files.join(",")
    );
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("manifest.json"), manifest).unwrap();
    std::fs::write(folder.join("CHECKSUMS"), sums.concat()).unwrap();
}
