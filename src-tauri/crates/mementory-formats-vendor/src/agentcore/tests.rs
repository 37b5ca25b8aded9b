//! The cases in `fixtures/agentcore`.
use super::AgentCore;
use crate::cases::check_cases;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases(&AgentCore);
}
