//! Detects bundles by the name of the format, or by chunks that have a content hash and a type.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.95, "an AIMEM bundle", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let is_named = head.has("format") && (head.says("aimem-bundle") || head.says("memoryai-bundle"));
    let has_chunks = head.has_all("chunks", &["content_hash", "memory_type", "content"]);
    (is_named && (head.has("chunks") || head.has("producer")) || has_chunks).then_some("1")
}
