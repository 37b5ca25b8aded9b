//! Detects artifacts by their version, and by the lists of the kinds of memory.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// The five kinds of memory, for each of which an artifact has a list.
pub(super) const KINDS: [&str; 5] = ["episodic", "semantic", "procedural", "working", "identity"];

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.95, "an artifact of Portable Agent Memory with pam_version", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let has_kinds = |list: &str| KINDS.iter().filter(|kind| head.has_any(list, &[kind])).count() >= 2;
    let is_nested = head.has("components") && has_kinds("components");
    let is_named = head.has("pam_version") && (head.has("source_agent") || head.has("root_hash"));
    match (is_named, is_nested) {
        (true, true) => Some("components"),
        (true, false) => Some("flat"),
        // If the keys are sorted, the version comes after the entries, so the head may not contain the version.
        (false, true) if head.has("capability_tokens") || head.has("components.episodic.observation") => {
            Some("components")
        }
        (false, false) if head.has("episodic.observation") && head.has("capability_tokens") => Some("flat"),
        _ => None,
    }
}
