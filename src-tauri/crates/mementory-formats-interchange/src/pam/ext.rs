//! `x_keepsake`, our member in the format's extension slots (`metadata` of a memory, `raw_metadata` of a conversation or
//! message): what of a record the format's own members do not say. It is a text with JSON in it, so that no other
//! program respells its numbers or drops its nulls on the way.
use super::hash::sdk_form;
use super::jcs::canonical;
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Record, Times, Timestamp, Verbatim};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Name of the member.
pub(super) const EXTENSION: &str = "x_keepsake";
/// SHA-256 (first 16 hex digits) of the object without the extension, as we wrote it.
const NATIVE: &str = "native";
/// Conversation that stands for messages whose own is not in the file.
const STUB: &str = "stub";

/// The member of an object that takes extensions.
pub(super) fn slot(tree: &Tree) -> &'static str {
    if tree.get("content_hash").is_some() { "metadata" } else { "raw_metadata" }
}

pub(super) fn as_map(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The object's own words, in a form that survives another program's saving.
fn fingerprint(tree: &Tree) -> String {
    let mut native = tree.clone();
    // Made anew from what is around them.
    for name in ["messages", "children_ids", "content_hash", "embedding_ref"] {
        native.remove(name);
    }
    let slot = slot(tree);
    if let Some(mut inside) = native.get(slot).cloned() {
        inside.remove(EXTENSION);
        match &inside {
            Tree::Object(members) if members.is_empty() => native.remove(slot),
            _ => native.set(slot, inside),
        }
    }
    let mut native = sdk_form(&native);
    if slot == "raw_metadata" {
        native.remove("status");
        for (name, default) in [("is_thought", Tree::Bool(false)), ("is_archived", Tree::Bool(false))] {
            if native.get(name) == Some(&default) {
                native.remove(name);
            }
        }
        if let Tree::Object(members) = &mut native {
            members.retain(|(_, v)| !matches!(v, Tree::Array(items) if items.is_empty()));
            for (_, value) in members.iter_mut().filter(|(k, _)| k == "content") {
                value.remove("parts");
            }
        }
    }
    hex::encode(&Sha256::digest(canonical(&native).unwrap_or_default())[..8])
}

/// Takes the extension out of an object.
pub(super) fn detach(tree: &mut Tree) {
    let slot = slot(tree);
    if let Some(mut inside) = tree.get(slot).cloned()
        && inside.get(EXTENSION).is_some()
    {
        inside.remove(EXTENSION);
        match &inside {
            Tree::Object(members) if members.is_empty() => tree.remove(slot),
            _ => tree.set(slot, inside),
        }
    }
}

/// What `record` says beyond `mapped` (what the object says by itself). `own` = the record came from this format, whose
/// origin and verbatim are the object itself.
pub(super) fn difference(mapped: &Record, record: &Record, own: bool) -> Map<String, Value> {
    let (mut said, mut wanted) = (as_map(mapped), as_map(record));
    if own {
        for map in [&mut said, &mut wanted] {
            map.remove("origin");
            map.remove("verbatim");
        }
    }
    let mut out = Map::new();
    for (name, value) in &wanted {
        if said.get(name) != Some(value) {
            out.insert(name.clone(), value.clone());
        }
    }
    for name in said.keys().filter(|n| !wanted.contains_key(*n)) {
        out.insert(name.clone(), Value::Null);
    }
    out
}

/// Puts a difference into an object's slot; nothing when there is none.
pub(super) fn attach(tree: &mut Tree, mut difference: Map<String, Value>) {
    if difference.is_empty() {
        return;
    }
    difference.insert(NATIVE.into(), Value::String(fingerprint(tree)));
    put(tree, &Value::Object(difference));
}

/// Marks a conversation as none of its own.
pub(super) fn mark_stub(tree: &mut Tree) {
    put(tree, &serde_json::json!({ (STUB): true }));
}

fn put(tree: &mut Tree, value: &Value) {
    let slot = slot(tree);
    let mut inside = tree.get(slot).filter(|t| matches!(t, Tree::Object(_))).cloned().unwrap_or(Tree::Object(vec![]));
    inside.set(EXTENSION, Tree::Text(value.to_string()));
    tree.set(slot, inside);
}

fn extension(tree: &Tree) -> Option<Map<String, Value>> {
    serde_json::from_str(tree.get(slot(tree))?.get(EXTENSION)?.as_str()?).ok()
}

/// Does a conversation only stand for its messages' own?
pub(super) fn is_stub(tree: &Tree) -> bool {
    extension(tree).is_some_and(|map| map.get(STUB) == Some(&Value::Bool(true)))
}

/// Restored record, and whether another program changed the object since we wrote it.
pub(super) struct Restored {
    pub record: Record,
    pub changed: bool,
}

/// Applies the extension of an object to what the object says. Origin and verbatim of the object stand unless the
/// extension has others. None = no extension, or one that is not ours.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &Verbatim) -> Option<Restored> {
    let mut map = extension(tree)?;
    let native = map.remove(NATIVE)?;
    let own_origin = !map.contains_key("origin");
    let mut whole = as_map(mapped);
    for (name, value) in map {
        if value.is_null() {
            whole.remove(&name);
        } else {
            whole.insert(name, value);
        }
    }
    let mut record: Record = serde_json::from_value(Value::Object(whole)).ok()?;
    if own_origin {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if changed {
        native_wins(mapped, &mut record);
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    Some(Restored { record, changed })
}

/// Members with a place in the format, from the object; a time of ours stays where the object has the same second.
fn native_wins(mapped: &Record, record: &mut Record) {
    record.text.clone_from(&mapped.text);
    record.title.clone_from(&mapped.title);
    record.record_type.clone_from(&mapped.record_type);
    record.status.clone_from(&mapped.status);
    record.tags.clone_from(&mapped.tags);
    record.confidence = mapped.confidence;
    let pick = |ours: Option<Timestamp>, theirs: Option<Timestamp>| match (ours, theirs) {
        (Some(a), Some(b)) if a.to_rfc3339_seconds() == b.to_rfc3339_seconds() => Some(a),
        (ours, None) => ours,
        (_, theirs) => theirs,
    };
    let (a, b) = (record.times.clone(), &mapped.times);
    record.times = Times {
        created: pick(a.created, b.created),
        updated: pick(a.updated, b.updated),
        valid_from: pick(a.valid_from, b.valid_from),
        valid_to: pick(a.valid_to, b.valid_to),
        ..a
    };
}

/// What the extension holds, as losses: other programs do not see it.
pub(super) fn losses(id: &str, difference: &Map<String, Value>, report: &mut LossReport) {
    let silent = ["key", "kind", "message", "origin", "origin_id", "parent", "repeats"];
    for (name, value) in difference {
        if value.is_null() || silent.contains(&name.as_str()) || (name == "text" && value == "") {
            continue;
        }
        match name.as_str() {
            "tags" => {
                report.add(id, name, LossKind::Narrowed, "tags are lower-case words here; as they were in x_keepsake")
            }
            _ => {
                report.add(id, name, LossKind::MovedToExtension, "kept in x_keepsake, which other programs do not read")
            }
        }
    }
}
