//! Tests with the cases in `fixtures/agentcore`.
use super::AgentCore;
use crate::cases::{check_cases_under_any_name, check_texts_are_in_one_verbatim};

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&AgentCore);
}

#[test]
fn a_payload_is_not_in_the_verbatim_of_another_one() {
    check_texts_are_in_one_verbatim(&AgentCore, &["events"]);
}
