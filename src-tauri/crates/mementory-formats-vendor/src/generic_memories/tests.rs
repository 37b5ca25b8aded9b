//! Every folder of `fixtures/generic_memories` has an input and what is expected of it.
#![allow(clippy::unwrap_used)]
use super::GenericMemories;
use crate::case_runner::check_cases;

#[test]
fn cases_are_read_as_expected() {
    check_cases(&GenericMemories);
}
