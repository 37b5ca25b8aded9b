//! The neutral record model (readers → records → writers). No I/O, no keys.
//!
//! A reader turns bytes into [`Record`]s, a writer turns records into bytes. Data that the model does not cover is in
//! [`Record::verbatim`] (the original text of the source) and [`Record::fields`].
mod error;
mod issue;
mod limits;
mod loss;
mod record;
mod said_by;
mod text;
mod time;
mod tombstone;

pub use error::{FormatError, is_damage};
pub use issue::{Dropped, DroppedAs, Issue};
pub use limits::{Bounds, EXPANSION, Limits, TREE_BYTES};
pub use loss::{Loss, LossKind, LossReport};
pub use record::{
    AttachmentRef, Embedding, EntityRef, Fields, Kind, Link, MessagePart, Origin, Record, RecordKey, Source, Times,
    Unit, Verbatim,
};
pub use said_by::SaidBy;
pub use text::{fold, is_of_unspaced_script, normal_sentences, normal_text};
pub use time::Timestamp;
pub use tombstone::{Derived, Tombstone, TombstoneOp};
