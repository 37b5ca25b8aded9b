//! Types for sensitive values: where they are, and the review queue. These types never contain the values themselves.
use super::Filter;
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Which records to scan, and which classes of sensitive values to look for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ScanRequest {
    pub filter: Filter,
    /// The classes of sensitive values. Empty: all classes.
    pub classes: Vec<String>,
}

/// One occurrence of a sensitive value. Offsets are Unicode code points of the field (end exclusive), as in a
/// redaction.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitiveFinding {
    pub id: String,
    pub kind: String,
    /// The field of the record: `text`, `title`, `file` (text of a file, as given by the source), `block` (thinking,
    /// tool calls) or `verbatim` (a plaintext secret in a credential).
    pub field: String,
    /// `access_key`, `private_key`, `password`, `card`, `iban`, `email`, `phone`, `national_id`, `stored_secret`.
    pub class: String,
    pub detector: String,
    /// Confidence that the value is sensitive: `possible`, `likely`, `very_likely`.
    pub confidence: String,
    pub start: u32,
    pub end: u32,
    /// Fingerprint of the value. Equal values in this vault have the same fingerprint, which reveals nothing about
    /// them.
    pub value: String,
}

/// Result of a scan.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Scan {
    pub findings: Vec<SensitiveFinding>,
    pub by_class: BTreeMap<String, u32>,
}

/// Request for a page of the review queue, which has one entry for each distinct value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SensitiveRequest {
    /// State of the values to return: `open` (default), `redacted` or `ignored`.
    pub state: String,
    /// The classes of sensitive values. Empty: all classes.
    pub classes: Vec<String>,
    pub offset: u32,
    /// Largest number of entries to return, from 1 to 500. Default: 100.
    pub limit: u32,
}

/// A segment of the text around a value. If the segment was a sensitive value, it is masked and `hidden` names its
/// class.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ContextPiece {
    pub text: String,
    pub hidden: Option<String>,
    /// True if the segment is an occurrence of the value of this queue entry.
    pub this: bool,
}

/// A record that contains a value. Sensitive values in its title are masked.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitivePlace {
    pub id: String,
    pub kind: String,
    /// `text`, `title`, `file`, `block` or `verbatim`.
    pub field: String,
    /// For messages: `user`, `assistant` …
    pub role: Option<String>,
    pub source: String,
    /// Title of the record or of its conversation. If there is none, the beginning of the record's text.
    pub title: String,
    pub conversation_id: Option<String>,
    pub at: Option<String>,
}

/// An entry of the review queue, which describes a value without containing it.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitiveItem {
    /// Fingerprint of the value, which reveals nothing about the value.
    pub value: String,
    pub class: String,
    /// Name of the rule that found the value. Empty if the value is redacted.
    pub detector: String,
    /// Confidence that the value is sensitive: `possible`, `likely`, `very_likely`.
    pub confidence: String,
    /// Number of records that contain the value, or contained it before the redaction.
    pub places: u32,
    /// When the value was ignored or redacted.
    pub judged_at: Option<String>,
    /// The first record that contains the value.
    pub first: Option<SensitivePlace>,
    pub context: Vec<ContextPiece>,
}

/// A page of the review queue, and the number of values in each state, by class.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SensitiveQueue {
    pub items: Vec<SensitiveItem>,
    pub open: BTreeMap<String, u32>,
    pub redacted: BTreeMap<String, u32>,
    pub ignored: BTreeMap<String, u32>,
    /// When the last complete scan ended. Null if there was none.
    pub scanned_at: Option<String>,
    /// Largest possible number of records that are not scanned yet.
    pub left: u32,
}

/// A value with more of the surrounding text, and the records that contain it (at most 500).
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitiveDetail {
    pub item: SensitiveItem,
    pub places: Vec<SensitivePlace>,
}

/// Request to redact the given values, or all values of some classes that the person has not reviewed yet.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct RedactValuesRequest {
    pub values: Vec<String>,
    /// Used if `values` is empty: all values of these classes that the person has not reviewed yet are redacted.
    pub classes: Vec<String>,
    /// Ids of the records in which the values are redacted. Null: all records.
    pub ids: Option<Vec<String>>,
}

/// Result of redacting values.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RedactedValues {
    /// Number of records that were changed.
    pub redacted: u32,
    pub tombstones: Vec<super::TombstoneView>,
    pub receipt: super::Receipt,
}

/// Result of a scan for the review queue.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ScannedRecords {
    /// Number of scanned records.
    pub records: u32,
}
