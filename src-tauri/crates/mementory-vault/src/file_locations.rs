//! Stores the paths of imported files and of exports, so that the window can show them, and the messages of failed
//! imports. Paths and messages are not in the audit log, because the log is part of Evidence Packs.
use crate::{VaultError, VaultResult, context::Context, meta, word_removal::Removal};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

const META_KEY: &str = "whereabouts";
/// Maximum number of entries in each map of [`KnownLocations`]. Above this number, the oldest entries are removed.
const MAX_ENTRIES: usize = 200;
/// Number of bytes at the beginning of an erased text that are searched for in paths. A path that contains these bytes
/// is removed, because the check after a deletion searches for the beginnings of texts too.
const HEAD_BYTES: usize = 48;
/// Words of fewer bytes are ignored, since they could be in any path.
const MIN_WORD_BYTES: usize = 5;

/// The known paths of exports, imports and failed imports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLocations {
    /// Path of each export, by the number of its log entry.
    pub exports: BTreeMap<i64, String>,
    /// Time (in microseconds since 1970) and paths of each import, by batch.
    pub imports: BTreeMap<String, (i64, Vec<String>)>,
    /// Failed imports, by the number of their log entry.
    #[serde(default)]
    pub failed: BTreeMap<i64, FailedImport>,
}

/// A failed import: where its files were, and the error message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FailedImport {
    /// Paths of the files. Empty for a pasted text.
    pub paths: Vec<String>,
    pub code: String,
    pub message: String,
    pub details: BTreeMap<String, String>,
}

impl KnownLocations {
    /// Reads the stored paths. A value that cannot be read counts as empty, because the paths are only a convenience,
    /// and no import, export or deletion should fail for them.
    fn read(connection: &Connection) -> VaultResult<Self> {
        match meta::read_json(connection, META_KEY) {
            Err(VaultError::Damaged(_)) => Ok(Self::default()),
            read => Ok(read?.unwrap_or_default()),
        }
    }

    fn write(&mut self, tx: &Connection) -> VaultResult<()> {
        while self.exports.len() > MAX_ENTRIES {
            self.exports.pop_first();
        }
        while self.failed.len() > MAX_ENTRIES {
            self.failed.pop_first();
        }
        while self.imports.len() > MAX_ENTRIES {
            let oldest = self.imports.iter().min_by_key(|(_, (at, _))| *at).map(|(batch, _)| batch.clone());
            self.imports.remove(&oldest.unwrap_or_default());
        }
        meta::write_json(tx, META_KEY, self)
    }
}

/// Stores the path of an export under the number of the last log entry, which describes this export.
pub(crate) fn store_export_path(tx: &Connection, out: &Path) -> VaultResult<()> {
    let Some(path) = std::path::absolute(out).ok().and_then(|path| path.to_str().map(str::to_owned)) else {
        return Ok(());
    };
    let seq = tx.query_row("SELECT max(seq) FROM audit", [], |r| r.get(0))?;
    let mut all = KnownLocations::read(tx)?;
    all.exports.insert(seq, path);
    all.write(tx)
}

/// Stores the paths of the files of an import.
pub(crate) fn store_import_paths(tx: &Connection, batch: &str, at: i64, paths: &[String]) -> VaultResult<()> {
    let paths = absolute_paths(paths);
    if paths.is_empty() {
        return Ok(());
    }
    let mut all = KnownLocations::read(tx)?;
    all.imports.insert(batch.to_owned(), (at, paths));
    all.write(tx)
}

fn absolute_paths(paths: &[String]) -> Vec<String> {
    let absolute = paths.iter().filter_map(|path| std::path::absolute(path).ok());
    absolute.filter_map(|path| path.to_str().map(str::to_owned)).collect()
}

/// Deletes the stored paths that contain erased words, or for which `is_named` returns true because they contain the
/// name of an erased record. Also deletes failed imports whose message or details contain such words or names.
pub(crate) fn forget(tx: &Connection, removal: &Removal, is_named: &dyn Fn(&str) -> bool) -> VaultResult<()> {
    if meta::read::<String>(tx, META_KEY)?.is_none() {
        return Ok(());
    }
    let mut all = KnownLocations::read(tx)?;
    let is_erased = |path: &str| {
        is_named(path) || removal.text(path).is_some() || removal.words().any(|word| path_contains(word, path))
    };
    all.exports.retain(|_, path| !is_erased(path));
    // Message and details of a failed import can name the file and places in it.
    all.failed.retain(|_, failed| {
        let texts = failed.details.values().chain(&failed.paths).chain([&failed.message]);
        !texts.into_iter().any(|text| is_erased(text))
    });
    all.imports.retain(|_, (_, paths)| !paths.iter().any(|path| is_erased(path)));
    // Write them even if nothing was removed, since a value that cannot be read may contain erased words.
    all.write(tx)
}

fn path_contains(word: &str, path: &str) -> bool {
    let head = word.get(..word.floor_char_boundary(HEAD_BYTES)).unwrap_or(word);
    head.len() >= MIN_WORD_BYTES && path.contains(head)
}

/// Reads and stores the paths of imports and exports.
#[derive(Clone, Copy)]
pub struct FileLocations<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> FileLocations<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl FileLocations<'_> {
    /// Returns all known paths.
    pub fn all(&self) -> VaultResult<KnownLocations> {
        self.context.store.read(KnownLocations::read)
    }

    /// Logs a failed import: its format, if it is known, and the code of the error. File names and the message are
    /// stored outside the log.
    pub fn record_failed_import(
        &self,
        format: &str,
        mut failed: FailedImport,
        now: mementory_model::Timestamp,
    ) -> VaultResult<()> {
        failed.paths = absolute_paths(&failed.paths);
        self.context.store.write(|tx| {
            mementory_store::audit::append(tx, &self.context.keys, now, "import_failed", format, &failed.code)?;
            let seq = tx.query_row("SELECT max(seq) FROM audit", [], |r| r.get(0))?;
            let mut all = KnownLocations::read(tx)?;
            all.failed.insert(seq, failed);
            all.write(tx)
        })
    }

    /// Logs an export whose text was copied to the clipboard without writing a file.
    pub fn record_copied_text(&self, format: &str, detail: &str, now: mementory_model::Timestamp) -> VaultResult<()> {
        self.context
            .store
            .write(|tx| mementory_store::audit::append(tx, &self.context.keys, now, "export", format, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_matches_the_beginning_of_long_words() {
        assert!(path_contains("about-me", "/home/ines/about-me.md"));
        assert!(!path_contains("me", "/home/ines/about-me.md"), "too short to tell anything");
        let long_text = format!("{}and so on", "ä".repeat(24));
        assert!(path_contains(&long_text, &format!("/home/{}.md", "ä".repeat(24))));
    }

    #[test]
    fn the_oldest_entries_are_removed_first() {
        let mut all = KnownLocations::default();
        for n in 0..=MAX_ENTRIES as i64 {
            all.exports.insert(n, "x".into());
            all.failed.insert(n, FailedImport::default());
            all.imports.insert(format!("{:03}", 999 - n), (n, Vec::new()));
        }
        let database = Connection::open_in_memory().and_then(|c| {
            c.execute_batch("CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID").map(|()| c)
        });
        assert!(database.is_ok_and(|c| all.write(&c).is_ok()));
        assert!(!all.exports.contains_key(&0) && all.exports.len() == MAX_ENTRIES);
        assert!(!all.failed.contains_key(&0) && all.failed.len() == MAX_ENTRIES);
        assert!(!all.imports.contains_key("999") && all.imports.contains_key("998"));
    }
}
