//! Values of a memory line that the specification forbids (schema of a memory record, §3.1), such as a confidence of
//! 1.7, an id that is not a UUID, empty content, or a vector whose length differs from its dimensions. The vault keeps
//! such a value in the record's verbatim, and an import reports it. An export moves it to
//! `raw_source_format.mementory_forbidden`, under its JSON pointer. In its place, the export writes a valid value
//! (midnight for a date without a time, `other` for a missing entity type) or omits the field. Missing required fields
//! are filled in too.
use super::manifest::number;
use super::partitions::stable_v7;
use super::schema;
use super::vocabulary::{EMPTY_CONTENT, ENTITY_TYPES, MEMORY_STATUSES, MEMORY_TYPES};
use super::wire::{self, INVALID_VALUES_MEMBER};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, check, make_valid},
};
use mementory_model::Timestamp;
use std::collections::BTreeSet;

/// JSON pointers to the invalid values, and to required fields that are missing.
pub(super) fn find_invalid_values(tree: &Tree) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    check(tree, &schema::MEMORY_RULE, RepeatedKeys::Accept, &mut |at, violation| {
        if schema::is_error(&violation) {
            out.insert(at.to_string());
        }
    });
    if let Some(Tree::Array(all)) = tree.get("embeddings") {
        for (i, embedding) in all.iter().enumerate() {
            let stated_dimensions = number(embedding.get("dimensions")).and_then(|n| usize::try_from(n).ok());
            if matches!(embedding.get("vector"), Some(Tree::Array(vector)) if stated_dimensions != Some(vector.len())) {
                out.insert(format!("/embeddings/{i}/dimensions"));
            }
        }
    }
    out
}

/// The agent of an archive, and the names of a record in the archive.
pub(super) struct LineNames<'a> {
    /// Agent of the archive.
    pub agent: &'a str,
    /// Id space of the agent from which the record came. An id derived from it is the same in the archives of all
    /// vaults.
    pub id_space: &'a str,
    /// Key of the record in its id space.
    pub key: &'a str,
    /// True if another record of the archive already has the id of the line, so that the line needs a new id.
    pub id_is_taken: bool,
}

/// The tree of a line, and true if the line is not valid JSON. In that case, each half of a surrogate pair, which is not
/// a character (RFC 8259 §8.2), is U+FFFD in the tree. None if the line cannot be read at all.
pub(super) fn parse_line(line: &str) -> Option<(Tree, bool)> {
    if let Ok(tree) = Tree::parse(line, 512) {
        return Some((tree, false));
    }
    let (repaired_line, _) = mementory_json::repair(line.as_bytes())?;
    Some((Tree::parse(&repaired_line, 512).ok()?, true))
}

/// The line with its invalid values moved to `raw_source_format`. None if the line is valid JSON and has no invalid
/// values.
pub(super) fn move_invalid_values(line: &str, names: &LineNames<'_>) -> Option<String> {
    let LineNames { agent, id_space, key, id_is_taken } = *names;
    let (mut tree, is_repaired) = parse_line(line)?;
    let mut pointers = find_invalid_values(&tree);
    if id_is_taken {
        pointers.insert("/id".to_owned());
    }
    if pointers.is_empty() && !is_repaired {
        return None;
    }
    let mut moved_values = Tree::Object(vec![]);
    let mut vectors: BTreeSet<usize> = BTreeSet::new();
    for pointer in &pointers {
        let mut parts = pointer.split('/').skip(1);
        let (Some(top), below) = (parts.next(), parts.next()) else { continue };
        if !["id", "content", "confidence", "embeddings"].contains(&top) {
            continue; // `make_valid` replaces these values below
        }
        if let (Some(index), Some(Tree::Array(_))) = (below.and_then(|i| i.parse().ok()), tree.get(top)) {
            vectors.insert(index);
            continue;
        }
        let mut old_value = tree.get(top).cloned().unwrap_or(Tree::Null);
        match (top, old_value.as_str()) {
            // The line gets a new id, and the key of the record is preserved among the invalid values.
            ("id", _) if id_is_taken => {
                tree.set(top, Tree::Text(id_from(&tree, id_space, key)));
                old_value = Tree::Text(key.to_owned());
            }
            ("id", Some(id)) if !id.is_empty() => tree.set(top, Tree::Text(id_from(&tree, id_space, id))),
            ("id", _) => {
                // If a line has no id, the key of its record is an id derived from the line. This key becomes the id of
                // the line.
                let is_id = uuid::Uuid::parse_str(key).is_ok_and(|id| id.hyphenated().to_string() == key);
                let id = if is_id { key.to_owned() } else { id_from(&tree, id_space, key) };
                tree.set(top, Tree::Text(id));
                if old_value == Tree::Null {
                    continue;
                }
            }
            ("content", _) => {
                let content = wire::json_of_content(&old_value);
                let is_text = old_value.as_str().is_some() || content.is_empty();
                tree.set(top, Tree::Text(if is_text { EMPTY_CONTENT.to_owned() } else { content }));
            }
            _ => tree.remove(top),
        }
        moved_values.set(&format!("/{top}"), old_value);
    }
    if let Some(Tree::Array(all)) = tree.get("embeddings").cloned() {
        let (invalid_vectors, valid_vectors): (Vec<_>, Vec<_>) =
            all.into_iter().enumerate().partition(|(i, _)| vectors.contains(i));
        if !invalid_vectors.is_empty() {
            moved_values
                .set("/embeddings", Tree::Array(invalid_vectors.into_iter().map(|(_, vector)| vector).collect()));
            tree.set("embeddings", Tree::Array(valid_vectors.into_iter().map(|(_, vector)| vector).collect()));
        }
    }
    let mut repaired_line = tree.clone();
    set_entity_types(&mut repaired_line);
    if make_valid(&mut repaired_line, &schema::MEMORY_RULE, &valid_values(&tree, agent), &schema::is_error).is_some()
        && let Tree::Object(members) = std::mem::replace(&mut tree, repaired_line)
    {
        let replaced_members = members.into_iter().filter(|(name, value)| tree.get(name) != Some(value));
        replaced_members.for_each(|(name, value)| moved_values.set(&format!("/{name}"), value));
    }
    if moved_values != Tree::Object(vec![]) {
        let raw = tree.get("raw_source_format").filter(|raw| matches!(raw, Tree::Object(_)));
        let mut raw = raw.cloned().unwrap_or_else(|| Tree::Object(vec![]));
        raw.set(INVALID_VALUES_MEMBER, moved_values);
        tree.set("raw_source_format", raw);
    }
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}

/// An id derived from the id space and another name of the record.
fn id_from(tree: &Tree, id_space: &str, name: &str) -> String {
    stable_v7(created_of(tree), &format!("{id_space}\n{name}")).hyphenated().to_string()
}

/// Valid replacements for the fields of a line: the times and tags that can be read, and defaults for all other fields.
fn valid_values(tree: &Tree, agent: &str) -> Tree {
    let text = |value: &str| Tree::Text(value.to_owned());
    let object = |members: Vec<(&str, Tree)>| {
        Tree::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let mut temporal = object(vec![("created_at", text(&created_of(tree).to_rfc3339()))]);
    if let Some(Tree::Object(times)) = tree.get("temporal") {
        let known_times = times.iter().filter_map(|(name, time)| Some((name, Timestamp::parse(time.as_str()?)?)));
        known_times.for_each(|(name, time)| temporal.set(name, text(&time.to_rfc3339())));
    }
    let tags = match tree.get("tags") {
        Some(Tree::Array(tags)) => tags.iter().filter(|tag| tag.as_str().is_some()).cloned().collect(),
        _ => vec![],
    };
    object(vec![
        ("agent_id", text(agent)),
        ("memory_type", text(MEMORY_TYPES[0])),
        ("source", object(vec![("runtime", text("unknown"))])),
        ("temporal", temporal),
        ("status", text(MEMORY_STATUSES[0])),
        ("tags", Tree::Array(tags)),
        ("namespace", text("default")),
        ("raw_source_format", object(vec![])),
    ])
}

/// Sets the type of each entity that has a name but no type to `other`, the type that readers assume.
fn set_entity_types(tree: &mut Tree) {
    let Some(Tree::Array(mut entities)) = tree.get("entities").cloned() else { return };
    let text = |entity: &Tree, name: &str| entity.get(name).and_then(Tree::as_str).is_some();
    let untyped_entities = entities.iter_mut().filter(|entity| text(entity, "name") && !text(entity, "type"));
    untyped_entities.for_each(|entity| entity.set("type", Tree::Text(ENTITY_TYPES[6].to_owned())));
    tree.set("entities", Tree::Array(entities));
}

fn created_of(tree: &Tree) -> Timestamp {
    let stated_time = tree.get("temporal").and_then(|t| t.get("created_at")).and_then(Tree::as_str);
    let valid_time = stated_time.and_then(Timestamp::parse).or_else(|| Timestamp::from_micros(0));
    valid_time.unwrap_or_else(Timestamp::now)
}
