//! Tests with the cases in `fixtures/zaxy` and `fixtures/eventloom`, which list the expected results.
use super::harness::{codes, empty, fixture, is_valid_signature, read_into, repo, signature, source, validate};
use mementory_format::FormatError;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "about")]
    _about: String,
    input: String,
    kind: Option<String>,
    version: Option<String>,
    records: Option<BTreeMap<String, usize>>,
    errors: Option<Vec<String>>,
    warnings: Option<Vec<String>>,
    notes: Option<Vec<String>>,
    dropped: Option<Vec<String>>,
    /// True if the signature is valid. None if there is no signature.
    signature: Option<bool>,
    /// The reader's error code. None if the file can be read.
    refused: Option<String>,
}

fn code(error: &FormatError) -> &'static str {
    match error {
        FormatError::Invalid { code, .. } => code,
        FormatError::Version { .. } => "version",
        other => panic!("{other}"),
    }
}

#[test]
fn every_case_gives_its_expected_results() {
    let mut case_count = 0;
    for format in ["zaxy", "eventloom"] {
        for entry in std::fs::read_dir(repo().join("fixtures").join(format)).unwrap() {
            let folder = entry.unwrap().path();
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let case: Case = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
            let path = folder.join(&case.input);
            assert_eq!(source(&path).map(|(_, d, _)| d.format), Some(format), "{name}");
            let mut memory = empty();
            let outcome = read_into(&path, &mut memory);
            assert_eq!(outcome.as_ref().err().map(code), case.refused.as_deref(), "{name}: {outcome:?}");
            if case.refused.is_some() {
                assert!(memory.records.is_empty() && memory.parts.is_empty(), "{name}");
            }
            if let Some(expected) = &case.records {
                let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                memory.records.iter().for_each(|r| *counts.entry(r.kind.as_str().into()).or_default() += 1);
                assert_eq!(&counts, expected, "{name}");
            }
            if let Some(expected) = &case.dropped {
                let mut found: Vec<&str> =
                    memory.dropped.iter().map(|d| d.reason.split(':').next().unwrap_or_default()).collect();
                found.sort_unstable();
                assert_eq!(&found, expected, "{name}: {:?}", memory.dropped);
            }
            if let Some(expected) = &case.notes {
                let found: Vec<&str> = memory.notes.iter().map(|n| n.code.as_str()).collect();
                assert_eq!(&found, expected, "{name}");
            }
            match validate(&path) {
                Ok(found) => {
                    assert_eq!(codes(&found.errors), case.errors.clone().unwrap(), "{name}: {:?}", found.errors);
                    assert_eq!(codes(&found.warnings), case.warnings.clone().unwrap_or_default(), "{name}");
                    assert_eq!(found.kind, case.kind.or(Some("log".into())), "{name}");
                    assert!(case.version.is_none() || found.version == case.version, "{name}");
                    let read = (memory.records.len() + memory.dropped.len()) as u64;
                    assert!(case.refused.is_some() || found.records == read, "{name}");
                }
                Err(error) => assert_eq!(Some(code(&error)), case.refused.as_deref(), "{name}"),
            }
            if case.refused.is_none() {
                assert_eq!(signature(&path).as_ref().map(is_valid_signature), case.signature, "{name}");
            }
            case_count += 1;
        }
    }
    assert!(case_count >= 30, "{case_count}");
}

#[test]
fn a_truncated_bundle_fails_without_a_panic() {
    let text = std::fs::read(fixture("subset-ed25519")).unwrap();
    let temp = super::harness::Scratch::new("zaxy");
    let path = temp.at("cut.json");
    for at in 0..text.len() - 1 {
        std::fs::write(&path, &text[..at]).unwrap();
        if source(&path).is_some_and(|(_, d, _)| d.format == "zaxy") {
            assert!(validate(&path).is_err(), "{at}");
            assert!(read_into(&path, &mut empty()).is_err(), "{at}");
        }
    }
}
