//! One open vault and everything a person does with it.
use crate::{ApiError, ApiResult, Job, types::*};
use std::path::Path;

/// How to create a vault.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreateOptions {
    /// Take the lowest permitted Argon2id cost instead of calibrating.
    pub kdf_floor: bool,
}

/// An open vault. `&self` everywhere: writes are serialised inside, reads run beside them. Dropping it locks.
pub struct Session {}

fn not_ready<T>() -> ApiResult<T> {
    Err(ApiError::new("not_ready", 1, "not built yet"))
}

#[expect(unused_variables, reason = "signatures first, bodies follow")]
impl Session {
    /// Create a vault in `dir` (must not exist or be empty) and open it.
    pub fn create(dir: &Path, passphrase: &str, options: CreateOptions) -> ApiResult<(Self, Created)> {
        not_ready()
    }
    /// Open a vault with its passphrase or recovery code.
    pub fn open(dir: &Path, secret: &str) -> ApiResult<Self> {
        not_ready()
    }
    /// Change the passphrase; `secret` is the present passphrase or the recovery code.
    pub fn change_passphrase(&self, secret: &str, new: &str) -> ApiResult<Slots> {
        not_ready()
    }
    /// What is in it.
    pub fn info(&self) -> ApiResult<VaultInfo> {
        not_ready()
    }
    /// Integrity, place by place.
    pub fn check(&self, rebuild_index: bool, job: &Job) -> ApiResult<CheckReport> {
        not_ready()
    }
    /// The audit log; with `verify` the chain and its signatures are checked.
    pub fn audit(&self, verify: bool) -> ApiResult<AuditLog> {
        not_ready()
    }

    /// Read, plan and (unless `dry_run`) commit one batch.
    pub fn import(&self, request: &ImportRequest, dry_run: bool, job: &Job) -> ApiResult<ImportReport> {
        not_ready()
    }
    /// The batches, newest first.
    pub fn imports(&self) -> ApiResult<Batches> {
        not_ready()
    }
    /// The report kept with a batch.
    pub fn import_report(&self, batch: &str) -> ApiResult<ImportReport> {
        not_ready()
    }
    /// Take a batch back whole.
    pub fn undo_import(&self, batch: &str, job: &Job) -> ApiResult<Undone> {
        not_ready()
    }

    /// One page of a list.
    pub fn list(&self, request: &ListRequest) -> ApiResult<Page> {
        not_ready()
    }
    /// Numbers beside the filters, for the records that `filter` (and `query`, when given) finds.
    pub fn facets(&self, filter: &Filter, query: Option<&str>) -> ApiResult<Facets> {
        not_ready()
    }
    /// One record, whole.
    pub fn show(&self, id: &str, history: bool, verbatim: bool) -> ApiResult<Shown> {
        not_ready()
    }
    /// A conversation with all branches.
    pub fn thread(&self, id: &str) -> ApiResult<Thread> {
        not_ready()
    }
    /// Full text, ranked.
    pub fn search(&self, request: &SearchRequest) -> ApiResult<SearchResult> {
        not_ready()
    }
    /// The bytes of an attachment, at most `limit`.
    pub fn attachment(&self, id: &str, limit: u64) -> ApiResult<Vec<u8>> {
        not_ready()
    }

    /// A memory written by hand.
    pub fn add(&self, request: &AddRequest) -> ApiResult<Ids> {
        not_ready()
    }
    /// A new version of a record.
    pub fn edit(&self, request: &EditRequest) -> ApiResult<Edited> {
        not_ready()
    }
    /// Make an old version current again (as a new version).
    pub fn restore_version(&self, id: &str, version: u32) -> ApiResult<Edited> {
        not_ready()
    }
    /// Replace spans for good.
    pub fn redact(&self, request: &RedactRequest, job: &Job) -> ApiResult<Redacted> {
        not_ready()
    }
    /// To the Trash.
    pub fn delete(&self, ids: &[String]) -> ApiResult<Ids> {
        not_ready()
    }
    /// Back from the Trash.
    pub fn restore(&self, ids: &[String]) -> ApiResult<Ids> {
        not_ready()
    }
    /// What an erasure would take with it.
    pub fn erase_preview(&self, request: &EraseRequest) -> ApiResult<ErasePreview> {
        not_ready()
    }
    /// Erase for good, then look for it everywhere.
    pub fn erase(&self, request: &EraseRequest, job: &Job) -> ApiResult<Erased> {
        not_ready()
    }
    /// Tombstones, newest first.
    pub fn tombstones(&self) -> ApiResult<Tombstones> {
        not_ready()
    }
    /// The receipt of an erasure.
    pub fn receipt(&self, id: &str) -> ApiResult<Receipt> {
        not_ready()
    }

    /// What an export would hold and lose; nothing is written.
    pub fn export_preview(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        not_ready()
    }
    /// Write, read back, validate.
    pub fn export(&self, request: &ExportRequest, job: &Job) -> ApiResult<Exported> {
        not_ready()
    }
}
