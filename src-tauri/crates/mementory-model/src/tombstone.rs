//! Tombstones: statements that a record was deleted. They do not contain its content.
use crate::{RecordKey, Timestamp};
use serde::{Deserialize, Serialize};

/// The kind of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TombstoneOp {
    /// The record was deleted.
    Delete,
    /// The content of the record was deleted. The record itself remains without it.
    Redact,
}

/// Ids of derived data that was deleted together with the target, and the target's key. All fields except the key
/// follow `.mem` spec v1.1 §5, in snake case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Derived {
    /// Sentences that were split from the target.
    pub sentence_ids: Vec<String>,
    /// Facts that were extracted from the target.
    pub fact_ids: Vec<String>,
    /// Relations that no remaining record supports.
    pub edge_ids: Vec<String>,
    /// Entities that had no relation left.
    pub entity_ids: Vec<String>,
    /// Chunks of the target.
    pub chunk_ids: Vec<String>,
    /// Keys of the source's embedding cache.
    pub embedding_cache_keys: Vec<String>,
    /// Number of removed episode links.
    pub episode_link_count: u64,
    /// The key of the target, by which a vault that read the target from the same source finds it. None if the key has
    /// words of the target, or if the tombstone already names the target by its id at the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_key: Option<RecordKey>,
}

/// A tombstone as formats exchange it: a statement that a record was deleted, without its content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The id of the tombstone.
    pub id: String,
    /// The kind of the deletion.
    pub op: TombstoneOp,
    /// The kind of the target, as named in the format (`episode`, `fact` …).
    pub target_kind: String,
    /// Id of the target at its source, which `scope` names.
    pub target_id: String,
    /// Scope of `target_id` (`mem`, `chatgpt` …). The vault needs both to look up the record.
    pub scope: String,
    /// The time of the deletion.
    pub at: Timestamp,
    /// The person or program that deleted the target, as opaque text.
    pub actor: String,
    /// The reason, without personal data.
    pub reason: String,
    /// The derived data that was deleted with the target.
    pub derived: Derived,
    /// The signature token, as written in the format.
    pub signature: Option<String>,
    /// The original JSON. None if the tombstone was not read from a file.
    pub verbatim: Option<String>,
}
