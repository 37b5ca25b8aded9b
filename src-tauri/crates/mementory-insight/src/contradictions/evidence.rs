//! Finds pairs that contradict each other according to all their words and vectors together, although no single rule is
//! certain. Also finds pairs of other rules that are improbable according to the same evidence. The attribute need not
//! be in a list: statements about the same thing are more similar to each other than to other statements. A logistic
//! regression weighs the evidence. `examples/fit_pairs.rs` fitted its weights.
use super::{
    features::{Evidence, Feature},
    neighbours::{Neighbours, Space},
    reading::{Reading, SharedNames},
};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Largest number of statements with the same attribute or rare name that are compared with each other. The newest are
/// used.
const MAX_RELATED: usize = 24;
/// A statement is not compared because of an attribute that it states with a probability below this.
const MIN_ATTRIBUTE_PROBABILITY: f32 = 0.2;
/// The name and weight of each feature, and the bias of the regression, whose name is `bias`.
const STORED_WEIGHTS: &str = include_str!("../../data/evidence.tsv");
/// A pair whose probability is below this is not suggested, unless it is more probable than any other pair of its two
/// statements.
const MIN_PROBABILITY: f32 = 0.95;
/// Like `MIN_PROBABILITY`, but for a pair that is more probable than any other pair of its two statements. The limit is
/// lower, because most statements contradict only one other.
const MIN_PROBABILITY_OF_BEST: f32 = 0.4;
/// Like `MIN_PROBABILITY_OF_BEST`, but if there is a reason why both statements may be true.
const MIN_PROBABILITY_OF_DOUBTFUL: f32 = 0.8;
/// Like `MIN_PROBABILITY_OF_BEST`, but with few statements. The limit is higher, because even unrelated statements are
/// then each other's most probable pair.
const MIN_PROBABILITY_OF_FEW: f32 = 0.75;
/// A pair that a rule of words found is removed if its probability is below this.
pub(super) const MIN_PROBABILITY_OF_WORDS: f32 = 0.1;
/// A pair that only the rule `meaning` found is removed if its probability is below this. Of the less probable ones,
/// only half are right in lives to which no rule was adjusted.
pub(super) const MIN_PROBABILITY_OF_MEANING: f32 = 0.75;
/// Confidence of a pair whose probability is 1. The confidence of other pairs is proportionally lower.
const MAX_CONFIDENCE: f32 = 0.9;

/// Calls `found` for each pair of neighbours or related statements. Its arguments are the positions of both statements,
/// their evidence, all features of the pair, and whether there are enough statements that the nearest neighbours say
/// something about a pair.
pub(super) fn compare(
    readings: &[Reading<'_>],
    shared: &SharedNames<'_>,
    mut found: impl FnMut(usize, usize, &Evidence<'_, '_>, &[Feature], bool),
) {
    let neighbours = Neighbours::new(readings, Space::Encoder);
    let projected_neighbours = Neighbours::new(readings, Space::Projection);
    let mut pairs = neighbours.pairs();
    pairs.extend(projected_neighbours.pairs());
    pairs.extend(related(readings, shared));
    pairs.sort_unstable();
    pairs.dedup();
    for (a, b) in pairs {
        let (Some(one), Some(other)) = (readings.get(a), readings.get(b)) else { continue };
        let Some(evidence) = Evidence::new(one, other, shared) else { continue };
        let mut features = neighbours.features(a, b, evidence.similarity());
        features.extend(projected_neighbours.features(a, b, evidence.projected_similarity()));
        features.extend(evidence.features());
        found(one.statement, other.statement, &evidence, &features, neighbours.are_many());
    }
}

/// Pairs of statements that may be about the same thing, even if each of them is more similar to other statements. The
/// two state the same attribute, contain listed values of one attribute, or share a rare name.
fn related(readings: &[Reading<'_>], shared: &SharedNames<'_>) -> Vec<(usize, usize)> {
    let mut groups: HashMap<Shared<'_>, Vec<usize>> = HashMap::new();
    for (n, reading) in readings.iter().enumerate() {
        let attributes = reading.stated.iter().filter(|stated| stated.probability >= MIN_ATTRIBUTE_PROBABILITY);
        let attributes = attributes.map(|stated| Shared::Attribute(stated.attribute));
        let listed = shared.listed_attributes(reading).map(Shared::Listed);
        let names = shared.rare_names(reading).map(Shared::Name);
        for key in attributes.chain(listed).chain(names) {
            let members = groups.entry(key).or_default();
            if members.last() != Some(&n) {
                members.push(n);
            }
        }
    }
    let mut pairs = Vec::new();
    for mut members in groups.into_values() {
        members.sort_by_key(|n| std::cmp::Reverse(readings.get(*n).and_then(|reading| reading.at)));
        members.truncate(MAX_RELATED);
        for (i, a) in members.iter().enumerate() {
            pairs.extend(members.iter().skip(i + 1).map(|b| ((*a).min(*b), (*a).max(*b))));
        }
    }
    pairs
}

/// What two statements of a pair have in common.
#[derive(PartialEq, Eq, Hash)]
enum Shared<'s> {
    /// An attribute, by its position, that both state according to their vectors.
    Attribute(usize),
    /// An attribute for which both contain listed values.
    Listed(&'s str),
    Name(&'s str),
}

/// Calls `add` for each probable pair. Returns the probability of each compared pair, the smaller position first. Empty
/// if there are so few statements that the nearest neighbours say nothing.
pub(super) fn find(
    readings: &[Reading<'_>],
    shared: &SharedNames<'_>,
    add: &mut impl FnMut(usize, usize, f32, bool),
) -> HashMap<(usize, usize), f32> {
    let (mut probable, mut probabilities) = (Vec::new(), HashMap::new());
    // For each statement, the probability of its most probable pair.
    let mut highest: HashMap<usize, f32> = HashMap::new();
    compare(readings, shared, |one, other, evidence, features, are_many| {
        let probability = probability(features);
        if probability >= MIN_PROBABILITY_OF_BEST && !evidence.both_can_hold() {
            let min_probability = match evidence.is_doubtful() {
                _ if !are_many => MIN_PROBABILITY_OF_FEW,
                true => MIN_PROBABILITY_OF_DOUBTFUL,
                false => MIN_PROBABILITY_OF_BEST,
            };
            if probability >= min_probability {
                probable.push((one, other, probability, !evidence.never_changes()));
            }
            for statement in [one, other] {
                let highest = highest.entry(statement).or_default();
                *highest = highest.max(probability);
            }
        }
        if are_many {
            probabilities.insert((one.min(other), one.max(other)), probability);
        }
    });
    for (one, other, probability, can_change) in probable {
        let is_best = [one, other].iter().all(|statement| highest.get(statement).is_none_or(|p| probability >= *p));
        if is_best || probability >= MIN_PROBABILITY {
            add(one, other, probability * MAX_CONFIDENCE, can_change);
        }
    }
    probabilities
}

fn probability(features: &[Feature]) -> f32 {
    let (bias, weights) = weights();
    let score: f32 = features.iter().zip(weights).map(|((_, number), (_, weight))| number * weight).sum();
    1.0 / (1.0 + (-score - bias).exp())
}

/// The bias, and the name and weight of each feature, in the order of the features.
fn weights() -> &'static (f32, Vec<(&'static str, f32)>) {
    static WEIGHTS: OnceLock<(f32, Vec<(&'static str, f32)>)> = OnceLock::new();
    WEIGHTS.get_or_init(|| {
        let lines = STORED_WEIGHTS.lines().filter_map(|line| line.split_once('\t'));
        let all = || lines.clone().filter_map(|(name, weight)| Some((name, weight.parse::<f32>().ok()?)));
        let bias = all().find(|(name, _)| *name == "bias").map_or(f32::NEG_INFINITY, |(_, weight)| weight);
        (bias, all().filter(|(name, _)| *name != "bias").collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contradictions::{Statement, evidence_of};
    use crate::fitted::DIMENSIONS;

    #[test]
    fn every_number_has_its_weight() {
        let statements = ["Rents a flat.", "Owns a house."].map(|text| Statement { text, at: None });
        let vector = vec![(DIMENSIONS as f32).sqrt().recip(); DIMENSIONS];
        let found = evidence_of(&statements, &[vector.clone(), vector]);
        let named: Vec<&str> = found.iter().flat_map(|(.., numbers)| numbers).map(|(name, _)| *name).collect();
        let stored: Vec<&str> = weights().1.iter().map(|(name, _)| *name).collect();
        assert_eq!(named, stored);
        assert!(weights().0.is_finite());
    }
}
