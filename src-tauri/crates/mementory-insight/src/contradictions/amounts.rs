//! Finds the numbers and times in a text, so that two statements about the same thing can be compared.
use crate::{
    fold::words,
    patterns::WordSet,
    values::number,
    word_lists::{INTERVALS, MONTHS, NUMBERS, TENS, WEEKDAYS},
};
use regex::Regex;
use std::sync::OnceLock;

/// Numbers and times of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Amounts {
    pub(super) numbers: Vec<f64>,
    pub(super) times: Vec<Time>,
}

/// When or how often something takes place, as precisely as the text states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Year(u32),
    Month(usize),
    Weekday(usize),
    Every(usize),
}

impl Amounts {
    /// True if both have numbers, and no number is in both.
    pub(super) fn numbers_differ(&self, other: &Self) -> bool {
        have_nothing_in_common(&self.numbers, &other.numbers)
    }

    /// True if both have times, and no time is in both.
    pub(super) fn times_differ(&self, other: &Self) -> bool {
        have_nothing_in_common(&self.times, &other.times)
    }
}

fn have_nothing_in_common<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    !a.is_empty() && !b.is_empty() && !a.iter().any(|one| b.contains(one))
}

/// Numbers and times of a folded text.
pub(super) fn amounts(folded: &str) -> Amounts {
    let mut out = Amounts::default();
    in_digits(folded, &mut out);
    in_words(folded, &mut out);
    in_kanji(folded, &mut out);
    out.times.extend(calendar_words().hits(folded).iter().map(|hit| *hit.value));
    out
}

fn in_digits(folded: &str, out: &mut Amounts) {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = REGEX.get_or_init(|| Regex::new(r"(?P<n>\d[\d.,:]*)(?P<u> ?[万千]|k\b)?(?P<m>月)?").ok());
    let Some(regex) = regex else { return };
    for found in regex.captures_iter(folded) {
        let (Some(all), Some(digits)) = (found.get(0), found.name("n")) else { continue };
        // The digits in a name such as B2 are not a number.
        let before = &folded[..all.start()];
        if before.ends_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let unit = found.name("u").map_or("", |unit| unit.as_str().trim());
        let Some(value) = number(&format!("{}{unit}", digits.as_str().trim_end_matches(['.', ',', ':']))) else {
            continue;
        };
        match (found.name("m"), value) {
            (Some(_), 1.0..=12.0) => out.times.push(Time::Month(value as usize - 1)),
            (None, 1900.0..2100.0) if digits.as_str().trim_end_matches(['.', ',', ':']).len() == 4 => {
                out.times.push(Time::Year(value as u32))
            }
            _ => out.numbers.push(value),
        }
    }
}

fn in_words(folded: &str, out: &mut Amounts) {
    let position = |lists: &[&[&str]], word: &str| lists.iter().position(|names| names.contains(&word));
    let mut tens: Option<f64> = None;
    for word in words(folded) {
        // Some words for 0 and 1 are also articles ("a", "ein", "kein"). So of the words for 0 and 1, only "one" and
        // "eins" count.
        let small = position(NUMBERS, word).filter(|n| *n >= 2 || word == "one" || word == "eins");
        if let Some(n) = position(TENS, word) {
            out.numbers.extend(tens.replace((n + 2) as f64 * 10.0));
            continue;
        }
        match (tens.take(), small) {
            (Some(tens), Some(n)) if n < 10 => out.numbers.push(tens + n as f64),
            (tens, small) => out.numbers.extend(tens.into_iter().chain(small.map(|n| n as f64))),
        }
        // German puts the unit before the ten: "einundvierzig" is 41.
        if let Some((unit, ten)) = word.split_once("und")
            && let (Some(unit), Some(ten)) = (position(NUMBERS, unit), position(TENS, ten))
        {
            out.numbers.push(unit as f64 + (ten + 2) as f64 * 10.0);
        }
    }
    out.numbers.extend(tens);
}

/// Numbers in Kanji before a counter.
fn in_kanji(folded: &str, out: &mut Amounts) {
    const KANJI_DIGITS: &str = "〇一二三四五六七八九";
    const COUNTERS: &str = "年歳才日週人匹杯本時冊回児通枚章羽個名度階万つ円頭件台";
    let digit = |c: char| KANJI_DIGITS.chars().position(|d| d == c);
    let (mut total, mut current, mut any) = (0usize, 0usize, false);
    for c in folded.chars() {
        let factor = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            _ => 1,
        };
        if factor > 1 {
            total = total.saturating_add(current.max(1).saturating_mul(factor));
            (current, any) = (0, true);
        } else if let Some(n) = digit(c) {
            (current, any) = (current.saturating_mul(10).saturating_add(n), true);
        } else {
            let value = total.saturating_add(current);
            match c {
                '月' if any && (1..=12).contains(&value) => out.times.push(Time::Month(value - 1)),
                c if any && COUNTERS.contains(c) => out.numbers.push(value as f64),
                _ => {}
            }
            (total, current, any) = (0, 0, false);
        }
    }
}

fn calendar_words() -> &'static WordSet<Time> {
    static WORDS: OnceLock<WordSet<Time>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let entries = |lists: &'static [&'static [&'static str]], time: fn(usize) -> Time| {
            let all = lists.iter().enumerate();
            all.flat_map(move |(n, names)| names.iter().map(move |name| (*name, time(n)))).collect::<Vec<_>>()
        };
        let months = entries(MONTHS, Time::Month).into_iter();
        let days = entries(WEEKDAYS, Time::Weekday).into_iter();
        WordSet::new(months.chain(days).chain(entries(INTERVALS, Time::Every)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_found_in_three_languages() {
        let numbers = |text: &str| amounts(text).numbers;
        assert_eq!(numbers("lena is forty-one and has two of 1,300 tapes"), [1300.0, 41.0, 2.0]);
        assert_eq!(numbers("ist einundvierzig"), [41.0]);
        assert_eq!(numbers("息子は8歳で、子どもが三人いる。三十五歳"), [8.0, 3.0, 35.0]);
        assert_eq!(numbers("passed the b2 exam in 2020, has a dog"), [0.0; 0]);
        assert_eq!(amounts("毎月1日と五月").times, [Time::Month(4), Time::Every(3)]);
        assert_eq!(amounts("every second thursday in may 2027").times.len(), 4);
    }
}
