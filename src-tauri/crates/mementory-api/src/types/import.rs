//! Types for detecting, validating and importing files, and for import reports.
use super::{ErrorBody, TsNumber};
use crate::{ApiError, ApiResult};
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// One file of a source and its role in the export.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct PartInfo {
    pub path: String,
    pub format: Option<String>,
    /// `conversations`, `memories`, `attachment`, `manifest`, `sidecar`, `duplicate_rendering` …
    pub role: String,
}

/// A format and its capabilities.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FormatInfo {
    pub id: String,
    /// Name of the format.
    pub name: String,
    pub read: bool,
    pub write: bool,
    /// Whether exports can be signed.
    pub signs: bool,
    /// Whether exports can be encrypted with a passphrase.
    pub encrypts: bool,
}

/// A format that a file may have.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Candidate {
    pub format: String,
    /// Confidence that the file has this format, from 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    pub reason: String,
}

/// The format that was detected for one path. `format` is null if the format is ambiguous or unknown. `candidates` are
/// then the formats between which the person has to choose.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Detection {
    pub path: String,
    pub format: Option<String>,
    pub version: Option<String>,
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// True if the file is encrypted as a whole, so that its format cannot be detected without the passphrase.
    pub encrypted: bool,
    pub reason: String,
    pub parts: Vec<PartInfo>,
    pub missing_parts: Vec<String>,
    pub candidates: Vec<Candidate>,
    /// True if several formats recognised the file about equally well. If no format recognised the file, `tie` is false
    /// and `candidates` contains the most similar formats, best first; the last candidate imports the file as a plain
    /// file.
    pub tie: bool,
}

/// Detection results, one for each given path.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Detections {
    pub results: Vec<Detection>,
}

/// What exists at a path. The content is not read.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct PathInfo {
    pub path: String,
    pub folder: bool,
    /// Size in bytes. Null for everything except files, and for missing paths.
    #[specta(type = Option<TsNumber>)]
    pub size: Option<u64>,
}

/// Request to import files or a text.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ImportRequest {
    pub paths: Vec<String>,
    /// Pasted text, to import instead of files.
    pub text: Option<String>,
    /// Id of the format that the person chose. Null: detect the format.
    pub format: Option<String>,
    /// Largest number of bytes to read. Null: the default limit.
    #[specta(type = Option<TsNumber>)]
    pub limit_bytes: Option<u64>,
    /// True to also import records that are blocked because they were deleted before.
    #[serde(default)]
    pub include_blocked: bool,
    /// True to import a file whose signature is invalid, without the signature. Otherwise, such a file is refused.
    #[serde(default)]
    pub accept_invalid_signature: bool,
    /// How to resolve a conflict with an existing record. Null: the newer version wins.
    #[serde(default)]
    pub merge: Option<MergeStrategy>,
    /// True to import the readable remainder of a file that is damaged or lacks parts that it lists.
    #[serde(default)]
    pub salvage: bool,
}

/// How to import a record that is already in the vault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "snake_case")]
pub enum MergeStrategy {
    /// Skip records with an existing id or an equal text.
    SkipDuplicates,
    /// Replace records with an existing id, even if the imported version is older.
    Overwrite,
    /// If a record has an existing id but a different text, leave the existing record and import the new one under
    /// another id.
    Rename,
}

impl MergeStrategy {
    /// Parses the name of a strategy.
    ///
    /// # Errors
    /// `usage` for any other word.
    pub fn parse(word: &str) -> ApiResult<Self> {
        match word {
            "skip_duplicates" => Ok(Self::SkipDuplicates),
            "overwrite" => Ok(Self::Overwrite),
            "rename" => Ok(Self::Rename),
            _ => Err(ApiError::usage(format!(
                "{word} is not a merge strategy. Nothing was imported. Use skip_duplicates, overwrite or rename."
            ))),
        }
    }
}

/// A part of a file that is missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Type)]
pub struct MissingPart {
    pub place: String,
    /// A stable code, then `: ` and details.
    pub reason: String,
}

/// Numbers of records by outcome of the import. `found` is always the sum of the other numbers.
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

/// Number of attachments that messages reference, and number of those that are in the input.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct AttachmentCounts {
    pub referenced: u32,
    pub present: u32,
}

/// A problem that did not cause any record to be lost.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Warning {
    pub code: String,
    pub place: String,
    pub message: String,
    pub count: u32,
}

/// A record that was not added as new.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReportItem {
    /// Kind of the record, as in `by_kind`. Null in reports of older imports.
    pub kind: Option<String>,
    pub place: String,
    /// `updated`, `unchanged`, `blocked`, `skipped` or `failed`.
    pub outcome: String,
    pub reason: String,
}

/// A record that a preview would add.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ComingItem {
    pub kind: String,
    pub place: String,
    /// The beginning of the record's text in one line. May be empty.
    pub text: String,
}

/// Result of an import or its preview (`dry_run`), and the stored report of a batch.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ImportReport {
    /// Id of the batch. Empty for a dry run.
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
    /// Number of attachments that are referenced but not in the input. Null in reports of older imports.
    #[serde(default)]
    pub missing_attachments: Option<u32>,
    pub missing_parts: Vec<String>,
    /// True if `missing` is not empty, so that only the remainder of the file was imported.
    #[serde(default)]
    pub salvaged: bool,
    /// The missing or damaged parts of the file, if the person chose to import the remainder.
    #[serde(default)]
    pub missing: Vec<MissingPart>,
    /// Number of records, by kind, that earlier exports of the account contained and this newest export does not. Empty
    /// in reports of older imports.
    #[serde(default)]
    pub gone: BTreeMap<String, u32>,
    /// Places of signatures that are invalid. Empty in stored reports.
    #[serde(default)]
    pub invalid_signatures: Vec<String>,
    pub warnings: Vec<Warning>,
    pub items: Vec<ReportItem>,
    /// Records that would be added, up to a limit. Only in a preview.
    pub coming: Vec<ComingItem>,
    /// Names of attachments that are not in the input, up to a limit. Only in a preview.
    pub missing_files: Vec<String>,
    /// The detected sources.
    pub sources: Vec<Detection>,
}

/// Progress of a job.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Progress {
    /// Name of the stage. Stages of an import: `detect`, `read` (only in a dry run), `store`, `index`. Stages of an
    /// export: `write`, `validate`. Stages of an erasure: the names of the places.
    pub stage: String,
    #[specta(type = TsNumber)]
    pub done: u64,
    /// Total number of bytes or records in the stage. 0 if it is unknown.
    #[specta(type = TsNumber)]
    pub total: u64,
    /// Unit of `done` and `total`: `bytes` or `records`, depending on the stage. In an erasure, the unit is `place`,
    /// and `done` and `total` are 0.
    pub unit: String,
    pub records: u32,
}

/// An import, which was committed as a whole and can be undone as a whole.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct BatchInfo {
    pub batch: String,
    pub at: String,
    pub format: Option<String>,
    /// Names of the imported files, without their folders.
    pub names: Vec<String>,
    pub added: u32,
    pub updated: u32,
    pub unchanged: u32,
    /// Number of records that were not imported because they were deleted before.
    pub blocked: u32,
    pub skipped: u32,
    /// Number of records that could not be read.
    pub failed: u32,
    pub undone: bool,
    /// Number of records of the batch that were edited after the import. Undoing the import would undo the edits too.
    pub edited_since: u32,
    /// Path of an imported file, if the file still exists.
    pub file: Option<String>,
}

/// All batches, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Batches {
    pub batches: Vec<BatchInfo>,
}

/// An import that failed and added nothing to the vault.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FailedImport {
    /// Sequence number of the import's entry in the audit log.
    pub seq: u32,
    /// Paths of the files. Empty for pasted text.
    pub paths: Vec<String>,
    /// The error with which the import ended.
    pub error: ErrorBody,
}

/// Failed imports with stored details, oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct FailedImports {
    pub failed: Vec<FailedImport>,
}

/// Result of undoing an import.
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
