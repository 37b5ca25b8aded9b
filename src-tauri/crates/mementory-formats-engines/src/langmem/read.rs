//! Reads the rows of a store as memories, and threads as conversations.
use super::detect::{LIST_KEYS, MESSAGES, layout};
use super::threads::Threads;
use super::{ID, PLATFORM, checkpoints};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, object_of};
use mementory_formats_shared::object::{Object, content_id, decode_string};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows;
use mementory_model::{Fields, Kind, Record, RecordKey};
use serde_json::Value;

/// Members of a value that may contain the text of a memory.
const TEXTS: [&str; 6] = ["content", "memory", "text", "fact", "summary", "data"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    let mut threads = Threads::default();
    files.each_file(detected, |files, member, role| match role {
        Role::Manifest => read_database(&mut rows, files, member),
        Role::Junk => Ok(()),
        _ => {
            let has_messages = Head::of(catalog, member).and_then(|head| layout(&head)) == Some(MESSAGES);
            let lists: &[&str] = if has_messages { &[MESSAGES] } else { &LIST_KEYS };
            each_row(
                files,
                member,
                lists,
                Kind::Memory,
                &mut |files, row| match threads.add(row.text, &row.pointer) {
                    true => Ok(()),
                    false => read_row(&mut rows, files, row),
                },
            )?;
            std::mem::take(&mut threads).send(files, member)
        }
    })
}

/// Reads the tables of a store or a checkpointer in SQLite. The database is neither locked nor changed.
fn read_database(rows: &mut RowSender, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let tables = sqlite_rows::tables(&database).map_err(|error| unreadable(member, &error))?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    if has("store") {
        sqlite_rows::each_row(files, member, &database, "store", |files, row, number| {
            let text = sqlite_rows::row_text(row, |column| column == "value");
            read_row(rows, files, &Row { member, text: &text, pointer: format!("store/row {number}") })
        })?;
    }
    let has_states = has("checkpoints") && checkpoints::is_readable(&database);
    if has_states {
        checkpoints::read(files, member, &database)?;
    }
    sqlite_rows::report_other_tables(files, member, &database, &tables, |table| match table {
        "store" => None,
        "checkpoints" if has_states => None,
        "checkpoints" => Some("the states of this old version are in a form that is not read"),
        "store_migrations" | "checkpoint_migrations" | "vector_migrations" => Some("it has the versions of the tables"),
        "store_vectors" => Some("it is an index of the store"),
        "writes" => Some("the states of the threads have what they changed"),
        _ => Some("it has no memories"),
    });
    Ok(())
}

fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    match memory(&object) {
        Ok(record) => rows.send(files, row, record),
        Err(reason) => {
            rows.fail(files, row, reason, Kind::Memory);
            Ok(())
        }
    }
}

/// Converts a row to a record. The error is the reason why the row is not a record.
pub(super) fn memory(object: &Object<'_>) -> Result<Record, &'static str> {
    let namespace = namespace_of(object);
    let raw = object.raw_value("value").ok_or("no_content: this row has no value")?;
    // In some dumps of the table, the value is a string that contains the value as JSON.
    let inner = decode_string(raw).map(|text| text.into_owned());
    let json = inner.as_deref().filter(|text| text.trim_start().starts_with('{')).unwrap_or_else(|| raw.get());
    let value = Object::parse(json);
    let text = match &value {
        Some(value) => text_of(value),
        None => inner.clone().filter(|text| !text.trim().is_empty()),
    };
    let text = text.ok_or("no_content: no text in the value")?;
    let key = object.id("key");
    let content = format!("{}\n{text}", namespace.join("/"));
    let mut record = Record::new(Kind::Memory, RecordKey::new(ID, content_id(&content)), text);
    if let Some(key) = &key {
        record.key.value = format!("{}/{key}", namespace.join("/"));
    }
    record.origin_id = key;
    record.namespace = Some(namespace.join("/")).filter(|name| !name.is_empty());
    record.record_type = value.as_ref().and_then(|value| value.first_text(&["kind", "type"]));
    record.times.created = object.time("created_at").or_else(|| object.time("createdAt"));
    record.times.updated = object.time("updated_at").or_else(|| object.time("updatedAt"));
    record.times.valid_to = object.time("expires_at");
    let names = ["created_at", "createdAt", "updated_at", "updatedAt", "expires_at"];
    let used_members = ["namespace", "prefix", "key", "value"];
    record.fields = object.other_fields(&[&used_members[..], &names].concat());
    if let Some(value) = &value {
        record.fields.extend(fields_of_value(value));
    }
    Ok(record)
}

/// Returns the parts of a namespace, which is a list or, in the database, a string with dots between the parts.
fn namespace_of(object: &Object<'_>) -> Vec<String> {
    match object.text("namespace").or_else(|| object.text("prefix")) {
        Some(text) => text.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect(),
        None => object.texts("namespace"),
    }
}

/// Returns the text of a value: the text of its memory, or else the sentence of its triple, or else its texts and
/// numbers, one in each line.
fn text_of(value: &Object<'_>) -> Option<String> {
    let inner = value.object("content");
    let text_in = |object: &Object<'_>| object.first_text(&TEXTS).or_else(|| triple(object));
    text_in(value).or_else(|| inner.as_ref().and_then(text_in)).or_else(|| lines(inner.as_ref().unwrap_or(value)))
}

fn triple(object: &Object<'_>) -> Option<String> {
    let part = |key: &str| object.first_text(&[key]);
    let sentence = format!("{} {} {}", part("subject")?, part("predicate")?.replace('_', " "), part("object")?);
    Some(match part("context") {
        Some(context) => format!("{sentence} ({context})"),
        None => sentence,
    })
}

fn lines(object: &Object<'_>) -> Option<String> {
    let mut lines = Vec::new();
    for (key, raw) in object.members().filter(|(key, _)| !matches!(*key, "kind" | "type" | "id")) {
        let texts = object.texts(key);
        let text = decode_string(raw).map_or_else(|| texts.join(", "), |text| text.into_owned());
        let number = raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()).then(|| raw.get().to_owned());
        let text = number.unwrap_or(text);
        if !text.trim().is_empty() {
            lines.push(format!("{}: {text}", key.replace('_', " ")));
        }
    }
    Some(lines.join("\n")).filter(|text| !text.is_empty())
}

/// Returns the members of a value that are not its text.
fn fields_of_value(value: &Object<'_>) -> Fields {
    let mut fields = value.other_fields(&[&TEXTS[..], &["kind"]].concat());
    if let Some(inner) = value.object("content") {
        fields.extend(inner.other_fields(&TEXTS));
    }
    if fields.is_empty() { fields } else { Fields::from_iter([("value".to_owned(), Value::Object(fields))]) }
}
