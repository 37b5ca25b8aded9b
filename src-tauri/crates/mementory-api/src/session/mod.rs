//! An open vault and everything that a person does with it. [`Session`] opens and closes the vault. The use cases are
//! small structs over one shared context. Methods such as `session.records()` and `session.imports()` return them.
mod agents;
mod backups;
mod changes;
mod context;
mod demonstration;
mod duplicates;
mod evidence;
mod export;
mod filter;
mod import;
mod import_report;
mod insight;
mod keys;
pub(crate) mod language_texts;
mod meaning;
mod memory_evidence;
mod offers;
mod overview;
mod page;
mod printing;
mod progress;
mod records;
mod report;
mod review;
mod scan;
mod search;
mod sensitive;
mod view;
mod watch_state;
mod watching;

pub use agents::{Agents, ClientCalls};
pub use backups::Backups;
pub use changes::Changes;
pub use demonstration::{DEMONSTRATION_PASSPHRASE, delete_demonstration};
pub use duplicates::DuplicateMemories;
pub use evidence::EvidencePacks;
pub use export::{ExportOptions, Exports};
pub use filter::entry_time;
pub use import::Imports;
pub use insight::Insights;
pub use keys::KeyRing;
pub use meaning::Meaning;
pub use memory_evidence::MemoryEvidenceFinder;
pub use overview::Overview;
pub use printing::Pages;
pub use records::Records;
pub use review::Review;
pub use scan::Scanner;
pub use search::Search;
pub use sensitive::SensitiveValues;
pub use watching::{FolderScan, WatchedFolders};

use crate::{ApiError, ApiResult, Applied, Job, types::*};
use context::Context;
use mementory_crypto::{Header, KdfChoice, MINIMUM_SCORE};
use mementory_model::Timestamp;
use mementory_vault::{IndexFault, IndexWatch, Vault, VaultError, create_temporary};
use std::{path::Path, sync::PoisonError};

/// Options for creating a vault.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateOptions {
    /// True to use the lowest permitted Argon2id cost instead of measuring which cost suits this machine.
    pub kdf_floor: bool,
}

/// An open vault. All methods take `&self`. Changes run one at a time, reads run in parallel. Dropping the session
/// locks the vault.
pub struct Session {
    context: Context,
    kdf_floor: bool,
}

fn now() -> Timestamp {
    Timestamp::now()
}

impl Session {
    fn new(vault: Vault, kdf_floor: bool) -> Self {
        Self { context: Context::new(vault), kdf_floor }
    }

    /// Creates a vault in `dir` (which must be missing or empty) and opens it.
    ///
    /// # Errors
    /// `weak_passphrase`, `exists`, `io`.
    pub fn create(dir: &Path, passphrase: &str, options: CreateOptions) -> ApiResult<(Self, Applied<Created>)> {
        check_strength(passphrase)?;
        let kdf = if options.kdf_floor { KdfChoice::Floor } else { KdfChoice::Calibrate };
        let (vault, code) = Vault::create(dir, passphrase, kdf, now())?;
        let (vault_id, path) = (vault.header().vault_id, dir.display().to_string());
        let created = code.map(|code| Created { vault_id, path, recovery_code: code.to_string() });
        let session = Self::new(vault, options.kdf_floor);
        Ok((session, created))
    }

    /// Creates a vault for a conversion, which is never opened again. In vaults with the same `seed`, the same records
    /// have the same ids.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub(crate) fn create_temporary(dir: &Path, passphrase: &str, seed: &[u8; 32]) -> ApiResult<Self> {
        Ok(Self::new(create_temporary(dir, passphrase, seed, now())?, true))
    }

    /// Opens a vault with its passphrase or recovery code.
    ///
    /// # Errors
    /// `vault_missing`, `vault_in_use`, `wrong_passphrase`, `vault_damaged`, `newer_schema`. After an error no record
    /// was changed.
    pub fn open(dir: &Path, secret: &str) -> ApiResult<Self> {
        Self::open_watched(dir, secret, None, &Job::silent())
    }

    /// Like [`open`](Self::open), but as a job. If the search index does not match the vault, the index is rebuilt
    /// first, because erasures and the search for copies rely on it. `job` reports the progress of the rebuild (stages
    /// `index_missing`, `index_damaged`, `index_behind`). Records that were erased in a newer copy of the vault are
    /// erased here before anything can be read, if a list of erasures contains them. Such lists are searched for in the
    /// folder `ledgers`, in the vault's folder and in copies next to it.
    ///
    /// # Errors
    /// As [`open`](Self::open); `cancelled`, in which case the vault stays closed.
    pub fn open_watched(dir: &Path, secret: &str, ledgers: Option<&Path>, job: &Job) -> ApiResult<Self> {
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
        // Interrupted erasures are finished. If this fails, the vault still opens: the receipt stays incomplete, and
        // the next opening tries again.
        let _ = session.context.vault.receipts().finish_interrupted(now());
        session.apply_erasures(ledgers, job);
        // If the Trash cannot be emptied, the next opening tries again.
        let _ = session.context.vault.trash().empty_expired(view::TRASH_DAYS, now());
        Ok(session)
    }

    /// Applies all known lists of erasures to this vault. Afterwards, the vault's own list is also stored in `ledgers`,
    /// the program's folder ([`crate::files::ledger_folder`]).
    pub fn apply_erasures(&self, ledgers: Option<&Path>, job: &Job) {
        let ledger = self.context.vault.erasure_ledger();
        ledger.set_outside_folder(ledgers);
        // If the lists cannot be applied, the vault still opens, and the next opening tries again.
        let applied = ledger.apply(now(), &|stage| changes::stage_progress(job, stage)).ok();
        *self.context.applied_erasures.lock().unwrap_or_else(PoisonError::into_inner) = applied;
    }

    /// Returns the result of applying the lists of erasures when the vault was opened.
    pub fn applied_erasures(&self) -> AppliedErasures {
        let applied = *self.context.applied_erasures.lock().unwrap_or_else(PoisonError::into_inner);
        match applied {
            None => AppliedErasures { erasures: 0, ledger: Some("failed".into()) },
            Some(applied) if applied.has_outside_list => AppliedErasures { erasures: applied.erasures, ledger: None },
            Some(applied) => AppliedErasures { erasures: applied.erasures, ledger: Some("none".into()) },
        }
    }

    /// Changes the passphrase. `secret` is the current passphrase or the recovery code.
    pub fn change_passphrase(&self, secret: &str, new: &str) -> ApiResult<Applied<Slots>> {
        check_strength(new)?;
        let kdf = if self.kdf_floor { KdfChoice::Floor } else { KdfChoice::Calibrate };
        let _guard = self.context.write_guard();
        Ok(self.context.vault.change_passphrase(secret, new, kdf, now())?.map(|header| slots(&header)))
    }

    /// Like [`Self::change_passphrase`], but with the lowest permitted Argon2id cost (`--kdf-floor`).
    pub fn change_passphrase_at_floor(&self, secret: &str, new: &str) -> ApiResult<Applied<Slots>> {
        check_strength(new)?;
        let _guard = self.context.write_guard();
        Ok(self.context.vault.change_passphrase(secret, new, KdfChoice::Floor, now())?.map(|header| slots(&header)))
    }

    /// Creates a new recovery code, which invalidates the old one. `secret` is the passphrase or the current code.
    pub fn new_recovery_code(&self, secret: &str) -> ApiResult<Applied<NewRecoveryCode>> {
        let _guard = self.context.write_guard();
        let new_code = self.context.vault.new_recovery_code(secret, now())?;
        Ok(new_code
            .map(|(header, code)| NewRecoveryCode { recovery_code: code.to_string(), slots: slots(&header).slots }))
    }

    /// Returns the key slots of the vault: which secrets open it, and since when.
    pub fn key_slots(&self) -> Slots {
        slots(&self.context.vault.header())
    }

    /// Statistics about the vault, its integrity check, and the audit log.
    pub fn overview(&self) -> Overview<'_> {
        Overview::new(&self.context)
    }

    /// Reads lists of records, single records, conversations and attachments.
    pub fn records(&self) -> Records<'_> {
        Records::new(&self.context)
    }

    /// Full-text search.
    pub fn search(&self) -> Search<'_> {
        Search::new(&self.context)
    }

    /// Search by meaning.
    pub fn meaning(&self) -> Meaning<'_> {
        Meaning::new(&self.context)
    }

    /// Writes, edits, trashes, restores, redacts and erases records.
    pub fn changes(&self) -> Changes<'_> {
        Changes::new(&self.context)
    }

    /// Imports, their reports, and undoing them.
    pub fn imports(&self) -> Imports<'_> {
        Imports::new(&self.context)
    }

    /// Exports, their previews, and the text for the clipboard.
    pub fn exports(&self) -> Exports<'_> {
        Exports::new(&self.context)
    }

    /// Scans records for sensitive values.
    pub fn scan(&self) -> Scanner<'_> {
        Scanner::new(&self.context)
    }

    /// The review queue of sensitive values.
    pub fn sensitive(&self) -> SensitiveValues<'_> {
        SensitiveValues::new(&self.context)
    }

    /// The keys that this vault trusts or has seen. Also checks the signature of a file before it is imported.
    pub fn keys(&self) -> KeyRing<'_> {
        KeyRing::new(&self.context)
    }

    /// Folders whose new and changed files are offered for import.
    pub fn watching(&self) -> WatchedFolders<'_> {
        WatchedFolders::new(&self.context)
    }

    /// Backups of the vault.
    pub fn backups(&self) -> Backups<'_> {
        Backups::new(&self.context)
    }

    /// Writes Evidence Packs: tombstones, audit log, keys and transfers, for an auditor.
    pub fn evidence(&self) -> EvidencePacks<'_> {
        EvidencePacks::new(&self.context)
    }

    /// Who said memories, and the messages from which they were made.
    pub fn memory_evidence(&self) -> MemoryEvidenceFinder<'_> {
        MemoryEvidenceFinder::new(&self.context)
    }

    /// The guided review of memories, and the memories that the person should delete in the assistants.
    pub fn review(&self) -> Review<'_> {
        Review::new(&self.context)
    }

    /// Pages for reading and printing.
    pub fn pages(&self) -> Pages<'_> {
        Pages::new(&self.context)
    }

    /// Connected clients: grants, suggestions, and the calls of their tools.
    pub fn agents(&self) -> Agents<'_> {
        Agents::new(&self.context)
    }

    /// Topics, people, timelines and contradictions of the memories.
    pub fn insights(&self) -> Insights<'_> {
        Insights::new(&self.context)
    }

    /// Memories with the same or nearly the same text.
    pub fn duplicates(&self) -> DuplicateMemories<'_> {
        DuplicateMemories::new(&self.context)
    }
}

/// Refuses a passphrase that [`crate::files::passphrase_strength`] rates as weak, with the same reason.
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

/// True if a file or folder exists at this path.
fn path_exists(path: &str) -> bool {
    Path::new(path).symlink_metadata().is_ok()
}

/// Rounds a confidence from 0 to 1 to two decimal places, because more places would suggest false precision.
fn round_confidence(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

fn time(micros: i64) -> String {
    Timestamp::from_micros(micros).map(Timestamp::to_rfc3339).unwrap_or_default()
}

impl From<VaultError> for ApiError {
    fn from(error: VaultError) -> Self {
        crate::error::from_vault(&error)
    }
}
