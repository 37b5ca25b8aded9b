//! `x_keepsake`, our extension field on a line: what of a record the format's own fields do not say. Reading it back
//! gives the same record, with its own key and so its own id. If another program has changed the line since, the
//! format's own fields are the truth.
use super::{canonical::canonical, kinds::Spec, map::tree_of, wire::line};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Record, Times, Timestamp, Verbatim};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Name of the member.
pub(super) const EXTENSION: &str = "x_keepsake";
/// SHA-256 (first 16 hex digits) of the line without the extension, as we wrote it.
const NATIVE: &str = "native";
/// `fields` as JSON text, when canonical numbers would change them (`1.0`).
const FIELDS_TEXT: &str = "fields_text";

fn as_map(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn fingerprint(spec: &Spec, tree: &Tree) -> String {
    let mut native = tree.clone();
    native.remove(EXTENSION);
    let line = line(spec, &native).unwrap_or_default();
    hex::encode(&Sha256::digest(line)[..8])
}

/// Puts into `tree` what `record` says beyond `mapped` (what the tree says by itself). `own` = the record came from
/// this format, whose origin and verbatim are the line itself.
pub(super) fn attach(spec: &Spec, tree: &mut Tree, mapped: &Record, record: &Record, own: bool) -> bool {
    tree.remove(EXTENSION);
    let (mut said, mut wanted) = (as_map(mapped), as_map(record));
    for map in [&mut said, &mut wanted] {
        if own {
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
    if out.is_empty() {
        return false;
    }
    if let Some(fields) = out.get("fields").filter(|f| !survives(f)).map(Value::to_string) {
        out.remove("fields");
        out.insert(FIELDS_TEXT.into(), Value::String(fields));
    }
    out.insert(NATIVE.into(), Value::String(fingerprint(spec, tree)));
    tree.set(EXTENSION, tree_of(&Value::Object(out)));
    true
}

/// Does canonical form keep the numbers in it?
fn survives(value: &Value) -> bool {
    canonical(&tree_of(value)).is_ok_and(|text| serde_json::from_str::<Value>(&text).is_ok_and(|v| v == *value))
}

/// A whole record in a line of its own, where no kind of the format fits.
pub(super) fn whole(id: &str, record: &Record) -> String {
    let mut out = as_map(record);
    if let Some(fields) = out.get("fields").filter(|f| !survives(f)).map(Value::to_string) {
        out.remove("fields");
        out.insert(FIELDS_TEXT.into(), Value::String(fields));
    }
    let tree =
        Tree::Object(vec![("id".into(), Tree::Text(id.to_owned())), (EXTENSION.into(), tree_of(&Value::Object(out)))]);
    canonical(&tree).unwrap_or_default()
}

/// The record of a line that [`whole`] wrote; None if it is not one.
pub(super) fn read_whole(tree: &Tree) -> Option<Record> {
    let mut map = extension(tree)?;
    restore_fields(&mut map);
    serde_json::from_value(Value::Object(map)).ok()
}

fn extension(tree: &Tree) -> Option<Map<String, Value>> {
    let text = canonical(tree.get(EXTENSION)?).ok()?;
    serde_json::from_str(&text).ok()
}

fn restore_fields(map: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = map.remove(FIELDS_TEXT)
        && let Ok(fields) = serde_json::from_str(&text)
    {
        map.insert("fields".into(), fields);
    }
}

/// Restored record, and whether another program changed the line since we wrote it.
pub(super) struct Restored {
    pub record: Record,
    pub changed: bool,
}

/// Applies the extension of a line to what the line says. Origin and verbatim of the line stand unless the extension
/// has others. None = no extension, or one that is not ours.
pub(super) fn restore(spec: &Spec, tree: &Tree, mapped: &Record, verbatim: &Verbatim) -> Option<Restored> {
    let mut map = extension(tree)?;
    let native = map.remove(NATIVE)?;
    restore_fields(&mut map);
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
    let changed = native.as_str() != Some(fingerprint(spec, tree).as_str());
    if changed {
        native_wins(mapped, &mut record);
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    Some(Restored { record, changed })
}

/// Fields with a place in the format, from the line; a time of ours stays where the line has the same second.
fn native_wins(mapped: &Record, record: &mut Record) {
    record.text.clone_from(&mapped.text);
    record.title.clone_from(&mapped.title);
    record.record_type.clone_from(&mapped.record_type);
    record.status.clone_from(&mapped.status);
    record.tags.clone_from(&mapped.tags);
    record.confidence = mapped.confidence;
    record.importance = mapped.importance;
    record.sensitivity.clone_from(&mapped.sensitivity);
    let pick = |ours: Option<Timestamp>, line: Option<Timestamp>| match (ours, line) {
        (Some(a), Some(b)) if a.to_rfc3339_seconds() == b.to_rfc3339_seconds() => Some(a),
        (ours, None) => ours,
        (_, line) => line,
    };
    let (a, b) = (&record.times, &mapped.times);
    record.times = Times {
        created: pick(a.created, b.created),
        updated: pick(a.updated, b.updated),
        observed: pick(a.observed, b.observed),
        valid_from: pick(a.valid_from, b.valid_from),
        valid_to: pick(a.valid_to, b.valid_to),
        last_accessed: pick(a.last_accessed, b.last_accessed),
    };
}

/// What the extension holds, as losses: other programs do not see it.
pub(super) fn losses(id: &str, mapped: &Record, record: &Record, tree: &Tree, report: &mut LossReport) {
    let Some(Tree::Object(members)) = tree.get(EXTENSION) else { return };
    for (name, value) in members {
        if *value == Tree::Null || [NATIVE, "key", "origin", "origin_id"].contains(&name.as_str()) {
            continue;
        }
        if name == "times" {
            times(id, &mapped.times, &record.times, report);
            continue;
        }
        let field = if name == FIELDS_TEXT { "fields" } else { name };
        report.add(id, field, LossKind::MovedToExtension, "kept in x_keepsake, which other programs do not read");
    }
}

fn times(id: &str, line: &Times, ours: &Times, report: &mut LossReport) {
    let pairs = [
        ("created", line.created, ours.created),
        ("updated", line.updated, ours.updated),
        ("observed", line.observed, ours.observed),
        ("valid_from", line.valid_from, ours.valid_from),
        ("valid_to", line.valid_to, ours.valid_to),
        ("last_accessed", line.last_accessed, ours.last_accessed),
    ];
    for (name, line, ours) in pairs {
        let Some(ours) = ours.filter(|t| Some(*t) != line) else { continue };
        let field = format!("times.{name}");
        if line.is_some_and(|l| l.to_rfc3339_seconds() == ours.to_rfc3339_seconds()) {
            report.add(id, &field, LossKind::Narrowed, "whole seconds; the exact time is kept in x_keepsake");
        } else {
            report.add(id, &field, LossKind::MovedToExtension, "kept in x_keepsake, which other programs do not read");
        }
    }
}
