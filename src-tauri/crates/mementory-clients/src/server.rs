//! The server to add, and the mark that records what was added with it.
use crate::{client::Client, error::Error};
use std::collections::BTreeMap;

/// The environment variable that marks an entry as Mementory's. Its value lists the parts that were added together with
/// the entry, so that exactly these parts can be removed again, even after the client has rewritten the file.
pub const ADDED_VARIABLE: &str = "MEMENTORY_ADDED";

/// An MCP server that a client starts and talks to over standard input and output.
#[derive(Clone, PartialEq, Eq)]
pub struct Server {
    /// The name in the client's list: 1 to 64 letters, digits, `-` and `_` (ASCII).
    pub name: String,
    /// The program: an absolute path, because clients do not start it through a shell.
    pub command: String,
    /// Arguments for the program, in order.
    pub args: Vec<String>,
    /// Environment variables for the program. One of them may be a token.
    pub env: BTreeMap<String, String>,
}

/// Shows the variables without their values, because these are secrets.
impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys())
            .finish()
    }
}

/// Checks a server's name.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_allowed) {
        return Err(Error::InvalidServer("The name of a server has 1 to 64 letters, digits, - and _.".into()));
    }
    Ok(())
}

impl Server {
    /// Checks that the client would start the server with exactly these values.
    pub(crate) fn check(&self, client: Client) -> Result<(), Error> {
        check_name(&self.name)?;
        let invalid = |text: String| Err(Error::InvalidServer(text));
        if self.command.is_empty() {
            return invalid("The command is empty.".into());
        }
        for name in self.env.keys() {
            let mut chars = name.chars();
            let has_valid_start = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
            if !has_valid_start || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return invalid("The name of a variable has letters, digits and _, and begins with no digit.".into());
            }
            if name == ADDED_VARIABLE {
                return invalid(format!("{ADDED_VARIABLE} is set by Mementory itself."));
            }
        }
        for value in [&self.command].into_iter().chain(&self.args).chain(self.env.values()) {
            if value.chars().any(char::is_control) {
                return invalid("A command, argument or variable has a control character.".into());
            }
            if client.expands(value) {
                return invalid(format!("{} would replace what follows a $ by a variable.", client.title()));
            }
        }
        Ok(())
    }

    /// The environment variables, including the one that marks the entry as Mementory's.
    pub(crate) fn marked_env(&self, added: AddedParts) -> BTreeMap<String, String> {
        let mut env = self.env.clone();
        env.insert(ADDED_VARIABLE.into(), added.to_text());
        env
    }
}

/// The parts of a configuration that were added together with an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AddedParts {
    /// The file itself.
    pub file: bool,
    /// The root object, in an empty file.
    pub root: bool,
    /// The member that contains the servers.
    pub section: bool,
    /// A line break: before the closing brace of an object that was `{}`, or at the end of a text that had no final
    /// line break.
    pub line: bool,
    /// An empty line before the entry.
    pub gap: bool,
}

impl AddedParts {
    fn flags_by_name(&mut self) -> [(&'static str, &mut bool); 5] {
        [
            ("file", &mut self.file),
            ("root", &mut self.root),
            ("section", &mut self.section),
            ("line", &mut self.line),
            ("gap", &mut self.gap),
        ]
    }

    /// The value of [`ADDED_VARIABLE`]: `entry`, then a word for each of the other added parts, joined by `+`.
    pub fn to_text(mut self) -> String {
        let further_words = self.flags_by_name().into_iter().filter(|(_, on)| **on).map(|(word, _)| word);
        ["entry"].into_iter().chain(further_words).collect::<Vec<_>>().join("+")
    }

    /// Reads what `to_text` wrote. Ignores unknown words, which another version may have written.
    pub fn parse(text: &str) -> Self {
        let mut added = Self::default();
        for (word, on) in added.flags_by_name() {
            *on = text.split('+').any(|each| each == word);
        }
        added
    }
}

/// An entry as read from a configuration. Values other than strings are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub command: Option<String>,
    pub args: Option<Vec<String>>,
    pub env: BTreeMap<String, String>,
}

impl Entry {
    /// The parts that were added to the configuration together with the entry; `None` if the entry is not Mementory's.
    pub fn added(&self) -> Option<AddedParts> {
        self.env.get(ADDED_VARIABLE).map(|text| AddedParts::parse(text))
    }

    /// Whether the entry starts the server with this command, these arguments and these variables. Additional variables
    /// are allowed, because the person may have added them.
    pub fn starts(&self, server: &Server) -> bool {
        self.command.as_deref() == Some(&server.command)
            && self.args.as_deref().unwrap_or_default() == server.args
            && server.env.iter().all(|(name, value)| self.env.get(name) == Some(value))
    }
}
