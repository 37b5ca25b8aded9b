//! The time before a memory was made.
use mementory_model::Timestamp;

const MINUTE: i64 = 60_000_000;
/// Microseconds in a day.
pub(super) const DAY: i64 = 24 * 60 * MINUTE;
/// Longest time between a message and a memory for the message to be near, in microseconds.
const NEAR_MICROS: i64 = 30 * MINUTE;

/// The time, in microseconds since 1970, in which a message is near to a memory made at `made`: the half hour before,
/// or the whole day if `made` has no time of day.
pub(super) fn span_before(made: Timestamp) -> (i64, i64) {
    let made = made.as_micros();
    if made % DAY == 0 { (made, made + DAY) } else { (made - NEAR_MICROS, made + 1_000_000) }
}

/// True if the message was written close to when the memory was made: in the half hour before, or at any time of that day
/// if only the day is known.
pub(super) fn is_near(made: Option<Timestamp>, said: Option<Timestamp>) -> bool {
    let (Some(made), Some(said)) = (made, said) else { return false };
    let (from, to) = span_before(made);
    (from..=to).contains(&said.as_micros())
}
