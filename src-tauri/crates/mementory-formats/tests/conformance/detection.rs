//! Tests that every input is detected as the format to which its case belongs.
use crate::{
    cases::{Case, cases},
    steps::{assert_covered, open},
};
use mementory_formats::registry;
use mementory_model::Limits;

/// Minimum difference in confidence between two claims. Below it they are a tie, and the user has to choose the format.
const MIN_CONFIDENCE_LEAD: f64 = 0.05;

#[test]
fn every_input_is_detected_as_its_format_and_no_other() {
    let all = cases();
    for case in &all {
        let (_, sources) = open(&case.path, &Limits::default(), None).unwrap();
        let detected: Vec<&str> = sources.iter().map(|source| source.format).collect();
        let expected: &[&str] = if case.format.capabilities().only_if_chosen { &[] } else { &[case.format.id()] };
        assert_eq!(detected, expected, "{}", case.name);
    }
    assert_covered("detection is unique", &all, |can| can.read);
}

#[test]
fn the_right_format_is_not_in_a_tie() {
    let detectable_cases: Vec<Case> =
        cases().into_iter().filter(|case| !case.format.capabilities().only_if_chosen).collect();
    for case in &detectable_cases {
        let limits = Limits::default();
        let (catalog, sources) = open(&case.path, &limits, None).unwrap();
        for other in registry().iter().filter(|other| other.id() != case.format.id()) {
            for claim in other.detect(&catalog, &limits).unwrap() {
                let lead = sources[0].claim.confidence - claim.confidence;
                assert!(lead >= MIN_CONFIDENCE_LEAD, "{}: {} claims it too, {lead} behind", case.name, other.id());
            }
        }
    }
    assert_covered("detection has a clear lead", &detectable_cases, |can| can.read && !can.only_if_chosen);
}
