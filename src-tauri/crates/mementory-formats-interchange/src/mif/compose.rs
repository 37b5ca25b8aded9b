//! Builds an element of version 1 or 2 from a record of another format, and applies edits to a record's original
//! element.
use super::{
    schema::{self, MEMORY_TYPES_1, MEMORY_TYPES_2, SOURCE_TYPES, TASK_PRIORITIES, TASK_STATES, code_of},
    sections::{
        EDGES_SECTION, ENTITIES_SECTION, MEMORIES_SECTION, NODES_SECTION, RELATIONSHIPS_SECTION, Section,
        TASKS_SECTION, section_at_pointer,
    },
    to_record::type_and_vector_names,
    wire::{KEY_SCOPE, Shape, text, texts},
};
use crate::creation_time::creation_time;
use crate::text_digest::digest;
use mementory_format::StoredRecord;
use mementory_json::{
    Tree,
    schema::{Field, RepeatedKeys, Rule, check},
    tree_of,
};
use mementory_model::{Kind, Record, Timestamp};
use std::collections::BTreeMap;

/// Nesting depth allowed in an element.
const MAX_DEPTH: u32 = 512;

/// Content of an element whose record has neither text nor title. The format requires that content is not empty.
const EMPTY_CONTENT: &str = "(empty)";

/// List and position of the element that a record was read from. None if the document of that element does not have
/// this `shape`.
pub(super) fn own_element(record: &Record, shape: Shape) -> Option<(&'static Section, u64)> {
    let version = record.origin.version.as_deref().unwrap_or_default();
    let is_same = match shape {
        Shape::V1 => version.starts_with('1'),
        Shape::V2 => version.starts_with('2'),
    };
    let is_json = record.verbatim.as_ref().is_some_and(|v| v.media_type == "application/json");
    (record.origin.format == KEY_SCOPE && is_same && is_json)
        .then(|| section_at_pointer(&record.origin.pointer))
        .flatten()
}

/// The list that a record of another format is written to. A relation is written as a relation only if both of its ends
/// are known (`has_ends`).
pub(super) fn section_for(kind: Kind, shape: Shape, has_ends: bool) -> &'static Section {
    match (kind, shape) {
        (Kind::Todo, _) => &TASKS_SECTION,
        (Kind::Entity, Shape::V1) => &NODES_SECTION,
        (Kind::Entity, Shape::V2) => &ENTITIES_SECTION,
        (Kind::Relation, Shape::V1) if has_ends => &EDGES_SECTION,
        (Kind::Relation, Shape::V2) if has_ends => &RELATIONSHIPS_SECTION,
        _ => &MEMORIES_SECTION,
    }
}

/// Id of a record in the file. A record of this format keeps its UUID, unless identifiers are left out. For any other
/// record, the vault id is written as a UUID. In version 1, the id also gets a prefix.
pub(super) fn id_for(stored: &StoredRecord, section: &Section, shape: Shape, strip: bool) -> String {
    let original =
        stored.record.key.value.rsplit('/').next().filter(|_| stored.record.key.scope == KEY_SCOPE && !strip);
    let original = original.and_then(|id| uuid::Uuid::try_parse(id).ok());
    let vault = || uuid::Uuid::try_parse(&stored.id).ok();
    let id = original.or_else(vault).map_or_else(|| stored.id.clone(), |u| u.hyphenated().to_string());
    with_prefix(id, section, shape)
}

fn with_prefix(id: String, section: &Section, shape: Shape) -> String {
    match (shape, section.key) {
        (Shape::V1, "memory") => format!("mem_{id}"),
        (Shape::V1, "todo") => format!("todo_{id}"),
        _ => id,
    }
}

/// An alternative for an id that is already used in the file, derived from the vault id of the record.
pub(super) fn alternative_id(proposed: &str, attempt: u32, vault_id: &str, section: &Section, shape: Shape) -> String {
    match (section.key, attempt) {
        ("node", 1) => format!("{proposed} ({})", vault_id.get(..8).unwrap_or(vault_id)),
        ("node", _) => format!("{proposed} ({vault_id}, {attempt})"),
        _ => {
            let uuid = uuid::Uuid::from_u128(digest(&format!("{vault_id} {attempt}")));
            with_prefix(uuid.hyphenated().to_string(), section, shape)
        }
    }
}

/// Values for composing an element that are not in its record.
pub(super) struct ElementContext<'a> {
    /// Id of the element.
    pub id: &'a str,
    /// Ids of the linked memories, and ids of the linked todos.
    pub related: (Vec<String>, Vec<String>),
    /// Ids of both ends, if the element is a relation.
    pub ends: Option<(String, String)>,
    /// True if accounts and conversations are left out.
    pub strip: bool,
}

pub(super) fn element(record: &Record, section: &Section, shape: Shape, context: &ElementContext<'_>) -> Tree {
    let mut tree = Tree::Object(vec![]);
    let t = &record.times;
    let created = creation_time(t);
    match section.key {
        "memory" => fill_memory(&mut tree, record, shape, context, created),
        "todo" => fill_todo(&mut tree, record, shape, context, created),
        "node" => {
            set_text(&mut tree, "id", context.id);
            set_text(&mut tree, "type", "entity");
            if let Some(kind) = &record.record_type {
                set_text(&mut tree, "entity_type", kind);
            }
        }
        "entity" => {
            set_text(&mut tree, "id", context.id);
            set_text(&mut tree, "name", record.title.as_deref().unwrap_or_else(|| content(record)));
            tree.set("types", texts(record.record_type.as_slice()));
            tree.set("attributes", Tree::Object(vec![]));
            set_text(&mut tree, "summary", &record.text);
            set_text(&mut tree, "created_at", &time_text(created));
            set_text(&mut tree, "last_seen_at", &time_text(t.updated.unwrap_or(created)));
        }
        "edge" => {
            let (source, target) = context.ends.clone().unwrap_or_default();
            set_text(&mut tree, "source", &source);
            set_text(&mut tree, "target", &target);
            let stated_weight = record.fields.get("weight").and_then(serde_json::Value::as_f64).or(record.confidence);
            tree.set("weight", number(stated_weight.filter(|w| (0.0..=1.0).contains(w)).unwrap_or(1.0)));
            set_text(
                &mut tree,
                "type",
                known_word_or(record.record_type.as_deref(), &schema::EDGE_TYPES, "semantic_association"),
            );
            set_text(&mut tree, "created_at", &time_text(created));
        }
        // New records are never written to these lists. An element is composed only to replace members of an imported
        // element that the format forbids.
        "project" | "reminder" | "episode" => {
            set_text(&mut tree, "id", context.id);
            set_text(&mut tree, "created_at", &time_text(created));
            if section.key == "reminder" {
                set_text(&mut tree, "status", record.status.as_deref().unwrap_or("pending"));
            }
        }
        _ => {
            let (source, target) = context.ends.clone().unwrap_or_default();
            set_text(&mut tree, "id", context.id);
            set_text(&mut tree, "source_entity_id", &source);
            set_text(&mut tree, "target_entity_id", &target);
            set_text(&mut tree, "relation_type", record.record_type.as_deref().unwrap_or("related_to"));
            set_text(&mut tree, "context", &record.text);
            if let Some(confidence) = record.confidence.filter(|c| c.is_finite()) {
                tree.set("confidence", number(confidence));
            }
            set_text(&mut tree, "created_at", &time_text(created));
            set_text(&mut tree, "valid_at", &time_text(t.valid_from.unwrap_or(created)));
            if let Some(to) = t.valid_to {
                set_text(&mut tree, "invalidated_at", &time_text(to));
            }
        }
    }
    if record.origin.format == KEY_SCOPE && !context.strip {
        copy_shared_members(&mut tree, record, shape.element_rule(section));
    }
    tree
}

/// Copies each field of the record for which the rule defines a member with the same name and type.
fn copy_shared_members(tree: &mut Tree, record: &Record, rule: &Rule) {
    for Field { name, nullable, rule, .. } in rule.fields().unwrap_or_default() {
        let Some(value) = record.fields.get(*name).filter(|_| tree.get(name).is_none()).map(tree_of) else { continue };
        let mut is_valid = true;
        check(&value, rule, RepeatedKeys::Accept, &mut |_, violation| is_valid &= code_of(&violation).1);
        if is_valid || (*nullable && value == Tree::Null) {
            tree.set(name, value);
        }
    }
}

fn fill_memory(tree: &mut Tree, record: &Record, shape: Shape, context: &ElementContext<'_>, created: Timestamp) {
    set_text(tree, "id", context.id);
    let max_chars = if shape == Shape::V1 { 100_000 } else { usize::MAX };
    set_text(tree, "content", truncated(content(record), max_chars));
    let kind = memory_type(record, shape);
    set_text(tree, if shape == Shape::V1 { "type" } else { "memory_type" }, kind);
    if shape == Shape::V1 {
        if let Some(importance) = record.importance.filter(|i| (0.0..=1.0).contains(i)) {
            tree.set("importance", number(importance));
        }
        set_text(tree, "created_at", &time_text(created));
        for (name, time) in [("updated_at", record.times.updated), ("accessed_at", record.times.last_accessed)] {
            if let Some(time) = time {
                set_text(tree, name, &time_text(time));
            }
        }
    } else {
        set_text(tree, "created_at", &time_text(created));
    }
    if !record.tags.is_empty() || shape == Shape::V2 {
        tree.set("tags", texts(&record.tags));
    }
    tree.set("source", source(record, shape, context.strip));
    let confidence = confidences(record);
    let entities = record.entities.iter();
    let entities: Vec<Tree> =
        entities.map(|e| entity(&e.name, e.entity_type.as_deref(), confidence.get(&e.name), shape)).collect();
    if !entities.is_empty() || shape == Shape::V2 {
        tree.set("entities", Tree::Array(entities));
    }
    let mut vectors = record.embeddings.iter().filter_map(|e| Tree::parse(&e.json, 8).ok());
    // A version 1 file must not name a model that the published schema does not list.
    let is_listed =
        |v: &Tree| shape == Shape::V2 || text(v, "model").is_some_and(|m| schema::EMBEDDING_MODELS.contains(&m));
    if let Some(vector) = vectors.find(|v| is_embedding(v) && is_listed(v)) {
        tree.set(if shape == Shape::V1 { "embedding" } else { "embeddings" }, vector);
    }
    let (memories, todos) = (texts(&context.related.0), texts(&context.related.1));
    if shape == Shape::V2 {
        tree.set("metadata", Tree::Object(vec![]));
        tree.set("related_memory_ids", memories);
        tree.set("related_todo_ids", todos);
        tree.set("version", Tree::Number("1".into()));
    } else if !(context.related.0.is_empty() && context.related.1.is_empty()) {
        let lists = vec![("related_memories".into(), memories), ("related_todos".into(), todos)];
        tree.set("relations", Tree::Object(lists));
    }
}

/// True if the embedding has the three members that every program needs.
fn is_embedding(tree: &Tree) -> bool {
    let numbers = |t: &Tree| matches!(t, Tree::Array(v) if v.iter().all(|n| matches!(n, Tree::Number(_))));
    text(tree, "model").is_some()
        && matches!(tree.get("dimensions"), Some(Tree::Number(_)))
        && tree.get("vector").is_some_and(numbers)
}

fn source(record: &Record, shape: Shape, strip: bool) -> Tree {
    let original = record.source.method.as_deref().filter(|m| SOURCE_TYPES.contains(m));
    let kind = original.unwrap_or(match record.kind {
        Kind::Message | Kind::Conversation => "conversation",
        Kind::Resource | Kind::Chunk | Kind::Attachment => "file",
        _ if record.source.conversation.is_some() => "conversation",
        _ if record.source.platform == "me" => "user",
        _ => "api",
    });
    let mut out = Tree::Object(vec![]);
    set_text(&mut out, if shape == Shape::V1 { "type" } else { "source_type" }, kind);
    if let Some(session) = record.source.conversation.as_deref().filter(|_| !strip) {
        set_text(&mut out, "session_id", session);
    }
    if !record.source.platform.is_empty() && !strip {
        set_text(&mut out, "agent", &record.source.platform);
    }
    out
}

/// Reads the confidence of each entity, by name, from the verbatim of the record, because records have no field for it.
fn confidences(record: &Record) -> BTreeMap<String, Tree> {
    let verbatim =
        record.verbatim.as_ref().filter(|_| record.origin.format == KEY_SCOPE && !record.entities.is_empty());
    let tree = verbatim.and_then(|v| Tree::parse(&v.text, MAX_DEPTH).ok()).unwrap_or(Tree::Null);
    let Some(Tree::Array(items)) = tree.get("entities") else { return BTreeMap::new() };
    let confidence_by_name = items.iter().filter_map(|e| {
        let confidence = e.get("confidence").filter(|c| c.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n)))?;
        Some((text(e, "text").or(text(e, "name"))?.to_owned(), confidence.clone()))
    });
    confidence_by_name.collect()
}

fn entity(name: &str, kind: Option<&str>, confidence: Option<&Tree>, shape: Shape) -> Tree {
    let mut out = Tree::Object(vec![]);
    let kind = kind.unwrap_or("unknown");
    if shape == Shape::V1 {
        set_text(&mut out, "text", name);
        set_text(&mut out, "type", &kind.to_uppercase());
    } else {
        set_text(&mut out, "name", name);
        set_text(&mut out, "entity_type", &kind.to_lowercase());
        out.set("confidence", Tree::Number("1.0".into()));
    }
    if let Some(confidence) = confidence {
        out.set("confidence", confidence.clone());
    }
    out
}

fn fill_todo(tree: &mut Tree, record: &Record, shape: Shape, context: &ElementContext<'_>, created: Timestamp) {
    set_text(tree, "id", context.id);
    let max_chars = if shape == Shape::V1 { 10_000 } else { usize::MAX };
    set_text(tree, "content", truncated(content(record), max_chars));
    let status = match record.status.as_deref() {
        Some("completed" | "complete" | "closed") => "done",
        Some("archived" | "deleted" | "superseded" | "canceled") => "cancelled",
        Some("pending" | "open" | "active") => "todo",
        other => known_word_or(other, &TASK_STATES, "todo"),
    };
    set_text(tree, "status", status);
    let priority = record.fields.get("priority").and_then(|p| p.as_str());
    if priority.is_some_and(|p| TASK_PRIORITIES.contains(&p)) || shape == Shape::V2 {
        set_text(tree, "priority", known_word_or(priority, &TASK_PRIORITIES, "none"));
    }
    set_text(tree, "created_at", &time_text(created));
    if record.times.updated.is_some() || shape == Shape::V2 {
        set_text(tree, "updated_at", &time_text(record.times.updated.unwrap_or(created)));
    }
    if let Some(project) = record.source.project.as_deref().filter(|_| shape == Shape::V1 && !context.strip) {
        let mut out = Tree::Object(vec![]);
        set_text(&mut out, "name", project);
        tree.set("project", out);
    }
    if !record.tags.is_empty() {
        tree.set("tags", texts(&record.tags));
    }
    if !context.related.0.is_empty() {
        tree.set("related_memory_ids", texts(&context.related.0));
    }
}

/// Content of an element: the text of the record, otherwise its title, otherwise a placeholder, because the format
/// forbids empty content.
pub(super) fn content(record: &Record) -> &str {
    let title = record.title.as_deref().unwrap_or_default();
    [record.text.as_str(), title].into_iter().find(|t| !t.is_empty()).unwrap_or(EMPTY_CONTENT)
}

fn truncated(text: &str, max_chars: usize) -> &str {
    text.char_indices().nth(max_chars).map_or(text, |(at, _)| &text[..at])
}

/// The memory type: the record's type if the format defines it (ignoring case and separators), otherwise a type chosen
/// by the kind of the record.
pub(super) fn memory_type(record: &Record, shape: Shape) -> &'static str {
    let normalized = |s: &str| s.replace(['_', '-', ' '], "").to_lowercase();
    let original = record.record_type.as_deref().map(normalized).unwrap_or_default();
    let words: &[&'static str] = if shape == Shape::V1 { &MEMORY_TYPES_1 } else { &MEMORY_TYPES_2 };
    if let Some(known) = words.iter().find(|known| normalized(known) == original) {
        return known;
    }
    let by_kind = match (original.as_str(), record.kind) {
        ("fact" | "knowledge" | "semantic", _) | (_, Kind::Fact) => "learning",
        ("mistake", _) => "error",
        ("procedural" | "habit", _) | (_, Kind::Procedure) => "pattern",
        (_, Kind::Conversation | Kind::Message) => "conversation",
        (_, Kind::Profile | Kind::Resource | Kind::Chunk | Kind::Attachment) => "context",
        (_, Kind::Todo) => "task",
        _ => "observation",
    };
    words.iter().find(|known| normalized(known) == by_kind).copied().unwrap_or("Observation")
}

fn known_word_or(original: Option<&str>, words: &'static [&'static str], other: &'static str) -> &'static str {
    words.iter().find(|known| Some(**known) == original).copied().unwrap_or(other)
}

/// A time as the specification writes it: with milliseconds, or with microseconds if they are not zero.
pub(super) fn time_text(time: Timestamp) -> String {
    let text = time.to_rfc3339();
    if text.contains('.') { text } else { format!("{}.000Z", text.trim_end_matches('Z')) }
}

fn number(value: f64) -> Tree {
    Tree::Number(serde_json::Number::from_f64(value).map_or_else(|| "0".into(), |n| n.to_string()))
}

pub(super) fn set_text(tree: &mut Tree, name: &str, text: &str) {
    tree.set(name, Tree::Text(text.to_owned()));
}

/// Writes the differences between `old` and `new` into the element of a record. Skips differences that the element
/// cannot express; the caller stores them in the extension slot.
pub(super) fn patch(tree: &mut Tree, section: &Section, shape: Shape, old: &Record, new: &Record) {
    if old.text != new.text && !section.text.is_empty() {
        set_text(
            tree,
            section.text,
            if section.key == "memory" || section.key == "todo" { content(new) } else { &new.text },
        );
    }
    if old.title != new.title && !section.title.is_empty() {
        set_text(tree, section.title, new.title.as_deref().unwrap_or_else(|| content(new)));
    }
    if old.tags != new.tags && matches!(section.key, "memory" | "todo" | "reminder") {
        tree.set("tags", texts(&new.tags));
    }
    if old.record_type != new.record_type {
        match section.key {
            "memory" => set_text(tree, type_and_vector_names(tree).0, memory_type(new, shape)),
            "node" => match &new.record_type {
                Some(kind) => set_text(tree, "entity_type", kind),
                None => tree.remove("entity_type"),
            },
            "relationship" => set_text(tree, "relation_type", new.record_type.as_deref().unwrap_or("related_to")),
            "entity" => tree.set("types", texts(new.record_type.as_slice())),
            _ => {}
        }
    }
    if old.status != new.status
        && let Some(status) = &new.status
    {
        match section.key {
            "todo" if TASK_STATES.contains(&status.as_str()) => set_text(tree, "status", status),
            "project" | "reminder" => set_text(tree, "status", status),
            _ => {}
        }
    }
    // In version 2, only todos have `updated_at`.
    let has_updated = !section.updated.is_empty() && (shape == Shape::V1 || section.key == "todo");
    if let Some(updated) = new.times.updated.filter(|_| has_updated && old.times.updated != new.times.updated) {
        set_text(tree, section.updated, &time_text(updated));
    }
}
