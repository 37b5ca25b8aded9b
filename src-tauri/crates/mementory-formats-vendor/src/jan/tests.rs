//! Every folder of `fixtures/jan` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::Jan;
use crate::cases::check_cases;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&Jan);
}
