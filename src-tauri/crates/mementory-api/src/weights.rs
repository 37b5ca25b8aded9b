//! Where to find the weights of the sentence encoder. They come with the package; nothing is downloaded.
use mementory_vault::WEIGHTS_FILE;
use std::path::PathBuf;

/// Folders in which packages put the weights, relative to the program's folder: on Linux, macOS and Windows.
const BESIDE_PROGRAM: [&str; 3] = ["../share/mementory/weights", "../Resources/weights", "weights"];

/// The folder with the weights: the one that `MEMENTORY_WEIGHTS_DIR` names, otherwise the package's. None if there is
/// neither.
pub fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("MEMENTORY_WEIGHTS_DIR").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let beside = program.parent()?;
    BESIDE_PROGRAM.iter().map(|folder| beside.join(folder)).find(|folder| folder.join(WEIGHTS_FILE).is_file())
}
