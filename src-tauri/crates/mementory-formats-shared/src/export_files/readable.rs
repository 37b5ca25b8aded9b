//! All values of a record except its text, each with a name, for formats that people read. The values become the
//! columns of a table, or the metadata of a page or note. A record can be restored from them.
use super::strip::ExportSource;
use crate::object::content_id;
use mementory_format::{
    FormatError, NO_BYTES_NOTE, RecordSource, StoredRecord, WriteReport,
    extension::{EDITED_MEMBER, record_difference},
    passthrough_envelope::note_left_out,
};
use mementory_json::Tree;
use mementory_model::{Fields, Kind, LossKind, MessagePart, Record, RecordKey, Timestamp};
use std::collections::BTreeSet;

/// The names of the values, in the order in which they are written. The text of a record is not among them.
pub const VALUE_NAMES: [&str; 37] = [
    "kind",
    "title",
    "created",
    "updated",
    "platform",
    "method",
    "role",
    "conversation",
    "model",
    "type",
    "status",
    "tags",
    "project",
    "account",
    "position",
    "parent",
    "active",
    "hidden",
    "content_type",
    "namespace",
    "sensitivity",
    "confidence",
    "importance",
    "observed",
    "valid_from",
    "valid_to",
    "last_accessed",
    "source_conversation",
    "source_message",
    "origin_id",
    "entities",
    "links",
    "attachments",
    "fields",
    "repeats",
    "scope",
    "key",
];

/// Largest nesting depth of the JSON in the value `fields`.
const MAX_DEPTH: u32 = 120;

/// The named values of a record. Values that the record does not have are empty.
pub fn values_of(record: &Record) -> [(&'static str, String); VALUE_NAMES.len()] {
    VALUE_NAMES.map(|name| (name, value_of(record, name)))
}

fn value_of(record: &Record, name: &str) -> String {
    let time = |time: Option<Timestamp>| time.map(Timestamp::to_rfc3339).unwrap_or_default();
    let number = |number: Option<f64>| number.map(|n| n.to_string()).unwrap_or_default();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    // Only the value of a key is written, so a key in a different scope would be ambiguous and is left out.
    let key = |key: &Option<RecordKey>| {
        key.as_ref().filter(|key| key.scope == record.key.scope).map(|key| key.value.clone()).unwrap_or_default()
    };
    let (part, source, times) = (record.message.as_ref(), &record.source, &record.times);
    let yes_if = |value: bool| if value { "yes" } else { "" }.to_owned();
    match name {
        "kind" => record.kind.as_str().to_owned(),
        "title" => text(&record.title),
        "created" => time(times.created),
        "updated" => time(times.updated),
        "platform" => source.platform.clone(),
        "method" => text(&source.method),
        "role" => part.map(|p| p.role.clone()).unwrap_or_default(),
        "conversation" => key(&record.parent),
        "model" => part.and_then(|p| p.model.clone()).unwrap_or_default(),
        "type" => text(&record.record_type),
        "status" => text(&record.status),
        "tags" => list(&record.tags),
        "project" => text(&source.project),
        "account" => text(&source.account),
        "position" => part.map(|p| p.position.to_string()).unwrap_or_default(),
        "parent" => part.map(|p| key(&p.parent)).unwrap_or_default(),
        "active" => yes_if(part.is_some_and(|p| p.active)),
        "hidden" => yes_if(part.is_some_and(|p| p.hidden)),
        "content_type" => part.map(|p| p.content_type.clone()).unwrap_or_default(),
        "namespace" => text(&record.namespace),
        "sensitivity" => text(&record.sensitivity),
        "confidence" => number(record.confidence),
        "importance" => number(record.importance),
        "observed" => time(times.observed),
        "valid_from" => time(times.valid_from),
        "valid_to" => time(times.valid_to),
        "last_accessed" => time(times.last_accessed),
        "source_conversation" => text(&source.conversation),
        "source_message" => text(&source.message),
        "origin_id" => text(&record.origin_id),
        "entities" => list(&record.entities),
        "links" => list(&record.links),
        "attachments" => list(&record.attachments),
        "fields" if record.fields.is_empty() => String::new(),
        "fields" => serde_json::to_string(&record.fields).unwrap_or_default(),
        "repeats" => yes_if(record.repeats),
        "scope" => record.key.scope.clone(),
        _ => record.key.value.clone(),
    }
}

/// A list as JSON, empty if it has no items.
fn list<T: serde::Serialize>(items: &[T]) -> String {
    if items.is_empty() { String::new() } else { serde_json::to_string(items).unwrap_or_default() }
}

/// Restores a record from its values. Values that cannot be read are left out. If there is no key, because a user added
/// the record by hand, a key is derived from the text. None if the kind is unknown.
pub fn record_of(format: &str, text: String, value: impl Fn(&str) -> String) -> Option<Record> {
    let kind = match value("kind") {
        kind if kind.is_empty() => Kind::Memory,
        kind => Kind::parse(&kind)?,
    };
    let non_empty = |name: &str| Some(value(name)).filter(|v| !v.is_empty());
    let time = |name: &str| non_empty(name).and_then(|v| Timestamp::parse(&v));
    let number = |name: &str| non_empty(name).and_then(|v| v.parse::<f64>().ok()).filter(|n| n.is_finite());
    let is_yes = |name: &str| value(name) == "yes";
    let scope = non_empty("scope").unwrap_or_else(|| format.to_owned());
    let key = non_empty("key").unwrap_or_else(|| content_id(&format!("{}\n{}\n{text}", kind.as_str(), value("title"))));
    let key_in_scope = |name: &str| non_empty(name).map(|value| RecordKey::new(scope.clone(), value));
    let mut record = Record::new(kind, RecordKey::new(scope.clone(), key), text);
    record.title = non_empty("title");
    record.times.created = time("created");
    record.times.updated = time("updated");
    record.times.observed = time("observed");
    record.times.valid_from = time("valid_from");
    record.times.valid_to = time("valid_to");
    record.times.last_accessed = time("last_accessed");
    record.source.platform = value("platform");
    record.source.method = non_empty("method");
    record.source.project = non_empty("project");
    record.source.account = non_empty("account");
    record.source.conversation = non_empty("source_conversation");
    record.source.message = non_empty("source_message");
    record.record_type = non_empty("type");
    record.status = non_empty("status");
    record.tags = items(&value("tags"));
    record.namespace = non_empty("namespace");
    record.sensitivity = non_empty("sensitivity");
    record.confidence = number("confidence");
    record.importance = number("importance");
    record.origin_id = non_empty("origin_id");
    record.entities = items(&value("entities"));
    record.links = items(&value("links"));
    record.attachments = items(&value("attachments"));
    record.fields = fields(&value("fields"));
    record.repeats = is_yes("repeats");
    record.parent = key_in_scope("conversation");
    if kind == Kind::Message || non_empty("position").is_some() {
        record.message = non_empty("position").and_then(|v| v.parse().ok()).map(|position| MessagePart {
            role: value("role"),
            parent: key_in_scope("parent"),
            position,
            hidden: is_yes("hidden"),
            active: is_yes("active"),
            model: non_empty("model"),
            content_type: value("content_type"),
        });
    }
    record.origin.format = format.to_owned();
    Some(record)
}

/// Parses fields from JSON. Parsed JSON can need far more memory than its text, so JSON that exceeds the limits of
/// depth or memory is ignored.
fn fields(json: &str) -> Fields {
    match Tree::parse(json, MAX_DEPTH) {
        Ok(_) => serde_json::from_str(json).unwrap_or_default(),
        Err(_) => Fields::new(),
    }
}

fn items<T: serde::de::DeserializeOwned>(json: &str) -> Vec<T> {
    serde_json::from_str(json).unwrap_or_default()
}

/// False for credentials, which must not appear in files for people to read or print.
pub fn is_readable(stored: &StoredRecord) -> bool {
    stored.record.kind != Kind::Credential
}

/// Builds the report on an export for people to read: counts its records, and lists the values that it does not
/// contain.
#[derive(Default)]
pub struct Readable {
    /// The report so far: the written records, the withheld records, and the losses.
    pub report: WriteReport,
    /// Vault ids of the files that records refer to.
    files: BTreeSet<String>,
}

impl Readable {
    /// Creates an empty report.
    pub fn new(version: &str) -> Self {
        let report = WriteReport { version: version.to_owned(), ..WriteReport::default() };
        Self { report, files: BTreeSet::new() }
    }

    /// Counts a record and lists its losses. If the record must not be written, counts it as withheld and returns None.
    pub fn prepare(&mut self, stored: StoredRecord) -> Option<StoredRecord> {
        if !is_readable(&stored) {
            *self.report.withheld.entry("secret".into()).or_default() += 1;
            return None;
        }
        let record = &stored.record;
        *self.report.by_kind.entry(record.kind.as_str().to_owned()).or_default() += 1;
        self.files.extend(stored.attachment_ids.iter().cloned());
        if record.kind == Kind::Attachment {
            self.files.insert(stored.id.clone());
        }
        self.report_losses(&stored);
        Some(stored)
    }

    fn report_losses(&mut self, stored: &StoredRecord) {
        let record = &stored.record;
        let Some(part) = record_of("", record.text.clone(), |name| value_of(record, name)) else { return };
        let part_members = serde_json::to_value(&part).unwrap_or_default();
        for (name, _) in record_difference(&part, record, false)
            .iter()
            .filter(|(name, v)| !["origin", EDITED_MEMBER].contains(&name.as_str()) && !v.is_null())
        {
            let (kind, note) = match (name.as_str(), part_members.get(name)) {
                ("verbatim", _) => (LossKind::LeftOut, "the original text of its source stays behind"),
                (_, None) => (LossKind::LeftOut, "an export for reading has no place for it"),
                _ => (LossKind::Narrowed, "not all of it has a place in an export for reading"),
            };
            self.report.losses.add(&stored.id, name, kind, note);
        }
    }

    /// Completes the report. `has_files` is true if the export contains the files themselves.
    pub fn finish(mut self, source: &mut ExportSource<'_>, has_files: bool) -> Result<WriteReport, FormatError> {
        source.note_stripped(&is_readable, &mut self.report.losses)?;
        for id in self.files.iter().filter(|_| !has_files) {
            if source.attachment(id, &mut |_| Ok(()))? {
                self.report.losses.add(id, "file", LossKind::LeftOut, NO_BYTES_NOTE);
            }
        }
        note_left_out(source, |_| true, &mut self.report.losses)?;
        if !source.tombstones()?.is_empty() {
            let note = "an export for reading has no deletions";
            self.report.losses.add("tombstones", "tombstone", LossKind::LeftOut, note);
        }
        Ok(self.report)
    }
}

/// A time for people to read, in UTC: `2026-01-31 12:00`. Empty if there is no time.
pub fn shown_time(time: Option<Timestamp>) -> String {
    let text = time.map(Timestamp::to_rfc3339_seconds).unwrap_or_default();
    let (day, rest) = text.split_once('T').unwrap_or((&text, ""));
    let clock = rest.get(..5).unwrap_or_default();
    if clock.is_empty() { day.to_owned() } else { format!("{day} {clock}") }
}

/// A title for people to read: one line of at most 120 characters. It is the record's title, otherwise the first line
/// of its text, otherwise its kind.
pub fn shown_title(record: &Record) -> String {
    let title_or_first_line = record
        .title
        .as_deref()
        .filter(|t| !t.trim().is_empty())
        .or_else(|| record.text.lines().find(|l| !l.trim().is_empty()));
    let line: String = title_or_first_line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(120).collect();
    if line.is_empty() { format!("Untitled {}", record.kind.as_str()) } else { line }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_record_is_restored_from_its_values() {
        let mut record = Record::new(Kind::Message, RecordKey::new("a", "b"), "text");
        record.times.created = Timestamp::parse("1969-12-31T23:59:59.123456Z");
        record.confidence = Some(0.1 + 0.2);
        record.fields.insert("x".into(), serde_json::json!({ "y": [1.50, null] }));
        record.parent = Some(RecordKey::new("a", "talk"));
        record.message = Some(MessagePart { position: 7, active: true, ..MessagePart::default() });
        let reread = record_of("", record.text.clone(), |name| value_of(&record, name)).unwrap();
        assert_eq!(reread, record);
    }

    #[test]
    fn values_of_wrong_types_are_left_out() {
        let record = record_of("x", "t".into(), |name| {
            match name {
                "kind" => "memory",
                "key" | "scope" => "",
                "fields" => "[1",
                "created" | "confidence" | "position" => "NaN",
                _ => "{",
            }
            .to_owned()
        });
        let record = record.unwrap();
        assert_eq!((record.key.scope.as_str(), record.times.created, record.confidence), ("x", None, None));
        assert!(record.fields.is_empty() && record.links.is_empty() && record.message.is_none());
        assert!(record_of("x", String::new(), |_| "nonsense".into()).is_none());
    }
}
