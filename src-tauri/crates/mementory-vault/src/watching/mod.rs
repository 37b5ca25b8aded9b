//! Watched folders: their paths, the files seen in them, and offers that wait for an answer. Paths and names are
//! personal, so this information is stored in the vault. Files are identified by a keyed hash of their name. A name is
//! stored only while its file is offered.
mod folder;
mod settle;

pub use folder::{CandidateFile, FileStamp, FolderListing, MAX_FILES_PER_FOLDER, list_folder};
pub use settle::{QUIET_PERIOD, UnsettledFiles};

use crate::{VaultError, VaultResult, context::Context, meta};
use mementory_crypto::keyed_digest;
use mementory_model::Timestamp;
use mementory_store::audit;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::{collections::HashMap, path::Path};

/// Maximum number of watched folders.
pub(crate) const MAX_FOLDERS: usize = 50;
/// Key of the list of folders in `meta`.
const FOLDERS_KEY: &str = "watched";
/// Prefix of the keys `seen/<folder>/<name>` in `meta`, one for each file.
const SEEN_PREFIX: &str = "seen/";
/// Prefix of the keys `content/<digest>` in `meta`, one for each file content that is not offered again.
const CONTENT_PREFIX: &str = "content/";

/// How a new export in the folder is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The export is offered for import.
    Ask,
    /// The export is imported automatically.
    Own,
    /// The folder is not read.
    Paused,
}

impl Mode {
    /// Returns the stable name of the mode.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Ask => "ask",
            Mode::Own => "own",
            Mode::Paused => "paused",
        }
    }
}

/// The latest export that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatestExport {
    /// Name of the file.
    pub name: String,
    /// When the export was found, in microseconds since 1970.
    pub at: i64,
}

/// A watched folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Id of the folder in this vault.
    pub id: String,
    /// Absolute path of the folder.
    pub path: String,
    /// How a new export is handled.
    pub mode: Mode,
    /// Latest export found in the folder; None if there was none.
    pub last: Option<LatestExport>,
}

/// An export that was found in a watched folder and waits for the person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Name of the file.
    pub name: String,
    /// Format id; None while the file is encrypted.
    pub format: Option<String>,
    /// Keyed digest of the content of the file.
    pub digest: String,
    /// When the export was found, in microseconds since 1970.
    pub at: i64,
}

/// Stored information about a file that was seen in a watched folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    /// Size and time of the last change. A file whose stamp has changed is read again.
    #[serde(flatten)]
    pub stamp: FileStamp,
    /// The offer. None if it was answered or the file is not an export.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offer: Option<Offer>,
}

/// An offer that waits for an answer, with its folder and file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingOffer {
    /// Id of the offer in this vault.
    pub id: String,
    /// Id of the folder.
    pub folder: String,
    /// Size of the file and time of its last change.
    pub stamp: FileStamp,
    /// The offered export.
    pub offer: Offer,
}

fn load_folders(connection: &Connection) -> VaultResult<Vec<Folder>> {
    Ok(meta::read_json(connection, FOLDERS_KEY)?.unwrap_or_default())
}

fn save_folders(tx: &Connection, folders: &[Folder]) -> VaultResult<()> {
    meta::write_json(tx, FOLDERS_KEY, &folders)
}

/// Returns all keys that begin with `prefix`, which ends in a slash, with their values.
fn entries_with_prefix(connection: &Connection, prefix: &str) -> VaultResult<Vec<(String, String)>> {
    let mut statement = connection.prepare_cached("SELECT key, value FROM meta WHERE key >= ?1 AND key < ?2")?;
    let rows = statement.query_map([prefix, &end_of_prefix(prefix)], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the first key after all keys that begin with `prefix`. `prefix` ends in `/`, and `0` is the character after
/// `/`.
fn end_of_prefix(prefix: &str) -> String {
    format!("{}0", prefix.trim_end_matches('/'))
}

fn not_found_error(id: &str) -> VaultError {
    VaultError::NotFound { id: id.to_owned(), erased: false }
}

/// Reads and changes the folders that are watched for exports.
#[derive(Clone, Copy)]
pub struct WatchedFolders<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> WatchedFolders<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl WatchedFolders<'_> {
    /// Returns the watched folders, in the order in which they were added.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn folders(&self) -> VaultResult<Vec<Folder>> {
        self.context.store.read(load_folders)
    }

    /// Watches a folder and asks before each import. Files that are already in the folder count as seen. A folder that
    /// is already watched is not changed.
    ///
    /// # Errors
    /// `Usage` if there are too many folders; errors of the store.
    pub fn watch(&self, path: &Path, present: &[CandidateFile], now: Timestamp) -> VaultResult<()> {
        let path = path.display().to_string();
        self.context.store.write(|tx| {
            let mut folders = load_folders(tx)?;
            if folders.iter().any(|folder| folder.path == path) {
                return Ok(());
            }
            if folders.len() >= MAX_FOLDERS {
                return Err(VaultError::Usage(format!("At most {MAX_FOLDERS} folders can be watched.")));
            }
            let id = self.keyed_id("folder", &[path.as_bytes(), &now.as_micros().to_le_bytes()]);
            for file in present {
                self.save_seen_file(tx, &id, &file.name, &SeenFile { stamp: file.stamp, offer: None })?;
            }
            audit::append(tx, &self.context.keys, now, "watch", &id, Mode::Ask.as_str())?;
            folders.push(Folder { id, path, mode: Mode::Ask, last: None });
            save_folders(tx, &folders)
        })
    }

    /// Changes the mode of a folder.
    ///
    /// # Errors
    /// `NotFound`; errors of the store.
    pub fn set_mode(&self, id: &str, mode: Mode, now: Timestamp) -> VaultResult<()> {
        self.context.store.write(|tx| {
            let mut folders = load_folders(tx)?;
            let folder = folders.iter_mut().find(|folder| folder.id == id).ok_or_else(|| not_found_error(id))?;
            if folder.mode == mode {
                return Ok(());
            }
            folder.mode = mode;
            save_folders(tx, &folders)?;
            audit::append(tx, &self.context.keys, now, "watch", id, mode.as_str())
        })
    }

    /// Stops watching a folder and forgets the files seen in it. The folder itself is not changed.
    ///
    /// # Errors
    /// `NotFound`; errors of the store.
    pub fn unwatch(&self, id: &str, now: Timestamp) -> VaultResult<()> {
        self.context.store.write(|tx| {
            let mut folders = load_folders(tx)?;
            let previous_count = folders.len();
            folders.retain(|folder| folder.id != id);
            if folders.len() == previous_count {
                return Err(not_found_error(id));
            }
            save_folders(tx, &folders)?;
            let prefix = format!("{SEEN_PREFIX}{id}/");
            tx.execute("DELETE FROM meta WHERE key >= ?1 AND key < ?2", [&prefix, &end_of_prefix(&prefix)])?;
            audit::append(tx, &self.context.keys, now, "unwatch", id, "")
        })
    }

    /// Returns the files seen in a folder, by [`WatchedFolders::seen_key`].
    ///
    /// # Errors
    /// Errors of the store.
    pub fn seen(&self, folder: &str) -> VaultResult<HashMap<String, SeenFile>> {
        let rows = self.context.store.read(|c| entries_with_prefix(c, &format!("{SEEN_PREFIX}{folder}/")))?;
        Ok(rows.into_iter().filter_map(|(key, value)| Some((key, serde_json::from_str(&value).ok()?))).collect())
    }

    /// Returns the key under which a file in a folder is stored.
    pub fn seen_key(&self, folder: &str, name: &str) -> String {
        format!("{SEEN_PREFIX}{folder}/{}", self.keyed_id("name", &[folder.as_bytes(), name.as_bytes()]))
    }

    /// Stores the files seen in a folder; `last` is the latest export among them. Stores nothing for a folder that is
    /// not watched any more.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn record_seen(
        &self,
        folder: &str,
        files: &[(String, SeenFile)],
        last: Option<LatestExport>,
    ) -> VaultResult<()> {
        self.context.store.write(|tx| {
            let mut folders = load_folders(tx)?;
            let Some(known) = folders.iter_mut().find(|known| known.id == folder) else { return Ok(()) };
            for (name, seen) in files {
                self.save_seen_file(tx, folder, name, seen)?;
            }
            if last.is_some() {
                known.last = last;
                save_folders(tx, &folders)?;
            }
            Ok(())
        })
    }

    /// Removes the entries with these keys, whose files no longer exist.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn forget_seen(&self, keys: &[String]) -> VaultResult<()> {
        self.context.store.write(|tx| {
            let mut statement = tx.prepare_cached("DELETE FROM meta WHERE key = ?1")?;
            for key in keys.iter().filter(|key| key.starts_with(SEEN_PREFIX)) {
                statement.execute([key])?;
            }
            Ok(())
        })
    }

    /// Returns the offers that wait for an answer, the latest first.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn offers(&self) -> VaultResult<Vec<PendingOffer>> {
        // Only a few of thousands of files are offered, so the query selects only those.
        let rows: Vec<(String, String)> = self.context.store.read(|c| {
            let sql = "SELECT key, value FROM meta WHERE key >= ?1 AND key < ?2 AND instr(value, '\"offer\"') > 0";
            let mut statement = c.prepare_cached(sql)?;
            let rows =
                statement.query_map([SEEN_PREFIX, &end_of_prefix(SEEN_PREFIX)], |r| Ok((r.get(0)?, r.get(1)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let mut waiting: Vec<PendingOffer> = rows
            .into_iter()
            .filter_map(|(id, value)| {
                let folder = id.strip_prefix(SEEN_PREFIX)?.split('/').next()?.to_owned();
                let seen: SeenFile = serde_json::from_str(&value).ok()?;
                Some(PendingOffer { folder, stamp: seen.stamp, offer: seen.offer?, id })
            })
            .collect();
        waiting.sort_by(|a, b| b.offer.at.cmp(&a.offer.at).then_with(|| a.offer.name.cmp(&b.offer.name)));
        Ok(waiting)
    }

    /// Marks an offer as answered. Neither its file nor another file with the same content is offered again.
    ///
    /// # Errors
    /// `NotFound`; errors of the store.
    pub fn answer(&self, id: &str) -> VaultResult<()> {
        let waiting = self.offers()?;
        let Some(answered) = waiting.iter().find(|each| each.id == id) else { return Err(not_found_error(id)) };
        self.context.store.write(|tx| {
            meta::write(tx, &format!("{CONTENT_PREFIX}{}", answered.offer.digest), "1")?;
            for same in waiting.iter().filter(|each| each.offer.digest == answered.offer.digest) {
                let seen = SeenFile { stamp: same.stamp, offer: None };
                meta::write_json(tx, &same.id, &seen)?;
            }
            Ok(())
        })
    }

    /// Returns the keyed digest that identifies the content of a file, made from the content's SHA-256 and a key of the
    /// vault.
    pub fn content_digest(&self, sha256: &str) -> String {
        self.keyed_id("content", &[sha256.as_bytes()])
    }

    /// True if an offer of this content was answered, or the content was imported by hand or exported by this vault.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn is_known_content(&self, digest: &str) -> VaultResult<bool> {
        let key = format!("{CONTENT_PREFIX}{digest}");
        self.context.store.read(|c| Ok(c.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.exists([&key])?))
    }

    /// Marks content that was imported by hand or exported by this vault. It is never offered.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn mark_known(&self, digest: &str) -> VaultResult<()> {
        self.context.store.write(|tx| meta::write(tx, &format!("{CONTENT_PREFIX}{digest}"), "1"))
    }

    fn save_seen_file(&self, tx: &Connection, folder: &str, name: &str, seen: &SeenFile) -> VaultResult<()> {
        meta::write_json(tx, &self.seen_key(folder, name), seen)
    }

    fn keyed_id(&self, purpose: &str, parts: &[&[u8]]) -> String {
        let mut all: Vec<&[u8]> = vec![b"watching", purpose.as_bytes()];
        all.extend(parts);
        let digest = keyed_digest(self.context.keys.fingerprints(), &all);
        hex::encode(&digest[..16])
    }
}
