//! Plans changes of a client's configuration, and applies them.
use crate::{
    client::{Client, Syntax},
    diff,
    error::Error,
    file::ConfigFile,
    json_edit,
    places::Places,
    server::{Entry, Server, check_name},
    text::{TextError, line_and_column, split_bom},
    toml_edits,
};
use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The kind of change that a plan makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Adds or updates Mementory's entry.
    Connect,
    /// Removes Mementory's entry.
    Disconnect,
}

/// A change that has been planned but not made yet.
#[derive(Clone)]
pub struct Plan {
    client: Client,
    action: Action,
    file: ConfigFile,
    after: Option<String>,
}

/// The result of a plan that was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// True if the file was written or removed.
    pub changed: bool,
    /// The backup of the previous file, readable only by the person. `None` if nothing changed or there was no file.
    pub backup: Option<PathBuf>,
}

impl Plan {
    /// The client whose configuration is changed.
    pub fn client(&self) -> Client {
        self.client
    }

    /// The change that [`Self::apply`] makes.
    pub fn action(&self) -> Action {
        self.action
    }

    /// The configuration, where the client looks for it.
    pub fn config_path(&self) -> &Path {
        &self.file.path
    }

    /// The file that is written. It differs from `config_path` if that is a symbolic link.
    pub fn target(&self) -> &Path {
        &self.file.real
    }

    /// Whether there is anything to change.
    pub fn changes(&self) -> bool {
        self.file.text != self.after
    }

    /// The exact change as a unified diff; empty if there is none. It contains the values of the server's variables,
    /// such as a token, and the surrounding lines. If the file has lines longer than 2,000 bytes, the diff contains
    /// only the changed part.
    pub fn change(&self) -> String {
        diff::unified_diff(&self.file.path, self.file.text.as_deref(), self.after.as_deref())
    }

    /// Makes the change. `now` is used in the name of the backup copy.
    ///
    /// # Errors
    /// [`Error::Changed`] if the file has changed since the plan was made; another error if the system refuses the
    /// change. After an error, the file is unchanged.
    pub fn apply(&self, now: SystemTime) -> Result<Applied, Error> {
        if !self.changes() {
            return Ok(Applied { changed: false, backup: None });
        }
        let backup = self.file.replace(self.after.as_deref(), now)?;
        Ok(Applied { changed: true, backup })
    }
}

/// Plans to add a server to a client's configuration. Reads the file and changes nothing.
///
/// # Errors
/// See [`Error`]; for example a file with a syntax error, or a server of this name that is not Mementory's.
pub fn plan_connect(client: Client, places: &Places, server: &Server) -> Result<Plan, Error> {
    server.check(client)?;
    let file = ConfigFile::read(&places.config_path(client))?;
    let text = file.text.as_deref().unwrap_or_default();
    let (bom, body) = split_bom(text);
    let add_location = |error| with_location(error, &file.path, body, &server.name);
    let new_body = connect(client, body, server, file.text.is_none()).map_err(add_location)?;
    check_connected(client, body, &new_body, server).map_err(add_location)?;
    let after = Some(format!("{bom}{new_body}"));
    Ok(Plan { client, action: Action::Connect, file, after })
}

/// Plans to remove the server of this name. Reads the file and changes nothing.
///
/// # Errors
/// See [`Error`]; for example a file with a syntax error, or a server of this name that is not Mementory's.
pub fn plan_disconnect(client: Client, places: &Places, name: &str) -> Result<Plan, Error> {
    check_name(name)?;
    let file = ConfigFile::read(&places.config_path(client))?;
    let after = match file.text.as_deref().map(split_bom) {
        None => None,
        Some((bom, body)) => {
            let add_location = |error| with_location(error, &file.path, body, name);
            match disconnect(client, body, name).map_err(add_location)? {
                None => file.text.clone(),
                Some((_, true)) => None,
                Some((new, false)) => Some(format!("{bom}{new}")),
            }
        }
    };
    Ok(Plan { client, action: Action::Disconnect, file, after })
}

/// The value of a variable, such as the token, in Mementory's entry of this name. `None` if there is no such entry or
/// variable.
///
/// # Errors
/// The errors of [`plan_disconnect`].
pub fn connected_variable(
    client: Client,
    places: &Places,
    name: &str,
    variable: &str,
) -> Result<Option<String>, Error> {
    check_name(name)?;
    let entry = find(client, &ConfigFile::read(&places.config_path(client))?, name)?;
    Ok(entry.filter(|entry| entry.added().is_some()).and_then(|mut entry| entry.env.remove(variable)))
}

/// The entry of this name in a client's configuration, if there is one.
pub(crate) fn find(client: Client, file: &ConfigFile, name: &str) -> Result<Option<Entry>, Error> {
    let (_, body) = split_bom(file.text.as_deref().unwrap_or_default());
    let entry = match client.syntax() {
        Syntax::Json(shape) => json_edit::find(body, shape, name),
        Syntax::Toml => toml_edits::find(body, name),
    };
    entry.map_err(|error| with_location(error, &file.path, body, name))
}

fn connect(client: Client, text: &str, server: &Server, new_file: bool) -> Result<String, TextError> {
    match client.syntax() {
        Syntax::Json(shape) => json_edit::connect(text, shape, server, new_file),
        Syntax::Toml => toml_edits::connect(text, server, new_file),
    }
}

fn disconnect(client: Client, text: &str, name: &str) -> Result<Option<(String, bool)>, TextError> {
    match client.syntax() {
        Syntax::Json(shape) => json_edit::disconnect(text, shape, name),
        Syntax::Toml => toml_edits::disconnect(text, name),
    }
}

/// Refuses a new text that does not contain the entry, or from which `disconnect` would not restore the original text.
/// Both would be bugs in the editing code, from which this check protects the configuration.
fn check_connected(client: Client, before: &str, after: &str, server: &Server) -> Result<(), TextError> {
    let entry = match client.syntax() {
        Syntax::Json(shape) => json_edit::find(after, shape, &server.name),
        Syntax::Toml => toml_edits::find(after, &server.name),
    };
    if !entry.is_ok_and(|entry| entry.is_some_and(|entry| entry.starts(server))) {
        return Err(TextError::Layout(0, "the server cannot be added to this file".into()));
    }
    let restored = disconnect(client, after, &server.name).ok().flatten();
    let without_entry = disconnect(client, before, &server.name).ok().flatten().map(|(text, _)| text);
    let is_restored = restored.is_some_and(|(text, _)| text == without_entry.as_deref().unwrap_or(before));
    if !is_restored {
        return Err(TextError::Layout(0, "the change could not be taken back exactly".into()));
    }
    Ok(())
}

fn with_location(error: TextError, path: &Path, text: &str, name: &str) -> Error {
    let path = path.to_owned();
    match error {
        TextError::NotOurs => Error::NotOurs { path, name: name.to_owned() },
        TextError::Syntax(offset, reason) => {
            let (line, column) = line_and_column(text, offset);
            Error::Syntax { path, line, column, reason }
        }
        TextError::Layout(offset, reason) => {
            let (line, column) = line_and_column(text, offset);
            Error::Layout { path, line, column, reason }
        }
    }
}
