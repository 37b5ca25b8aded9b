//! Rows of an SQLite database as JSON objects, and detection of a database by the columns of its tables.
use super::chat::Turn;
use super::object::Object;
use super::reader::FileReader;
use super::sqlite::{Database, SQLITE_MAGIC, column_text, log_files, write_ahead_log};
use memchr::memmem;
use mementory_format::{Catalog, Claim, FormatError, Member, Part, Role};
use mementory_model::{DroppedAs, Issue, Kind};
use rusqlite::types::ValueRef;
use serde_json::{Map, Value};

/// The cells of a row, by the names of their columns.
pub type Row = Map<String, Value>;

/// Number of bytes at the start of a database that detection reads. The list of tables may be on any of these pages.
const HEAD_BYTES: usize = 4 << 20;
/// Longest table definition that is examined, in bytes.
const MAX_DEFINITION_BYTES: usize = 16 << 10;

/// The start of a database and of its write-ahead log. If the database was in use, the table definitions may be only in
/// the log.
pub struct Schema {
    head: Vec<u8>,
    log: Vec<u8>,
}

impl Schema {
    /// The schema of the database in a member. None if the member is not an SQLite database.
    pub fn of(catalog: &Catalog, member: &Member) -> Option<Self> {
        let magic = catalog.head(member, SQLITE_MAGIC.len()).ok()?;
        if magic != SQLITE_MAGIC {
            return None;
        }
        let head = catalog.head(member, HEAD_BYTES).ok()?;
        let log =
            write_ahead_log(catalog, member).and_then(|log| catalog.head(log, HEAD_BYTES).ok()).unwrap_or_default();
        Some(Self { head, log })
    }

    /// True if the start of the database or of its log contains this text, for example the key of a row.
    pub fn contains(&self, text: &str) -> bool {
        [&self.head, &self.log].into_iter().any(|bytes| memmem::find(bytes, text.as_bytes()).is_some())
    }

    /// True if there is a table with this name and these columns.
    pub fn has_table(&self, name: &str, columns: &[&str]) -> bool {
        [&self.head, &self.log].into_iter().any(|bytes| {
            let mut starts = memmem::find_iter(bytes, b"CREATE TABLE ");
            starts.any(|at| {
                let definition = bytes.get(at + "CREATE TABLE ".len()..).and_then(|rest| definition_of(rest, name));
                definition.is_some_and(|text| columns.iter().all(|column| has_word(text, column)))
            })
        })
    }
}

/// The text between the parentheses of a table definition. None if it defines a table other than `name`.
fn definition_of<'b>(rest: &'b [u8], name: &str) -> Option<&'b [u8]> {
    let quotes = b"\"`'[]";
    let is_quote = |byte: &u8| quotes.contains(byte);
    let start = usize::from(rest.first().is_some_and(is_quote));
    let rest = rest.get(start..)?;
    let defined_name = rest.get(..name.len())?;
    if !defined_name.eq_ignore_ascii_case(name.as_bytes()) {
        return None;
    }
    let text_after_name = rest.get(name.len()..)?;
    let open = text_after_name.iter().position(|byte| !is_quote(byte) && !byte.is_ascii_whitespace())?;
    let body = text_after_name.get(open..).filter(|body| body.first() == Some(&b'('))?;
    let mut depth = 0u32;
    for (at, byte) in body.iter().enumerate().take(MAX_DEFINITION_BYTES) {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 1 => return body.get(1..at),
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

fn has_word(text: &[u8], word: &str) -> bool {
    let is_letter = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memmem::find_iter(text, word.as_bytes()).any(|at| {
        let previous_byte = at.checked_sub(1).and_then(|at| text.get(at));
        !is_letter(previous_byte) && !is_letter(text.get(at + word.len()))
    })
}

/// One claim for each database that `test` accepts. The database has the role of a manifest, and its logs have the role
/// of junk.
pub fn claims(catalog: &Catalog, confidence: f64, reason: &str, test: impl Fn(&Schema) -> bool) -> Vec<Claim> {
    let databases = catalog.members().iter().filter(|member| Schema::of(catalog, member).is_some_and(|s| test(&s)));
    let claim = |member: &Member| {
        let mut parts = vec![Part { member: member.id, role: Role::Manifest }];
        parts.extend(logs(catalog, member));
        Claim { version: Some("database".into()), confidence, reason: reason.into(), parts, missing_parts: vec![] }
    };
    databases.map(claim).collect()
}

/// The log files of a database, with the role of junk.
pub fn logs<'c>(catalog: &'c Catalog, database: &'c Member) -> impl Iterator<Item = Part> + 'c {
    log_files(catalog, database).map(|member| Part { member: member.id, role: Role::Junk })
}

/// Opens a database to read its rows, and reports a log that cannot be read.
pub fn open(files: &mut FileReader<'_>, member: &Member) -> Result<Database, FormatError> {
    let database = super::sqlite::open_truncated(files.catalog, member, &files.context.limits)?;
    if database.is_cut {
        let message = "the end of this database is missing; what is before it is read";
        files.sink.note(Issue::new("truncated", &member.place, message));
    }
    if database.is_log_unread {
        let message =
            "the log of this database is not read, because the database is too large; close the program first";
        files.sink.note(Issue::new("log_unread", &member.place, message));
    }
    Ok(database)
}

/// Names of the ordinary tables. A view or virtual table could run code from the file.
pub fn tables(database: &Database) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' \
               AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = database.connection.prepare(sql)?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Calls `read` for each row of a table. A row that SQLite cannot read is reported, and the rest of the table is
/// skipped.
pub fn each_row(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    table: &str,
    read: impl FnMut(&mut FileReader<'_>, Row, usize) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    each_row_in_order(files, member, database, (table, ""), read)
}

/// Like [`each_row`], but sorts the rows by the columns in `order`. `table` and `order` must come from the format's
/// reader, never from the file, because they become part of the SQL text.
pub fn each_row_in_order(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    (table, order): (&str, &str),
    mut read: impl FnMut(&mut FileReader<'_>, Row, usize) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let report_failed = |files: &mut FileReader<'_>, error: rusqlite::Error| {
        let place = format!("{}#{table}", member.place);
        files.report_dropped(place, DroppedAs::Failed, &format!("database_unreadable: {error}"), None);
        Ok(())
    };
    let order = if order.is_empty() { String::new() } else { format!(" ORDER BY {order}") };
    let mut statement = match database.connection.prepare(&format!("SELECT * FROM \"{table}\"{order}")) {
        Ok(statement) => statement,
        Err(error) => return report_failed(files, error),
    };
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = match statement.query([]) {
        Ok(rows) => rows,
        Err(error) => return report_failed(files, error),
    };
    // The number of rows is limited, because a damaged file can return the same rows over and over.
    let max_rows = usize::try_from(database.max_rows).unwrap_or(usize::MAX);
    for number in 0..max_rows {
        match rows.next() {
            Ok(Some(row)) => read(files, row_of(row, &names), number)?,
            Ok(None) => break,
            Err(error) => return report_failed(files, error),
        }
    }
    Ok(())
}

/// The messages of a session in the table `messages`, in the order in which they were written. `turn` converts a row,
/// given its position. Messages that cannot be read, or that exceed the limit for one element, are reported.
pub fn turns_of_session(
    reader: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    session: &str,
    turn: impl Fn(Row, usize) -> Turn,
) -> Vec<Turn> {
    let mut out = Vec::new();
    let failure = match read_turns(database, session, reader.context.limits.element_bytes, turn, &mut out) {
        Ok(true) => return out,
        Ok(false) => "too_large: the rest of this session is larger than the limit".to_owned(),
        Err(error) => format!("database_unreadable: {error}"),
    };
    let place = format!("{}#messages of {session}", member.place);
    reader.report_dropped(place, DroppedAs::Failed, &failure, Some(Kind::Message));
    out
}

/// Adds the messages of a session to `out`. Stops and returns false if their total size exceeds `max_bytes`, or if
/// there are more messages than the database can have rows.
fn read_turns(
    database: &Database,
    session: &str,
    max_bytes: u64,
    turn: impl Fn(Row, usize) -> Turn,
    out: &mut Vec<Turn>,
) -> rusqlite::Result<bool> {
    let mut statement = database.connection.prepare("SELECT * FROM messages WHERE session_id = ?1 ORDER BY id")?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([session])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let turn = turn(row_of(row, &names), out.len());
        bytes += turn.verbatim.as_ref().map_or(0, |verbatim| verbatim.text.len()) as u64;
        if bytes > max_bytes || out.len() as u64 >= database.max_rows {
            return Ok(false);
        }
        out.push(turn);
    }
    Ok(true)
}

/// A row as JSON. Bytes that are not text are left out, because they are pictures or vectors.
pub fn row_of(row: &rusqlite::Row<'_>, names: &[String]) -> Row {
    let mut out = Row::new();
    for (index, name) in names.iter().enumerate() {
        let value = match row.get_ref(index) {
            Ok(ValueRef::Integer(number)) => number.into(),
            Ok(ValueRef::Real(number)) => serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number),
            Ok(ValueRef::Blob(bytes)) if std::str::from_utf8(bytes).is_err() => Value::Null,
            Ok(value) => column_text(value).map_or(Value::Null, Value::String),
            Err(_) => Value::Null,
        };
        out.insert(name.clone(), value);
    }
    out
}

/// The text in a column. None if it is blank, and for any other value.
pub fn text_in(row: &Row, column: &str) -> Option<String> {
    row.get(column).and_then(Value::as_str).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// The text or the number in a column, as text. None if the text is blank, and for any other value.
pub fn text_or_number_in(row: &Row, column: &str) -> Option<String> {
    match row.get(column)? {
        Value::Number(number) => Some(number.to_string()),
        _ => text_in(row, column),
    }
}

/// A row as JSON text. Columns for which `is_json` returns true are inserted as JSON instead of strings, so that the
/// row looks like an element of an export.
pub fn row_text(row: Row, is_json: impl Fn(&str) -> bool) -> String {
    let mut out = String::from("{");
    for (name, value) in row {
        if out.len() > 1 {
            out.push(',');
        }
        let is_json_text = |text: &str| is_json(&name) && (Object::parse(text).is_some() || is_list(text));
        let text = match &value {
            Value::String(text) if is_json_text(text) => text.clone(),
            other => other.to_string(),
        };
        out.push_str(&Value::String(name).to_string());
        out.push(':');
        out.push_str(&text);
    }
    out.push('}');
    out
}

fn is_list(text: &str) -> bool {
    text.starts_with('[') && serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// Reports which tables are not imported, with their row counts. `reason_of` returns the reason for a table, or None
/// for a table that is not reported.
pub fn report_other_tables<'w>(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    tables: &[String],
    reason_of: impl Fn(&str) -> Option<&'w str>,
) {
    for table in tables {
        let Some(why) = reason_of(table) else { continue };
        let quoted_table = table.replace('"', "\"\"");
        let sql = format!("SELECT count(*) FROM \"{quoted_table}\"");
        let count = database.connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
        let Some(count) = count.ok().filter(|count| *count > 0) else { continue };
        let reason = format!("not_imported: {count} rows of this table are not imported, because {why}");
        files.report_dropped(format!("{}#{table}", member.place), DroppedAs::Skipped, &reason, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Schema {
        Schema { head: text.as_bytes().to_vec(), log: Vec::new() }
    }

    #[test]
    fn a_table_is_found_by_its_own_columns_only() {
        let schema_found =
            schema("x CREATE TABLE \"notes\" (id INTEGER CHECK (id > 0), body TEXT) CREATE TABLE other(tags TEXT)");
        assert!(schema_found.has_table("notes", &["id", "body"]));
        assert!(schema_found.has_table("other", &["tags"]));
        assert!(!schema_found.has_table("notes", &["tags"]), "a column of another table");
        assert!(!schema_found.has_table("notes", &["bod"]), "a part of a name");
        assert!(!schema_found.has_table("note", &[]), "a part of the name of a table");
        assert!(!schema("CREATE TABLE notes (id").has_table("notes", &["id"]), "a definition that is cut off");
    }

    #[test]
    fn only_columns_with_json_become_json() {
        let row = || Row::from_iter([("a", "{\"b\":1}"), ("c", "[]")].map(|(k, v)| (k.to_owned(), v.into())));
        assert_eq!(row_text(row(), |name| name == "a"), r#"{"a":{"b":1},"c":"[]"}"#);
        assert_eq!(row_text(row(), |_| true), r#"{"a":{"b":1},"c":[]}"#);
    }
}
