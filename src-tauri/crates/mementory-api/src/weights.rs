//! Finds the weights of the sentence encoder. The weights are part of the package, and nothing is downloaded.
use mementory_vault::WEIGHTS_FILE;
use std::path::{Path, PathBuf};

/// Folders in which packages install the weights, relative to the program's folder: on Linux, macOS and Windows, in
/// this order.
const BESIDE_PROGRAM: [&str; 3] = ["../share/mementory/weights", "../Resources/weights", "weights"];

/// The folder with the weights: the folder that `MEMENTORY_WEIGHTS_DIR` names, or else that of the package. None if the
/// variable is not set and the package has no weights.
pub fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MEMENTORY_WEIGHTS_DIR").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    folder_of_package(&crate::current_program().ok()?)
}

/// The folder with the weights in the package of the program at `program`.
fn folder_of_package(program: &Path) -> Option<PathBuf> {
    // During an upgrade the program's file may be missing for a moment, while its folder still exists.
    let real = program.canonicalize().ok();
    let beside = real.as_deref().unwrap_or(program).parent()?;
    BESIDE_PROGRAM.iter().map(|folder| beside.join(folder)).find(|folder| folder.join(WEIGHTS_FILE).is_file())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_weights_are_found_even_while_the_program_is_being_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (programs, weights) = (folder.path().join("bin"), folder.path().join("share/mementory/weights"));
        std::fs::create_dir(&programs).unwrap();
        let program = programs.join("mementory-app");
        assert_eq!(folder_of_package(&program), None);
        std::fs::create_dir_all(&weights).unwrap();
        std::fs::write(weights.join(WEIGHTS_FILE), "").unwrap();
        let is_found =
            || folder_of_package(&program).unwrap().canonicalize().unwrap() == weights.canonicalize().unwrap();
        assert!(is_found());
        std::fs::write(&program, "").unwrap();
        assert!(is_found());
    }
}
