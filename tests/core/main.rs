//! The vault from outside: properties, deletion and its proof, damage, import as a whole.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests stop at the first surprise"
)]

mod backup;
mod copies;
mod damage;
mod deletion;
mod duplicates;
mod export;
mod files;
mod import;
mod marks;
mod merge;
mod proof;
mod properties;
mod provider;
mod reach;
mod recovery;
mod redaction;
mod reimport;
mod requirements;
mod sensitive;
mod summary;
mod tagging;
mod tell;
mod trash;
mod undo;
