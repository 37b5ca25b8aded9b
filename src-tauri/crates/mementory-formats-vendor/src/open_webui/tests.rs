//! Every folder of `fixtures/open_webui` has an input and the expected result.
#![allow(clippy::unwrap_used)]
use super::OpenWebui;
use crate::cases::check_cases;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&OpenWebui);
}
