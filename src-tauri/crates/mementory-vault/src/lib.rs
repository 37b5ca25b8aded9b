//! The encrypted vault: use cases over the store, the search index and the check after an erasure.
//!
//! ```text
//! Name.mementory/  vault.json (key slots)  store.db  index/  blobs/  erasures  lock
//! ```
//!
//! [`Vault`] opens and closes a vault. Each use case is a small struct over one context (folder, keys, store,
//! attachments, index). A short method returns it: `vault.importer()`, `vault.eraser()`, `vault.reader()` ...
mod accept_suggestion;
mod after_commit;
mod agents;
mod applied;
mod audit;
mod backup;
mod batch_rows;
mod cancel;
mod context;
mod demonstration;
mod diff_status;
mod duplicates;
mod edit;
mod erasure;
mod erasure_ledger;
mod export;
mod export_diff;
mod failed_step;
mod file_locations;
mod findings;
mod folder_lock;
mod import;
mod import_report;
mod index_sync;
mod insight;
mod insight_cache;
mod insight_decisions;
mod integrity;
mod key_ring;
mod known_values;
mod live_memories;
mod loaded_vectors;
mod meaning;
mod memory_evidence;
mod message_order;
mod meta;
mod query;
mod reached_states;
mod review;
mod row_ranges;
mod scratch;
mod sensitive;
mod suggestions;
#[cfg(test)]
mod tests;
mod trash;
mod vault;
pub mod watching;
mod word_removal;

pub use agents::{
    Call, ExportRange, Grant, GrantRefusal, GrantRights, GrantScope, GrantedExport, GrantedPage, GrantedRecord,
    GrantedView, Grants, NewGrant, OfferedDocument, OfferedMemory,
};
pub use applied::Applied;
pub use audit::AuditTrail;
pub use backup::{Backup, Backups, FoundBackup, RestoredBackup, backups_of};
pub use context::{IndexFault, IndexState};
pub use demonstration::{Demonstration, OwnContent, remove_vault};
pub use diff_status::{ExportDiff, ExportDiffStatus};
pub use duplicates::{DuplicateGroup, Duplicates};
pub use edit::{EditFields, Editor};
#[cfg(feature = "sabotage")]
pub use erasure::Sabotage;
pub use erasure::{AppliedErasures, EraseOutcome, ErasePlan, Eraser, ErasureLedger, Receipts, RedactSpan, Redactor};
pub use export::{
    EvidencePackOptions, EvidenceParts, ExportOutcome, ExportRun, Exporter, Scope, WrittenEvidencePack, WrittenFiles,
};
pub use failed_step::FailedStep;
pub use file_locations::{FailedImport, FileLocations, KnownLocations};
pub use import::{ImportOptions, Importer, Merge};
pub use import_report::{
    DatedExport, DetectedSource, ImportCounts, ImportReport, Item, ItemOutcome, KindCounts, MissingPart, PlannedRecord,
    ReachedState,
};
pub use index_sync::IndexWatch;
pub use insight::{ContradictionGroup, ContradictionPair, Contradictions, Insight, MemoryPerson, MemoryTopic};
pub use insight_cache::{AboutMemory, InsightCounts, InsightFilter, Judgement};
pub use integrity::{CheckedPlace, IntegrityCheck};
pub use key_ring::{KeyRing, KnownKey};
pub use meaning::Meaning;
pub use mementory_erasure_check::{PlaceOutcome, Receipt, ReceiptPlace};
pub use mementory_insight::{AboutKind, Special};
pub use mementory_meaning::{CachingEncoder, Encoder, EncoderError, Vector, WEIGHTS_FILE};
pub use mementory_scan::{Class as SensitiveClass, Confidence};
pub use mementory_search::{IndexFilter, SearchOutcome, SearchPage, snippet};
pub use mementory_store::{
    FileKind, RowView, SCHEMA_VERSION, StoreError as VaultError, StoreResult as VaultResult, audit::AuditRow,
    in_halves, tombstones::TombstoneRow,
};
pub use memory_evidence::{EvidenceMessage, FoundBy, FoundEvidence, MemoryEvidence, Trace};
pub use query::{
    BatchRow, Batches, FacetCounts, FileCount, FileFacts, Files, LinkRow, ListPage, ListQuery, Queries, Reader, Search,
    Sort, SourceCounts, Summary, VaultCounts, VersionRow,
};
pub use review::{Answer, AnsweredRecord, AssistantState, Review, ReviewFilter, ReviewItem};
pub use scratch::Scratch;
pub use sensitive::{
    ContextSegment, ScanProgress, Scanner, Sensitive, SensitiveList, SensitivePlace, SensitiveQuery, SensitiveState,
    SensitiveValue,
};
pub use suggestions::{Closing, QueueOutcome, Suggestion, SuggestionOp, Suggestions, is_suggestible};
pub use trash::{ExpiredTrash, Trash};
pub use vault::{Vault, create_temporary};
pub use watching::WatchedFolders;
