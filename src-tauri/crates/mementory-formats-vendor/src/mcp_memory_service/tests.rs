//! The cases in `fixtures/mcp_memory_service`.
use super::McpMemoryService;
use crate::cases::check_cases_under_any_name;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&McpMemoryService);
}
