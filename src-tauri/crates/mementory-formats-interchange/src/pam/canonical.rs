//! RFC 8785 canonical JSON, the input of PAM's checksums and signatures.
use mementory_json::{Tree, canonical, canonical::Style};

/// The canonical text of a value. None if a number does not fit into a double.
pub(super) fn canonical(tree: &Tree) -> Option<String> {
    canonical::canonical(tree, Style::RFC_8785).ok()
}

/// Appends the canonical text of a value. None if a number does not fit into a double.
pub(super) fn write(tree: &Tree, out: &mut String) -> Option<()> {
    canonical::write(tree, Style::RFC_8785, out).ok()
}
