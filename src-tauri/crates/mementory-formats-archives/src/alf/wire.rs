//! Reads a memory line as a record (spec §3.1, `memory-record.schema.json`).
//!
//! Only fields that [`Record`] covers are parsed; the record's verbatim is the whole line. A known field of the wrong
//! type is reported and skipped, and the record is still read.
use super::extension::{self, Restored};
use super::partitions::stable_v7;
use super::vocabulary::EMPTY_CONTENT;
pub(super) use super::vocabulary::{ENTITY_TYPES, EXTRACTION_METHODS, MEMORY_STATUSES, MEMORY_TYPES};
use super::whole_line::{RawSource, WholeLine};
pub(super) use super::whole_line::{members, vendor};
use mementory_json::{Members, Tree, schema::is_in_unit_interval};
use mementory_model::{Embedding, EntityRef, Kind, Link, Record, RecordKey, Timestamp, Verbatim};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A minor finding: a stable code, and the name of the field or value concerned, without any content of the record.
pub(super) type Remark = (&'static str, String);

/// Member of `raw_source_format` that contains, by JSON pointer, the values that the specification forbids (see
/// [`super::invalid_values`]).
pub(super) const INVALID_VALUES_MEMBER: &str = "mementory_forbidden";

/// Largest nesting depth at which content that is not a text is parsed. Deeper content is copied unchanged from the
/// file.
const MAX_DEPTH: u32 = 512;

/// A parsed line.
pub(super) struct Line {
    /// The record, with the line as its verbatim. The caller sets `origin`.
    pub record: Record,
    /// Id in the line, folded for comparison ([`folded_id`]).
    pub id: String,
    /// Agent id in the line, if any.
    pub agent: Option<String>,
    /// True if the record was restored unchanged from our extension slot, with its original origin and key.
    pub is_restored: bool,
    /// Export id in our extension slot.
    pub export_id: Option<String>,
    /// Minor findings.
    pub remarks: Vec<Remark>,
}

/// The last member with this key. If a key is repeated, most programs also use the last member.
pub(super) fn get<'a>(members: &Members<'a>, key: &str) -> Option<&'a RawValue> {
    members.get(key)
}

/// A string value. Lone surrogates become U+FFFD here; the verbatim preserves them.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    let unquoted = text.strip_prefix('"')?.strip_suffix('"')?;
    if !unquoted.contains('\\') {
        return Some(Cow::Borrowed(unquoted));
    }
    if let Ok(decoded) = serde_json::from_str::<String>(text) {
        return Some(Cow::Owned(decoded));
    }
    let (repaired_text, _) = mementory_json::repair(text.as_bytes())?;
    serde_json::from_str::<String>(&repaired_text).ok().map(Cow::Owned)
}

fn is_null(raw: &RawValue) -> bool {
    raw.get() == "null"
}

/// Reads members of one object and collects remarks.
struct Fields<'a, 'r> {
    members: Members<'a>,
    remarks: &'r mut Vec<Remark>,
}

impl<'a> Fields<'a, '_> {
    fn text(&mut self, key: &'static str) -> Option<String> {
        let raw = get(&self.members, key).filter(|raw| !is_null(raw))?;
        let text = string(raw);
        if text.is_none() {
            self.remarks.push(("unexpected_type", key.into()));
        }
        text.map(Cow::into_owned)
    }

    fn time(&mut self, key: &'static str) -> Option<Timestamp> {
        let text = self.text(key)?;
        let time = Timestamp::parse(&text);
        if time.is_none() {
            self.remarks.push(("bad_time", key.into()));
        }
        time
    }

    fn list(&mut self, key: &'static str) -> Vec<&'a RawValue> {
        let Some(raw) = get(&self.members, key).filter(|raw| !is_null(raw)) else { return vec![] };
        serde_json::from_str(raw.get()).unwrap_or_else(|_| {
            self.remarks.push(("unexpected_type", key.into()));
            vec![]
        })
    }

    fn object(&mut self, key: &'static str) -> Option<Members<'a>> {
        let raw = get(&self.members, key).filter(|raw| !is_null(raw))?;
        let object_members = members(raw.get());
        if object_members.is_none() {
            self.remarks.push(("unexpected_type", key.into()));
        }
        object_members
    }
}

/// The id in the form in which ids are compared. UUIDs are in lower case, because their case has no meaning.
pub(super) fn folded_id(id: &str) -> String {
    if uuid::Uuid::parse_str(id).is_ok() { id.to_ascii_lowercase() } else { id.to_owned() }
}

/// Reads one line. The record in our extension slot is restored if `restores` is set. `scope` returns the id space for
/// the id and the `agent_id` of the line. A line without an id gets an id that is derived from its text. Content that
/// is not a text becomes its JSON, so that no information is lost. The error is a stable code (`not_json`).
pub(super) fn read_line(
    line: &str,
    restores: bool,
    scope: impl Fn(&str, Option<&str>) -> String,
) -> Result<Line, &'static str> {
    let mut remarks = Vec::new();
    let WholeLine { members: line_members, raw_source, slot } = WholeLine::parse(line, restores).ok_or("not_json")?;
    let mut f = Fields { members: line_members, remarks: &mut remarks };
    let stated_id = f.text("id").filter(|id| !id.is_empty());
    let raw_members = raw_source.members();
    let (own_id, was_empty) = original_id_and_emptiness(raw_members);
    let content = content_of(&mut f);
    let content = if was_empty && content == EMPTY_CONTENT { String::new() } else { content };
    let own_agent = f.text("agent_id").filter(|a| !a.is_empty());
    let own_id = own_id.map(Cow::into_owned).or_else(|| stated_id.clone());
    let scope = scope(own_id.as_deref().unwrap_or_default(), own_agent.as_deref());
    let key = own_id.as_deref().map_or_else(|| id_for_line_without_id(line, &f.members, &scope), folded_id);
    let mut record = Record::new(Kind::Memory, RecordKey::new(&scope, &key), content);
    record.origin_id = own_id;
    record.record_type = f.text("memory_type");
    record.status = f.text("status");
    record.tags = f.list("tags").into_iter().filter_map(|t| string(t).map(Cow::into_owned)).collect();
    let (id_is_missing, id_is_uuid) = match &stated_id {
        Some(id) => (false, uuid::Uuid::parse_str(id).is_ok()),
        None => (true, false),
    };
    if id_is_missing {
        f.remarks.push(("no_id", "a record has no id: its line gives it one".into()));
    }
    let changed_slot = match slot.and_then(|slot| extension::restore_unchanged(slot, &record)) {
        // The other members of the line are ignored, because the restored record has all their values.
        Some(Ok(Restored { record, export_id })) => {
            if !id_is_uuid && !id_is_missing {
                remarks.push(("id_not_uuid", "id".into()));
            }
            return Ok(Line { record, id: key, agent: own_agent, is_restored: true, export_id, remarks });
        }
        Some(Err(changed)) => Some(changed),
        None => None,
    };
    record.namespace = f.text("namespace");
    record.title = f.text("title");
    if let Some(raw) = get(&f.members, "confidence").filter(|raw| !is_null(raw)) {
        record.confidence = raw.get().parse().ok().filter(|_| is_in_unit_interval(raw.get()));
        if record.confidence.is_none() {
            f.remarks.push(("out_of_range", "confidence".into()));
        }
    }
    if let Some(category) = f.text("category") {
        record.fields.insert("category".into(), category.into());
    }
    for raw in f.list("entities") {
        if let Some(m) = members(raw.get()) {
            let mut e = Fields { members: m, remarks: f.remarks };
            let (name, entity_type, role) = (e.text("name"), e.text("type"), e.text("role"));
            remark_unknown_word(e.remarks, "entity type", entity_type.as_deref(), &ENTITY_TYPES);
            record.entities.extend(name.map(|name| EntityRef { name, entity_type, role }));
        }
    }
    for raw in f.list("embeddings") {
        let model = members(raw.get()).and_then(|m| get(&m, "model").and_then(string).map(Cow::into_owned));
        record.embeddings.push(Embedding { model: model.unwrap_or_default(), json: raw.get().to_owned() });
    }
    let link = |relation: String, id: String| {
        let target = RecordKey::new(&scope, folded_id(&id));
        Link { relation, kind: Kind::Memory, target }
    };
    record.links.extend(f.text("supersedes").map(|id| link("supersedes".into(), id)));
    for raw in f.list("related_records") {
        if let Some(m) = members(raw.get()) {
            let mut r = Fields { members: m, remarks: f.remarks };
            if let (Some(id), Some(relation)) = (r.text("id"), r.text("relation")) {
                record.links.push(link(relation, id));
            }
        }
    }
    if let Some(m) = f.object("source") {
        let mut s = Fields { members: m, remarks: f.remarks };
        record.source.platform = s.text("runtime").unwrap_or_default();
        record.source.conversation = s.text("session_id");
        record.source.message = s.text("interaction_id");
        record.source.method = s.text("extraction_method");
        for key in ["origin", "origin_file"] {
            if let Some(text) = s.text(key) {
                record.fields.insert(key.into(), text.into());
            }
        }
    }
    if let Some(m) = f.object("temporal") {
        let mut t = Fields { members: m, remarks: f.remarks };
        record.times.created = t.time("created_at");
        record.times.updated = t.time("updated_at");
        record.times.observed = t.time("observed_at");
        record.times.valid_from = t.time("valid_from");
        record.times.valid_to = t.time("valid_until");
        record.times.last_accessed = t.time("last_accessed_at");
    }
    if matches!(raw_source, RawSource::Other) {
        f.remarks.push(("unexpected_type", "raw_source_format".into()));
    }
    remark_unknown_word(&mut remarks, "memory_type", record.record_type.as_deref(), &MEMORY_TYPES);
    remark_unknown_word(&mut remarks, "status", record.status.as_deref(), &MEMORY_STATUSES);
    remark_unknown_word(&mut remarks, "extraction_method", record.source.method.as_deref(), &EXTRACTION_METHODS);
    if !id_is_uuid && !id_is_missing {
        remarks.push(("id_not_uuid", "id".into()));
    }
    let (mut record, export_id) = match changed_slot.map(|changed| changed.restore(&record)) {
        Some(Restored { record, export_id }) => (record, export_id),
        None => (record, None),
    };
    record.verbatim = Some(Verbatim::json(line));
    Ok(Line { record, id: key, agent: own_agent, is_restored: false, export_id, remarks })
}

/// The content of a line. Content that is not a text, which the specification forbids, becomes its JSON.
fn content_of(f: &mut Fields<'_, '_>) -> String {
    let Some(raw) = get(&f.members, "content") else {
        f.remarks.push(("no_content", "a record has no content".into()));
        return String::new();
    };
    string(raw).map(Cow::into_owned).unwrap_or_else(|| {
        f.remarks.push(("unexpected_type", "content".into()));
        Tree::parse(raw.get(), MAX_DEPTH).map_or_else(|_| raw.get().to_owned(), |tree| json_of_content(&tree))
    })
}

/// The text of a record whose content is not a text: the JSON of the content, or an empty text for null.
pub(super) fn json_of_content(content: &Tree) -> String {
    let mut out = String::new();
    if *content != Tree::Null {
        content.write(&mut out);
    }
    out
}

/// Creation time of a line, or 1970 if it has none that can be read.
pub(super) fn created_of(line: &Members<'_>) -> Timestamp {
    let temporal = get(line, "temporal").and_then(|temporal| members(temporal.get()));
    let stated_time = temporal.and_then(|temporal| get(&temporal, "created_at").and_then(string));
    stated_time.and_then(|stated_time| Timestamp::parse(&stated_time)).unwrap_or(Timestamp::EPOCH)
}

/// The id for a line that has none. An export writes this id into the line, so that a later import recognises the
/// record.
fn id_for_line_without_id(text: &str, line: &Members<'_>, scope: &str) -> String {
    stable_v7(created_of(line), &format!("line without id:{scope}\n{text}")).hyphenated().to_string()
}

/// The id of the record in a line, folded for comparison. If an export replaced the original id because it is not a
/// UUID, the original id is returned.
pub(super) fn original_id(line: &Members<'_>) -> Option<String> {
    let raw_source = get(line, "raw_source_format").and_then(|raw| members(raw.get()));
    let (moved_id, _) = original_id_and_emptiness(raw_source.as_ref());
    moved_id.or_else(|| get(line, "id").and_then(string)).map(|id| folded_id(&id))
}

/// Looks up values that an export moved (see [`super::invalid_values`]) in the members of `raw_source_format`. Returns the
/// original id if it was moved, and true if the original content was empty.
fn original_id_and_emptiness<'a>(raw_source: Option<&Members<'a>>) -> (Option<Cow<'a, str>>, bool) {
    let Some(moved_values) = raw_source.and_then(|raw| members(get(raw, INVALID_VALUES_MEMBER)?.get())) else {
        return (None, false);
    };
    let id = get(&moved_values, "/id").and_then(string).filter(|id| !id.is_empty());
    let was_empty = get(&moved_values, "/content")
        .is_some_and(|raw| is_null(raw) || string(raw).is_some_and(|content| content.is_empty()));
    (id, was_empty)
}

fn remark_unknown_word(remarks: &mut Vec<Remark>, field: &str, value: Option<&str>, known: &[&str]) {
    if let Some(value) = value.filter(|v| !known.contains(v)) {
        let word: String = value.chars().take(40).collect();
        remarks.push(("unknown_value", format!("{field} \"{word}\"")));
    }
}

/// The `agent_id` of a line.
pub(super) fn agent_of(line: &str) -> Option<String> {
    get(&members(line)?, "agent_id").and_then(string).map(Cow::into_owned)
}

/// The `source.identity_version` of a line (spec §3.1.10). None unless it is a number of at least 1.
pub(super) fn identity_version(line: &str) -> Option<u64> {
    let source = members(get(&members(line)?, "source")?.get())?;
    get(&source, "identity_version")?.get().parse().ok().filter(|version| *version >= 1)
}

/// A line's `supersedes`, collected in a first pass before the records are read.
pub(super) struct Supersedes {
    /// Id of the record that is replaced.
    pub old: String,
    /// True if `old` is the id of the line itself. The line then replaces earlier lines with the same id.
    pub has_same_id: bool,
    /// True if the line is a deletion.
    pub is_deletion: bool,
}

/// Reads the member `supersedes` of a line, if any.
pub(super) fn supersedes_of(line: &str) -> Option<Supersedes> {
    let m = members(line)?;
    let old = folded_id(&get(&m, "supersedes").and_then(string)?);
    let has_same_id = get(&m, "id").and_then(string).is_some_and(|id| folded_id(&id) == old);
    let is_deletion = get(&m, "status").and_then(string).is_some_and(|s| s == "deleted");
    Some(Supersedes { old, has_same_id, is_deletion })
}
