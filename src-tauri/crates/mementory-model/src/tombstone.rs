//! Proof that something was deleted, without its content.
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// The kind of deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TombstoneOp {
    /// The record was removed.
    Delete,
    /// The content was removed; the record remains without it.
    Redact,
}

/// Ids of derived data that was deleted as well (the field names of `.mem` spec v1.1 §5, in snake case).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Derived {
    /// Split sentences.
    pub sentence_ids: Vec<String>,
    /// Facts.
    pub fact_ids: Vec<String>,
    /// Relations whose last evidence was deleted.
    pub edge_ids: Vec<String>,
    /// Entities without any relation left.
    pub entity_ids: Vec<String>,
    /// Chunks.
    pub chunk_ids: Vec<String>,
    /// Embedding cache keys.
    pub embedding_cache_keys: Vec<String>,
    /// Removed links.
    pub episode_link_count: u64,
}

/// A tombstone as formats exchange it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The id of the tombstone.
    pub id: String,
    /// Delete or redact.
    pub op: TombstoneOp,
    /// The kind, as named in the format (`episode`, `fact` …).
    pub target_kind: String,
    /// Id of the target in the format's id space.
    pub target_id: String,
    /// Scope of `target_id` (`mem`, `chatgpt`, …), which the vault needs to find its record.
    pub scope: String,
    /// The time of the deletion.
    pub at: Timestamp,
    /// The person or program that deleted it, as opaque text.
    pub actor: String,
    /// The reason, without personal data.
    pub reason: String,
    /// The derived data that was deleted as well.
    pub derived: Derived,
    /// The signature token, as written in the format.
    pub signature: Option<String>,
    /// The original JSON, if it was read from a file.
    pub verbatim: Option<String>,
}
