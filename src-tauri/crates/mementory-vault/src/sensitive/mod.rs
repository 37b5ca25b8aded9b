//! Sensitive values in what the vault holds. Where they are is reported; the values never leave this folder: equal values
//! have equal fingerprints, and those are keyed.
mod fields;
mod marks;
mod masking;
mod queue;
mod scan_queue;
mod scanner;

pub(crate) use fields::{fields, fields_found};
pub(crate) use marks::taken_out;
pub(crate) use masking::Masker;
pub use queue::{Piece, SensitiveList, SensitivePlace, SensitiveQuery, SensitiveState, SensitiveValue};
pub use scan_queue::ScanProgress;
pub use scanner::{Scanner, Sensitive};
