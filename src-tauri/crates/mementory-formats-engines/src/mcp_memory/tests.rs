//! Tests with the cases in `fixtures/mcp_memory` and with the shared sample.
use super::McpMemory;
use crate::cases::{check_cases_under_any_name, read_sample};
use mementory_model::Kind;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&McpMemory);
}

#[test]
fn the_sample_has_its_entities_observations_and_relations() {
    let Some(imported) = read_sample("14-mcp-memory", &McpMemory) else { return };
    let count = |kind| imported.records.iter().filter(|r| r.kind == kind).count();
    assert_eq!((count(Kind::Entity), count(Kind::Memory), count(Kind::Relation)), (2, 3, 2));
}
