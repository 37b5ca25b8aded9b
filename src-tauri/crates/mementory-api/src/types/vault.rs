//! Types for creating, opening and checking vaults, and for the audit log.
use super::TsNumber;
use crate::ApiError;
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// An error, as the command line prints it and the window shows it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ErrorBody {
    /// Stable code in lower snake case.
    pub code: String,
    /// What happened, what was left unchanged, and what the person can do. Never contains record content, passphrases
    /// or keys.
    pub message: String,
    /// More details for programs (paths, counts, positions).
    pub details: BTreeMap<String, String>,
}

impl ApiError {
    /// The error as it is sent to the window and printed with `--json`.
    pub fn body(&self) -> ErrorBody {
        ErrorBody { code: self.code.into(), message: self.message.clone(), details: self.details.clone() }
    }
}

/// Result of creating a vault. The recovery code is shown once.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Created {
    pub vault_id: String,
    pub path: String,
    /// Eight groups of four characters, joined by `-`.
    pub recovery_code: String,
}

/// Result of making a demonstration vault.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct CreatedDemonstration {
    pub path: String,
    /// The passphrase of the vault, which is the same for every demonstration.
    pub passphrase: String,
    /// Number of records by kind.
    pub counts: BTreeMap<String, u32>,
}

/// A backup in the same folder as its vault.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FoundBackup {
    pub path: String,
    pub name: String,
    /// When the backup was last written.
    pub changed_at: Option<String>,
}

/// A vault that was open before. Only its path is stored.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RecentVault {
    pub path: String,
    pub name: String,
    /// False if the folder of the vault does not exist now.
    pub present: bool,
}

/// Strength of a passphrase while it is being typed. Nothing is stored.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct PassphraseStrength {
    /// Score from 0 (very weak) to 4 (strong). 2 ("Fair") is the minimum.
    pub score: u8,
    pub label: String,
    /// Why the passphrase is refused. Null if it is accepted.
    pub reason: Option<String>,
}

/// Whether a vault is open in the window, and which one.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SessionState {
    pub open: bool,
    pub vault_id: Option<String>,
    pub name: Option<String>,
    pub path: Option<String>,
    /// Minutes without input after which the vault locks automatically. 0: never.
    pub auto_lock_minutes: u32,
    /// Number of erasures and redactions that were made in a newer copy of this vault and were applied to this vault
    /// when it was opened.
    pub erasures_reapplied: u32,
    /// `none`: no list of erasures was found outside of the vault's folder, so erasures in newer copies are not known.
    /// `failed`: a list could not be applied, and the next opening tries again. Null otherwise.
    pub erasure_ledger: Option<String>,
    /// Whether the open vault is a demonstration vault, which contains only invented records.
    pub demonstration: bool,
}

/// Paths that the system asked the program to open, grouped by what the window does with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct OpenRequest {
    /// A vault to unlock.
    pub vault: Option<String>,
    /// Files and folders to import.
    pub paths: Vec<String>,
    /// Paths that cannot be opened.
    pub refused: Vec<RefusedPath>,
    /// Whether to open the demonstration.
    pub demonstration: bool,
}

/// A path that cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct RefusedPath {
    pub path: String,
    /// `missing`, `unreadable`, `no_file` if it is neither a file nor a folder, `not_unicode` if its name is not
    /// Unicode text, or `another_vault` if it is a second vault.
    pub reason: String,
}

/// The window's protections besides the passphrase, and which of them this system supports.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct WindowGuards {
    /// `linux`, `macos` or `windows`.
    pub system: String,
    /// Whether the vault locks when the screen locks or the computer sleeps.
    pub lock_when_away: bool,
    /// True if the system announces that the screen was locked and that the computer is about to sleep. Otherwise the
    /// vault locks only after a sleep.
    pub reports_lock_and_sleep: bool,
    /// Whether the window is hidden from screenshots and screen sharing.
    pub hide_from_capture: bool,
    /// True if the system can hide the window from screenshots.
    pub can_hide: bool,
}

/// State of the search index.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct IndexInfo {
    /// `current`, or `rebuilt` if the index was rebuilt from the records since the vault was opened.
    pub state: String,
    /// Why the index was rebuilt when the vault was opened: `missing` (as in a backup), `damaged` or `behind`. Null if
    /// the index was not rebuilt.
    pub why: Option<String>,
    pub documents: u32,
}

/// Number and age of the records from one assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SourceInfo {
    pub platform: String,
    pub format: String,
    pub counts: BTreeMap<String, u32>,
    /// Time of the newest record from this assistant.
    pub newest_at: Option<String>,
    /// When the newest export was made, according to its file name. If the name states no date, when the export was
    /// imported. Null for records written by hand.
    pub exported_at: Option<String>,
}

/// Number of records of one kind that have a certain status relative to the newest export of an assistant.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ExportStatusCount {
    pub platform: String,
    pub kind: String,
    /// `new`, `changed`, `gone`.
    pub export_diff_status: String,
    pub count: u32,
}

/// Statistics about the vault. Records in the Trash are counted only in `trash`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct VaultInfo {
    pub vault_id: String,
    pub path: String,
    pub schema_version: u32,
    pub created_at: String,
    pub counts: BTreeMap<String, u32>,
    pub sources: Vec<SourceInfo>,
    pub export_diff_counts: Vec<ExportStatusCount>,
    pub trash: u32,
    pub tombstones: u32,
    pub index: IndexInfo,
    #[specta(type = TsNumber)]
    pub bytes: u64,
}

/// All key slots of the vault.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Slots {
    pub slots: Vec<SlotInfo>,
}

/// One key slot, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SlotInfo {
    /// `passphrase` or `recovery`.
    pub kind: String,
    pub created_at: String,
    /// Memory cost of Argon2id in KiB. `passes` and `lanes` are its other cost parameters.
    pub memory_kib: u32,
    pub passes: u32,
    pub lanes: u32,
}

/// A new recovery code, shown once, and the key slots after it was made.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct NewRecoveryCode {
    /// Eight groups of four characters, joined by `-`.
    pub recovery_code: String,
    pub slots: Vec<SlotInfo>,
}

/// Result of applying the lists of erasures when a vault was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct AppliedErasures {
    /// Number of erasures and redactions that were made in a newer copy of this vault and have now been applied.
    pub erasures: u32,
    /// `none`: no list of erasures was found outside of the vault's folder. `failed`: a list could not be applied. Null
    /// otherwise.
    pub ledger: Option<String>,
}

/// The result of restoring a vault from a backup. The restored vault passed its check.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Restored {
    pub path: String,
    #[specta(type = TsNumber)]
    pub bytes: u64,
    /// SHA-256 of a list of all files in the copy. The list has a line `<sha256>  <name>` for each file, sorted by
    /// name.
    pub digest: String,
    /// Number of erasures and redactions that were made after the backup and have been applied to the copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erasures_reapplied: Option<u32>,
    /// `none`: no list of erasures was found outside of the backup, so erasures that were made after the backup are not
    /// known. `failed`: such erasures could not be applied to the copy, and the next opening tries again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
}

/// The result of writing a backup, which passed its check.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct WrittenBackup {
    pub path: String,
    #[specta(type = TsNumber)]
    pub bytes: u64,
    /// SHA-256 of a list of all files in the backup. The list has a line `<sha256>  <name>` for each file, sorted by
    /// name.
    pub digest: String,
}

/// Result of checking the integrity of every part of the vault.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct CheckReport {
    pub ok: bool,
    pub places: Vec<CheckPlace>,
}

/// A checked place: `header`, `pages`, `index`, `blobs`, `packs`, `audit` or `references`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct CheckPlace {
    pub place: String,
    pub ok: bool,
    pub detail: String,
}

/// An entry of the audit log. It never contains record content.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AuditEntry {
    pub seq: u32,
    pub at: String,
    pub actor: String,
    /// `import`, `import_failed`, `undo_import`, `add`, `edit`, `delete`, `restore`, `redact`, `erase`, `export`, `passwd` …
    pub op: String,
    pub target: String,
    pub detail: String,
    /// Path of the exported file, if the file still exists.
    pub file: Option<String>,
}

/// The audit log. `verified` is null unless the chain and its signatures were checked.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct AuditLog {
    pub entries: Vec<AuditEntry>,
    pub verified: Option<bool>,
}
