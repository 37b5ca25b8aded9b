//! Reads the entries of an artifact according to their kind of memory.
use super::detect::KINDS;
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, Member, PassthroughItem, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row_in, link, object_of, spaced};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Record};
use serde_json::value::RawValue;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        let wrapper = catalog.read(member, |bytes| {
            each_row_in(files, member, bytes, &KINDS, Kind::Memory, &mut |files, row| match row.list_name() {
                "" => read_document(&mut rows, files, row),
                kind => read_entry(&mut rows, files, row, kind),
            })
        })?;
        wrapper.map_or(Ok(()), |text| store_envelope(files, member, &text))
    })
}

/// Reads an artifact that is passed as a whole, because its lists are inside `components`.
fn read_document(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(document) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    let components = document.object("components");
    let parts = components.as_ref().unwrap_or(&document);
    for kind in KINDS {
        for (n, item) in parts.list(kind).unwrap_or_default().into_iter().enumerate() {
            let place = if components.is_some() { "/components" } else { "" };
            let pointer = format!("{}{place}/{kind}/{n}", row.pointer);
            read_entry(rows, files, &Row { member: row.member, text: item.get(), pointer }, kind)?;
        }
    }
    let lists: Vec<(&RawValue, &str)> = match document.raw_value("components") {
        Some(components) => vec![(components, "{}")],
        None => KINDS.into_iter().filter_map(|kind| Some((document.raw_value(kind)?, "[]"))).collect(),
    };
    store_envelope(files, row.member, &with_replaced_values(row.text, &lists))
}

/// Stores an artifact without its entries as a passthrough file. The capability tokens are removed, because they give
/// access to memories.
fn store_envelope(files: &mut FileReader<'_>, member: &Member, text: &str) -> Result<(), FormatError> {
    let object = Object::parse(text).unwrap_or_default();
    let tokens = object.raw_value("capability_tokens").filter(|raw| list(raw).is_none_or(|items| !items.is_empty()));
    if tokens.is_some() {
        let reason = "secret: capability tokens give access and are not stored";
        files.report_dropped(format!("{}#/capability_tokens", member.place), DroppedAs::Skipped, reason, None);
    }
    let replacements: Vec<(&RawValue, &str)> = tokens.into_iter().map(|raw| (raw, "[]")).collect();
    let item = PassthroughItem {
        format: ID.into(),
        group: String::new(),
        name: format!("{}#", member.name),
        role: "manifest".into(),
        place: format!("{}#", member.place),
    };
    files.sink.passthrough(item, &mut with_replaced_values(text, &replacements).as_bytes())
}

fn read_entry(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>, kind: &str) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    let entry_record = match kind {
        "episodic" => episode(rows, &object),
        "semantic" => statement(rows, &object),
        "procedural" => procedure(rows, &object),
        "identity" => identity(rows, &object),
        _ => current_work(rows, &object),
    };
    let Some((mut record, used_members)) = entry_record else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    record.tags = object.texts("tags");
    record.times.created = object.time("created_at");
    // An entry states only the ids of its parents, not their kinds, so all links have the kind `Memory`.
    let parents = object.texts("parent_ids").into_iter();
    record.links.extend(parents.map(|id| link("derived_from", Kind::Memory, ID, id)));
    record.fields = object.other_fields(&[used_members, &["id", "tags", "created_at"]].concat());
    rows.send(files, row, record)
}

/// The record of an entry, and the names of the members from which the record was made. None for an entry without a
/// text.
type ReadEntry = Option<(Record, &'static [&'static str])>;

fn episode(rows: &RowSender, object: &Object<'_>) -> ReadEntry {
    let text = object.first_text(&["observation"])?;
    let mut record = rows.record(Kind::Memory, object.id("id"), &text, text.clone());
    record.record_type = Some("episodic".into());
    record.importance = object.share("salience");
    record.times.observed = object.time("timestamp");
    Some((record, &["observation", "salience", "timestamp"]))
}

fn statement(rows: &RowSender, object: &Object<'_>) -> ReadEntry {
    let part = |key: &str| object.first_text(&[key]);
    let text = format!("{} {} {}", part("subject")?, spaced(&part("predicate")?), part("object")?);
    let mut record = rows.record(Kind::Fact, object.id("id"), &text, text.clone());
    record.record_type = Some("semantic".into());
    record.confidence = object.share("confidence");
    let sources = object.texts("source_event_ids").into_iter();
    record.links = sources.map(|id| link("derived_from", Kind::Memory, ID, id)).collect();
    Some((record, &["confidence"]))
}

fn procedure(rows: &RowSender, object: &Object<'_>) -> ReadEntry {
    let text = object.first_text(&["body", "description"])?;
    let mut record = rows.record(Kind::Procedure, object.id("id"), &text, text.clone());
    record.title = object.first_text(&["name"]);
    record.times.last_accessed = object.time("last_used");
    Some((record, &["name", "body"]))
}

/// Returns the record of the agent's current work, which consists of goals and notes.
fn current_work(rows: &RowSender, object: &Object<'_>) -> ReadEntry {
    let mut lines = object.texts("goals");
    lines.extend(object.first_text(&["scratch"]));
    let text = Some(lines.join("\n")).filter(|text| !text.is_empty())?;
    let mut record = rows.record(Kind::Memory, object.id("id"), &text, text.clone());
    record.record_type = Some("working".into());
    Some((record, &["goals", "scratch"]))
}

/// Returns the record of the agent's persona, with its instructions, policies and preferences.
fn identity(rows: &RowSender, object: &Object<'_>) -> ReadEntry {
    let mut lines: Vec<String> = object.first_text(&["persona"]).into_iter().collect();
    lines.extend(object.first_text(&["custom_instructions"]));
    lines.extend(object.texts("policies"));
    let preferences = object.object("preferences").unwrap_or_default();
    let fields = preferences.other_fields(&[]);
    lines.extend(fields.iter().map(|(key, value)| match value.as_str() {
        Some(text) => format!("{}: {text}", spaced(key)),
        None => format!("{}: {value}", spaced(key)),
    }));
    let text = Some(lines.join("\n")).filter(|text| !text.is_empty())?;
    let mut record = rows.record(Kind::Profile, object.id("id"), &text, text.clone());
    record.record_type = Some("identity".into());
    Some((record, &["persona"]))
}
