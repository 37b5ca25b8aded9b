//! Tests with the cases in `fixtures/openmemory` and with the shared sample.
use super::OpenMemory;
use crate::cases::{check_cases_under_any_name, read_sample};
use mementory_model::Kind;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&OpenMemory);
}

#[test]
fn a_deleted_memory_of_the_sample_stays_deleted() {
    let Some(imported) = read_sample("14-openmemory", &OpenMemory) else { return };
    let memories = imported.records.iter().filter(|r| r.kind == Kind::Memory);
    let states: Vec<Option<&str>> = memories.map(|memory| memory.status.as_deref()).collect();
    assert_eq!(states, [Some("active"), Some("deleted")]);
}
