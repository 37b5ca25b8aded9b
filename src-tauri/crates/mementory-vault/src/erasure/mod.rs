//! Erasure and redaction.
//!
//! | file | what it does |
//! | --- | --- |
//! | `eraser`, `redactor`, `redact_values` | the use cases |
//! | `targets` | the records that an erasure removes, and their texts |
//! | `same_words` | other records with the same sentences |
//! | `row_redaction`, `cut` | removing words from every version of a row |
//! | `passthrough_files` | removing words from passthrough files |
//! | `reports` | removing words from import reports |
//! | `write_tombstones` | signed tombstones |
//! | `receipts`, `retry` | receipts, also of interrupted and incomplete deletions |
mod cut;
mod eraser;
mod passthrough_files;
mod receipts;
mod redact_values;
mod redactor;
mod reports;
mod retry;
mod row_redaction;
mod same_words;
mod targets;
mod write_tombstones;

pub use cut::RedactSpan;
pub(crate) use eraser::EraseRequest;
pub use eraser::{EraseOutcome, ErasePlan, Eraser, Sabotage};
pub use receipts::Receipts;
pub use redactor::Redactor;
pub(crate) use targets::EraseScope;
