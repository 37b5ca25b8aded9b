//! Extension slots in JSON objects of vendors' formats. The slot is an additional last member that contains every value
//! of a record that the object itself cannot express. Other programs ignore it; our readers restore the record from it.
use crate::object::Object;
use mementory_format::extension::{
    self, FINGERPRINT_MEMBER, FORMER_MEMBER, Field, MEMBER, NativeFields, apply, fingerprint, is_slot_name, members,
    record_difference,
};
use mementory_json::Tree;
use mementory_model::{Limits, LossKind, LossReport, Record};
use serde_json::{Map, Value};

/// Member that marks a placeholder conversation, for messages whose own conversation is not in the file.
const STUB_MEMBER: &str = "stub";
/// Largest nesting depth of a value that is parsed for the fingerprint. A deeper value is included as text.
const MAX_DEPTH: u32 = 120;
/// Members that only identify a record and its position, so users do not need to see them in the loss list.
const UNREPORTED_MEMBERS: [&str; 7] = ["key", "kind", "message", "origin", "origin_id", "parent", "repeats"];

/// Fields that are taken from the object instead of the slot if another program changed the object.
const NATIVE_FIELDS: NativeFields =
    NativeFields { always: &[], sometimes: &[Field::Title, Field::Created, Field::Updated], whole_seconds: false };

/// An object that is written for a record.
#[derive(Default)]
pub struct Written<'w> {
    /// Vault id of the record.
    pub id: &'w str,
    /// True if the object was built from the record's own verbatim, so the slot needs neither origin nor verbatim.
    pub same_source: bool,
    /// Members of the object that become separate records, so the fingerprint does not include them.
    pub separate_members: &'w [&'w str],
    /// Members of the record that are not losses, because the object expresses them in another way.
    pub expressed_members: &'w [&'w str],
}

/// Adds a slot to an object, so that our reader restores `wanted` from it. `native` is the record that the object
/// yields without a slot. Values that only the slot contains are listed in `losses`.
pub fn attach(
    json: String,
    native: &Record,
    wanted: &Record,
    Written { id, same_source, separate_members, expressed_members }: Written<'_>,
    losses: &mut LossReport,
) -> String {
    let mut difference = record_difference(native, wanted, same_source);
    if difference.is_empty() {
        return json;
    }
    // A verbatim in the slot needs the origin too, because our reader uses the object itself as the verbatim if the
    // slot has no origin.
    if difference.contains_key("verbatim")
        && let Some(origin) = members(wanted).remove("origin")
    {
        difference.entry("origin").or_insert(origin);
    }
    let is_expressed = |name: &str, value: &Value| value.is_null() || *value == "" || expressed_members.contains(&name);
    let names = difference.iter().filter(|(name, value)| !is_expressed(name, value)).map(|(name, _)| name.as_str());
    extension::report(id, names, &UNREPORTED_MEMBERS, losses);
    difference.insert(FINGERPRINT_MEMBER.into(), fingerprint_of(&json, separate_members).into());
    with_slot(&json, difference)
}

/// Marks an object as the placeholder for a conversation that is not exported.
pub fn mark_stub(json: &str) -> String {
    with_slot(json, Map::from_iter([(STUB_MEMBER.to_owned(), Value::Bool(true))]))
}

fn with_slot(json: &str, slot: Map<String, Value>) -> String {
    let Some(inside) = json.trim_end().strip_suffix('}') else { return json.to_owned() };
    let separator = if inside.trim_end().ends_with('{') { "" } else { "," };
    format!("{inside}{separator}\"{MEMBER}\":{}}}", Value::Object(slot))
}

/// Digest of an object without its slot and without the members in `separate_members`. Whitespace does not matter.
fn fingerprint_of(json: &str, separate_members: &[&str]) -> String {
    let object = Object::parse(json).unwrap_or_default();
    let mut text = String::new();
    for (name, raw) in object.members().filter(|(name, _)| !is_slot_name(name) && !separate_members.contains(name)) {
        mementory_json::write_string(name, &mut text);
        match Tree::from_raw(raw, MAX_DEPTH) {
            Ok(tree) => tree.write(&mut text),
            Err(_) => text.push_str(raw.get()),
        }
    }
    fingerprint(text)
}

/// The content of a slot.
pub enum Slot {
    /// The record that was written.
    Record(Box<Record>),
    /// A placeholder conversation, for messages whose own conversation is not in the file.
    Stub,
}

/// Reads the slot of an object. `native` is the record that the object yields without its slot. If another program
/// changed the object, text, title and times are taken from `native`. None if the object has none of our slots.
pub fn restore(json: &str, native: &Record, separate_members: &[&str]) -> Option<Slot> {
    // Searches the bytes for the name of the slot before parsing, because nearly all objects have no slot.
    [MEMBER, FORMER_MEMBER].iter().find(|name| memchr::memmem::find(json.as_bytes(), name.as_bytes()).is_some())?;
    let object = Object::parse(json)?;
    let raw = object.raw_value(MEMBER).or_else(|| object.raw_value(FORMER_MEMBER))?;
    // Parsed JSON can need far more memory than its text, so a slot above the limits of depth or memory is ignored.
    Tree::from_raw(raw, &Limits::default()).ok()?;
    let mut slot: Map<String, Value> = extension::parse(raw.get())?;
    if slot.get(STUB_MEMBER) == Some(&Value::Bool(true)) {
        return Some(Slot::Stub);
    }
    let stated_fingerprint = slot.remove(FINGERPRINT_MEMBER)?;
    let is_changed = stated_fingerprint.as_str() != Some(fingerprint_of(json, separate_members).as_str());
    let has_own_origin = !slot.contains_key("origin");
    let mut record = apply(members(native), slot)?;
    if is_changed {
        NATIVE_FIELDS.adopt_native_fields(native, &mut record);
    }
    if has_own_origin || is_changed {
        record.origin.clone_from(&native.origin);
        record.verbatim.clone_from(&native.verbatim);
    }
    Some(Slot::Record(Box::new(record)))
}

/// Lists the losses of a record whose source text is written unchanged. These are the values that came from other
/// records or files of the source, which are not in the export.
pub fn report_difference(native: &Record, record: &Record, id: &str, losses: &mut LossReport) {
    let (mut native, record) = (native.clone(), record.clone());
    if let (Some(native), Some(part)) = (&mut native.message, &record.message) {
        native.position = part.position;
    }
    let difference = record_difference(&native, &record, true);
    for name in difference.keys().filter(|name| !["key", "kind", "repeats"].contains(&name.as_str())) {
        let note = "depends on parts of the source that are not in this export";
        losses.add(id, name, LossKind::Narrowed, note);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::{Kind, RecordKey};

    fn record(text: &str) -> Record {
        Record::new(Kind::Message, RecordKey::new("test", "1"), text)
    }

    fn restored(json: &str, native: &Record) -> Record {
        match restore(json, native, &[]) {
            Some(Slot::Record(record)) => *record,
            _ => panic!("no slot in {json}"),
        }
    }

    #[test]
    fn a_slot_restores_the_record_unless_another_program_changed_the_text() {
        let (native, mut wanted) = (record("the text"), record("the text"));
        wanted.tags = vec!["a".into()];
        wanted.key = RecordKey::new("elsewhere", "9");
        let mut losses = LossReport::default();
        let at = Written { id: "x", ..Written::default() };
        let json = attach(r#"{"text":"the text"}"#.into(), &native, &wanted, at, &mut losses);
        assert_eq!(losses.count("tags", LossKind::MovedToExtension), 1);
        assert_eq!(losses.items.len(), 1, "the key is no loss");
        let spaced = json.replace(':', " : ");
        assert_eq!(restored(&json, &native), wanted);
        assert_eq!(restored(&spaced, &native), wanted);
        let changed_json = json.replacen("the text", "another", 1);
        let restored_record = restored(&changed_json, &record("another"));
        assert_eq!(
            (restored_record.text.as_str(), restored_record.key.scope.as_str(), restored_record.tags.len()),
            ("another", "elsewhere", 1)
        );
    }

    #[test]
    fn values_that_are_not_our_slot_are_ignored() {
        for json in [
            r#"{"a":1}"#,
            r#"{"x_mementory":[]}"#,
            r#"{"x_mementory":{"tags":["a"]}}"#,
            r#"{"x_mementory":{"native":"0","kind":"nonsense"}}"#,
            r#"{"x":"x_mementory"}"#,
            "x_mementory",
        ] {
            assert!(restore(json, &record(""), &[]).is_none(), "{json}");
        }
        assert!(matches!(restore(&mark_stub("{}"), &record(""), &[]), Some(Slot::Stub)));
    }
}
