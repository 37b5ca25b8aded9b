//! Finds the weights for tests.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]
use std::{io::Write as _, path::PathBuf};

/// The folder with the weights. If `MEMENTORY_WEIGHTS_DIR` is not set, reports the test as skipped, both on standard
/// error and to `npm test` (tests/tools/layers.mjs), and returns `None`.
pub fn weights() -> Option<PathBuf> {
    let folder = std::env::var_os("MEMENTORY_WEIGHTS_DIR").map(PathBuf::from);
    if folder.is_none() {
        let reason = "MEMENTORY_WEIGHTS_DIR is not set";
        eprintln!("SKIPPED: {reason}");
        if let Some(list) = std::env::var_os("MEMENTORY_SKIPPED") {
            let mut list = std::fs::OpenOptions::new().append(true).create(true).open(list).unwrap();
            writeln!(list, "{}\t{reason}", std::thread::current().name().unwrap_or("a test")).unwrap();
        }
    }
    folder
}
