//! Converts an entry to a record, and writes the edits of a record into its entry.
use super::entry::{Grain, text_member};
use mementory_format::extension::is_slot_name;
use mementory_json::{Tree, value_of};
use mementory_model::{EntityRef, Fields, Kind, Link, Record, RecordKey, Timestamp};

/// Id space of all keys of this format. An event has the same key in a bundle and in its log.
pub(crate) const KEY_SCOPE: &str = "zaxy";

/// Suffix of a composed event's type, after the kind of the record.
pub(super) const RECORDED_SUFFIX: &str = ".recorded";

/// Payload members that contain the text in Zaxy's own event types. The first one that is present is used.
const TEXT_MEMBERS: [&str; 16] = [
    "text",
    "content",
    "message",
    "decision",
    "description",
    "observation",
    "fact",
    "claim",
    "note",
    "task",
    "goal",
    "body",
    "summary",
    "outcome",
    "rationale",
    "reason",
];

/// Payload member that marks an erased payload.
const FORGOTTEN_MEMBER: &str = "__zaxy_forgotten";
/// The text of an erased payload.
const FORGOTTEN_TEXT: &str = "[FORGOTTEN]";

/// Payload members of a composed event that contain the times of its record.
pub(super) const TIME_MEMBERS: [&str; 6] =
    ["created_at", "updated_at", "observed_at", "valid_from", "valid_to", "last_accessed_at"];

/// Key of the entry with this id.
pub(crate) fn key(id: &str) -> RecordKey {
    RecordKey::new(KEY_SCOPE, id)
}

/// Sets the id of the entry from which a record was read.
pub(super) fn set_id(record: &mut Record, id: &str) {
    record.key = key(id);
    record.origin_id = Some(id.to_owned());
}

/// Converts an entry to a record. `is_composed` is true if Mementory composed the entry for a record of another format;
/// the event's own data are then left out. The caller sets origin and verbatim.
pub(crate) fn to_record(tree: &Tree, id: &str, is_composed: bool) -> Record {
    let none = Tree::Null;
    let content = tree.get("content").unwrap_or(&none);
    let kind = text_member(tree, "kind").unwrap_or_default();
    let grain = text_member(tree, "grain").and_then(Grain::parse);
    let (model, used) = match (grain, kind.split_once(':')) {
        (Some(Grain::Semantic), Some(("entity", _))) => (Kind::Entity, &["name", "summary", "entity_type"][..]),
        (Some(Grain::Semantic), _) => (Kind::Relation, &["relation_type", "confidence"][..]),
        _ => (event_kind(kind, is_composed), &["type", "actor", "thread", "payload"][..]),
    };
    let mut record = Record::new(model, key(id), "");
    set_id(&mut record, id);
    record.source.platform = KEY_SCOPE.into();
    let time = |name: &str| text_member(tree, name).and_then(Timestamp::parse);
    match (grain, model) {
        (Some(Grain::Semantic), Kind::Entity) => {
            record.title = text_member(content, "name").map(str::to_owned);
            record.text = text_member(content, "summary").unwrap_or_default().to_owned();
            record.record_type = text_member(content, "entity_type").map(str::to_owned);
            record.times.observed = time("valid_from");
            record.times.valid_to = time("valid_to");
        }
        (Some(Grain::Semantic), _) => {
            let part = |name| text_member(content, name).unwrap_or_default();
            record.text = format!("{} {} {}", part("source"), part("relation_type"), part("target"));
            record.record_type = text_member(content, "relation_type").map(str::to_owned);
            record.confidence = content.get("confidence").and_then(Tree::as_f64).filter(|c| c.is_finite());
            record.times.valid_from = time("valid_from");
            record.times.valid_to = time("valid_to");
        }
        _ => fill_event_fields(content.get("payload").unwrap_or(&none), kind, is_composed, &mut record),
    }
    if is_composed {
        return record;
    }
    if grain == Some(Grain::Event) {
        record.times.created = time("valid_from");
        record.namespace = text_member(content, "thread").map(str::to_owned);
        let actor = text_member(content, "actor").map(str::to_owned);
        record.entities =
            actor.into_iter().map(|name| EntityRef { name, entity_type: None, role: Some("actor".into()) }).collect();
    }
    record.fields = remaining_fields(tree, content, used, grain);
    record
}

fn event_kind(kind: &str, is_composed: bool) -> Kind {
    match kind.strip_suffix(RECORDED_SUFFIX).filter(|_| is_composed).and_then(Kind::parse) {
        Some(kind) => kind,
        None if kind.starts_with("goal.") || kind.starts_with("task.") => Kind::Todo,
        None => Kind::Memory,
    }
}

/// The names of the payload members that contain the text and the title.
fn text_and_title_members(payload: &Tree) -> (Option<&'static str>, Option<&'static str>) {
    let is_text = |name: &&&str| text_member(payload, name).is_some();
    let title = ["title", "name"].iter().find(is_text).copied();
    match TEXT_MEMBERS.iter().find(is_text) {
        Some(text) => (Some(text), title),
        // If there is only a title, it is used as the text.
        None => (title, None),
    }
}

/// True for the placeholder that Zaxy exports instead of an erased payload. The text of the placeholder is not the text
/// of the event.
pub(super) fn is_forgotten(payload: &Tree) -> bool {
    let Tree::Object(members) = payload else { return false };
    let is_marked = match payload.get(FORGOTTEN_MEMBER) {
        None | Some(Tree::Null | Tree::Bool(false)) => false,
        Some(_) => true,
    };
    is_marked || members.len() == 1 && text_member(payload, "content") == Some(FORGOTTEN_TEXT)
}

fn fill_event_fields(payload: &Tree, kind: &str, is_composed: bool, record: &mut Record) {
    let text_of = |name: &str| text_member(payload, name).map(str::to_owned);
    let (text, title) = if is_composed { (Some("text"), Some("title")) } else { text_and_title_members(payload) };
    record.title = title.and_then(text_of);
    record.text = match text.and_then(text_of) {
        _ if !is_composed && is_forgotten(payload) => String::new(),
        Some(text) => text,
        None if is_composed => String::new(),
        None => first_string(payload),
    };
    record.status = text_of("status");
    record.sensitivity = text_of("sensitivity");
    record.tags = string_list(payload.get("tags")).unwrap_or_default();
    record.confidence = payload.get("confidence").and_then(Tree::as_f64).filter(|c| c.is_finite());
    record.importance = payload.get("importance").and_then(Tree::as_f64).filter(|c| c.is_finite());
    if !is_composed {
        record.record_type = Some(kind.to_owned());
        return;
    }
    record.record_type = text_of("type");
    record.namespace = text_of("namespace");
    record.source.platform = text_of("source").unwrap_or_default();
    let mut times = TIME_MEMBERS.map(|name| text_member(payload, name).and_then(Timestamp::parse)).into_iter();
    let mut next_time = || times.next().flatten();
    let t = &mut record.times;
    (t.created, t.updated, t.observed) = (next_time(), next_time(), next_time());
    (t.valid_from, t.valid_to, t.last_accessed) = (next_time(), next_time(), next_time());
}

/// The text of a payload without a known text member: its first string or, if the payload has no string, the payload as
/// JSON.
fn first_string(payload: &Tree) -> String {
    let Tree::Object(members) = payload else { return String::new() };
    if let Some(text) = members.iter().find_map(|(_, v)| v.as_str()) {
        return text.to_owned();
    }
    let mut out = String::new();
    if !members.is_empty() {
        payload.write(&mut out);
    }
    out
}

fn string_list(tree: Option<&Tree>) -> Option<Vec<String>> {
    match tree? {
        Tree::Array(items) => items.iter().map(|i| i.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// Members of the entry for which the model has no field, in their original order.
fn remaining_fields(tree: &Tree, content: &Tree, used: &[&str], grain: Option<Grain>) -> Fields {
    let mut out = Fields::new();
    let mut take_fields = |tree: &Tree, skip: &dyn Fn(&str) -> bool| {
        let Tree::Object(members) = tree else { return };
        for (key, member) in members.iter().filter(|(k, v)| !skip(k) && *v != Tree::Null) {
            out.entry(key.clone()).or_insert_with(|| value_of(member));
        }
    };
    let entry = ["schema_version", "grain", "content", "valid_from", "source", "kind"];
    take_fields(tree, &|k| entry.contains(&k) || (k == "valid_to" && grain == Some(Grain::Semantic)));
    take_fields(content, &|k| used.contains(&k) || is_slot_name(k));
    if grain == Some(Grain::Event)
        && let Some(payload) = content.get("payload")
    {
        let (text, title) = text_and_title_members(payload);
        let mapped = ["status", "sensitivity", "tags", "confidence", "importance"];
        take_fields(payload, &|k| mapped.contains(&k) || is_slot_name(k) || Some(k) == text || Some(k) == title);
    }
    out
}

/// Writes the differences between `new` and `unedited` into an entry, as far as the entry can express them.
pub(super) fn patch(tree: &mut Tree, unedited: &Record, new: &Record) {
    let kind = text_member(tree, "kind").unwrap_or_default().to_owned();
    let Some(mut content) = tree.get("content").cloned() else { return };
    if kind.starts_with("entity:") && unedited.kind == Kind::Entity {
        if let Some(name) = new.title.as_ref().filter(|t| unedited.title.as_ref() != Some(t)) {
            content.set("name", Tree::Text(name.clone()));
        }
        if unedited.text != new.text {
            content.set("summary", Tree::Text(new.text.clone()));
        }
        if let Some(word) = new.record_type.as_ref().filter(|t| unedited.record_type.as_ref() != Some(t)) {
            content.set("entity_type", Tree::Text(word.clone()));
            tree.set("kind", Tree::Text(format!("entity:{word}")));
        }
    } else if unedited.kind != Kind::Relation
        && let Some(mut payload) = content.get("payload").cloned()
    {
        let (text, title) = text_and_title_members(&payload);
        if unedited.text != new.text {
            payload.set(text.unwrap_or("text"), Tree::Text(new.text.clone()));
            payload.remove(FORGOTTEN_MEMBER);
        }
        patch_optional(&mut payload, title.unwrap_or("title"), &unedited.title, &new.title);
        patch_optional(&mut payload, "status", &unedited.status, &new.status);
        patch_optional(&mut payload, "sensitivity", &unedited.sensitivity, &new.sensitivity);
        if unedited.tags != new.tags {
            payload.set("tags", Tree::Array(new.tags.iter().cloned().map(Tree::Text).collect()));
        }
        content.set("payload", payload);
    }
    tree.set("content", content);
}

fn patch_optional(payload: &mut Tree, name: &str, old: &Option<String>, new: &Option<String>) {
    match new {
        _ if old == new => {}
        Some(text) => payload.set(name, Tree::Text(text.clone())),
        None => payload.remove(name),
    }
}

/// Record ids of the entries of a bundle to which later entries may refer: edges name entities, and semantic entries
/// cite events.
#[derive(Default)]
pub(super) struct EntryLinks {
    events: std::collections::HashMap<String, (Kind, String)>,
    entities: std::collections::HashMap<String, String>,
}

impl EntryLinks {
    /// Adds links from `record` to the earlier entries that its entry refers to. Stores the id of an event or entity
    /// for later entries.
    pub(super) fn link(&mut self, tree: &Tree, record: &mut Record) {
        let citation_text = text_member(tree, "citation").unwrap_or_default();
        let to = |relation: &str, kind, id: &str| Link { relation: relation.into(), kind, target: key(id) };
        let id = record.key.value.clone();
        match record.kind {
            Kind::Entity | Kind::Relation => {
                if record.kind == Kind::Entity {
                    self.entities.insert(record.title.clone().unwrap_or_default(), id);
                } else if let Some(content) = tree.get("content") {
                    for end in ["source", "target"] {
                        if let Some(entity) = text_member(content, end).and_then(|name| self.entities.get(name)) {
                            record.links.push(to(end, Kind::Entity, entity));
                        }
                    }
                }
                if let Some((kind, entity)) = self.events.get(citation_text) {
                    record.links.push(to("derived_from", *kind, entity));
                }
            }
            kind => drop(self.events.insert(citation_text.to_owned(), (kind, id))),
        }
    }
}
