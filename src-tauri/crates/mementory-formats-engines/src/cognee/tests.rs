//! Tests with the cases in `fixtures/cognee`.
use super::Cognee;
use crate::cases::check_cases_under_any_name;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Cognee);
}
