//! Finds pairs that contradict each other according to their words and vectors together, although no single rule is
//! certain. Also finds pairs that a rule suggested, but that are improbable according to the same evidence. It needs no
//! known attribute: statements about the same thing are more similar to each other than to other statements, and a
//! logistic regression weighs the evidence of their words. `examples/fit_pairs.rs` fitted its weights.
use super::{
    features::{Evidence, Feature},
    neighbours::Neighbours,
    reading::{Reading, SharedNames},
};
use std::sync::OnceLock;

/// The weight of each number, and the constant with the name `bias`.
const STORED_WEIGHTS: &str = include_str!("../../data/evidence.tsv");
/// A pair that is less probable than this is not suggested.
const MIN_PROBABILITY: f32 = 0.75;
/// A pair that another rule found is left out if it is less probable than this.
const MIN_PROBABILITY_OF_RULE: f32 = 0.04;
/// Confidence of a pair whose probability is 1.
const MAX_CONFIDENCE: f32 = 0.9;

/// Calls `found` for each pair of neighbours with their positions, their evidence, the numbers of the evidence, and
/// whether there are enough statements to leave out pairs of other rules.
pub(super) fn compare(
    readings: &[Reading<'_>],
    shared: &SharedNames<'_>,
    mut found: impl FnMut(usize, usize, &Evidence<'_, '_>, &[Feature], bool),
) {
    let neighbours = Neighbours::new(readings);
    for (a, b) in neighbours.pairs() {
        let (Some(one), Some(other)) = (readings.get(a), readings.get(b)) else { continue };
        let Some(evidence) = Evidence::new(one, other, shared) else { continue };
        let mut features = neighbours.features(a, b, evidence.similarity());
        features.extend(evidence.features());
        found(one.statement, other.statement, &evidence, &features, neighbours.are_many());
    }
}

/// Adds the probable pairs, and returns the positions of those that no rule may suggest.
pub(super) fn find(
    readings: &[Reading<'_>],
    shared: &SharedNames<'_>,
    add: &mut impl FnMut(usize, usize, f32, bool),
) -> Vec<(usize, usize)> {
    let mut improbable = Vec::new();
    compare(readings, shared, |one, other, evidence, features, are_many| {
        let probability = probability(features);
        if probability >= MIN_PROBABILITY && !evidence.both_can_hold() {
            add(one, other, probability * MAX_CONFIDENCE, !evidence.never_changes());
        }
        if probability < MIN_PROBABILITY_OF_RULE && are_many {
            improbable.push((one.min(other), one.max(other)));
        }
    });
    improbable
}

fn probability(features: &[Feature]) -> f32 {
    let (bias, weights) = weights();
    let score: f32 = features.iter().zip(weights).map(|((_, number), (_, weight))| number * weight).sum();
    1.0 / (1.0 + (-score - bias).exp())
}

/// The constant, and the weights in the order of the numbers.
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
