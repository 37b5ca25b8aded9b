//! Reads SQLite databases inside exports. A database is neither locked nor changed, and no file is created next to it.
//! Usually SQLite reads a copy in memory, to which the write-ahead log has been applied. A file that is too large for
//! this is opened on disk, read-only and without locks.
use super::sqlite_log::apply_log;
use mementory_format::{Catalog, FormatError, Member};
use mementory_model::Limits;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// First bytes of a SQLite database.
pub const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// Endings that SQLite appends to the name of a database for its log files. The first is that of the write-ahead log.
pub const LOG_ENDINGS: [&str; 3] = [WAL_ENDING, "-shm", "-journal"];
const WAL_ENDING: &str = "-wal";
/// Smallest number of bytes that a row occupies in a file. Limits the number of rows to read, because a damaged file
/// can return the same rows over and over.
const MIN_ROW_BYTES: u64 = 4;

/// Reasons why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The bytes are not an SQLite database.
    #[error("not a SQLite database")]
    NotSqlite,
    /// The file is shorter than its header states, or its list of tables cannot be read.
    #[error("the list of tables cannot be read, because the file is damaged or cut off: {0}")]
    Schema(rusqlite::Error),
    /// An SQLite error. It may name tables and columns, but contains no data from the database.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// An open database.
pub struct Database {
    /// The read-only connection.
    pub connection: Connection,
    /// Largest number of rows that a table of the database can have.
    pub max_rows: u64,
    /// True if a write-ahead log was not applied, because the database is too large to be read into memory.
    pub is_log_unread: bool,
    /// True if the end of the file is missing. Only the rows in the missing part cannot be read.
    pub is_cut: bool,
}

/// Opens a database of a catalog. A database that is larger than `Limits::element_bytes` can only be opened if it is a
/// file on disk.
pub fn open(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<Database, FormatError> {
    let unreadable = |e: OpenError| FormatError::invalid("database_unreadable", &member.place, e.to_string());
    let log = write_ahead_log(catalog, member).filter(|log| log.size > 0);
    let log_bytes = log.map_or(0, |m| m.size);
    let max_rows = (member.size + log_bytes) / MIN_ROW_BYTES;
    if member.size + log_bytes <= limits.element_bytes {
        let database_bytes = catalog.bytes(member, limits.element_bytes)?;
        let log = log.map(|m| catalog.bytes(m, limits.element_bytes)).transpose()?;
        let max_rows = max_rows.max(database_bytes.len() as u64 / MIN_ROW_BYTES);
        let connection = open_image(database_bytes, log.as_deref(), true).map_err(unreadable)?;
        check_schema(&connection).map_err(unreadable)?;
        return Ok(Database { connection, max_rows, is_log_unread: false, is_cut: false });
    }
    let Some(path) = catalog.path_of(member) else {
        let message = "the database is too large to be read inside an archive; unpack it first";
        return Err(FormatError::invalid("too_large", &member.place, message));
    };
    let connection = open_file(path).map_err(unreadable)?;
    check_schema(&connection).map_err(unreadable)?;
    Ok(Database { connection, max_rows, is_log_unread: log.is_some(), is_cut: false })
}

/// Like [`open`], but also opens a truncated database if it is small enough to be read into memory. Reading a row of
/// such a database can fail.
pub fn open_truncated(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<Database, FormatError> {
    let opened_whole = open(catalog, member, limits);
    if opened_whole.is_ok() || member.size > limits.element_bytes {
        return opened_whole;
    }
    let mut database_bytes = catalog.bytes(member, limits.element_bytes)?;
    let max_rows = database_bytes.len() as u64 / MIN_ROW_BYTES;
    if !drop_incomplete_page(&mut database_bytes) {
        return opened_whole;
    }
    let Ok(connection) = open_image(database_bytes, None, true) else { return opened_whole };
    if check_schema(&connection).is_err() {
        return opened_whole;
    }
    Ok(Database { connection, max_rows, is_log_unread: false, is_cut: true })
}

/// Removes an incomplete last page, and sets the page count in the header to the number of pages that are present.
/// Returns false if no page is missing.
fn drop_incomplete_page(database_bytes: &mut Vec<u8>) -> bool {
    let number =
        |at: usize| database_bytes.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok()).map(u32::from_be_bytes);
    let size = database_bytes.get(16..18).and_then(|b| <[u8; 2]>::try_from(b).ok()).map(u16::from_be_bytes);
    let page = match size {
        // The largest page size does not fit into two bytes, so the header states it as 1.
        Some(1) => 65_536,
        Some(size) if size >= 512 => usize::from(size),
        _ => return false,
    };
    let (Some(stated_pages), Ok(present_pages)) = (number(28), u32::try_from(database_bytes.len() / page)) else {
        return false;
    };
    if present_pages == 0 || present_pages >= stated_pages {
        return false;
    }
    database_bytes.truncate(database_bytes.len() / page * page);
    if let Some(count) = database_bytes.get_mut(28..32) {
        count.copy_from_slice(&present_pages.to_be_bytes());
    }
    // Empties the free-page list, because it may refer to missing pages.
    if let Some(free) = database_bytes.get_mut(32..40) {
        free.fill(0);
    }
    true
}

/// Fails if the list of tables cannot be read. Without this check, every table of such a database would seem to be
/// missing.
fn check_schema(connection: &Connection) -> Result<(), OpenError> {
    let count = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0));
    count.map(drop).map_err(OpenError::Schema)
}

/// The log files of a database that was copied while it was in use, and the index of its write-ahead log.
pub fn log_files<'c>(catalog: &'c Catalog, database: &'c Member) -> impl Iterator<Item = &'c Member> {
    let is_log = move |member: &&Member| LOG_ENDINGS.iter().any(|ending| is_beside(database, member, ending));
    catalog.members().iter().filter(is_log)
}

/// The write-ahead log of a database. While the database is in use, its newest rows and tables may be only there.
pub fn write_ahead_log<'c>(catalog: &'c Catalog, database: &Member) -> Option<&'c Member> {
    catalog.members().iter().find(|member| is_beside(database, member, WAL_ENDING))
}

/// True if `other` is in the same folder as `member` and has its name with this ending appended. Files that were
/// selected alone count as files of one folder.
fn is_beside(member: &Member, other: &Member, ending: &str) -> bool {
    let is_in_same_folder = other.root == member.root && other.archive == member.archive;
    (is_in_same_folder || member.is_selected_alone() && other.is_selected_alone())
        && other.name.strip_suffix(ending) == Some(&member.name)
}

/// Opens a database from its bytes. If there is a write-ahead log, it is applied first.
pub fn open_image(
    mut database_bytes: Vec<u8>,
    wal: Option<&[u8]>,
    is_read_only: bool,
) -> Result<Connection, OpenError> {
    if !database_bytes.starts_with(SQLITE_MAGIC) || database_bytes.len() < 100 {
        return Err(OpenError::NotSqlite);
    }
    if let Some(wal) = wal {
        let _ = apply_log(&mut database_bytes, wal);
    }
    // Switches the header from WAL to rollback mode, because a database in memory has no log file.
    if let Some(versions) = database_bytes.get_mut(18..20) {
        versions.fill(1);
    }
    let mut connection = Connection::open_in_memory()?;
    set_safety_limits(&connection)?;
    connection.deserialize_read_exact("main", database_bytes.as_slice(), database_bytes.len(), is_read_only)?;
    set_safety_limits(&connection)?;
    Ok(connection)
}

/// Opens a file in SQLite's immutable mode, so that SQLite neither locks the file nor looks for a log.
fn open_file(path: &Path) -> Result<Connection, OpenError> {
    let absolute_path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let text = absolute_path.to_str().ok_or(OpenError::NotSqlite)?.replace('\\', "/");
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        match byte {
            b'/' | b':' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str("?mode=ro&immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    set_safety_limits(&connection)?;
    connection.execute_batch("PRAGMA query_only=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-16384;")?;
    Ok(connection)
}

/// Sets limits that protect the program from malicious databases.
pub fn set_safety_limits(connection: &Connection) -> Result<(), OpenError> {
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 256 << 20)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch("PRAGMA cell_size_check=ON; PRAGMA temp_store=MEMORY;")?;
    Ok(())
}

impl Database {
    /// True if there is an ordinary table with this name. A view or a virtual table could run code from the file.
    pub fn has_table(&self, name: &str) -> bool {
        let sql = "SELECT count(*) FROM sqlite_master WHERE name = ?1 AND type = 'table' AND sql LIKE 'CREATE TABLE%'";
        self.connection.query_row(sql, [name], |row| row.get::<_, i64>(0)).is_ok_and(|count| count == 1)
    }
}

/// Converts an SQLite error that occurred while a database was read. The text of the error contains no data from the
/// database.
pub fn unreadable(member: &Member, error: &rusqlite::Error) -> FormatError {
    FormatError::invalid("database_unreadable", &member.place, error.to_string())
}

/// The text or bytes of a column as text. None for other values.
pub fn column_text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_format::testkit::Scratch;

    #[test]
    fn no_table_of_a_truncated_database_is_reported_as_missing() {
        let folder = Scratch::new("sqlite cut");
        let path = folder.at("state.vscdb");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE t(key TEXT, value BLOB)").unwrap();
        for n in 0..200 {
            db.execute("INSERT INTO t VALUES (?1, zeroblob(2000))", [n]).unwrap();
        }
        drop(db);
        let complete_bytes = std::fs::read(&path).unwrap();
        assert!(check_schema(&open_image(complete_bytes.clone(), None, true).unwrap()).is_ok());
        let half_database = open_image(complete_bytes[..complete_bytes.len() / 2].to_vec(), None, true).unwrap();
        assert!(matches!(check_schema(&half_database), Err(OpenError::Schema(_))));
        std::fs::write(&path, &complete_bytes[..complete_bytes.len() / 2]).unwrap();
        let catalog = Catalog::open(std::slice::from_ref(&path), &Limits::default(), None).unwrap();
        let truncated_database = open_truncated(&catalog, &catalog.members()[0], &Limits::default()).unwrap();
        assert!(truncated_database.is_cut);
        let mut rows = truncated_database.connection.prepare("SELECT key FROM t").unwrap();
        let mut rows = rows.query([]).unwrap();
        let mut count = 0;
        while let Ok(Some(_)) = rows.next() {
            count += 1;
        }
        assert!((50..200).contains(&count), "{count} rows are before the end");
    }

    #[test]
    fn a_large_file_is_read_in_place_and_not_changed() {
        let folder = Scratch::new("sqlite large #1");
        let path = folder.at("a db?.vscdb");
        let db = Connection::open(&path).unwrap();
        db.execute_batch("CREATE TABLE t(key TEXT, value BLOB); INSERT INTO t VALUES ('a', 'x');").unwrap();
        drop(db);
        let bytes_before = std::fs::read(&path).unwrap();
        let limits = Limits { element_bytes: 100, ..Limits::default() };
        let catalog = Catalog::open(std::slice::from_ref(&path), &Limits::default(), None).unwrap();
        let opened_database = open(&catalog, &catalog.members()[0], &limits).unwrap();
        assert!(opened_database.has_table("t") && !opened_database.has_table("u"));
        assert!(opened_database.connection.execute("INSERT INTO t VALUES ('b', 'y')", []).is_err());
        drop(opened_database);
        assert_eq!(std::fs::read(&path).unwrap(), bytes_before);
        assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
    }
}
