//! Proof that something was deleted. Holds no content.
use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TombstoneOp {
    /// Removed.
    Delete,
    /// Content removed, a skeleton stays.
    Redact,
}

/// Ids of derived artifacts that went along (the field names of `.mem` spec v1.1 §5, in snake case).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Derived {
    /// Split sentences.
    pub sentence_ids: Vec<String>,
    /// Facts.
    pub fact_ids: Vec<String>,
    /// Relations whose last evidence vanished.
    pub edge_ids: Vec<String>,
    /// Entities orphaned by those relations.
    pub entity_ids: Vec<String>,
    /// Chunks.
    pub chunk_ids: Vec<String>,
    /// Embedding cache keys.
    pub embedding_cache_keys: Vec<String>,
    /// Links removed.
    pub episode_link_count: u64,
}

/// A tombstone as formats exchange it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Its own id.
    pub id: String,
    /// Delete or redact.
    pub op: TombstoneOp,
    /// Kind as the format names it (`episode`, `fact` …).
    pub target_kind: String,
    /// Id of the target in the format's id space.
    pub target_id: String,
    /// Scope of `target_id` (`mem`, `chatgpt`, …): with it the vault finds its own record.
    pub scope: String,
    /// When.
    pub at: Timestamp,
    /// Opaque.
    pub actor: String,
    /// Why; no personal data.
    pub reason: String,
    /// What went along.
    pub derived: Derived,
    /// Signature token as the format writes it.
    pub signature: Option<String>,
    /// The source's own JSON, when it came from a file.
    pub verbatim: Option<String>,
}
