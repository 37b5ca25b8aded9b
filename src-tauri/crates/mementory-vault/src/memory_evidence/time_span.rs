//! The time before a memory was made.
use mementory_model::Timestamp;

const MINUTE: i64 = 60_000_000;
/// Microseconds in a day.
pub(super) const DAY: i64 = 24 * 60 * MINUTE;
/// A message counts as near if it was written at most this long before the memory, in microseconds.
const NEAR_MICROS: i64 = 30 * MINUTE;

/// The time span, in microseconds since 1970, in which a message is near to a memory made at `made_at`: the half hour
/// before, or the whole day if `made_at` has no time of day.
pub(super) fn span_before(made_at: Timestamp) -> (i64, i64) {
    let made_at = made_at.as_micros();
    if made_at % DAY == 0 { (made_at, made_at + DAY) } else { (made_at - NEAR_MICROS, made_at + 1_000_000) }
}

/// True if the message was written close to when the memory was made: in the half hour before, or at any time of that day
/// if only the day is known.
pub(super) fn is_near(made_at: Option<Timestamp>, said: Option<Timestamp>) -> bool {
    let (Some(made_at), Some(said)) = (made_at, said) else { return false };
    let (from, to) = span_before(made_at);
    (from..=to).contains(&said.as_micros())
}
