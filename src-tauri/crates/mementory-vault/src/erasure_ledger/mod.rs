//! The list of what was erased and redacted, kept outside the database, so that an older copy of the vault can be told.
//! It has ids and keyed fingerprints only, and is sealed with a key of the vault.
//!
//! | file | what it does |
//! | --- | --- |
//! | `acts` | one erasure or redaction, and the union of two lists |
//! | `files` | reading and durable writing |
//! | `words` | finding redacted words again by their fingerprints |
mod acts;
mod files;
mod words;

pub(crate) use acts::{Act, Gone, Ledger};
pub(crate) use files::{FILE, FoundLedger, LedgerFiles};
pub(crate) use words::{Found, text_print, word_print};
