//! Values in a manifest and in tombstones that the schemas forbid. An import reports them, and an export does not write
//! them again.
use super::harness::{TempDir, bundle, copy, files, read, repo, validate, write_as};
use super::requirements::{EPISODES_FILE, FixtureBundle};
use crate::mem::{
    kinds::TOMBSTONE_SPEC,
    tombstones::{from_tree, to_line},
    wire::decode,
};
use mementory_format::WriteOptions;
use std::path::Path;

const TOMBSTONE: &str = concat!(
    r#"{"actor":"user","deletedAt":"2026-04-20T00:00:00Z","derived":{"chunkIDs":[],"edgeIDs":[],"#,
    r#""embeddingCacheKeys":[],"entityIDs":[],"episodeLinkCount":-1,"factIDs":[],"sentenceIDs":[]},"#,
    r#""id":"t-1","op":"delete","signature":"SIGNATURE","targetID":"ep_1","targetKind":"episode"}"#,
);

fn edit_manifest(bundle: &Path, from: &str, to: &str) {
    let path = bundle.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replace(from, to)).unwrap();
}

fn error_codes(bundle: &Path) -> Vec<String> {
    validate(bundle, &[]).errors.into_iter().map(|finding| finding.code).collect()
}

/// Options of a conversion from version 1.1.0.
fn conversion_options() -> WriteOptions {
    WriteOptions { source_version: Some("1.1.0".into()), ..WriteOptions::default() }
}

#[test]
fn invalid_numbers_are_exported_as_zero() {
    let temp = TempDir::new();
    let path = temp.join("b.mem");
    let unsigned_line = TOMBSTONE.replace(r#""signature":"SIGNATURE","#, "");
    bundle(&path, &[("audit/tombstones.jsonl", &format!("{unsigned_line}\n"))]);
    edit_manifest(&path, r#""embeddingDim":0"#, r#""embeddingDim":-1"#);
    assert_eq!(error_codes(&path), ["bad_value", "bad_value"]);
    let sink = read(&path);
    for (name, options) in [("export.mem", WriteOptions::default()), ("conversion.mem", conversion_options())] {
        let out = temp.join(name);
        write_as(&sink, &[], &out, options).unwrap();
        assert_eq!(error_codes(&out), [""; 0], "{name}");
        let written_files = files(&out);
        let text = |file: &str| String::from_utf8(written_files[file].clone()).unwrap();
        assert!(text("manifest.json").contains(r#""mementory_forbidden":{"embeddingDim":-1}"#), "{name}");
        assert!(text("audit/tombstones.jsonl").contains(r#""mementory_forbidden":{"episodeLinkCount":-1}"#), "{name}");
        assert_eq!(read(&out).tombstones[0].target_id, "ep_1", "{name}");
    }
}

#[test]
fn a_tombstone_whose_count_was_changed_loses_its_signature() {
    let written_line = |line: &str| to_line(&from_tree(&decode(&TOMBSTONE_SPEC, line, 64_u32).ok().unwrap(), line), 64);
    let changed_line = written_line(TOMBSTONE);
    assert!(changed_line.contains(r#""episodeLinkCount":0"#) && !changed_line.contains("SIGNATURE"), "{changed_line}");
    let allowed_line = TOMBSTONE.replace("-1", "1");
    assert_eq!(written_line(&allowed_line), allowed_line);
}

#[test]
fn a_conversion_corrects_coverage_and_scopes() {
    let temp = TempDir::new();
    let path = temp.join("b.mem");
    copy(&repo().join("fixtures/mem/small/input.mem"), &path);
    edit_manifest(&path, r#""from":"2026-01-10T08:00:00Z""#, r#""from":"2020-01-10T08:00:00Z""#);
    edit_manifest(&path, r#""scopes":["ctx_life"]"#, r#""scopes":["ctx_other"]"#);
    assert_eq!(error_codes(&path), ["coverage_mismatch", "scopes_mismatch"]);
    let out = temp.join("out.mem");
    write_as(&read(&path), &[], &out, conversion_options()).unwrap();
    assert_eq!(error_codes(&out), [""; 0]);
    for file in ["items/context.jsonl", "items/episode.jsonl"] {
        assert_eq!(files(&out)[file], files(&path)[file], "{file}");
    }
}

#[test]
fn a_conversion_corrects_the_form_of_the_manifest() {
    for (from, to) in [
        (r#""createdAt":"2026-03-01T00:00:00Z""#, r#""createdAt":"2026-03-01""#),
        (r#""coverage":{"#, r#""coverage":{"area":"sea","#),
        (r#""schemaVersion":1"#, r#""schemaVersion":1,"specURL":"over there""#),
        (r#""exportMode":"full","#, r#""exportMode":"full","since":null,"#),
    ] {
        let temp = TempDir::new();
        let (path, out) = (temp.join("b.mem"), temp.join("out.mem"));
        copy(&repo().join("fixtures/mem/small/input.mem"), &path);
        edit_manifest(&path, from, to);
        assert_eq!(error_codes(&path).len(), 1, "{to}");
        write_as(&read(&path), &[], &out, conversion_options()).unwrap();
        assert_eq!(error_codes(&out), [""; 0], "{to}");
    }
}

/// The specification requires every `contextID` in the list, but the reference SDK lists only those that are not empty.
#[test]
fn an_empty_scope_may_be_listed_if_an_episode_has_it() {
    let list_empty_scope = |bundle: &FixtureBundle| {
        bundle.replace("manifest.json", "\"scopes\":[\"ctx_life\"]", "\"scopes\":[\"\",\"ctx_life\"]");
    };
    let copy = FixtureBundle::copy_of("small");
    copy.rewrite(EPISODES_FILE, "\"contextID\":\"ctx_life\"", "\"contextID\":\"\"");
    assert!(copy.errors().is_empty());
    list_empty_scope(&copy);
    assert!(copy.errors().is_empty());
    let without_scope = FixtureBundle::copy_of("small");
    list_empty_scope(&without_scope);
    assert_eq!(without_scope.errors(), ["scopes_mismatch"]);
}
