//! The content of an Evidence Pack, as plain data.
use mementory_model::{Kind, Timestamp, Tombstone};
use std::collections::BTreeMap;

/// File with the receipts of the deletions. [`RECEIPTS_FILE`], [`AUDIT_CHAIN_FILE`] and [`TRANSFERS_FILE`] are not part
/// of the specification, so other programs treat them as files without records.
pub const RECEIPTS_FILE: &str = "audit/receipts.jsonl";
/// File with the hash and signature of each entry in the audit trail.
pub const AUDIT_CHAIN_FILE: &str = "audit/chain.jsonl";
/// File with the imports and exports of the vault and their file names.
pub const TRANSFERS_FILE: &str = "audit/transfers.jsonl";

/// One event of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Time of the event.
    pub at: Timestamp,
    /// Opaque name of the person or program that caused the event.
    pub actor: String,
    /// Operation (`import`, `erase` …).
    pub op: String,
    /// Subject of the operation. If `kind` is given, this is the vault id of a record; the pack contains the record's
    /// id in exported bundles instead.
    pub target: String,
    /// Kind of the record that `target` refers to. None if `target` refers to no record.
    pub kind: Option<Kind>,
    /// Reason for the event, or a count. It contains no personal data, and may be empty.
    pub reason: String,
}

/// One edge: a record was derived from another, or two entities are related.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenanceEdge {
    /// Id of the edge.
    pub id: String,
    /// Id, as written in a bundle, of the derived record or of the first entity.
    pub source: String,
    /// Id, as written in a bundle, of the record that `source` was derived from, or of the second entity.
    pub target: String,
    /// `derived_from`, or the relation of a graph edge.
    pub relation: String,
    /// Time at which the edge was recorded.
    pub recorded: Timestamp,
    /// Start of the edge's validity.
    pub valid_from: Timestamp,
    /// End of the edge's validity.
    pub valid_to: Option<Timestamp>,
    /// Id of the edge that replaced this edge.
    pub superseded_by: Option<String>,
    /// Confidence, from 0 to 1.
    pub confidence: f64,
    /// Ids of the episodes that support the edge.
    pub evidence: Vec<String>,
}

/// The parts that a pack contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectedParts {
    /// Tombstones and provenance edges.
    pub tombstones: bool,
    /// The audit trail.
    pub audit_trail: bool,
    /// Instructions for checking the pack, and the public key of its signature.
    pub howto: bool,
}

impl Default for SelectedParts {
    /// Selects the parts that the specification requires.
    fn default() -> Self {
        Self { tombstones: true, audit_trail: true, howto: false }
    }
}

/// Content of a pack.
#[derive(Debug, Clone)]
pub struct EvidencePack {
    /// Selects which of the following parts are written.
    pub selected: SelectedParts,
    /// Program that writes the pack, as `vendor/version`.
    pub generator: String,
    /// Time of the export.
    pub created: Timestamp,
    /// Only deletions and events from this time on are written. Edges are always complete, because a new deletion may
    /// concern an old edge.
    pub since: Option<Timestamp>,
    /// Only deletions and events up to this time are written.
    pub until: Option<Timestamp>,
    /// All tombstones, in the form that [`mementory_format::RecordSource::tombstones`] returns.
    pub tombstones: Vec<Tombstone>,
    /// The audit trail.
    pub audit: Vec<AuditEntry>,
    /// Provenance edges.
    pub edges: Vec<ProvenanceEdge>,
    /// Lines of additional files ([`RECEIPTS_FILE`], [`AUDIT_CHAIN_FILE`], [`TRANSFERS_FILE`]), by path.
    pub extra_files: BTreeMap<&'static str, Vec<String>>,
}
