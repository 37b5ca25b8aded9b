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
    /// `text` or `title`.
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
