//! Checks of every writer, with the records of all fixtures and with hostile records.
use mementory_format::testkit::{MemorySource, Scratch, read_context, repo, tree, vault_id, write, write_options};
use mementory_format::{Catalog, Format, FormatError, WriteOptions, WriteReport, detect};
use mementory_model::{EntityRef, Kind, Limits, Link, LossKind, Record, RecordKey, Timestamp, Verbatim};
use std::collections::BTreeSet;
use std::path::Path;

/// The formats that take part in detection.
type Formats<'f> = &'f [&'static dyn Format];

/// Members that the loss checks ignore, because they always change when a record is written and read back.
const IGNORED_MEMBERS: [&str; 6] = ["key", "origin", "origin_id", "kind", "repeats", "verbatim"];

/// Reads a path with the format that detection finds. None if there is no such format, or if the path cannot be read.
fn read_any(formats: Formats<'_>, path: &Path) -> Option<MemorySource> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None).ok()?;
    let detection = detect(formats, &catalog, &limits, None).ok()?;
    let format =
        formats.iter().copied().find(|format| Some(format.id()) == detection.sources.first().map(|s| s.format))?;
    let mut out = MemorySource::default();
    format.read(&catalog, detection.sources.first()?, &read_context(format, limits), &mut out).ok()?;
    Some(out)
}

/// Writes the records and reads them back. Checks that each record that was read back has no losses other than those in
/// the report.
pub fn round_trip(
    formats: Formats<'_>,
    format: &'static dyn Format,
    source: &mut MemorySource,
) -> (WriteReport, MemorySource) {
    let scratch = Scratch::new("round-trip");
    let out = scratch.at(&format!("out{}", format.capabilities().ending));
    let report = write(source, &out, format);
    check_written(formats, format, source, &out, &report);
    let reread = read_any(formats, &out).unwrap();
    (report, reread)
}

/// Checks a written file: the plan and the actual export return the same report, every record is written or withheld,
/// and the file is valid and recognised only as this format.
pub(super) fn check_written(
    formats: Formats<'_>,
    format: &'static dyn Format,
    source: &mut MemorySource,
    out: &Path,
    report: &WriteReport,
) {
    let plan = format.plan(source, &WriteOptions { everything: true, ..write_options(format) }).unwrap();
    assert_eq!((&plan.by_kind, &plan.losses, &plan.withheld), (&report.by_kind, &report.losses, &report.withheld));
    let counted_records: u64 = report.by_kind.values().chain(report.withheld.values()).sum();
    assert_eq!(counted_records, source.records.len() as u64, "{}: every record is written or withheld", format.id());
    let catalog = Catalog::open(&[out.to_path_buf()], &Limits::default(), None).unwrap();
    let detection = detect(formats, &catalog, &Limits::default(), None).unwrap();
    let names: Vec<&str> = detection.sources.iter().map(|s| s.format).collect();
    let unclaimed_files: Vec<&str> = detection.unknown.iter().map(|id| catalog.members()[*id].name.as_str()).collect();
    assert_eq!((names, detection.ties.len(), unclaimed_files), (vec![format.id()], 0, vec![]));
    let mut reread = MemorySource::default();
    format.read(&catalog, &detection.sources[0], &read_context(format, Limits::default()), &mut reread).unwrap();
    let validation = format.validate(&catalog, &detection.sources[0], &Limits::default(), &[]).unwrap();
    assert_eq!((validation.errors, validation.records), (vec![], reread.records.len() as u64));
}

/// Checks the reported losses of each record whose text is read back unchanged. Returns the number of compared records.
fn check_losses(source: &MemorySource, report: &WriteReport, reread: &MemorySource, what: &str) -> usize {
    let mut compared_count = 0;
    for record in &source.records {
        let id = vault_id(record.kind, &record.key);
        let lost_fields: BTreeSet<&str> =
            report.losses.items.iter().filter(|loss| loss.record == id).map(|loss| loss.field.as_str()).collect();
        // If a record has no text, its title may be written instead, which is not a loss.
        if lost_fields.is_empty() || lost_fields.contains("text") || record.text.trim().is_empty() {
            continue;
        }
        let differences: Vec<BTreeSet<String>> = reread
            .records
            .iter()
            .filter(|other| other.text == record.text)
            .map(|other| differing_members(record, other))
            .collect();
        let expected: BTreeSet<String> =
            lost_fields.iter().filter(|name| !IGNORED_MEMBERS.contains(*name)).map(|name| (*name).to_owned()).collect();
        // A format may require a value that the record does not have; the report then lists the value that is written.
        let is_unknown = |name: &str| match name {
            "confidence" => record.confidence.is_none(),
            "times" => record.times.created.is_none(),
            _ => false,
        };
        // The key of a link's target may change, and the source may get the folder's name. The report lists both
        // changes as losses, even if the compared records show no difference.
        let is_as_listed = |found: &BTreeSet<String>| {
            let mut missing_names = expected.difference(found);
            found.is_subset(&expected)
                && missing_names.all(|name| ["links", "source"].contains(&name.as_str()) || is_unknown(name))
        };
        assert!(
            differences.iter().any(is_as_listed),
            "{what}: {record:?}\nlisted {expected:?}\nfound {differences:?}\n{:#?}",
            reread.records.iter().filter(|other| other.text == record.text).collect::<Vec<_>>()
        );
        compared_count += 1;
    }
    compared_count
}

/// Names of the members of `record` that are not the same in `other`.
fn differing_members(record: &Record, other: &Record) -> BTreeSet<String> {
    let members = |record: &Record| {
        let mut record = record.clone();
        record.links.iter_mut().for_each(|link| link.target = RecordKey::new("", ""));
        serde_json::to_value(record).unwrap().as_object().unwrap().clone()
    };
    let (wanted, found) = (members(record), members(other));
    let is_inside = |value: &serde_json::Value, found: Option<&serde_json::Value>| match (value, found) {
        (serde_json::Value::Object(wanted), Some(serde_json::Value::Object(found))) => {
            wanted.iter().all(|(name, value)| is_empty(value) || found.get(name) == Some(value))
        }
        (value, found) => is_empty(value) || found == Some(value),
    };
    let names = wanted
        .iter()
        .filter(|(name, value)| !IGNORED_MEMBERS.contains(&name.as_str()) && !is_inside(value, found.get(*name)));
    names.map(|(name, _)| name.clone()).collect()
}

fn is_empty(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => text.is_empty(),
        serde_json::Value::Object(members) => members.is_empty(),
        serde_json::Value::Array(items) => items.is_empty(),
        value => value.is_null(),
    }
}

/// Checks a writer with the records of the fixtures of all `formats`.
pub fn check_fixtures(formats: Formats<'_>, format: &'static dyn Format) {
    let (mut written_count, mut compared_count) = (0, 0);
    for source in formats {
        let Ok(cases) = std::fs::read_dir(repo().join("fixtures").join(source.id())) else { continue };
        for case in cases.map(|entry| entry.unwrap().path()) {
            let inputs = std::fs::read_dir(&case).into_iter().flatten().map(|entry| entry.unwrap().path());
            for input in inputs.filter(|path| path.file_stem().is_some_and(|stem| stem == "input")) {
                let Some(mut found) = read_any(formats, &input) else { continue };
                // A vault stores a record only once.
                let mut seen_ids = BTreeSet::new();
                found.records.retain(|record| seen_ids.insert(vault_id(record.kind, &record.key)));
                let plan = format.plan(&mut found, &WriteOptions::default()).unwrap();
                if plan.by_kind.is_empty() {
                    continue;
                }
                let (report, reread) = round_trip(formats, format, &mut found);
                compared_count += check_losses(&found, &report, &reread, &input.display().to_string());
                written_count += 1;
            }
        }
    }
    assert!(written_count > 20 && compared_count > 20, "{written_count} inputs, {compared_count} records");
}

fn record(kind: Kind, key: &str, text: &str) -> Record {
    let mut record = Record::new(kind, RecordKey::new("test", key), text);
    record.source.platform = "chatgpt".into();
    record.verbatim = Some(Verbatim::json(serde_json::json!({ "text": text }).to_string()));
    record
}

/// Records of every kind, hostile texts and names, and masked values.
pub fn hostile() -> MemorySource {
    let texts = [
        "Prefers metric units.",
        "key is [REDACTED:api_key] since May",
        "---\nname: other\n---\n# heading\n- item\n```sh\nnever closed",
        "<!-- open comment\n<script>alert(1)</script>",
        "=cmd|' /C calc'!A0",
        "@~/.ssh/id_rsa and @/etc/passwd",
        "a \"quote\" \\ backslash \u{0} zero \u{7f} delete \u{2028} separator \u{202e} turned",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "- [x] done\n- [fact] odd #tag (context)\n- part_of [[Other]]",
        "[link](../../etc/passwd) [[../../x]]",
        "長い文章\r\nと改行\rです",
        "</memory> {{template}} ${variable} %s",
    ];
    let mut source = MemorySource::default();
    for (n, text) in texts.iter().enumerate() {
        source.records.push(record(Kind::Memory, &format!("m{n}"), text));
    }
    let long_text = "x".repeat(5000);
    for (n, title) in
        ["../../etc/passwd", "CON", "index", "MEMORY", "a](b) [c\nd", "", "\u{0}", &long_text, "Leek", "LEEK"]
            .iter()
            .enumerate()
    {
        let mut titled_memory = record(Kind::Memory, &format!("t{n}"), &format!("Text number {n}."));
        titled_memory.title = Some((*title).into());
        titled_memory.tags = vec!["a, b".into(), "#c".into(), "--- x: y".into()];
        titled_memory.record_type = Some("type: \"odd\"\n- x".into());
        titled_memory.times.created = Timestamp::parse("2026-05-06T07:08:09.123Z");
        titled_memory.source.method = Some("extracted".into());
        source.records.push(titled_memory);
    }
    source.records.push(record(Kind::Memory, "long", &format!("A long text. {}", "word ".repeat(2000))));
    source.records.push(record(Kind::Profile, "persona", "Answers briefly."));
    let entity = |key: &str, name: &str| Record {
        title: Some(name.into()),
        record_type: Some("person".into()),
        ..record(Kind::Entity, key, "")
    };
    source.records.push(entity("e1", "Mo [x] \"y\""));
    source.records.push(entity("e2", "Plot 12"));
    let link = |relation: &str, key: &str| Link {
        relation: relation.into(),
        kind: Kind::Entity,
        target: RecordKey::new("test", key),
    };
    let mut relation = record(Kind::Relation, "r1", "Mo works at Plot 12");
    relation.record_type = Some("works_at".into());
    relation.links = vec![link("source", "e1"), link("target", "e2")];
    source.records.push(relation);
    source.records.push(record(Kind::Relation, "r2", "ends that are not known"));
    let mut memory_with_entity = record(Kind::Memory, "about", "Waters on Sundays.");
    memory_with_entity.links = vec![link("about", "e1")];
    memory_with_entity.entities =
        vec![EntityRef { name: "Mo [x] \"y\"".into(), entity_type: Some("person".into()), role: None }];
    source.records.push(memory_with_entity);
    for kind in Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Entity | Kind::Relation)) {
        source.records.push(record(kind, kind.as_str(), &format!("One {}.", kind.as_str())));
    }
    for status in ["deleted", "superseded"] {
        let mut ended_memory = record(Kind::Memory, status, "Lives in Kyoto.");
        ended_memory.status = Some(status.into());
        source.records.push(ended_memory);
    }
    let last_index = source.records.len() - 1;
    source.edited.insert(last_index);
    source
}

/// Checks a writer with hostile records, with no records, and with ten thousand records.
pub fn check_hostile(formats: Formats<'_>, format: &'static dyn Format) -> (WriteReport, MemorySource) {
    let mut source = hostile();
    let (report, reread) = round_trip(formats, format, &mut source);
    assert!(check_losses(&source, &report, &reread, "hostile") > 5);
    assert!(reread.records.iter().any(|record| record.text.contains("[REDACTED:api_key]")));
    assert!(reread.records.iter().all(|record| !record.text.contains("Lives in Kyoto")));
    assert!(report.withheld["not_a_memory"] > 0 && report.withheld["no_longer_true"] == 2, "{:?}", report.withheld);
    let left_out_count = report.losses.counts.iter().filter(|((_, kind), _)| *kind == LossKind::LeftOut).count();
    assert!(left_out_count > 0);

    let scratch = Scratch::new("stripped");
    let out = scratch.at("out");
    let strip = WriteOptions { strip_identifiers: true, ..write_options(format) };
    format.write(&mut source, &out, &strip).unwrap();
    let files = if out.is_dir() { tree(&out) } else { [("out".to_owned(), std::fs::read(&out).unwrap())].into() };
    assert!(files.values().all(|bytes| !String::from_utf8_lossy(bytes).contains("chatgpt")), "{}", format.id());

    let scratch = Scratch::new("empty");
    let empty_export = format.write(&mut MemorySource::default(), &scratch.at("out"), &write_options(format));
    assert!(matches!(empty_export, Err(FormatError::Invalid { code: "nothing_to_write", .. })));
    assert!(!scratch.at("out").exists() || tree(&scratch.at("out")).is_empty());
    (report, reread)
}

/// Ten thousand memories of several topics.
pub fn many() -> MemorySource {
    let mut source = MemorySource::default();
    for n in 0..10_000 {
        let mut memory = record(Kind::Memory, &format!("n{n}"), &format!("Statement number {n} about the garden."));
        memory.record_type = Some(["preference", "project", "fact", "event"][n % 4].into());
        source.records.push(memory);
    }
    source
}
