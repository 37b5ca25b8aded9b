//! Dates in memory lists, in the forms that users and models write.
use jiff::civil::Date;
use mementory_model::Timestamp;

const MONTH_NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Parses a day: ISO day, ISO time, `YYYY-MM`, `YYYY`, `Month YYYY`, `Month D[th], YYYY`, `D Month YYYY`. A month or a
/// year means its first day. None for any other text and for invalid days such as 30 February.
pub(super) fn parse_day(text: &str) -> Option<Date> {
    let text = text.trim();
    let date_parts: Vec<&str> = text.split(['T', ' ']).next().unwrap_or("").split('-').collect();
    let parse_digits = |t: &str, digits: usize| {
        (t.len() == digits && t.bytes().all(|b| b.is_ascii_digit())).then(|| t.parse::<i16>().ok()).flatten()
    };
    let day_of = |y: i16, m: i16, d: i16| Date::new(y, i8::try_from(m).ok()?, i8::try_from(d).ok()?).ok();
    match date_parts.as_slice() {
        [y, m, d] if text.len() == 10 || text.contains('T') || text.contains(':') => {
            return day_of(parse_digits(y, 4)?, parse_digits(m, 2)?, parse_digits(d, 2)?);
        }
        [y, m] if !text.contains([' ', 'T']) => return day_of(parse_digits(y, 4)?, parse_digits(m, 2)?, 1),
        [y] if !text.contains(' ') => return day_of(parse_digits(y, 4)?, 1, 1),
        _ => {}
    }
    let words: Vec<&str> = text.split([' ', ',']).filter(|w| !w.is_empty()).collect();
    match words.as_slice() {
        [m, y] => day_of(parse_digits(y, 4)?, month_number(m)?, 1),
        [a, b, y] => match month_number(a) {
            Some(m) => day_of(parse_digits(y, 4)?, m, day_number(b)?),
            None => day_of(parse_digits(y, 4)?, month_number(b)?, day_number(a)?),
        },
        _ => None,
    }
}

/// Number of the month with this name. Also accepts its first three letters, and `sept`.
fn month_number(word: &str) -> Option<i16> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let index = MONTH_NAMES.iter().position(|m| {
        *m == word || (word.len() == 3 && m.starts_with(&word)) || (word == "sept" && *m == "september")
    })?;
    i16::try_from(index + 1).ok()
}

fn day_number(word: &str) -> Option<i16> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &word[digits.len()..];
    if !["", "st", "nd", "rd", "th"].contains(&suffix.to_ascii_lowercase().as_str()) {
        return None;
    }
    digits.parse().ok().filter(|d| (1..=31).contains(d))
}

/// The start of a day in UTC.
pub(super) fn start_of_day(day: Date) -> Option<Timestamp> {
    Timestamp::parse(&day.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    #[test]
    fn parses_dates_in_all_forms() {
        for (text, day) in [
            ("2025-04-01", "2025-04-01"),
            ("2025-04-01T10:00:00Z", "2025-04-01"),
            ("2025-04", "2025-04-01"),
            ("2025", "2025-01-01"),
            ("May 2025", "2025-05-01"),
            ("May 3rd, 2025", "2025-05-03"),
            ("Sep 3, 2025", "2025-09-03"),
            ("Sept 2025", "2025-09-01"),
            ("Sept. 3, 2025", "2025-09-03"),
            ("3 May 2025", "2025-05-03"),
        ] {
            assert_eq!(super::parse_day(text).unwrap().to_string(), day, "{text}");
        }
        for text in ["", "unknown", "2025-02-30", "maybe 2025", "12", "32 May 2025", "2025-4-1"] {
            assert!(super::parse_day(text).is_none(), "{text}");
        }
    }
}
