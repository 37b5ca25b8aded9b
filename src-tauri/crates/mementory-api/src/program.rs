//! Finds the paths of running programs.
use std::path::{Path, PathBuf};

/// Suffix that Linux appends to the path of a running program whose file was removed or replaced, for example by an
/// upgrade.
#[cfg(target_os = "linux")]
const DELETED_MARK: &[u8] = b" (deleted)";

/// The path of this program, even if an upgrade has replaced its file since the program was started.
///
/// # Errors
/// The system does not report the path.
pub fn current_program() -> std::io::Result<PathBuf> {
    std::env::current_exe().map(|path| program_path(&path))
}

/// Returns the path from which a program was started. `reported` is the path that the system reports for the running
/// program.
#[cfg(target_os = "linux")]
pub fn program_path(reported: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    let bytes = reported.as_os_str().as_bytes();
    match bytes.strip_suffix(DELETED_MARK) {
        // An existing file may really have a name with this ending.
        Some(original) if !reported.exists() => std::ffi::OsStr::from_bytes(original).into(),
        _ => reported.to_owned(),
    }
}

/// Returns the path from which a program was started. `reported` is the path that the system reports for the running
/// program.
#[cfg(not(target_os = "linux"))]
pub fn program_path(reported: &Path) -> PathBuf {
    reported.to_owned()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_program_that_was_replaced_while_it_runs_keeps_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let named_so = folder.path().join("tool (deleted)");
        std::fs::write(&named_so, "").unwrap();
        assert_eq!(program_path(&named_so), named_so);
        std::fs::remove_file(&named_so).unwrap();
        assert_eq!(program_path(&named_so), folder.path().join("tool"));
        assert_eq!(program_path(Path::new("/opt/mementory")), Path::new("/opt/mementory"));
    }
}
