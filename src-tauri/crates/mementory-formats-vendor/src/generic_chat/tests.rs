//! Every folder of `fixtures/generic_chat` has an input and what is expected of it.
#![allow(clippy::unwrap_used)]
use super::GenericChat;
use crate::case_runner::check_cases;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&GenericChat);
}
