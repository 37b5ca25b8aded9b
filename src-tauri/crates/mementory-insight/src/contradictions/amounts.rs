//! Finds the numbers and times in a text, so that two statements about the same thing can be compared.
use super::units::{Measure, factor};
use crate::{
    fold::words,
    patterns::WordSet,
    values::number,
    word_lists::{INTERVALS, MONTHS, NUMBERS, TENS, WEEKDAYS},
};
use regex::Regex;
use std::sync::OnceLock;

/// The numbers, times and levels in a text.
#[derive(Debug, Clone, Default)]
pub(super) struct Amounts {
    pub(super) numbers: Vec<Number>,
    pub(super) times: Vec<Time>,
    /// Levels of a language examination, such as B2 and N3, as a letter in lower case and a digit.
    levels: Vec<(char, usize)>,
}

/// A number and what it counts or measures.
#[derive(Debug, Clone)]
pub(super) struct Number {
    pub(super) value: f64,
    pub(super) measure: Measure,
    /// True if the number was converted from another unit, so that its value is not exact.
    is_converted: bool,
}

impl Number {
    /// A number between two parts of a folded text. If a unit in `FACTORS` follows the number, the value is converted
    /// to the first unit of its class.
    fn between(before: &str, after: &str, value: f64) -> Self {
        let measure = Measure::between(before, after, value);
        match factor(after) {
            Some(factor) => Self { value: value * factor, measure, is_converted: true },
            None => Self { value, measure, is_converted: false },
        }
    }

    /// True if both numbers are equal. If only one of them was converted, they are compared with a tolerance, because a
    /// number in miles is rarely exact in kilometres.
    fn is_same(&self, other: &Self) -> bool {
        let tolerance = match self.is_converted != other.is_converted {
            true => self.value.max(other.value) * TOLERANCE_OF_CONVERTED,
            false => 1e-9,
        };
        (self.value - other.value).abs() <= tolerance
    }

    /// False if only one of two amounts of money is for a year, and the amounts differ greatly. An amount without a
    /// period is usually for a month.
    fn may_be_for_same_period(&self, other: &Self) -> bool {
        let is_money = self.measure.is_money() && other.measure.is_money();
        if !is_money || self.measure.is_yearly() == other.measure.is_yearly() {
            return true;
        }
        let (smaller, larger) = (self.value.min(other.value), self.value.max(other.value));
        larger <= smaller * MAX_RATIO_OF_YEARLY
    }
}

/// A time or a frequency, as precisely as the text states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Time {
    Year(u32),
    Month(usize),
    Weekday(usize),
    Every(usize),
}

/// Largest ratio of an amount of money without a period and a yearly amount at which the former may be for a year too.
const MAX_RATIO_OF_YEARLY: f64 = 2.0;

/// Largest relative difference at which a converted number and an unconverted one count as equal.
const TOLERANCE_OF_CONVERTED: f64 = 0.05;

/// Punctuation that may follow a number without being part of it.
const PUNCTUATION: [char; 3] = ['.', ',', ':'];

impl Amounts {
    /// Returns all times, and those numbers that may be measured in one of the given classes of units (positions in
    /// `units::CLASSES`).
    pub(super) fn measured_in(&self, classes: &[usize]) -> Self {
        let numbers = self.numbers.iter().filter(|number| number.measure.may_be_one_of(classes)).cloned().collect();
        Self { numbers, ..self.clone() }
    }

    /// True if both texts contain numbers that may measure the same thing, but no number in common.
    pub(super) fn numbers_differ(&self, other: &Self) -> bool {
        self.differ(other, Measure::may_be_same)
    }

    /// True if both texts contain numbers with the same unit, but no number in common.
    pub(super) fn numbers_of_one_unit_differ(&self, other: &Self) -> bool {
        self.differ(other, Measure::is_same)
    }

    /// True if both texts contain the same number, and the number may measure the same thing in both.
    pub(super) fn numbers_agree(&self, other: &Self) -> bool {
        let pairs = || self.numbers.iter().flat_map(|one| other.numbers.iter().map(move |two| (one, two)));
        pairs().any(|(one, two)| one.is_same(two) && one.measure.may_be_same(&two.measure))
            && !self.numbers_of_one_unit_differ(other)
    }

    /// True if one of the numbers is an amount of money.
    pub(super) fn has_money(&self) -> bool {
        self.numbers.iter().any(|number| number.measure.is_money())
    }

    /// True if both texts contain levels of the same scale, but no level in common.
    pub(super) fn levels_differ(&self, other: &Self) -> bool {
        let of_scale = |amounts: &Self, japanese: bool| -> Vec<(char, usize)> {
            amounts.levels.iter().copied().filter(|(letter, _)| (*letter == 'n') == japanese).collect()
        };
        [false, true]
            .into_iter()
            .any(|japanese| have_nothing_in_common(&of_scale(self, japanese), &of_scale(other, japanese)))
    }

    fn differ(&self, other: &Self, comparable: impl Fn(&Measure, &Measure) -> bool) -> bool {
        let pairs = || self.numbers.iter().flat_map(|one| other.numbers.iter().map(move |two| (one, two)));
        pairs().any(|(one, two)| comparable(&one.measure, &two.measure) && one.may_be_for_same_period(two))
            && !pairs().any(|(one, two)| one.is_same(two))
    }

    /// True if both texts name the same month and the same year, and their other times do not differ.
    pub(super) fn dates_agree(&self, other: &Self) -> bool {
        let share =
            |is_kind: fn(&Time) -> bool| self.times.iter().any(|time| is_kind(time) && other.times.contains(time));
        share(|time| matches!(time, Time::Month(_)))
            && share(|time| matches!(time, Time::Year(_)))
            && !self.times_differ(other)
    }

    /// True if both texts contain times of the same kind, such as months, but no such time in common.
    pub(super) fn times_differ(&self, other: &Self) -> bool {
        let of_kind = |amounts: &Self, kind: &Time| -> Vec<Time> {
            let same = |time: &&Time| std::mem::discriminant(*time) == std::mem::discriminant(kind);
            amounts.times.iter().filter(same).copied().collect()
        };
        self.times.iter().any(|kind| have_nothing_in_common(&of_kind(self, kind), &of_kind(other, kind)))
    }
}

fn have_nothing_in_common<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    !a.is_empty() && !b.is_empty() && !a.iter().any(|one| b.contains(one))
}

/// Finds the numbers, times and levels in a folded text.
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
    let regex =
        REGEX.get_or_init(|| Regex::new(r"(?P<n>\d[\d.,:]*)(?:(?P<u> ?[万千]|k\b)(?P<r>\d+千?)?)?(?P<m>月)?").ok());
    let Some(regex) = regex else { return };
    for found in regex.captures_iter(folded) {
        let (Some(matched), Some(digits)) = (found.get(0), found.name("n")) else { continue };
        // The digits in a name such as B2 are not a number.
        let before = &folded[..matched.start()];
        if let Some(letter) = before.chars().next_back().filter(char::is_ascii_alphabetic) {
            let stands_alone = !before.chars().nth_back(1).is_some_and(|c| c.is_ascii_alphanumeric());
            // The punctuation is removed because it may end the sentence: "Is at A2."
            let written = digits.as_str().trim_end_matches(PUNCTUATION).parse();
            if let (true, true, Ok(level @ 1..=5)) = (stands_alone, "abcn".contains(letter), written) {
                out.levels.push((letter, level));
            }
            continue;
        }
        let unit = found.name("u").map_or("", |unit| unit.as_str().trim());
        let written = digits.as_str().trim_end_matches(PUNCTUATION);
        if let Some(clock_time) = clock_time(written) {
            let measure = Measure::of_clock_time(before, &folded[matched.start() + written.len()..]);
            out.numbers.push(Number { value: clock_time, measure, is_converted: false });
            continue;
        }
        let Some(value) = number(&format!("{written}{unit}")) else {
            continue;
        };
        // The number after the unit is added: 7万8千 is 78,000.
        let value = value + found.name("r").and_then(|rest| number(rest.as_str())).unwrap_or(0.0);
        match (found.name("m"), value) {
            (Some(_), 1.0..=12.0) => out.times.push(Time::Month(value as usize - 1)),
            (None, 1900.0..2100.0) if written.len() == 4 => out.times.push(Time::Year(value as u32)),
            _ => {
                // A comma after the digits ends the phrase, so the next word is not a unit.
                let end = match found.name("u") {
                    Some(_) => matched.end(),
                    None => matched.start() + written.len(),
                };
                // A length below 3 metres is converted to centimetres: 1.78 m is 178 cm.
                let is_in_metres = value < 3.0
                    && ["m ", "m.", "meter", "metre", "メートル"]
                        .iter()
                        .any(|unit| folded[end..].trim_start().starts_with(unit));
                let number = Number::between(before, &folded[end..], value);
                out.numbers.push(if is_in_metres { Number { value: value * 100.0, ..number } } else { number });
            }
        }
    }
}

/// Converts a time of day to hours: "7:30" is 7.5. None if the digits are not a time of day.
fn clock_time(digits: &str) -> Option<f64> {
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.get(..2)?.parse().ok()?);
    (hours <= 24 && minutes < 60).then(|| f64::from(hours) + f64::from(minutes) / 60.0)
}

fn in_words(folded: &str, out: &mut Amounts) {
    let position = |lists: &[&[&str]], word: &str| lists.iter().position(|names| names.contains(&word));
    let mut add = |value: f64, (start, end): (usize, usize)| {
        out.numbers.push(Number::between(&folded[..start], &folded[end..], value));
    };
    let mut tens: Option<(f64, (usize, usize))> = None;
    let mut end = 0;
    for word in words(folded) {
        let Some(start) = folded[end..].find(word).map(|at| end + at) else { continue };
        end = start + word.len();
        // Some words for 0 and 1 are also articles ("a", "ein", "kein"), so only "one" and "eins" count among them.
        let small_number = position(NUMBERS, word).filter(|n| *n >= 2 || word == "one" || word == "eins");
        if let Some(n) = position(TENS, word) {
            if let Some((before, at)) = tens.replace(((n + 2) as f64 * 10.0, (start, end))) {
                add(before, at);
            }
            continue;
        }
        match (tens.take(), small_number) {
            (Some((tens, (start, _))), Some(n)) if n < 10 => add(tens + n as f64, (start, end)),
            (tens, small_number) => {
                tens.into_iter().for_each(|(tens, at)| add(tens, at));
                small_number.into_iter().for_each(|n| add(n as f64, (start, end)));
            }
        }
        // In German, the unit precedes the ten: "einundvierzig" is 41.
        if let Some((unit, ten)) = word.split_once("und")
            && let (Some(unit), Some(ten)) = (position(NUMBERS, unit), position(TENS, ten))
        {
            add(unit as f64 + (ten + 2) as f64 * 10.0, (start, end));
        }
    }
    tens.into_iter().for_each(|(tens, at)| add(tens, at));
}

/// Adds the numbers in Kanji that precede a counter, and the months.
fn in_kanji(folded: &str, out: &mut Amounts) {
    const KANJI_DIGITS: &str = "〇一二三四五六七八九";
    const COUNTERS: &str = "年歳才日週人匹杯本時冊回児通枚章羽個名度階万つ円頭件台分秒キグミメセマパユド";
    let digit = |c: char| KANJI_DIGITS.chars().position(|d| d == c);
    let (mut total, mut digits_value, mut has_digit) = (0usize, 0usize, false);
    let mut after_digit = false;
    let mut start = 0;
    for (at, c) in folded.char_indices() {
        let factor = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            _ => 1,
        };
        // The number in 8千 is in digits, so `in_digits` has found it.
        let in_digits = factor > 1 && after_digit;
        after_digit = c.is_ascii_digit();
        if in_digits {
            continue;
        }
        if factor > 1 {
            total = total.saturating_add(digits_value.max(1).saturating_mul(factor));
            (digits_value, has_digit) = (0, true);
        } else if let Some(n) = digit(c) {
            (digits_value, has_digit) = (digits_value.saturating_mul(10).saturating_add(n), true);
        } else {
            let value = total.saturating_add(digits_value);
            match c {
                '月' if has_digit && (1..=12).contains(&value) => out.times.push(Time::Month(value - 1)),
                c if has_digit && COUNTERS.contains(c) => {
                    out.numbers.push(Number::between(&folded[..start], &folded[at..], value as f64));
                }
                _ => {}
            }
            (total, digits_value, has_digit) = (0, 0, false);
            start = at + c.len_utf8();
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
        let numbers = |text: &str| amounts(text).numbers.iter().map(|number| number.value).collect::<Vec<_>>();
        assert_eq!(numbers("lena is forty-one and has two of 1,300 tapes"), [1300.0, 41.0, 2.0]);
        assert_eq!(numbers("ist einundvierzig"), [41.0]);
        assert_eq!(numbers("息子は8歳で、子どもが三人いる。三十五歳"), [8.0, 3.0, 35.0]);
        assert_eq!(numbers("家賃は月7万8千円"), [78_000.0]);
        assert_eq!(numbers("passed the b2 exam in 2020, has a dog"), [0.0; 0]);
        assert_eq!(numbers("von 7:30 bis 16 uhr"), [7.5, 16.0]);
        assert!(amounts("is at a2.").levels_differ(&amounts("is at b1")));
        let per_week = amounts("30 wochenstunden");
        assert!(per_week.numbers_of_one_unit_differ(&amounts("20 stunden pro woche")));
        assert!(amounts("75 μg").numbers_of_one_unit_differ(&amounts("100 mikrogramm")));
        assert!(!amounts("runs 6 miles").numbers_differ(&amounts("läuft 10 km")));
        assert!(amounts("runs 6 miles").numbers_differ(&amounts("läuft 15 km")));
        assert!(!amounts("300 g mehl").numbers_differ(&amounts("0.3 kg flour")));
        assert_eq!(amounts("毎月1日と五月").times, [Time::Month(4), Time::Every(3)]);
        assert_eq!(amounts("every second thursday in may 2027").times.len(), 4);
    }
}
