//! Sensitive values: where they are, never what they are.
use super::Filter;
use serde::{Deserialize, Serialize};
use specta::Type;
use std::collections::BTreeMap;

/// Which records to look through, and for what.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ScanRequest {
    pub filter: Filter,
    /// Only these classes; empty = all.
    pub classes: Vec<String>,
}

/// One value in one place. Offsets are Unicode code points of the field, end exclusive, as a redaction takes them.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitiveFinding {
    pub id: String,
    pub kind: String,
    /// `text`, `title`, `file` (what the source says is in a file) or `block` (thinking, tool calls).
    pub field: String,
    /// `access_key`, `private_key`, `password`, `card`, `iban`, `email`, `phone`, `national_id`.
    pub class: String,
    pub detector: String,
    /// `possible`, `likely`, `very_likely`.
    pub confidence: String,
    pub start: u32,
    pub end: u32,
    /// Equal for equal values, in this vault only; says nothing of the value.
    pub value: String,
}

/// What a look found.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Scan {
    pub findings: Vec<SensitiveFinding>,
    pub by_class: BTreeMap<String, u32>,
}

/// A page of the values that a look found, one entry for each value.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SensitiveRequest {
    /// `open` (default), `redacted`, `ignored`.
    pub state: String,
    /// Only these classes; empty = all.
    pub classes: Vec<String>,
    pub offset: u32,
    /// 1..500, default 100.
    pub limit: u32,
}

/// A piece of the text around a value; `hidden` names the class where a value stands.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ContextPiece {
    pub text: String,
    pub hidden: Option<String>,
    /// It is the value that the entry is about.
    pub this: bool,
}

/// A record that holds a value. Sensitive values in its title are bars.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitivePlace {
    pub id: String,
    pub kind: String,
    /// `text`, `title`, `file` or `block`.
    pub field: String,
    /// Messages: `user`, `assistant` …
    pub role: Option<String>,
    pub source: String,
    /// Of the record, or of the conversation it belongs to; else how its text begins.
    pub title: String,
    pub conversation_id: Option<String>,
    pub at: Option<String>,
}

/// One value; never what it is.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitiveItem {
    /// Fingerprint; says nothing of the value.
    pub value: String,
    pub class: String,
    /// Which rule found it; empty when it is redacted.
    pub detector: String,
    /// `possible`, `likely`, `very_likely`.
    pub confidence: String,
    /// Records that hold it, or that lost it.
    pub places: u32,
    /// When it was ignored or redacted.
    pub judged_at: Option<String>,
    /// Where it stands first.
    pub first: Option<SensitivePlace>,
    pub context: Vec<ContextPiece>,
}

/// A page, and how long each queue is by class.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct SensitiveQueue {
    pub items: Vec<SensitiveItem>,
    pub open: BTreeMap<String, u32>,
    pub redacted: BTreeMap<String, u32>,
    pub ignored: BTreeMap<String, u32>,
    /// When everything was looked through last; none = never.
    pub looked_at: Option<String>,
    /// Records that were not looked through yet, at most.
    pub left: u32,
}

/// One value with more of the text around it, and its places (the first 500).
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct SensitiveDetail {
    pub item: SensitiveItem,
    pub places: Vec<SensitivePlace>,
}

/// Redact values: these, or every open one of some classes.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct RedactValuesRequest {
    pub values: Vec<String>,
    /// With no values: every open value of these classes.
    pub classes: Vec<String>,
    /// Only in these records; null = in all.
    pub ids: Option<Vec<String>>,
}

/// Result of redacting values.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct RedactedValues {
    /// Records changed.
    pub redacted: u32,
    pub tombstones: Vec<super::TombstoneView>,
    pub receipt: super::Receipt,
}

/// What a look did.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Looked {
    /// Records looked through.
    pub records: u32,
}
