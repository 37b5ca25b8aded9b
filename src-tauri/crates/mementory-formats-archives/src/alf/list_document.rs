//! List documents (`principals.json`, `credentials.json`, `attachments.json`). Each element becomes a record. The text
//! around the elements, called the skeleton, becomes a passthrough file that has a key in place of each element. As a
//! result, each element is stored only once, in its record, and can be erased there. An unedited document is exported
//! byte for byte.
use super::wire;
use mementory_json::{Tree, write_string};
use serde_json::value::RawValue;

/// A list document, split into its elements.
pub(super) struct ListDocument<'a> {
    /// Exact text of each element of the list.
    pub elements: Vec<&'a str>,
    text: &'a str,
    spans: Vec<(usize, usize)>,
}

/// Splits a document of the form `{"<list>": […]}`. None if the text does not have this form.
pub(super) fn split<'a>(text: &'a str, list: &str) -> Option<ListDocument<'a>> {
    let raw = wire::get(&wire::members(text)?, list)?;
    let items: Vec<&'a RawValue> = serde_json::from_str(raw.get()).ok()?;
    let base = text.as_ptr() as usize;
    let spans = items
        .iter()
        .map(|item| {
            // The raw values are slices of `text`, so the distance between two pointers is the offset of the element.
            let start = (item.get().as_ptr() as usize).checked_sub(base)?;
            let end = start + item.get().len();
            (text.get(start..end) == Some(item.get())).then_some((start, end))
        })
        .collect::<Option<Vec<_>>>()?;
    Some(ListDocument { elements: items.into_iter().map(RawValue::get).collect(), text, spans })
}

/// True if `text` is a document of this layer: an object for the identity, a list document for any other layer. `tree`
/// is the parsed text.
pub(super) fn is_document_of(layer: &str, text: &str, tree: &Tree) -> bool {
    match layer {
        "identity" => matches!(tree, Tree::Object(_)),
        _ => split(text, layer).is_some(),
    }
}

impl ListDocument<'_> {
    /// The document with each element replaced with its key as a string.
    pub(super) fn skeleton(&self, slots: &[String]) -> String {
        let slot = |i: usize| {
            let mut out = String::new();
            write_string(slots.get(i).map_or("", String::as_str), &mut out);
            out
        };
        self.with_elements(|i| Some(slot(i)), &[])
    }

    /// The document with each element replaced by the result of `replacement_of` for its index, or removed if this is
    /// None. The `added` elements are appended.
    pub(super) fn with_elements(&self, replacement_of: impl Fn(usize) -> Option<String>, added: &[String]) -> String {
        let replacements: Vec<Option<String>> = (0..self.spans.len()).map(replacement_of).collect();
        if added.is_empty() && replacements.iter().all(Option::is_some) {
            let mut out = String::with_capacity(self.text.len());
            let mut at = 0;
            for ((start, end), element) in self.spans.iter().zip(replacements.iter().flatten()) {
                out.push_str(&self.text[at..*start]);
                out.push_str(element);
                at = *end;
            }
            out.push_str(&self.text[at..]);
            return out;
        }
        // Elements were added or removed, so the list is joined again. Only the white space between elements is lost.
        let list: Vec<&str> = replacements.iter().flatten().chain(added).map(String::as_str).collect();
        let (open, close) = match (self.spans.first(), self.spans.last()) {
            (Some((start, _)), Some((_, end))) => {
                (self.text[..*start].rfind('[').map_or(0, |i| i + 1), *end + self.text[*end..].find(']').unwrap_or(0))
            }
            _ => return String::new(), // Unreachable: for an empty list, callers create a new document.
        };
        format!("{}{}{}", &self.text[..open], list.join(","), &self.text[close..])
    }
}

/// A new list document. `head` is the text of the members before the list.
pub(super) fn new_document(list: &str, head: &str, elements: &[String]) -> String {
    let mut out = String::from("{");
    out.push_str(head);
    write_string(list, &mut out);
    out.push_str(":[");
    out.push_str(&elements.join(","));
    out.push_str("]}");
    out
}
