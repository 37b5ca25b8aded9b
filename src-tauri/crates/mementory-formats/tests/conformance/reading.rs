//! Tests that the formats can read their fixtures.
use crate::{
    cases::{cases, readable_cases},
    steps::{assert_covered, read, read_case, validate},
};
use mementory_formats::FormatError;
use mementory_model::Limits;

#[test]
fn reading_is_without_error_and_deterministic() {
    let cases = readable_cases(|format| format.capabilities().read);
    for case in &cases {
        let (first, second) = (read_case(case), read_case(case));
        let is_reason =
            |reason: &str| ["no_content", "unsupported_version"].iter().any(|code| reason.starts_with(code));
        let says_it_is_empty = first.notes.iter().any(|note| note.code == "empty")
            || first.dropped.iter().any(|dropped| is_reason(&dropped.reason));
        // An input without records, such as an agent file without agents, is kept as passthrough files.
        let has_content = !first.records.is_empty() || !first.tombstones.is_empty() || !first.parts.is_empty();
        assert!(has_content || says_it_is_empty, "{} is empty and does not say why", case.name);
        assert_eq!(first.records, second.records, "{}", case.name);
        assert_eq!(format!("{:?}", first.parts), format!("{:?}", second.parts), "{}", case.name);
        assert_eq!(format!("{:?}", first.files), format!("{:?}", second.files), "{}", case.name);
        assert_eq!(format!("{:?}", first.notes), format!("{:?}", second.notes), "{}", case.name);
        assert_eq!(format!("{:?}", first.dropped), format!("{:?}", second.dropped), "{}", case.name);
    }
    assert_covered("read", &cases, |can| can.read);
}

#[test]
fn an_input_that_must_be_refused_is_refused_with_the_code_of_its_case() {
    let refused: Vec<_> = cases().into_iter().filter(|case| case.refused.is_some()).collect();
    assert!(!refused.is_empty());
    for case in &refused {
        let code = match read(&case.path, &Limits::default(), case.format) {
            Ok(_) => "read",
            Err(FormatError::Invalid { code, .. }) => code,
            // For this error, some cases expect the code `version` and others `unsupported_version`.
            Err(FormatError::Version { .. }) if case.refused.as_deref() == Some("version") => "version",
            Err(FormatError::Version { .. }) => "unsupported_version",
            Err(error) => panic!("{}: {error:?}", case.name),
        };
        assert_eq!(Some(code), case.refused.as_deref(), "{}", case.name);
    }
}

#[test]
fn the_validator_has_a_result_for_every_input_that_can_be_read() {
    let cases = readable_cases(|format| format.capabilities().validate);
    for case in &cases {
        let result = validate(&case.path, case.format).unwrap_or_else(|error| panic!("{}: {error:?}", case.name));
        assert!(result.is_some(), "{}", case.name);
    }
    assert_covered("validate", &cases, |can| can.validate);
}
