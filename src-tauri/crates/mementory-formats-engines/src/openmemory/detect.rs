//! Detects the two files of a backup, and responses of the server, by their memories, which have a state. Detects
//! databases by their tables.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};
use mementory_formats_shared::sqlite_rows;

/// Returns one claim for the files of each archive or selected folder, and one for each database. The compressed file
/// of a backup gets no claim of its own, because the catalog unpacks it.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut out =
        memory_heads::claims(catalog, 0.95, "memories with their state and app, as OpenMemory writes", layout);
    out.extend(sqlite_rows::claims(catalog, 0.95, "the database of OpenMemory", |schema| {
        schema.has_table("memories", &["content", "state", "app_id", "user_id"])
    }));
    out.extend(sqlite_rows::claims(catalog, 0.95, "the database of OpenMemory's memory engine", |schema| {
        schema.has_table("memories", &["content", "primary_sector", "salience", "user_id"])
    }));
    out
}

/// Determines the layout of a file: `backup` for the file with the tables of the database, `rows` for memories in lines
/// or in a list. None for any other file.
pub(super) fn layout(head: &Head) -> Option<&'static str> {
    let is_memory = |list: &str| head.has_all(list, &["content", "state"]);
    let is_backup = head.has("memory_categories") || head.has("status_history") || head.has("export_meta");
    if is_memory("memories")
        && (is_backup
            || head
                .has_any("memories", &["category_ids", "app_id", "archived_at", "categoryIds", "appId", "archivedAt"]))
    {
        return Some("backup");
    }
    // The account comes first and may fill the whole head, so that the head contains no memories.
    if head.has_all("user", &["user_id", "id"]) && head.has("apps.owner_id") {
        return Some("backup");
    }
    let is_row = |list: &str| {
        let has_app = head.has_any(list, &["app", "app_name", "app_id", "appName", "appId"]);
        let others = ["categories", "created_at", "createdAt", "metadata", "metadata_"];
        is_memory(list) && has_app && head.has_any(list, &others)
    };
    ["", "items", "results", "memories"].into_iter().any(is_row).then_some("rows")
}
