//! Where the weights of the sentence encoder are. They come with the package; nothing is downloaded.
use mementory_vault::WEIGHTS_FILE;
use std::path::PathBuf;

/// Folders that packages put the weights in, relative to the program's own folder: on Linux, macOS and Windows.
const BESIDE_PROGRAM: [&str; 3] = ["../share/mementory/weights", "../Resources/weights", "weights"];

/// The folder with the weights: the one that `MEMENTORY_WEIGHTS_DIR` names, otherwise the package's. None if the
/// variable is not set and the package has no such folder.
pub fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MEMENTORY_WEIGHTS_DIR").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let beside = program.parent()?;
    BESIDE_PROGRAM.iter().map(|folder| beside.join(folder)).find(|folder| folder.join(WEIGHTS_FILE).is_file())
}
