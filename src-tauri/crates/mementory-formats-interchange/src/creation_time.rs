//! Determines the creation time that an export writes into a format that requires one. The result does not depend on
//! the time of the export, so two exports of the same records write the same time.
use mementory_model::{Times, Timestamp};

/// Loss note for a record without a creation time.
pub(crate) const NO_TIME_NOTE: &str =
    "no creation time: the nearest known time is written, or 1970-01-01 if there is none";

/// Returns the time of a record that is nearest to its creation, or the start of 1970 if the record has no time.
pub(crate) fn creation_time(times: &Times) -> Timestamp {
    times.nearest_to_creation().unwrap_or(Timestamp::EPOCH)
}
