#![allow(clippy::unwrap_used)]
//! Tests of writing exports, with fake cryptography. The conformance suite, the tests of the command line and the check
//! with ApertoMemory itself use the real cryptography.
use super::{Amem, ID};
use crate::cases::{check_fixtures, check_hostile};
use crate::testing::detect;
use mementory_format::testkit::{FakeCipher, MemorySource, Scratch};
use mementory_format::{Catalog, Format, FormatError, Passphrase, ReadContext, Validation, WriteOptions, WriteReport};
use mementory_model::{Kind, Limits, LossKind, Origin, Record, RecordKey, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn cipher(text: &'static str) -> Option<Arc<dyn Passphrase>> {
    Some(Arc::new(FakeCipher(text)))
}

fn write(source: &mut MemorySource, out: &Path, text: &'static str, base: Option<PathBuf>) -> WriteReport {
    let options = WriteOptions { passphrase: cipher(text), base, ..WriteOptions::default() };
    Amem.write(source, out, &options).unwrap()
}

fn read(path: &Path, passphrase: Option<Arc<dyn Passphrase>>) -> Result<MemorySource, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None)?;
    let detection = detect(&catalog, &limits, None)?;
    let context = ReadContext { limits, now: Timestamp::from_micros(0).unwrap(), passphrase };
    let mut out = MemorySource::default();
    Amem.read(&catalog, &detection.sources[0], &context, &mut out).map(|()| out)
}

fn validate(path: &Path, passphrase: Option<&dyn Passphrase>) -> Result<Validation, FormatError> {
    let limits = Limits::default();
    let catalog = Catalog::open(&[path.to_path_buf()], &limits, None)?;
    let detection = detect(&catalog, &limits, None)?;
    Amem.validate_with(&catalog, &detection.sources[0], &limits, &[], passphrase)
}

fn code<T>(result: Result<T, FormatError>) -> &'static str {
    match result {
        Err(FormatError::Invalid { code, .. }) => code,
        _ => "no error",
    }
}

/// Returns a memory as the reader produces it. `trust` is the trust in its author.
fn own(id: &str, text: &str, trust: &str) -> Record {
    let mut record = Record::new(Kind::Memory, RecordKey::new(ID, id), text);
    record.origin = Origin { format: ID.into(), version: Some("2".into()), ..Origin::default() };
    record.origin_id = Some(id.into());
    record.namespace = Some("garden".into());
    record.record_type = Some("semantic".into());
    record.confidence = Some(0.5);
    record.times.created = Timestamp::parse("2026-05-06T07:08:09Z");
    record.times.updated = Timestamp::parse("2026-05-07T07:08:09Z");
    for (name, value) in [("tool", "shed/1"), ("author_key_id", "0102030405060708"), ("trust", trust)] {
        record.fields.insert(name.into(), value.into());
    }
    record
}

const FIRST_ID: &str = "000102030405060708090a0b0c0d0e0f";
const SECOND_ID: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

#[test]
fn the_records_of_all_fixtures_are_read_back_as_the_report_says() {
    check_fixtures(&Amem);
}

#[test]
fn hostile_records_are_read_back() {
    let (_, reread) = check_hostile(&Amem);
    assert!(reread.records.iter().all(|record| record.fields["trust"] == "self"));
}

#[test]
fn a_file_opens_only_with_its_passphrase() {
    let scratch = Scratch::new("amem-passphrase");
    let (out, unwritten) = (scratch.at("a.amem"), scratch.at("b.amem"));
    let mut source = MemorySource { records: vec![own(FIRST_ID, "Prefers leeks.", "self")], ..MemorySource::default() };
    let refused = Amem.write(&mut source, &unwritten, &WriteOptions::default());
    assert_eq!((code(refused), unwritten.exists()), ("passphrase_needed", false));
    write(&mut source, &out, "some words", None);
    assert_eq!(code(read(&out, None)), "passphrase_needed");
    assert_eq!(code(read(&out, cipher("other words"))), "passphrase_wrong");
    assert_eq!(read(&out, cipher("some words")).unwrap().records[0].text, "Prefers leeks.");
    let (closed, opened) = (validate(&out, None).unwrap(), validate(&out, cipher("some words").as_deref()).unwrap());
    assert_eq!((closed.errors, closed.records, closed.warnings[0].code.as_str()), (vec![], 1, "encrypted"));
    assert_eq!((opened.errors, opened.records, opened.warnings), (vec![], 1, vec![]));
    assert_eq!(code(validate(&out, cipher("other words").as_deref())), "passphrase_wrong");
}

#[test]
fn a_changed_memory_does_not_affect_the_others() {
    let scratch = Scratch::new("amem-changed");
    let out = scratch.at("a.amem");
    let records = vec![own(FIRST_ID, "Prefers leeks.", "self"), own(SECOND_ID, "Sows in May.", "self")];
    write(&mut MemorySource { records, ..MemorySource::default() }, &out, "some words", None);
    let mut bytes = std::fs::read(&out).unwrap();
    // The last bytes of the first memory are the authentication tag of its content, so changing them damages the
    // memory.
    let second = memchr::memmem::find(&bytes, &hex::decode(SECOND_ID).unwrap()).unwrap();
    bytes[second - 12] ^= 1;
    std::fs::write(&out, bytes).unwrap();
    let reread = read(&out, cipher("some words")).unwrap();
    assert_eq!((reread.records.len(), reread.records[0].text.as_str()), (1, "Sows in May."));
    assert!(reread.dropped[0].reason.starts_with("decryption: "), "{:?}", reread.dropped);
    let checked = validate(&out, cipher("some words").as_deref()).unwrap();
    assert_eq!(checked.errors.iter().map(|error| error.code.as_str()).collect::<Vec<_>>(), ["decryption"]);
}

#[test]
fn a_memory_of_another_author_does_not_become_the_owners() {
    let scratch = Scratch::new("amem-custody");
    let out = scratch.at("a.amem");
    let records = vec![own(FIRST_ID, "Prefers leeks.", "self"), own(SECOND_ID, "Sows in May.", "trusted")];
    let report = write(&mut MemorySource { records, ..MemorySource::default() }, &out, "some words", None);
    let reread = read(&out, cipher("some words")).unwrap();
    let (first, second) = (reread.find("Prefers"), reread.find("Sows"));
    assert_eq!(first.fields["trust"], "self");
    assert!(!first.fields.contains_key("custody"));
    // The new owner has not accepted the keys that the former owner had accepted.
    assert_eq!(second.fields["trust"], "unverified");
    let key = serde_json::json!({ "$bytes": "0102030405060708" });
    // The author is not verified, so the id of a proven author (member 4) is removed.
    assert_eq!((&second.fields["custody"]["2"], second.fields["custody"].get("4")), (&key, None));
    assert_eq!((first.origin_id.as_deref(), second.origin_id.as_deref()), (Some(FIRST_ID), Some(SECOND_ID)));
    assert_eq!((&first.times, first.confidence), (&own("", "", "").times, Some(0.5)));
    assert_eq!((report.losses.counts.len(), report.losses.count("fields", LossKind::Narrowed)), (1, 2));
    // A second export contains the other members of `custody` unchanged.
    let mut again = read(&out, cipher("some words")).unwrap();
    write(&mut again, &scratch.at("b.amem"), "new words", None);
    let reread = read(&scratch.at("b.amem"), cipher("new words")).unwrap();
    assert_eq!(reread.find("Sows").fields["custody"], second.fields["custody"]);
    // If identifiers are left out, the memory still does not become the owner's.
    let strip = WriteOptions { strip_identifiers: true, passphrase: cipher("new words"), ..WriteOptions::default() };
    Amem.write(&mut again, &scratch.at("c.amem"), &strip).unwrap();
    let reread = read(&scratch.at("c.amem"), cipher("new words")).unwrap();
    let memory = reread.find("Sows");
    assert_eq!((memory.fields["trust"].as_str(), memory.namespace.as_deref()), (Some("unverified"), Some("default")));
    assert_eq!(memory.fields["custody"]["2"], serde_json::json!({ "$bytes": "0000000000000000" }));
}

#[test]
fn a_scope_whose_key_may_be_somebody_elses_is_not_used() {
    let scratch = Scratch::new("amem-scope");
    let (base, out) = (scratch.at("a.amem"), scratch.at("b.amem"));
    let records = vec![own(SECOND_ID, "Sows in May.", "trusted")];
    write(&mut MemorySource { records, ..MemorySource::default() }, &base, "some words", None);
    let records = vec![own(FIRST_ID, "Prefers leeks.", "self")];
    let mut source = MemorySource { records, ..MemorySource::default() };
    let options = WriteOptions { base: Some(base), passphrase: cipher("some words"), ..WriteOptions::default() };
    assert_eq!((code(Amem.write(&mut source, &out, &options)), out.exists()), ("base_scope_unproven", false));
}

#[test]
fn an_export_for_the_owner_of_an_earlier_one_has_that_owners_keys_and_scopes() {
    let scratch = Scratch::new("amem-base");
    let (base, out) = (scratch.at("a.amem"), scratch.at("b.amem"));
    let records = vec![own(FIRST_ID, "Prefers leeks.", "self")];
    write(&mut MemorySource { records, ..MemorySource::default() }, &base, "some words", None);
    let mut again = read(&base, cipher("some words")).unwrap();
    again.records.push(Record::new(Kind::Memory, RecordKey::new("test", "1"), "Sows in May."));
    let report = write(&mut again, &out, "some words", Some(base.clone()));
    let [before, after] = [&base, &out].map(|path| super::wire::Export::parse(&std::fs::read(path).unwrap()).unwrap());
    assert_eq!((&before.salt, &before.signing_key), (&after.salt, &after.signing_key));
    for (id, scope) in &before.scopes {
        assert_eq!(after.scopes[id].key, scope.key);
    }
    assert_eq!((before.scopes.len(), after.scopes.len()), (1, 2));
    // The same owner reads the memory back unchanged.
    let reread = read(&out, cipher("some words")).unwrap();
    assert_eq!(reread.find("Prefers").verbatim, again.find("Prefers").verbatim);
    assert!(report.losses.items.iter().all(|loss| ["confidence", "times"].contains(&loss.field.as_str())));
    let options = WriteOptions { passphrase: cipher("other words"), base: Some(base), ..WriteOptions::default() };
    assert_eq!(code(Amem.write(&mut again, &scratch.at("c.amem"), &options)), "passphrase_wrong");
}

#[test]
fn only_names_of_scopes_can_be_read_without_the_passphrase() {
    let scratch = Scratch::new("amem-scopes");
    let out = scratch.at("a.amem");
    let mut foreign = Record::new(Kind::Memory, RecordKey::new("test", "1"), "Sows in May.");
    foreign.namespace = Some("user:oda@example.org".into());
    let records = vec![own(FIRST_ID, "Prefers leeks.", "self"), foreign];
    let mut source = MemorySource { records, ..MemorySource::default() };
    let report = write(&mut source, &out, "some words", None);
    let bytes = std::fs::read(&out).unwrap();
    assert!(memchr::memmem::find(&bytes, b"garden").is_some());
    assert!(memchr::memmem::find(&bytes, b"oda@example.org").is_none());
    assert_eq!(report.losses.count("namespace", LossKind::Narrowed), 1);
}

#[test]
fn a_memory_and_its_copy_from_an_export_are_both_written() {
    let scratch = Scratch::new("amem-again");
    let (first, second) = (scratch.at("a.amem"), scratch.at("b.amem"));
    let mut source = MemorySource::default();
    source.records.push(Record::new(Kind::Memory, RecordKey::new("test", "1"), "Sows in May."));
    write(&mut source, &first, "some words", None);
    source.records.extend(read(&first, cipher("some words")).unwrap().records);
    let report = write(&mut source, &second, "some words", None);
    let reread = read(&second, cipher("some words")).unwrap();
    assert_eq!((report.by_kind["memory"], reread.records.len(), reread.dropped.len()), (2, 2, 0));
    assert_ne!(reread.records[0].origin_id, reread.records[1].origin_id);
}
