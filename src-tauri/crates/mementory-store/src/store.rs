//! The SQLCipher database, which holds the authoritative state. It has one writer connection, several readers, and a
//! write-ahead log (WAL).
use crate::{
    StoreError, StoreResult,
    packs::Packs,
    wal::{self, PAGE_BYTES},
};
use rusqlite::{Connection, InterruptHandle, OpenFlags, Transaction};
use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Schema version that this program writes.
pub const SCHEMA_VERSION: u32 = 5;

/// Migrations, each applied in one transaction: `MIGRATIONS[n]` upgrades schema n to n + 1.
const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
];

/// File name of the database in the vault folder.
pub const DATABASE_FILE: &str = "store.db";

/// An open database.
pub struct Store {
    path: PathBuf,
    key_pragma: zeroize::Zeroizing<String>,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    /// True if a commit failed and could not be undone.
    unconfirmed: AtomicBool,
    /// Reads and rewrites record bodies.
    pub packs: Packs,
}

impl Store {
    /// Opens or creates the database with a raw 256-bit key. An older schema is upgraded.
    ///
    /// # Errors
    /// `Damaged` if the first page fails its check, or if `may_create` is false and the file is missing or shorter than
    /// a page; `NewerSchema`; an I/O error.
    pub fn open(dir: &Path, key: &[u8; 32], may_create: bool) -> StoreResult<Self> {
        let path = dir.join(DATABASE_FILE);
        if !may_create && !path.exists() {
            return Err(StoreError::Damaged(format!("{DATABASE_FILE} is not there")));
        }
        // SQLite would open a file shorter than a page as a new, empty database.
        if !may_create && std::fs::metadata(&path).is_ok_and(|m| m.len() < PAGE_BYTES) {
            return Err(StoreError::Damaged(format!("{DATABASE_FILE} is cut off")));
        }
        let key_pragma = key_pragma(key);
        let mut writer = connect(&path, &key_pragma, may_create)?;
        migrate(&mut writer, dir)?;
        Ok(Self {
            path,
            key_pragma,
            writer: Mutex::new(writer),
            readers: Mutex::new(Vec::new()),
            unconfirmed: AtomicBool::new(false),
            packs: Packs::default(),
        })
    }

    /// Runs `f` in one write transaction. If there is an error, everything is rolled back.
    ///
    /// # Errors
    /// Errors of `f` and of the database; `Unconfirmed` if it is unknown whether the commit is on disk. After that,
    /// every transaction fails with `Unconfirmed`.
    pub fn write<T>(&self, f: impl FnOnce(&Transaction<'_>) -> StoreResult<T>) -> StoreResult<T> {
        self.transact(&mut self.writer(), f, || Ok(()))
    }

    /// Like [`write`](Self::write), but stops when `cancel` is set, even in the middle of a statement. Once the commit
    /// has begun, it is completed.
    ///
    /// # Errors
    /// `Cancelled`, after everything was rolled back; errors of [`write`](Self::write).
    pub fn write_until<T>(
        &self,
        cancel: &AtomicBool,
        f: impl FnOnce(&Transaction<'_>) -> StoreResult<T>,
    ) -> StoreResult<T> {
        let mut connection = self.writer();
        let interrupt = connection.get_interrupt_handle();
        run_interruptible(cancel, &interrupt, |end| {
            self.transact(&mut connection, f, || {
                end();
                if cancel.load(Ordering::Relaxed) { Err(StoreError::Cancelled) } else { Ok(()) }
            })
        })
    }

    fn transact<T>(
        &self,
        connection: &mut Connection,
        f: impl FnOnce(&Transaction<'_>) -> StoreResult<T>,
        before_commit: impl FnOnce() -> StoreResult<()>,
    ) -> StoreResult<T> {
        if self.is_unconfirmed() {
            return Err(StoreError::Unconfirmed);
        }
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let value = f(&transaction).and_then(|value| before_commit().map(|()| value));
        match value {
            Ok(value) => {
                if let Err(error) = transaction.commit() {
                    self.packs.clear_cache();
                    return Err(self.undo_failed_commit(connection, error));
                }
                self.packs.after_commit();
                Ok(value)
            }
            Err(error) => {
                drop(transaction);
                self.packs.clear_cache();
                Err(error)
            }
        }
    }

    /// True if a commit failed whose change may still be present when the database is opened again.
    pub fn is_unconfirmed(&self) -> bool {
        self.unconfirmed.load(Ordering::Relaxed)
    }

    /// Removes the frames of a failed commit from the write-ahead log. Returns the error to report.
    fn undo_failed_commit(&self, connection: &Connection, error: rusqlite::Error) -> StoreError {
        match wal::remove_uncommitted(connection, &wal::path(&self.path)) {
            Ok(()) => error.into(),
            Err(_) => {
                self.unconfirmed.store(true, Ordering::Relaxed);
                StoreError::Unconfirmed
            }
        }
    }

    /// Runs `f` on a new reader connection. When `cancel` is set, a running statement is interrupted.
    ///
    /// # Errors
    /// `Cancelled`; errors of `f`.
    pub fn read_until<T>(&self, cancel: &AtomicBool, f: impl FnOnce(&Connection) -> StoreResult<T>) -> StoreResult<T> {
        let connection = self.new_reader()?;
        let interrupt = connection.get_interrupt_handle();
        run_interruptible(cancel, &interrupt, |_| f(&connection))
    }

    /// The writer connection, for statements that cannot run inside a transaction (checkpoint).
    pub fn writer(&self) -> MutexGuard<'_, Connection> {
        // If a write panics, rusqlite rolls its transaction back when dropping it, so the connection can still be used.
        self.writer.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Runs `f` on a reader connection, which sees the last committed state.
    pub fn read<T>(&self, f: impl FnOnce(&Connection) -> StoreResult<T>) -> StoreResult<T> {
        let pooled = self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop();
        let connection = match pooled {
            Some(connection) => connection,
            None => self.new_reader()?,
        };
        let value = f(&connection);
        let mut pool = self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if pool.len() < 3 {
            pool.push(connection);
        }
        value
    }

    /// A new read-only connection outside the pool, for callers such as the erasure check that need a separate one.
    pub fn new_reader(&self) -> StoreResult<Connection> {
        let connection = connect(&self.path, &self.key_pragma, false)?;
        connection.execute_batch("PRAGMA query_only=ON; PRAGMA cache_size=-8000;")?;
        Ok(connection)
    }

    /// Closes the pooled readers, so that a checkpoint can truncate the write-ahead log.
    pub fn close_readers(&self) {
        self.readers.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }

    /// Moves the write-ahead log into the database and truncates it to zero bytes. True if both succeeded completely.
    pub fn checkpoint(&self) -> StoreResult<bool> {
        self.close_readers();
        let busy: i64 = self.writer().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |r| r.get(0))?;
        Ok(busy == 0)
    }

    /// Number of the last change in the change log, or 0.
    pub fn last_change(connection: &Connection) -> StoreResult<u64> {
        let seq: Option<i64> = connection.query_row("SELECT max(seq) FROM changes", [], |r| r.get(0))?;
        Ok(u64::try_from(seq.unwrap_or(0)).unwrap_or(0))
    }

    /// Size of the database and its write-ahead log in bytes.
    pub fn bytes(&self) -> u64 {
        [&self.path, &wal::path(&self.path)].iter().filter_map(|p| std::fs::metadata(p).ok()).map(|m| m.len()).sum()
    }
}

/// Problems found in the database's pages: first those that fail their authentication, then structural errors.
pub fn page_problems(connection: &Connection) -> StoreResult<Vec<String>> {
    let mut problems = Vec::new();
    let mut hmac = connection.prepare("PRAGMA cipher_integrity_check")?;
    for line in hmac.query_map([], |r| r.get::<_, String>(0))? {
        problems.push(line?);
    }
    let mut structure = connection.prepare("PRAGMA integrity_check(20)")?;
    for line in structure.query_map([], |r| r.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            problems.push(line);
        }
    }
    Ok(problems)
}

/// Number of pages of the database in `dir` that fail their authentication. Works even if the first page cannot be
/// read. Returns 0 if all pages pass or cannot be counted.
pub fn failing_pages(dir: &Path, key: &[u8; 32]) -> u32 {
    // A file shorter than a page has no page to count.
    if std::fs::metadata(dir.join(DATABASE_FILE)).map_or(0, |meta| meta.len()) < PAGE_BYTES {
        return 0;
    }
    let count = || -> rusqlite::Result<u32> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(dir.join(DATABASE_FILE), flags)?;
        unlock(&connection, &key_pragma(key))?;
        let mut statement = connection.prepare("PRAGMA cipher_integrity_check")?;
        let mut lines = statement.query([])?;
        let mut failing = 0;
        while let Some(line) = lines.next()? {
            // There is one line for each failing page. Lines about the file as a whole contain no page number.
            failing += u32::from(line.get_ref(0)?.as_str().is_ok_and(|line| line.contains("page ")));
        }
        Ok(failing)
    };
    count().unwrap_or(0)
}

/// Digests of all blobs in use.
pub fn blobs_in_use(connection: &Connection) -> StoreResult<Vec<[u8; 32]>> {
    let mut statement = connection.prepare("SELECT DISTINCT blob FROM named_blobs")?;
    let rows = statement.query_map([], |r| r.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn key_pragma(key: &[u8; 32]) -> zeroize::Zeroizing<String> {
    let digits = zeroize::Zeroizing::new(hex::encode(key));
    zeroize::Zeroizing::new(format!("PRAGMA key = \"x'{}'\";", digits.as_str()))
}

/// Passes the key and the page parameters to SQLCipher. Does not read the file.
fn unlock(connection: &Connection, key_pragma: &str) -> rusqlite::Result<()> {
    // Stops SQLCipher from writing messages about damaged pages to standard error.
    connection.execute_batch("PRAGMA cipher_log_level = NONE;")?;
    connection.execute_batch(key_pragma)?;
    // The default would be HMAC-SHA-512. HMAC-SHA-256 is as strong for this use, and several times faster with the
    // CPU's SHA extensions, so the erasure check can read every page in under a second.
    connection.execute_batch(
        "PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256; PRAGMA cipher_memory_security = OFF;",
    )
}

fn connect(path: &Path, key_pragma: &str, may_create: bool) -> StoreResult<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if may_create {
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
    let schema_version: u32 = connection.query_row("PRAGMA user_version", [], |r| r.get(0))?;
    if schema_version > SCHEMA_VERSION {
        return Err(StoreError::NewerSchema { found: schema_version, known: SCHEMA_VERSION });
    }
    if schema_version == SCHEMA_VERSION {
        // If the program ended right after an upgrade, the copy made before the upgrade is still there. If it cannot be
        // removed, the next receipt lists it.
        for older in 1..SCHEMA_VERSION {
            let _ = std::fs::remove_file(dir.join(format!("store.schema-{older}.db")));
        }
        return Ok(());
    }
    // Before an older vault is changed, its database is copied. The copy is encrypted too.
    let backup = (schema_version > 0).then(|| dir.join(format!("store.schema-{schema_version}.db")));
    if let Some(backup) = &backup {
        // Changes that are still in the write-ahead log must be in the copy too.
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        if let Err(error) = std::fs::copy(dir.join(DATABASE_FILE), backup) {
            let _ = std::fs::remove_file(backup);
            return Err(StoreError::io("backup before upgrade", error));
        }
    }
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
    for (index, step) in MIGRATIONS.iter().enumerate().skip(schema_version as usize) {
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", index as u32 + 1)?;
    }
    transaction.commit()?;
    // The upgrade is committed. The copy is removed, because it would still contain records that are erased later.
    if let Some(backup) = backup {
        let _ = std::fs::remove_file(backup);
    }
    Ok(())
}

/// Time between two checks for cancellation.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Runs `work`, and interrupts its database statements once `cancel` is set. `work` receives a function to call when it
/// must no longer be interrupted, for example before a commit. A database error after `cancel` was set is returned as
/// `Cancelled`.
fn run_interruptible<T>(
    cancel: &AtomicBool,
    interrupt: &InterruptHandle,
    work: impl FnOnce(&dyn Fn()) -> StoreResult<T>,
) -> StoreResult<T> {
    let ended = Mutex::new(false);
    let result = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !*ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner) {
                std::thread::park_timeout(CANCEL_CHECK_INTERVAL);
                // `end` waits for this lock, so a commit is never interrupted.
                let ended = ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if !*ended && cancel.load(Ordering::Relaxed) {
                    interrupt.interrupt();
                }
            }
        });
        let end = || {
            *ended.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
            watcher.thread().unpark();
        };
        let result = work(&end);
        end();
        result
    });
    match result {
        Err(StoreError::Store(_)) if cancel.load(Ordering::Relaxed) => Err(StoreError::Cancelled),
        other => other,
    }
}
