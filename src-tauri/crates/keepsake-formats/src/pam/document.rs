//! One JSON document of the format, its top level opened: members as raw text, arrays as lists of raw text.
use crate::{Catalog, FormatError, Member};
use keepsake_model::{
    Limits,
    json::{Members, Tree},
};
use serde_json::value::RawValue;

/// The text of a document. Bounded; a byte order mark is passed over.
pub(super) fn text(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<String, FormatError> {
    let bytes = catalog.bytes(member, limits.element_bytes)?;
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes).map_err(|_| FormatError::invalid("malformed", &member.place, "not UTF-8"))
}

/// A document of which only the top level was looked into.
pub(super) struct Document<'t> {
    /// Members in their order.
    pub members: Vec<(String, &'t RawValue)>,
}

impl<'t> Document<'t> {
    /// Opens a text.
    pub fn open(text: &'t str, place: &str) -> Result<Self, FormatError> {
        let members: Members = serde_json::from_str(text).map_err(|e| {
            let what = if e.is_eof() { "the file ends early" } else { "not valid JSON" };
            let message = format!("{what} (line {}, column {})", e.line(), e.column());
            FormatError::invalid("malformed", place, message)
        })?;
        Ok(Self { members: members.0 })
    }

    /// A member's text; of duplicate keys the last one.
    pub fn raw(&self, key: &str) -> Option<&'t RawValue> {
        self.members.iter().rev().find(|(k, _)| k == key).map(|(_, v)| *v)
    }

    /// A member that is a text.
    pub fn word(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// The elements of a member that is a list; empty when it is none.
    pub fn list(&self, key: &str) -> Vec<&'t RawValue> {
        self.raw(key).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The document with its lists of records emptied, for looking at the rest.
    pub fn outline(&self, lists: &[&str], depth: u32) -> Tree {
        let member = |(key, raw): &(String, &'t RawValue)| {
            let is_list = raw.get().starts_with('[');
            let value = match lists.contains(&key.as_str()) && is_list {
                true => Tree::Array(vec![]),
                false => Tree::of(raw, depth).unwrap_or(Tree::Null),
            };
            (key.clone(), value)
        };
        Tree::Object(self.members.iter().map(member).collect())
    }
}
