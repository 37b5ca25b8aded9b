//! `x_keepsake`, our extension member in an entry: what of a record the entry does not say by itself. Reading it back
//! gives the same record with its own key. If another program has changed the entry since, the entry is the truth.
use super::{
    canonical::canonical,
    entry::word,
    map::{tree_of, value},
};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Record, Verbatim};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Name of the member.
pub(super) const EXTENSION: &str = "x_keepsake";
/// SHA-256 (first 16 hex digits) of the entry without the extension, number, thread and citation, as we wrote it.
const NATIVE: &str = "native";
/// Present when Mementory made the whole entry.
const COMPOSED: &str = "composed";

fn as_map(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// Member of `content` that the extension stands in: the one that is free to hold anything.
fn holder(tree: &Tree) -> &'static str {
    match word(tree, "kind") {
        _ if word(tree, "grain") == Some("event") => "payload",
        Some(kind) if kind.starts_with("entity:") => "properties",
        _ => "evidence",
    }
}

/// The extension of an entry.
fn extension(tree: &Tree) -> Option<&Tree> {
    tree.get("content")?.get(holder(tree))?.get(EXTENSION)
}

/// Did Mementory make the whole entry for a record from elsewhere?
pub(super) fn composed(tree: &Tree) -> bool {
    extension(tree).and_then(|x| x.get(COMPOSED)) == Some(&Tree::Bool(true))
}

fn change(tree: &mut Tree, extension: Option<Tree>) {
    let holder = holder(tree);
    let Some(mut content) = tree.get("content").cloned() else { return };
    let mut slot = match content.get(holder) {
        Some(slot @ Tree::Object(_)) => slot.clone(),
        _ if extension.is_none() => return,
        _ => Tree::Object(vec![]),
    };
    slot.remove(EXTENSION);
    if let Some(extension) = extension {
        slot.set(EXTENSION, extension);
    }
    content.set(holder, slot);
    tree.set("content", content);
}

/// The entry as another program reads it.
pub(super) fn bare(tree: &Tree) -> Tree {
    let mut bare = tree.clone();
    change(&mut bare, None);
    bare
}

fn fingerprint(tree: &Tree) -> String {
    let mut native = bare(tree);
    if let Some(mut content) = native.get("content").cloned() {
        content.remove("thread");
        // A slot that is there only for the extension is not a change.
        if content.get(holder(tree)).is_none_or(|slot| matches!(slot, Tree::Null) || *slot == Tree::Object(vec![])) {
            content.remove(holder(tree));
        }
        native.set("content", content);
    }
    native.remove("seq");
    native.remove("citation");
    hex::encode(&Sha256::digest(canonical(&native).unwrap_or_default())[..8])
}

/// Puts into `tree` what `record` says beyond `mapped` (what the tree says by itself). `own` = the record came from
/// this format, whose origin and verbatim are the entry itself.
pub(super) fn attach(tree: &mut Tree, mapped: &Record, record: &Record, own: bool) {
    change(tree, None);
    let (mut said, mut wanted) = (as_map(mapped), as_map(record));
    for map in [&mut said, &mut wanted] {
        if own {
            map.remove("origin");
            map.remove("verbatim");
        }
    }
    if !own {
        said.remove("origin"); // of another file: always told
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
    if !own {
        out.insert(COMPOSED.into(), Value::Bool(true));
    }
    change(tree, Some(tree_of(&Value::Object(out))));
}

/// Restored record, and whether another program changed the entry since we wrote it.
pub(super) struct Restored {
    pub record: Record,
    pub changed: bool,
}

/// Applies the extension of an entry to what the entry says. Origin and verbatim of the entry stand unless the
/// extension has others. None = no extension, or one that is not ours.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &Verbatim) -> Option<Restored> {
    let Value::Object(mut map) = value(extension(tree)?) else { return None };
    let native = map.remove(NATIVE)?;
    let own = map.remove(COMPOSED).is_none();
    let mut whole = as_map(mapped);
    if own {
        map.remove("origin");
    } else {
        whole.remove("origin");
    }
    for (name, value) in map {
        if value.is_null() {
            whole.remove(&name);
        } else {
            whole.insert(name, value);
        }
    }
    whole.entry("origin").or_insert_with(|| serde_json::to_value(&mapped.origin).unwrap_or_default());
    let mut record: Record = serde_json::from_value(Value::Object(whole)).ok()?;
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if own || changed {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    if changed {
        native_wins(mapped, &mut record);
    }
    Some(Restored { record, changed })
}

/// What has a place in the entry, from the entry.
fn native_wins(mapped: &Record, record: &mut Record) {
    record.text.clone_from(&mapped.text);
    record.title.clone_from(&mapped.title);
    record.record_type.clone_from(&mapped.record_type);
    record.status.clone_from(&mapped.status);
    record.tags.clone_from(&mapped.tags);
    record.confidence = mapped.confidence;
    record.importance = mapped.importance;
    record.sensitivity.clone_from(&mapped.sensitivity);
    let (ours, line) = (&mut record.times, &mapped.times);
    for (ours, line) in [
        (&mut ours.created, line.created),
        (&mut ours.updated, line.updated),
        (&mut ours.observed, line.observed),
        (&mut ours.valid_from, line.valid_from),
        (&mut ours.valid_to, line.valid_to),
        (&mut ours.last_accessed, line.last_accessed),
    ] {
        *ours = line.or(*ours);
    }
}

/// What the extension holds, as losses: other programs do not see it.
pub(super) fn losses(id: &str, tree: &Tree, report: &mut LossReport) {
    let Some(Tree::Object(members)) = extension(tree) else { return };
    for (name, value) in members {
        let plumbing = [NATIVE, COMPOSED, "key", "origin", "origin_id"].contains(&name.as_str());
        if plumbing || *value == Tree::Null || *value == Tree::Object(vec![]) {
            continue;
        }
        report.add(id, name, LossKind::MovedToExtension, "kept in x_keepsake, which other programs do not read");
    }
}
