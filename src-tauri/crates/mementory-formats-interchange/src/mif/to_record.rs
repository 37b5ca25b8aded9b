//! Converts an element of a list to a record. Members without a field in [`Record`] go into `fields`.
use super::{
    sections::Section,
    wire::{KEY_SCOPE, bare_id, json, list, nested_text, number, text, time},
};
use mementory_format::extension::{FORMER_MEMBER, MEMBER};
use mementory_json::{Tree, value_of};
use mementory_model::{EntityRef, Fields, Kind, Link, Record, RecordKey, Source};

/// Key of a record, from the name of its list and its id.
pub(super) fn key(list: &str, id: &str) -> RecordKey {
    RecordKey::new(KEY_SCOPE, format!("{list}/{}", bare_id(id)))
}

/// Link to the record named by an id in a version 1 graph.
pub(super) fn end_link(relation: &str, id: &str) -> Link {
    let (kind, list) = if id.starts_with("todo_") {
        (Kind::Todo, "todo")
    } else if id.starts_with("entity:") {
        (Kind::Entity, "node")
    } else {
        (Kind::Memory, "memory")
    };
    Link { relation: relation.to_owned(), kind, target: key(list, id) }
}

/// Reason code if an element cannot become a record.
pub(super) fn missing_requirement(section: &Section, tree: &Tree) -> Option<&'static str> {
    if !matches!(tree, Tree::Object(_)) {
        return Some("not_an_object");
    }
    let has = |name: &str| text(tree, name).is_some();
    match section.key {
        "memory" | "todo" | "reminder" if !has("content") => Some("no_content"),
        "node" if !has("id") => Some("no_id"),
        "edge" if !(has("source") && has("target")) => Some("no_ends"),
        "relationship" if !(has("source_entity_id") && has("target_entity_id")) => Some("no_ends"),
        "project" | "entity" | "episode" if !has("name") => Some("no_name"),
        _ => None,
    }
}

/// The record of an element. The caller sets origin and verbatim, and the key of an element without an id.
pub(super) fn to_record(section: &Section, tree: &Tree) -> Record {
    let id = text(tree, "id").filter(|id| !id.is_empty());
    let non_empty_text = |name: &str| text(tree, name).filter(|t| !t.is_empty()).map(str::to_owned);
    let mut record = Record::new(section.kind, key(section.key, id.unwrap_or_default()), "");
    record.origin_id = id.map(str::to_owned);
    record.text = text(tree, section.text).unwrap_or_default().to_owned();
    record.title = non_empty_text(section.title);
    record.tags = list(tree, "tags");
    record.status = non_empty_text("status");
    record.times.created = time(tree, "created_at");
    if !section.updated.is_empty() {
        record.times.updated = time(tree, section.updated);
    }
    record.source = Source { platform: KEY_SCOPE.into(), ..Source::default() };
    let mut used = vec!["id", "content", "tags", "created_at", MEMBER, FORMER_MEMBER];
    match section.key {
        "memory" => fill_memory(tree, &mut record, &mut used),
        "todo" => fill_todo(tree, &mut record, &mut used),
        "reminder" => record.record_type = Some("reminder".into()),
        "project" => {
            used.extend(["name", "description"]);
            record.record_type = Some("project".into());
        }
        "episode" => {
            used.push("name");
            record.record_type = Some("episode".into());
        }
        "node" => {
            used.push("entity_type");
            let name = id.map(|id| id.strip_prefix("entity:").unwrap_or(id)).unwrap_or_default();
            record.text = name.to_owned();
            record.title = Some(name.to_owned());
            record.record_type = non_empty_text("entity_type");
        }
        "entity" => fill_entity(tree, &mut record, &mut used),
        "edge" => fill_edge(tree, &mut record, &mut used),
        _ => fill_relationship(tree, &mut record, &mut used),
    }
    if record.status.is_some() {
        used.push("status");
    }
    record.fields = remaining_members(tree, &used);
    record
}

fn fill_memory(tree: &Tree, record: &mut Record, used: &mut Vec<&str>) {
    used.extend(["importance", "updated_at", "accessed_at"]);
    record.importance = number(tree, "importance");
    record.times.last_accessed = time(tree, "accessed_at");
    let (kind, vector) = type_and_vector_names(tree);
    used.extend([kind, vector, "relations", "related_memory_ids", "related_todo_ids", "parent_id"]);
    record.record_type = text(tree, kind).map(str::to_owned);
    if let Some(value @ Tree::Object(_)) = tree.get(vector) {
        let model = text(value, "model").unwrap_or_default().to_owned();
        record.embeddings.push(mementory_model::Embedding { model, json: json(value) });
    }
    record.source.method =
        nested_text(tree, "source", "type").or(nested_text(tree, "source", "source_type")).map(str::to_owned);
    record.source.conversation = nested_text(tree, "source", "session_id").map(str::to_owned);
    if let Some(agent) = nested_text(tree, "source", "agent") {
        record.source.platform = agent.to_owned();
    }
    if let Some(Tree::Array(items)) = tree.get("entities") {
        record.entities = items
            .iter()
            .filter_map(|e| {
                let name = text(e, "text").or(text(e, "name"))?.to_owned();
                let entity_type = text(e, "type").or(text(e, "entity_type")).map(str::to_owned);
                Some(EntityRef { name, entity_type, role: None })
            })
            .collect();
    }
    let relations = tree.get("relations").unwrap_or(&Tree::Null);
    let related = |to: &'static str, kind: Kind, ids: Vec<String>| {
        ids.into_iter().map(move |id| Link { relation: "related".into(), kind, target: key(to, &id) })
    };
    record.links.extend(related("memory", Kind::Memory, list(relations, "related_memories")));
    record.links.extend(related("memory", Kind::Memory, list(tree, "related_memory_ids")));
    record.links.extend(related("todo", Kind::Todo, list(relations, "related_todos")));
    record.links.extend(related("todo", Kind::Todo, list(tree, "related_todo_ids")));
    if let Some(parent) = text(tree, "parent_id") {
        record.links.push(Link { relation: "parent".into(), kind: Kind::Memory, target: key("memory", parent) });
    }
}

/// Names of the members with the type and the vector, which depend on the version of the element.
pub(super) fn type_and_vector_names(tree: &Tree) -> (&'static str, &'static str) {
    let is_version_2 = tree.get("type").is_none() && tree.get("memory_type").is_some();
    let vector = if tree.get("embedding").is_some() { "embedding" } else { "embeddings" };
    (if is_version_2 { "memory_type" } else { "type" }, vector)
}

fn fill_todo(tree: &Tree, record: &mut Record, used: &mut Vec<&str>) {
    used.extend(["updated_at", "related_memory_ids", "subtask_ids"]);
    record.source.project = nested_text(tree, "project", "name")
        .or(nested_text(tree, "project", "id"))
        .or(text(tree, "project_id"))
        .map(str::to_owned);
    let mut link = |relation: &str, kind, list: &str, id: &str| {
        record.links.push(Link { relation: relation.into(), kind, target: key(list, id) });
    };
    for id in list(tree, "related_memory_ids") {
        link("related", Kind::Memory, "memory", &id);
    }
    if let Some(parent) = text(tree, "parent_id") {
        link("parent", Kind::Todo, "todo", parent);
    }
    for id in list(tree, "subtask_ids") {
        link("subtask", Kind::Todo, "todo", &id);
    }
    for id in list(tree, "blocked_by").into_iter().chain(list(tree, "blocked_on")) {
        // The field may also contain free text, which is not a link.
        if id.starts_with("todo_") || uuid::Uuid::try_parse(&id).is_ok() {
            link("blocked_by", Kind::Todo, "todo", &id);
        }
    }
    if let Some(project) = text(tree, "project_id") {
        link("member_of", Kind::Profile, "project", project);
    }
}

fn fill_entity(tree: &Tree, record: &mut Record, used: &mut Vec<&str>) {
    used.extend(["name", "summary", "last_seen_at"]);
    if record.text.is_empty() {
        record.text = record.title.clone().unwrap_or_default();
    }
    record.record_type = list(tree, "types").into_iter().next();
    record.times.updated = time(tree, "last_seen_at");
}

fn fill_edge(tree: &Tree, record: &mut Record, used: &mut Vec<&str>) {
    used.extend(["source", "target", "type"]);
    let text_or_empty = |name: &str| text(tree, name).unwrap_or_default();
    let (source, target, relation) = (text_or_empty("source"), text_or_empty("target"), text_or_empty("type"));
    record.key = RecordKey::new(KEY_SCOPE, format!("edge/{}|{relation}|{}", bare_id(source), bare_id(target)));
    record.text = format!("{source} {relation} {target}");
    record.record_type = Some(relation.to_owned());
    record.links = vec![end_link("source", source), end_link("target", target)];
}

fn fill_relationship(tree: &Tree, record: &mut Record, used: &mut Vec<&str>) {
    used.extend(["source_entity_id", "target_entity_id", "relation_type", "context", "confidence", "valid_at"]);
    used.push("invalidated_at");
    let text_or_empty = |name: &str| text(tree, name).unwrap_or_default();
    let (source, target, relation) =
        (text_or_empty("source_entity_id"), text_or_empty("target_entity_id"), text_or_empty("relation_type"));
    if record.text.is_empty() {
        record.text = format!("{source} {relation} {target}");
    }
    record.record_type = Some(relation.to_owned());
    record.confidence = number(tree, "confidence");
    record.times.valid_from = time(tree, "valid_at");
    record.times.valid_to = time(tree, "invalidated_at");
    let end_link =
        |relation: &str, id: &str| Link { relation: relation.into(), kind: Kind::Entity, target: key("entity", id) };
    record.links = vec![end_link("source", source), end_link("target", target)];
}

/// Members that have no field in the model and are not null.
fn remaining_members(tree: &Tree, used: &[&str]) -> Fields {
    let Tree::Object(members) = tree else { return Fields::new() };
    let is_used = |k: &str| used.contains(&k);
    members.iter().filter(|(k, v)| !is_used(k) && *v != Tree::Null).map(|(k, v)| (k.clone(), value_of(v))).collect()
}
