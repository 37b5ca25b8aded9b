//! Finds statements that count or measure the same thing but give different numbers.
use super::{
    Prepared,
    amounts::{Amounts, amounts},
    keep_newest,
    reading::are_opposites,
    terms::Rarity,
    units::{factor, is_kilometres},
};
use crate::{
    fold::is_east_asian,
    subject::subject,
    values::number,
    word_lists::{MONEY_PURPOSES, NUMBERS},
};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The names of units, one row for each unit. Only numbers with the same unit are compared. A number in a smaller or
/// larger unit of the same quantity is first converted, see `units::factor`.
const UNITS: [&[&str]; 17] = [
    &["%", "percent", "prozent", "パーセント"],
    &["euro", "euros", "€", "eur", "ユーロ"],
    &["dollar", "dollars", "$", "usd", "ドル"],
    &["円", "yen"],
    &["kg", "kilo", "kilos", "キロ", "キログラム", "grams", "gramm", "グラム"],
    &["本", "tapes", "reels", "bänder", "tonbänder"],
    &["km", "kilometres", "kilometers", "kilometer", "キロメートル"],
    &["people", "members", "leute", "personen", "mitglieder", "人"],
    &["pages", "seiten", "ページ"],
    &["words", "wörter", "字", "語"],
    &["hours", "stunden", "時間"],
    &["books", "bücher", "冊"],
    &["minutes", "minuten", "分", "分間"],
    &["cm", "センチ", "センチメートル"],
    &["メートル", "metres", "meters", "meter"],
    &["weeks", "wochen", "週間"],
    &["mg", "milligrams", "milligramm", "ミリグラム"],
];
/// Position of kilometres in `UNITS`.
const KILOMETRES: usize = 6;
/// Japanese units, each with characters after which it is no unit: 5人前 (helpings), 3分の1 (a third).
const OTHER_MEANINGS: [(&str, &[&str]); 3] = [("人", &["前", "分"]), ("分", &["の"]), ("本", &["当", "人"])];

pub(super) fn find(prepared: &[Prepared<'_>], rare: &Rarity, add: &mut impl FnMut(usize, usize, f32, bool)) {
    let measures: Vec<Option<(usize, f64)>> =
        prepared.iter().map(|statement| measurement_in(&statement.folded.text)).collect();
    for members in rare.groups(prepared).into_values() {
        for (i, a) in members.iter().enumerate() {
            for b in members.iter().skip(i + 1) {
                let (Some(one), Some(other)) = (prepared.get(*a), prepared.get(*b)) else { continue };
                let (Some(Some((unit, first))), Some(Some((other_unit, second)))) =
                    (measures.get(*a), measures.get(*b))
                else {
                    continue;
                };
                if unit != other_unit
                    || (first - second).abs() < 1e-9
                    || says_difference(&one.folded.text)
                    || says_difference(&other.folded.text)
                    || one.marks.is_past
                    || other.marks.is_past
                    || !one.may_share_subject(other)
                    || owner(one) != owner(other)
                    || !one.may_share_purpose(other)
                    // Numbers of two different things of one kind may differ: "the old oven" and "the new oven".
                    || are_opposites(&one.folded.text, &other.folded.text)
                {
                    continue;
                }
                let shared = rare.count_shared(one, other);
                let fewer_terms = one.terms.len().min(other.terms.len()).max(1);
                let share_measured_name = one.terms.iter().any(|term| other.terms.contains(term) && is_measured(term));
                let are_progress = one.marks.is_progress && other.marks.is_progress;
                if share_measured_name
                    || !one.first_things_differ(other) && (are_progress || shared * 2 > fewer_terms && shared >= 2)
                {
                    add(*a, *b, if share_measured_name || shared >= 2 { 0.8 } else { 0.65 }, true);
                }
            }
        }
    }
}

/// The relative whom a statement names last, as a position in `RELATIONS`. None if it names none.
fn owner(statement: &Prepared<'_>) -> Option<usize> {
    subject(&statement.folded.text, statement.folded.text.len())
}

/// Purposes for which a person pays or receives only one amount at a time, unlike tickets or insurances.
const PURPOSES_WITH_ONE_AMOUNT: [&str; 9] =
    ["salary", "hourly rate", "rent", "mortgage", "save", "savings", "pension", "child benefit", "maintenance"];

/// Finds statements that give different amounts of money for the same purpose, such as rent, salary or hourly rate.
pub(super) fn find_money(prepared: &[Prepared<'_>], add: &mut impl FnMut(usize, usize, f32, bool)) {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        if let [purpose] = unique(&statement.money_purposes).as_slice()
            && MONEY_PURPOSES
                .get(*purpose)
                .is_some_and(|names| names.iter().any(|name| PURPOSES_WITH_ONE_AMOUNT.contains(name)))
            && !statement.marks.is_past
            && !statement.marks.is_plan
            && !says_difference(&statement.folded.text)
        {
            groups.entry(*purpose).or_default().push(n);
        }
    }
    for mut members in groups.into_values() {
        keep_newest(prepared, &mut members);
        let amounts: Vec<Amounts> = members
            .iter()
            .map(|n| prepared.get(*n).map(|statement| amounts(&statement.folded.text)).unwrap_or_default())
            .collect();
        for (i, (a, first)) in members.iter().zip(&amounts).enumerate() {
            for (b, second) in members.iter().zip(&amounts).skip(i + 1) {
                let (Some(one), Some(other)) = (prepared.get(*a), prepared.get(*b)) else { continue };
                let is_one_amount = |amounts: &Amounts| amounts.has_money() && amounts.numbers.len() == 1;
                if is_one_amount(first)
                    && is_one_amount(second)
                    && first.numbers_differ(second)
                    && one.may_share_purpose(other)
                    && one.person == other.person
                    && owner(one) == owner(other)
                    && !one.signs.is_addition
                    && !other.signs.is_addition
                {
                    add(*a, *b, 0.75, true);
                }
            }
        }
    }
}

/// True if a folded text says by how much something has changed and not how much it is: "the rent rose by 50 euros".
fn says_difference(folded: &str) -> bool {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = REGEX.get_or_init(|| {
        let units = "(?:€|%|(?:euro|dollar|pound|franc|franken|yen|percent|prozent|kg|kilo))";
        Regex::new(&format!(r"\b(?:by|um) (?:(?:about|around|etwa|rund) )?(?:[€$£]\d|\d[\d.,]* ?{units})")).ok()
    });
    regex.as_ref().is_some_and(|regex| regex.is_match(folded))
}

fn unique(purposes: &[usize]) -> Vec<usize> {
    let mut out = purposes.to_vec();
    out.sort_unstable();
    out.dedup();
    out
}

/// True for the name of a measured value, which mixes letters and digits, such as HbA1c.
fn is_measured(term: &str) -> bool {
    term.chars().any(|c| c.is_ascii_digit()) && term.chars().any(|c| c.is_ascii_alphabetic())
}

/// Parses a number that may contain 万, such as 7万8千 or 四十二万.
fn amount(written: &str) -> Option<f64> {
    let Some((first, rest)) = written.split_once('万') else { return number(written) };
    let rest = if rest.is_empty() { 0.0 } else { number(rest)? };
    Some(number(first)? * 10_000.0 + rest)
}

/// The position of a unit in `UNITS`, and the number before it. None unless exactly one number in the text has a unit.
fn measurement_in(folded: &str) -> Option<(usize, f64)> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = REGEX.get_or_init(|| {
        let mut words: Vec<&str> = NUMBERS.iter().skip(2).flat_map(|names| names.iter().copied()).collect();
        words.retain(|word| word.is_ascii());
        // Longer units come first, because キロ is the beginning of キログラム.
        let mut units = UNITS.concat();
        units.sort_by_key(|unit| std::cmp::Reverse(unit.len()));
        let units = units.into_iter().map(regex::escape).collect::<Vec<_>>().join("|");
        let kanji = "[一二三四五六七八九十百千]{1,5}万?";
        let digits = r"\d[\d.,]*(?:万(?:\d+千)?|千)?";
        Regex::new(&format!(r"(?P<n>{digits}|{kanji}|\b(?:{}))[ -]?(?P<u>{units})", words.join("|"))).ok()
    });
    let mut found = regex.as_ref()?.captures_iter(folded).filter_map(|captures| {
        let unit = captures.name("u")?;
        // The "km" in "kmh" is not the unit km.
        let is_joined = folded[unit.end()..].chars().next().is_some_and(|c| c.is_alphabetic() && !is_east_asian(c));
        let ends_in_letter = unit.as_str().ends_with(|c: char| c.is_alphabetic() && !is_east_asian(c));
        if is_joined && ends_in_letter {
            return None;
        }
        let (before, after) = (&folded[..captures.get(0)?.start()], &folded[unit.end()..]);
        let has_other_meaning = OTHER_MEANINGS
            .iter()
            .any(|(name, ends)| *name == unit.as_str() && ends.iter().any(|end| after.starts_with(end)));
        // Some matches are no numbers: 7時30分 is a time of day, 十分 means "enough", and 一人 means "alone".
        let is_no_number = unit.as_str() == "分" && before.ends_with('時')
            || ["十分", "一人"].contains(&captures.get(0)?.as_str()) && !after.starts_with('間');
        if has_other_meaning || is_no_number {
            return None;
        }
        let class = match is_kilometres(before, &folded[unit.start()..]) {
            true => KILOMETRES,
            false => UNITS.iter().position(|names| names.contains(&unit.as_str()))?,
        };
        let value = amount(captures.name("n")?.as_str())?;
        Some((class, value * factor(&folded[unit.start()..]).unwrap_or(1.0)))
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn japanese_units_are_distinguished() {
        let unit = |text: &str| measurement_in(text).map(|(unit, value)| (UNITS[unit][0], value));
        for (text, wanted) in [
            ("毎朝5キロ走る", ("km", 5.0)),
            ("10キロメートル歩く", ("km", 10.0)),
            ("米を5キロ買う", ("kg", 5.0)),
            ("猫の体重は四キログラム", ("kg", 4.0)),
            ("粉は500グラム", ("kg", 0.5)),
            ("塀は2メートルある", ("メートル", 2.0)),
            ("毎日30分練習する", ("minutes", 30.0)),
            ("毎日二時間練習する", ("hours", 2.0)),
            ("家賃は7万8千円", ("円", 78_000.0)),
            ("費用は20万円", ("円", 200_000.0)),
            ("月給は四十二万円", ("円", 420_000.0)),
            ("部員は12人", ("people", 12.0)),
        ] {
            assert_eq!(unit(text), Some(wanted), "{text}");
        }
        for text in ["7時30分に起きる", "3分の1を払う", "5人前を作る", "一人で暮らす", "それで十分だ"]
        {
            assert_eq!(unit(text), None, "{text}");
        }
    }
}
