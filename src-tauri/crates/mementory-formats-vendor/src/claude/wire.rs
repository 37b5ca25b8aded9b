//! Places, keys and results of Claude's readers.
pub(super) use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};

#[derive(Debug, Clone, Copy)]
pub(super) struct ElementPlace<'p> {
    /// Container path, as in [`mementory_model::Origin`].
    pub container: &'p str,
    /// JSON pointer of the element in its container. Empty for the whole file.
    pub pointer: &'p str,
    /// Layout: `flat`, `batch`, `parts`.
    pub version: Option<&'p str>,
}

impl ElementPlace<'_> {
    /// Origin of the value at `relative_pointer`, a pointer relative to this element.
    pub fn origin(&self, relative_pointer: &str) -> mementory_model::Origin {
        mementory_model::Origin {
            format: "claude".into(),
            version: self.version.map(Into::into),
            container: self.container.into(),
            pointer: format!("{}{relative_pointer}", self.pointer),
        }
    }

    /// The place of the value at `relative_pointer` as text, for reports.
    pub fn text(&self, relative_pointer: &str) -> String {
        format!("{}#{}{relative_pointer}", self.container, self.pointer)
    }
}

/// Result of reading one element.
#[derive(Debug, Default)]
pub(super) struct ReadResult {
    /// Units of records.
    pub units: Vec<mementory_model::Unit>,
    /// Issues to report.
    pub issues: Vec<mementory_model::Issue>,
    /// Entries that are not imported.
    pub dropped: Vec<mementory_model::Dropped>,
    /// Memory documents in the results of tools. The same document can occur in many chats.
    pub documents: Vec<mementory_model::Unit>,
}

/// Scope of the keys of all records from Claude.
pub(super) const SCOPE: &str = "claude";

/// A key with Claude's scope.
pub(super) fn key(value: impl Into<String>) -> mementory_model::RecordKey {
    mementory_model::RecordKey::new(SCOPE, value)
}

/// The members of an object whose names are not in `read`, as a JSON object. None if there are no such members.
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
