//! Tests with the cases in `fixtures/langmem` and with the shared sample.
use super::LangMem;
use crate::cases::{check_cases_under_any_name, read_sample};

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&LangMem);
}

#[test]
fn the_sample_has_one_memory() {
    let Some(imported) = read_sample("14-langmem", &LangMem) else { return };
    let texts: Vec<&str> = imported.records.iter().map(|r| r.text.as_str()).collect();
    assert_eq!(texts, ["Prefers metric units"]);
}
