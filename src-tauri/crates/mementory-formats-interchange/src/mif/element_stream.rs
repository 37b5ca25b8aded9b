//! Reads a document as a stream of items: the elements of the lists of records, and all other members. The memory
//! needed depends on the largest item, not on the size of the document.
use super::{
    json_faults::{fault_error, json_fault},
    sections::{Section, parent_named, section_for_line_type, section_named},
    source::{Encoding, Source},
};
use mementory_format::FormatError;
use mementory_json::Members;
use mementory_model::Limits;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::{
    cell::Cell,
    io::{BufRead, BufReader, Read},
    rc::Rc,
};

/// One item of a document.
pub(super) enum Item<'a> {
    /// A member without records: name of its parent object (empty for the document itself), name, and JSON.
    Member(&'a str, &'a str, &'a str),
    /// The start of a list of records.
    List(&'static Section),
    /// An element: its list, its position in the list, and its JSON.
    Element(&'static Section, u64, &'a str),
    /// JSON pointer of a list or graph that has the wrong type.
    WrongType(String),
    /// Line number and fault code of an invalid line of JSON lines.
    BadLine(u64, &'static str),
    /// JSON pointer of a graph that occurs more than once, or of a member that occurs more than once in a line of JSON
    /// lines. Its last occurrence counts.
    RepeatedMember(String),
    /// A line of JSON lines whose type is unknown.
    UnknownLine,
    /// The footer line of a document in JSON Lines format.
    Footer(&'a str),
    /// Number of a line that has a record, but follows the footer.
    AfterFooter(u64),
}

type Visit<'v> = &'v mut dyn FnMut(Item<'_>) -> Result<(), FormatError>;

/// Reads a document once and passes each item to `visit`.
pub(super) fn stream_elements(source: &Source<'_>, limits: &Limits, visit: Visit<'_>) -> Result<(), FormatError> {
    let is_jsonl = source.encoding == Encoding::Jsonl;
    // If the whole document is within the size limit of an element, the size of each element need not be checked.
    match source.bytes().filter(|bytes| !is_jsonl && bytes.len() as u64 <= limits.element_bytes) {
        Some(bytes) => {
            let stream = ElementStream::new(visit, "");
            stream.read_document(&mut serde_json::Deserializer::from_slice(bytes), &source.place, limits)
        }
        None => source.read(|reader| match is_jsonl {
            true => stream_jsonl(reader, &source.place, limits, visit),
            false => stream_json(reader, &source.place, limits, visit),
        }),
    }
}

/// Limits the size of an element, by counting the bytes read since the end of the previous element.
struct SizeGuard<R> {
    inner: R,
    bytes_since_element: Rc<Cell<u64>>,
    limit: u64,
}

impl<R: Read> Read for SizeGuard<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.bytes_since_element.set(self.bytes_since_element.get() + n as u64);
        if self.bytes_since_element.get() > self.limit {
            return Err(std::io::Error::other("limit: element_bytes exceeded"));
        }
        Ok(n)
    }
}

struct ElementStream<'v> {
    visit: Visit<'v>,
    counts: [u64; super::sections::SECTIONS.len()],
    aborted: Option<FormatError>,
    bytes_since_element: Rc<Cell<u64>>,
    /// Name of the top-level member that is not passed to `visit`.
    skip: &'static str,
}

impl<'v> ElementStream<'v> {
    fn new(visit: Visit<'v>, skip: &'static str) -> Self {
        Self { visit, counts: Default::default(), aborted: None, bytes_since_element: Rc::default(), skip }
    }

    fn read_document<'de, R: serde_json::de::Read<'de>>(
        mut self,
        deserializer: &mut serde_json::Deserializer<R>,
        place: &str,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        let read = Object { parent: "", stream: &mut self }.deserialize(&mut *deserializer);
        let result = read.and_then(|()| deserializer.end());
        stream_result(result, self.aborted, place, limits)
    }

    fn emit<E: Error>(&mut self, item: Item<'_>) -> Result<(), E> {
        self.bytes_since_element.set(0);
        (self.visit)(item).map_err(|e| {
            self.aborted = Some(e);
            E::custom("stopped")
        })
    }

    fn element<E: Error>(&mut self, section: &'static Section, json: &str) -> Result<(), E> {
        let index = self.counts[section.table_index()];
        self.counts[section.table_index()] += 1;
        self.emit(Item::Element(section, index, json))
    }
}

fn stream_json(reader: &mut dyn Read, place: &str, limits: &Limits, visit: Visit<'_>) -> Result<(), FormatError> {
    let stream = ElementStream::new(visit, "");
    let bytes_since_element = Rc::clone(&stream.bytes_since_element);
    let guard = SizeGuard { inner: reader, bytes_since_element, limit: limits.element_bytes };
    let reader = BufReader::with_capacity(64 << 10, guard);
    stream.read_document(&mut serde_json::Deserializer::from_reader(reader), place, limits)
}

fn stream_result(
    result: Result<(), serde_json::Error>,
    aborted: Option<FormatError>,
    place: &str,
    limits: &Limits,
) -> Result<(), FormatError> {
    match (result, aborted) {
        (_, Some(aborted)) => Err(aborted),
        (Ok(()), None) => Ok(()),
        (Err(e), None) if e.is_io() => {
            let text = e.to_string();
            if text.contains("element_bytes exceeded") {
                let figure = limits.element_bytes;
                return Err(FormatError::Limit { limit: "element_bytes", place: place.to_owned(), figure });
            }
            Err(FormatError::io(place, e.into()))
        }
        (Err(e), None) => {
            let place = format!("{place}#line {}, column {}", e.line(), e.column());
            Err(FormatError::invalid("malformed", place, "not a JSON document"))
        }
    }
}

/// Deserializes the document or a graph in it.
struct Object<'w, 'v> {
    parent: &'static str,
    stream: &'w mut ElementStream<'v>,
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        if self.parent.is_empty() { d.deserialize_map(self) } else { d.deserialize_any(self) }
    }
}

impl<'de> Visitor<'de> for Object<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Object { parent, stream } = self;
        let mut graphs: Vec<&str> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if let Some(section) = section_named(parent, &key) {
                map.next_value_seed(List { section, stream })?;
            } else if let Some(inner) = parent_named(&key).filter(|_| parent.is_empty()) {
                if graphs.contains(&inner) {
                    stream.emit::<A::Error>(Item::RepeatedMember(format!("/{inner}")))?;
                } else {
                    graphs.push(inner);
                }
                map.next_value_seed(Object { parent: inner, stream })?;
            } else {
                let raw: Box<RawValue> = map.next_value()?;
                if !(parent.is_empty() && key == stream.skip) {
                    stream.emit::<A::Error>(Item::Member(parent, &key, raw.get()))?;
                }
            }
        }
        // Emits the graph itself too, in case it has no members.
        if parent.is_empty() { Ok(()) } else { stream.emit(Item::Member(parent, "", "")) }
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.stream.emit(Item::Member("", self.parent, "null"))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.wrong_type()
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.wrong_type()
    }
}

impl Object<'_, '_> {
    fn wrong_type<E: Error>(self) -> Result<(), E> {
        self.stream.emit(Item::WrongType(format!("/{}", self.parent)))
    }
}

/// Deserializes a list of records.
struct List<'w, 'v> {
    section: &'static Section,
    stream: &'w mut ElementStream<'v>,
}

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let List { section, stream } = self;
        stream.emit::<A::Error>(Item::List(section))?;
        while let Some(raw) = seq.next_element::<Box<RawValue>>()? {
            stream.element::<A::Error>(section, raw.get())?;
        }
        Ok(())
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.stream.emit(Item::Member(self.section.parent, self.section.name, "null"))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.wrong_type()
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.wrong_type()
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.wrong_type()
    }
}

impl List<'_, '_> {
    fn wrong_type<E: Error>(self) -> Result<(), E> {
        let pointer = self.section.pointer(0);
        self.stream.emit(Item::WrongType(pointer.trim_end_matches("/0").to_owned()))
    }
}

/// Reads JSON lines: a header, one record on each line, a footer (SEP-002 §9; the specification only names the
/// encoding).
fn stream_jsonl(reader: &mut dyn Read, place: &str, limits: &Limits, visit: Visit<'_>) -> Result<(), FormatError> {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut stream = ElementStream::new(visit, "type");
    let mut line = Vec::new();
    let (mut number, mut seen) = (0, SeenEnds::default());
    loop {
        line.clear();
        let bound = limits.line_bytes;
        let line_bytes =
            (&mut reader).take(bound + 1).read_until(b'\n', &mut line).map_err(|e| FormatError::io(place, e))?;
        if line_bytes == 0 {
            break;
        }
        number += 1;
        if line.len() as u64 > bound {
            return Err(FormatError::Limit { limit: "line_bytes", place: place.to_owned(), figure: line.len() as u64 });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let result = parse_line(line.trim_ascii(), number, &mut seen, &mut stream, place, limits);
        if let Some(aborted) = stream.aborted.take() {
            return Err(aborted);
        }
        result?;
    }
    if seen.has_header {
        Ok(())
    } else {
        Err(FormatError::invalid("header_missing", place, "the first line is not a header"))
    }
}

/// Whether the header (first line) and the footer (last line) of JSON lines have been read.
#[derive(Default)]
struct SeenEnds {
    has_header: bool,
    has_footer: bool,
}

fn parse_line(
    line: &[u8],
    number: u64,
    seen: &mut SeenEnds,
    stream: &mut ElementStream<'_>,
    place: &str,
    limits: &Limits,
) -> Result<(), FormatError> {
    // This error only stops the parser. The caller takes the actual error from `stream.aborted`.
    let to_cancelled = |_: serde_json::Error| FormatError::Cancelled;
    let text = std::str::from_utf8(line).ok();
    let members = text.and_then(|text| Some((text, serde_json::from_str::<Members<'_>>(text).ok()?)));
    let Some((text, members)) = members else {
        let code = json_fault(line).unwrap_or(if text.is_none() { "invalid_utf8" } else { "not_json" });
        // Before the header is read, a line that is only nearly JSON is an error, because it may be the header.
        if seen.has_header || code == "not_json" {
            return stream.emit(Item::BadLine(number, code)).map_err(to_cancelled);
        }
        return Err(fault_error(code, format!("{place}#line {number}")));
    };
    let get = |key: &str| members.get(key).map(RawValue::get);
    let kind = get("type").and_then(|t| serde_json::from_str::<String>(t).ok()).unwrap_or_default();
    if !seen.has_header {
        if kind != "header" {
            return Err(FormatError::invalid("header_missing", place, "the first line is not a header"));
        }
        seen.has_header = true;
        let mut de = serde_json::Deserializer::from_str(text);
        let result = Object { parent: "", stream }.deserialize(&mut de);
        return stream_result(result, stream.aborted.take(), place, limits);
    }
    for key in ["type", "data"] {
        if members.0.iter().filter(|(name, _)| name == key).count() > 1 {
            stream.emit(Item::RepeatedMember(format!("line {number}/{key}"))).map_err(to_cancelled)?;
        }
    }
    match (kind.as_str(), section_for_line_type(&kind), get("data")) {
        ("footer", ..) if std::mem::replace(&mut seen.has_footer, true) => {
            stream.emit(Item::BadLine(number, "second_footer")).map_err(to_cancelled)
        }
        ("footer", ..) => stream.emit(Item::Footer(text)).map_err(to_cancelled),
        (_, Some(section), Some(data)) => {
            if seen.has_footer {
                stream.emit(Item::AfterFooter(number)).map_err(to_cancelled)?;
            }
            stream.element(section, data).map_err(to_cancelled)
        }
        (_, Some(_), None) => stream.emit(Item::BadLine(number, "no_data")).map_err(to_cancelled),
        ("header", ..) => stream.emit(Item::BadLine(number, "second_header")).map_err(to_cancelled),
        ("", ..) => stream.emit(Item::BadLine(number, "no_type")).map_err(to_cancelled),
        _ => stream.emit(Item::UnknownLine).map_err(to_cancelled),
    }
}
