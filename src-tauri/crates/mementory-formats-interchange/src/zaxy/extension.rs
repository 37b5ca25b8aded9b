//! The extension slot of an entry. It is a member of `payload`, `properties` or `evidence` in `content`, because these
//! objects may have arbitrary members.
use super::{canonical::canonical, entry::text_member};
use mementory_format::extension::{self, FINGERPRINT_MEMBER, NativeFields, Restored, is_slot_name, members};
use mementory_json::{Tree, tree_of, value_of};
use mementory_model::{LossReport, Record, Verbatim};
use serde_json::Value;

/// Member of the slot that marks an entry that Mementory composed.
const COMPOSED_MEMBER: &str = "composed";

const NATIVE_FIELDS: NativeFields =
    NativeFields { always: NativeFields::ALL_BUT_TIMES, sometimes: NativeFields::ALL_TIMES, whole_seconds: false };

/// Name of the member of `content` that contains the extension slot.
fn slot_member(tree: &Tree) -> &'static str {
    match text_member(tree, "kind") {
        _ if text_member(tree, "grain") == Some("event") => "payload",
        Some(kind) if kind.starts_with("entity:") => "properties",
        _ => "evidence",
    }
}

fn slot(tree: &Tree) -> Option<&Tree> {
    extension::get(tree.get("content")?.get(slot_member(tree))?)
}

/// True if Mementory composed the whole entry for a record of another format.
pub(super) fn is_composed(tree: &Tree) -> bool {
    slot(tree).and_then(|x| x.get(COMPOSED_MEMBER)) == Some(&Tree::Bool(true))
}

fn set_slot(tree: &mut Tree, new: Option<Tree>) {
    let slot_member = slot_member(tree);
    let Some(content) = tree.get_mut("content") else { return };
    match content.get_mut(slot_member) {
        Some(slot @ Tree::Object(_)) => {
            extension::remove(slot);
            new.into_iter().for_each(|new| extension::set(slot, new));
        }
        _ => {
            let Some(new) = new else { return };
            let mut slot = Tree::Object(vec![]);
            extension::set(&mut slot, new);
            content.set(slot_member, slot);
        }
    }
}

/// The entry without the extension slot, as another program reads it. The slot is not copied first, because it is the
/// largest part of an entry that Mementory composed.
pub(super) fn without_extension(tree: &Tree) -> Tree {
    let slot_member = slot_member(tree);
    let slot_removed = |slot: &Tree| match slot {
        Tree::Object(members) => Tree::Object(members.iter().filter(|(key, _)| !is_slot_name(key)).cloned().collect()),
        other => other.clone(),
    };
    with_last_changed(tree, "content", &|content| with_last_changed(content, slot_member, &slot_removed))
}

/// A copy of `tree` in which the value of the last member with this key is what `change` makes of it.
fn with_last_changed(tree: &Tree, key: &str, change: &dyn Fn(&Tree) -> Tree) -> Tree {
    let Tree::Object(members) = tree else { return tree.clone() };
    let last = members.iter().rposition(|(name, _)| name == key);
    let copy = |(at, (name, value)): (usize, &(String, Tree))| {
        (name.clone(), if Some(at) == last { change(value) } else { value.clone() })
    };
    Tree::Object(members.iter().enumerate().map(copy).collect())
}

fn fingerprint(tree: &Tree) -> String {
    let slot_member = slot_member(tree);
    let mut native = without_extension(tree);
    if let Some(content) = native.get_mut("content") {
        content.remove("thread");
        // An empty object counts as missing, because Mementory may have added it only to contain the slot.
        if content.get(slot_member).is_none_or(|slot| matches!(slot, Tree::Null) || *slot == Tree::Object(vec![])) {
            content.remove(slot_member);
        }
    }
    native.remove("seq");
    native.remove("citation");
    extension::fingerprint(canonical(&native).unwrap_or_default())
}

/// Writes the differences between `record` and `mapped` into the extension slot of `tree`. `mapped` is the record as
/// read from `tree` without the slot. `is_same_format` is true if the record was read from this format; origin and
/// verbatim are then left out, because they follow from the entry itself.
pub(super) fn attach(tree: &mut Tree, mapped: &Record, record: &Record, is_same_format: bool) {
    set_slot(tree, None);
    let mut out = extension::record_difference(mapped, record, is_same_format);
    if !is_same_format && let Ok(origin) = serde_json::to_value(&record.origin) {
        // Always stored, because reading the entry yields another origin: the exported file.
        out.insert("origin".into(), origin);
    }
    if out.is_empty() {
        return;
    }
    out.insert(FINGERPRINT_MEMBER.into(), Value::String(fingerprint(tree)));
    if !is_same_format {
        out.insert(COMPOSED_MEMBER.into(), Value::Bool(true));
    }
    set_slot(tree, Some(tree_of(&Value::Object(out))));
}

/// Applies the extension slot of an entry to `mapped`, the record as read from the entry without the slot. Origin and
/// verbatim come from the slot if Mementory composed the entry and no other program changed it. Otherwise they come
/// from the entry. None if the entry has no slot.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &Verbatim) -> Option<Restored> {
    let Value::Object(mut map) = value_of(slot(tree)?) else { return None };
    let native = map.remove(FINGERPRINT_MEMBER)?;
    let is_same_format = map.remove(COMPOSED_MEMBER).is_none();
    let mut mapped_members = members(mapped);
    if is_same_format {
        map.remove("origin");
    } else {
        mapped_members.remove("origin");
    }
    mapped_members.entry("origin").or_insert_with(|| serde_json::to_value(&mapped.origin).unwrap_or_default());
    let mut record = extension::apply(mapped_members, map)?;
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if is_same_format || changed {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    if changed {
        NATIVE_FIELDS.adopt_native_fields(mapped, &mut record);
    }
    // There is no export id, because an entry is identified by its citation and not by the vault's id of the record.
    Some(Restored { record, changed, export_id: None })
}

/// Reports the members of the extension slot as losses, because other programs do not read them. Key and origin are not
/// reported.
pub(super) fn report_losses(id: &str, tree: &Tree, report: &mut LossReport) {
    let Some(slot) = slot(tree) else { return };
    extension::report(id, extension::slot_member_names(slot), &[COMPOSED_MEMBER, "key", "origin", "origin_id"], report);
}
