//! Compares ages, which change with time. Two ages of one child do not contradict each other if the time between the
//! statements explains the difference: a child who was four in 2022 is eight in 2026.
use super::{Persons, Prepared};
use crate::{fold::fold, numerals::spelled_number, values::Value, word_lists::RELATIONS};

/// Name of the attribute for an age in `data/values`.
pub(super) const AGE: &str = "age";
/// From this number on, a number word after "is" counts as an age even if the statement names nobody: "is forty-two".
const FIRST_CERTAIN: f64 = 13.0;
/// Average length of a year in microseconds.
const YEAR: f64 = 31_556_952_000_000.0;
/// Two ages of a child agree if their difference deviates from the time between the statements by at most this many
/// years. A birthday between the statements accounts for one year, and the dates are not exact.
const TOLERANCE: f64 = 1.05;
/// Words for the relations of a child, in English. `RELATIONS` lists each of them together with its German and Japanese
/// words.
const CHILDREN: [&str; 7] = ["son", "daughter", "child", "twins", "grandson", "nephew", "niece"];

/// True if the time between the two statements explains the difference between the ages that they give.
pub(super) fn do_years_explain(one: &Prepared<'_>, age: &Value, other: &Prepared<'_>, other_age: &Value) -> bool {
    let (Some(from), Some(until)) = (one.at, other.at) else { return false };
    let (Value::Number(first), Value::Number(second)) = (age, other_age) else { return false };
    let years = (until - from) as f64 / YEAR;
    (second - first - years).abs() <= TOLERANCE
}

/// True if the relation at this position in `RELATIONS` is that of a child.
pub(super) fn is_child(relation: usize) -> bool {
    RELATIONS.get(relation).is_some_and(|names| names.iter().any(|name| CHILDREN.contains(name)))
}

/// The child whose age a statement gives. None unless the statement names exactly one person, who is a child: "has a
/// son, Mats, who is four".
pub(super) fn named_child(statement: &Prepared<'_>, persons: &Persons) -> Option<usize> {
    match statement.mentioned.as_slice() {
        [person] if persons.is_child(*person) => Some(*person),
        _ => None,
    }
}

/// True if the number after "is" counts as an age. A number word below 13 counts only if the statement names a person
/// or relation, or a unit such as years: "the best is two" gives no age.
pub(super) fn is_certain(written: &str, is_of_somebody: bool, says_years: bool) -> bool {
    let folded = fold(written);
    is_of_somebody || says_years || spelled_number(&folded).is_none_or(|age| age >= FIRST_CERTAIN)
}

/// True if the matched text contains a word for years or age.
pub(super) fn says_years(matched: &str) -> bool {
    let folded = fold(matched);
    ["year", "jahr", "jährig", "歳", "才", "age", "alter", "turn", "geworden"].iter().any(|word| folded.contains(word))
}
