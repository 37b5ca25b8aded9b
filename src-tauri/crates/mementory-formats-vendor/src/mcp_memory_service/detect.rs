//! Detects exports by their memories with a content hash beside tags and a type.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Lists that memories may be in.
pub(super) const LISTS: [&str; 2] = ["memories", "results"];

/// One claim for the files of each folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(
        catalog,
        0.9,
        "memories with content_hash and memory_type, as mcp-memory-service writes",
        layout,
    )
}

fn layout(head: &Head) -> Option<&'static str> {
    let is_memory = |list: &str| {
        let has_content = head.has_all(list, &["content", "content_hash"]);
        // A store of Portable AI Memory has content hashes and tags as well.
        let is_other = head.has_any(list, &["provenance", "temporal"]);
        has_content && head.has_any(list, &["memory_type", "created_at_iso", "export_source"]) && !is_other
    };
    let is_export = head.has_all("export_metadata", &["total_memories", "exporter_version"]);
    let found = ["", "memories", "results", "results.memory"].into_iter().any(is_memory) || is_export;
    found.then_some("")
}
