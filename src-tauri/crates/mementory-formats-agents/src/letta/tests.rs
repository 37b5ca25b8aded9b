//! Tests with the cases in `fixtures/letta`, with the shared sample, and with secrets.
#![allow(clippy::unwrap_used)]
use super::Letta;
use crate::cases::{check_cases_under_any_name, read_sample};
use crate::testing::read;
use mementory_format::testkit::repo;
use mementory_model::Kind;

#[test]
fn fixtures_are_read_as_their_cases_say() {
    check_cases_under_any_name(&Letta);
}

#[test]
fn the_verbatim_of_inserted_text_does_not_contain_the_persons_words() {
    let imported = crate::cases::fixture(&Letta, "full");
    let is_added = |record: &&mementory_model::Record| record.key.value.ends_with("/context");
    let added: Vec<_> =
        imported.records.iter().filter(is_added).filter_map(|record| record.verbatim.as_ref()).collect();
    assert!(!added.is_empty());
    for message in imported.records.iter().filter(|r| r.message.as_ref().is_some_and(|m| m.role == "user")) {
        let is_inside = |verbatim: &mementory_model::Verbatim| verbatim.text.contains(&message.text);
        assert!(message.text.is_empty() || !added.iter().any(|verbatim| is_inside(verbatim)), "{}", message.text);
    }
}

#[test]
fn the_sample_has_one_memory_and_two_messages() {
    let Some(imported) = read_sample("14-letta", &Letta) else { return };
    let count = |kind| imported.records.iter().filter(|r| r.kind == kind).count();
    assert_eq!((count(Kind::Memory), count(Kind::Conversation), count(Kind::Message)), (1, 1, 2));
    let roles: Vec<&str> = imported.records.iter().filter_map(|r| Some(r.message.as_ref()?.role.as_str())).collect();
    assert_eq!(roles, ["system", "user"]);
}

#[test]
fn secret_values_are_never_stored() {
    for case in ["full/input.af", "first_generation/input.af", "double/input.af"] {
        let input = repo().join("fixtures/letta").join(case);
        assert!(std::fs::read_to_string(&input).unwrap().contains("-not-stored"), "{case}");
        let imported = read(&input, &Letta);
        assert!(!format!("{:?}", imported.records).contains("-not-stored"), "{case}");
        let parts = imported.parts.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes));
        assert!(parts.into_iter().all(|text| !text.contains("-not-stored")), "{case}");
        let credential_count = imported.records.iter().filter(|r| r.kind == Kind::Credential).count();
        assert!(credential_count > 0 && imported.codes().contains(&"secret_left_out".to_owned()), "{case}");
    }
}
