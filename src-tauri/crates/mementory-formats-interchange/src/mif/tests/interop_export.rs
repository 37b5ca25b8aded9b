//! Tests of writing the interop encodings, with `fixtures/mif/interop` and samples of the reference program.
use super::super::testing::*;
use mementory_format::{Format, FormatError, WriteOptions};
use mementory_model::Timestamp;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

fn bytes(path: &std::path::Path, encoding: &str) -> Value {
    match encoding {
        "markdown" => std::fs::read_to_string(path).unwrap().into(),
        _ => value(path),
    }
}

#[test]
fn supported_fields_round_trip_and_losses_are_reported() {
    let folder = repo().join("fixtures/mif/interop");
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let temp = Scratch::new("interop-written");
    for (encoding, expectation) in case["forms"].as_object().unwrap() {
        let mut store = read(&folder.join("input.mif.json")).unwrap();
        let file = expectation["file"].as_str().unwrap();
        let out = temp.0.join(file);
        let report = write(&mut store, &out, &options(encoding, None));
        assert_eq!(bytes(&out, encoding), bytes(&folder.join(file), encoding), "{encoding}");
        assert_eq!(
            json!([report.version, report.by_kind, report.withheld]),
            json!([encoding, {"memory": 4}, {"not_a_memory": 3}])
        );
        let mut losses = BTreeMap::new();
        for loss in &report.losses.items {
            *losses.entry(format!("{} {}", loss.field, loss.kind.as_str())).or_insert(0) += 1;
        }
        assert_eq!(json!(losses), expectation["losses"], "{encoding}");

        assert_eq!(detected(&out, true), Some(("mif", Some(encoding.clone()))));
        let validation = validate(&out);
        assert!(validation.errors.is_empty() && validation.records == 4, "{encoding}: {:?}", validation.errors);
        let mut reread = read(&out).unwrap();
        assert!(reread.dropped.is_empty() && reread.notes.is_empty(), "{encoding}");
        let time = |t: Option<Timestamp>| t.map(|t| t.to_rfc3339().replace('Z', "+00:00"));
        let memories: BTreeMap<_, _> = reread
            .records
            .iter()
            .map(|r| {
                let (created, updated) = (time(r.times.created), time(r.times.updated));
                let read_back = json!({"type": r.record_type, "tags": r.tags, "created": created, "updated": updated});
                (r.text.clone(), read_back)
            })
            .collect();
        assert_eq!(json!(memories), expectation["read"], "{encoding}");

        // The records are now from this encoding, so a second export loses nothing.
        let second = temp.0.join(format!("again-{file}"));
        let report = write(&mut reread, &second, &options(encoding, None));
        assert!(
            report
                .losses
                .items
                .iter()
                .all(|l| encoding == "markdown" && ["id", "verbatim"].contains(&l.field.as_str())),
            "{encoding}: {:?}",
            report.losses.items
        );
        let texts = |store: &MemorySource| {
            let mut out: Vec<_> =
                store.records.iter().map(|r| (r.text.clone(), r.record_type.clone(), r.tags.clone())).collect();
            out.sort();
            out
        };
        assert_eq!(texts(&read(&second).unwrap()), texts(&reread), "{encoding}");
    }
}

#[test]
fn output_matches_the_reference_program() {
    let Some(document) = shared("sample.v2.mif.json") else { return };
    let temp = Scratch::new("interop-alike");
    for (encoding, name) in [("generic", "sample.v2.as-generic.json"), ("markdown", "sample.v2.as-markdown.md")] {
        let out = temp.0.join(name);
        let mut store = read(&document).unwrap();
        store.records.retain(|r| r.kind == mementory_model::Kind::Memory);
        write(&mut store, &out, &options(encoding, None));
        assert_eq!(bytes(&out, encoding), bytes(&shared(name).unwrap(), encoding), "{encoding}");
        assert_eq!(detected(&out, false), Some(("mif", Some(encoding.to_owned()))), "{encoding}: unasked too");
    }
}

#[test]
fn unsupported_options_are_rejected() {
    let temp = Scratch::new("interop-refused");
    let input = repo().join("fixtures/mif/interop/input.mif.json");
    let mut store = read(&input).unwrap();
    let out = temp.0.join("out");
    let code = |store: &mut MemorySource, options: &WriteOptions| match super::super::Mif.write(store, &out, options) {
        Err(FormatError::Invalid { code, .. }) => code,
        Err(FormatError::Version { .. }) => "version",
        other => panic!("{other:?}"),
    };
    for encoding in ["mem0", "generic", "markdown"] {
        let sealed = WriteOptions { passphrase: Some(Arc::new(FakeCipher("tea"))), ..options(encoding, None) };
        assert_eq!(code(&mut store, &sealed), "not_supported", "{encoding}");
        assert_eq!(code(&mut store, &options(encoding, Some("2.0"))), "version", "{encoding}");
        let mut nothing = MemorySource::default();
        assert_eq!(code(&mut nothing, &options(encoding, None)), "nothing_to_write", "{encoding}");
        std::fs::remove_file(&out).unwrap();
    }
    assert_eq!(code(&mut store, &options("toml", None)), "unknown_encoding");
    // The first memory is longer than the part of the file that detection examines.
    let at = store.records.iter().position(|r| r.text == "Prefers trains.").unwrap();
    store.records.swap(0, at);
    store.records.truncate(1);
    store.records[0].text = "long ".repeat(50_000);
    for encoding in ["mem0", "generic", "markdown"] {
        let out = temp.0.join(encoding);
        store.edited.insert(0);
        write(&mut store, &out, &options(encoding, None));
        assert_eq!(detected(&out, true), Some(("mif", Some(encoding.to_owned()))));
        assert_eq!(read(&out).unwrap().records.len(), 1, "{encoding}");
    }
}
