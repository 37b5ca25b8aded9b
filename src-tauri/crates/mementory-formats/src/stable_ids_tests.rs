#![allow(clippy::unwrap_used)]
//! A record of another format keeps the ids of its elements when it moves from one vault to another, and a conversion to
//! the same format writes the elements back unchanged.
use crate::{by_id, detect, registry};
use mementory_format::{
    Catalog, Format, Sink, WriteOptions,
    testkit::{MemorySource, Scratch, read, read_context, repo, tree},
};
use mementory_model::Limits;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    io::Read,
    path::Path,
};

const FORMATS: [&str; 5] = ["mem", "alf", "pam", "mif", "zaxy"];
/// Members of each format's documents that describe the file and not its records.
const FILE_MEMBERS: [&str; 6] = ["created_at", "checksum", "export_id", "export_date", "exported_by", "export"];

/// Records of every kind that assistants export, among them some without a time.
fn records_of_assistants() -> MemorySource {
    let mut all_records = MemorySource::default();
    for (format, path) in
        [("claude", "fixtures/claude/export/input"), ("chatgpt", "fixtures/samples/chatgpt-export.zip")]
    {
        let found = read(registry(), &repo().join(path), by_id(format).unwrap());
        assert!(found.records.len() > 10, "{format}");
        all_records.records.extend(found.records);
        all_records.files.extend(found.files);
    }
    // A vault contains a record only once.
    let mut keys = HashSet::new();
    all_records.records.retain(|record| keys.insert(record.key.clone()));
    assert!(all_records.records.iter().any(|record| record.times.created.is_none()));
    all_records
}

fn export(source: &mut MemorySource, format: &dyn Format, path: &Path, source_version: Option<String>) -> String {
    let options = WriteOptions { everything: true, source_version, ..WriteOptions::default() };
    format.write(source, path, &options).unwrap().version
}

/// Reads the elements of a file with `format`, as if into a vault with other ids and at a later time.
fn elements(format: &'static dyn Format, path: &Path) -> MemorySource {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).unwrap();
    let detection = detect(&catalog, &limits, Some(format.id())).unwrap();
    let mut found = in_another_vault(MemorySource::default());
    let context = read_context(format, limits);
    format.read_elements(&catalog, &detection.sources[0], &context, &mut found as &mut dyn Sink).unwrap();
    found
}

fn in_another_vault(source: MemorySource) -> MemorySource {
    let vault = Some("0191b2c3-0000-7000-8000-000000000002".to_owned());
    MemorySource { vault, id_salt: "another ", now: Some("2027-01-02T03:04:05Z"), ..source }
}

/// The ids of the elements of a file, except elements that represent the vault itself.
fn ids(format: &'static dyn Format, path: &Path) -> BTreeSet<String> {
    let records = elements(format, path).records;
    let is_of_vault = |text: &str| text.contains("\"generated\":true");
    let elements_of_records =
        records.iter().filter(|record| !record.verbatim.as_ref().is_some_and(|v| is_of_vault(&v.text)));
    elements_of_records.map(|record| format!("{}/{}", record.kind.as_str(), record.key.value)).collect()
}

/// Text of every file and entry of an export, without the members that describe the file itself.
fn contents(path: &Path) -> BTreeMap<String, String> {
    let files = match path.extension().is_some_and(|ending| ending == "alf") {
        true => entries(path),
        false if path.is_dir() => tree(path),
        false => BTreeMap::from([("document".to_owned(), std::fs::read(path).unwrap())]),
    };
    let without_file_members = |bytes: Vec<u8>| match serde_json::from_slice::<Value>(&bytes) {
        Ok(Value::Object(mut members)) => {
            FILE_MEMBERS.iter().for_each(|name| drop(members.remove(*name)));
            Value::Object(members).to_string()
        }
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    };
    files.into_iter().map(|(name, bytes)| (name, without_file_members(bytes))).collect()
}

/// Maps the name of each entry of an archive to its bytes.
fn entries(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    (0..zip.len())
        .map(|i| {
            let mut entry = zip.by_index(i).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (entry.name().unwrap().into_owned(), bytes)
        })
        .collect()
}

fn file_of(scratch: &Scratch, format: &dyn Format, name: &str) -> std::path::PathBuf {
    scratch.at(&format!("{name}{}", format.capabilities().ending))
}

#[test]
fn records_of_other_formats_keep_their_ids_in_another_vault() {
    let scratch = Scratch::new("stable-ids");
    let mut own_source = records_of_assistants();
    for format in FORMATS.map(|id| by_id(id).unwrap()) {
        let [first, second, third] = ["first", "second", "third"].map(|name| file_of(&scratch, format, name));
        export(&mut own_source, format, &first, None);
        let mut other_source = in_another_vault(read(registry(), &first, format));
        export(&mut other_source, format, &second, None);
        let before = ids(format, &first);
        assert!(before.len() > 20, "{}: {}", format.id(), before.len());
        // An entry of Zaxy is identified by its position in the exported log.
        if format.id() != "zaxy" {
            assert_eq!(before, ids(format, &second), "{}", format.id());
            other_source.export_ids.clear();
            export(&mut other_source, format, &third, None);
            assert_ne!(before, ids(format, &third), "{}: the ids come from elsewhere", format.id());
        }
        let is_foreign = |key: &&mementory_model::RecordKey| ["claude", "chatgpt"].iter().any(|s| key.scope == *s);
        assert!(other_source.records.iter().map(|r| &r.key).filter(is_foreign).count() > 20, "{}", format.id());
    }
}

/// Even a record without a time must be written as the same line in both exports, so that increments stay small.
#[test]
fn an_export_at_another_time_has_the_same_content() {
    let scratch = Scratch::new("same-content");
    let mut own_source = records_of_assistants();
    for format in ["mem", "alf"].map(|id| by_id(id).unwrap()) {
        let mut content_at = |now: &'static str| {
            let path = file_of(&scratch, format, &now[..10]);
            own_source.now = Some(now);
            export(&mut own_source, format, &path, None);
            let mut files = contents(&path);
            // The manifest states the time of the export.
            if let Some(text) = files.get_mut("manifest.json") {
                *text = text.replace(now, "now");
            }
            files
        };
        assert_eq!(content_at("2027-01-02T03:04:05Z"), content_at("2027-02-03T04:05:06Z"), "{}", format.id());
    }
}

#[test]
fn a_conversion_to_the_same_format_writes_the_elements_back() {
    let scratch = Scratch::new("same-format");
    let mut own_source = records_of_assistants();
    for format in FORMATS.map(|id| by_id(id).unwrap()) {
        let [first, second] = ["first", "second"].map(|name| file_of(&scratch, format, name));
        let version = export(&mut own_source, format, &first, None);
        export(&mut elements(format, &first), format, &second, Some(version));
        let (before, after) = (contents(&first), contents(&second));
        assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>(), "{}", format.id());
        for (name, text) in before {
            assert_eq!(text, after[&name], "{}: {name}", format.id());
        }
    }
}
