//! Reads the concepts of a bundle as documents.
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::note::Note;
use mementory_formats_shared::note_reader::{NoteReader, ReadNote};
use mementory_model::{Link, Record, RecordKey, Timestamp};
use serde_json::Value;

/// Reads every concept. Indexes and logs, which list concepts and changes, become passthrough files.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = NoteReader::new("okf", catalog, detected, context, sink);
    let version = detected.claim.version.clone();
    reader.read_all(detected, |reader, member, text| {
        let ReadNote { note, mut record, .. } = reader.document(member, text);
        record.origin.version = version.clone();
        let path = reader.folder.path(member).to_owned();
        let id = concept_id(&path).to_owned();
        if !reader.folder.is_single_file {
            record.key.value = id.clone();
            record.origin_id = Some(id);
        }
        for link in &mut record.links {
            link.target.value = concept_id(&link.target.value).to_owned();
        }
        fill(&note, &mut record);
        if record.record_type.is_none() {
            let message = "this concept has no type, which the format requires; it is imported";
            reader.files.sink.note(mementory_model::Issue::new("type_missing", &member.place, message));
        }
        read_sources(reader, &note, &mut record, &path);
        reader.files.sink.unit(record.into())
    })
}

/// Returns the id of a concept, which is its path without `.md`.
fn concept_id(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}

/// Sets the type of `record`, and its values from the members about trust and lifecycle.
pub(super) fn fill(note: &Note<'_>, record: &mut Record) {
    record.record_type = note.text("type");
    read_trust_and_lifecycle(note, record);
}

/// Reads the members about trust and lifecycle. `generated` states who wrote the concept: an agent (`name/version`), a
/// person (`human:name`) or a process.
fn read_trust_and_lifecycle(note: &Note<'_>, record: &mut Record) {
    let member = |of: &str, key: &str| {
        note.value(of).and_then(|value| value.get(key)).and_then(Value::as_str).map(str::to_owned)
    };
    let generated_at = member("generated", "at").or_else(|| note.text("timestamp"));
    record.times.updated = generated_at.as_deref().and_then(Timestamp::parse).or(record.times.updated);
    let is_agent = |by: &String| !by.starts_with("human:") && !by.starts_with("process:") && by.contains('/');
    if member("generated", "by").is_some_and(|by| is_agent(&by)) {
        record.source.method = Some("extracted".into());
    }
    record.times.valid_to = note.text("stale_after").as_deref().and_then(Timestamp::parse);
    record.times.observed = latest_check(note);
    if let Some(description) = note.text("description").filter(|_| record.text.is_empty()) {
        record.text = description;
    }
}

/// Returns the time of the newest check in `verified`, which contains one check or a list of checks.
fn latest_check(note: &Note<'_>) -> Option<Timestamp> {
    let time_of = |check: &Value| check.get("at").and_then(Value::as_str).and_then(Timestamp::parse);
    match note.value("verified")? {
        Value::Array(checks) => checks.iter().filter_map(time_of).max(),
        check => time_of(check),
    }
}

/// Links the record to the concepts of the bundle that the member `sources` of its note names.
fn read_sources(reader: &NoteReader<'_>, note: &Note<'_>, record: &mut Record, path: &str) {
    let Some(Value::Array(sources)) = note.value("sources") else { return };
    let resource = |source: &'_ Value| match source {
        Value::String(text) => Some(text.clone()),
        source => ["resource", "path"].iter().find_map(|key| source.get(*key)?.as_str().map(str::to_owned)),
    };
    for resource in sources.iter().filter_map(resource) {
        let link = mementory_formats_shared::markdown::NoteLink {
            target: resource,
            is_wiki: false,
            is_embedded: false,
            at: 0,
        };
        let Some(target) = reader.resolve(path, &link) else { continue };
        let target = RecordKey::new(reader.scope.as_str(), concept_id(target));
        record.links.retain(|other| other.target != target);
        record.links.push(Link { relation: "derived_from".into(), kind: record.kind, target });
    }
}
