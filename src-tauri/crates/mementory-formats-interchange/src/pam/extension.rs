//! The extension slot: a member of `metadata` (memory) or `raw_metadata` (conversation, message). Its value is JSON in
//! a string, so that no other program changes the numbers in it or drops its nulls.
use super::canonical::canonical;
use super::{hash::sdk_form, to_record::text};
use mementory_format::extension::{self, EXPORT_ID_MEMBER, FINGERPRINT_MEMBER, Field, NativeFields, Restored, members};
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Record, Verbatim};
use serde_json::{Map, Value};

/// Member that marks a stub: a conversation generated for messages whose original conversation is not in the export.
const STUB_MEMBER: &str = "stub";

/// Name of the member that contains the extension slot.
pub(super) fn slot_parent_name(tree: &Tree) -> &'static str {
    if tree.get("content_hash").is_some() { "metadata" } else { "raw_metadata" }
}

const NATIVE_FIELDS: NativeFields = NativeFields {
    always: &[Field::Title, Field::Type, Field::Status, Field::Tags, Field::Confidence],
    sometimes: &[Field::Created, Field::Updated, Field::ValidFrom, Field::ValidTo],
    whole_seconds: true,
};

/// Digest of an object without the extension slot. It does not change if another program saves the object without
/// edits.
fn fingerprint(tree: &Tree) -> String {
    let mut native = tree.clone();
    // These members are left out, because they are derived from other members or files.
    for name in ["messages", "children_ids", "content_hash", "embedding_ref"] {
        native.remove(name);
    }
    let slot_parent = slot_parent_name(tree);
    if let Some(mut parent) = native.get(slot_parent).cloned() {
        extension::remove(&mut parent);
        match &parent {
            Tree::Object(members) if members.is_empty() => native.remove(slot_parent),
            _ => native.set(slot_parent, parent),
        }
    }
    let mut native = sdk_form(&native);
    if slot_parent == "raw_metadata" {
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
    extension::fingerprint(canonical(&native).unwrap_or_default())
}

/// Removes the extension slot from an object.
pub(super) fn detach(tree: &mut Tree) {
    let slot_parent = slot_parent_name(tree);
    if let Some(mut parent) = tree.get(slot_parent).cloned()
        && extension::get(&parent).is_some()
    {
        extension::remove(&mut parent);
        match &parent {
            Tree::Object(members) if members.is_empty() => tree.remove(slot_parent),
            _ => tree.set(slot_parent, parent),
        }
    }
}

/// The differences between `record` and `mapped`, which is the record as read from the object without the slot.
/// `is_same_format` is true if the record was read from this format; origin and verbatim are then left out, because
/// they follow from the object itself.
pub(super) fn difference(mapped: &Record, record: &Record, is_same_format: bool) -> Map<String, Value> {
    extension::record_difference(mapped, record, is_same_format)
}

/// Stores a difference in the extension slot of an object, unless the difference is empty. `export_id` is the export id
/// of a record of another format.
pub(super) fn attach(tree: &mut Tree, mut difference: Map<String, Value>, export_id: Option<&str>) {
    if difference.is_empty() {
        return;
    }
    difference.extend(export_id.map(|id| (EXPORT_ID_MEMBER.to_owned(), Value::String(id.to_owned()))));
    difference.insert(FINGERPRINT_MEMBER.into(), Value::String(fingerprint(tree)));
    set_slot(tree, &Value::Object(difference));
}

/// Marks a conversation as a stub.
pub(super) fn mark_stub(tree: &mut Tree) {
    set_slot(tree, &serde_json::json!({ (STUB_MEMBER): true }));
}

fn set_slot(tree: &mut Tree, value: &Value) {
    let slot_parent = slot_parent_name(tree);
    let mut parent =
        tree.get(slot_parent).filter(|t| matches!(t, Tree::Object(_))).cloned().unwrap_or(Tree::Object(vec![]));
    extension::set(&mut parent, Tree::Text(value.to_string()));
    tree.set(slot_parent, parent);
}

fn slot_value(tree: &Tree) -> Option<Map<String, Value>> {
    extension::parse(extension::get(tree.get(slot_parent_name(tree))?)?.as_str()?)
}

/// True if the conversation is marked as a stub.
pub(super) fn is_stub(tree: &Tree) -> bool {
    slot_value(tree).is_some_and(|map| map.get(STUB_MEMBER) == Some(&Value::Bool(true)))
}

/// Applies the extension slot of an object to `mapped`, the record as read from the object without the slot. Origin and
/// verbatim come from the slot if it has an origin and no other program changed the object, otherwise from the object.
/// None if the object has no slot.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &Verbatim) -> Option<Restored> {
    let mut map = slot_value(tree)?;
    let native = map.remove(FINGERPRINT_MEMBER)?;
    let stated_id = map.remove(EXPORT_ID_MEMBER).and_then(|id| id.as_str().map(str::to_owned));
    let has_own_origin = !map.contains_key("origin");
    let mut record = extension::apply(members(mapped), map)?;
    if has_own_origin {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if changed {
        NATIVE_FIELDS.adopt_native_fields(mapped, &mut record);
        record.origin = mapped.origin.clone();
        record.verbatim = Some(verbatim.clone());
    }
    // Earlier versions of Mementory wrote no export id. In their files, the id of the element contains all but six bits
    // of the export id.
    let uuid = || uuid::Uuid::try_parse(text(tree, "id")?).ok().map(|id| id.simple().to_string());
    let is_foreign = record.key.scope != mapped.key.scope;
    let export_id = is_foreign.then(|| stated_id.or_else(uuid)).flatten();
    Some(Restored { record, changed, export_id })
}

/// Reports the members of the extension slot as losses, because other programs do not read them. Members for identity
/// and position (such as key, origin and parent) are not reported.
pub(super) fn report_losses(id: &str, difference: &Map<String, Value>, report: &mut LossReport) {
    let unreported_members =
        [extension::EDITED_MEMBER, "key", "kind", "message", "origin", "origin_id", "parent", "repeats"];
    for (name, value) in difference {
        if value.is_null() || unreported_members.contains(&name.as_str()) || (name == "text" && value == "") {
            continue;
        }
        match name.as_str() {
            "tags" => {
                report.add(id, name, LossKind::Narrowed, "tags are lower-case words here; as they were in x_mementory")
            }
            _ => {
                let name = extension::model_name(name);
                report.add(id, name, LossKind::MovedToExtension, extension::MOVED_NOTE)
            }
        }
    }
}
