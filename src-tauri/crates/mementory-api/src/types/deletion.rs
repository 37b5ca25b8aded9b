//! Types for the Trash, redactions, erasures, receipts and tombstones.
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Ids of the records that an operation changed.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Ids {
    pub ids: Vec<String>,
}

/// A span of a record's `text` in Unicode code points (end exclusive). The redaction mark that replaces it names its
/// class: `[REDACTED:password]`.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    /// The class of sensitive value, in lower snake case. Default: `removed`.
    pub class: Option<String>,
}

/// Request to redact spans of a record, which cannot be undone.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RedactRequest {
    pub id: String,
    pub spans: Vec<Span>,
    /// True to also redact the same words in other records.
    #[serde(default)]
    pub everywhere: bool,
}

/// Preview of what a redaction would change.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RedactPreview {
    /// Number of records that would be redacted, including the requested one.
    pub redacted: u32,
    /// Number of records that would be redacted, by kind.
    pub kinds: BTreeMap<String, u32>,
}

/// Result of a redaction.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Redacted {
    pub id: String,
    /// Number of records that were redacted, including the requested one.
    pub redacted: u32,
    pub tombstone: TombstoneView,
    pub receipt: Receipt,
}

/// Request to erase records.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct EraseRequest {
    pub ids: Vec<String>,
    pub reason: Option<String>,
    /// True to also redact other records that contain sentences of these records.
    pub with_copies: bool,
    /// Ids of the copies to redact. Null: all copies that were found.
    pub copies: Option<Vec<String>>,
}

/// Another record that contains sentences of a record to erase.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RecordCopy {
    pub id: String,
    pub kind: String,
    pub text: String,
    pub source: String,
    pub conversation_id: Option<String>,
    pub conversation_title: Option<String>,
    pub created_at: Option<String>,
}

/// What an erasure would remove. The records in `copies` contain sentences of the records to erase. They stay, and
/// these sentences are redacted in them if the request asks for it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Impact {
    pub records: u32,
    /// Number of the requested records by kind.
    pub kinds: BTreeMap<String, u32>,
    /// Number of records that would be removed, by assistant.
    pub sources: BTreeMap<String, u32>,
    pub versions: u32,
    pub derived: u32,
    pub links: u32,
    pub attachments: u32,
    /// Number of passthrough files of imports that contain words of the records to erase.
    pub passthrough: u32,
    pub copies: Vec<RecordCopy>,
    /// Ids of all records that would be removed.
    pub ids: Vec<String>,
}

/// One place that was searched for leftover traces after an erasure.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ReceiptPlace {
    /// `record`, `search_index`, `database_pages`, `attachments`, `passthrough`, `write_ahead_log`, `temporary_files` …
    pub place: String,
    /// `erased`, `redacted`, `not_present` or `failed`.
    pub outcome: String,
    pub detail: String,
}

/// The receipt of an erasure or redaction. `complete` is true only if no place failed.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Receipt {
    pub id: String,
    pub at: String,
    pub complete: bool,
    pub places: Vec<ReceiptPlace>,
    /// Number of other records that contain sentences of the erased records and were left unchanged.
    pub copies_left: u32,
    /// Number of other records in which sentences of the erased records were redacted. Null in older receipts, which do
    /// not contain this number.
    pub copies_redacted: Option<u32>,
}

/// A signed tombstone, which contains no record content.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TombstoneView {
    pub id: String,
    /// `delete` or `redact`.
    pub op: String,
    pub target_kind: String,
    pub target_id: String,
    pub origin_id: Option<String>,
    pub source: Option<String>,
    pub at: String,
    pub actor: String,
    pub reason: Option<String>,
    /// Ids of derived records that were removed with the record.
    pub derived: Vec<String>,
    pub signature: String,
    /// True if the signature was valid when the list was requested.
    pub signature_valid: bool,
    /// Id of the receipt. `complete` says whether this receipt is complete.
    pub receipt: Option<String>,
    pub complete: Option<bool>,
}

/// Result of an erasure.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Erased {
    pub tombstones: Vec<TombstoneView>,
    pub receipt: Receipt,
    /// Number of other records in which sentences of the erased records were redacted.
    pub copies_redacted: u32,
}

/// Preview of an erasure (`erase --dry-run`).
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ErasePreview {
    pub impact: Impact,
}

/// All tombstones, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct Tombstones {
    pub tombstones: Vec<TombstoneView>,
}
