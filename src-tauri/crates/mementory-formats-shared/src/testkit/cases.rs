//! Runs the cases in `fixtures/<format>/<case>`, and the samples in the shared reference data.
use super::{assert_values, cases_of, expected_of, inputs_of};
use mementory_format::testkit::{MemorySource, Scratch, put, read, shared, tree};
use mementory_format::{Catalog, Detected, Format, FormatError, ReadContext, detect};
use mementory_model::{Kind, Limits, Record, Timestamp};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The formats that take part in detection.
type Formats<'f> = &'f [&'static dyn Format];

/// Additional checks of a case, besides its `case.json`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checks {
    /// True if the format is made for people to read, so that records have no verbatim and need not name a platform.
    pub no_verbatim: bool,
    /// True if every record must have a verbatim, including conversations and derived records.
    pub every_verbatim: bool,
    /// True if record keys must not depend on the file name of the input.
    pub any_name: bool,
    /// True if every verbatim must occur in the input, character for character. Not checked for cases with `"database":
    /// true`.
    pub verbatims: bool,
}

/// Runs [`check_case`] for every case of a format. Returns the number of cases.
pub fn check_cases(formats: Formats<'_>, format: &'static dyn Format, checks: Checks) -> usize {
    let cases = cases_of(format);
    assert!(cases.len() >= 3, "{}: full, truncated and mangled", format.id());
    cases.iter().for_each(|(case, expected)| check(formats, case, expected, format, checks));
    cases.len()
}

/// Reads a case and compares it with its `case.json`:
///
/// - `refused`: the error code with which reading refuses the input. Such a case has no other expectations
/// - `kinds`: number of records of each kind; `roles`: number of messages of each role
/// - `dropped`: list of the codes in their order, or an object with the number of each code
/// - `notes` (or `issues`): list of the distinct codes, or an object with the number of each code
/// - `files`: names of the attachments that have bytes; `passthrough`: names of the passthrough files
/// - `records`: for some records, their values by JSON pointer. A record is named by its key, by the beginning of its
///   text, or by its title
/// - `repeats`: true if several records may have the same key
///
/// A list that is missing in `case.json` must be empty. Every record must have an origin, and a second reading must
/// give the same records.
pub fn check_case(formats: Formats<'_>, case: &Path, format: &'static dyn Format, checks: Checks) {
    check(formats, case, &expected_of(case), format, checks);
}

fn check(formats: Formats<'_>, case: &Path, expected: &Value, format: &'static dyn Format, checks: Checks) {
    for input in inputs_of(case) {
        let name = input.display().to_string();
        if let Some(code) = expected["refused"].as_str() {
            assert_eq!(refusal(formats, &input, format), code, "{name}");
            continue;
        }
        let imported = read(formats, &input, format);
        check_counts(&name, expected, &imported);
        for (named, values) in expected["records"].as_object().into_iter().flatten() {
            assert_values(record_named(&imported, named, &name), values, &format!("{name}: {named}"));
        }
        if expected["repeats"].is_null() {
            assert_eq!(keys(&imported).len(), imported.records.len(), "{name}: two records have one key");
        }
        for record in &imported.records {
            assert_eq!(record.origin.format, format.id(), "{name}");
            match checks.no_verbatim {
                true => assert!(record.verbatim.is_none(), "{name}: {:?} has a verbatim", record.key),
                false => check_source(&name, record),
            }
            assert!(record.verbatim.is_some() || !checks.every_verbatim, "{name}: {:?} has no verbatim", record.key);
        }
        assert!(read(formats, &input, format).records == imported.records, "{name}: a second reading differs");
        if checks.any_name {
            assert_eq!(
                keys(&imported),
                keys(&read_renamed_copy(formats, &input, format)),
                "{name}: under another name"
            );
        }
        if checks.verbatims && expected["database"].is_null() {
            check_verbatims(&name, &input, &imported);
        }
    }
}

/// The code of the error with which an input is refused, or `read` if the input is accepted.
fn refusal(formats: Formats<'_>, input: &Path, format: &'static dyn Format) -> &'static str {
    match try_import_with(formats, input, format, Limits::default()) {
        Ok(_) => "read",
        Err(FormatError::Invalid { code, .. }) => code,
        Err(FormatError::Version { .. }) => "unsupported_version",
        Err(error) => panic!("{}: {error:?}", input.display()),
    }
}

fn check_counts(name: &str, expected: &Value, source: &MemorySource) {
    assert_eq!(json!(source.kinds()), expected["kinds"], "{name}: {:#?}", texts(source));
    if let Some(wanted_roles) = expected.get("roles") {
        assert_eq!(json!(roles(source)), *wanted_roles, "{name}");
    }
    let code = |reason: &str| reason.split(':').next().unwrap_or_default().to_owned();
    let dropped_codes: Vec<String> = source.dropped.iter().map(|d| code(&d.reason)).collect();
    check_codes(
        &format!("{name}: dropped {:#?}", source.dropped),
        &expected["dropped"],
        &dropped_codes,
        &dropped_codes,
    );
    let notes: Vec<String> = source.notes.iter().map(|n| code(&n.code)).collect();
    let wanted_notes = expected.get("notes").unwrap_or(&expected["issues"]);
    check_codes(&format!("{name}: notes {:#?}", source.notes), wanted_notes, &notes, &source.codes());
    // Sorts the names, because the order of the files depends on the operating system.
    let mut files: Vec<&str> = source.files.iter().map(|(file, _)| file.name.as_str()).collect();
    let mut passthrough: Vec<&str> = source.parts.iter().map(|(item, _)| item.name.as_str()).collect();
    files.sort_unstable();
    passthrough.sort_unstable();
    assert_eq!(json!(files), or_empty_list(&expected["files"]), "{name}: files");
    assert_eq!(json!(passthrough), or_empty_list(&expected["passthrough"]), "{name}: passthrough files");
}

/// Compares codes. `wanted` is either a list, which must equal `list`, or an object with the number of times that each
/// code must occur in `all`.
fn check_codes(what: &str, wanted: &Value, all: &[String], list: &[String]) {
    if !wanted.is_object() {
        return assert_eq!(json!(list), or_empty_list(wanted), "{what}");
    }
    let mut code_counts: BTreeMap<&str, u64> = BTreeMap::new();
    all.iter().for_each(|code| *code_counts.entry(code).or_default() += 1);
    assert_eq!(json!(code_counts), *wanted, "{what}");
}

fn or_empty_list(wanted: &Value) -> Value {
    if wanted.is_null() { json!([]) } else { wanted.clone() }
}

/// Finds a record by its key, otherwise by its text, the beginning of its text, or its title.
fn record_named<'f>(source: &'f MemorySource, named: &str, about: &str) -> &'f Record {
    let name_tests: [fn(&Record, &str) -> bool; 4] = [
        |record, named| record.key.value == named,
        |record, named| record.text == named,
        |record, named| !named.is_empty() && record.text.starts_with(named),
        |record, named| record.title.as_deref() == Some(named) && record.message.is_none(),
    ];
    let record = name_tests.iter().find_map(|is_named| source.records.iter().find(|record| is_named(record, named)));
    record.unwrap_or_else(|| panic!("{about}: no record {named:?} in {:#?}", texts(source)))
}

fn texts(source: &MemorySource) -> Vec<String> {
    source.records.iter().map(|r| format!("{} {}: {}", r.kind.as_str(), r.key.value, r.text)).collect()
}

fn check_source(name: &str, record: &Record) {
    // A derived record has no verbatim of its own, because the record that it was derived from has it.
    let is_derived = record.links.iter().any(|link| link.relation == "derived_from");
    let has_source = record.verbatim.is_some() || is_derived || record.kind == Kind::Conversation;
    assert!(has_source, "{name}: {:?} has no verbatim", record.key);
    assert!(!record.source.platform.is_empty(), "{name}: {:?} has no platform", record.key);
}

fn check_verbatims(name: &str, input: &Path, source: &MemorySource) {
    let catalog = Catalog::open(&[input.to_path_buf()], &Limits::default(), None).unwrap();
    let files = catalog.members().iter().filter_map(|member| catalog.bytes(member, member.size).ok());
    let files: Vec<String> = files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
    for verbatim in source.records.iter().filter_map(|record| record.verbatim.as_ref()) {
        let lines: Vec<&str> = match verbatim.media_type.as_str() {
            "application/x-ndjson" => verbatim.text.lines().collect(),
            _ => vec![verbatim.text.as_str()],
        };
        // Skips a verbatim from which the messages were removed (`[]`), because it does not occur in the input.
        let is_whole = |line: &&&str| [":[]", ": []"].iter().all(|empty| !line.contains(empty));
        for line in lines.iter().filter(is_whole) {
            assert!(files.iter().any(|f| f.contains(line)), "{name}: {line:?} is not in the input");
        }
    }
}

/// Kind and key of all records.
pub fn keys(source: &MemorySource) -> BTreeSet<(&'static str, String)> {
    source.records.iter().map(|r| (r.kind.as_str(), format!("{}|{}", r.key.scope, r.key.value))).collect()
}

/// Number of messages by role.
pub fn roles(source: &MemorySource) -> BTreeMap<String, u64> {
    let mut out = BTreeMap::new();
    for message in source.records.iter().filter_map(|record| record.message.as_ref()) {
        *out.entry(message.role.clone()).or_default() += 1;
    }
    out
}

/// Number of records of a kind.
pub fn count(source: &MemorySource, kind: Kind) -> u64 {
    source.records.iter().filter(|record| record.kind == kind).count() as u64
}

/// Asserts that a path is detected as exactly one source of this format, and reads it without an error.
pub fn import_with(formats: Formats<'_>, path: &Path, format: &dyn Format, limits: Limits) -> (Detected, MemorySource) {
    try_import_with(formats, path, format, limits).unwrap()
}

/// Asserts that a path is detected as exactly one source of this format, and reads it.
///
/// # Errors
/// Errors of the reader.
pub fn try_import_with(
    formats: Formats<'_>,
    path: &Path,
    format: &dyn Format,
    limits: Limits,
) -> Result<(Detected, MemorySource), FormatError> {
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let mut detection = detect(formats, &catalog, &limits, None).unwrap();
    let formats_found: Vec<_> = detection.sources.iter().map(|source| source.format).collect();
    assert_eq!(formats_found, [format.id()], "{} {:?}", path.display(), detection.ties);
    let detected = detection.sources.remove(0);
    let mut source = MemorySource::default();
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase: None };
    format.read(&catalog, &detected, &context, &mut source)?;
    Ok((detected, source))
}

/// Ids of the formats to which detection assigns a path.
pub fn claiming(formats: Formats<'_>, path: &Path) -> Vec<&'static str> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(formats, &catalog, &limits, None).unwrap();
    assert!(detection.ties.is_empty(), "{:?}", detection.ties);
    detection.sources.iter().map(|source| source.format).collect()
}

/// Ids of all formats that claim a path, including those with a weaker claim.
pub fn formats_claiming(formats: Formats<'_>, path: &Path) -> Vec<&'static str> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    formats.iter().filter(|f| !f.detect(&catalog, &limits).unwrap().is_empty()).map(|f| f.id()).collect()
}

/// Copies a file to another name and reads the copy.
pub fn read_renamed(formats: Formats<'_>, file: &Path, name: &str, format: &dyn Format) -> MemorySource {
    let scratch = Scratch::new("renamed");
    read(formats, &scratch.put(name, std::fs::read(file).unwrap()), format)
}

/// Copies a file or folder to a name that gives no hint of its content, and reads the copy.
fn read_renamed_copy(formats: Formats<'_>, input: &Path, format: &'static dyn Format) -> MemorySource {
    if !input.is_dir() {
        let ending = input.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
        return read_renamed(formats, input, &format!("something else (1){ending}"), format);
    }
    let scratch = Scratch::new("renamed");
    let files = tree(input);
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    put(&scratch.at("Downloads/my old export (2)"), &files);
    read(formats, &scratch.at("Downloads/my old export (2)"), format)
}

/// Reads a sample of the shared reference data and compares the counts with those in `expected.json`. None if the data
/// is not available.
pub fn check_sample(formats: Formats<'_>, name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    let imported = read_sample(formats, name, format)?;
    let sample = shared("exports")?.join(name);
    if !sample.is_dir() {
        let renamed_source = read_renamed(formats, &sample, "0b1c (3).zip", format);
        assert_eq!(keys(&imported), keys(&renamed_source), "{name}: under the name of an archive");
    }
    let expected = std::fs::read(shared("exports")?.join("expected.json")).unwrap();
    let expected = &serde_json::from_slice::<Value>(&expected).unwrap()["samples"][name];
    assert_eq!(expected["conversations"], count(&imported, Kind::Conversation), "{name}");
    assert_eq!(expected["messages"], count(&imported, Kind::Message), "{name}");
    assert_eq!(expected["memories"], count(&imported, Kind::Memory), "{name}");
    let references = imported.records.iter().flat_map(|record| &record.attachments);
    let references: BTreeSet<&String> = references.map(|file| &file.key.value).collect();
    assert_eq!(expected["attachments_referenced"], references.len(), "{name}");
    assert_eq!(expected["attachments_present"], imported.files.len(), "{name}");
    for (role, wanted) in expected["roles"].as_object().unwrap() {
        assert_eq!(*wanted, roles(&imported).get(role).copied().unwrap_or_default(), "{name}: {role}");
    }
    Some(imported)
}

/// Reads a sample of the shared reference data, under its original name and under another name. None if the data is not
/// available.
pub fn read_sample(formats: Formats<'_>, name: &str, format: &'static dyn Format) -> Option<MemorySource> {
    let sample = shared("exports")?.join(name);
    let imported = read(formats, &sample, format);
    assert_eq!(keys(&imported).len(), imported.records.len(), "{name}: two records have one key");
    let renamed_source = read_renamed_copy(formats, &sample, format);
    assert_eq!(keys(&imported), keys(&renamed_source), "{name}: under another name");
    Some(imported)
}
