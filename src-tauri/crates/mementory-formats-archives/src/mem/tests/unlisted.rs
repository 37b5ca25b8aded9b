//! Tests of links, unlisted files and empty folders in a bundle (spec v1.1 §4–§6).
use super::requirements::{EPISODES_FILE, FixtureBundle};
#[cfg(unix)]
use std::path::Path;

#[cfg(unix)]
#[test]
fn l0_links_are_rejected_everywhere() {
    use std::os::unix::fs::symlink;
    let codes_after = |change: &dyn Fn(&Path)| {
        let copy = FixtureBundle::copy_of("small");
        change(&copy.path);
        assert!(copy.import().is_err());
        copy.errors()
    };
    let file = codes_after(&|b| {
        std::fs::rename(b.join(EPISODES_FILE), b.join("real")).unwrap();
        symlink("../real", b.join(EPISODES_FILE)).unwrap();
    });
    assert_eq!(file[0], "path_escapes");
    let folder = codes_after(&|b| {
        std::fs::rename(b.join("items"), b.join("real")).unwrap();
        symlink("real", b.join("items")).unwrap();
    });
    assert!(folder.contains(&"file_missing".to_owned()) && folder.contains(&"unlisted_file".to_owned()), "{folder:?}");
    let sums = codes_after(&|b| {
        std::fs::rename(b.join("CHECKSUMS"), b.join("real")).unwrap();
        symlink("real", b.join("CHECKSUMS")).unwrap();
    });
    assert_eq!(sums, ["checksums_missing"]);
    let signature = codes_after(&|b| symlink("real", b.join("manifest.sig")).unwrap());
    assert_eq!(signature, ["path_escapes"]);
    let manifest = FixtureBundle::copy_of("small");
    std::fs::rename(manifest.path.join("manifest.json"), manifest.path.join("real")).unwrap();
    symlink("real", manifest.path.join("manifest.json")).unwrap();
    assert_eq!(manifest.errors(), ["manifest_missing"]);
}

/// The reference SDK checks only one level of folders and ignores `provenance/`.
#[test]
fn l0_folders_with_records_have_no_unlisted_files() {
    for path in
        ["items/evil.jsonl", "items/deep/evil.jsonl", "audit/more.jsonl", "embeddings/x.vec", "provenance/edges.jsonl"]
    {
        let copy = FixtureBundle::copy_of("small");
        let file_path = copy.path.join(path);
        std::fs::create_dir_all(file_path.parent().unwrap()).unwrap();
        std::fs::write(file_path, "{}\n").unwrap();
        let messages: Vec<_> = copy.validate().errors.into_iter().map(|f| f.message).collect();
        assert_eq!(messages, [format!("unlisted file present: {path}")]);
        assert!(copy.import().is_err());
    }
    let with_unlisted_file = FixtureBundle::copy_of("small");
    std::fs::write(with_unlisted_file.path.join("README.txt"), "hello\n").unwrap();
    assert_eq!(with_unlisted_file.warnings(), ["unlisted_beside"], "no checksum and no signature covers it");
    assert!(with_unlisted_file.errors().is_empty());
}

/// Like the reference SDK, rejects an empty folder, although neither checksums nor a signature cover folders.
#[test]
fn l0_folders_with_records_have_no_empty_folders() {
    for path in ["items/deep", "items/deep/deeper", "audit/x", "embeddings/x", "manifest.sig"] {
        let copy = FixtureBundle::copy_of("small");
        std::fs::create_dir_all(copy.path.join(path)).unwrap();
        let messages: Vec<_> = copy.validate().errors.into_iter().map(|f| f.message).collect();
        assert_eq!(messages, [format!("unlisted folder present: {path}")]);
        assert!(copy.import().is_err(), "{path}");
    }
    for path in ["embeddings", "provenance", "notes/deep"] {
        let copy = FixtureBundle::copy_of("small");
        std::fs::create_dir_all(copy.path.join(path)).unwrap();
        assert_eq!(copy.errors(), Vec::<String>::new(), "{path}");
        assert!(copy.import().is_ok(), "{path}");
    }
}
