//! Reads profiles as memories, and events and their gists as facts.
use super::detect::LIST_KEYS;
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, object_of, pass_through_rest};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Record};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| read_row(&mut rows, files, row))
    })
}

/// Reads a profile, an event, or a whole response, which contains its lists under `data`.
fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    let Some(data) = object.object("data").filter(|data| LIST_KEYS.iter().any(|list| data.list(list).is_some())) else {
        return read_entry(rows, files, row, &object);
    };
    for list in LIST_KEYS {
        for (number, raw) in data.list(list).unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("{}/data/{list}/{number}", row.pointer);
            let inner = Row { member: row.member, text: raw.get(), pointer };
            if let Some(object) = object_of(files, &inner, Kind::Memory) {
                read_entry(rows, files, &inner, &object)?;
            }
        }
    }
    let lists: Vec<_> = LIST_KEYS.iter().filter_map(|list| Some((data.raw_value(list)?, "[]"))).collect();
    pass_through_rest(files, row, &lists)
}

fn read_entry(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let record = if object.has("event_data") {
        event(rows, row, object)
    } else if object.has("gist_data") {
        gist(rows, row, object)
    } else {
        profile(rows, row, object)
    };
    let Some(mut record) = record else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    record.times.created = object.time("created_at");
    record.times.updated = object.time("updated_at");
    // Memobase extracts its profiles and events from chats.
    record.source.method = Some("extracted".into());
    rows.send(files, row, record)
}

/// Returns the record of a profile, which is a statement about the person under a topic and a subtopic. None if it has
/// no text.
fn profile(rows: &RowSender, row: &Row<'_>, object: &Object<'_>) -> Option<Record> {
    let text = object.first_text(&["content"])?;
    let mut record = rows.record(Kind::Memory, object.id("id"), row.text, text);
    let attributes = object.object("attributes").unwrap_or_default();
    record.record_type = attributes.first_text(&["topic"]);
    record.tags = ["topic", "sub_topic"].iter().filter_map(|key| attributes.first_text(&[key])).collect();
    record.fields = object.other_fields(&["id", "content", "attributes", "created_at", "updated_at"]);
    record.fields.extend(attributes.other_fields(&["topic", "sub_topic"]));
    Some(record)
}

/// Returns the record of an event. Its text is the summary, or else the changes to the profile, or else the tags. None
/// if the event has none of them.
fn event(rows: &RowSender, row: &Row<'_>, object: &Object<'_>) -> Option<Record> {
    let data = object.object("event_data")?;
    let tag = |tag: Object<'_>| Some(format!("{}: {}", tag.first_text(&["tag"])?, tag.first_text(&["value"])?));
    let tags: Vec<String> = data.objects("event_tags").filter_map(tag).collect();
    let changes = data.objects("profile_delta").filter_map(|change| change.first_text(&["content"]));
    let changes = changes.collect::<Vec<_>>().join("\n");
    let texts = [data.first_text(&["event_tip"]).unwrap_or_default(), changes, tags.join("\n")];
    let text = texts.into_iter().find(|text| !text.is_empty())?;
    let mut record = rows.record(Kind::Fact, object.id("id"), row.text, text);
    record.record_type = Some("event".into());
    record.tags = tags;
    record.fields = object.other_fields(&["id", "event_data", "created_at", "updated_at"]);
    record.fields.extend(data.other_fields(&["event_tip", "event_tags"]));
    Some(record)
}

/// Returns the record of a gist, which is one sentence of the summary of an event. None if it has no text.
fn gist(rows: &RowSender, row: &Row<'_>, object: &Object<'_>) -> Option<Record> {
    let text = object.object("gist_data")?.first_text(&["content"])?;
    let mut record = rows.record(Kind::Fact, object.id("id"), row.text, text);
    record.record_type = Some("event_gist".into());
    record.fields = object.other_fields(&["id", "gist_data", "created_at", "updated_at"]);
    Some(record)
}
