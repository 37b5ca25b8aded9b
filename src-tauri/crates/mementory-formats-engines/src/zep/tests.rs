//! Tests with the cases in `fixtures/zep` and with the shared sample.
use super::Zep;
use crate::cases::{check_cases_under_any_name, read_sample};
use mementory_model::Kind;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Zep);
}

#[test]
fn the_sample_has_a_fact_that_holds_and_one_that_does_not() {
    let Some(imported) = read_sample("14-zep", &Zep) else { return };
    let facts = imported.records.iter().filter(|r| r.kind == Kind::Memory);
    let states: Vec<Option<&str>> = facts.map(|fact| fact.status.as_deref()).collect();
    assert_eq!(states, [Some("active"), Some("superseded")]);
}
