//! An element of a list document that is being exported.

/// An element of a list document, or the identity document.
#[derive(Clone)]
pub(super) struct Row {
    /// Key of the element, which is also its placeholder in the skeleton of the document.
    pub value: String,
    /// Id space of the element.
    pub scope: String,
    /// Runtime to which the element belongs.
    pub runtime: String,
    /// JSON of the element.
    pub text: String,
    /// Id of the file in the vault, if the element is the row of an attachment.
    pub file: Option<String>,
}
