//! Whose files are these?
use crate::{
    cases::cases,
    steps::{covers, open},
};
use mementory_formats::registry;
use mementory_model::Limits;

/// Closer claims are a tie, which only the person can decide.
const LEAD: f64 = 0.05;

#[test]
fn every_input_is_detected_as_its_format_and_no_other() {
    let all = cases();
    for case in &all {
        let (_, sources) = open(&case.path, &Limits::default(), None).unwrap();
        let detected: Vec<&str> = sources.iter().map(|source| source.format).collect();
        assert_eq!(detected, [case.format.id()], "{}", case.name);
    }
    covers("detection is unique", &all, |can| can.read);
}

#[test]
fn the_claim_of_its_format_has_a_clear_lead() {
    let all = cases();
    for case in &all {
        let limits = Limits::default();
        let (catalog, sources) = open(&case.path, &limits, None).unwrap();
        for other in registry().iter().filter(|other| other.id() != case.format.id()) {
            for claim in other.detect(&catalog, &limits).unwrap() {
                let lead = sources[0].claim.confidence - claim.confidence;
                assert!(lead >= LEAD, "{}: {} claims it too, {lead} behind", case.name, other.id());
            }
        }
    }
    covers("detection has a clear lead", &all, |can| can.read);
}
