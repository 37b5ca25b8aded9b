//! The store of a vault: the SQLCipher database, packs with the record bodies, encrypted blobs, keyed ids, the audit
//! log, and tombstones. It does not depend on any of the crates above it.
pub mod audit;
pub mod blobs;
pub mod details;
mod error;
pub mod export_ids;
mod file_kind;
mod halves;
pub mod ids;
mod pack_writer;
mod packs;
mod record_columns;
mod rows;
mod scrub;
mod store;
pub mod tombstones;
pub mod trash;
mod wal;

pub use error::{StoreError, StoreResult, unwrap_format};
pub use file_kind::{FileKind, KIND_SQL};
pub use halves::in_halves;
pub use pack_writer::PackWriter;
pub use packs::{Entry, Packs};
pub use record_columns::{ListPosition, MAX_PREVIEW_CHARS, RecordColumns, is_branched, write_columns, write_tags};
pub use rows::{Cause, Flags, ROW_COLUMNS, RenewedValues, RowView, kind_code, kind_from_code, next_row, platform_id};
pub use scrub::{scrub, scrub_all};
pub use store::{DATABASE_FILE, SCHEMA_VERSION, Store, blobs_in_use, failing_pages, page_problems};

/// Key in the table `meta` for the number of the last change that was removed from the change log, because the index
/// already contains it.
pub const LAST_REMOVED_CHANGE_KEY: &str = "changes_forgotten";

/// The first version of the database schema, for tests of query plans.
#[doc(hidden)]
pub const SCHEMA: &str = include_str!("schema.sql");
