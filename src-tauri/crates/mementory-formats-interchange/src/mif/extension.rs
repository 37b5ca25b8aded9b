//! The extension slot of an element: an additional member, because the format allows unknown members everywhere (spec
//! §9).
use super::{
    canonical::canonical,
    wire::{KEY_SCOPE, bare_id, json, text},
};
use mementory_format::extension::{self, FINGERPRINT_MEMBER, Field, NativeFields, Restored, members};
use mementory_json::{Tree, tree_of};
use mementory_model::{LossReport, Record, Verbatim};
use serde_json::{Map, Value};

/// Members that identify a record or its platform. They are left out of files without identifiers.
const IDENTIFYING_MEMBERS: [&str; 8] =
    ["key", "origin", "origin_id", "verbatim", "links", "attachments", "fields", "parent"];

/// Fields that every element can express (`always`) and fields that only some versions can express (`sometimes`).
const NATIVE_FIELDS: NativeFields = NativeFields {
    always: &[Field::Type, Field::Tags],
    sometimes: &[
        Field::Title,
        Field::Status,
        Field::Confidence,
        Field::Importance,
        Field::Created,
        Field::Updated,
        Field::LastAccessed,
        Field::ValidFrom,
        Field::ValidTo,
    ],
    whole_seconds: false,
};

fn fingerprint(tree: &Tree) -> String {
    let mut native = tree.clone();
    extension::remove(&mut native);
    let mut out = String::new();
    canonical(&native, &mut out);
    extension::fingerprint(out)
}

/// How a record relates to the element that is written for it. This determines what the extension slot must contain.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ComparisonMode {
    /// The record was read from this element, which therefore provides its origin and verbatim.
    OwnElement,
    /// The record was read from another format or version.
    OtherSource,
    /// The record is written without anything that names a platform or an account.
    WithoutIdentifiers,
}

/// Stores the differences between `record` and `mapped` in the extension slot of `tree`. `mapped` is the record as read
/// from `tree` without the slot.
pub(super) fn attach(tree: &mut Tree, mapped: &Record, record: &Record, mode: ComparisonMode) {
    extension::remove(tree);
    let (mut mapped_members, mut record_members) = (members(mapped), members(record));
    for map in [&mut mapped_members, &mut record_members] {
        if mode == ComparisonMode::OwnElement {
            map.remove("origin");
            map.remove("verbatim");
        }
        if mode == ComparisonMode::WithoutIdentifiers {
            IDENTIFYING_MEMBERS.iter().for_each(|name| drop(map.remove(*name)));
            map.remove("source");
            if let Some(Value::Object(message)) = map.get_mut("message") {
                message.remove("parent");
            }
        }
    }
    let mut out = extension::difference(&mapped_members, &record_members);
    if out.is_empty() {
        return;
    }
    out.insert(FINGERPRINT_MEMBER.into(), Value::String(fingerprint(tree)));
    extension::set(tree, tree_of(&Value::Object(out)));
}

/// Names of the members of `record` that are different or missing in `mapped`. Each has the value true if the member is
/// different, and false if it is missing.
pub(super) fn differing_members(mapped: &Record, record: &Record) -> Vec<(String, bool)> {
    let (mapped_members, record_members) = (members(mapped), members(record));
    let differing = record_members.into_iter().filter(|(name, value)| mapped_members.get(name) != Some(value));
    differing.map(|(name, _)| (mapped_members.contains_key(&name), name)).map(|(partly, name)| (name, partly)).collect()
}

/// Applies the extension slot of an element to `mapped`, the record as read from the element without the slot. Origin
/// and verbatim come from the slot if it has an origin and no other program changed the element, otherwise from the
/// element. None if the element has no slot.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &str) -> Option<Restored> {
    let mut map: Map<String, Value> = extension::parse(&json(extension::get(tree)?))?;
    let native = map.remove(FINGERPRINT_MEMBER)?;
    let has_own_origin = !map.contains_key("origin");
    let mut record = extension::apply(members(mapped), map)?;
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if changed {
        NATIVE_FIELDS.adopt_native_fields(mapped, &mut record);
    }
    if has_own_origin || changed {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(Verbatim::json(verbatim));
    }
    let is_foreign = record.key.scope != KEY_SCOPE;
    let export_id = text(tree, "id").filter(|_| is_foreign).and_then(export_id_in);
    Some(Restored { record, changed, export_id })
}

/// The export id of the record for which an element was composed, taken from the id of the element. None for the id of
/// a node, which contains a name instead.
fn export_id_in(id: &str) -> Option<String> {
    uuid::Uuid::try_parse(&bare_id(id)).ok().map(|id| id.simple().to_string())
}

/// Reports the members of the extension slot as losses, because other programs do not read them. Key, origin and kind
/// are not reported.
pub(super) fn report_losses(id: &str, tree: &Tree, report: &mut LossReport) {
    let Some(slot) = extension::get(tree) else { return };
    extension::report(id, extension::slot_member_names(slot), &["key", "origin", "origin_id", "kind"], report);
}
