//! Reads entities with their observations, and relations.
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, link, object_of, spaced};
use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{EntityRef, Kind, Record, RecordKey, Verbatim};
use serde_json::value::RawValue;

/// Prefix of the key of an entity. The name of the entity follows.
pub(super) const ENTITY_KEY: &str = "entity/";
/// Keys of the lists in the graph that the tool `read_graph` returns.
const LIST_KEYS: [&str; 2] = ["entities", "relations"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        each_row(files, member, &LIST_KEYS, Kind::Entity, &mut |files, row| read_row(&mut rows, files, row))
    })
}

fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Entity) else { return Ok(()) };
    let line_type = object.text("type").unwrap_or_default().into_owned();
    let is_relation = object.has("relationType") || object.has("from") && object.has("to");
    match line_type.as_str() {
        "entity" => read_entity(rows, files, row, &object),
        "relation" => read_relation(rows, files, row, &object),
        "observation" => read_observations(rows, files, row, &object),
        // A fork of the server begins its files with a line of this type.
        "_aim" => {
            rows.skip(files, row, "not_a_record: the marker of a memory file", Kind::Entity);
            Ok(())
        }
        _ if is_relation => read_relation(rows, files, row, &object),
        _ if object.has("observations") || object.has("entityType") => read_entity(rows, files, row, &object),
        _ if object.has("entityName") => read_observations(rows, files, row, &object),
        _ => {
            let record = rows.foreign(&object, row, &line_type);
            rows.send(files, row, record)
        }
    }
}

/// Reads an entity as a record, and each of its observations as a memory.
fn read_entity(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let Some((subject, record)) = entity(object) else {
        rows.fail(files, row, "no_name: this entity has no name", Kind::Entity);
        return Ok(());
    };
    let raw = object.raw_value("observations").filter(|raw| list(raw).is_some() || decode_string(raw).is_some());
    let replacements: Vec<(&RawValue, &str)> = raw.into_iter().map(|raw| (raw, "[]")).collect();
    rows.send_with(files, row, record, Verbatim::json(with_replaced_values(row.text, &replacements)))?;
    send_observations(rows, files, row, &subject, raw, "observations")
}

/// Returns the record of an entity, and the reference to the entity for the records of its observations. None if the
/// entity has no name.
pub(super) fn entity(object: &Object<'_>) -> Option<(EntityRef, Record)> {
    let name = object.id("name")?;
    let entity_type = object.first_text(&["entityType", "entity_type"]);
    let mut record = Record::new(Kind::Entity, RecordKey::new(ID, entity_key(&name)), "");
    record.origin_id = Some(name.clone());
    record.title = Some(name.clone());
    record.record_type = entity_type.clone();
    record.times.created = object.time("createdAt").or_else(|| object.time("created_at"));
    record.times.updated = object.time("updatedAt").or_else(|| object.time("updated_at"));
    let used_members = ["type", "name", "entityType", "entity_type", "observations"];
    record.fields = object.other_fields(&used_members);
    Some((EntityRef { name, entity_type, role: None }, record))
}

/// Reads a line that only adds observations to an entity.
fn read_observations(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    let key = ["contents", "observations", "content"].into_iter().find(|key| object.has(key));
    let (Some(name), Some(key)) = (object.id("entityName"), key) else {
        rows.fail(files, row, "no_content: an observation without its entity or its text", Kind::Memory);
        return Ok(());
    };
    let subject = EntityRef { name, entity_type: None, role: None };
    send_observations(rows, files, row, &subject, object.raw_value(key), key)
}

fn send_observations(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    subject: &EntityRef,
    raw: Option<&RawValue>,
    key: &str,
) -> Result<(), FormatError> {
    let items = raw.map(|raw| list(raw).unwrap_or_else(|| vec![raw])).unwrap_or_default();
    for (n, item) in items.into_iter().enumerate() {
        let row = Row { member: row.member, text: item.get(), pointer: format!("{}/{key}/{n}", row.pointer) };
        read_observation(rows, files, &row, subject, item)?;
    }
    Ok(())
}

fn read_observation(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    subject: &EntityRef,
    item: &RawValue,
) -> Result<(), FormatError> {
    match observation(subject, item) {
        Some(record) => rows.send(files, row, record),
        None => {
            rows.fail(files, row, "no_content: an observation without text", Kind::Memory);
            Ok(())
        }
    }
}

/// Returns the record of an observation. The observation is a text or, in some servers, an object with a text and
/// times. None if it has no text.
pub(super) fn observation(subject: &EntityRef, item: &RawValue) -> Option<Record> {
    let object = Object::parse(item.get()).unwrap_or_default();
    let names = ["content", "text", "observation", "value"];
    let text = decode_string(item).map(|text| text.into_owned()).filter(|text| !text.trim().is_empty());
    let text = text.or_else(|| object.first_text(&names))?;
    let key = format!("{}/{}", entity_key(&subject.name), content_id(&text));
    let mut record = Record::new(Kind::Memory, RecordKey::new(ID, key), text);
    record.title = Some(subject.name.clone());
    record.times.created =
        ["timestamp", "createdAt", "created_at", "date"].into_iter().find_map(|key| object.time(key));
    record.source.method = Some("agent_memory".into());
    record.entities = vec![subject.clone()];
    record.links = vec![link("about", Kind::Entity, ID, entity_key(&subject.name))];
    record.fields = object.other_fields(&names);
    Some(record)
}

/// Reads a relation. Its entities may not exist, because the server does not check whether they do.
fn read_relation(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    match relation(object) {
        Some(record) => rows.send(files, row, record),
        None => {
            rows.fail(files, row, "malformed: not a relation between two things", Kind::Relation);
            Ok(())
        }
    }
}

/// Returns the record of a relation. None if the object does not name both entities.
pub(super) fn relation(object: &Object<'_>) -> Option<Record> {
    let relation_type = object.first_text(&["relationType", "relation_type", "relation"]);
    let (from, to) = (object.id("from")?, object.id("to")?);
    let words = relation_type.as_deref().map_or_else(|| "–".to_owned(), spaced);
    let key = format!("{from}\n{}\n{to}", relation_type.as_deref().unwrap_or_default());
    let mut record = Record::new(Kind::Relation, RecordKey::new(ID, content_id(&key)), format!("{from} {words} {to}"));
    record.record_type = relation_type;
    record.links =
        vec![link("source", Kind::Entity, ID, entity_key(&from)), link("target", Kind::Entity, ID, entity_key(&to))];
    let used_members = ["type", "from", "to", "relationType", "relation_type", "relation"];
    record.fields = object.other_fields(&used_members);
    Some(record)
}

/// Returns the key of an entity, which contains its name, because the server identifies entities only by name.
fn entity_key(name: &str) -> String {
    format!("{ENTITY_KEY}{name}")
}
