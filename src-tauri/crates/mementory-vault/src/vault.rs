//! One vault: create, open, check, close. How store and index are kept in step stands in `in_step`.
mod in_step;

pub use in_step::{IndexFault, IndexWatch};

use crate::{VaultError, VaultResult};
use in_step::fresh_index;
use mementory_crypto::{
    Header, KdfChoice, RecoveryCode, VaultKeys, change_passphrase, create_header, new_recovery_code, open_header,
};
use mementory_erasure_check::{ErasureCheck, Evidence};
use mementory_model::{Kind, Record, Timestamp};
use mementory_search::{IndexDoc, IndexError, SearchIndex};
use mementory_store::{RowView, Store, blobs::Blobs, named_blobs, page_problems};
use rusqlite::OptionalExtension;
use std::{
    collections::{HashMap, HashSet},
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Mutex, RwLock,
        atomic::{AtomicBool, Ordering},
    },
};
use zeroize::Zeroizing;

/// How the index was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// In step with the store.
    Current,
    /// It was missing, stale or damaged and was made anew from the store.
    Rebuilt,
}

/// One place of an integrity check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedPlace {
    /// `header`, `pages`, `index`, `blobs`, `audit`, `references`, `packs`.
    pub place: &'static str,
    /// Passed.
    pub ok: bool,
    /// What was looked at, or what is wrong.
    pub detail: String,
}

/// An open vault. Dropping it zeroizes the keys and releases the lock.
pub struct Vault {
    dir: PathBuf,
    header: Mutex<Header>,
    pub(crate) keys: VaultKeys,
    pub(crate) store: Store,
    pub(crate) blobs: Blobs,
    index: RwLock<SearchIndex>,
    index_state: Mutex<IndexState>,
    index_fault: Mutex<Option<IndexFault>>,
    index_behind: AtomicBool,
    pub(crate) standings: Mutex<crate::provider::Kept>,
    /// What deletions that are not complete left to look for. In memory only: it goes when the vault is locked.
    pub(crate) unproven: Mutex<HashMap<String, Evidence>>,
    _lock: File,
}

impl Vault {
    /// Creates a vault in `dir`, which must not exist or be empty.
    ///
    /// # Errors
    /// `Exists`, I/O.
    pub fn create(dir: &Path, passphrase: &str, kdf: KdfChoice, now: Timestamp) -> VaultResult<(Self, RecoveryCode)> {
        let place = dir.display().to_string();
        if dir.exists() && !dir.is_dir() {
            return Err(VaultError::Exists(place));
        }
        if dir.exists() {
            let mut list = std::fs::read_dir(dir).map_err(|e| VaultError::io(&place, e))?;
            if list.next().is_some() {
                return Err(VaultError::Exists(place));
            }
        }
        std::fs::create_dir_all(dir).map_err(|e| VaultError::io(&place, e))?;
        private(dir)?;
        let lock = take_lock(dir)?;
        let (header, keys, code) = create_header(dir, passphrase, kdf, &now.to_rfc3339())?;
        let store = Store::open(dir, keys.store(), true)?;
        store.write(|tx| mementory_store::audit::append(tx, &keys, now, "create", "vault", ""))?;
        let index = SearchIndex::create(&dir.join("index"), keys.index()).map_err(index_error)?;
        let vault = Self::assemble(dir, header, keys, store, index, IndexState::Current, lock)?;
        Ok((vault, code))
    }

    /// Opens a vault with its passphrase or recovery code; upgrades an older schema; brings the index in step.
    ///
    /// # Errors
    /// `Missing`, `InUse`, `WrongSecret`, `Damaged`, `DamagedPages`, `NewerSchema`. None of them writes anything.
    pub fn open(dir: &Path, secret: &str) -> VaultResult<Self> {
        Self::open_watched(dir, secret, &IndexWatch { progress: &|_, _, _| {}, cancel: &AtomicBool::new(false) })
    }

    /// The same, watched while the index is brought in step: that reads every record when it is made anew.
    ///
    /// # Errors
    /// As [`open`](Self::open); `Cancelled`.
    pub fn open_watched(dir: &Path, secret: &str, watch: &IndexWatch<'_>) -> VaultResult<Self> {
        if !dir.join("vault.json").exists() {
            return Err(VaultError::Missing(dir.display().to_string()));
        }
        let lock = take_lock(dir)?;
        let (header, keys) = open_header(dir, secret)?;
        let key = Zeroizing::new(*keys.store());
        let opened = || -> VaultResult<Self> {
            let store = Store::open(dir, keys.store(), false)?;
            let folder = dir.join("index");
            let (index, fault) = match SearchIndex::open(&folder, keys.index()) {
                Ok(index) => (index, None),
                Err(IndexError::Missing) => (fresh_index(&folder, keys.index())?, Some(IndexFault::Missing)),
                Err(_) => (fresh_index(&folder, keys.index())?, Some(IndexFault::Damaged)),
            };
            let state = if fault.is_some() { IndexState::Rebuilt } else { IndexState::Current };
            let vault = Self::assemble(dir, header, keys, store, index, state, lock)?;
            *vault.index_fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = fault;
            vault.index_catch_up_watched(Some(watch))?;
            mementory_erasure_check::clear_partials(dir);
            vault.sweep_blobs()?;
            Ok(vault)
        };
        opened().map_err(|error| counted(dir, &key, error))
    }

    /// `Damaged` says how many pages it is about, where that can be counted. Reads the whole database.
    pub fn counted(&self, error: VaultError) -> VaultError {
        counted(&self.dir, self.keys.store(), error)
    }

    fn assemble(
        dir: &Path,
        header: Header,
        keys: VaultKeys,
        store: Store,
        index: SearchIndex,
        state: IndexState,
        lock: File,
    ) -> VaultResult<Self> {
        let blobs = Blobs::new(dir, keys.blobs())?;
        Ok(Self {
            dir: dir.to_path_buf(),
            header: Mutex::new(header),
            keys,
            store,
            blobs,
            index: RwLock::new(index),
            index_state: Mutex::new(state),
            index_fault: Mutex::new(None),
            index_behind: AtomicBool::new(false),
            standings: Mutex::new(None),
            unproven: Mutex::default(),
            _lock: lock,
        })
    }

    /// Folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Header facts: id, times, slots.
    pub fn header(&self) -> Header {
        self.header.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Changes the passphrase; the slot is rewritten atomically.
    pub fn change_passphrase(&self, secret: &str, new: &str, kdf: KdfChoice, now: Timestamp) -> VaultResult<Header> {
        let header = change_passphrase(&self.dir, secret, new, kdf, &now.to_rfc3339())?;
        *self.header.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = header.clone();
        self.store.write(|tx| mementory_store::audit::append(tx, &self.keys, now, "passwd", "vault", ""))?;
        Ok(header)
    }

    /// Makes a new recovery code; the slot is rewritten atomically, and the old code opens nothing from then on.
    pub fn new_recovery_code(&self, secret: &str, now: Timestamp) -> VaultResult<(Header, RecoveryCode)> {
        let (header, code) = new_recovery_code(&self.dir, secret, &now.to_rfc3339())?;
        *self.header.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = header.clone();
        self.store.write(|tx| mementory_store::audit::append(tx, &self.keys, now, "recovery_code", "vault", ""))?;
        Ok((header, code))
    }

    /// How the index was found at opening, or made since.
    pub fn index_state(&self) -> IndexState {
        *self.index_state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// What was wrong with it at opening, when it was made anew then.
    pub fn index_fault(&self) -> Option<IndexFault> {
        *self.index_fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Runs `f` with the index; only a rebuild puts another in its place.
    pub(crate) fn with_index<T>(&self, f: impl FnOnce(&SearchIndex) -> Result<T, IndexError>) -> VaultResult<T> {
        f(&self.index.read().unwrap_or_else(std::sync::PoisonError::into_inner)).map_err(index_error)
    }

    /// Documents in the index.
    pub fn index_documents(&self) -> u64 {
        self.with_index(|i| Ok(i.documents())).unwrap_or(0)
    }

    /// Adds a record to the index; seen after the next commit.
    pub(crate) fn index_add(&self, row: i64, owner: Option<i64>, record: &Record) -> VaultResult<()> {
        if self.index_behind.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut texts: Vec<&str> = vec![&record.text];
        if let Some(blocks) = record.fields.get("blocks").and_then(|b| b.as_array()) {
            texts.extend(blocks.iter().filter_map(|b| b.get("text")?.as_str()));
        }
        texts.extend(record.attachments.iter().filter_map(|a| a.text.as_deref()));
        let mut names: Vec<&str> = record.attachments.iter().map(|a| a.name.as_str()).collect();
        names.extend(record.tags.iter().map(String::as_str));
        let mut title = record.title.as_deref();
        if matches!(record.kind, Kind::Attachment | Kind::Foreign) {
            names.extend(title.take());
        }
        let time = if record.kind == Kind::Conversation {
            record.times.updated.or(record.times.created)
        } else {
            record.times.created.or(record.times.updated)
        };
        let doc = IndexDoc {
            row: row as u64,
            kind: record.kind.as_str(),
            platform: &record.source.platform,
            record_type: record.record_type.as_deref(),
            status: record.status.as_deref(),
            sensitivity: record.sensitivity.as_deref(),
            tags: &record.tags,
            created: time.map(Timestamp::as_micros),
            conversation: owner.map(|o| o as u64),
            title,
            text: &texts,
            names: &names,
        };
        self.with_index(|i| i.add(&doc))
    }

    pub(crate) fn index_delete(&self, row: i64) -> VaultResult<()> {
        if self.index_behind.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.with_index(|i| i.delete_row(row as u64))
    }

    /// Digests of all files that records name.
    pub(crate) fn named_blobs(&self) -> VaultResult<Vec<[u8; 32]>> {
        self.store.read(named_blobs)
    }

    /// Removes blob files that no record names.
    pub(crate) fn sweep_blobs(&self) -> VaultResult<u32> {
        let keep: HashSet<[u8; 32]> = self.named_blobs()?.into_iter().collect();
        self.blobs.sweep(&keep)
    }

    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        let index: u64 = std::fs::read_dir(self.dir.join("index"))
            .map(|l| l.filter_map(|e| e.ok()?.metadata().ok()).map(|m| m.len()).sum())
            .unwrap_or(0);
        self.store.bytes() + self.blobs.bytes() + index
    }

    /// Looks through everything: header, every page, index, every blob, the audit chain, references, packs.
    pub fn check(&self) -> VaultResult<Vec<CheckedPlace>> {
        let header = mementory_crypto::read_header(&self.dir);
        let mut places = vec![CheckedPlace {
            place: "header",
            ok: header.is_ok(),
            detail: header.map_or_else(|e| e.to_string(), |h| format!("{} key slots", h.slots.len())),
        }];
        // A place that cannot even be read is a place that failed; the others are looked at all the same.
        let mut look = |place: &'static str, found: VaultResult<CheckedPlace>| {
            places.push(found.unwrap_or_else(|e| CheckedPlace { place, ok: false, detail: e.to_string() }));
        };
        look("pages", self.check_pages());
        look("index", self.check_index());
        look("blobs", self.check_blobs());
        look("audit", self.check_audit());
        look("references", self.check_references());
        look("packs", self.check_packs());
        Ok(places)
    }

    fn check_pages(&self) -> VaultResult<CheckedPlace> {
        let problems = self.store.read(page_problems)?;
        let pages: i64 = self.store.read(|c| Ok(c.query_row("PRAGMA page_count", [], |r| r.get(0))?))?;
        let detail = match problems.len() {
            0 => format!("{pages} pages"),
            n => format!("{n} of {pages} pages or structures fail"),
        };
        Ok(CheckedPlace { place: "pages", ok: problems.is_empty(), detail })
    }

    fn check_index(&self) -> VaultResult<CheckedPlace> {
        let last = self.store.read(Store::last_change)?;
        let live = self.live_records()?;
        let (seq, documents) = self.with_index(|i| Ok((i.seq(), i.documents())))?;
        self.with_index(SearchIndex::check)?;
        let ok = seq == last && documents == live;
        let detail =
            if ok { format!("{documents} documents") } else { format!("{documents} documents for {live} records") };
        Ok(CheckedPlace { place: "index", ok, detail })
    }

    /// The check that follows a deletion, over this vault.
    pub(crate) fn erasure_check(&self) -> ErasureCheck<'_> {
        ErasureCheck { dir: &self.dir, keys: &self.keys, store: &self.store, blobs: &self.blobs, index: &self.index }
    }

    /// Records that the index holds: all that are not in the Trash.
    pub(crate) fn live_records(&self) -> VaultResult<u64> {
        let sql = "SELECT count(*) FROM records WHERE trashed IS NULL";
        let live: i64 = self.store.read(|c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
        Ok(u64::try_from(live).unwrap_or(0))
    }

    fn check_audit(&self) -> VaultResult<CheckedPlace> {
        let ok = self.audit_verify()?;
        let detail = if ok { "chain and signatures hold" } else { "the chain is broken" };
        Ok(CheckedPlace { place: "audit", ok, detail: detail.into() })
    }

    fn check_blobs(&self) -> VaultResult<CheckedPlace> {
        let digests = self.named_blobs()?;
        let bad = digests.iter().filter(|d| self.blobs.verify(d).is_err()).count();
        let detail = if bad == 0 {
            format!("{} files", digests.len())
        } else {
            format!("{bad} of {} files fail", digests.len())
        };
        Ok(CheckedPlace { place: "blobs", ok: bad == 0, detail })
    }

    fn check_packs(&self) -> VaultResult<CheckedPlace> {
        let (packs, strays) = self.store.read(|c| self.store.packs.strays(c))?;
        let detail = match strays {
            0 => format!("{packs} packs"),
            n => format!("{n} texts in {packs} packs belong to no record"),
        };
        Ok(CheckedPlace { place: "packs", ok: strays == 0, detail })
    }

    fn check_references(&self) -> VaultResult<CheckedPlace> {
        let queries = [
            (
                "records without a pack",
                "SELECT count(*) FROM records r WHERE NOT EXISTS (SELECT 1 FROM packs WHERE id = r.pack)",
            ),
            (
                "versions without a record",
                "SELECT count(*) FROM versions v WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = v.row)",
            ),
            (
                "tags without a record",
                "SELECT count(*) FROM tags t WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = t.row)",
            ),
            (
                "links without a record",
                "SELECT count(*) FROM links l WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = l.row)",
            ),
            (
                "file references without a record",
                "SELECT count(*) FROM file_refs f WHERE NOT EXISTS (SELECT 1 FROM records WHERE row = f.row)",
            ),
            (
                "messages without a conversation",
                "SELECT count(*) FROM records r WHERE r.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM records WHERE row = r.owner)",
            ),
        ];
        let mut wrong = Vec::new();
        for (name, sql) in queries {
            let n: i64 = self.store.read(|c| Ok(c.query_row(sql, [], |r| r.get(0))?))?;
            if n > 0 {
                wrong.push(format!("{n} {name}"));
            }
        }
        let detail = if wrong.is_empty() { "all resolve".into() } else { wrong.join(", ") };
        Ok(CheckedPlace { place: "references", ok: wrong.is_empty(), detail })
    }

    /// Row of a vault id; `NotFound` says whether a tombstone knows it.
    pub(crate) fn find(&self, id: &str) -> VaultResult<RowView> {
        let parsed = mementory_store::ids::parse_id(id);
        self.store.read(|c| {
            let found = match &parsed {
                Some(parsed) => RowView::by_id(c, parsed)?,
                None => None,
            };
            match (found, parsed) {
                (Some(row), _) => Ok(row),
                (None, Some(parsed)) => {
                    let erased: Option<i64> =
                        c.query_row("SELECT 1 FROM blocked WHERE record = ?1", [parsed], |r| r.get(0)).optional()?;
                    Err(VaultError::NotFound { id: id.into(), erased: erased.is_some() })
                }
                (None, None) => Err(VaultError::not_found(id)),
            }
        })
    }
}

/// Damage that may be of pages, with their number.
fn counted(dir: &Path, key: &[u8; 32], error: VaultError) -> VaultError {
    match error {
        VaultError::Damaged(_) => match mementory_store::failing_pages(dir, key) {
            0 => error,
            pages => VaultError::DamagedPages { pages },
        },
        other => other,
    }
}

fn index_error(error: IndexError) -> VaultError {
    match error {
        IndexError::Io(e) => VaultError::io("index", e),
        other => VaultError::Index(other.to_string()),
    }
}

/// The lock file is held for as long as the vault is open; the system frees it when the process dies.
fn take_lock(dir: &Path) -> VaultResult<File> {
    let path = dir.join("lock");
    let file =
        File::options().create(true).truncate(false).write(true).open(&path).map_err(|e| VaultError::io("lock", e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(VaultError::InUse),
        Err(std::fs::TryLockError::Error(e)) => Err(VaultError::io("lock", e)),
    }
}

#[cfg(unix)]
fn private(dir: &Path) -> VaultResult<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(|e| VaultError::io("vault folder", e))
}

#[cfg(not(unix))]
fn private(_dir: &Path) -> VaultResult<()> {
    Ok(())
}
