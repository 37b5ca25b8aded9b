use std::{fs::File, io, path::Path};

/// Creates a file that only its owner can read and write. On Windows, the file inherits the permissions of the folder.
///
/// # Errors
/// `AlreadyExists`, and other errors of the system.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
