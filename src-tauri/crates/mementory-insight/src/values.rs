//! Reads the values in statements: numbers in words and digits, dates, and names. Also compares values. A name of the
//! same thing in another language is the same value.
use crate::{
    fold::{fold, is_east_asian, words},
    numerals::spelled_number,
    word_lists::{COUNTRIES, GROUPS, MONTHS},
};
use regex::Regex;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A value in a statement, in a form that can be compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    /// Position of the list that contains the name. All names in this list mean the same thing.
    Name(usize),
    /// One of the values that a word list names, such as `no_meat`.
    Listed(&'static str),
    /// A folded text that is neither a number nor a listed name.
    Text(String),
}

/// The result of comparing two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    Same,
    Other,
    /// Whether the values are the same is unknown, for example because the names are in different scripts, or because
    /// one is a city and the other a country.
    Unknown,
}

/// Parses a text as a number, a listed name or another text.
pub(crate) fn value(text: &str) -> Value {
    let folded = fold(text);
    let folded = folded.trim();
    if let Some(number) = number(folded) {
        return Value::Number(number);
    }
    // The name of a district, such as "Leipzig-Connewitz", counts as the name of its city.
    let city = folded.split('-').next().unwrap_or(folded);
    match list_index_by_name().get(folded).or_else(|| list_index_by_name().get(city)) {
        Some(name) => Value::Name(*name),
        None => Value::Text(folded.to_owned()),
    }
}

/// Position of the list that contains a folded name. All names in this list mean the same thing.
pub(crate) fn name_list_index(folded: &str) -> Option<usize> {
    list_index_by_name().get(folded).copied()
}

pub(crate) fn compare(a: &Value, b: &Value) -> Difference {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if (a - b).abs() < 1e-9 => Difference::Same,
        (Value::Number(_), Value::Number(_)) => Difference::Other,
        (Value::Name(a), Value::Name(b)) if a == b => Difference::Same,
        (Value::Name(a), Value::Name(b)) if (*a < COUNTRIES.len()) != (*b < COUNTRIES.len()) => Difference::Unknown,
        (Value::Name(_), Value::Name(_)) => Difference::Other,
        (Value::Name(name), Value::Text(text)) | (Value::Text(text), Value::Name(name)) => {
            // The text may be another spelling of the name if the list contains no spelling in the script of the text.
            let known_spellings = spellings(*name);
            let contains = |spelling: &&str| text.contains(*spelling);
            let is_comparable = *name >= COUNTRIES.len()
                && known_spellings.iter().any(|name| has_east_asian(name) == has_east_asian(text));
            match (known_spellings.iter().any(contains), is_comparable) {
                (true, _) => Difference::Same,
                (false, true) => Difference::Other,
                (false, false) => Difference::Unknown,
            }
        }
        (Value::Text(a), Value::Text(b)) if a == b => Difference::Same,
        (Value::Text(a), Value::Text(b)) if has_east_asian(a) != has_east_asian(b) => Difference::Unknown,
        (Value::Text(a), Value::Text(b)) if has_east_asian(a) => {
            if a.contains(b.as_str()) || b.contains(a.as_str()) {
                Difference::Unknown
            } else {
                Difference::Other
            }
        }
        (Value::Text(a), Value::Text(b)) => {
            let shared = words(a).iter().any(|word| word.len() > 2 && words(b).contains(word));
            if shared { Difference::Unknown } else { Difference::Other }
        }
        (Value::Listed(a), Value::Listed(b)) if a == b => Difference::Same,
        (Value::Listed(_), Value::Listed(_)) => Difference::Other,
        (Value::Number(_) | Value::Listed(_), _) | (_, Value::Number(_) | Value::Listed(_)) => Difference::Unknown,
    }
}

fn has_east_asian(text: &str) -> bool {
    text.chars().any(is_east_asian)
}

fn spellings(list_index: usize) -> &'static [&'static str] {
    COUNTRIES.iter().chain(GROUPS).nth(list_index).copied().unwrap_or_default()
}

fn list_index_by_name() -> &'static HashMap<&'static str, usize> {
    static NAMES: OnceLock<HashMap<&'static str, usize>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let all = COUNTRIES.iter().chain(GROUPS).enumerate();
        all.flat_map(|(n, group)| group.iter().map(move |spelling| (*spelling, n))).collect()
    })
}

/// Parses a number in digits or words. A suffix `k` or 千 multiplies it by a thousand, and 万 by ten thousand.
pub(crate) fn number(folded: &str) -> Option<f64> {
    if let Some(value) = spelled_number(folded) {
        return Some(value);
    }
    let (digits, factor) = match folded.strip_suffix('k').or_else(|| folded.strip_suffix('千')) {
        Some(digits) => (digits, 1000.0),
        None => match folded.strip_suffix('万') {
            Some(digits) => (digits, 10_000.0),
            None => (folded, 1.0),
        },
    };
    let trimmed = digits.trim_end_matches(['.', ',', ':']);
    if trimmed.is_empty() || trimmed.len() > 15 || !trimmed.chars().all(|c| c.is_ascii_digit() || ".,:".contains(c)) {
        return None;
    }
    // A separator before exactly three digits separates thousands. Any other separator is a decimal point.
    let mut without_separators = String::new();
    let parts: Vec<&str> = trimmed.split(['.', ',', ':']).collect();
    for (n, part) in parts.iter().enumerate() {
        let separates_thousands = n > 0 && part.len() == 3;
        if n > 0 && !separates_thousands {
            without_separators.push('.');
        }
        without_separators.push_str(part);
    }
    Some(without_separators.parse::<f64>().ok()? * factor)
}

/// A year, and a month if the text names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date {
    pub(crate) year: i32,
    pub(crate) month: Option<u32>,
}

impl Date {
    /// The last month of the date, in months since year 0.
    pub(crate) fn end_month(self) -> i32 {
        self.year * 12 + self.month.map_or(12, |month| month as i32)
    }
}

/// The dates in a folded text that have a year from 2000 to 2099.
pub(crate) fn dates(folded: &str) -> Vec<Date> {
    static WORD: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = WORD.get_or_init(|| {
        let months: Vec<&str> = MONTHS.iter().flat_map(|names| names.iter().copied()).collect();
        let text = format!(
            r"(?:\b(?P<m>{})\.?,? )?(?:\b(?P<y>20\d\d)(?:年(?P<mj>\d{{1,2}})月|-(?P<mi>[01]\d)\b)?)",
            months.join("|")
        );
        Regex::new(&text).ok()
    });
    let Some(regex) = regex else { return Vec::new() };
    let mut out = Vec::new();
    for found in regex.captures_iter(folded) {
        let Some(year) = found.name("y").and_then(|y| y.as_str().parse().ok()) else { continue };
        let by_name = found.name("m").and_then(|m| MONTHS.iter().position(|names| names.contains(&m.as_str())));
        let by_number = found.name("mj").or(found.name("mi")).and_then(|m| m.as_str().parse::<u32>().ok());
        let month = by_name.map(|m| m as u32 + 1).or(by_number).filter(|m| (1..=12).contains(m));
        out.push(Date { year, month });
    }
    out
}

/// The day of the year that a text names, whatever its form, as its month times 100 plus its day: 314 for "14 March",
/// "March 14th", "14.3.1987", "1987-03-14" and 「3月14日」. None if the text names no such day.
pub(crate) fn calendar_day(text: &str) -> Option<u32> {
    let folded = fold(text);
    let words = words(&folded);
    let leading_number = |word: &&str| {
        let end = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        word.get(..end)?.parse::<u32>().ok()
    };
    let numbers: Vec<u32> = words.iter().filter_map(leading_number).collect();
    let named = words.iter().find_map(|word| MONTHS.iter().position(|names| names.contains(word)));
    let (month, day) = match (named, numbers.as_slice()) {
        (Some(month), numbers) => (month as u32 + 1, numbers.iter().copied().find(|number| *number <= 31)?),
        // With digits alone, the order is known if the year comes first, if the signs for month and day follow, or if
        // full stops separate them.
        (None, [year, month, day]) if *year > 31 => (*month, *day),
        (None, [month, day, ..]) if folded.contains('月') => (*month, *day),
        (None, [day, month, ..]) if folded.contains('.') => (*month, *day),
        _ => return None,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(month * 100 + day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_the_year_is_the_same_in_all_forms() {
        for text in
            ["14 March", "the 14th of March", "March 14", "14. März", "14.3.", "14.03.1987", "1987-03-14", "3月14日"]
        {
            assert_eq!(calendar_day(text), Some(314), "{text}");
        }
        for text in ["March", "3/14", "31.13.", "March 1987", ""] {
            assert_eq!(calendar_day(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_dates_and_names_are_recognised() {
        assert_eq!(number("4,150"), Some(4150.0));
        assert_eq!(number("1.480"), Some(1480.0));
        assert_eq!(number("7.1"), Some(7.1));
        assert_eq!(number("sieben"), Some(7.0));
        assert_eq!(number("9.8万"), Some(98_000.0));
        assert_eq!(number("abc"), None);
        assert_eq!(dates("in april 2025"), [Date { year: 2025, month: Some(4) }]);
        assert_eq!(dates("2026年4月に"), [Date { year: 2026, month: Some(4) }]);
        assert_eq!(dates("bis 2030"), [Date { year: 2030, month: None }]);
        assert_eq!(compare(&value("München"), &value("ミュンヘン")), Difference::Same);
        assert_eq!(compare(&value("Leipzig"), &value("ハンブルク")), Difference::Other);
        assert_eq!(compare(&value("Germany"), &value("Leipzig")), Difference::Unknown);
        assert_eq!(compare(&value("Emil"), &value("エミル")), Difference::Unknown);
        assert_eq!(compare(&value("Lüttich"), &value("Liège")), Difference::Same);
        assert_eq!(compare(&value("Tampere"), &value("トゥルク")), Difference::Other);
        assert_eq!(compare(&Value::Listed("no_meat"), &Value::Listed("eats_meat")), Difference::Other);
    }
}
