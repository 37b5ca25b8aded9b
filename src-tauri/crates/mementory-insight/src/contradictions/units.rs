//! Recognises what a number in a text counts or measures. Numbers of different things, such as 11 chapters and 6,000
//! words, do not contradict each other.
use crate::{
    fold::{is_east_asian, is_function_word},
    word_lists::MONTHS,
};

/// Position in `CLASSES` of clock times.
const CLOCK: usize = 0;
/// Position in `CLASSES` of days of a month.
const DAY_OF_MONTH: usize = 1;
/// Position in `CLASSES` of amounts of money.
pub(super) const MONEY: usize = 2;
/// Position in `CLASSES` of distances.
const DISTANCE: usize = 4;
/// Position in `CLASSES` of masses.
pub(super) const MASS: usize = 5;
/// Position in `CLASSES` of durations in years.
pub(super) const YEARS: usize = 10;
/// Position in `CLASSES` of durations in months.
pub(super) const MONTHS_LONG: usize = 11;
/// Position in `CLASSES` of numbers of people.
const PEOPLE: usize = 14;
/// The names of units, one row for each class. The units of a class measure the same quantity.
const CLASSES: [&[&str]; 19] = [
    &[
        "o'clock",
        "uhr",
        "am",
        "pm",
        "a.m",
        "p.m",
        "時に",
        "時ごろ",
        "時頃",
        "時半",
        "時から",
        "時まで",
        "時起",
        "時開",
        "時始",
        "時閉",
        "時出",
        "時就",
    ],
    &[],
    &[
        "euro",
        "euros",
        "eur",
        "dollar",
        "dollars",
        "usd",
        "pound",
        "pounds",
        "pfund",
        "quid",
        "gbp",
        "yen",
        "franken",
        "francs",
        "chf",
        "kronor",
        "kroner",
        "kronen",
        "sek",
        "nok",
        "dkk",
        "pln",
        "zł",
        "crowns",
        "円",
        "ユーロ",
        "ドル",
        "ポンド",
        "フラン",
        "€",
        "$",
        "£",
        "¥",
    ],
    &["%", "percent", "prozent", "パーセント", "per cent"],
    &["km", "kilometre", "kilometres", "kilometers", "kilometer", "miles", "meilen", "キロメートル", "マイル"],
    &["kg", "kilo", "kilos", "stone", "キロ", "キログラム", "g", "grams", "gramm", "グラム"],
    &["m", "cm", "metres", "meters", "meter", "foot", "feet", "センチ", "メートル", "cm", "mm"],
    &[
        "mg",
        // NFKC turns the micro sign (U+00B5) into this Greek letter.
        "μg",
        "mcg",
        "milligram",
        "milligrams",
        "milligramm",
        "microgram",
        "micrograms",
        "mikrogramm",
        "ミリグラム",
        "マイクログラム",
        "ミリ",
    ],
    &["hour", "hours", "h", "stunde", "stunden", "wochenstunden", "時間"],
    &["minute", "minutes", "min", "minuten", "分"],
    &["year", "years", "jahr", "jahre", "jahren", "歳", "才", "年"],
    &["month", "months", "monat", "monate", "monaten", "か月", "ヶ月", "カ月"],
    &["week", "weeks", "woche", "wochen", "週間"],
    &["day", "days", "tag", "tage", "tagen", "日間", "日"],
    &["people", "members", "leute", "personen", "mitglieder", "subscribers", "abonnenten", "readers", "人", "名"],
    &["pages", "page", "seiten", "seite", "ページ"],
    &["words", "wörter", "字", "語"],
    &["chapters", "chapter", "kapitel", "章"],
    &["times", "mal", "x", "回"],
];
/// Units with another size than the first unit of their class, each with the factor that converts a number to the first
/// unit.
const FACTORS: [(&[&str], f64); 5] = [
    (&["miles", "meilen", "マイル"], 1.609_344),
    (&["stone"], 6.350_293),
    (&["g", "grams", "gramm", "グラム"], 0.001),
    (&["μg", "mcg", "microgram", "micrograms", "mikrogramm", "マイクログラム"], 0.001),
    (&["mm"], 0.1),
];
/// The words for the periods of rates ("per week") and frequencies, one row for each period.
const PERIODS: [&[&str]; 5] = [
    &["hour", "hourly", "stunde", "stündlich", "時給", "1時間", "一時間"],
    &["day", "daily", "tag", "täglich", "一日", "毎日"],
    &["week", "weekly", "woche", "wöchentlich", "週", "毎週"],
    &["month", "monthly", "monat", "monatlich", "月に", "月", "毎月"],
    &["year", "annually", "jahr", "jährlich", "年に", "年間", "毎年"],
];
/// Position of the year in `PERIODS`.
const YEAR: usize = 4;
/// Words before a period: "a week", "pro Monat".
const WORDS_BEFORE_PERIOD: [&str; 10] = ["a", "an", "per", "each", "every", "pro", "im", "die", "am", "jede"];
/// Words before a clock time: "at 7", "bis 9".
const WORDS_BEFORE_CLOCK_TIME: [&str; 7] = ["at", "till", "until", "um", "bis", "gegen", "around"];

/// The Japanese short form of both kilogram and kilometre.
const KILO: &str = "キロ";
/// If one of these words is before or after [`KILO`], it means kilometres.
const WORDS_OF_DISTANCE: [&str; 12] =
    ["走", "歩", "泳", "漕", "マラソン", "ランニング", "距離", "自己ベスト", "離れ", "先に", "自転車", "通勤"];

/// True if a term is the name of a unit or a period. Such a term does not show what a statement is about.
pub(super) fn is_unit(term: &str) -> bool {
    let names = || CLASSES.iter().chain(&PERIODS).flat_map(|names| names.iter());
    names().any(|name| *name == term || term.chars().count() >= 5 && name.starts_with(term)) || term == "monatl"
}

/// What a number counts or measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unit {
    Unknown,
    /// Position in `CLASSES`.
    Class(usize),
    /// The first letters of the word after the number.
    Word(String),
}

/// What a number counts or measures, and for which period ("per week"), if one is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Measure {
    unit: Unit,
    period: Option<usize>,
}

impl Measure {
    /// The measure of the number `value` between two parts of a folded text.
    pub(super) fn between(before: &str, after: &str, value: f64) -> Self {
        let unit = unit(before, after, value);
        Self { unit, period: period(before, after) }
    }

    /// The measure of a time such as 7:30 between two parts of a folded text. If the name of a unit follows, the time
    /// is a duration.
    pub(super) fn of_clock_time(before: &str, after: &str) -> Self {
        match unit("", after, 0.0) {
            Unit::Class(class) if class != DAY_OF_MONTH => {
                Self { unit: Unit::Class(class), period: period(before, after) }
            }
            _ => Self { unit: Unit::Class(CLOCK), period: None },
        }
    }

    /// True if a number with this measure may be the value of an attribute whose units are in `classes`. A number
    /// without a unit may be the value of any attribute, but a number of named things ("35 students") of none.
    pub(super) fn may_be_one_of(&self, classes: &[usize]) -> bool {
        match self.unit {
            Unit::Unknown => true,
            Unit::Class(class) => classes.contains(&class),
            Unit::Word(_) => false,
        }
    }

    pub(super) fn is_yearly(&self) -> bool {
        self.period == Some(YEAR)
    }

    pub(super) fn is_money(&self) -> bool {
        self.unit == Unit::Class(MONEY)
    }

    /// True if two numbers with these measures may measure the same thing.
    pub(super) fn may_be_same(&self, other: &Self) -> bool {
        let units = match (&self.unit, &other.unit) {
            (Unit::Class(a), Unit::Class(b)) => a == b,
            // "Nine people" and "nine engineers" may count the same people.
            (Unit::Class(class), Unit::Word(_)) | (Unit::Word(_), Unit::Class(class)) => *class == PEOPLE,
            _ => true,
        };
        let periods = self.period.zip(other.period).is_none_or(|(one, other)| one == other);
        units && periods
    }

    /// True if the words show that two numbers with these measures measure the same thing.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.unit == other.unit && self.period == other.period
    }
}

/// The factor that converts a number to the first unit of its class. `after` is the text after the number. None if the
/// number needs no conversion.
pub(super) fn factor(after: &str) -> Option<f64> {
    let after = after.trim_start_matches([' ', '-']);
    let (next, is_asian) = next_word(after);
    let is_unit = |name: &&str| if is_asian { after.starts_with(*name) } else { **name == *next };
    FACTORS.iter().find(|(names, _)| names.iter().any(is_unit)).map(|(_, factor)| *factor)
}

fn unit(before: &str, after: &str, value: f64) -> Unit {
    let before = before.trim_end();
    if before.ends_with(['€', '$', '£', '¥']) {
        return Unit::Class(MONEY);
    }
    let after = after.trim_start_matches([' ', '-']);
    let last_word = before.rsplit(' ').next().unwrap_or_default();
    let may_be_day = (1.0..=31.0).contains(&value) && value.fract() == 0.0;
    let (next, is_asian) = next_word(after);
    let following = after.trim_start_matches(['.', ' ']).trim_start_matches("of ");
    let is_month = |text: &str| MONTHS.iter().any(|names| names.contains(&text));
    let month_follows =
        is_month(next_word(following).0) || ["st ", "nd ", "rd ", "th "].iter().any(|end| after.starts_with(end));
    let is_day = month_follows
        || is_month(last_word.trim_end_matches(['.', ',']))
        || after.starts_with('日') && !after.starts_with("日間") && !before.ends_with(['週', 'に']);
    // A day of the month can also be given without the name of a month: "am 27. jedes Monats".
    let is_ordinal = after.starts_with('.') && ["jedes", "des", "eines", "im"].contains(&next_word(following).0);
    if may_be_day && (is_day || is_ordinal) {
        return Unit::Class(DAY_OF_MONTH);
    }
    let known_class = CLASSES.iter().position(|names| {
        names.iter().any(|name| {
            if is_asian {
                after.starts_with(name)
            } else {
                *name == next || after.starts_with(name) && !name.starts_with(char::is_alphanumeric)
            }
        })
    });
    if is_kilometres(before, after) {
        return Unit::Class(DISTANCE);
    }
    // Durations are checked before clock times, because 時間 (hours) begins with 時 (o'clock).
    if let Some(class) = known_class {
        return Unit::Class(class);
    }
    let may_be_clock_time = value <= 24.0
        && (WORDS_BEFORE_CLOCK_TIME.contains(&last_word) || after.starts_with('時') && !after.starts_with("時間"));
    if may_be_clock_time && next_is_no_noun(next) {
        return Unit::Class(CLOCK);
    }
    if is_asian {
        let counter: String = after.chars().take(1).collect();
        return if counter.chars().all(|c| matches!(u32::from(c), 0x3041..=0x3096)) {
            Unit::Unknown
        } else {
            Unit::Word(counter)
        };
    }
    if next_is_no_noun(next) { Unit::Unknown } else { Unit::Word(next.chars().take(5).collect()) }
}

/// True if `after`, the text after a number, begins with キロ, and the surrounding words show that キロ means kilometres.
pub(super) fn is_kilometres(before: &str, after: &str) -> bool {
    let is_short =
        after.strip_prefix(KILO).is_some_and(|rest| !["グラム", "メートル"].iter().any(|end| rest.starts_with(end)));
    is_short && WORDS_OF_DISTANCE.iter().any(|word| before.contains(word) || after.contains(word))
}

fn next_is_no_noun(next: &str) -> bool {
    next.chars().count() < 3 || is_function_word(next) || ["and", "und", "or", "so", "but"].contains(&next)
}

/// Returns the word with which a text begins (empty if the text begins with something else), and whether the text
/// begins in a script without spaces.
fn next_word(text: &str) -> (&str, bool) {
    let is_asian = text.chars().next().is_some_and(is_east_asian);
    let end =
        text.char_indices().find(|(_, c)| !c.is_alphabetic() && !"'.".contains(*c)).map_or(text.len(), |(at, _)| at);
    (text.get(..end).unwrap_or_default().trim_end_matches(['.', '\'']), is_asian)
}

fn period(before: &str, after: &str) -> Option<usize> {
    let position_of = |word: &str| PERIODS.iter().position(|names| names.contains(&word));
    if after.chars().chain(before.chars()).any(is_east_asian) {
        let end = before.trim_end_matches(|c: char| "にで約はが、".contains(c) || c.is_whitespace());
        let ends_with_name = |name: &&&str| before.ends_with(**name) || end.ends_with(**name);
        return PERIODS.iter().position(|names| names.iter().any(|name| ends_with_name(&name)));
    }
    let words: Vec<&str> =
        after.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(5).collect();
    // "30 Wochenstunden" means "30 Stunden pro Woche".
    if words.first().is_some_and(|word| word.starts_with("wochenstunde")) {
        return position_of("woche");
    }
    let with_article = words.windows(2).find_map(|pair| match pair {
        [per, period] if WORDS_BEFORE_PERIOD.contains(per) => position_of(period),
        _ => None,
    });
    with_article.or_else(|| {
        words.iter().filter(|word| word.ends_with("ly") || word.ends_with("lich")).find_map(|word| position_of(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Measure {
        let start = text.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
        let end = text.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
        let value = text[start..end].replace(',', "").parse().unwrap_or(0.0);
        Measure::between(&text[..start], &text[end..], value)
    }

    #[test]
    fn numbers_of_different_things_are_distinguished() {
        for (one, other) in [
            ("has 11 chapters", "has 6,000 words"),
            ("sleeps 6 hours", "sleeps till 10"),
            ("saves 300 euros", "is 5 foot tall"),
            ("runs 30 km a week", "runs 5 km every day"),
            ("月に2回", "登録者は1200人"),
            ("10キロの自己ベストを出した", "体重は84キロ"),
            ("毎朝5キロ走る", "weighs 92 kg"),
            ("born on 9 may", "is 41 years old"),
            ("earns 50,000 a year", "earns 4,000 a month"),
        ] {
            assert!(!measure(one).may_be_same(&measure(other)), "{one} | {other}");
        }
        for (one, other) in [
            ("pays 900 euros", "pays 9,800 kronor"),
            ("weighs 92 kg", "体重は84キロ"),
            ("毎朝5キロ走る", "runs 10 km"),
            ("is 38 years old", "turned 40"),
            ("has 6,000 in savings", "has £15,000"),
            ("has 2 sons", "has 3 children"),
            ("gets up at 6", "steht um 7 uhr auf"),
        ] {
            assert!(measure(one).may_be_same(&measure(other)), "{one} | {other}");
        }
    }
}
