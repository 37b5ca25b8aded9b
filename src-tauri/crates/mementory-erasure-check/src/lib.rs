//! The check after an erasure or redaction. It must not depend on the vault crate, which plans and carries out
//! deletions; the crates check (`tests/tools/checks/crates.mjs`) enforces that. The check and the vault crate both use
//! the store, search, crypto and model crates, but the check calls only functions that read.
mod check;
mod copies;
mod entity_names;
mod evidence;
mod folder;
mod indexed_words;
mod internal;
mod joined_forms;
mod live_counts;
mod other_forms;
mod page_values;
mod pages;
mod passthrough;
mod phrases;
mod quoted_lines;
mod receipt;
mod recheck;
mod unused_bytes;
mod utf16;

pub use check::{ErasureCheck, IndexCleanup, Wipe};
pub use evidence::Evidence;
pub use folder::clear_partials;
pub use receipt::{PlaceOutcome, Receipt, ReceiptPlace};
pub use recheck::CleanupResult;
