//! Runs the cases in `fixtures/<format>/<case>`: an `input` file or folder, and in `case.json` what is expected of it.
#![allow(clippy::unwrap_used)]
use crate::testing::{assert_values, cases_of, input_of};
use crate::{FORMATS, detect};
use mementory_format::{Catalog, Detected, Format, ReadContext, testkit::MemorySource};
use mementory_model::{Limits, Timestamp};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Detects a path as exactly one source of this format, and reads it.
pub(crate) fn import(path: &Path, format: &dyn Format) -> (Detected, MemorySource) {
    import_with(path, format, Limits::default())
}

pub(crate) fn import_with(path: &Path, format: &dyn Format, limits: Limits) -> (Detected, MemorySource) {
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let mut detection = detect(&catalog, &limits, None).unwrap();
    let formats: Vec<_> = detection.sources.iter().map(|source| source.format).collect();
    assert_eq!(formats, [format.id()], "{} {:?}", path.display(), detection.ties);
    let detected = detection.sources.remove(0);
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    format.read(&catalog, &detected, &context, &mut source).unwrap();
    (detected, source)
}

/// The formats that claim a path.
pub(crate) fn claimed_by(path: &Path) -> Vec<&'static str> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    FORMATS.iter().filter(|f| !f.detect(&catalog, &limits).unwrap().is_empty()).map(|f| f.id()).collect()
}

/// Number of messages by role.
pub(crate) fn roles(source: &MemorySource) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for message in source.records.iter().filter_map(|record| record.message.as_ref()) {
        *out.entry(message.role.clone()).or_default() += 1;
    }
    out
}

/// Reads all cases of a format and compares them with what is expected.
pub(crate) fn check_all(format: &dyn Format) {
    for (case, expected) in cases_of(format) {
        check(&case.display().to_string(), &input_of(&case), format, &expected);
    }
}

/// Reads one case and compares it with what is expected.
pub(crate) fn check_case(case: &Path, format: &dyn Format) {
    let expected: Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
    check(&case.display().to_string(), &input_of(case), format, &expected);
}

fn check(name: &str, input: &Path, format: &dyn Format, expected: &Value) {
    let (_, found) = import(input, format);
    assert_eq!(json!(found.kinds()), expected["kinds"], "{name}");
    if let Some(wanted) = expected.get("roles") {
        assert_eq!(json!(roles(&found)), *wanted, "{name}");
    }
    let dropped: Vec<_> = found.dropped.iter().map(|d| d.reason.split(':').next().unwrap()).collect();
    assert_eq!(json!(dropped), expected["dropped"], "{name}: {:?}", found.dropped);
    assert_eq!(json!(found.codes()), expected["issues"], "{name}: {:?}", found.notes);
    let mut files: Vec<_> = found.files.iter().map(|(file, _)| file.name.as_str()).collect();
    // Files come in the order of their folder, which differs between systems.
    files.sort_unstable();
    assert_eq!(json!(files), *expected.get("files").unwrap_or(&json!([])), "{name}");
    let mut parts: Vec<_> = found.parts.iter().map(|(part, _)| part.name.as_str()).collect();
    parts.sort_unstable();
    assert_eq!(json!(parts), *expected.get("passthrough").unwrap_or(&json!([])), "{name}");
    for (text, wanted) in expected["records"].as_object().unwrap() {
        let record = found.records.iter().find(|r| r.text.starts_with(text.as_str()) || r.key.value == *text);
        let record = record.unwrap_or_else(|| panic!("{name}: no record {text}"));
        assert_values(record, wanted, &format!("{name}: {text}"));
    }
    let ids = |source: &MemorySource| -> BTreeSet<_> {
        source.records.iter().map(|r| (r.kind, r.key.value.clone())).collect()
    };
    assert_eq!(ids(&found).len(), found.records.len(), "{name}: two records have one key");
    for record in &found.records {
        // What is derived from another record has its source there.
        let is_derived = record.links.iter().any(|link| link.relation == "derived_from");
        let has_source = record.verbatim.is_some() || is_derived || record.kind == mementory_model::Kind::Conversation;
        assert!(has_source, "{name}: {} has no source text", record.key.value);
    }
    let (_, again) = import(input, format);
    assert!(again.records == found.records, "{name}: a second reading differs");
}
