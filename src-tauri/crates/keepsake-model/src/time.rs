//! Points in time, UTC, microseconds.
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Microseconds since 1970-01-01T00:00:00Z. Finer digits stay in the verbatim text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const YEAR_1: i64 = -62_135_596_800_000_000;
const YEAR_9999_END: i64 = 253_402_300_799_999_999;

impl Timestamp {
    /// From microseconds; None outside the years 1–9999.
    pub fn from_micros(micros: i64) -> Option<Self> {
        (YEAR_1..=YEAR_9999_END).contains(&micros).then_some(Self(micros))
    }

    /// From (fractional) Unix seconds; None if not finite or outside the years 1–9999.
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let micros = (seconds * 1e6).round();
        (micros.is_finite() && micros.abs() < 9e18).then_some(micros as i64).and_then(Self::from_micros)
    }

    /// Microseconds since the epoch.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// The clock. Only edges call this; readers and writers are handed a time.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_microsecond())
    }

    /// Reads RFC 3339 and its common relatives: date only (midnight UTC), a space for the `T`, a missing zone
    /// (= UTC), any number of fraction digits.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(t) = text.parse::<jiff::Timestamp>() {
            return Self::from_micros(t.as_microsecond());
        }
        let civil: jiff::civil::DateTime =
            text.parse().ok().or_else(|| text.parse::<jiff::civil::Date>().ok().map(|d| d.at(0, 0, 0, 0)))?;
        let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Self::from_micros(zoned.timestamp().as_microsecond())
    }

    /// RFC 3339 in UTC, with as many fraction digits as needed (none, 3 or 6).
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

    /// `YYYY-MM-DDTHH:MM:SSZ`, the fraction cut off toward the past.
    pub fn to_rfc3339_seconds(self) -> String {
        match jiff::Timestamp::from_second(self.0.div_euclid(1_000_000)) {
            Ok(t) => t.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            Err(_) => "0001-01-01T00:00:00Z".into(), // out of jiff's range; from_micros keeps this from happening
        }
    }

    /// Date in UTC: `(year, month, day)`.
    pub fn date(self) -> (i16, i8, i8) {
        jiff::Timestamp::from_second(self.0.div_euclid(1_000_000)).map_or((1, 1, 1), |t| {
            let d = t.to_zoned(jiff::tz::TimeZone::UTC).date();
            (d.year(), d.month(), d.day())
        })
    }
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
