//! The creation time of a record in a format that requires one. It does not depend on the time of the export, so that
//! two exports of the same records have the same elements.
use mementory_model::{Times, Timestamp};

/// Loss note for a record without a creation time.
pub(crate) const NO_TIME_NOTE: &str =
    "no creation time: the nearest known time is written, or 1970-01-01 if there is none";

/// The nearest known time of a record, or the start of 1970 if it has no time.
pub(crate) fn creation_time(times: &Times) -> Timestamp {
    times.nearest_to_creation().unwrap_or(Timestamp::EPOCH)
}
