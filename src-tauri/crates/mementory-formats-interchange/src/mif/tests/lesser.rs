//! The three lesser forms as they are written: `fixtures/mif/lesser`, and the reference program's own samples.
use super::super::testing::*;
use mementory_format::{Format, FormatError, WriteOptions};
use mementory_model::Timestamp;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

fn bytes(path: &std::path::Path, form: &str) -> Value {
    match form {
        "markdown" => std::fs::read_to_string(path).unwrap().into(),
        _ => value(path),
    }
}

#[test]
fn what_a_form_holds_comes_back_and_the_rest_is_told() {
    let folder = repo().join("fixtures/mif/lesser");
    let case: Value = serde_json::from_slice(&std::fs::read(folder.join("case.json")).unwrap()).unwrap();
    let scratch = Scratch::new("lesser-written");
    for (form, told) in case["forms"].as_object().unwrap() {
        let mut shelf = read(&folder.join("input.mif.json")).unwrap();
        let file = told["file"].as_str().unwrap();
        let out = scratch.0.join(file);
        let report = write(&mut shelf, &out, &options(form, None));
        assert_eq!(bytes(&out, form), bytes(&folder.join(file), form), "{form}");
        assert_eq!(
            json!([report.version, report.by_kind, report.withheld]),
            json!([form, {"memory": 4}, {"not_a_memory": 3}])
        );
        let mut losses = BTreeMap::new();
        for loss in &report.losses.items {
            *losses.entry(format!("{} {}", loss.field, loss.kind.as_str())).or_insert(0) += 1;
        }
        assert_eq!(json!(losses), told["losses"], "{form}");

        assert_eq!(detected(&out, true), Some(("mif", Some(form.clone()))));
        let validation = validate(&out);
        assert!(validation.errors.is_empty() && validation.records == 4, "{form}: {:?}", validation.errors);
        let mut again = read(&out).unwrap();
        assert!(again.dropped.is_empty() && again.notes.is_empty(), "{form}");
        let time = |t: Option<Timestamp>| t.map(|t| t.to_rfc3339().replace('Z', "+00:00"));
        let found: BTreeMap<_, _> = again
            .records
            .iter()
            .map(|r| {
                let (created, updated) = (time(r.times.created), time(r.times.updated));
                let told = json!({"type": r.record_type, "tags": r.tags, "created": created, "updated": updated});
                (r.text.clone(), told)
            })
            .collect();
        assert_eq!(json!(found), told["read"], "{form}");

        // Once more: it is of this form now, and loses nothing.
        let second = scratch.0.join(format!("again-{file}"));
        let report = write(&mut again, &second, &options(form, None));
        assert!(
            report.losses.items.iter().all(|l| form == "markdown" && ["id", "verbatim"].contains(&l.field.as_str())),
            "{form}: {:?}",
            report.losses.items
        );
        let texts = |shelf: &Shelf| {
            let mut out: Vec<_> =
                shelf.records.iter().map(|r| (r.text.clone(), r.record_type.clone(), r.tags.clone())).collect();
            out.sort();
            out
        };
        assert_eq!(texts(&read(&second).unwrap()), texts(&again), "{form}");
    }
}

#[test]
fn the_reference_writes_them_alike() {
    let Some(document) = shared("sample.v2.mif.json") else { return };
    let scratch = Scratch::new("lesser-alike");
    for (form, name) in [("generic", "sample.v2.as-generic.json"), ("markdown", "sample.v2.as-markdown.md")] {
        let out = scratch.0.join(name);
        let mut shelf = read(&document).unwrap();
        shelf.records.retain(|r| r.kind == mementory_model::Kind::Memory);
        write(&mut shelf, &out, &options(form, None));
        assert_eq!(bytes(&out, form), bytes(&shared(name).unwrap(), form), "{form}");
        assert_eq!(detected(&out, false), Some(("mif", Some(form.to_owned()))), "{form}: unasked too");
    }
}

#[test]
fn what_a_form_cannot_do_is_refused() {
    let scratch = Scratch::new("lesser-refused");
    let input = repo().join("fixtures/mif/lesser/input.mif.json");
    let mut shelf = read(&input).unwrap();
    let out = scratch.0.join("out");
    let code = |shelf: &mut Shelf, options: &WriteOptions| match super::super::Mif.write(shelf, &out, options) {
        Err(FormatError::Invalid { code, .. }) => code,
        Err(FormatError::Version { .. }) => "version",
        other => panic!("{other:?}"),
    };
    for form in ["mem0", "generic", "markdown"] {
        let sealed = WriteOptions { passphrase: Some(Arc::new(FakeCipher("tea"))), ..options(form, None) };
        assert_eq!(code(&mut shelf, &sealed), "not_supported", "{form}");
        assert_eq!(code(&mut shelf, &options(form, Some("2.0"))), "version", "{form}");
        let mut nothing = Shelf::default();
        assert_eq!(code(&mut nothing, &options(form, None)), "nothing_to_write", "{form}");
        std::fs::remove_file(&out).unwrap();
    }
    assert_eq!(code(&mut shelf, &options("toml", None)), "unknown_encoding");
    // A first memory longer than what is looked at to tell a form.
    let at = shelf.records.iter().position(|r| r.text == "Prefers trains.").unwrap();
    shelf.records.swap(0, at);
    shelf.records.truncate(1);
    shelf.records[0].text = "long ".repeat(50_000);
    for form in ["mem0", "generic", "markdown"] {
        let out = scratch.0.join(form);
        shelf.edited.insert(0);
        write(&mut shelf, &out, &options(form, None));
        assert_eq!(detected(&out, true), Some(("mif", Some(form.to_owned()))));
        assert_eq!(read(&out).unwrap().records.len(), 1, "{form}");
    }
}
