//! Points in time in UTC, with a precision of one microsecond.
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// Microseconds since 1970-01-01T00:00:00Z. A more precise time of a source is preserved only in the verbatim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const YEAR_1_START_MICROS: i64 = -62_135_596_800_000_000;
const YEAR_9999_END_MICROS: i64 = 253_402_300_799_999_999;
const EPOCH: jiff::civil::DateTime = jiff::civil::date(1970, 1, 1).at(0, 0, 0, 0);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// The time that is this many microseconds after the start of 1970. None outside the years 1–9999.
    pub fn from_micros(micros: i64) -> Option<Self> {
        (YEAR_1_START_MICROS..=YEAR_9999_END_MICROS).contains(&micros).then_some(Self(micros))
    }

    /// The time of a Unix timestamp in seconds, which may have a fraction. None if it is not finite or outside the
    /// years 1–9999.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let micros = (seconds * 1e6).round();
        (micros.is_finite() && micros.abs() < 9e18).then_some(micros as i64).and_then(Self::from_micros)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// The current time. Readers and writers must not call this; they receive the time as a parameter.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
    }

    /// Reads RFC 3339 and common variants. The time of day may be missing (then it is midnight), and so may the time
    /// zone (then it is UTC). There may be a space instead of `T`, and any number of fraction digits.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(time) = Self::parse_plain(text) {
            return Some(time);
        }
        let shortened_text = shorten_fraction(text.trim());
        let text: &str = &shortened_text;
        if let Ok(t) = text.parse::<jiff::Timestamp>() {
            return Self::from_micros(t.as_microsecond());
        }
        // The last day of 9999 often means "never". `jiff::Timestamp` cannot represent it, so the text is read as a
        // civil time.
        let parts = jiff::fmt::temporal::Pieces::parse(text.strip_suffix(['Z', 'z']).unwrap_or(text)).ok()?;
        let civil = parts.date().to_datetime(parts.time().unwrap_or(jiff::civil::Time::midnight()));
        let offset = parts.to_numeric_offset().map_or(0, |offset| i64::from(offset.seconds()));
        let time_since_epoch = civil.duration_since(EPOCH) - jiff::SignedDuration::from_secs(offset);
        Self::from_micros(i64::try_from(time_since_epoch.as_micros()).ok()?)
    }

    /// Reads the form that most files have, `YYYY-MM-DDTHH:MM:SSZ`, and gives the same time as [`Self::parse`], but several
    /// times as fast. None for any other form, and for a leap second.
    pub fn parse_plain(text: &str) -> Option<Self> {
        let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
        if [4, 7, 10, 13, 16, 19].map(|at| bytes[at]) != *b"--T::Z" {
            return None;
        }
        let digit = |at: usize| bytes[at].is_ascii_digit().then(|| (bytes[at] - b'0') as i8);
        let pair = |at: usize| Some(10 * digit(at)? + digit(at + 1)?);
        let year = 100 * i16::from(pair(0)?) + i16::from(pair(2)?);
        let civil = jiff::civil::DateTime::new(year, pair(5)?, pair(8)?, pair(11)?, pair(14)?, pair(17)?, 0).ok()?;
        Self::from_micros(i64::try_from(civil.duration_since(EPOCH).as_micros()).ok()?)
    }

    /// Date and time in UTC, rounded down to the second.
    fn civil_time(self) -> jiff::civil::DateTime {
        // `from_micros` ensures that every value is in the range of a civil time.
        EPOCH.saturating_add(jiff::SignedDuration::from_secs(self.0.div_euclid(1_000_000)))
    }

    /// RFC 3339 in UTC, with 0, 3 or 6 fraction digits as needed.
    pub fn to_rfc3339(self) -> String {
        let base = self.to_rfc3339_seconds();
        let fraction = self.0.rem_euclid(1_000_000);
        if fraction == 0 {
            base
        } else if fraction % 1000 == 0 {
            format!("{}.{:03}Z", base.trim_end_matches('Z'), fraction / 1000)
        } else {
            format!("{}.{:06}Z", base.trim_end_matches('Z'), fraction)
        }
    }

    /// `YYYY-MM-DDTHH:MM:SSZ`, rounded down to the second.
    pub fn to_rfc3339_seconds(self) -> String {
        // The `Display` form is correct, because all years have four digits, and three times as fast as a format
        // pattern.
        format!("{}Z", self.civil_time())
    }

    /// Date in UTC: `(year, month, day)`.
    pub fn date(self) -> (i16, i8, i8) {
        let d = self.civil_time();
        (d.year(), d.month(), d.day())
    }
}

/// Cuts a fraction of a second after its ninth digit, the last one that `jiff` reads.
fn shorten_fraction(text: &str) -> Cow<'_, str> {
    const MAX_DIGITS: usize = 9;
    let Some((before, after)) = text.split_once('.') else { return Cow::Borrowed(text) };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = after.len() - rest.len();
    if digits <= MAX_DIGITS {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{before}.{}{rest}", &after[..MAX_DIGITS]))
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_rfc3339())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let micros = i64::deserialize(d)?;
        Self::from_micros(micros).ok_or_else(|| serde::de::Error::custom("time out of range"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_plain_form_gives_the_same_time_as_others() {
        let times = (YEAR_1_START_MICROS..=YEAR_9999_END_MICROS).step_by(86_399_000_000 * 97);
        for text in times.map(|micros| Timestamp(micros).to_rfc3339_seconds()) {
            let plain = Timestamp::parse_plain(&text);
            assert!(plain.is_some(), "{text}");
            assert_eq!(plain, Timestamp::parse(&text.replace('Z', "+00:00")), "{text}");
        }
        for other in [
            "2026-02-30T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T23:59:60Z",
            "0000-01-01T00:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00z",
            "2026-01-01T00:00:0+Z",
            "2026-01-01T00:00:00.Z",
        ] {
            assert_eq!(Timestamp::parse_plain(other), None, "{other}");
        }
    }

    #[test]
    fn first_and_last_days_round_trip() {
        for text in ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"] {
            assert_eq!(Timestamp::parse(text).unwrap().to_rfc3339(), text);
            assert_eq!(Timestamp::parse(text).unwrap().to_rfc3339_seconds(), text);
        }
        assert_eq!(Timestamp::parse("9999-12-31").unwrap().date(), (9999, 12, 31));
        assert_eq!(Timestamp::parse("1969-12-31T23:59:59.5Z").unwrap().to_rfc3339(), "1969-12-31T23:59:59.500Z");
        let precise = Timestamp::parse("2026-01-02T03:04:05.123456789012345+01:00").unwrap();
        assert_eq!(precise.to_rfc3339(), "2026-01-02T02:04:05.123456Z");
        assert_eq!(Timestamp::parse("2026-01-02T03:04:05.1234567890x"), None);
        assert_eq!(Timestamp::parse("10000-01-01T00:00:00Z"), None);
        // The offset is subtracted on the last day too.
        let ahead = Timestamp::parse("9999-12-31T23:59:59.25+01:30").unwrap();
        assert_eq!(ahead.to_rfc3339(), "9999-12-31T22:29:59.250Z");
        assert_eq!(Timestamp::parse("9999-12-31T23:59:59-01:00"), None);
        assert_eq!(Timestamp::parse("9999-12-31t22:59:59z").unwrap().to_rfc3339(), "9999-12-31T22:59:59Z");
        assert_eq!(Timestamp::parse("2026-01-01Z").map(Timestamp::to_rfc3339), Some("2026-01-01T00:00:00Z".into()));
    }
}
