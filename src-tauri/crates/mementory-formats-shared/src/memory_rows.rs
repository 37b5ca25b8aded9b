//! Rows of memory engines: reads values in the notations that the engines use, iterates over the rows of a file, and
//! sends rows as records.
use super::object::{Object, content_id, decode_string, list, with_replaced_values};
use super::reader::{FileReader, has_other_members};
use mementory_format::{FormatError, Member};
use mementory_json::{ElementError, Elements, repair};
use mementory_model::{Dropped, DroppedAs, Fields, Issue, Kind, Link, Origin, Record, RecordKey, Timestamp, Verbatim};
use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::io::Read;

/// The values of a row.
pub trait RowValues {
    /// An id that is a string or a number. None for a blank string.
    fn id(&self, key: &str) -> Option<String>;
    /// The first of these members that is a string and not blank.
    fn first_text(&self, keys: &[&str]) -> Option<String>;
    /// The time in a member, in any notation that [`time_of`] parses.
    fn time(&self, key: &str) -> Option<Timestamp>;
    /// A number, written with or without quotes.
    fn number(&self, key: &str) -> Option<f64>;
    /// A number from 0 to 1. Any other number remains only in the verbatim text.
    fn share(&self, key: &str) -> Option<f64>;
    /// The strings of a list. A single string is split at its commas.
    fn texts(&self, key: &str) -> Vec<String>;
    /// The members that are not in `used`. Null values and vectors are left out; the verbatim text still contains them.
    fn other_fields(&self, used: &[&str]) -> Fields;
}

impl RowValues for Object<'_> {
    fn id(&self, key: &str) -> Option<String> {
        id_of(self.raw_value(key)?)
    }

    fn first_text(&self, keys: &[&str]) -> Option<String> {
        keys.iter().find_map(|key| self.non_blank_text(key)).map(|text| text.into_owned())
    }

    fn time(&self, key: &str) -> Option<Timestamp> {
        time_of(self.raw_value(key)?)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.raw_value(key)?.get().trim_matches('"').trim().parse().ok().filter(|n: &f64| n.is_finite())
    }

    fn share(&self, key: &str) -> Option<f64> {
        self.number(key).filter(|n| (0.0..=1.0).contains(n))
    }

    fn texts(&self, key: &str) -> Vec<String> {
        let Some(raw) = self.raw_value(key) else { return Vec::new() };
        if let Some(text) = decode_string(raw) {
            return text.split(',').map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned).collect();
        }
        list(raw).unwrap_or_default().into_iter().filter_map(text_of).collect()
    }

    fn other_fields(&self, used: &[&str]) -> Fields {
        let is_vector = |key: &str| {
            let key = key.to_ascii_lowercase();
            key.ends_with("embedding") || key.ends_with("vector")
        };
        let members = self.members().filter(|(key, _)| !used.contains(key) && !is_vector(key));
        members.filter_map(|(key, raw)| Some((key.to_owned(), value_of(raw)?))).collect()
    }
}

/// A JSON value as a field. None for null and for values that cannot be parsed; the verbatim contains both.
fn value_of(raw: &RawValue) -> Option<Value> {
    if raw.get() == "null" {
        return None;
    }
    serde_json::from_str(raw.get()).ok().or_else(|| decode_string(raw).map(|text| Value::String(text.into_owned())))
}

/// The text of an element of a list: a string, a number, or the `name` of an object.
fn text_of(raw: &RawValue) -> Option<String> {
    let name_of_object = || Object::parse(raw.get()).and_then(|o| o.first_text(&["name", "label", "value"]));
    id_of(raw).or_else(name_of_object)
}

/// An id that is a string or a number.
pub fn id_of(raw: &RawValue) -> Option<String> {
    match decode_string(raw) {
        Some(text) => Some(text.trim().to_owned()).filter(|t| !t.is_empty()),
        None => raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()).then(|| raw.get().to_owned()),
    }
}

/// Parses a time: ISO 8601 in its variants, or seconds, milliseconds, microseconds or nanoseconds since 1970, with or
/// without quotes. The unit follows from the magnitude, because no memory is from 1970 or from the year 5000. Also
/// reads MongoDB's `{"$date": …}`.
pub fn time_of(raw: &RawValue) -> Option<Timestamp> {
    if raw.get().starts_with('{') {
        let date = Object::parse(raw.get())?;
        let wrapped_time = date.raw_value("$date")?;
        let number = Object::parse(wrapped_time.get()).and_then(|o| o.raw_value("$numberLong"));
        return time_of_text(
            decode_string(number.unwrap_or(wrapped_time)).as_deref().unwrap_or_else(|| wrapped_time.get()),
        );
    }
    match decode_string(raw) {
        Some(text) => time_of_text(&text),
        None => time_of_text(raw.get()),
    }
}

/// Like [`time_of`], for a text.
pub fn time_of_text(text: &str) -> Option<Timestamp> {
    let text = text.trim().trim_end_matches("UTC").trim_end();
    if let Some(time) = Timestamp::parse(text) {
        return Some(time);
    }
    let number: f64 = text.parse().ok()?;
    let seconds = match number.abs() {
        0.0 => return None,
        n if n < 1e11 => number,
        n if n < 1e14 => number / 1e3,
        n if n < 1e17 => number / 1e6,
        _ => number / 1e9,
    };
    Timestamp::from_seconds(seconds)
}

/// A link to another record of the same format.
pub fn link(relation: &str, kind: Kind, format: &str, target: impl Into<String>) -> Link {
    Link { relation: relation.into(), kind, target: RecordKey::new(format, target) }
}

/// The name of a relation in words, for use between two names: `works_at` → `works at`.
pub fn spaced(relation: &str) -> String {
    relation.replace('_', " ")
}

/// One row of a file: a JSON value, repaired if necessary.
pub struct Row<'e> {
    /// The file that contains the row.
    pub member: &'e Member,
    /// JSON text of the row.
    pub text: &'e str,
    /// JSON pointer, or `@` and the byte offset of a line.
    pub pointer: String,
}

impl Row<'_> {
    /// Key of the list that contains the row. Empty for a list or a line at top level.
    pub fn list_name(&self) -> &str {
        let mut parts = self.pointer.split('/').skip(1);
        parts.next().filter(|_| parts.next().is_some()).unwrap_or_default()
    }

    fn place(&self) -> String {
        format!("{}#{}", self.member.place, self.pointer)
    }
}

/// Sends the rows of one import as records. If several rows have the same id and content, only the first is sent.
pub struct RowSender {
    format: &'static str,
    platform: &'static str,
    version: Option<String>,
    seen: HashSet<[u8; 16]>,
}

impl RowSender {
    /// A sender of records of `format` and `platform`.
    pub fn new(format: &'static str, platform: &'static str, version: Option<&str>) -> Self {
        Self { format, platform, version: version.map(str::to_owned), seen: HashSet::new() }
    }

    /// A record whose key is the id in the source, otherwise a digest of `content`.
    pub fn record(&self, kind: Kind, id: Option<String>, content: &str, text: impl Into<String>) -> Record {
        let value = id.clone().unwrap_or_else(|| content_id(content));
        let mut record = Record::new(kind, RecordKey::new(self.format, value), text);
        record.origin_id = id;
        record
    }

    /// A record for a row of an unknown kind, which is stored but not interpreted.
    pub fn foreign(&self, object: &Object<'_>, row: &Row<'_>, record_type: &str) -> Record {
        let id = ["id", "uuid"].into_iter().find_map(|key| object.id(key));
        let name = object.first_text(&["name", "title", "label"]);
        let mut record = self.record(Kind::Foreign, id, row.text, name.clone().unwrap_or_default());
        record.title = name;
        record.record_type = Some(record_type.to_owned()).filter(|t| !t.is_empty());
        record
    }

    /// Sends a record whose verbatim is the text of the row.
    pub fn send(&mut self, files: &mut FileReader<'_>, row: &Row<'_>, record: Record) -> Result<(), FormatError> {
        self.send_with(files, row, record, Verbatim::json(row.text))
    }

    /// Sends a record with the given verbatim, which need not be the text of the row.
    pub fn send_with(
        &mut self,
        files: &mut FileReader<'_>,
        row: &Row<'_>,
        mut record: Record,
        verbatim: Verbatim,
    ) -> Result<(), FormatError> {
        let (kind, state) = (record.kind, record.status.as_deref().unwrap_or_default());
        let digest = Sha256::digest(format!("{}\0{}\0{}\0{state}", kind.as_str(), record.key.value, record.text));
        let mut short_digest = [0; 16];
        short_digest.copy_from_slice(&digest[..16]);
        if !self.seen.insert(short_digest) {
            self.skip(files, row, "duplicate: the same entry occurs twice", kind);
            return Ok(());
        }
        record.origin = Origin {
            format: self.format.into(),
            version: self.version.clone(),
            container: row.member.place.clone(),
            pointer: row.pointer.clone(),
        };
        record.source.platform = self.platform.into();
        record.verbatim = Some(verbatim);
        files.sink.unit(record.into())
    }

    /// Reports a row that cannot be read. `reason` has the form `code: text`.
    pub fn fail(&self, files: &mut FileReader<'_>, row: &Row<'_>, reason: &str, kind: Kind) {
        files.report_dropped(row.place(), DroppedAs::Failed, reason, Some(kind));
    }

    /// Reports a row that is skipped on purpose. `reason` has the form `code: text`.
    pub fn skip(&self, files: &mut FileReader<'_>, row: &Row<'_>, reason: &str, kind: Kind) {
        files.report_dropped(row.place(), DroppedAs::Skipped, reason, Some(kind));
    }
}

/// The members of a row. Reports a row that is not an object as dropped, and returns None.
pub fn object_of<'e>(files: &mut FileReader<'_>, row: &Row<'e>, kind: Kind) -> Option<Object<'e>> {
    let object = Object::parse(row.text);
    if object.is_none() {
        let reason = "not_an_object: this entry is not an object";
        files.report_dropped(row.place(), DroppedAs::Failed, reason, Some(kind));
    }
    object
}

/// Calls `read` for each row of a JSON file: the elements of a list at top level, the elements of the lists under
/// `keys`, or the lines of the file. The members next to those lists are stored as a passthrough file.
pub fn each_row(
    files: &mut FileReader<'_>,
    member: &Member,
    keys: &[&str],
    kind: Kind,
    read: &mut dyn FnMut(&mut FileReader<'_>, &Row<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let catalog = files.catalog;
    let wrapper = catalog.read(member, |bytes| each_row_in(files, member, bytes, keys, kind, read))?;
    match wrapper.filter(|text| has_other_members(text, keys)) {
        Some(text) => files.pass_through_text(member, "", &text),
        None => Ok(()),
    }
}

/// Stores a row as a passthrough file after its lists were read. `lists` contains each of these lists and the text that
/// replaces it.
pub fn pass_through_rest(
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    lists: &[(&RawValue, &str)],
) -> Result<(), FormatError> {
    files.pass_through_text(row.member, &row.pointer, &with_replaced_values(row.text, lists))
}

/// Like [`each_row`], but reads from `bytes`. Returns the JSON text of the object that encloses the lists, with each
/// list replaced by `[]`.
pub fn each_row_in(
    files: &mut FileReader<'_>,
    member: &Member,
    bytes: &mut dyn Read,
    keys: &[&str],
    kind: Kind,
    read: &mut dyn FnMut(&mut FileReader<'_>, &Row<'_>) -> Result<(), FormatError>,
) -> Result<Option<String>, FormatError> {
    let (context, done) = (files.context, files.bytes_done);
    let mut elements = Elements::new(bytes, &context.limits).with_keys(keys).resync();
    loop {
        match elements.next() {
            Ok(Some(element)) => {
                let (pointer, bytes) = (element.pointer(), element.bytes);
                let valid_text = std::str::from_utf8(bytes).ok();
                if let Some(text) = valid_text.filter(|text| serde_json::from_str::<&RawValue>(text).is_ok()) {
                    read(files, &Row { member, text, pointer })?;
                } else if let Some((text, codes)) = repair(bytes) {
                    let row = Row { member, text: &text, pointer };
                    for code in codes {
                        files.sink.note(Issue::new(code, row.place(), "repaired while reading"));
                    }
                    read(files, &row)?;
                } else {
                    let row = Row { member, text: "", pointer };
                    let reason = "malformed: this entry is not JSON".into();
                    let (place, outcome) = (row.place(), DroppedAs::Failed);
                    files.sink.dropped(Dropped { place, outcome, reason, kind: Some(kind) });
                }
            }
            Ok(None) => {
                return Ok(elements.wrapper().map(|text| String::from_utf8_lossy(text).into_owned()));
            }
            Err(ElementError::Io(e)) => return Err(FormatError::io(&member.place, e)),
            Err(e) => {
                let reason = format!("{}: {e}", e.code());
                files.report_dropped(e.place(&member.place), DroppedAs::Failed, &reason, Some(kind));
                if e.ends_reading() {
                    return Ok(None);
                }
            }
        }
        files.sink.progress(done + elements.raw_bytes().min(member.size))?;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_read_in_every_notation() {
        for text in [
            r#"{"t":"2026-03-01T00:00:00Z"}"#,
            r#"{"t":"2026-03-01 00:00:00"}"#,
            r#"{"t":"2026-03-01 00:00:00 UTC"}"#,
            r#"{"t":"2026-03-01T01:00:00+01:00"}"#,
            r#"{"t":1772323200}"#,
            r#"{"t":1772323200.0}"#,
            r#"{"t":"1772323200"}"#,
            r#"{"t":1772323200000}"#,
            r#"{"t":1772323200000000}"#,
            r#"{"t":{"$date":"2026-03-01T00:00:00Z"}}"#,
            r#"{"t":{"$date":{"$numberLong":"1772323200000"}}}"#,
        ] {
            let time = Object::parse(text).unwrap().time("t");
            assert_eq!(time.map(Timestamp::to_rfc3339).as_deref(), Some("2026-03-01T00:00:00Z"), "{text}");
        }
        for text in [r#"{"t":0}"#, r#"{"t":""}"#, r#"{"t":true}"#, r#"{"t":[1]}"#, r#"{"t":"soon"}"#, r#"{"t":1e300}"#]
        {
            assert_eq!(Object::parse(text).unwrap().time("t"), None, "{text}");
        }
    }

    #[test]
    fn ids_and_lists_are_read_in_every_type() {
        let row =
            Object::parse(r#"{"a":"x","b":7,"c":null,"d":" ","e":["p",{"name":"q"},3,null],"f":"r, s,"}"#).unwrap();
        assert_eq!((row.id("a"), row.id("b")), (Some("x".into()), Some("7".into())));
        assert_eq!((row.id("c"), row.id("d"), row.id("e")), (None, None, None));
        assert_eq!(row.texts("e"), ["p", "q", "3"]);
        assert_eq!(row.texts("f"), ["r", "s"]);
        let fields = row.other_fields(&["a"]);
        assert_eq!(fields.keys().collect::<Vec<_>>(), ["b", "d", "e", "f"]);
    }
}
