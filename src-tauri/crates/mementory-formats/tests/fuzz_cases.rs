//! Regression test: runs each input that the fuzzer found (`fixtures/fuzz/<target>/`) through its fuzz target.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

/// Time limit for one input. The fuzzer stops after ten seconds, but a debug build on a busy machine gets more time.
const MAX_DURATION: Duration = Duration::from_secs(120);

/// Targets that are no formats: archives, and files of the vault.
const OTHER_TARGETS: [&str; 3] = ["container", "header", "index"];

fn repo() -> PathBuf {
    Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../..").canonicalize().unwrap()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    entries.filter(|name| !name.starts_with('.') && name != "README.md").collect()
}

#[test]
fn every_format_has_a_target() {
    let targets = names(&repo().join("src-tauri/fuzz/fuzz_targets"));
    let formats = mementory_formats::registry().iter().map(|f| f.id());
    let expected: BTreeSet<String> = formats.chain(OTHER_TARGETS).map(|target| format!("{target}.rs")).collect();
    assert_eq!(targets, expected);
}

#[test]
fn no_known_fuzz_input_hangs_or_panics() {
    let folder = repo().join("fixtures/fuzz");
    let mut case_count = 0;
    for target in names(&folder) {
        assert!(
            mementory_formats::by_id(&target).is_some(),
            "{target} is no format: make what was found a test of its crate"
        );
        for name in names(&folder.join(&target)) {
            let data = std::fs::read(folder.join(&target).join(&name)).unwrap();
            let (done, wait) = mpsc::channel();
            let format = target.clone();
            // This thread has the same stack size as the program's threads that run readers.
            let worker = std::thread::spawn(move || {
                fuzz::run(&format, &data);
                let _ = done.send(());
            });
            match wait.recv_timeout(MAX_DURATION) {
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("{target}/{name} hangs"),
                _ => worker.join().unwrap_or_else(|_| panic!("{target}/{name} panics")),
            }
            case_count += 1;
        }
    }
    assert!(case_count > 0, "no cases in {}", folder.display());
}
