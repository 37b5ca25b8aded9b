//! Every folder of `fixtures/librechat` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::Librechat;
use crate::cases::check_cases;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&Librechat);
}
