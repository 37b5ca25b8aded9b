//! Times without a time zone, as phones and browsers write them. The notation depends on the language and country of
//! the device, which files do not state.
use mementory_model::Timestamp;

/// Largest number of characters of a text that is parsed as a time.
const MAX_TIME_CHARS: usize = 48;
/// Zero-width characters that programs put around names, notices, and the numbers of a date.
pub const INVISIBLE_CHARS: [char; 7] =
    ['\u{feff}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{200b}'];
/// The zeros of Arabic, Persian, Hindi and Bengali digits.
const ZERO_DIGITS: [char; 4] = ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}'];
/// Separators between the numbers of a date.
const DATE_SEPARATORS: &[&str] = &["/", ".", "-", "年", "月", "년", "월"];
/// Separators between hours, minutes and seconds.
const CLOCK_SEPARATORS: &[&str] = &[":", "：", ".", "h", "時", "时"];
/// Words that may be next to the time of day without changing it.
const JOINING_WORDS: &[&str] = &[
    "at", "um", "klo", "kl", "om", "às", "à", "a", "las", "les", "alle", "ore", "la", "o", "u", "ob", "в", "о", "г",
    "ч",
];
/// Accepted years. Years of other calendars are not converted.
const ACCEPTED_YEARS: std::ops::RangeInclusive<u16> = 2000..=2199;

/// A part of the day that a 12-hour clock names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayPart {
    /// Before noon, and the hours after midnight.
    Morning,
    /// The hours around noon.
    Noon,
    /// After noon, until midnight.
    Afternoon,
    /// The last hours of the day.
    Evening,
}

/// The names of the two halves of the day, from CLDR. Only letters are compared, so `p. m.` equals `pm`.
const DAY_HALF_NAMES: &[(&str, &str)] = &[
    ("am", "pm"),
    ("π.μ.", "μ.μ."),
    ("上午", "下午"),
    ("午前", "午後"),
    ("오전", "오후"),
    ("ص", "م"),
    ("ق.ظ.", "ب.ظ."),
    ("לפנה״צ", "אחה״צ"),
    ("पूर्वाह्न", "अपराह्न"),
    ("পূর্বাহ্ণ", "অপরাহ্ণ"),
    ("ಪೂರ್ವಾಹ್ನ", "ಅಪರಾಹ್ನ"),
    ("முற்பகல்", "பிற்பகல்"),
    ("ਪੂ.ਦੁ.", "ਬਾ.ਦੁ."),
    ("පෙ.ව.", "ප.ව."),
    ("ก่อนเที่ยง", "หลังเที่ยง"),
    ("ጥዋት", "ከሰዓት"),
    ("öö", "ös"),
    ("sa", "ch"),
    ("pg", "ptg"),
    ("de", "du"),
    ("vm", "nm"),
    ("fm", "em"),
    ("дп", "пп"),
    ("пр.об.", "сл.об."),
    ("dop", "odp"),
    ("dop", "pop"),
    ("p.d.", "m.d."),
];
/// The names for smaller parts of the day, which phones write in Chinese.
const DAY_PART_NAMES: [(&str, DayPart); 5] = [
    ("凌晨", DayPart::Morning),
    ("清晨", DayPart::Morning),
    ("早上", DayPart::Morning),
    ("中午", DayPart::Noon),
    ("晚上", DayPart::Evening),
];

impl DayPart {
    /// The part of the day with this name. `letters` contains only letters, in lower case.
    fn with_name(letters: &str) -> Option<Self> {
        Self::find(|name| name.chars().filter(|c| c.is_alphabetic()).eq(letters.chars()))
    }

    /// The part of the day that is named next to a time of day. `before` and `after` are the texts around the time of
    /// day, which may also contain other words.
    pub fn next_to_time(before: &str, after: &str) -> Option<Self> {
        let [before, after] = [before, after].map(|text| text.to_lowercase().replace(". m.", ".m."));
        // A word before the time of day may belong to the date, so before it only abbreviations are considered.
        let is_abbreviation = |word: &&str| word.trim_end_matches(['.', ',']).contains('.');
        let words = after.split_whitespace().chain(before.split_whitespace().filter(is_abbreviation));
        // A name that is not a separate word counts only if it is unlikely to be part of another word.
        let may_touch = |name: &str| name.contains('.') || !name.is_ascii() && name.chars().nth(1).is_some();
        let is_inside = |name: &str| may_touch(name) && (before.contains(name) || after.contains(name));
        words.map(letters).find_map(|word| Self::with_name(&word)).or_else(|| Self::find(is_inside))
    }

    fn find(is_named: impl Fn(&str) -> bool) -> Option<Self> {
        let half = DAY_HALF_NAMES.iter().find_map(|(morning, afternoon)| {
            let is_afternoon = is_named(afternoon);
            (is_afternoon || is_named(morning)).then_some(if is_afternoon { Self::Afternoon } else { Self::Morning })
        });
        half.or_else(|| DAY_PART_NAMES.iter().find(|(name, _)| is_named(name)).map(|(_, part)| *part))
    }

    /// The hour of a 24-hour clock. None if the hour is not in this part of the day.
    pub fn hour_of_day(self, hour: u16) -> Option<u16> {
        match (self, hour) {
            (Self::Morning | Self::Evening, 12) => Some(0),
            (Self::Morning, 0..=11) => Some(hour),
            (Self::Noon, 1..=3) | (Self::Afternoon, 0..=11) | (Self::Evening, 5..=11) => Some(hour + 12),
            (Self::Noon, 10..=15) | (Self::Afternoon, 12..=23) | (Self::Evening, 13..=23) => Some(hour),
            _ => None,
        }
    }
}

/// The words between the date and the time of day, or after both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordsBesideTime {
    /// No words, or only words that do not change the time.
    Neutral,
    DayPart(DayPart),
    Unknown,
}

impl WordsBesideTime {
    fn of(text: &str) -> Self {
        let text = text.trim_start();
        // Removes the word for "day", with which a date ends in Chinese, Japanese and Korean.
        let text = text.strip_prefix(['日', '일']).unwrap_or(text);
        let words = text.split_whitespace().map(letters);
        let other_words: String = words.filter(|word| !JOINING_WORDS.contains(&word.as_str())).collect();
        match DayPart::with_name(&letters(text)).or_else(|| DayPart::with_name(&other_words)) {
            Some(part) => Self::DayPart(part),
            None if other_words.is_empty() => Self::Neutral,
            None => Self::Unknown,
        }
    }
}

/// A time as written: the three numbers of the date, and the time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    date: [u16; 3],
    /// Hour, minute and second. None if the words next to the time of day leave the hour unclear, such as an unknown
    /// word that may mean a part of the day.
    clock: Option<[u16; 3]>,
    /// True for `AM` and `PM` in capitals, as in the United States.
    has_capitals: bool,
    has_dots: bool,
}

impl Stamp {
    /// Parses `19.07.26, 10:00:00`, `7/19/26, 1:46 PM`, `2026-07-19, 10:00`, `19.7.2026 klo 10.00.00` and
    /// `19/7/26, 1:46 μ.μ.`. None for other texts.
    pub fn parse(text: &str) -> Option<Self> {
        let (numbers, gaps) = numbers_and_gaps(text)?;
        let (&[first, second, third, hour, minute], seconds) = numbers.split_first_chunk::<5>()?;
        let second_of_minute = match seconds {
            [] => 0,
            [one] => *one,
            _ => return None,
        };
        let [before, first_gap, second_gap, between, clock_gaps @ .., after] = gaps.as_slice() else { return None };
        let date = [first, second, third];
        let is_stamp = letters(before).is_empty()
            && is_date(date)
            && [first_gap, second_gap].into_iter().all(|gap| is_one_of(gap, DATE_SEPARATORS))
            && clock_gaps.iter().all(|gap| is_one_of(gap, CLOCK_SEPARATORS))
            && hour < 24
            && minute < 60
            && second_of_minute < 60;
        let hour = match (WordsBesideTime::of(between), WordsBesideTime::of(after)) {
            (WordsBesideTime::Neutral, WordsBesideTime::Neutral) => Some(hour),
            (WordsBesideTime::DayPart(part), WordsBesideTime::Neutral)
            | (WordsBesideTime::Neutral, WordsBesideTime::DayPart(part)) => part.hour_of_day(hour),
            _ => None,
        };
        is_stamp.then(|| Self {
            date,
            clock: hour.map(|hour| [hour, minute, second_of_minute]),
            has_capitals: [between, after].into_iter().any(|gap| matches!(gap.trim(), "AM" | "PM")),
            has_dots: clock_gaps.iter().chain([first_gap]).any(|gap| gap.contains('.')),
        })
    }

    /// The time, read as UTC. None if it is ambiguous or invalid.
    pub fn time(self, order: Order) -> Option<Timestamp> {
        let [first, second, third] = self.date;
        let (year, month, day) = match order {
            _ if first >= 100 => (first, second, third),
            Order::DayFirst => (third, second, first),
            Order::MonthFirst => (third, first, second),
        };
        let year = if year < 100 { 2000 + year } else { year };
        let [hour, minute, seconds] = self.clock.filter(|_| ACCEPTED_YEARS.contains(&year))?;
        Timestamp::parse(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{seconds:02}Z"))
    }
}

/// The numbers of a text, and the texts before, between and after them.
fn numbers_and_gaps(text: &str) -> Option<(Vec<u16>, Vec<String>)> {
    if text.chars().nth(MAX_TIME_CHARS).is_some() {
        return None;
    }
    let mut numbers: Vec<u16> = Vec::new();
    let mut gaps = vec![String::new()];
    let mut is_in_number = false;
    for c in text.chars().filter(|c| !INVISIBLE_CHARS.contains(c)) {
        let Some(digit) = ascii_digit(c).to_digit(10) else {
            gaps.last_mut()?.push(c);
            is_in_number = false;
            continue;
        };
        if !is_in_number {
            numbers.push(0);
            gaps.push(String::new());
            is_in_number = true;
        }
        let number = numbers.last_mut()?;
        *number = number.checked_mul(10)?.checked_add(u16::try_from(digit).ok()?)?;
    }
    Some((numbers, gaps))
}

/// The ASCII form of a digit of Arabic, Persian, Hindi or Bengali. Any other character is returned unchanged.
pub fn ascii_digit(c: char) -> char {
    let digit_after = |zero: &char| u32::from(c).checked_sub(u32::from(*zero)).filter(|digit| *digit < 10);
    ZERO_DIGITS.iter().find_map(digit_after).and_then(|digit| char::from_digit(digit, 10)).unwrap_or(c)
}

/// The letters of a text, in lower case.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase()
}

fn is_one_of(gap: &str, separators: &[&str]) -> bool {
    separators.contains(&gap.trim())
}

/// True if two of the numbers can be a day and a month. Some calendars have 13 months.
fn is_date([first, second, third]: [u16; 3]) -> bool {
    let (one, other) = if first >= 100 { (second, third) } else { (first, second) };
    (1..=13).contains(&one.min(other)) && one.max(other) <= 31
}

/// The order of day and month in a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The day comes before the month.
    DayFirst,
    /// The month comes before the day.
    MonthFirst,
}

/// The order of day and month in a file, and whether it is certain. A number above 12 is a day, and in dates with dots
/// the day comes first. Otherwise, `AM` or `PM` in capitals suggests that the month comes first.
pub fn day_order(stamps: &[Stamp]) -> (Order, bool) {
    let dates = || stamps.iter().filter(|stamp| stamp.date[0] < 100);
    let has_dots = dates().any(|stamp| stamp.has_dots);
    if dates().any(|stamp| stamp.date[0] > 12) || has_dots {
        (Order::DayFirst, true)
    } else if dates().any(|stamp| stamp.date[1] > 12) {
        (Order::MonthFirst, true)
    } else {
        let order = if dates().any(|stamp| stamp.has_capitals) { Order::MonthFirst } else { Order::DayFirst };
        (order, dates().next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Option<String> {
        let stamp = Stamp::parse(text)?;
        let (order, _) = day_order(&[stamp]);
        Some(stamp.time(order).map_or_else(|| "unknown".into(), Timestamp::to_rfc3339))
    }

    #[test]
    fn the_names_of_the_parts_of_the_day_are_known_in_many_languages() {
        for (text, expected) in [
            ("19/7/26, 1:05 p.\u{a0}m.", "2026-07-19T13:05:00Z"),
            ("19/7/26, 12:05 a. m.", "2026-07-19T00:05:00Z"),
            ("19/07/26, 1:05 pm", "2026-07-19T13:05:00Z"),
            ("19/7/26, 1:05 μ.μ.", "2026-07-19T13:05:00Z"),
            ("19/7/26, 9:05 π.μ.", "2026-07-19T09:05:00Z"),
            ("2026/7/19 上午12:05", "2026-07-19T00:05:00Z"),
            ("2026/7/19 凌晨2:05", "2026-07-19T02:05:00Z"),
            ("2026/7/19 中午12:05", "2026-07-19T12:05:00Z"),
            ("2026/7/19 晚上9:05:10", "2026-07-19T21:05:10Z"),
            ("2026年7月19日 下午1:05", "2026-07-19T13:05:00Z"),
            ("2026. 7. 19. 오후 1:05", "2026-07-19T13:05:00Z"),
            ("2026/07/19 午後0:05", "2026-07-19T12:05:00Z"),
            ("١٩\u{200f}/٧\u{200f}/٢٠٢٦، ١:٠٥ م", "2026-07-19T13:05:00Z"),
            ("১৯/৭/২৬, ৯:০৫ পূর্বাহ্ণ", "2026-07-19T09:05:00Z"),
            ("19/07/2026 às 10:00", "2026-07-19T10:00:00Z"),
            ("19.07.2026 um 10:00", "2026-07-19T10:00:00Z"),
            ("2026-07-19 13 h 05", "2026-07-19T13:05:00Z"),
        ] {
            assert_eq!(time(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn the_part_of_the_day_is_found_between_other_words() {
        for (before, after, expected) in [
            ("Jan 5, 2026, ", " p. m. EST", Some(DayPart::Afternoon)),
            ("Jan 5, 2026, ", " AM PST", Some(DayPart::Morning)),
            ("Jan 5, 2026, a.m. ", "", Some(DayPart::Morning)),
            ("2026年7月26日下午", " GMT+8", Some(DayPart::Afternoon)),
            ("26 korr 2026, ", " m.d., GMT+2", Some(DayPart::Afternoon)),
            ("", " م غرينتش", Some(DayPart::Afternoon)),
            ("10 de mai. de 2026, ", " BRT", None),
            ("26 июл. 2026 г., ", " MSK", None),
        ] {
            assert_eq!(DayPart::next_to_time(before, after), expected, "{before}{after}");
        }
    }

    #[test]
    fn a_time_with_an_unknown_word_is_not_guessed() {
        for text in ["19/7/26, 1:05 zzz", "19/7/26 zzz 1:05", "2026/7/19 晚上2:05", "19/7/2569 13:05", "31/2/26, 10:00"]
        {
            assert_eq!(time(text).as_deref(), Some("unknown"), "{text}");
        }
    }

    #[test]
    fn texts_with_other_numbers_are_not_times() {
        for text in ["1.2.3 see 4 and 5", "5 of 19/7/26 10", "99.99.99, 99:99", "19/7/26", "ab 19/7/26, 10:00", ""] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
