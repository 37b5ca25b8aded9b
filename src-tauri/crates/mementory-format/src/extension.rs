//! The extension slot: the one member that we add to another format's element for what the element itself has no field
//! for. Reading it back gives the same record, with its own key and so its own id. If another program has changed the
//! element since, the element's own fields win.
//!
//! What the slot holds is the same in every format: the members of the record that differ from what the element says by
//! itself, null where the element only holds a default. Where it is put, and which fields a format has a place for, is
//! the format's own.
use mementory_json::Tree;
use mementory_model::{LossKind, LossReport, Record, Timestamp};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// Name of the member.
pub const MEMBER: &str = "x_mementory";
/// Its name in files that were written before the program was renamed: read, never written.
pub const FORMER_MEMBER: &str = "x_keepsake";
/// The same where a format asks for the vendor's name alone (ALF §3.1.6).
pub const VENDOR: &str = "mementory";
/// The vendor's name before the program was renamed: read, never written.
pub const FORMER_VENDOR: &str = "keepsake";
/// First 16 hex digits of the SHA-256 of the element without the extension, as we wrote it.
pub const NATIVE: &str = "native";
/// What a loss entry says of a field that only the extension holds.
pub const MOVED: &str = "kept in x_mementory, which other programs do not read";

/// True for today's name of the member and the former one.
pub fn is_member(name: &str) -> bool {
    [MEMBER, FORMER_MEMBER].contains(&name)
}

/// The extension in an object, under today's name or the former one.
pub fn get(object: &Tree) -> Option<&Tree> {
    object.get(MEMBER).or_else(|| object.get(FORMER_MEMBER))
}

/// Takes the extension out of an object, whichever name it has.
pub fn remove(object: &mut Tree) {
    object.remove(MEMBER);
    object.remove(FORMER_MEMBER);
}

/// Puts the extension into an object; one under the former name goes.
pub fn set(object: &mut Tree, extension: Tree) {
    remove(object);
    object.set(MEMBER, extension);
}

/// The vendor's member in an object, under today's name or the former one.
pub fn vendor(object: &Tree) -> Option<&Tree> {
    object.get(VENDOR).or_else(|| object.get(FORMER_VENDOR))
}

/// Puts the vendor's member into an object; one under the former name goes.
pub fn set_vendor(object: &mut Tree, value: Tree) {
    object.remove(FORMER_VENDOR);
    object.set(VENDOR, value);
}

/// Digest of an element's own text, to notice another program's change.
pub fn fingerprint(native: impl AsRef<[u8]>) -> String {
    hex::encode(&Sha256::digest(native)[..8])
}

/// A record's members by name.
pub fn members(record: &Record) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(), // a record is always an object
    }
}

/// Members of `wanted` that `native` lacks or has otherwise; null for those that only `native` has.
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
    out
}

/// [`difference`] of two records. `same_source`: the element is the record's own, so that origin and verbatim are the
/// element itself and stay out.
pub fn record_difference(native: &Record, record: &Record, same_source: bool) -> Map<String, Value> {
    let (mut said, mut wanted) = (members(native), members(record));
    if same_source {
        for map in [&mut said, &mut wanted] {
            map.remove("origin");
            map.remove("verbatim");
        }
    }
    difference(&said, &wanted)
}

/// The record that an element's own members and a difference make; None when the difference is not ours.
pub fn apply(mut native: Map<String, Value>, difference: Map<String, Value>) -> Option<Record> {
    for (name, value) in difference {
        if value.is_null() {
            native.remove(&name);
        } else {
            native.insert(name, value);
        }
    }
    serde_json::from_value(Value::Object(native)).ok()
}

/// A record from an element with an extension.
pub struct Restored {
    /// The record.
    pub record: Record,
    /// Another program changed the element since we wrote it.
    pub changed: bool,
}

/// A member of a record that a format may have a place for. The text always has one.
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

/// What a format has a place for, and how to read a change that another program made.
#[derive(Debug, Clone, Copy)]
pub struct NativeFields {
    /// Fields that every element can hold: absent there means that somebody removed it.
    pub always: &'static [Field],
    /// Fields that only some elements or versions can hold, and times: absent there says nothing.
    pub sometimes: &'static [Field],
    /// The format writes whole seconds: a time of ours stays where the element has the same second.
    pub whole_seconds: bool,
}

impl NativeFields {
    /// All fields but times.
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

    /// Takes the fields that the element has a place for from what it says by itself.
    pub fn prefer(&self, native: &Record, record: &mut Record) {
        record.text.clone_from(&native.text);
        for field in self.always {
            self.take(*field, native, record, true);
        }
        for field in self.sometimes {
            self.take(*field, native, record, false);
        }
    }

    fn take(&self, field: Field, native: &Record, record: &mut Record, clears: bool) {
        let time = |ours: &mut Option<Timestamp>, theirs: Option<Timestamp>| {
            let second = |time: Option<Timestamp>| time.map(Timestamp::to_rfc3339_seconds);
            let same_second = self.whole_seconds && ours.is_some() && second(*ours) == second(theirs);
            if !same_second && (clears || theirs.is_some()) {
                *ours = theirs;
            }
        };
        fn text(ours: &mut Option<String>, theirs: Option<&String>, clears: bool) {
            if clears || theirs.is_some() {
                *ours = theirs.cloned();
            }
        }
        let (ours, theirs) = (&mut record.times, &native.times);
        match field {
            Field::Title => text(&mut record.title, native.title.as_ref(), clears),
            Field::Type => text(&mut record.record_type, native.record_type.as_ref(), clears),
            Field::Status => text(&mut record.status, native.status.as_ref(), clears),
            Field::Sensitivity => text(&mut record.sensitivity, native.sensitivity.as_ref(), clears),
            Field::Tags => record.tags.clone_from(&native.tags),
            Field::Confidence if clears || native.confidence.is_some() => record.confidence = native.confidence,
            Field::Importance if clears || native.importance.is_some() => record.importance = native.importance,
            Field::Confidence | Field::Importance => {}
            Field::Created => time(&mut ours.created, theirs.created),
            Field::Updated => time(&mut ours.updated, theirs.updated),
            Field::Observed => time(&mut ours.observed, theirs.observed),
            Field::ValidFrom => time(&mut ours.valid_from, theirs.valid_from),
            Field::ValidTo => time(&mut ours.valid_to, theirs.valid_to),
            Field::LastAccessed => time(&mut ours.last_accessed, theirs.last_accessed),
        }
    }
}

/// Lists what only the extension holds, as losses: other programs do not see it. `silent`: members that restore the
/// record at home and mean nothing elsewhere.
pub fn report<'m>(id: &str, names: impl Iterator<Item = &'m str>, silent: &[&str], losses: &mut LossReport) {
    for name in names.filter(|name| *name != NATIVE && !silent.contains(name)) {
        losses.add(id, name, LossKind::MovedToExtension, MOVED);
    }
}

/// Names of the members in a slot that hold something.
pub fn held(extension: &Tree) -> impl Iterator<Item = &str> {
    let members = match extension {
        Tree::Object(members) => members.as_slice(),
        _ => &[],
    };
    let empty = |value: &Tree| matches!(value, Tree::Null) || *value == Tree::Object(vec![]);
    members.iter().filter(move |(_, value)| !empty(value)).map(|(name, _)| name.as_str())
}

#[cfg(test)]
mod tests {
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
    fn a_difference_restores_the_record() {
        let (native, mut wanted) = (record("the same"), record("the same"));
        wanted.title = Some("a title".into());
        let difference = record_difference(&native, &wanted, true);
        assert_eq!(difference.keys().collect::<Vec<_>>(), ["title"]);
        assert_eq!(apply(members(&native), difference).map(|r| r.title), Some(wanted.title));
    }

    #[test]
    fn fields_with_a_place_come_from_the_element() {
        let fields =
            NativeFields { always: &[Field::Status], sometimes: &[Field::Title, Field::Created], whole_seconds: true };
        let exact = Timestamp::from_micros(1_700_000_000_123_456);
        let mut ours = record("before");
        (ours.title, ours.status, ours.times.created) = (Some("ours".into()), Some("active".into()), exact);
        let mut native = record("after");
        native.times.created = Timestamp::from_micros(1_700_000_000_000_000);
        fields.prefer(&native, &mut ours);
        assert_eq!(ours.text, "after");
        assert_eq!(ours.title.as_deref(), Some("ours"), "absent in this element, which says nothing");
        assert_eq!(ours.status, None, "absent, so somebody removed it");
        assert_eq!(ours.times.created, exact, "the same second");
    }
}
