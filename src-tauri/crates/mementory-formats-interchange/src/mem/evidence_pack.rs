//! The content of an Evidence Pack, as plain data.
use mementory_model::{Kind, Timestamp, Tombstone};
use std::collections::BTreeMap;

/// File with the receipts of the deletions. This file and the next two are not part of the specification. Other
/// programs treat them as files without records.
pub const RECEIPTS: &str = "audit/receipts.jsonl";
/// File with the hash and signature of each entry of the audit trail.
pub const CHAIN: &str = "audit/chain.jsonl";
/// File with the imports and exports and their file names.
pub const TRANSFERS: &str = "audit/transfers.jsonl";

/// One event of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// When it happened.
    pub at: Timestamp,
    /// Opaque name of the person or program that did it.
    pub actor: String,
    /// Operation (`import`, `erase` …).
    pub op: String,
    /// Subject of the operation. If `kind` is given, a vault id is written as the id of the record in our bundles.
    pub target: String,
    /// Kind of the record that `target` names. None if it does not name a record.
    pub kind: Option<Kind>,
    /// Reason or count; no personal data. May be empty.
    pub reason: String,
}

/// One edge: a record was derived from another, or two entities are related.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenanceEdge {
    /// Id of the edge.
    pub id: String,
    /// Id in bundles of the derived record or of the first entity.
    pub source: String,
    /// Id in bundles of the record that it was derived from, or of the second entity.
    pub target: String,
    /// `derived_from`, or the relation of a graph edge.
    pub relation: String,
    /// When it was recorded.
    pub recorded: Timestamp,
    /// Start of its validity.
    pub valid_from: Timestamp,
    /// End of its validity.
    pub valid_to: Option<Timestamp>,
    /// Id of the edge that replaced it.
    pub superseded_by: Option<String>,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// Ids of the episodes that support it.
    pub evidence: Vec<String>,
}

/// Which parts a pack contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// Tombstones and provenance edges.
    pub tombstones: bool,
    /// The audit trail.
    pub log: bool,
    /// Instructions for checking the pack, and the public key.
    pub guide: bool,
}

impl Default for Chosen {
    /// The parts that the specification requires.
    fn default() -> Self {
        Self { tombstones: true, log: true, guide: false }
    }
}

/// Content of a pack.
#[derive(Debug, Clone)]
pub struct EvidencePack {
    /// Which of the following parts to write.
    pub chosen: Chosen,
    /// Program that writes the pack, as `vendor/version`.
    pub generator: String,
    /// Time of the export.
    pub created: Timestamp,
    /// Only deletions and events from this time on. Edges are always complete: a new deletion may concern an old edge.
    pub since: Option<Timestamp>,
    /// Only deletions and events until this time.
    pub until: Option<Timestamp>,
    /// All tombstones, as [`mementory_format::RecordSource::tombstones`] gives them.
    pub tombstones: Vec<Tombstone>,
    /// The audit trail.
    pub audit: Vec<AuditEntry>,
    /// Provenance edges.
    pub edges: Vec<ProvenanceEdge>,
    /// Lines of additional files, by path.
    pub beside: BTreeMap<&'static str, Vec<String>>,
}
