//! The extension slot of an element: a member of it (unknown members are allowed everywhere, specification §9).
use super::{canonical::canonical, to_record::tree_of, wire::json};
use mementory_format::extension::{self, Field, NATIVE, NativeFields, Restored, members};
use mementory_json::Tree;
use mementory_model::{LossReport, Record, Verbatim};
use serde_json::{Map, Value};

/// What says which record of which platform this is; left out of files without identifiers.
const IDENTIFIERS: [&str; 8] = ["key", "origin", "origin_id", "verbatim", "links", "attachments", "fields", "parent"];

/// Not every version has a member for all of them.
const FIELDS: NativeFields = NativeFields {
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
    extension::remove(tree);
    let (mut said, mut wanted) = (members(mapped), members(record));
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
    let mut out = extension::difference(&said, &wanted);
    if out.is_empty() {
        return;
    }
    out.insert(NATIVE.into(), Value::String(fingerprint(tree)));
    extension::set(tree, tree_of(&Value::Object(out)));
}

/// Members of `record` that `mapped` does not have or has otherwise, and whether it has them at all.
pub(super) fn differing(mapped: &Record, record: &Record) -> Vec<(String, bool)> {
    let (said, wanted) = (members(mapped), members(record));
    let lacks = wanted.into_iter().filter(|(name, value)| said.get(name) != Some(value));
    lacks.map(|(name, _)| (said.contains_key(&name), name)).map(|(partly, name)| (name, partly)).collect()
}

/// Applies the extension of an element to what the element says. Origin and verbatim of the element stand unless the
/// extension has others. None = no extension, or one that is not ours.
pub(super) fn restore(tree: &Tree, mapped: &Record, verbatim: &str) -> Option<Restored> {
    let mut map: Map<String, Value> = serde_json::from_str(&json(extension::get(tree)?)).ok()?;
    let native = map.remove(NATIVE)?;
    let own_origin = !map.contains_key("origin");
    let mut record = extension::apply(members(mapped), map)?;
    let changed = native.as_str() != Some(fingerprint(tree).as_str());
    if changed {
        FIELDS.prefer(mapped, &mut record);
    }
    if own_origin || changed {
        record.origin = mapped.origin.clone();
        record.verbatim = Some(Verbatim::json(verbatim));
    }
    Some(Restored { record, changed })
}

/// What the extension holds, as losses: other programs do not see it.
pub(super) fn losses(id: &str, tree: &Tree, report: &mut LossReport) {
    let Some(slot) = extension::get(tree) else { return };
    extension::report(id, extension::held(slot), &["key", "origin", "origin_id", "kind"], report);
}
