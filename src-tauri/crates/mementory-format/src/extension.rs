//! The extension slot: the one member that we add to an element of another format for values that the format has no
//! field for. Reading the element back yields the same record with the same key, and so the same id. If another program
//! has changed the element, the fields of the element take precedence over the slot.
//!
//! In every format, the slot contains the members in which the record differs from the one that the element alone
//! yields, with null for a member that the record does not have. Each format decides where its slot is and which fields
//! an element can express.
use mementory_json::Tree;
use mementory_model::{Limits, LossKind, LossReport, Record, Timestamp};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Name of the extension slot.
pub const MEMBER: &str = "x_mementory";
/// Name of the slot in files from before the program was renamed. It is read but never written.
pub const FORMER_MEMBER: &str = "x_keepsake";
/// Name of the slot in formats that require the plain name of the vendor (ALF §3.1.6).
pub const VENDOR: &str = "mementory";
/// The vendor's name before the program was renamed. It is read but never written.
pub const FORMER_VENDOR: &str = "keepsake";
/// Member of a slot that contains the record's `fields` as JSON text, instead of the member `fields`.
pub const FIELDS_TEXT_MEMBER: &str = "fields_text";
/// Fields nested more deeply than this are stored as text. Many parsers read at most about 100 levels, and the levels
/// of the slot itself are added to those of the fields, which could exceed what readers permit (`Limits::json_depth`).
const MAX_FIELD_LEVELS: u32 = 64;
/// Name of the slot's member that contains a [`fingerprint`] of the element without the slot, as we wrote it.
pub const FINGERPRINT_MEMBER: &str = "native";
/// Name of the slot's member with the record's export id, in formats whose ids of elements do not contain it.
pub const EXPORT_ID_MEMBER: &str = "export_id";
/// Name of the slot's member for [`Record::edited`]. It is not a loss, because it only serves to restore the record.
pub const EDITED_MEMBER: &str = "edited";
/// Note in the loss list for a field that only the slot contains.
pub const MOVED_NOTE: &str = "kept in x_mementory, which other programs do not read";

/// True for the current name and the former name of the slot.
pub fn is_slot_name(name: &str) -> bool {
    [MEMBER, FORMER_MEMBER].contains(&name)
}

/// The slot in an object, under the current or the former name.
pub fn get(object: &Tree) -> Option<&Tree> {
    object.get(MEMBER).or_else(|| object.get(FORMER_MEMBER))
}

/// Removes the slot from an object, under either name.
pub fn remove(object: &mut Tree) {
    object.remove(MEMBER);
    object.remove(FORMER_MEMBER);
}

/// Stores the slot in an object, replacing any slot under the current or the former name.
pub fn set(object: &mut Tree, extension: Tree) {
    remove(object);
    object.set(MEMBER, extension);
}

/// The slot of an object in a format that requires the vendor's name, under the current or the former name.
pub fn vendor_slot(object: &Tree) -> Option<&Tree> {
    object.get(VENDOR).or_else(|| object.get(FORMER_VENDOR))
}

/// Stores the slot under the vendor's name, replacing any slot under the current or the former name.
pub fn set_vendor_slot(object: &mut Tree, value: Tree) {
    object.remove(FORMER_VENDOR);
    object.set(VENDOR, value);
}

/// First 16 hex digits of the SHA-256 of an element. If the element later has a different fingerprint, another program
/// changed it.
pub fn fingerprint(native: impl AsRef<[u8]>) -> String {
    hex::encode(&Sha256::digest(native)[..8])
}

/// The members of a record as JSON.
pub fn members(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(), // cannot happen, because a record is serialized as an object
    }
}

/// The members of `wanted` that `native` does not have or has with another value, and null for each member that only
/// `native` has.
pub fn difference(native: &Map<String, Value>, wanted: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in wanted {
        if native.get(name) != Some(value) {
            out.insert(name.clone(), value.clone());
        }
    }
    for name in native.keys().filter(|name| !wanted.contains_key(*name)) {
        out.insert(name.clone(), Value::Null);
    }
    fold_deep_fields(&mut out);
    out
}

/// Replaces `fields` with [`FIELDS_TEXT_MEMBER`] if they are nested too deeply for the slot.
pub fn fold_deep_fields(slot: &mut Map<String, Value>) {
    if let Some(fields) = slot.get("fields").filter(|fields| has_more_levels(fields, MAX_FIELD_LEVELS)) {
        let text = fields.to_string();
        slot.remove("fields");
        slot.insert(FIELDS_TEXT_MEMBER.into(), Value::String(text));
    }
}

/// True if the fields of the record are nested too deeply for a slot.
pub fn has_deep_fields(record: &Record) -> bool {
    record.fields.values().any(|value| has_more_levels(value, MAX_FIELD_LEVELS - 1))
}

/// Replaces [`FIELDS_TEXT_MEMBER`] with `fields`.
pub fn unfold_fields(slot: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = slot.remove(FIELDS_TEXT_MEMBER)
        && let Some(fields) = parse(&text)
    {
        slot.insert("fields".into(), fields);
    }
}

fn has_more_levels(value: &Value, levels: u32) -> bool {
    let has_more = |inner: &Value| has_more_levels(inner, levels - 1);
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(has_more),
        Value::Object(members) => levels == 0 || members.values().any(has_more),
        _ => false,
    }
}

/// Reads the JSON text of a slot, which may be nested as deeply as readers permit (`Limits::json_depth`). That is
/// deeper than `serde_json` reads by default. None if the text is not JSON of the type `T`, or if it is nested too
/// deeply.
pub fn parse<T: DeserializeOwned>(text: &str) -> Option<T> {
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    // Without a recursion limit, a text of any depth could exhaust the stack, so the depth is checked first.
    Tree::parse(text, &Limits::default()).ok()?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

/// The [`difference`] of two records. If `same_source` is true, the element was written from the record's own verbatim,
/// so `origin`, `verbatim` and `edited` are left out.
pub fn record_difference(native: &Record, record: &Record, same_source: bool) -> Map<String, Value> {
    let (mut native_members, mut wanted_members) = (members(native), members(record));
    if same_source {
        for map in [&mut native_members, &mut wanted_members] {
            for name in ["origin", "verbatim", EDITED_MEMBER] {
                map.remove(name);
            }
        }
    }
    difference(&native_members, &wanted_members)
}

/// Applies a [`difference`] to `native`, the members of the record that was read from the element without its slot.
/// None if the result is not a valid record.
pub fn apply(mut native: Map<String, Value>, mut difference: Map<String, Value>) -> Option<Record> {
    unfold_fields(&mut difference);
    for (name, value) in difference {
        if value.is_null() {
            native.remove(&name);
        } else {
            native.insert(name, value);
        }
    }
    serde_json::from_value(Value::Object(native)).ok()
}

/// A record that was read from an element with a slot.
pub struct Restored {
    /// The record from the slot, with the element's own values where another program changed them.
    pub record: Record,
    /// True if another program changed the element since we wrote it.
    pub changed: bool,
    /// Export id that the record had in the vault that wrote the element, if the element's id is derived from this
    /// export id.
    pub export_id: Option<String>,
}

/// A member of a record that some formats have a field for. The text is not listed, because every format has a field
/// for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Title.
    Title,
    /// Type.
    Type,
    /// Status.
    Status,
    /// Tags.
    Tags,
    /// Confidence.
    Confidence,
    /// Importance.
    Importance,
    /// Sensitivity.
    Sensitivity,
    /// Time of creation.
    Created,
    /// Time of the last change.
    Updated,
    /// Time of observation.
    Observed,
    /// Start of validity.
    ValidFrom,
    /// End of validity.
    ValidTo,
    /// Time of the last access.
    LastAccessed,
}

/// The fields that the elements of a format can contain. They determine which changes made by another program are
/// adopted.
#[derive(Debug, Clone, Copy)]
pub struct NativeFields {
    /// Fields that every element can contain. If such a field is absent, another program removed it.
    pub always: &'static [Field],
    /// Fields that only some elements or versions can contain. If such a field is absent, the record keeps its value.
    /// Tags are an exception: if they are absent, the record loses its tags.
    pub sometimes: &'static [Field],
    /// True if the format writes times in whole seconds. The record then keeps its more precise time, if the time in
    /// the element is in the same second.
    pub whole_seconds: bool,
}

impl NativeFields {
    /// All fields except times.
    pub const ALL_BUT_TIMES: &'static [Field] = &[
        Field::Title,
        Field::Type,
        Field::Status,
        Field::Tags,
        Field::Confidence,
        Field::Importance,
        Field::Sensitivity,
    ];
    /// All times.
    pub const ALL_TIMES: &'static [Field] =
        &[Field::Created, Field::Updated, Field::Observed, Field::ValidFrom, Field::ValidTo, Field::LastAccessed];

    /// Replaces the record's text and fields with those of `native`, the record as read from the element without the
    /// slot. The fields of this struct define what happens to absent fields and to times.
    pub fn adopt_native_fields(&self, native: &Record, record: &mut Record) {
        record.text.clone_from(&native.text);
        // The element becomes the verbatim of the record, so the record no longer differs from its verbatim.
        record.edited = false;
        for field in self.always {
            self.copy_native_field(*field, native, record, true);
        }
        for field in self.sometimes {
            self.copy_native_field(*field, native, record, false);
        }
    }

    fn copy_native_field(&self, field: Field, native: &Record, record: &mut Record, clear_if_absent: bool) {
        let copy_time = |target: &mut Option<Timestamp>, native_value: Option<Timestamp>| {
            let seconds_text = |time: Option<Timestamp>| time.map(Timestamp::to_rfc3339_seconds);
            let same_second =
                self.whole_seconds && target.is_some() && seconds_text(*target) == seconds_text(native_value);
            if !same_second && (clear_if_absent || native_value.is_some()) {
                *target = native_value;
            }
        };
        fn copy_text(target: &mut Option<String>, native_value: Option<&String>, clear_if_absent: bool) {
            if clear_if_absent || native_value.is_some() {
                *target = native_value.cloned();
            }
        }
        let (times, native_times) = (&mut record.times, &native.times);
        match field {
            Field::Title => copy_text(&mut record.title, native.title.as_ref(), clear_if_absent),
            Field::Type => copy_text(&mut record.record_type, native.record_type.as_ref(), clear_if_absent),
            Field::Status => copy_text(&mut record.status, native.status.as_ref(), clear_if_absent),
            Field::Sensitivity => copy_text(&mut record.sensitivity, native.sensitivity.as_ref(), clear_if_absent),
            Field::Tags => record.tags.clone_from(&native.tags),
            Field::Confidence if clear_if_absent || native.confidence.is_some() => {
                record.confidence = native.confidence
            }
            Field::Importance if clear_if_absent || native.importance.is_some() => {
                record.importance = native.importance
            }
            Field::Confidence | Field::Importance => {}
            Field::Created => copy_time(&mut times.created, native_times.created),
            Field::Updated => copy_time(&mut times.updated, native_times.updated),
            Field::Observed => copy_time(&mut times.observed, native_times.observed),
            Field::ValidFrom => copy_time(&mut times.valid_from, native_times.valid_from),
            Field::ValidTo => copy_time(&mut times.valid_to, native_times.valid_to),
            Field::LastAccessed => copy_time(&mut times.last_accessed, native_times.last_accessed),
        }
    }
}

/// Adds every member that only the slot contains to the loss list, because other programs do not read the slot.
/// [`FINGERPRINT_MEMBER`], [`EDITED_MEMBER`] and the members in `silent_members` are not listed, because they only
/// serve to restore the record.
pub fn report<'m>(id: &str, names: impl Iterator<Item = &'m str>, silent_members: &[&str], losses: &mut LossReport) {
    let is_silent = |name: &str| [FINGERPRINT_MEMBER, EDITED_MEMBER].contains(&name) || silent_members.contains(&name);
    for name in names.filter(|name| !is_silent(name)) {
        let name = model_name(name);
        losses.add(id, name, LossKind::MovedToExtension, MOVED_NOTE);
    }
}

/// Returns the name of the record member whose value a slot member contains.
pub fn model_name(name: &str) -> &str {
    if name == FIELDS_TEXT_MEMBER { "fields" } else { name }
}

/// Names of the members of a slot that are neither null nor an empty object.
pub fn slot_member_names(extension: &Tree) -> impl Iterator<Item = &str> {
    let members = match extension {
        Tree::Object(members) => members.as_slice(),
        _ => &[],
    };
    let is_empty = |value: &Tree| matches!(value, Tree::Null) || *value == Tree::Object(vec![]);
    members.iter().filter(move |(_, value)| !is_empty(value)).map(|(name, _)| model_name(name))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::{Kind, RecordKey};

    fn record(text: &str) -> Record {
        Record::new(Kind::Memory, RecordKey::new("test", "1"), text)
    }

    #[test]
    fn a_slot_under_the_former_name_is_read_and_replaced() {
        let mut object = Tree::Object(vec![(FORMER_MEMBER.into(), Tree::Text("old".into()))]);
        assert_eq!(get(&object).and_then(Tree::as_str), Some("old"));
        set(&mut object, Tree::Text("new".into()));
        assert_eq!(object, Tree::Object(vec![(MEMBER.into(), Tree::Text("new".into()))]));
        remove(&mut object);
        assert_eq!(get(&object), None);
    }

    #[test]
    fn fields_of_any_permitted_depth_are_restored() {
        let native = record("a");
        for levels in [60, 70, 100, 124, 130, 500] {
            let mut wanted = record("a");
            let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            wanted.fields.insert("x".into(), parse(&text).unwrap());
            let slot = difference(&members(&native), &members(&wanted));
            assert_eq!(slot.contains_key(FIELDS_TEXT_MEMBER), levels > 60, "{levels}");
            let written = Value::Object(slot).to_string();
            assert_eq!(apply(members(&native), parse(&written).unwrap()), Some(wanted), "{levels}");
        }
        let too_deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse::<Value>(&too_deep), None);
    }

    #[test]
    fn a_difference_restores_the_record() {
        let (native, mut wanted) = (record("the same"), record("the same"));
        wanted.title = Some("a title".into());
        wanted.edited = true;
        let difference = record_difference(&native, &wanted, true);
        assert_eq!(difference.keys().collect::<Vec<_>>(), ["title"]);
        assert_eq!(apply(members(&native), difference).map(|r| r.title), Some(wanted.title));
    }

    #[test]
    fn listed_fields_come_from_the_element() {
        let fields =
            NativeFields { always: &[Field::Status], sometimes: &[Field::Title, Field::Created], whole_seconds: true };
        let exact_time = Timestamp::from_micros(1_700_000_000_123_456);
        let mut ours = record("before");
        ours.edited = true;
        (ours.title, ours.status, ours.times.created) = (Some("ours".into()), Some("active".into()), exact_time);
        let mut native = record("after");
        native.times.created = Timestamp::from_micros(1_700_000_000_000_000);
        fields.adopt_native_fields(&native, &mut ours);
        assert_eq!(ours.text, "after");
        assert!(!ours.edited, "the element becomes the verbatim");
        assert_eq!(ours.title.as_deref(), Some("ours"), "absent in this element, which says nothing");
        assert_eq!(ours.status, None, "absent, so somebody removed it");
        assert_eq!(ours.times.created, exact_time, "the same second");
    }
}
