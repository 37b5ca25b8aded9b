//! Detection, validation, import and its report.
use super::{ErrorBody, TsNumber};
use crate::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// One recognised part of a source.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct PartInfo {
    pub path: String,
    pub format: Option<String>,
    /// `conversations`, `memories`, `attachment`, `manifest`, `sidecar`, `duplicate_rendering` …
    pub role: String,
}

/// A format and what is done with it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FormatInfo {
    pub id: String,
    /// The format's own name.
    pub name: String,
    pub read: bool,
    pub write: bool,
    /// What is written can carry a signature.
    pub signs: bool,
    /// What is written can be encrypted under a passphrase.
    pub encrypts: bool,
}

/// Another format it could be.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Candidate {
    pub format: String,
    /// 0..1
    #[specta(type = TsNumber)]
    pub confidence: f64,
    pub reason: String,
}

/// What a dropped path is. `format` is null for a tie (see `candidates`) or an unknown kind.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Detection {
    pub path: String,
    pub format: Option<String>,
    pub version: Option<String>,
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// Encrypted as a whole: what it is shows with its passphrase.
    pub encrypted: bool,
    pub reason: String,
    pub parts: Vec<PartInfo>,
    pub missing_parts: Vec<String>,
    pub candidates: Vec<Candidate>,
}

/// One result for each given path.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Detections {
    pub results: Vec<Detection>,
}

/// What lies at a path, before anything of it is read.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct PathInfo {
    pub path: String,
    pub folder: bool,
    /// Of a file; null for everything else, also for what is not there.
    #[specta(type = Option<TsNumber>)]
    pub size: Option<u64>,
}

/// What to import and how.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ImportRequest {
    pub paths: Vec<String>,
    /// Pasted text instead of paths.
    pub text: Option<String>,
    /// A format chosen by the person; null = detect.
    pub format: Option<String>,
    /// Allow this many streamed bytes where the default limit asked.
    #[specta(type = Option<TsNumber>)]
    pub limit_bytes: Option<u64>,
    /// Let records in that are held back because the same was deleted before.
    #[serde(default)]
    pub let_in: bool,
    /// Another rule for what the vault has already than that the newer telling stays.
    #[serde(default)]
    pub merge: Option<MergeStrategy>,
}

/// What becomes of records that the vault has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MergeStrategy {
    /// Known ids and equal texts do not come in.
    SkipDuplicates,
    /// Known ids are replaced, also by something older.
    Overwrite,
    /// Known ids that say something else come in beside it, under a fresh id.
    Rename,
}

impl MergeStrategy {
    /// By its name.
    ///
    /// # Errors
    /// Wrong usage for any other word.
    pub fn parse(word: &str) -> ApiResult<Self> {
        match word {
            "skip_duplicates" => Ok(Self::SkipDuplicates),
            "overwrite" => Ok(Self::Overwrite),
            "rename" => Ok(Self::Rename),
            _ => Err(ApiError::new("usage", 2, format!("{word} is not skip_duplicates, overwrite or rename."))),
        }
    }
}

/// Outcome counts; `found` is always the sum of the others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct Outcome {
    pub found: u32,
    pub added: u32,
    pub updated: u32,
    pub unchanged: u32,
    pub blocked: u32,
    pub skipped: u32,
    pub failed: u32,
}

/// Attachments that messages name, and how many bytes of them are in the input.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct AttachmentCounts {
    pub referenced: u32,
    pub present: u32,
}

/// Something worth knowing that did not cost a record.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Warning {
    pub code: String,
    pub place: String,
    pub message: String,
    pub count: u32,
}

/// Anything that was not plainly added.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReportItem {
    /// As in `by_kind`; null in reports of former imports.
    pub kind: Option<String>,
    pub place: String,
    /// `updated`, `unchanged`, `blocked`, `skipped` or `failed`.
    pub outcome: String,
    pub reason: String,
}

/// What would be new, as a preview finds it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ComingItem {
    pub kind: String,
    pub place: String,
    /// How it begins, in one line; may be empty.
    pub text: String,
}

/// Result of an import, of its preview (`dry_run`), and the report kept with the batch.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ImportReport {
    /// Empty for a dry run.
    pub batch: String,
    pub format: Option<String>,
    pub version: Option<String>,
    pub dry_run: bool,
    #[serde(flatten)]
    pub total: Outcome,
    pub by_kind: BTreeMap<String, Outcome>,
    pub tombstones_applied: u32,
    pub conversations: u32,
    pub messages: u32,
    pub memories: u32,
    pub attachments: AttachmentCounts,
    /// Attachments that are named and not in the input; null in reports of former imports.
    #[serde(default)]
    pub missing_attachments: Option<u32>,
    pub missing_parts: Vec<String>,
    /// By kind: what earlier exports of the account told and this newest one does not. Not in reports of former imports.
    #[serde(default)]
    pub gone: BTreeMap<String, u32>,
    pub warnings: Vec<Warning>,
    pub items: Vec<ReportItem>,
    /// Of a preview only: what would be new, as far as it is listed.
    pub coming: Vec<ComingItem>,
    /// Of a preview only: names of attachments that are not in the input, as far as they are listed.
    pub missing_files: Vec<String>,
    /// Per source in the drop: what it is.
    pub sources: Vec<Detection>,
}

/// Progress of a job, at most about ten a second.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Progress {
    /// Import: `detect`, `read`, `store`, `index`, `check`; export: `collect`, `write`, `validate`; erase: place names.
    pub stage: String,
    #[specta(type = TsNumber)]
    pub done: u64,
    /// 0 when unknown.
    #[specta(type = TsNumber)]
    pub total: u64,
    /// Bytes, or records, as the stage says.
    pub unit: String,
    pub records: u32,
}

/// One batch.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct BatchInfo {
    pub batch: String,
    pub at: String,
    pub format: Option<String>,
    /// File names only.
    pub names: Vec<String>,
    pub added: u32,
    pub updated: u32,
    pub unchanged: u32,
    /// Held back by a deletion.
    pub blocked: u32,
    pub skipped: u32,
    /// Unreadable.
    pub failed: u32,
    pub undone: bool,
    /// Records of it that were edited since; undo would take the edits back as well.
    pub edited_since: u32,
    /// Where a file of it lies, if it is still there.
    pub file: Option<String>,
}

/// All batches, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Batches {
    pub batches: Vec<BatchInfo>,
}

/// An import of which nothing was kept.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FailedImport {
    /// Number of its entry in the log.
    pub seq: u32,
    /// Where its files lay; none of a text that was pasted.
    pub paths: Vec<String>,
    /// What was said at the time.
    pub error: ErrorBody,
}

/// Imports that failed, oldest first, as far as more is known of them than the log says.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FailedImports {
    pub failed: Vec<FailedImport>,
}

/// Result of taking a batch back.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Undone {
    pub removed: u32,
}

/// One problem found by a validator.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Finding {
    pub code: String,
    pub place: String,
    pub message: String,
}

impl From<mementory_formats::Finding> for Finding {
    fn from(found: mementory_formats::Finding) -> Self {
        Self { code: found.code, place: found.place, message: found.message }
    }
}

/// State of a signature.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SignatureInfo {
    pub present: bool,
    pub algorithm: Option<String>,
    pub valid: Option<bool>,
    pub trusted: Option<bool>,
    pub key: Option<String>,
}

/// The signature of one tombstone inside a file.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TombstoneSignature {
    pub id: String,
    pub valid: bool,
    pub trusted: Option<bool>,
}

/// Signatures of a file that was checked.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct CheckedSignature {
    pub present: bool,
    pub algorithm: Option<String>,
    pub valid: Option<bool>,
    pub trusted: Option<bool>,
    pub key: Option<String>,
    pub tombstones: Vec<TombstoneSignature>,
}

/// Result of `validate`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Validation {
    pub ok: bool,
    pub format: Option<String>,
    pub version: Option<String>,
    pub level: Option<String>,
    pub records: u32,
    pub kind: Option<String>,
    pub signature: CheckedSignature,
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
}
