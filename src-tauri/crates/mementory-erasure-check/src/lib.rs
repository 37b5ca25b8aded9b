//! The check after an erasure or redaction. It must not depend on the vault crate, which plans and carries out
//! deletions; the crates check (`tests/tools/checks/crates.mjs`) enforces that. Both use the store, search, crypto and
//! model crates; the check calls only functions of theirs that read.
mod check;
mod copies;
mod evidence;
mod folder;
mod indexed_words;
mod live_counts;
mod pages;
mod passthrough;
mod receipt;
mod recheck;
mod sentence;
mod unused_bytes;

pub use check::{ErasureCheck, IndexCleanup, Wipe};
pub use evidence::Evidence;
pub use folder::clear_partials;
pub use receipt::{PlaceOutcome, Receipt, ReceiptPlace};
pub use recheck::CleanedUp;
