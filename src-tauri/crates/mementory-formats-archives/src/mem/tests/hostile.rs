//! Tests that hostile and damaged bundles are rejected completely, with the messages of the reference SDK.
use super::harness::{MemorySink, TempDir, bundle, copy, read_with, repo, validate};
use crate::mem::kinds::{AUDIT_LOG_SPEC, KIND_SPECS, KindSpec, TOMBSTONE_SPEC, Type};
use mementory_format::FormatError;
use mementory_model::Limits;
use std::path::Path;

/// Applies a change to a bundle. Returns the messages of the validator and the error of the reader.
fn check_tampered(change: impl Fn(&Path)) -> (Vec<String>, FormatError) {
    let temp = TempDir::new();
    let folder = temp.join("t.mem");
    copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
    change(&folder);
    let mut sink = MemorySink::default();
    let error = read_with(&folder, &Limits::default(), &mut sink).unwrap_err();
    assert!(sink.is_empty(), "nothing may be sent");
    (validate(&folder, &[]).errors.into_iter().map(|f| f.message).collect(), error)
}

fn code(error: &FormatError) -> &'static str {
    match error {
        FormatError::Invalid { code, .. } => code,
        FormatError::Limit { limit, .. } => limit,
        _ => "other",
    }
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{from}");
    std::fs::write(file, text.replace(from, to)).unwrap();
}

fn digest_of(folder: &Path, path: &str) -> String {
    hex::encode(<sha2::Sha256 as sha2::Digest>::digest(std::fs::read(folder.join(path)).unwrap()))
}

#[test]
fn tampered_bundles_are_rejected() {
    let episodes = "items/episode.jsonl";
    type Change = Box<dyn Fn(&Path)>;
    let cases: Vec<(&str, &str, Change)> = vec![
        (
            "manifest_missing",
            "manifest.json missing",
            Box::new(|b| std::fs::remove_file(b.join("manifest.json")).unwrap()),
        ),
        (
            "malformed",
            "manifest.json does not parse",
            Box::new(|b| replace(&b.join("manifest.json"), "\"L2\"", "\"L9\"")),
        ),
        (
            "malformed",
            "manifest.json does not parse",
            Box::new(|b| std::fs::write(b.join("manifest.json"), "{").unwrap()),
        ),
        (
            "checksum_mismatch",
            "checksum mismatch: items/episode.jsonl",
            Box::new(move |b| replace(&b.join(episodes), "bicycle", "bicycla")),
        ),
        (
            "file_missing",
            "listed file missing: items/episode.jsonl",
            Box::new(move |b| std::fs::remove_file(b.join(episodes)).unwrap()),
        ),
        (
            "unlisted_file",
            "unlisted file present: items/evil.jsonl",
            Box::new(|b| std::fs::write(b.join("items/evil.jsonl"), "{}\n").unwrap()),
        ),
        (
            "unlisted_file",
            "unlisted file present: audit/log.jsonl",
            Box::new(|b| {
                std::fs::create_dir_all(b.join("audit")).unwrap();
                std::fs::write(b.join("audit/log.jsonl"), "{}\n").unwrap()
            }),
        ),
        (
            "path_escapes",
            "path escapes the bundle: ../episode.jsonl",
            Box::new(|b| replace(&b.join("manifest.json"), "items/episode.jsonl", "../episode.jsonl")),
        ),
        (
            "path_escapes",
            "path escapes the bundle: /etc/passwd",
            Box::new(|b| replace(&b.join("manifest.json"), "items/episode.jsonl", "/etc/passwd")),
        ),
        (
            "path_escapes",
            "path escapes the bundle: c:\\x",
            Box::new(|b| replace(&b.join("manifest.json"), "items/episode.jsonl", "c:\\\\x")),
        ),
        (
            "path_escapes",
            "path escapes the bundle: items/\0x",
            Box::new(|b| replace(&b.join("manifest.json"), "items/episode.jsonl", "items/\\u0000x")),
        ),
        (
            "checksums_missing",
            "bundleDigest declared but CHECKSUMS is missing",
            Box::new(|b| std::fs::remove_file(b.join("CHECKSUMS")).unwrap()),
        ),
        (
            "bundle_digest_mismatch",
            "bundleDigest mismatch: CHECKSUMS does not hash to the manifest's bundleDigest",
            Box::new(|b| replace(&b.join("CHECKSUMS"), "items/context.jsonl", "items/kontext.jsonl")),
        ),
        (
            "checksums_mismatch",
            "CHECKSUMS does not match manifest.files",
            Box::new(|b| {
                let digest_before = digest_of(b, "CHECKSUMS");
                replace(&b.join("CHECKSUMS"), "items/context.jsonl", "items/kontext.jsonl");
                replace(&b.join("manifest.json"), &digest_before, &digest_of(b, "CHECKSUMS"));
            }),
        ),
        (
            "malformed",
            "malformed episode record",
            Box::new(move |b| {
                let digest_before = digest_of(b, episodes);
                replace(&b.join(episodes), "\"pinned\":false", "\"pinned\":00000");
                replace(&b.join("manifest.json"), &digest_before, &digest_of(b, episodes));
            }),
        ),
    ];
    for (expected, message, change) in cases {
        let (messages, error) = check_tampered(change);
        assert!(messages.iter().any(|m| m == message), "{message}: {messages:?}");
        if expected != "malformed" {
            assert_eq!(code(&error), expected, "{error}");
        }
    }
    let (messages, _) = check_tampered(|b| replace(&b.join("manifest.json"), "\"bytes\":", "\"bytes\":1"));
    assert!(messages.iter().any(|m| m == "byte-count mismatch: items/episode.jsonl"), "{messages:?}");
}

#[test]
fn the_error_of_an_import_names_the_malformed_field() {
    for (file, from, to, reason) in [
        ("manifest.json", "\"L2\"", "\"L9\"", "manifest.json does not parse: conformanceLevel is unknown"),
        (
            "items/episode.jsonl",
            "\"pinned\":false",
            "\"pinned\":0",
            "malformed episode record: pinned has the wrong type",
        ),
    ] {
        let (_, error) = check_tampered(|folder| replace(&folder.join(file), from, to));
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (messages, error) = check_tampered(|b| {
        std::fs::rename(b.join("items/episode.jsonl"), b.join("real.jsonl")).unwrap();
        std::os::unix::fs::symlink("../real.jsonl", b.join("items/episode.jsonl")).unwrap();
    });
    assert_eq!(messages[0], "path escapes the bundle: items/episode.jsonl");
    assert_eq!(code(&error), "path_escapes");
    let (messages, _) = check_tampered(|b| std::os::unix::fs::symlink("/etc/hosts", b.join("items/x.jsonl")).unwrap());
    assert_eq!(messages[0], "unlisted file present: items/x.jsonl");
}

#[test]
fn wrong_summaries_are_errors_but_do_not_prevent_an_import() {
    let temp = TempDir::new();
    let folder = temp.join("t.mem");
    copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
    let manifest = folder.join("manifest.json");
    replace(&manifest, "\"episode\":2", "\"episode\":3");
    replace(&manifest, "\"from\":\"20", "\"from\":\"19");
    replace(&manifest, "\"scopes\":[\"ctx_life\"]", "\"scopes\":[]");
    let codes: Vec<_> = validate(&folder, &[]).errors.into_iter().map(|f| f.code).collect();
    assert_eq!(codes, ["counts_mismatch", "coverage_mismatch", "scopes_mismatch"]);
    let mut sink = MemorySink::default();
    read_with(&folder, &Limits::default(), &mut sink).unwrap();
    assert_eq!(sink.notes.len(), 3);
    assert!(!sink.records.is_empty());
}

/// A JSON value of the type `ty`, or of another type if `is_of_type` is false.
fn sample(ty: Type, is_of_type: bool) -> &'static str {
    match (ty, is_of_type) {
        (Type::Text, true) => "\"x\"",
        (Type::Time, true) => "\"2026-01-01T00:00:00Z\"",
        (Type::Time, false) => "\"yesterday\"",
        (Type::Float, true) => "0.5",
        (Type::Int, true) => "2.0",
        (Type::Int, false) => "2.5",
        (Type::Bool, true) => "true",
        (Type::Bool, false) => "1",
        (Type::List, true) => "[\"a\"]",
        (Type::List, false) => "[\"a\",1]",
        (Type::Map, true) => "{\"a\":\"b\"}",
        (Type::Map, false) => "{\"a\":1}",
        (Type::Op, true) => "\"delete\"",
        (Type::Op, false) => "\"rename\"",
        (Type::Derived, true) => "{}",
        (Type::Derived, false) => "{\"factIDs\":\"f\"}",
        (Type::Text | Type::Float, false) => "true",
    }
}

fn line_of_kind(spec: &KindSpec, skipped: Option<&str>, wrong_type: Option<&str>, null: Option<&str>) -> String {
    let members: Vec<String> = spec
        .fields
        .iter()
        .filter(|f| Some(f.name) != skipped)
        .map(|f| {
            let value = if Some(f.name) == null { "null" } else { sample(f.ty, Some(f.name) != wrong_type) };
            format!("\"{}\":{value}", f.name)
        })
        .collect();
    format!("{{{}}}\n", members.join(","))
}

fn is_accepted(spec: &KindSpec, line: &str) -> bool {
    let temp = TempDir::new();
    let folder = temp.join("t.mem");
    bundle(&folder, &[(&spec.path(), line)]);
    let errors = validate(&folder, &[]).errors;
    let mut sink = MemorySink::default();
    let read = read_with(&folder, &Limits::default(), &mut sink);
    assert_eq!(read.is_ok(), errors.is_empty(), "{} {line}: {errors:?}", spec.kind);
    if let Err(error) = read {
        assert!(sink.is_empty());
        assert_eq!(code(&error), "malformed");
        assert_eq!(errors[0].message, format!("malformed {} record", spec.kind));
    }
    errors.is_empty()
}

#[test]
fn every_field_of_every_kind_is_checked() {
    for spec in KIND_SPECS.iter().chain([&TOMBSTONE_SPEC, &AUDIT_LOG_SPEC]) {
        assert!(is_accepted(spec, &line_of_kind(spec, None, None, None)), "{}", spec.kind);
        for field in spec.fields {
            assert!(
                !is_accepted(spec, &line_of_kind(spec, None, Some(field.name), None)),
                "{} {}",
                spec.kind,
                field.name
            );
            assert_eq!(is_accepted(spec, &line_of_kind(spec, Some(field.name), None, None)), !field.required);
            assert_eq!(is_accepted(spec, &line_of_kind(spec, None, None, Some(field.name))), !field.required);
        }
    }
}

#[test]
fn invalid_lines_are_rejected() {
    let spec = &KIND_SPECS[2]; // preference
    for line in [
        "[]\n",
        "{\"key\":\"a\",\"value\":\"\\ud800\"}\n",
        "{\"key\":\"a\",\"value\":\"b\",\"x\":NaN}\n",
        "{\"key\":\"a\",\"value\":\"b\",\"x\":1e999}\n",
        "{\"key\":\"a\",\"value\":\"b\"} {}\n",
        "\u{feff}{\"key\":\"a\",\"value\":\"b\"}\n",
    ] {
        assert!(!is_accepted(spec, line), "{line}");
    }
    let deep_line = format!("{{\"key\":\"a\",\"value\":\"b\",\"x\":{}{}}}\n", "[".repeat(600), "]".repeat(600));
    assert!(!is_accepted(spec, &deep_line));
    for line in [
        "\r\n  {\"value\":\"b\",\"key\":\"a\",\"key\":\"c\"} \r\n\n",
        "{\"key\":\"a\u{2028}b\",\"value\":\"b\",\"more\":[null,1.50,18446744073709551616]}",
    ] {
        assert!(is_accepted(spec, line), "{line}");
    }
}

/// The tree of a short text can need too much memory if the text has many values.
#[test]
fn values_that_need_too_much_memory_are_rejected() {
    let dense_value = format!("[{}0]", "0,".repeat(1000));
    let limits = Limits { tree_bytes: 20_000, ..Limits::default() };
    let temp = TempDir::new();
    let check_line = |name: &str, line: &str, change: &dyn Fn(&Path)| {
        let folder = temp.join(name);
        bundle(&folder, &[("items/preference.jsonl", &format!("{line}\n"))]);
        change(&folder);
        let mut sink = MemorySink::default();
        let error = read_with(&folder, &limits, &mut sink).err();
        assert!(error.is_none() || sink.is_empty(), "nothing may be sent");
        let catalog = mementory_format::Catalog::open(&[folder], &limits, None).unwrap();
        let detection = crate::detect(&catalog, &limits, None).unwrap();
        let validation = crate::by_id("mem").unwrap().validate(&catalog, &detection.sources[0], &limits, &[]).unwrap();
        let too_large =
            validation.errors.into_iter().filter(|f| f.code == "too_large").map(|f| f.place).collect::<Vec<_>>();
        let limit = error.map(|e| match e {
            FormatError::Limit { limit, place, .. } => (limit, place.rsplit_once(".mem/").unwrap().1.to_owned()),
            other => panic!("{other}"),
        });
        (limit, too_large.len())
    };
    let line = |more: &str| format!("{{\"key\":\"a\",\"value\":\"b\",\"x\":{more}}}");
    assert_eq!(check_line("whole.mem", &line("[0]"), &|_| ()), (None, 0), "the control");
    let place = "items/preference.jsonl:1".to_owned();
    assert_eq!(check_line("line.mem", &line(&dense_value), &|_| ()), (Some(("tree_bytes", place)), 1));
    let head = |folder: &Path| {
        let path = folder.join("manifest.json");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, text.replacen('{', &format!("{{\"x\":{dense_value},"), 1)).unwrap();
    };
    let place = "manifest.json".to_owned();
    assert_eq!(check_line("head.mem", &line("[0]"), &head), (Some(("tree_bytes", place)), 1));
}

#[test]
fn size_and_depth_limits_are_enforced() {
    let temp = TempDir::new();
    let folder = temp.join("t.mem");
    copy(&repo().join("fixtures/mem/small/input.mem"), &folder);
    let refusal_of = |limits: &Limits| {
        let mut sink = MemorySink::default();
        let error = read_with(&folder, limits, &mut sink).unwrap_err();
        assert!(sink.is_empty());
        code(&error)
    };
    let size = std::fs::metadata(folder.join("items/episode.jsonl")).unwrap().len();
    assert_eq!(refusal_of(&Limits { mem_file_bytes: size - 1, ..Limits::default() }), "mem_file_bytes");
    assert_eq!(refusal_of(&Limits { line_bytes: 60, ..Limits::default() }), "line_bytes");
    let mut sink = MemorySink::default();
    read_with(&folder, &Limits { mem_file_bytes: size.max(2000), ..Limits::default() }, &mut sink).unwrap();
    let mut cancelled = MemorySink { cancel: true, ..MemorySink::default() };
    assert!(matches!(read_with(&folder, &Limits::default(), &mut cancelled), Err(FormatError::Cancelled)));
}
