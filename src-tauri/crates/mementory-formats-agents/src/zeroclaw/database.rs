//! Reads and changes an SQLite database in memory. SQLite never opens the agent's database file, so nothing on disk is
//! locked or changed. It gets the bytes of the file, whose size is limited.
use mementory_formats_shared::sqlite;
use mementory_formats_shared::sqlite::{OpenError, set_safety_limits};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde_json::{Map, Value};

/// Reasons why a database cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum DatabaseError {
    /// The bytes cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There is no table of memories.
    #[error("no table of memories")]
    NoMemories,
    /// An SQLite error. It may name tables and columns, but contains no data.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// True for the names of the memory database in ZeroClaw, in ALF's reference tool and in the specification.
pub(super) fn is_database_name(name: &str) -> bool {
    matches!(name, "memory.db" | "memories.db" | "brain.db")
}

/// One row as JSON, with its columns in order.
pub(super) type Row = Map<String, Value>;

/// Opens a database from its bytes. If there is a write-ahead log, it is applied first.
pub(super) fn open_image(
    database_bytes: Vec<u8>,
    wal: Option<&[u8]>,
    read_only: bool,
) -> Result<Connection, DatabaseError> {
    Ok(sqlite::open_image(database_bytes, wal, read_only)?)
}

/// Columns of the table `memories`. Fails unless it is an ordinary table that has a column `content`, and a column `id`
/// or `key`.
pub(super) fn memory_columns(connection: &Connection) -> Result<Vec<String>, DatabaseError> {
    // A view or a virtual table could run code from the file.
    let ordinary_tables: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_master WHERE name = 'memories' AND type = 'table' AND sql LIKE 'CREATE TABLE%'",
        [],
        |r| r.get(0),
    )?;
    if ordinary_tables != 1 {
        return Err(DatabaseError::NoMemories);
    }
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('memories')")?;
    let names: Vec<String> = statement.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?;
    let has = |name: &str| names.iter().any(|n| n == name);
    if has("content") && (has("id") || has("key")) { Ok(names) } else { Err(DatabaseError::NoMemories) }
}

/// All memories, in the order of the table.
pub(super) fn read_rows(connection: &Connection) -> Result<Vec<Row>, DatabaseError> {
    let names = memory_columns(connection)?;
    let list: Vec<String> = names.iter().map(|n| format!("\"{}\"", n.replace('"', "\"\""))).collect();
    let mut statement = connection.prepare(&format!("SELECT {} FROM memories ORDER BY rowid", list.join(",")))?;
    let mut rows = statement.query([])?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        let mut map = Map::new();
        for (i, name) in names.iter().enumerate() {
            let value = match row.get_ref(i)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(n) => n.into(),
                ValueRef::Real(f) => serde_json::Number::from_f64(f).map_or(Value::Null, Value::Number),
                ValueRef::Text(t) => match std::str::from_utf8(t) {
                    Ok(t) => t.into(),
                    Err(_) => tagged_hex("text_hex", t),
                },
                ValueRef::Blob(b) => tagged_hex("blob_hex", b),
            };
            map.insert(name.clone(), value);
        }
        out.push(map);
    }
    Ok(out)
}

fn tagged_hex(tag: &str, bytes: &[u8]) -> Value {
    Value::Object(Map::from_iter([(tag.to_owned(), Value::String(hex::encode(bytes)))]))
}

/// Decodes the bytes of a blob column, which [`read_rows`] returns as hexadecimal digits.
pub(super) fn decode_blob(value: &Value) -> Option<Vec<u8>> {
    hex::decode(value.get("blob_hex")?.as_str()?).ok()
}

fn sql_value(value: &Value) -> rusqlite::types::Value {
    use rusqlite::types::Value as Sql;
    match value {
        Value::String(t) => Sql::Text(t.clone()),
        Value::Number(n) => n.as_i64().map(Sql::Integer).or_else(|| n.as_f64().map(Sql::Real)).unwrap_or(Sql::Null),
        Value::Bool(b) => Sql::Integer(i64::from(*b)),
        Value::Object(o) => {
            let bytes = |tag: &str| o.get(tag).and_then(Value::as_str).and_then(|h| hex::decode(h).ok());
            bytes("blob_hex")
                .map(Sql::Blob)
                .or_else(|| bytes("text_hex").map(|b| Sql::Text(String::from_utf8_lossy(&b).into_owned())))
                .unwrap_or(Sql::Null)
        }
        _ => Sql::Null,
    }
}

/// Creates a database with the columns of ALF's reference tool and of the runtime.
pub(super) fn create_database() -> Result<Connection, DatabaseError> {
    let connection = Connection::open_in_memory()?;
    set_safety_limits(&connection)?;
    connection.execute_batch(
        "CREATE TABLE memories (id TEXT PRIMARY KEY, key TEXT NOT NULL UNIQUE, content TEXT NOT NULL, \
         category TEXT NOT NULL DEFAULT 'core', timestamp TEXT NOT NULL, embedding BLOB, created_at TEXT, \
         updated_at TEXT);",
    )?;
    Ok(connection)
}

/// Changes to apply to a database.
#[derive(Default)]
pub(super) struct RowChanges {
    /// Ids of changed rows, with the new values of some columns.
    pub updated: Vec<(String, Row)>,
    /// Ids of removed rows.
    pub removed: Vec<String>,
    /// New rows.
    pub added: Vec<Row>,
}

/// Applies changes and returns the bytes of the changed database. None of its pages contains removed text.
pub(super) fn apply_changes(connection: &mut Connection, changes: &RowChanges) -> Result<Vec<u8>, DatabaseError> {
    connection.execute_batch("PRAGMA secure_delete=ON;")?;
    let names = memory_columns(connection)?;
    let id_column = if names.iter().any(|n| n == "id") { "id" } else { "key" };
    let tx = connection.transaction()?;
    for removed_id in &changes.removed {
        tx.execute(&format!("DELETE FROM memories WHERE {id_column} = ?1"), params![removed_id])?;
    }
    for (row, values) in &changes.updated {
        for (column, value) in values.iter().filter(|(c, _)| names.contains(c)) {
            let column = column.replace('"', "\"\"");
            tx.execute(
                &format!("UPDATE memories SET \"{column}\" = ?1 WHERE {id_column} = ?2"),
                params![sql_value(value), row],
            )?;
        }
    }
    for row in &changes.added {
        let columns: Vec<(&String, &Value)> = row.iter().filter(|(c, _)| names.contains(c)).collect();
        let list: Vec<String> = columns.iter().map(|(c, _)| format!("\"{}\"", c.replace('"', "\"\""))).collect();
        let placeholders: Vec<String> = (1..=columns.len()).map(|i| format!("?{i}")).collect();
        let sql = format!("INSERT INTO memories ({}) VALUES ({})", list.join(","), placeholders.join(","));
        tx.execute(&sql, rusqlite::params_from_iter(columns.iter().map(|(_, v)| sql_value(v))))?;
    }
    tx.commit()?;
    connection.execute_batch("VACUUM;")?;
    Ok(connection.serialize("main")?.to_vec())
}
