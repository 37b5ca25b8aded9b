//! Writes an entry as JSON, with the file's indentation and line breaks.
use crate::server::{AddedParts, Server};
use std::collections::BTreeMap;

/// How new text is laid out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style<'a> {
    /// One level of indentation.
    pub indent_unit: &'a str,
    pub line_break: &'a str,
    /// False if everything is on one line, as in a file without line breaks.
    pub multi_line: bool,
}

impl Style<'_> {
    /// Writes an object whose members are already JSON. The object begins on a line that is indented by `indent`.
    pub fn object(&self, indent: &str, members: &[(&str, String)]) -> String {
        let name = |name: &str| string(name);
        if members.is_empty() {
            return "{}".into();
        }
        if !self.multi_line {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("{}: {value}", name(key))).collect();
            return format!("{{{}}}", members.join(", "));
        }
        let Style { indent_unit, line_break, .. } = self;
        let members: Vec<_> = members
            .iter()
            .map(|(key, value)| format!("{line_break}{indent}{indent_unit}{}: {value}", name(key)))
            .collect();
        format!("{{{}{line_break}{indent}}}", members.join(","))
    }

    /// Writes a server's entry. The entry begins on a line that is indented by `indent`.
    pub fn entry(&self, server: &Server, added: AddedParts, with_type: bool, indent: &str) -> String {
        let mut members = Vec::new();
        if with_type {
            members.push(("type", string("stdio")));
        }
        members.push(("command", string(&server.command)));
        members.push(("args", list(&server.args)));
        members.push(("env", self.variables(&server.marked_env(added), &format!("{indent}{}", self.indent_unit))));
        self.object(indent, &members)
    }

    /// Environment variables as an object.
    pub fn variables(&self, env: &BTreeMap<String, String>, indent: &str) -> String {
        let members: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), string(value))).collect();
        self.object(indent, &members)
    }
}

/// A JSON string.
pub(crate) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A list of strings on one line.
pub(crate) fn list(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| string(text)).collect();
    format!("[{}]", texts.join(", "))
}
