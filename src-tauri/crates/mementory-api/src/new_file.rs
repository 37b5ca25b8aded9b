//! Creates files that must not exist yet.
use crate::{ApiError, ApiResult};
use std::{
    fs::{File, OpenOptions},
    path::Path,
};

/// Creates a file for writing. Fails if something already exists at the path. With `private`, only the file's owner can
/// read the file (on Unix).
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

/// Creates an output file of a use case. Only the file's owner can read the file (on Unix).
///
/// # Errors
/// `exists` if something exists at the path; `io`.
pub(crate) fn new_output(path: &Path) -> ApiResult<File> {
    let place = path.display();
    new_file(path, true).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => ApiError::exists(&place),
        _ => ApiError::io(format!("{place} could not be written: {error}.")),
    })
}
