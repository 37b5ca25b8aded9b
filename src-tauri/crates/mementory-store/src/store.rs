//! The store: SQLCipher, the truth. One writer connection, a few readers, WAL.
use crate::{StoreError, StoreResult, packs::Packs};
use rusqlite::{Connection, OpenFlags, Transaction};
use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard},
};

/// Schema that this program writes.
pub const SCHEMA_VERSION: u32 = 2;

/// Numbered, transactional migrations: `MIGRATIONS[n]` leads from schema n to n + 1.
const MIGRATIONS: &[&str] = &[include_str!("schema.sql"), include_str!("schema_2.sql")];

/// Database file of a vault.
pub const FILE: &str = "store.db";

/// Bytes of a database page.
const PAGE: u64 = 8192;

/// The open store.
pub struct Store {
    path: PathBuf,
    key_pragma: zeroize::Zeroizing<String>,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    /// Record bodies.
    pub packs: Packs,
}

impl Store {
    /// Opens or creates the store under a raw 256-bit key and brings its schema up to date.
    ///
    /// # Errors
    /// `Damaged` when the first page fails its check, `NewerSchema`, I/O.
    pub fn open(dir: &Path, key: &[u8; 32], create: bool) -> StoreResult<Self> {
        let path = dir.join(FILE);
        if !create && !path.exists() {
            return Err(StoreError::Damaged(format!("{FILE} is not there")));
        }
        // A file shorter than a page would open as a new, empty database.
        if !create && std::fs::metadata(&path).is_ok_and(|m| m.len() < PAGE) {
            return Err(StoreError::Damaged(format!("{FILE} is cut off")));
        }
        let key_pragma = key_pragma(key);
        let mut writer = connect(&path, &key_pragma, create)?;
        migrate(&mut writer, dir)?;
        Ok(Self {
            path,
            key_pragma,
            writer: Mutex::new(writer),
            readers: Mutex::new(Vec::new()),
            packs: Packs::default(),
        })
    }

    /// Runs `f` in one write transaction; an error rolls everything back.
    pub fn write<T>(&self, f: impl FnOnce(&Transaction<'_>) -> StoreResult<T>) -> StoreResult<T> {
        let mut connection = self.writer();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let value = f(&transaction);
        match value {
            Ok(value) => {
                if let Err(error) = transaction.commit() {
                    self.packs.forget();
                    return Err(error.into());
                }
                self.packs.committed();
                Ok(value)
            }
            Err(error) => {
                drop(transaction);
                self.packs.forget();
                Err(error)
            }
        }
    }

    /// The writer connection, for what cannot run inside a transaction (checkpoint).
    pub fn writer(&self) -> MutexGuard<'_, Connection> {
        // A panic while writing leaves no half transaction: rusqlite rolls back on drop.
        self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Runs `f` on a reader connection; sees the last committed state.
    pub fn read<T>(&self, f: impl FnOnce(&Connection) -> StoreResult<T>) -> StoreResult<T> {
        let pooled = self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => self.extra_reader()?,
        };
        let value = f(&connection);
        let mut pool = self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if pool.len() < 3 {
            pool.push(connection);
        }
        value
    }

    /// A connection of its own, read-only in effect; also the erasure check's.
    pub fn extra_reader(&self) -> StoreResult<Connection> {
        let connection = connect(&self.path, &self.key_pragma, false)?;
        connection.execute_batch("PRAGMA query_only=ON; PRAGMA cache_size=-8000;")?;
        Ok(connection)
    }

    /// Closes pooled readers, so that a checkpoint can truncate the WAL.
    pub fn close_readers(&self) {
        self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }

    /// Moves the WAL into the database and truncates it to nothing. True when that worked whole.
    pub fn checkpoint(&self) -> StoreResult<bool> {
        self.close_readers();
        let busy: i64 = self.writer().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get(0))?;
        Ok(busy == 0)
    }

    /// Last change that the store holds.
    pub fn last_change(connection: &Connection) -> StoreResult<u64> {
        let seq: Option<i64> = connection.query_row("SELECT max(seq) FROM changes", [], |r| r.get(0))?;
        Ok(u64::try_from(seq.unwrap_or(0)).unwrap_or(0))
    }

    /// Database and WAL size in bytes.
    pub fn bytes(&self) -> u64 {
        let wal = self.path.with_extension("db-wal");
        [&self.path, &wal].iter().filter_map(|p| std::fs::metadata(p).ok()).map(|m| m.len()).sum()
    }
}

/// What fails its check in the pages of a database: their authentication, then how they hang together.
pub fn page_problems(connection: &Connection) -> StoreResult<Vec<String>> {
    let mut found = Vec::new();
    let mut hmac = connection.prepare("PRAGMA cipher_integrity_check")?;
    for line in hmac.query_map([], |r| r.get::<_, String>(0))? {
        found.push(line?);
    }
    let mut structure = connection.prepare("PRAGMA integrity_check(20)")?;
    for line in structure.query_map([], |r| r.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            found.push(line);
        }
    }
    Ok(found)
}

/// Pages of the database in `dir` that fail their authentication, counted over the whole file: also where not even the
/// first one can be read. 0 when all pass, or when nobody can count.
pub fn failing_pages(dir: &Path, key: &[u8; 32]) -> u32 {
    // Without a single page there is nothing to count.
    if std::fs::metadata(dir.join(FILE)).map_or(0, |meta| meta.len()) < PAGE {
        return 0;
    }
    let count = || -> rusqlite::Result<u32> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(dir.join(FILE), flags)?;
        unlock(&connection, &key_pragma(key))?;
        let mut statement = connection.prepare("PRAGMA cipher_integrity_check")?;
        let mut lines = statement.query([])?;
        let mut failing = 0;
        while let Some(line) = lines.next()? {
            // One line for each page that fails; what is said of the file as a whole names none.
            failing += u32::from(line.get_ref(0)?.as_str().is_ok_and(|line| line.contains("page ")));
        }
        Ok(failing)
    };
    count().unwrap_or(0)
}

/// Digests of all files that records name.
pub fn named_blobs(connection: &Connection) -> StoreResult<Vec<[u8; 32]>> {
    let mut statement = connection.prepare("SELECT DISTINCT blob FROM named_blobs")?;
    let rows = statement.query_map([], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn key_pragma(key: &[u8; 32]) -> zeroize::Zeroizing<String> {
    zeroize::Zeroizing::new(format!("PRAGMA key = \"x'{}'\";", hex::encode(key)))
}

/// Hands the key over, and how the pages are made. Reads nothing.
fn unlock(connection: &Connection, key_pragma: &str) -> rusqlite::Result<()> {
    // SQLCipher would write its complaints about damaged pages to standard error.
    connection.execute_batch("PRAGMA cipher_log_level = NONE;")?;
    connection.execute_batch(key_pragma)?;
    // HMAC-SHA-256 instead of the default SHA-512: same strength for our use and several times faster with the
    // CPU's SHA extensions, which is what lets the erasure check read every page in under a second.
    connection.execute_batch(
        "PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256; PRAGMA cipher_memory_security = OFF;",
    )
}

fn connect(path: &Path, key_pragma: &str, create: bool) -> StoreResult<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = Connection::open_with_flags(path, flags)?;
    unlock(&connection, key_pragma)?;
    connection.execute_batch("PRAGMA temp_store = MEMORY;")?;
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get::<_, i64>(0))?;
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; \
             PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000; PRAGMA busy_timeout = 10000; PRAGMA trusted_schema = OFF;",
        )
        ?;
    crate::file_kind::register(&connection)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

fn migrate(connection: &mut Connection, dir: &Path) -> StoreResult<()> {
    let found: u32 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    if found > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema { found, known: SCHEMA_VERSION });
    }
    if found == SCHEMA_VERSION {
        // Left over when the program ended right after an upgrade. A folder that refuses is named by the next receipt.
        for older in 1..SCHEMA_VERSION {
            let _ = std::fs::remove_file(dir.join(format!("store.schema-{older}.db")));
        }
        return Ok(());
    }
    // An older vault is copied (still encrypted) before it is touched.
    let backup = (found > 0).then(|| dir.join(format!("store.schema-{found}.db")));
    if let Some(backup) = &backup {
        // What is only in the log yet belongs to the copy too.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        if let Err(error) = std::fs::copy(dir.join(FILE), backup) {
            let _ = std::fs::remove_file(backup);
            return Err(StoreError::io("backup before upgrade", error));
        }
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    for (index, step) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", index as u32 + 1)?;
    }
    transaction.commit()?;
    // The upgrade is whole. A copy that stayed would keep what is erased later.
    if let Some(backup) = backup {
        let _ = std::fs::remove_file(backup);
    }
    Ok(())
}
