//! Finds statements that count or measure the same thing but give different numbers.
use super::{
    Prepared,
    amounts::{Amounts, amounts},
    keep_newest,
    terms::Rarity,
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

/// Units, each with all its names. Only statements with the same unit are compared.
const UNITS: [&[&str]; 12] = [
    &["%", "percent", "prozent", "パーセント"],
    &["euro", "euros", "€", "eur", "ユーロ"],
    &["dollar", "dollars", "$", "usd", "ドル"],
    &["円", "yen", "万円"],
    &["kg", "kilo", "kilos", "キロ"],
    &["本", "tapes", "reels", "bänder", "tonbänder"],
    &["km", "kilometres", "kilometers", "kilometer"],
    &["people", "members", "leute", "personen", "mitglieder", "人"],
    &["pages", "seiten", "ページ"],
    &["words", "wörter", "字", "語"],
    &["hours", "stunden", "時間"],
    &["books", "bücher", "冊"],
];

pub(super) fn find(prepared: &[Prepared<'_>], rare: &Rarity, add: &mut impl FnMut(usize, usize, f32, bool)) {
    let measures: Vec<Option<(usize, f64)>> =
        prepared.iter().map(|statement| measurement_in(&statement.folded.text)).collect();
    for members in rare.groups(prepared).into_values() {
        for (i, a) in members.iter().enumerate() {
            for b in members.iter().skip(i + 1) {
                let (Some(one), Some(other)) = (prepared.get(*a), prepared.get(*b)) else { continue };
                let (Some(Some((unit, first))), Some(Some((same, second)))) = (measures.get(*a), measures.get(*b))
                else {
                    continue;
                };
                if unit != same
                    || (first - second).abs() < 1e-9
                    || one.marks.is_past
                    || other.marks.is_past
                    || !one.may_share_subject(other)
                    || !one.may_share_purpose(other)
                {
                    continue;
                }
                let shared = rare.count_shared(one, other);
                let smaller = one.terms.len().min(other.terms.len()).max(1);
                let share_measured_name = one.terms.iter().any(|term| other.terms.contains(term) && is_measured(term));
                let progress = one.marks.progress && other.marks.progress;
                if share_measured_name
                    || !one.first_things_differ(other) && (progress || shared * 2 > smaller && shared >= 2)
                {
                    add(*a, *b, if share_measured_name || shared >= 2 { 0.8 } else { 0.65 }, true);
                }
            }
        }
    }
}

/// Purposes for which somebody has one amount at a time. There may be several tickets or insurances.
const PURPOSES_WITH_ONE_AMOUNT: [&str; 9] =
    ["salary", "hourly rate", "rent", "mortgage", "save", "savings", "pension", "child benefit", "maintenance"];

/// Finds two amounts of money for the same purpose: rent, salary, hourly rate …
pub(super) fn find_money(prepared: &[Prepared<'_>], add: &mut impl FnMut(usize, usize, f32, bool)) {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        if let [purpose] = unique(&statement.money_purposes).as_slice()
            && MONEY_PURPOSES
                .get(*purpose)
                .is_some_and(|names| names.iter().any(|name| PURPOSES_WITH_ONE_AMOUNT.contains(name)))
            && !statement.marks.is_past
            && !statement.marks.is_plan
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
                let owner = |statement: &Prepared<'_>| subject(&statement.folded.text, statement.folded.text.len());
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

fn unique(purposes: &[usize]) -> Vec<usize> {
    let mut out = purposes.to_vec();
    out.sort_unstable();
    out.dedup();
    out
}

/// True for the name of a measured value that mixes letters and digits, such as HbA1c.
fn is_measured(term: &str) -> bool {
    term.chars().any(|c| c.is_ascii_digit()) && term.chars().any(|c| c.is_ascii_alphabetic())
}

/// The number in a text and the position of its unit in `UNITS`. None unless exactly one number has a unit.
fn measurement_in(folded: &str) -> Option<(usize, f64)> {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = REGEX.get_or_init(|| {
        let mut words: Vec<&str> = NUMBERS.iter().skip(2).flat_map(|names| names.iter().copied()).collect();
        words.retain(|word| word.is_ascii());
        let units = UNITS.concat().iter().map(|unit| regex::escape(unit)).collect::<Vec<_>>().join("|");
        Regex::new(&format!(r"(?P<n>\d[\d.,]*|\b(?:{}))[ -]?(?P<u>{units})", words.join("|"))).ok()
    });
    let mut found = regex.as_ref()?.captures_iter(folded).filter_map(|captures| {
        let unit = captures.name("u")?;
        // The "km" in "kmh" is not the unit km.
        let joined = folded[unit.end()..].chars().next().is_some_and(|c| c.is_alphabetic() && !is_east_asian(c));
        let ends_in_letter = unit.as_str().ends_with(|c: char| c.is_alphabetic() && !is_east_asian(c));
        if joined && ends_in_letter {
            return None;
        }
        let class = UNITS.iter().position(|names| names.contains(&unit.as_str()))?;
        Some((class, number(captures.name("n")?.as_str())?))
    });
    let only = found.next()?;
    found.next().is_none().then_some(only)
}
