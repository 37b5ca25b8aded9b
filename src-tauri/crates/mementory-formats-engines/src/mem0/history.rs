//! Reads `history.db`, in which mem0 records each change of a memory. Each state of a memory becomes a record, the
//! newest one and all earlier ones.
use super::{ID, record_key};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, link};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows;
use mementory_model::{Kind, Record, Timestamp};

/// Columns by which changes are sorted: by memory, then in the order in which they were written.
const ORDER_COLUMNS: &str = "memory_id, rowid";
/// Columns for which the model has a field.
const READ_MEMBERS: [&str; 5] = ["memory_id", "old_memory", "new_memory", "created_at", "updated_at"];

/// A change of a memory, as a row of the table.
struct Change {
    text: String,
    pointer: String,
}

/// Reads a database. The database is neither locked nor changed.
pub(super) fn read(rows: &mut RowSender, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let tables = sqlite_rows::tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut open: (Option<String>, Vec<Change>) = (None, Vec::new());
    sqlite_rows::each_row_in_order(files, member, &database, ("history", ORDER_COLUMNS), |files, row, number| {
        let id = row.get("memory_id").and_then(|id| id.as_str()).map(str::to_owned);
        let change = Change { text: sqlite_rows::row_text(row, |_| false), pointer: format!("history/row {number}") };
        if id != open.0 || id.is_none() {
            let (_, changes) = std::mem::replace(&mut open, (id, Vec::new()));
            send(rows, files, member, &changes)?;
        }
        open.1.push(change);
        Ok(())
    })?;
    send(rows, files, member, &open.1)?;
    sqlite_rows::report_other_tables(files, member, &database, &tables, |table| match table {
        "history" => None,
        "messages" => Some("they are the last words of chats, from which the memories were taken"),
        _ => Some("it has no memories"),
    });
    Ok(())
}

/// Sends each state of a memory as a record, with a link to the state that it supersedes.
fn send(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    member: &Member,
    changes: &[Change],
) -> Result<(), FormatError> {
    let mut created = None;
    let mut former_key: Option<String> = None;
    for (n, change) in changes.iter().enumerate() {
        let row = Row { member, text: &change.text, pointer: change.pointer.clone() };
        let is_last = n + 1 == changes.len();
        let object = Object::parse(&change.text).unwrap_or_default();
        created = created.or_else(|| object.time("created_at"));
        let Some(mut record) = state(&object, is_last, created) else {
            rows.fail(files, &row, "no_content: no text in it", Kind::Memory);
            continue;
        };
        record.links.extend(former_key.map(|key| link("supersedes", Kind::Memory, ID, key)));
        former_key = Some(record.key.value.clone());
        rows.send(files, &row, record)?;
    }
    Ok(())
}

/// Returns the state of a memory after a change. None if the change states no text.
fn state(object: &Object<'_>, is_last: bool, created: Option<Timestamp>) -> Option<Record> {
    let event = object.first_text(&["event"]);
    let is_deleted = event.as_deref().is_some_and(|event| event.eq_ignore_ascii_case("delete"))
        || object.number("is_deleted") == Some(1.0);
    let text = object.first_text(if is_deleted { &["new_memory", "old_memory"] } else { &["new_memory"] })?;
    let memory = object.id("memory_id");
    // The newest state gets the key that the memory has in responses of the API. Earlier states get keys of their own.
    let id = match (is_last, memory.as_deref(), object.id("id")) {
        (false, Some(memory), Some(change)) => Some(format!("{memory}/history/{change}")),
        (_, memory, _) => memory.map(str::to_owned),
    };
    let mut record = Record::new(Kind::Memory, record_key(id.as_deref(), &text), text);
    record.origin_id = memory;
    record.status = match (is_deleted, is_last) {
        (true, _) => Some("deleted".into()),
        (false, false) => Some("superseded".into()),
        (false, true) => None,
    };
    record.times.created = created;
    record.times.updated = object.time("updated_at");
    record.source.method = Some("extracted".into());
    record.fields = object.other_fields(&READ_MEMBERS);
    Some(record)
}
