//! Writes a document in the canonical form of RFC 8785, over which its checksum is computed. MIF itself defines no
//! canonical form. RFC 8785 has no form for a number that does not fit into a double. Such a number is written as in
//! the source, so that the export does not fail.
use mementory_json::{
    Tree,
    canonical::{Style, write},
};

/// Compares two keys in the order of RFC 8785.
pub(super) use mementory_json::canonical::utf16_order as order;

/// Appends the canonical text of a tree.
pub(super) fn canonical(tree: &Tree, out: &mut String) {
    // Cannot fail, because this style accepts every number.
    let _ = write(tree, Style::RFC_8785_OR_TOKEN, out);
}
