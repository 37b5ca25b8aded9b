//! Detects responses of Supermemory's API by the members of memories and documents.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Keys under which a response contains memories or documents. Older responses contain documents under `memories`.
pub(super) const LIST_KEYS: [&str; 3] = ["memoryEntries", "documents", "memories"];

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.9, "memories or documents of Supermemory", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let is_memory = |list: &str| {
        head.has_all(list, &["id", "memory"]) && head.has_any(list, &["isLatest", "isForgotten", "spaceContainerTag"])
    };
    let is_document = |list: &str| {
        let has_memories = is_memory(&dotted(list, "memoryEntries"));
        let is_listed = head.has_all(list, &["id", "containerTags", "createdAt"])
            && head.has_any(list, &["customId", "connectionId", "summary"]);
        has_memories || is_listed
    };
    std::iter::once("").chain(LIST_KEYS).any(|list| is_memory(list) || is_document(list)).then_some("")
}

fn dotted(list: &str, member: &str) -> String {
    if list.is_empty() { member.to_owned() } else { format!("{list}.{member}") }
}
