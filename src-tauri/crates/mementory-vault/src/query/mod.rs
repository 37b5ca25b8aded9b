//! Reads the vault: records, lists, counts, search, files, imports.
mod batches;
mod counts;
mod exported;
mod file_bytes;
mod file_counts;
mod files;
mod list;
mod passthrough_files;
mod reader;
mod search;
mod summary;

pub use batches::{BatchRow, Batches};
pub use counts::{FacetCounts, SourceCounts, VaultCounts};
pub(crate) use exported::export_time;
pub use file_counts::FileCount;
pub use files::{FileFacts, Files};
pub use list::{ListPage, ListQuery, Queries, Sort};
pub use reader::{LinkRow, Reader, VersionRow};
pub use search::Search;
pub use summary::Summary;
