//! Marks a vault that holds only invented records, so that the window can say so and delete the whole vault.
use crate::{VaultError, VaultResult, context::Context, erasure_ledger::LEDGER_FILE, meta};
use mementory_crypto::HEADER_FILE;
use mementory_store as store;
use std::{
    fs::{File, TryLockError},
    io::ErrorKind,
    path::Path,
};

/// Key of the mark in the table `meta`. Its value is the list of the imports that filled the vault.
const META_KEY: &str = "demonstration";

/// Numbers of imports and records that the person added to a demonstration vault after it was marked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OwnContent {
    /// Number of imports that were not undone.
    pub imports: usize,
    /// Number of records that no import added: memories that the person wrote, and suggestions that they accepted.
    pub written: usize,
    /// Number of imported records that have a version which no import wrote.
    pub edited: usize,
}

impl OwnContent {
    /// True if the person added nothing to the demonstration vault.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// Reads and sets the mark of a demonstration vault.
#[derive(Clone, Copy)]
pub struct Demonstration<'v> {
    context: &'v Context,
}

impl<'v> Demonstration<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Demonstration<'_> {
    /// Marks the vault as a demonstration that these imports filled.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn mark(&self, batches: &[String]) -> VaultResult<()> {
        let text = serde_json::to_string(batches).unwrap_or_default();
        self.context.store.write(|tx| meta::write(tx, META_KEY, &text))
    }

    /// Returns the imports that filled a demonstration. None for any other vault.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn batches(&self) -> VaultResult<Option<Vec<String>>> {
        self.context.store.read(|connection| {
            let text: Option<String> = meta::read(connection, META_KEY)?;
            // A damaged list still marks a demonstration. In that case every import counts as the person's own.
            Ok(text.map(|text| serde_json::from_str(&text).unwrap_or_default()))
        })
    }

    /// Counts the imports and records that the person added after the vault was marked. Returns None for a vault that
    /// is not a demonstration. When the vault was marked, each of its versions came from an import that the mark lists,
    /// so any other version is the person's.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn own_content(&self) -> VaultResult<Option<OwnContent>> {
        let Some(sample_batches) = self.batches()? else { return Ok(None) };
        self.context.store.read(|connection| {
            let mut statement = connection.prepare("SELECT uid FROM batches WHERE undone_at IS NULL")?;
            let mut imports = 0;
            for uid in statement.query_map([], |row| row.get::<_, String>(0))? {
                imports += usize::from(!sample_batches.contains(&uid?));
            }
            let count = |condition: &str| -> VaultResult<usize> {
                let sql = format!("SELECT count(*) FROM records r WHERE {condition}");
                let count: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
                Ok(usize::try_from(count).unwrap_or(usize::MAX))
            };
            let written = count("r.batch IS NULL")?;
            let edited = count(
                "r.batch IS NOT NULL AND (r.version_batch IS NULL \
                 OR EXISTS (SELECT 1 FROM versions v WHERE v.row = r.row AND v.batch IS NULL))",
            )?;
            Ok(Some(OwnContent { imports, written, edited }))
        })
    }
}

/// Names of all files and folders of a vault, in the order of their deletion. The header comes first, because without
/// it the folder is no longer a vault.
const VAULT_ENTRIES: [&str; 8] =
    [HEADER_FILE, store::DATABASE_FILE, "store.db-wal", "store.db-shm", "index", "blobs", LEDGER_FILE, "lock"];

/// Deletes the files of a closed vault, and its folder if nothing else is in it. Other files stay.
///
/// # Errors
/// `InUse` if a process has the vault open, I/O.
pub fn remove_vault(dir: &Path) -> VaultResult<()> {
    let lock = match File::open(dir.join("lock")) {
        Ok(lock) => Some(lock),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(VaultError::io("lock", error)),
    };
    if let Some(lock) = &lock
        && matches!(lock.try_lock(), Err(TryLockError::WouldBlock))
    {
        return Err(VaultError::InUse);
    }
    for name in VAULT_ENTRIES {
        let path = dir.join(name);
        let removed = match path.symlink_metadata() {
            Ok(found) if found.is_dir() => std::fs::remove_dir_all(&path),
            Ok(_) => std::fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(VaultError::io(name, error)),
            _ => {}
        }
    }
    // `remove_dir` fails if the folder contains other files, so these files stay.
    let _ = std::fs::remove_dir(dir);
    Ok(())
}
