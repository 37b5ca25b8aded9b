//! Parses the times in Copilot's tables: RFC 3339 without a time zone, or the American notation with or without a time
//! zone.
use mementory_model::Timestamp;

/// Notations besides RFC 3339, in the order in which they are tried. A date with slashes is first parsed with the month
/// as its first number, then with the day.
const NOTATIONS: [&str; 8] = [
    "%m/%d/%Y %H:%M:%S %:z",
    "%m/%d/%Y %I:%M:%S %p %:z",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S %:z",
    "%d/%m/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
];

/// Returns the time in a text, and whether the text states a time zone. Without a time zone, the time is read as UTC.
pub(super) fn parse(text: &str) -> Option<(Timestamp, bool)> {
    let text = text.trim();
    if let Some(time) = Timestamp::parse(text) {
        let clock = text.get(10..).unwrap_or_default();
        return Some((time, clock.contains(['Z', 'z', '+', '-'])));
    }
    NOTATIONS.iter().find_map(|notation| {
        let parsed = jiff::fmt::strtime::parse(notation, text).ok()?;
        let micros = match parsed.to_timestamp() {
            Ok(time) => (time.as_microsecond(), true),
            Err(_) => {
                let civil = parsed.to_datetime().ok()?;
                (civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond(), false)
            }
        };
        Some((Timestamp::from_micros(micros.0)?, micros.1))
    })
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn every_notation_is_read() {
        for (text, expected, has_zone) in [
            ("2026-07-26T23:20:56", "2026-07-26T23:20:56Z", false),
            ("2026-07-26T23:20:56.5Z", "2026-07-26T23:20:56.500Z", true),
            ("1/31/2026 10:00:09 +00:00", "2026-01-31T10:00:09Z", true),
            ("1/31/2026 1:00:09 PM +02:00", "2026-01-31T11:00:09Z", true),
            ("12/1/2026 1:00:09 PM", "2026-12-01T13:00:09Z", false),
            ("31/1/2026 9:05:00", "2026-01-31T09:05:00Z", false),
            ("31.01.2026 09:05:00", "2026-01-31T09:05:00Z", false),
        ] {
            let found = parse(text).map(|(time, zone)| (time.to_rfc3339(), zone));
            assert_eq!(found, Some((expected.to_owned(), has_zone)), "{text}");
        }
        assert_eq!(parse("yesterday"), None);
        assert_eq!(parse(""), None);
    }
}
