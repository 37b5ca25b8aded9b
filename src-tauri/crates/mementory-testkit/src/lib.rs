//! Temporary vaults, fixtures, and a search for canary words. This crate is only for tests.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a test helper may stop the test")]

use mementory_crypto::{KdfChoice, VaultKeys, open_header};
use mementory_formats::{Catalog, FormatError, Sink, detect};
use mementory_model::{Limits, Record, Timestamp, Unit};
use mementory_vault::{ImportOptions, ImportReport, Vault, VaultResult};
use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

pub const PASSPHRASE: &str = "correct horse battery staple lamp";

/// The time `seconds` after 2026-11-21T09:00:00Z, so that tests do not depend on the current time.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((1_795_251_600 + seconds) * 1_000_000).unwrap()
}

/// A vault in a temporary folder. Its key derivation uses the lowest permitted cost, to keep tests fast.
pub struct TempVault {
    pub folder: tempfile::TempDir,
    pub vault: Vault,
}

impl TempVault {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (vault, _) =
            Vault::create(&folder.path().join("t.mementory"), PASSPHRASE, KdfChoice::Floor, at(0)).unwrap();
        Self { folder, vault }
    }

    /// Closes the vault and opens it again.
    pub fn reopen(self) -> Self {
        let Self { folder, vault } = self;
        drop(vault);
        let vault = Vault::open(&folder.path().join("t.mementory"), PASSPHRASE).unwrap();
        Self { folder, vault }
    }

    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("t.mementory")
    }

    /// Imports files.
    pub fn import(&self, paths: &[PathBuf]) -> VaultResult<ImportReport> {
        self.import_or_plan(paths, false)
    }

    /// Plans an import of files and returns its report. Writes nothing.
    pub fn plan(&self, paths: &[PathBuf]) -> VaultResult<ImportReport> {
        self.import_or_plan(paths, true)
    }

    fn import_or_plan(&self, paths: &[PathBuf], is_dry_run: bool) -> VaultResult<ImportReport> {
        let limits = Limits::default();
        let catalog = Catalog::open(paths, &limits, None).unwrap();
        let detection = detect(&catalog, &limits, None).unwrap();
        let cancel = AtomicBool::new(false);
        self.vault.importer().import(&catalog, &detection, &options(&cancel, is_dry_run))
    }

    /// Imports records that a test created.
    pub fn import_records(&self, records: Vec<Record>) -> VaultResult<ImportReport> {
        let cancel = AtomicBool::new(false);
        self.import_with(&options(&cancel, false), &move |sink| {
            records.iter().cloned().try_for_each(|r| sink.unit(Unit::from(r)))
        })
    }

    pub fn import_with(
        &self,
        options: &ImportOptions<'_>,
        read: &(dyn Fn(&mut dyn Sink) -> Result<(), FormatError> + Sync),
    ) -> VaultResult<ImportReport> {
        self.vault.importer().import_from("test", read, options)
    }

    /// The vault's keys, read from its header with the passphrase.
    pub fn keys(&self) -> VaultKeys {
        open_header(&self.dir(), PASSPHRASE).unwrap().1
    }

    /// A separate connection to the database, opened with the key from the header.
    pub fn database(&self) -> rusqlite::Connection {
        self.database_with(&self.keys())
    }

    fn database_with(&self, keys: &VaultKeys) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.dir().join("store.db")).unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA key = \"x'{}'\"; PRAGMA cipher_page_size = 8192; PRAGMA cipher_hmac_algorithm = HMAC_SHA256;",
                hex::encode(keys.store())
            ))
            .unwrap();
        connection
    }

    /// The number that a query returns.
    pub fn number(&self, sql: &str) -> i64 {
        self.database().query_row(sql, [], |r| r.get(0)).unwrap()
    }

    /// Writes `bytes` where SQLite may leave old cells: in the gap between the cell pointers and the cells of a table
    /// page. Only a search through whole pages finds bytes in such a gap.
    pub fn write_into_page_gap(&self, bytes: &[u8]) {
        let connection = self.database();
        let pages: i64 = connection.query_row("PRAGMA page_count", [], |r| r.get(0)).unwrap();
        for page in 2..=pages {
            let mut data: Vec<u8> =
                connection.query_row("SELECT data FROM sqlite_dbpage WHERE pgno = ?1", [page], |r| r.get(0)).unwrap();
            let u16_at = |at: usize| usize::from(u16::from_be_bytes([data[at], data[at + 1]]));
            let (gap, cells) = (8 + 2 * u16_at(3), u16_at(5));
            // A first byte of 13 marks a leaf page of a table. Its gap must have room for the bytes.
            if data[0] == 13 && u16_at(3) > 0 && cells > gap + bytes.len() + 64 {
                data[gap + 32..gap + 32 + bytes.len()].copy_from_slice(bytes);
                connection
                    .execute("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1", rusqlite::params![page, data])
                    .unwrap();
                return;
            }
        }
        panic!("no page has room");
    }

    /// All decrypted pages of the database, including free ones, followed by every pack in unpacked form.
    pub fn decrypted(&self) -> Vec<u8> {
        self.decrypted_with(&self.keys())
    }

    /// Like [`decrypted`](Self::decrypted), with keys that the caller has already derived.
    pub fn decrypted_with(&self, keys: &VaultKeys) -> Vec<u8> {
        let connection = self.database_with(keys);
        let mut out = Vec::new();
        let mut statement = connection.prepare("SELECT data FROM sqlite_dbpage").unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            out.extend(row.get::<_, Vec<u8>>(0).unwrap());
        }
        let mut statement = connection.prepare("SELECT data FROM packs").unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            out.extend(zstd::stream::decode_all(row.get::<_, Vec<u8>>(0).unwrap().as_slice()).unwrap());
        }
        out
    }
}

impl Default for TempVault {
    fn default() -> Self {
        Self::new()
    }
}

/// Import options with a fixed time.
pub fn options(cancel: &AtomicBool, dry_run: bool) -> ImportOptions<'_> {
    ImportOptions {
        dry_run,
        paths: &[],
        include_blocked: false,
        merge: None,
        forged: Default::default(),
        refuse_deletions: false,
        is_unchanged: None,
        dropped_signatures: Vec::new(),
        prior_warnings: &[],
        findings: &[],
        salvage: false,
        is_conversion: false,
        missing: &[],
        limits: Limits::default(),
        now: at(60),
        passphrase: None,
        cancel,
        progress: &|_, _, _, _| {},
    }
}

/// True if `haystack` contains `needle`.
pub fn contains_text(haystack: &[u8], needle: &str) -> bool {
    haystack.windows(needle.len()).any(|w| w == needle.as_bytes())
}

/// Files below `dir` whose raw bytes contain `needle` (in UTF-8 or UTF-16LE).
pub fn files_containing(dir: &Path, needle: &str) -> Vec<PathBuf> {
    let utf16_needle: Vec<u8> = needle.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut files = Vec::new();
    let mut pending = vec![dir.to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            if contains_text(&bytes, needle) || bytes.windows(utf16_needle.len()).any(|w| w == utf16_needle) {
                files.push(path);
            }
        }
    }
    files
}

/// Root folder of the repository, read from cargo's environment at run time: a test binary that was built in another
/// clone then uses the fixtures of the clone that runs it.
pub fn repo() -> PathBuf {
    let crate_folder = std::env::var_os("CARGO_MANIFEST_DIR").expect("run by cargo");
    Path::new(&crate_folder).join("../../..").canonicalize().unwrap()
}

/// Path of one of our own samples in `fixtures/samples`.
pub fn sample(name: &str) -> PathBuf {
    repo().join("fixtures/samples").join(name)
}
