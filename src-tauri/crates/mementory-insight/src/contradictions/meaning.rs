//! Two values of the same thing, whatever the words and the language, by the vectors of a sentence encoder.
//!
//! Two ways lead to a pair. Both state the same attribute (by their vectors), and their values differ: by numbers, times,
//! names, or by how probable it is that both state the same value. Or both are alike and share something rare, and the
//! words of one say that something is over, is not so, or has another number or date.
use super::{
    Prepared,
    attributes::{Attribute, Comparison, Stated, attribute},
    reading::{Compared, Reading, SharedNames, same_occasions},
    terms::Rarity,
};
use crate::fitted::DIMENSIONS;
use std::collections::BTreeMap;

/// A longer text states more than one thing.
const MAX_CHARS: usize = 300;
/// Statements of an attribute that are compared with each other; the newest are.
const MAX_GROUP: usize = 200;
/// Root of the product of both probabilities of the attribute, if the words also speak for another value.
const MIN_ATTRIBUTE: f32 = 0.35;
/// The same, if nothing else speaks for it.
const MIN_ATTRIBUTE_ALONE: f32 = 0.5;
/// Sentences with different names are less alike than this.
const MAX_LIKENESS: f32 = 0.45;
/// Sentences of one language whose names differ may be more alike, because the rest of their words is the same.
const MAX_LIKENESS_WITH_NAMES: f32 = 0.9;
/// Sentences about the same thing are as alike as this, or share a rare name.
const MIN_SAME_THING: f32 = 0.4;
/// Probability of the same value from which on two values are not called different.
const MAX_SAME_VALUE: f32 = 0.4;

pub(super) fn find(
    prepared: &[Prepared<'_>],
    vectors: &[Vec<f32>],
    rare: &Rarity,
    add: &mut impl FnMut(usize, usize, f32, bool),
) {
    let usable = |statement: &Prepared<'_>, vector: &[f32]| {
        vector.len() == DIMENSIONS && !statement.marks.past && statement.folded.text.chars().count() <= MAX_CHARS
    };
    let readings: Vec<Reading<'_>> = prepared
        .iter()
        .zip(vectors)
        .enumerate()
        .filter(|(_, (statement, vector))| usable(statement, vector))
        .map(|(n, (statement, vector))| Reading::new(n, statement, vector))
        .collect();
    let shared = SharedNames::new(prepared, &readings, rare);
    let mut groups: BTreeMap<usize, Vec<&Reading<'_>>> = BTreeMap::new();
    for reading in &readings {
        reading.stated.iter().for_each(|stated| groups.entry(stated.attribute).or_default().push(reading));
    }
    for (position, mut members) in groups {
        let Some(attribute) = attribute(position) else { continue };
        in_pairs(&mut members, |one, other| {
            if let Some(probability) = probability(position, one, other)
                && differ_in(attribute, probability, one, other, &Compared::new(one, other, &shared))
            {
                add(one.statement, other.statement, 0.55 + 0.4 * probability, !attribute.fixed);
            }
        });
    }
    let by_statement: BTreeMap<usize, &Reading<'_>> =
        readings.iter().map(|reading| (reading.statement, reading)).collect();
    for members in rare.groups(prepared).into_values() {
        let mut members: Vec<&Reading<'_>> = members.iter().filter_map(|n| by_statement.get(n).copied()).collect();
        in_pairs(&mut members, |one, other| {
            let compared = Compared::new(one, other, &shared);
            if differ(one, other, &compared) {
                add(one.statement, other.statement, 0.5 + 0.4 * compared.likeness, compared.changed || compared.over);
            }
        });
    }
}

/// Every pair of the newest members.
fn in_pairs<'r>(members: &mut Vec<&'r Reading<'r>>, mut compare: impl FnMut(&Reading<'r>, &Reading<'r>)) {
    members.sort_by_key(|reading| std::cmp::Reverse(reading.at));
    members.truncate(MAX_GROUP);
    for (i, one) in members.iter().enumerate() {
        members.iter().skip(i + 1).for_each(|other| compare(one, other));
    }
}

/// How probable it is that both state this attribute, if they share no other that is more probable.
fn probability(position: usize, one: &Reading<'_>, other: &Reading<'_>) -> Option<f32> {
    let of = |reading: &Reading<'_>, wanted: usize| {
        reading.stated.iter().find(|stated| stated.attribute == wanted).map_or(0.0, |stated| stated.probability)
    };
    let both = |wanted: usize| of(one, wanted) * of(other, wanted);
    let here = both(position);
    let best = one.stated.iter().all(|stated| both(stated.attribute) <= here);
    let probability = here.sqrt();
    (best && probability >= MIN_ATTRIBUTE).then_some(probability)
}

/// True if both state the attribute of the same subject with different values.
fn differ_in(attribute: &Attribute, probability: f32, one: &Reading<'_>, other: &Reading<'_>, pair: &Compared) -> bool {
    let both_hold = one.adds || other.adds || !same_occasions(one, other, attribute.is_device);
    // A son of 8 and a daughter of 11 are two children.
    let two_people = attribute.of_thing && pair.other_subjects;
    let subject = pair.same_subject || attribute.names_people && !two_people;
    let thing = !attribute.of_thing || pair.likeness >= MIN_SAME_THING || pair.same_name;
    if both_hold || !subject || !thing || !attribute.wished && pair.one_plan && !pair.over {
        return false;
    }
    let values_differ = match attribute.comparison {
        _ if attribute.in_time && pair.other_times => true,
        Comparison::Numbers => pair.other_numbers || same_value(attribute, one, other) < MAX_SAME_VALUE / 2.0,
        Comparison::Names => names_differ(one, other, pair),
        Comparison::Values => {
            same_value(attribute, one, other) < MAX_SAME_VALUE || attribute.of_thing && pair.other_numbers
        }
    };
    let settled = attribute.settled && probability >= MIN_ATTRIBUTE_ALONE;
    values_differ && (pair.signals() || pair.changed || settled)
}

fn names_differ(one: &Reading<'_>, other: &Reading<'_>, pair: &Compared) -> bool {
    let named = !one.plain_names.is_empty() && !other.plain_names.is_empty();
    let apart = named && !one.plain_names.iter().any(|name| other.plain_names.contains(name));
    let limit = if apart { MAX_LIKENESS_WITH_NAMES } else { MAX_LIKENESS };
    // The old name is named again when it is over.
    (pair.likeness < limit || pair.other_numbers) && !pair.same_name || pair.over
}

/// Probability that both state the same value.
fn same_value(wanted: &Attribute, one: &Reading<'_>, other: &Reading<'_>) -> f32 {
    let is = |stated: &&Stated| attribute(stated.attribute).is_some_and(|attribute| attribute.name == wanted.name);
    let find = |reading: &'_ Reading<'_>| reading.stated.iter().find(is).cloned();
    find(one).zip(find(other)).map_or(1.0, |(one, other)| one.same_value(&other))
}

/// True if both are about the same thing, and the words of one say that the other does not hold. They share a rare term.
fn differ(one: &Reading<'_>, other: &Reading<'_>, pair: &Compared) -> bool {
    let both_hold = one.adds || other.adds || !same_occasions(one, other, true);
    if both_hold || !pair.same_subject || !pair.same_thing || pair.one_plan && !pair.over {
        return false;
    }
    let at_least = |likeness: f32| pair.likeness >= likeness;
    pair.over && at_least(0.4)
        || pair.opinion && at_least(0.35)
        || (pair.negated || pair.other_numbers) && at_least(0.5)
        || pair.other_times && at_least(0.55)
        || pair.changed && at_least(0.5)
}
