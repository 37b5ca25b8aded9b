//! Finds the program at the other end of a connection. A client also states its name in the protocol, but may lie, so
//! this module asks the operating system.
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};

/// Name of this program. A client starts it, so the client is an ancestor of its process.
#[cfg(target_os = "linux")]
const OWN_PROGRAM: &str = "mementory";
/// Programs through which a client may have started this program.
#[cfg(target_os = "linux")]
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "fish", "busybox", "env", "timeout"];
/// Beginnings of the names of interpreters. For an interpreter, the script is reported too, because the person is more
/// likely to recognise the script.
#[cfg(target_os = "linux")]
const INTERPRETERS: [&str; 5] = ["node", "bun", "deno", "python", "electron"];
/// Largest number of processes to examine: the process at the other end and its ancestors.
#[cfg(target_os = "linux")]
const MAX_EXAMINED_PROCESSES: usize = 6;

/// A program that asks for records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Path of the executable.
    pub path: String,
    /// Path of the script that the program runs. None unless the program is an interpreter.
    pub script: Option<String>,
}

/// The client's program. `pid` is the process at the other end of the socket. This process usually runs `mementory`, so
/// its ancestors are searched for the program that started it. None if no such program is found, for example because a
/// process has already ended.
#[cfg(target_os = "linux")]
pub(crate) fn program_of(pid: u32) -> Option<Program> {
    let mut pid = pid;
    for _ in 0..MAX_EXAMINED_PROCESSES {
        // `program_path` returns the path from which a program was started, even if an upgrade has replaced the program
        // while it runs.
        let exe = mementory_api::program_path(&std::fs::read_link(format!("/proc/{pid}/exe")).ok()?);
        let name = exe.file_name()?.to_string_lossy().into_owned();
        if name != OWN_PROGRAM && !SHELLS.contains(&name.as_str()) {
            return Some(Program { script: script_of(pid, &name), path: exe.display().to_string() });
        }
        pid = parent_of(pid).filter(|&parent| parent > 1)?;
    }
    None
}

/// Reads the parent's process id from `/proc/<pid>/stat`. Only the fields after the process name are read, because the
/// name can contain any characters.
#[cfg(target_os = "linux")]
fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// The script that an interpreter runs. Arguments after it are not read, because they may be secret.
#[cfg(target_os = "linux")]
fn script_of(pid: u32, name: &str) -> Option<String> {
    if !INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter)) {
        return None;
    }
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut arguments = line.split(|&byte| byte == 0).skip(1);
    let first = String::from_utf8(arguments.find(|argument| !argument.starts_with(b"-"))?.to_vec()).ok()?;
    // A relative path is relative to the working folder of the process.
    let folder = || std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
    let path: PathBuf = if Path::new(&first).is_absolute() { first.into() } else { folder().join(first) };
    path.is_file().then(|| path.display().to_string())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn this_process_is_named_by_its_own_path() {
        assert_eq!(program_of(std::process::id()).unwrap(), Program { path: own_path(), script: None });
    }

    #[test]
    fn shells_and_our_own_program_are_skipped() {
        assert_eq!(client_of_relay(|_| {}), Some(own_path()));
    }

    #[test]
    fn our_own_program_is_skipped_even_after_an_upgrade_replaced_it() {
        assert_eq!(client_of_relay(|relay| std::fs::remove_file(relay).unwrap()), Some(own_path()));
    }

    fn own_path() -> String {
        std::env::current_exe().unwrap().display().to_string()
    }

    /// The path of the program that started a copy of `mementory`. `change` is called while the copy runs.
    fn client_of_relay(change: impl FnOnce(&Path)) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let relay = folder.path().join(OWN_PROGRAM);
        // A copy of a shell under the name `mementory`, which waits for input as `mementory` does. `cp` makes the copy:
        // a file written by this process could be inherited, still open for writing, by a child of another test, and
        // could then not be executed.
        let copied = std::process::Command::new("cp").arg("/bin/sh").arg(&relay).status().unwrap();
        assert!(copied.success());
        let mut child = std::process::Command::new(&relay)
            .args(["-c", "echo ready; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0; 6];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut ready).unwrap();
        change(&relay);
        let program = program_of(child.id());
        drop(child.stdin.take());
        child.wait().unwrap();
        program.map(|program| program.path)
    }

    #[test]
    fn no_program_is_found_for_a_process_that_has_ended() {
        assert_eq!(program_of(u32::MAX), None);
    }
}
