//! Where tests find what they read.
use std::path::{Path, PathBuf};

/// Top of the repository. Asked of cargo when the test runs: a test built in another clone with the same target folder
/// would else read that clone's fixtures.
pub(crate) fn repo() -> PathBuf {
    let krate = std::env::var_os("CARGO_MANIFEST_DIR").expect("run by cargo");
    Path::new(&krate).join("../../..").canonicalize().unwrap()
}

/// A file or folder of the shared reference data, or None (said aloud) where it is absent.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let base = std::env::var_os("KEEPSAKE_SHARED").map_or_else(|| repo().join("../shared"), PathBuf::from);
    let path = base.join(name);
    if !path.exists() {
        eprintln!("SKIPPED: {name} is not in the shared reference data");
        return None;
    }
    Some(path)
}
