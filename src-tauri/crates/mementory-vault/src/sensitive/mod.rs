//! Finds sensitive values in the vault's records. Their positions and keyed fingerprints are stored and reported, never
//! the values themselves. Equal values have equal fingerprints.
mod fields;
mod marks;
mod masking;
mod queue;
mod scan_queue;
mod scanner;

pub(crate) use fields::{fields, for_each_value};
pub(crate) use marks::add_earlier_marks;
pub(crate) use masking::Masker;
pub use queue::{ContextSegment, SensitiveList, SensitivePlace, SensitiveQuery, SensitiveState, SensitiveValue};
pub use scan_queue::ScanProgress;
pub use scanner::{Scanner, Sensitive};
