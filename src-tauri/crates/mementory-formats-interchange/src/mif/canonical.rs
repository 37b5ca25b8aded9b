//! RFC 8785 for the checksum of a document. MIF names no rule for it; a number that no double holds has no form in
//! RFC 8785, but does not stop an export: it keeps its own text.
use mementory_json::{
    Tree,
    canonical::{Style, write},
};

/// Order of keys.
pub(super) use mementory_json::canonical::utf16_order as order;

/// Appends the canonical text of a tree.
pub(super) fn canonical(tree: &Tree, out: &mut String) {
    // This style refuses no number.
    let _ = write(tree, Style::RFC_8785_OR_TOKEN, out);
}
