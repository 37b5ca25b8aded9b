//! Erasure and redaction.
//!
//! | file | what it does |
//! | --- | --- |
//! | `eraser`, `redactor`, `redact_values` | the use cases |
//! | `targets` | the records that an erasure removes, and their texts |
//! | `same_words` | other records with the same sentences |
//! | `row_redaction`, `redacted_text` | removing words from every version of a row |
//! | `passthrough_files` | removing words from passthrough files |
//! | `quotations` | texts of records that change without being erased, for files that quote them |
//! | `reports` | removing words from import reports |
//! | `write_tombstones` | signed tombstones |
//! | `ledger`, `apply_ledger`, `redact_again` | the list of erasures, and applying it to an older copy |
//! | `vectors` | vectors of erased and redacted texts, for the check |
//! | `sabotage` | steps that tests leave out |
//! | `receipts`, `retry` | receipts, also of interrupted and incomplete deletions |
mod apply_ledger;
mod eraser;
mod ledger;
mod passthrough_files;
mod quotations;
mod receipts;
mod redact_again;
mod redact_values;
mod redacted_text;
mod redactor;
mod reports;
mod retry;
mod row_redaction;
mod sabotage;
mod same_words;
mod targets;
mod vectors;
mod write_tombstones;

pub use apply_ledger::AppliedErasures;
pub(crate) use eraser::EraseRequest;
pub use eraser::{EraseOutcome, ErasePlan, Eraser};
pub use ledger::ErasureLedger;
pub use receipts::Receipts;
pub use redacted_text::RedactSpan;
pub use redactor::Redactor;
#[cfg(not(feature = "sabotage"))]
pub(crate) use sabotage::Sabotage;
#[cfg(feature = "sabotage")]
pub use sabotage::Sabotage;
pub(crate) use targets::EraseScope;
