//! One open vault and everything a person does with it.
mod backups;
mod changes;
mod duplicates;
mod evidence;
mod import;
mod keys;
mod progress;
mod records;
mod scan;
mod search;
mod sensitive;
mod view;
mod watching;

pub use import::ExportOptions;
pub use watching::WatchRound;

use crate::{ApiError, ApiResult, Job, types::*};
use mementory_crypto::{Header, KdfChoice, MINIMUM_SCORE};
use mementory_model::Timestamp;
use mementory_vault::{IndexFault, IndexState, IndexWatch, Vault, VaultError, Written};
use std::{
    path::Path,
    sync::{Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

/// How to create a vault.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateOptions {
    /// Take the lowest permitted Argon2id cost instead of calibrating.
    pub kdf_floor: bool,
}

/// An open vault. All methods take `&self`: changes run one at a time, reads run in parallel. Dropping it locks the vault.
pub struct Session {
    vault: Vault,
    kdf_floor: bool,
    /// A change holds the write lock from its first read until store, index and blobs agree again. An export holds the read
    /// lock: its snapshot would keep an erasure from truncating the write-ahead log.
    change_lock: RwLock<()>,
    /// State of the watched folders.
    watching: watching::Watching,
    /// The last export if it did not pass its check, and its format: the person can have it deleted.
    invalid_export: Mutex<Option<(Written, String)>>,
    /// The last text that was made for the clipboard: its format, and the audit entry for when it is copied.
    text: Mutex<Option<(String, String)>>,
}

fn now() -> Timestamp {
    Timestamp::now()
}

impl Session {
    fn new(vault: Vault, kdf_floor: bool) -> Self {
        Self {
            vault,
            kdf_floor,
            change_lock: RwLock::default(),
            watching: watching::Watching::default(),
            invalid_export: Mutex::default(),
            text: Mutex::default(),
        }
    }

    /// Create a vault in `dir` (must not exist or be empty) and open it.
    ///
    /// # Errors
    /// `weak_passphrase`, `exists`, `io`.
    pub fn create(dir: &Path, passphrase: &str, options: CreateOptions) -> ApiResult<(Self, Created)> {
        check_strength(passphrase)?;
        let kdf = if options.kdf_floor { KdfChoice::Floor } else { KdfChoice::Calibrate };
        let (vault, code) = Vault::create(dir, passphrase, kdf, now())?;
        let created = Created {
            vault_id: vault.header().vault_id,
            path: dir.display().to_string(),
            recovery_code: code.to_string(),
        };
        let session = Self::new(vault, options.kdf_floor);
        Ok((session, created))
    }

    /// Open a vault with its passphrase or recovery code.
    ///
    /// # Errors
    /// `vault_missing`, `vault_in_use`, `wrong_passphrase`, `vault_damaged`, `newer_schema`. Nothing is written then.
    pub fn open(dir: &Path, secret: &str) -> ApiResult<Self> {
        Self::open_watched(dir, secret, &Job::silent())
    }

    /// The same as a job. If the search index does not match the vault it is rebuilt first, because erasure and the search
    /// for copies rely on it; `job` gets progress of that (stages `index_missing`, `index_damaged`, `index_behind`).
    ///
    /// # Errors
    /// As [`open`](Self::open); `cancelled`, and the vault stays closed.
    pub fn open_watched(dir: &Path, secret: &str, job: &Job) -> ApiResult<Self> {
        let throttle = progress::ProgressThrottle::new(job);
        let stage = |fault| match fault {
            IndexFault::Missing => "index_missing",
            IndexFault::Damaged => "index_damaged",
            IndexFault::Behind => "index_behind",
        };
        let cancel = job.cancel_flag();
        let progress = |fault, done, total| throttle.report(stage(fault), done, total, 0);
        let vault = Vault::open_watched(dir, secret, &IndexWatch { progress: &progress, cancel: &cancel })?;
        let session = Self::new(vault, false);
        // Finish interrupted erasures. If that fails, the vault still opens: the receipt stays incomplete, and the next
        // opening tries again.
        let _ = session.vault.receipts().finish_interrupted(now());
        let _ = session.vault.trash().empty_expired(view::TRASH_DAYS, now());
        Ok(session)
    }

    /// While this is held nobody else changes the vault or exports from it.
    fn write_guard(&self) -> RwLockWriteGuard<'_, ()> {
        self.change_lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// While this is held nobody changes the vault.
    fn snapshot_guard(&self) -> RwLockReadGuard<'_, ()> {
        self.change_lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Change the passphrase; `secret` is the current passphrase or the recovery code.
    pub fn change_passphrase(&self, secret: &str, new: &str) -> ApiResult<Slots> {
        check_strength(new)?;
        let kdf = if self.kdf_floor { KdfChoice::Floor } else { KdfChoice::Calibrate };
        let _guard = self.write_guard();
        Ok(slots(&self.vault.change_passphrase(secret, new, kdf, now())?))
    }

    /// The same at the lowest permitted cost (`--kdf-floor`).
    pub fn change_passphrase_at_floor(&self, secret: &str, new: &str) -> ApiResult<Slots> {
        check_strength(new)?;
        let _guard = self.write_guard();
        Ok(slots(&self.vault.change_passphrase(secret, new, KdfChoice::Floor, now())?))
    }

    /// Make a new recovery code; `secret` is the passphrase or the current code. The old code stops working.
    pub fn new_recovery_code(&self, secret: &str) -> ApiResult<NewRecoveryCode> {
        let _guard = self.write_guard();
        let (header, code) = self.vault.new_recovery_code(secret, now())?;
        Ok(NewRecoveryCode { recovery_code: code.to_string(), slots: slots(&header).slots })
    }

    /// The key slots of the vault: what opens it, and since when.
    pub fn key_slots(&self) -> Slots {
        slots(&self.vault.header())
    }

    /// Contents of the vault in numbers.
    pub fn info(&self) -> ApiResult<VaultInfo> {
        let facts = self.vault.queries().facts().map_err(|error| self.vault.counted(error))?;
        let header = self.vault.header();
        let sources = facts
            .sources
            .into_iter()
            .map(|((platform, format), s)| SourceInfo {
                // Records written by hand and imports of several formats have no format; name the platform instead.
                format: format.unwrap_or_else(|| platform.clone()),
                counts: s.counts,
                newest_at: s.newest.and_then(Timestamp::from_micros).map(Timestamp::to_rfc3339),
                exported_at: s.exported.map(time),
                platform,
            })
            .collect();
        let standings = self.vault.export_diff()?;
        let standings = standings.counts.iter().map(|((platform, kind, standing), count)| StandingCount {
            platform: platform.clone(),
            kind: (*kind).to_owned(),
            standing: standing.as_str().into(),
            count: *count,
        });
        Ok(VaultInfo {
            standings: standings.collect(),
            vault_id: header.vault_id,
            path: self.vault.dir().display().to_string(),
            schema_version: mementory_vault::SCHEMA_VERSION,
            created_at: header.created_at,
            counts: facts.counts,
            sources,
            trash: facts.trash,
            tombstones: facts.tombstones,
            index: IndexInfo {
                state: match self.vault.index_state() {
                    IndexState::Current => "current".into(),
                    IndexState::Rebuilt => "rebuilt".into(),
                },
                why: self.vault.index_fault().map(|fault| {
                    match fault {
                        IndexFault::Missing => "missing",
                        IndexFault::Damaged => "damaged",
                        IndexFault::Behind => "behind",
                    }
                    .into()
                }),
                documents: u32::try_from(self.vault.index_documents()).unwrap_or(u32::MAX),
            },
            bytes: self.vault.bytes(),
        })
    }

    /// Check the integrity of every part of the vault.
    pub fn check(&self, rebuild_index: bool, _job: &Job) -> ApiResult<CheckReport> {
        let _guard = self.write_guard();
        if rebuild_index {
            self.vault.index_rebuild()?;
        }
        let places = self.vault.integrity().check()?;
        Ok(CheckReport {
            ok: places.iter().all(|p| p.ok),
            places: places
                .into_iter()
                .map(|p| CheckPlace { place: p.place.into(), ok: p.ok, detail: p.detail })
                .collect(),
        })
    }

    /// The audit log; with `verify` the chain and its signatures are checked.
    pub fn audit(&self, verify: bool) -> ApiResult<AuditLog> {
        let exports = self.vault.file_locations().all()?.exports;
        let entries = self
            .vault
            .audit()
            .entries()?
            .into_iter()
            .map(|e| AuditEntry {
                file: exports.get(&e.seq).filter(|path| path_exists(path)).cloned(),
                seq: u32::try_from(e.seq).unwrap_or(u32::MAX),
                at: Timestamp::from_micros(e.at).map(Timestamp::to_rfc3339).unwrap_or_default(),
                actor: e.actor,
                op: e.op,
                target: e.target,
                detail: e.detail,
            })
            .collect();
        let verified = if verify { Some(self.vault.audit().verify()?) } else { None };
        Ok(AuditLog { entries, verified })
    }
}

/// Refuse a passphrase that [`crate::files::passphrase_strength`] calls weak, with the same reason.
fn check_strength(passphrase: &str) -> ApiResult<()> {
    let (score, _, reason) = mementory_crypto::strength(passphrase);
    if score >= MINIMUM_SCORE {
        return Ok(());
    }
    let reason = reason.unwrap_or_else(|| "It is too easy to guess.".into());
    Err(ApiError::new(
        "weak_passphrase",
        2,
        format!("This passphrase is too weak. {reason} Nothing was changed. Choose a longer one."),
    ))
}

fn slots(header: &Header) -> Slots {
    let slots = header
        .slots
        .iter()
        .map(|s| SlotInfo {
            kind: s.kind.as_str().into(),
            created_at: s.created_at.clone(),
            memory_kib: s.params.memory_kib,
            passes: s.params.passes,
            lanes: s.params.lanes,
        })
        .collect();
    Slots { slots }
}

/// A time or a date as a filter bound, in microseconds; a date as upper bound means the end of that day.
fn bound(text: &str, upper: bool) -> ApiResult<i64> {
    let wrong = || {
        ApiError::new("usage", 2, format!("{text} is not a date or time. Write 2026-11-21 or 2026-11-21T09:30:00Z."))
    };
    let time = Timestamp::parse(text).ok_or_else(wrong)?;
    let rest_of_day = 86_400_000_000 - 1;
    let whole_day = text.trim().len() <= 10;
    Ok(time.as_micros() + if upper && whole_day { rest_of_day } else { 0 })
}

/// Whether a file or folder exists at this path.
fn path_exists(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_ok()
}

fn time(micros: i64) -> String {
    Timestamp::from_micros(micros).map(Timestamp::to_rfc3339).unwrap_or_default()
}

impl From<VaultError> for ApiError {
    fn from(error: VaultError) -> Self {
        crate::error::from_vault(&error)
    }
}
