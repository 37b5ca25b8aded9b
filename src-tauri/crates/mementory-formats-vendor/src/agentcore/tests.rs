//! The cases in `fixtures/agentcore`.
use super::AgentCore;
use crate::cases::check_cases_under_any_name;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&AgentCore);
}
