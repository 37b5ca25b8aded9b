//! Creates a file that did not exist before.
use std::{
    fs::{File, OpenOptions},
    path::Path,
};

/// Creates a file for writing. Fails if something already exists at the path. With `private`, only the file's owner can
/// read it (on Unix).
///
/// # Errors
/// I/O.
pub fn new_file(path: &Path, private: bool) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, if private { 0o600 } else { 0o644 });
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}
