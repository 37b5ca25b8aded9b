#![allow(clippy::unwrap_used)]
//! Tests with the cases in `fixtures/mcp_memory_service`.
use super::McpMemoryService;
use crate::cases::{check_cases_under_any_name, claiming};
use mementory_format::testkit::Scratch;

/// People rename exports, so detection must not depend on file names.
#[test]
fn a_renamed_export_is_found_by_its_content() {
    let file = mementory_format::testkit::repo().join("fixtures/mcp_memory_service/full/input.json");
    let bytes = std::fs::read(file).unwrap();
    let folder = Scratch::new("mcp-renamed");
    for name in ["memories.json.old", "memories.bak", "export"] {
        assert_eq!(claiming(&folder.put(name, &bytes)), ["mcp_memory_service"], "{name}");
    }
}

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&McpMemoryService);
}
