//! The search index: tantivy over encrypted files. It is disposable, because it can always be rebuilt from the records
//! in the store. It indexes documents ([`IndexDoc`]) and knows nothing about records.
//!
//! | file | what it does |
//! | --- | --- |
//! | `directory`, `cache` | files in encrypted chunks with random access |
//! | `schema`, `tokenize`, `merge` | what is indexed, how text is split into words, how large segments get |
//! | `index` | adding, deleting, committing |
//! | `query`, `search`, `rank`, `matching` | from a typed query to ranked rows |
//! | `filter`, `filter_cache`, `doc_set` | which documents of a segment pass a filter |
//! | `frequency` | how many documents contain a word |
//! | `snippet` | the part of a text that shows why it was found |
//! | `spell_suggest` | spelling suggestions for a search without hits |
//! | `erase`, `verify` | rewriting segments that contain an erased row; an independent search for what is left |
mod cache;
mod directory;
mod doc_set;
mod erase;
mod error;
mod filter;
mod filter_cache;
mod frequency;
mod function_words;
mod index;
mod matching;
mod merge;
mod needles;
mod query;
mod rank;
mod schema;
mod search;
mod snippet;
mod spell_suggest;
#[cfg(test)]
mod tests;
mod tokenize;
mod verify;
mod warm;

pub use directory::EncryptedDirectory;
pub use error::{IndexError, IndexResult};
pub use filter::IndexFilter;
pub use index::SearchIndex;
pub use needles::Needles;
pub use query::query_words;
pub use schema::IndexDoc;
pub use search::{FacetField, SearchOutcome, SearchPage};
pub use snippet::snippet;
pub use tokenize::tokens;
pub use verify::{Finding, Residue, residue};
