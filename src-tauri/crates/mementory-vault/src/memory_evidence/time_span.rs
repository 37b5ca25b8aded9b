//! The time before a memory was made.
use mementory_model::Timestamp;

const MINUTE: i64 = 60_000_000;
/// Microseconds of a day.
pub(super) const DAY: i64 = 24 * 60 * MINUTE;
/// How long before a memory was made its message was said, at most, to be near.
const NEAR: i64 = 30 * MINUTE;

/// The time in which a message is near to a memory made at this time: half an hour before, or that day if the time has
/// no hours.
pub(super) fn span_before(made: Timestamp) -> (i64, i64) {
    let made = made.as_micros();
    if made % DAY == 0 { (made, made + DAY) } else { (made - NEAR, made + 1_000_000) }
}
