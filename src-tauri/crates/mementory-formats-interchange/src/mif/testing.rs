//! Test doubles for the vault: a sink that stores everything, and a record source for the same data.
use super::Mif;
pub(super) use mementory_format::testkit::{FakeCipher, repo};
use mementory_format::{
    AttachmentFile, Catalog, Detection, Format, FormatError, Passphrase, PassthroughItem, ReadContext, RecordSource,
    Redaction, Sink, SourceDescription, StoredRecord, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Dropped, Issue, Kind, Limits, Record, RecordKey, Timestamp, Tombstone, Unit};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that a reader sent.
#[derive(Default)]
pub(super) struct MemoryStore {
    pub records: Vec<Record>,
    pub parts: Vec<(PassthroughItem, Vec<u8>)>,
    pub notes: Vec<Issue>,
    pub dropped: Vec<Dropped>,
    pub edited: BTreeSet<usize>,
    pub tombstones: Vec<Tombstone>,
    /// Redactions in the text of a record, by its index.
    pub redactions: BTreeMap<usize, Vec<Redaction>>,
    pub covers: bool,
}

impl Sink for MemoryStore {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        self.records.extend(unit.records);
        Ok(())
    }
    fn attachment(&mut self, _: AttachmentFile, _: &mut dyn Read) -> Result<(), FormatError> {
        Ok(())
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let mut out = Vec::new();
        bytes.read_to_end(&mut out).unwrap();
        self.parts.push((item, out));
        Ok(())
    }
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError> {
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
        Ok(())
    }
}

/// A vault id for a record. Like a real one, it has 32 hex digits.
pub(super) fn vault_id(key: &RecordKey) -> String {
    hex::encode(&Sha256::digest(format!("{}|{}", key.scope, key.value))[..16])
}

impl MemoryStore {
    /// The record whose text begins with `text`.
    pub fn find(&self, text: &str) -> &Record {
        self.records.iter().find(|r| r.text.starts_with(text)).unwrap_or_else(|| panic!("no record {text}"))
    }
    pub fn codes(&self) -> Vec<String> {
        let mut out: Vec<String> = self.notes.iter().map(|n| n.code.clone()).collect();
        out.sort();
        out.dedup();
        out
    }
    pub fn kinds(&self) -> BTreeMap<&'static str, u64> {
        let mut out = BTreeMap::new();
        self.records.iter().for_each(|r| *out.entry(r.kind.as_str()).or_default() += 1);
        out
    }
}

impl RecordSource for MemoryStore {
    fn description(&self) -> SourceDescription {
        SourceDescription {
            vault_id: "0191b2c3-0000-7000-8000-000000000001".into(),
            name: "Test vault".into(),
            generator: "mementory/0.1.0".into(),
            now: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(),
        }
    }
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        let known_ids: BTreeSet<String> = self.records.iter().map(|r| vault_id(&r.key)).collect();
        let find = |key: &RecordKey| Some(vault_id(key)).filter(|id| known_ids.contains(id));
        for kind in Kind::ALL {
            let mut of_kind: Vec<_> = self.records.iter().enumerate().filter(|(_, r)| r.kind == kind).collect();
            of_kind.sort_by_key(|(_, r)| vault_id(&r.key));
            for (i, record) in of_kind {
                let message = record.message.as_ref().and_then(|m| m.parent.as_ref());
                visit(StoredRecord {
                    id: vault_id(&record.key),
                    edited: self.edited.contains(&i),
                    changed: None,
                    link_ids: record.links.iter().map(|l| find(&l.target)).collect(),
                    parent_id: record.parent.as_ref().and_then(find),
                    message_parent_id: message.and_then(find),
                    attachment_ids: record.attachments.iter().map(|a| vault_id(&a.key)).collect(),
                    redactions: self.redactions.get(&i).cloned().unwrap_or_default(),
                    record: record.clone(),
                })?;
            }
        }
        Ok(())
    }
    fn covers(&self) -> bool {
        self.covers
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

/// A temporary folder that is removed when dropped.
pub(super) struct TempDir(pub PathBuf);

impl TempDir {
    pub(super) fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("mementory-mif-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }
    /// Writes a file into the folder.
    pub(super) fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of the shared reference data.
pub(super) fn shared(name: &str) -> Option<PathBuf> {
    mementory_format::testkit::shared(&format!("reference/mif/{name}"))
}

pub(super) fn open(path: &Path, is_selected: bool) -> (Catalog, Detection) {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = crate::detect(&catalog, &limits, is_selected.then_some("mif")).unwrap();
    (catalog, detection)
}

/// The detected format and version of a file.
pub(super) fn detected(path: &Path, is_selected: bool) -> Option<(&'static str, Option<String>)> {
    let (_, detection) = open(path, is_selected);
    detection.sources.first().map(|s| (s.format, s.claim.version.clone()))
}

pub(super) fn read_with(path: &Path, passphrase: Option<Arc<dyn Passphrase>>) -> Result<MemoryStore, FormatError> {
    let (catalog, detection) = open(path, true);
    let mut store = MemoryStore::default();
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase };
    assert!(!detection.sources.is_empty(), "no source in {}", path.display());
    for source in &detection.sources {
        Mif.read(&catalog, source, &context, &mut store)?;
    }
    Ok(store)
}

pub(super) fn read(path: &Path) -> Result<MemoryStore, FormatError> {
    read_with(path, None)
}

pub(super) fn options(encoding: &str, version: Option<&str>) -> WriteOptions {
    WriteOptions {
        everything: true,
        encoding: Some(encoding.into()),
        version: version.map(str::to_owned),
        ..WriteOptions::default()
    }
}

pub(super) fn write(store: &mut MemoryStore, path: &Path, options: &WriteOptions) -> WriteReport {
    let report = Mif.write(store, path, options).unwrap();
    let planned = Mif.plan(store, options).unwrap();
    assert_eq!(
        (&planned.by_kind, &planned.losses),
        (&report.by_kind, &report.losses),
        "the dry run reports what is written"
    );
    if let Some(folder) = std::env::var_os("MEMENTORY_MIF_OUT") {
        // Copies the output for external checks with other YAML parsers and JSON Schema validators.
        let name = format!("{}-{}", std::thread::current().name().unwrap_or("t").replace(':', "_"), {
            path.file_name().unwrap().to_string_lossy()
        });
        std::fs::copy(path, Path::new(&folder).join(name)).unwrap();
    }
    report
}

pub(super) fn validate(path: &Path) -> Validation {
    try_validate(path).unwrap()
}

pub(super) fn try_validate(path: &Path) -> Result<Validation, FormatError> {
    let (catalog, detection) = open(path, true);
    Mif.validate(&catalog, &detection.sources[0], &Limits::default(), &[])
}

pub(super) fn codes(findings: &[mementory_format::Finding]) -> Vec<String> {
    let mut out: Vec<String> = findings.iter().map(|f| f.code.clone()).collect();
    out.sort();
    out.dedup();
    out
}

/// The value in a JSON file, normalized so that `1.0` and `1` are equal.
pub(super) fn value(path: &Path) -> Value {
    normalized(serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
}

pub(super) fn normalized(value: Value) -> Value {
    match value {
        Value::Number(n) => n.as_f64().map_or(Value::Number(n.clone()), |f| serde_json::json!(f)),
        Value::Array(items) => Value::Array(items.into_iter().map(normalized).collect()),
        Value::Object(members) => Value::Object(members.into_iter().map(|(k, v)| (k, normalized(v))).collect()),
        other => other,
    }
}

/// The document in a file with JSON lines, assembled as described in the README.
pub(super) fn lines_value(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|l| serde_json::from_str::<Value>(l).unwrap());
    let mut root = lines.next().unwrap();
    assert_eq!(root.as_object_mut().unwrap().remove("type").unwrap(), "header");
    for line in lines {
        let (parent, list) = match line["type"].as_str().unwrap() {
            "memory" => ("", "memories"),
            "todo" => ("", "todos"),
            "graph_edge" => ("graph", "edges"),
            "project" => ("", "projects"),
            "reminder" => ("", "reminders"),
            "entity" => ("knowledge_graph", "entities"),
            "relationship" => ("knowledge_graph", "relationships"),
            "episode" => ("knowledge_graph", "episodes"),
            "footer" => continue,
            other => panic!("a line of type {other}"),
        };
        let object = if parent.is_empty() { &mut root } else { &mut root[parent] };
        if object.get(list).is_none() {
            object[list] = Value::Array(vec![]);
        }
        object[list].as_array_mut().unwrap().push(line["data"].clone());
    }
    if root.get("memories").is_none() {
        root["memories"] = Value::Array(vec![]);
    }
    normalized(root)
}

/// The value in a YAML file, read with our parser.
pub(super) fn yaml_value(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    let mut tree = mementory_json::yaml::parse(&text, 600.into()).unwrap();
    mementory_json::yaml::to_json_notation(&mut tree);
    normalized(serde_json::from_str(&super::wire::json(&tree)).unwrap())
}
