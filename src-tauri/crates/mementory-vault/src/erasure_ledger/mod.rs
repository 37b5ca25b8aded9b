//! The list of erasures and redactions. It is stored outside the database, so that it can be applied to an older copy
//! of the vault. It has ids and keyed fingerprints but no words, and is encrypted with a key of the vault.
//!
//! | file | what it does |
//! | --- | --- |
//! | `acts` | one erasure or redaction, and the union of two lists |
//! | `files` | reading and durable writing |
//! | `words` | finding redacted words again by their fingerprints |
mod acts;
mod files;
mod words;

pub(crate) use acts::{ErasureAct, Ledger, LedgerRecord};
pub(crate) use files::{FoundLedger, LEDGER_FILE, LedgerFiles};
pub(crate) use words::{WordFinder, text_fingerprint, word_fingerprint};
