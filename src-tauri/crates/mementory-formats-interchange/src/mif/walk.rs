//! A document as a stream of items: elements of its lists one at a time, everything else as it stands. Memory is
//! bounded by one element, whatever the size of the document.
use super::{
    sections::{Section, by_line, find, is_parent},
    source::{Form, Source, fault, refused},
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

/// One thing met in a document.
pub(super) enum Item<'a> {
    /// A member that holds no records: object it is in (empty = the document), name, JSON.
    Member(&'a str, &'a str, &'a str),
    /// A list of records begins.
    List(&'static Section),
    /// An element: list, position, JSON.
    Element(&'static Section, u64, &'a str),
    /// A list or graph of another type than the format has: where, JSON pointer.
    Wrong(String),
    /// A JSONL line that cannot be used: number, code.
    BadLine(u64, &'static str),
    /// A JSONL line of a type that this version does not know.
    UnknownLine,
    /// The last line of JSONL.
    Footer(&'a str),
}

type Visit<'v> = &'v mut dyn FnMut(Item<'_>) -> Result<(), FormatError>;

/// Goes through a document once.
pub(super) fn walk(source: &Source<'_>, limits: &Limits, visit: Visit<'_>) -> Result<(), FormatError> {
    source.read(|reader| match source.form {
        Form::Jsonl => lines(reader, &source.place, limits, visit),
        _ => json(reader, &source.place, limits, visit),
    })
}

/// Counts what was read since the last element, so that none can be larger than allowed.
struct Guard<R> {
    inner: R,
    since: Rc<Cell<u64>>,
    limit: u64,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        self.since.set(self.since.get() + n as u64);
        if self.since.get() > self.limit {
            return Err(std::io::Error::other("limit: element_bytes exceeded"));
        }
        Ok(n)
    }
}

struct Walker<'v> {
    visit: Visit<'v>,
    counts: [u64; super::sections::SECTIONS.len()],
    stopped: Option<FormatError>,
    since: Rc<Cell<u64>>,
    /// Members of the document that are not handed on.
    skip: &'static str,
}

impl Walker<'_> {
    fn say<E: Error>(&mut self, item: Item<'_>) -> Result<(), E> {
        self.since.set(0);
        (self.visit)(item).map_err(|e| {
            self.stopped = Some(e);
            E::custom("stopped")
        })
    }

    fn element<E: Error>(&mut self, section: &'static Section, json: &str) -> Result<(), E> {
        let index = self.counts[section.number()];
        self.counts[section.number()] += 1;
        self.say(Item::Element(section, index, json))
    }
}

fn json(reader: &mut dyn Read, place: &str, limits: &Limits, visit: Visit<'_>) -> Result<(), FormatError> {
    let since = Rc::new(Cell::new(0));
    let guard = Guard { inner: reader, since: Rc::clone(&since), limit: limits.element_bytes };
    let mut walker = Walker { visit, counts: Default::default(), stopped: None, since, skip: "" };
    let mut de = serde_json::Deserializer::from_reader(BufReader::with_capacity(64 << 10, guard));
    let result = Object { parent: "", walker: &mut walker }.deserialize(&mut de).and_then(|()| de.end());
    done(result, walker.stopped, place, limits)
}

fn done(
    result: Result<(), serde_json::Error>,
    stopped: Option<FormatError>,
    place: &str,
    limits: &Limits,
) -> Result<(), FormatError> {
    match (result, stopped) {
        (_, Some(stopped)) => Err(stopped),
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

/// The document, or a graph in it.
struct Object<'w, 'v> {
    parent: &'static str,
    walker: &'w mut Walker<'v>,
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
        let Object { parent, walker } = self;
        while let Some(key) = map.next_key::<String>()? {
            if let Some(section) = find(parent, &key) {
                map.next_value_seed(List { section, walker })?;
            } else if let Some(inner) = is_parent(&key).filter(|_| parent.is_empty()) {
                map.next_value_seed(Object { parent: inner, walker })?;
            } else {
                let raw: Box<RawValue> = map.next_value()?;
                if !(parent.is_empty() && key == walker.skip) {
                    walker.say::<A::Error>(Item::Member(parent, &key, raw.get()))?;
                }
            }
        }
        // An object without members is one too.
        if parent.is_empty() { Ok(()) } else { walker.say(Item::Member(parent, "", "")) }
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.walker.say(Item::Member("", self.parent, "null"))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.wrong()
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.wrong()
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.wrong()
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.wrong()
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.wrong()
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.wrong()
    }
}

impl Object<'_, '_> {
    fn wrong<E: Error>(self) -> Result<(), E> {
        self.walker.say(Item::Wrong(format!("/{}", self.parent)))
    }
}

/// A list of records.
struct List<'w, 'v> {
    section: &'static Section,
    walker: &'w mut Walker<'v>,
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
        let List { section, walker } = self;
        walker.say::<A::Error>(Item::List(section))?;
        while let Some(raw) = seq.next_element::<Box<RawValue>>()? {
            walker.element::<A::Error>(section, raw.get())?;
        }
        Ok(())
    }
    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.walker.say(Item::Member(self.section.parent, self.section.name, "null"))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        self.wrong()
    }
    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.wrong()
    }
    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.wrong()
    }
    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.wrong()
    }
    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.wrong()
    }
    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.wrong()
    }
}

impl List<'_, '_> {
    fn wrong<E: Error>(self) -> Result<(), E> {
        let pointer = self.section.pointer(0);
        self.walker.say(Item::Wrong(pointer.trim_end_matches("/0").to_owned()))
    }
}

/// JSON lines: a header, one record on each line, a footer (SEP-002 §9; the specification only names the encoding).
fn lines(reader: &mut dyn Read, place: &str, limits: &Limits, visit: Visit<'_>) -> Result<(), FormatError> {
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let mut walker =
        Walker { visit, counts: Default::default(), stopped: None, since: Rc::new(Cell::new(0)), skip: "type" };
    let mut line = Vec::new();
    let (mut number, mut header) = (0, false);
    loop {
        line.clear();
        let bound = limits.line_bytes;
        let got = (&mut reader).take(bound + 1).read_until(b'\n', &mut line).map_err(|e| FormatError::io(place, e))?;
        if got == 0 {
            break;
        }
        number += 1;
        if line.len() as u64 > bound {
            return Err(FormatError::Limit { limit: "line_bytes", place: place.to_owned(), figure: line.len() as u64 });
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let result = one_line(line.trim_ascii(), number, &mut header, &mut walker, place, limits);
        if let Some(stopped) = walker.stopped.take() {
            return Err(stopped);
        }
        result?;
    }
    if header { Ok(()) } else { Err(FormatError::invalid("header_missing", place, "the first line is no header")) }
}

fn one_line(
    line: &[u8],
    number: u64,
    header: &mut bool,
    walker: &mut Walker<'_>,
    place: &str,
    limits: &Limits,
) -> Result<(), FormatError> {
    // What `say` returns here only says that the walker has stopped; its reason is there.
    let stop = |_: serde_json::Error| FormatError::Cancelled;
    let text = std::str::from_utf8(line).ok();
    let members = text.and_then(|text| Some((text, serde_json::from_str::<Members<'_>>(text).ok()?)));
    let Some((text, members)) = members else {
        let code = fault(line).unwrap_or(if text.is_none() { "invalid_utf8" } else { "not_json" });
        // Without its header nothing is known of a document.
        if *header || code == "not_json" {
            return walker.say(Item::BadLine(number, code)).map_err(stop);
        }
        return Err(refused(code, format!("{place}#line {number}")));
    };
    let get = |key: &str| members.0.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.get());
    let kind = get("type").and_then(|t| serde_json::from_str::<String>(t).ok()).unwrap_or_default();
    if !*header {
        if kind != "header" {
            return Err(FormatError::invalid("header_missing", place, "the first line is no header"));
        }
        *header = true;
        let mut de = serde_json::Deserializer::from_str(text);
        let result = Object { parent: "", walker }.deserialize(&mut de);
        return done(result, walker.stopped.take(), place, limits);
    }
    match (kind.as_str(), by_line(&kind), get("data")) {
        ("footer", ..) => walker.say(Item::Footer(text)).map_err(stop),
        (_, Some(section), Some(data)) => walker.element(section, data).map_err(stop),
        (_, Some(_), None) => walker.say(Item::BadLine(number, "no_data")).map_err(stop),
        ("header", ..) => walker.say(Item::BadLine(number, "second_header")).map_err(stop),
        _ => walker.say(Item::UnknownLine).map_err(stop),
    }
}
