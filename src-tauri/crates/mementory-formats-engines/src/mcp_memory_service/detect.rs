//! Detects exports by their memories, which have a content hash, tags and a type, and databases by their columns.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};
use mementory_formats_shared::sqlite_rows;

/// Keys under which a file may contain memories.
pub(super) const LIST_KEYS: [&str; 2] = ["memories", "results"];

/// Returns one claim for the files of each archive or selected folder, and one for each database.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut out = memory_heads::claims(
        catalog,
        0.9,
        "memories with content_hash and memory_type, as mcp-memory-service writes",
        layout,
    );
    out.extend(sqlite_rows::claims(catalog, 0.9, "the database of mcp-memory-service", |schema| {
        schema.has_table("memories", &["content_hash", "content", "memory_type"])
    }));
    out
}

fn layout(head: &Head) -> Option<&'static str> {
    let is_memory = |list: &str| {
        let has_content = head.has_all(list, &["content", "content_hash"]);
        // A store of Portable AI Memory has content hashes and tags too, but also `provenance` or `temporal`.
        let is_other = head.has_any(list, &["provenance", "temporal"]);
        let marks = ["memory_type", "created_at_iso", "export_source", "tags_str", "timestamp_float"];
        has_content && head.has_any(list, &marks) && !is_other
    };
    // In backups of versions with ChromaDB, the text of a memory is its `document`, and everything else is in its
    // metadata.
    let is_backup = |list: &str| {
        head.has_any(list, &["document"])
            && head
                .has_any(list, &["metadata.content_hash", "metadata.tags", "metadata.tags_str", "metadata.memory_type"])
            && (head.has("total_memories") || head.has_any(list, &["metadata.timestamp", "metadata.created_at"]))
    };
    let is_export = head.has_all("export_metadata", &["total_memories", "exporter_version"]);
    let has_memories = ["", "memories", "results", "results.memory"].into_iter().any(is_memory) || is_export;
    (has_memories || ["", "memories"].into_iter().any(is_backup)).then_some("")
}
