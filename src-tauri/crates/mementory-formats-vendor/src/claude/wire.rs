//! Places, keys and results of Claude's readers.
pub(super) use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};

#[derive(Debug, Clone, Copy)]
pub(super) struct ElementPlace<'p> {
    /// Path of the container, as in [`mementory_model::Origin`].
    pub container: &'p str,
    /// JSON pointer of the element in its container. Empty if the element is the whole file.
    pub pointer: &'p str,
    /// Layout of the export: `flat`, `batch` or `parts`.
    pub version: Option<&'p str>,
}

impl ElementPlace<'_> {
    /// Returns the origin of a value in this element. `relative_pointer` is relative to the element.
    pub fn origin(&self, relative_pointer: &str) -> mementory_model::Origin {
        mementory_model::Origin {
            format: "claude".into(),
            version: self.version.map(Into::into),
            container: self.container.into(),
            pointer: format!("{}{relative_pointer}", self.pointer),
        }
    }

    /// Returns the place of a value in this element as text for reports. `relative_pointer` is relative to the element.
    pub fn text(&self, relative_pointer: &str) -> String {
        format!("{}#{}{relative_pointer}", self.container, self.pointer)
    }
}

/// Result of reading one element.
#[derive(Debug, Default)]
pub(super) struct ReadResult {
    /// Units of records to send to the sink.
    pub units: Vec<mementory_model::Unit>,
    /// Issues to report to the user.
    pub issues: Vec<mementory_model::Issue>,
    /// Entries that could not be read.
    pub dropped: Vec<mementory_model::Dropped>,
    /// Memory documents in the results of tools. Several chats may contain the same document, of which only the newest
    /// state is sent.
    pub documents: Vec<mementory_model::Unit>,
}

/// Scope of the record keys of all records from Claude.
pub(super) const SCOPE: &str = "claude";

/// Returns a record key with Claude's scope.
pub(super) fn key(value: impl Into<String>) -> mementory_model::RecordKey {
    mementory_model::RecordKey::new(SCOPE, value)
}

/// Returns a JSON object with the members whose names are not in `read`. None if there are no such members.
pub(super) fn unread_members(object: &Object<'_>, read: &[&str]) -> Option<String> {
    let mut out = String::from("{");
    for (name, raw) in object.members().filter(|(name, _)| !read.contains(name)) {
        if out.len() > 1 {
            out.push(',');
        }
        mementory_json::write_string(name, &mut out);
        out.push(':');
        out.push_str(raw.get());
    }
    out.push('}');
    (out.len() > 2).then_some(out)
}
