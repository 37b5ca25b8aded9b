//! What the fuzzer found stays found: `fixtures/fuzz/<target>/` goes through the targets' own code again.
#![allow(clippy::unwrap_used, clippy::expect_used)]
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::mpsc,
    time::Duration,
};

#[path = "../../../fuzz/src/lib.rs"]
mod fuzz;

/// What takes the fuzzer ten seconds has hung; a debug build on a busy machine gets more.
const DEADLINE: Duration = Duration::from_secs(120);

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
    let formats: BTreeSet<String> = mementory_formats::registry().iter().map(|f| format!("{}.rs", f.id())).collect();
    assert_eq!(targets, formats);
}

#[test]
fn nothing_that_was_found_comes_back() {
    let folder = repo().join("fixtures/fuzz");
    let mut seen = 0;
    for target in names(&folder) {
        assert!(mementory_formats::by_id(&target).is_some(), "{target} is no format");
        for name in names(&folder.join(&target)) {
            let data = std::fs::read(folder.join(&target).join(&name)).unwrap();
            let (done, wait) = mpsc::channel();
            let format = target.clone();
            // A thread has the stack that readers have in the program.
            let worker = std::thread::spawn(move || {
                fuzz::run(&format, &data);
                let _ = done.send(());
            });
            match wait.recv_timeout(DEADLINE) {
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("{target}/{name} hangs"),
                _ => worker.join().unwrap_or_else(|_| panic!("{target}/{name} panics")),
            }
            seen += 1;
        }
    }
    assert!(seen > 0, "no cases in {}", folder.display());
}
