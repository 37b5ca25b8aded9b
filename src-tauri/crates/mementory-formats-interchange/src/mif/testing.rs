//! Reads, writes and validates files for the tests.
use super::Mif;
pub(super) use mementory_format::testkit::{FakeCipher, MemorySource, Scratch, repo};
use mementory_format::{
    Catalog, Detection, Format, FormatError, Passphrase, ReadContext, Validation, WriteOptions, WriteReport,
};
use mementory_model::{Limits, Timestamp};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

pub(super) fn read_with(path: &Path, passphrase: Option<Arc<dyn Passphrase>>) -> Result<MemorySource, FormatError> {
    let (catalog, detection) = open(path, true);
    let mut store = MemorySource::default();
    let context = ReadContext { limits: Limits::default(), now: Timestamp::from_micros(0).unwrap(), passphrase };
    assert!(!detection.sources.is_empty(), "no source in {}", path.display());
    for source in &detection.sources {
        Mif.read(&catalog, source, &context, &mut store)?;
    }
    Ok(store)
}

pub(super) fn read(path: &Path) -> Result<MemorySource, FormatError> {
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

pub(super) fn write(store: &mut MemorySource, path: &Path, options: &WriteOptions) -> WriteReport {
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
