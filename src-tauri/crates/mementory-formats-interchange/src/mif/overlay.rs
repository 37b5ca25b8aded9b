//! `x_keepsake`, our member on an element (unknown members are allowed everywhere, specification §9): what of a record
//! the format's own members do not say. Reading it gives the same record back, with its own key and so its own id. If
//! another program has changed the element since, the format's own members are the truth.
use super::{canonical::canonical, map::tree_of, wire::json};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Record, Verbatim};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Name of the member.
pub(super) const EXTENSION: &str = "x_keepsake";
/// SHA-256 (first 16 hex digits) of the element without the extension, as we wrote it, in canonical form.
const NATIVE: &str = "native";
/// What says which record of which platform this is; left out of files without identifiers.
const IDENTIFIERS: [&str; 8] = ["key", "origin", "origin_id", "verbatim", "links", "attachments", "fields", "parent"];

fn as_map(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(), // a record is always an object
    }
}

fn fingerprint(tree: &Tree) -> String {
    let mut native = tree.clone();
    native.remove(EXTENSION);
    let mut out = String::new();
    canonical(&native, &mut out);
    hex::encode(&Sha256::digest(out)[..8])
}

/// Which records are compared, and how.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Home {
    /// The element is the record's own: origin and verbatim are the element itself.
    Own,
    /// From another format or version.
    Elsewhere,
    /// Without anything that names a platform or an account.
    Stripped,
}

/// Puts into `tree` what `record` says beyond `mapped` (what the tree says by itself).
pub(super) fn attach(tree: &mut Tree, mapped: &Record, record: &Record, home: Home) {
    tree.remove(EXTENSION);
    let (mut said, mut wanted) = (as_map(mapped), as_map(record));
    for map in [&mut said, &mut wanted] {
        if home == Home::Own {
            map.remove("origin");
            map.remove("verbatim");
        }
        if home == Home::Stripped {
            IDENTIFIERS.iter().for_each(|name| drop(map.remove(*name)));
            map.remove("source");
            if let Some(Value::Object(message)) = map.get_mut("message") {
                message.remove("parent");
            }
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
    if out.is_empty() {
        return;
    }
    out.insert(NATIVE.into(), Value::String(fingerprint(tree)));
    tree.set(EXTENSION, tree_of(&Value::Object(out)));
}

/// Members of `record` that `mapped` does not have or has otherwise, and whether it has them at all.
pub(super) fn differing(mapped: &Record, record: &Record) -> Vec<(String, bool)> {
    let (said, wanted) = (as_map(mapped), as_map(record));
    let lacks = wanted.into_iter().filter(|(name, value)| said.get(name) != Some(value));
    lacks.map(|(name, _)| (said.contains_key(&name), name)).map(|(partly, name)| (name, partly)).collect()
}

/// Restored record, and whether another program changed the element since we wrote it.
pub(super) struct Restored {
    /// The record.
    pub record: Record,
    /// Changed elsewhere.
    pub changed: bool,
}

/// Applies the extension of an element to what the element says. Origin and verbatim of the element stand unless the
/// extension has others. None = no extension, or one that is not ours.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &str) -> Option<Restored> {
    let mut map: Map<String, Value> = serde_json::from_str(&json(tree.get(EXTENSION)?)).ok()?;
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
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if changed {
        native_wins(mapped, &mut record);
    }
    if own_origin || changed {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(Verbatim::json(verbatim));
    }
    Some(Restored { record, changed })
}

fn native_wins(mapped: &Record, record: &mut Record) {
    record.text.clone_from(&mapped.text);
    record.record_type.clone_from(&mapped.record_type);
    record.tags.clone_from(&mapped.tags);
    record.confidence = mapped.confidence.or(record.confidence);
    record.importance = mapped.importance.or(record.importance);
    record.title = mapped.title.clone().or(record.title.take());
    record.status = mapped.status.clone().or(record.status.take());
    let (ours, line) = (&mut record.times, &mapped.times);
    ours.created = line.created.or(ours.created);
    ours.updated = line.updated.or(ours.updated);
    ours.last_accessed = line.last_accessed.or(ours.last_accessed);
    ours.valid_from = line.valid_from.or(ours.valid_from);
    ours.valid_to = line.valid_to.or(ours.valid_to);
}

/// What the extension holds, as losses: other programs do not see it.
pub(super) fn losses(id: &str, tree: &Tree, report: &mut LossReport) {
    let Some(Tree::Object(members)) = tree.get(EXTENSION) else { return };
    for (name, value) in members {
        if *value == Tree::Null || [NATIVE, "key", "origin", "origin_id", "kind"].contains(&name.as_str()) {
            continue;
        }
        report.add(id, name, LossKind::MovedToExtension, "kept in x_keepsake, which other programs do not read");
    }
}
