//! Compares ages, which change with time. Two ages of one child do not contradict each other if the time between the
//! statements explains the difference: a child who was four in 2022 is eight in 2026.
use super::{Persons, Prepared};
use crate::{fold::fold, numerals::spelled_number, values::Value, word_lists::RELATIONS};

/// Name of the attribute in `data/values`.
pub(super) const AGE: &str = "age";
/// A spelled number from this one on is taken for an age after "is" even if the statement names nobody: "is forty-two".
const FIRST_CERTAIN: f64 = 13.0;
/// Average length of a year in microseconds.
const YEAR: f64 = 31_556_952_000_000.0;
/// Two ages of a child agree if their difference deviates from the time between the statements by at most this many
/// years. A birthday between the statements accounts for one year, and the dates are not exact.
const TOLERANCE: f64 = 1.05;
/// Words for relations of a child. `RELATIONS` has the same relations in three languages.
const CHILDREN: [&str; 7] = ["son", "daughter", "child", "twins", "grandson", "nephew", "niece"];

/// True if the time between two statements explains that their ages differ.
pub(super) fn do_years_explain(one: &Prepared<'_>, age: &Value, other: &Prepared<'_>, other_age: &Value) -> bool {
    let (Some(from), Some(until)) = (one.at, other.at) else { return false };
    let (Value::Number(first), Value::Number(second)) = (age, other_age) else { return false };
    let years = (until - from) as f64 / YEAR;
    (second - first - years).abs() <= TOLERANCE
}

/// True for a relation of a child, by its position in the list of relations.
pub(super) fn is_child(relation: usize) -> bool {
    RELATIONS.get(relation).is_some_and(|names| names.iter().any(|name| CHILDREN.contains(name)))
}

/// The child whose age a statement gives, if the statement names exactly one person: "has a son, Mats, who is four".
pub(super) fn named_child(statement: &Prepared<'_>, persons: &Persons) -> Option<usize> {
    match statement.mentioned.as_slice() {
        [person] if persons.is_child(*person) => Some(*person),
        _ => None,
    }
}

/// False for a small spelled number after "is" if the statement names no person or relation: "the best is two".
pub(super) fn is_certain(written: &str, is_of_somebody: bool, says_years: bool) -> bool {
    let folded = fold(written);
    is_of_somebody || says_years || spelled_number(&folded).is_none_or(|age| age >= FIRST_CERTAIN)
}

/// True if the matched text says that the number is a number of years.
pub(super) fn says_years(matched: &str) -> bool {
    let folded = fold(matched);
    ["year", "jahr", "jährig", "歳", "才", "age", "alter", "turn", "geworden"].iter().any(|word| folded.contains(word))
}
