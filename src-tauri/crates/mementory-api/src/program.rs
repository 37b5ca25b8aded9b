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

/// Asks the system to write no core dump if this program crashes, because a dump contains what is in its memory.
/// Programs that it starts inherit that, unless they change it. A failure is ignored: nothing can be done about it.
#[cfg(unix)]
pub fn disable_core_dumps() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Core).maximum;
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
}

/// Does nothing, because other systems write no core dumps by a limit of the process.
#[cfg(not(unix))]
pub fn disable_core_dumps() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_crash_leaves_no_core_dump() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        // Where dumps are forbidden already, the test checks only that they stay so.
        setrlimit(Resource::Core, Rlimit { current: maximum, maximum }).unwrap();
        disable_core_dumps();
        let child_limits = std::process::Command::new("cat").arg("/proc/self/limits").output().unwrap().stdout;
        let own_limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        for text in [own_limits, String::from_utf8(child_limits).unwrap()] {
            let line = text.lines().find(|line| line.starts_with("Max core file size")).unwrap();
            assert_eq!(line.split_whitespace().nth(4), Some("0"), "{line}");
        }
    }

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
