//! An element of a list document, on export.

/// An element of a list document, or the identity.
#[derive(Clone)]
pub(super) struct Row {
    /// Key of the element, which is also its placeholder in the skeleton.
    pub value: String,
    /// Id space of the element.
    pub scope: String,
    /// Runtime that the element came from.
    pub runtime: String,
    /// JSON of the element.
    pub text: String,
    /// For attachment rows: vault id of the file.
    pub file: Option<String>,
}
