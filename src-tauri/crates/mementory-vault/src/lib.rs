//! The encrypted vault: store (SQLCipher, the truth), index (tantivy, disposable), blobs, deletion with proof, audit.
//!
//! ```text
//! Name.mementory/  vault.json (key slots)  store.db  index/  blobs/  lock
//! ```
mod audit;
mod backup;
mod change;
mod duplicates;
mod export;
mod import;
mod keyring;
mod provider;
mod query;
mod scratch;
mod sensitive;
mod vault;
pub mod watching;
mod whereabouts;

pub use backup::{Backup, FoundBackup, backups_of};
pub use change::{EditFields, Emptied, EraseOutcome, ErasePlan, RedactSpan, Sabotage};
pub use duplicates::DuplicateGroup;
pub use export::{EvidenceMade, EvidenceOrder, EvidenceParts, ExportOutcome, Scope, Written};
pub use import::{Coming, ImportCounts, ImportOptions, ImportReport, Item, ItemOutcome, KindCounts, Merge, SourceSeen};
pub use keyring::KnownKey;
pub use mementory_erasure_check::{PlaceOutcome, Receipt, ReceiptPlace};
pub use mementory_scan::{Class as SensitiveClass, Confidence};
pub use mementory_search::{IndexFilter, SearchOutcome, SearchPage, snippet};
pub use mementory_store::{
    FileKind, RowView, SCHEMA_VERSION, StoreError as VaultError, StoreResult as VaultResult, audit::AuditRow,
    tombstones::TombstoneRow,
};
pub use provider::{Standing, Standings};
pub use query::{
    BatchRow, Facts, FileCount, FileFacts, LinkRow, ListPage, ListQuery, Sort, SourceFacts, Summary, VersionRow,
    in_halves,
};
pub use scratch::Scratch;
pub use sensitive::{
    Looked, Piece, Sensitive, SensitiveList, SensitivePlace, SensitiveQuery, SensitiveState, SensitiveValue,
};
pub use vault::{CheckedPlace, IndexFault, IndexState, IndexWatch, Vault};
pub use whereabouts::{FailedImport, Whereabouts};
