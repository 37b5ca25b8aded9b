//! Compares the time of a message with the time when a memory was made.
use mementory_model::Timestamp;

const MINUTE: i64 = 60_000_000;
/// Microseconds in a day.
pub(super) const DAY: i64 = 24 * 60 * MINUTE;
/// A message counts as near if it was written at most this long before the memory, in microseconds.
const NEAR_MICROS: i64 = 30 * MINUTE;

/// Returns the time span, in microseconds since 1970, in which a message is near to a memory made at `made_at`: the
/// half hour before, or the whole day if `made_at` has no time of day.
pub(super) fn span_before(made_at: Timestamp) -> (i64, i64) {
    let made_at = made_at.as_micros();
    if made_at % DAY == 0 { (made_at, made_at + DAY) } else { (made_at - NEAR_MICROS, made_at + 1_000_000) }
}

/// The longest time by which a day ends later in a western time zone than in UTC, in microseconds.
const LATEST_END_OF_DAY: i64 = 12 * 60 * MINUTE;

/// True if the message was written after the memory got its text. False if the message or the memory has no date. If
/// only the day of the memory is known, messages of that day in any time zone count as earlier.
pub(super) fn is_later(changed: Option<Timestamp>, said: Option<Timestamp>) -> bool {
    let (Some(changed), Some(said)) = (changed, said) else { return false };
    let (_, until) = span_before(changed);
    let rounded_by = match changed.as_micros() {
        day if day % DAY == 0 => LATEST_END_OF_DAY,
        minute if minute % MINUTE == 0 => MINUTE,
        _ => 0,
    };
    said.as_micros() > until + rounded_by
}

/// True if the message was written close to when the memory was made: in the half hour before, or at any time of that
/// day if only the day is known.
pub(super) fn is_near(made_at: Option<Timestamp>, said: Option<Timestamp>) -> bool {
    let (Some(made_at), Some(said)) = (made_at, said) else { return false };
    let (from, to) = span_before(made_at);
    (from..=to).contains(&said.as_micros())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_later_only_if_both_are_dated() {
        let at = |micros: i64| Timestamp::from_micros(micros);
        let (day, minute_of_day) = (20_000 * DAY, 20_000 * DAY + 600 * MINUTE);
        assert!(is_later(at(minute_of_day), at(minute_of_day + 2 * MINUTE)));
        assert!(!is_later(at(minute_of_day), at(minute_of_day + MINUTE - 1)), "seconds are missing");
        assert!(!is_later(at(minute_of_day), at(minute_of_day - 2 * MINUTE)));
        assert!(!is_later(at(day), at(day + DAY - MINUTE)), "the same day");
        assert!(!is_later(at(day), at(day + DAY + 600 * MINUTE)), "the same day in the west");
        assert!(is_later(at(day), at(day + 2 * DAY)));
        assert!(!is_later(None, at(day)) && !is_later(at(day), None));
    }
}
