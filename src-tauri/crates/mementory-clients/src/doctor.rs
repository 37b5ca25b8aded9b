//! Reports which clients are connected, and what is wrong with their configurations.
use crate::{
    client::Client,
    error::Error,
    file::ConfigFile,
    places::Places,
    plan::find,
    server::{Entry, Server},
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// How a client was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// `program` (on the `PATH`), `application` (macOS) or `own_files` (files that the client creates when it is
    /// started).
    pub by: &'static str,
    /// Path of the program, application or file that was found.
    pub path: PathBuf,
}

/// A reason why a client cannot use the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// A stable code in lower snake case: a code of [`Error`], or `not_ours`, `outdated`, `command_missing`,
    /// `command_not_executable`, `readable_by_others` or `client_not_found`.
    pub code: &'static str,
    /// What is wrong and what to do, for people to read.
    pub message: String,
}

/// The state of one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ClientReport {
    /// The client's id.
    pub client: &'static str,
    /// Name of the client.
    pub title: &'static str,
    /// How the client was found; `None` if it was not found.
    pub installed: Option<Found>,
    /// The client's configuration file, which need not exist.
    pub config_path: PathBuf,
    /// Whether the configuration has a server with the expected name.
    pub configured: bool,
    /// Whether Mementory added that server.
    pub ours: bool,
    /// Whether the entry starts the expected server.
    pub current: bool,
    /// What is wrong, the most serious problem first.
    pub problems: Vec<Problem>,
}

/// The state of every client. `expected` is the server that `connect` would add. Of its variables, only the names are
/// compared, because the token cannot be read again after connecting.
pub fn doctor(places: &Places, expected: impl Fn(Client) -> Server) -> Vec<ClientReport> {
    Client::ALL.into_iter().map(|client| check_client(client, places, &expected(client))).collect()
}

/// Reports on one client, like [`doctor`].
pub fn check_client(client: Client, places: &Places, expected: &Server) -> ClientReport {
    let config_path = places.config_path(client);
    let mut report = ClientReport {
        client: client.id(),
        title: client.title(),
        installed: installed(client, places),
        config_path: config_path.clone(),
        configured: false,
        ours: false,
        current: false,
        problems: Vec::new(),
    };
    let read = ConfigFile::read(&config_path).and_then(|file| Ok((find(client, &file, &expected.name)?, file)));
    let (entry, file) = match read {
        Ok((Some(entry), file)) => (entry, file),
        Ok((None, _)) => return report,
        Err(error) => {
            report.problems.push(Problem { code: error.code(), message: error.to_string() });
            return report;
        }
    };
    report.configured = true;
    report.ours = entry.added().is_some();
    report.current = report.ours && starts_expected_server(&entry, expected);
    if !report.ours {
        let error = Error::NotOurs { path: config_path, name: expected.name.clone() };
        report.problems.push(Problem { code: error.code(), message: error.to_string() });
        return report;
    }
    report.problems.extend(command_problem(entry.command.as_deref().unwrap_or_default()));
    if !report.current {
        let message = format!("The entry in {} starts a different program. Connect again.", client.title());
        report.problems.push(Problem { code: "outdated", message });
    }
    if readable_by_others(&file.real) {
        let message = format!(
            "Other accounts of this computer can read {}, which has the token in it. Change its permissions.",
            file.real.display()
        );
        report.problems.push(Problem { code: "readable_by_others", message });
    }
    if report.installed.is_none() {
        let message = format!("{} is connected, but was not found on this computer.", client.title());
        report.problems.push(Problem { code: "client_not_found", message });
    }
    report
}

fn installed(client: Client, places: &Places) -> Option<Found> {
    let program = places.program(client).map(|path| Found { by: "program", path });
    let application = || places.application(client).map(|path| Found { by: "application", path });
    let own_files =
        || places.own_files(client).into_iter().find(|path| path.exists()).map(|path| Found { by: "own_files", path });
    program.or_else(application).or_else(own_files)
}

fn starts_expected_server(entry: &Entry, expected: &Server) -> bool {
    let without_env = Server { env: Default::default(), ..expected.clone() };
    entry.starts(&without_env) && expected.env.keys().all(|name| entry.env.contains_key(name))
}

fn command_problem(command: &str) -> Option<Problem> {
    let path = Path::new(command);
    if !path.is_file() {
        let message = format!("{command}, which the entry starts, does not exist. Connect again.");
        return Some(Problem { code: "command_missing", message });
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let is_executable = path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o111 != 0);
        if !is_executable {
            let message = format!("{command}, which the entry starts, is not executable. Install Mementory again.");
            return Some(Problem { code: "command_not_executable", message });
        }
    }
    None
}

#[cfg(unix)]
fn readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|metadata| metadata.permissions().mode() & 0o044 != 0)
}

/// Always false on Windows, where other users cannot read a person's folders.
#[cfg(not(unix))]
fn readable_by_others(_: &Path) -> bool {
    false
}
