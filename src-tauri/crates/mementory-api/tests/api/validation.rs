//! Tests that all sources of a file or folder are validated, because an import reads all of them.
use mementory_api::{
    Job,
    files::{Check, validate},
    types::Validation,
};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../../fixtures").join(name)
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        match path.is_dir() {
            true => copy_folder(&path, &to),
            false => drop(std::fs::copy(&path, &to).unwrap()),
        }
    }
}

fn check(path: &Path, trust: &[String]) -> Validation {
    validate(path, &Check { trust, ..Check::default() }, &Job::default()).unwrap()
}

fn codes(findings: &[mementory_api::types::Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn an_error_in_any_source_of_a_folder_is_found() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("mif/faults/numbers.mif.json"), folder.path().join("a.mif.json")).unwrap();
    std::fs::copy(fixture("mif/v1/input.mif.json"), folder.path().join("b.mif.json")).unwrap();
    let alone = check(&folder.path().join("b.mif.json"), &[]);
    assert!(alone.ok);
    let both = check(folder.path(), &[]);
    assert_eq!((both.ok, codes(&both.errors)), (false, vec!["bad_value"]));
    assert!(both.records > alone.records);
}

#[test]
fn a_trusted_signature_covers_no_other_source() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path().join("b.mem");
    copy_folder(&fixture("mem/signed/input.mem"), &bundle);
    let trust = [check(&bundle, &[]).signature.key.unwrap()];
    assert!(check(&bundle, &trust).ok);
    std::fs::copy(fixture("mif/v1/input.mif.json"), folder.path().join("a.mif.json")).unwrap();
    let both = check(folder.path(), &trust);
    assert_eq!((both.ok, codes(&both.errors)), (false, vec!["signature_missing"]));
    assert!(check(folder.path(), &[]).ok, "without a trusted key, no signature is required");
}

#[test]
fn files_of_a_format_without_rules_are_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("mif/v1/input.mif.json"), folder.path().join("a.mif.json")).unwrap();
    std::fs::write(folder.path().join("conversations.json"), super::preview::EXPORT).unwrap();
    let both = check(folder.path(), &[]);
    assert_eq!((both.ok, both.format.as_deref()), (true, Some("mif")));
    assert!(codes(&both.warnings).contains(&"not_checked"), "{:?}", both.warnings);
}

#[test]
fn the_last_of_several_equally_certain_sources_determines_the_version() {
    let documents = ["mif/v1/input.mif.json", "mif/v2/input.json"];
    for [first, last] in [documents, [documents[1], documents[0]]] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy(fixture(first), folder.path().join("a.mif.json")).unwrap();
        std::fs::copy(fixture(last), folder.path().join("b.mif.json")).unwrap();
        let alone = check(&folder.path().join("b.mif.json"), &[]);
        assert_eq!(check(folder.path(), &[]).version, alone.version, "{last}");
        // The same holds beside a source of a format without rules.
        std::fs::write(folder.path().join("conversations.json"), super::preview::EXPORT).unwrap();
        assert_eq!(check(folder.path(), &[]).version, alone.version, "{last}");
    }
}
