//! Tests of the vault through its public interface.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests stop at the first failure"
)]

mod backup;
mod brute_force;
mod damage;
mod deletion;
mod duplicates;
mod erasure_histories;
mod erasure_ledger;
mod export;
mod export_diff;
mod export_ids;
mod files;
mod granted_search;
mod grants;
mod import;
mod input_order;
mod meaning;
mod merge;
mod newer_details;
mod passthrough_files;
mod proof;
mod properties;
mod recovery;
mod redaction;
mod redaction_marks;
mod reimport;
mod renewed_times;
mod requirements;
mod same_words;
mod sensitive;
mod source;
mod summary;
mod tagging;
mod tombstone_cascade;
mod trash;
mod undo;
