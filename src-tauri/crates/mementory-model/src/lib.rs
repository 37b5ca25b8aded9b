//! The neutral record model between readers and writers. This crate does no I/O and has no keys.
//!
//! A reader converts bytes to [`Record`]s, and a writer converts records to bytes. Data that the model does not cover
//! is stored in [`Record::verbatim`] (the original text of the source) and in [`Record::fields`].
mod error;
mod issue;
mod key_words;
mod limits;
mod loss;
mod record;
mod said_by;
mod sentences;
mod text;
mod time;
mod tombstone;
mod usage;

pub use error::{FormatError, is_damage};
pub use issue::{Dropped, DroppedAs, Issue};
pub use limits::{Bounds, EXPANSION, Limits, TREE_BYTES};
pub use loss::{Loss, LossKind, LossReport};
pub use record::{
    AttachmentRef, Embedding, EntityRef, Fields, Kind, Link, MessagePart, Origin, Record, RecordKey, Source, Times,
    Unit, Verbatim,
};
pub use said_by::SaidBy;
pub use sentences::{SentenceMark, split_sentences};
pub use text::{
    MIN_SEARCHED_CHARS, REDACTED, between_redaction_marks, contains_words, fold, is_of_unspaced_script,
    normal_sentences, normal_text, redaction_marks, shares_words, without_redaction_marks, word_count,
};
pub use time::Timestamp;
pub use tombstone::{Derived, Tombstone, TombstoneOp};
pub use usage::{WithoutUsage, remove_usage};
