//! Detects responses of Supermemory's API by the members of memories and documents.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Keys under which a response contains memories or documents. Older responses contain documents under `memories`, and
/// the answer to a search contains memories under `results`.
pub(super) const LIST_KEYS: [&str; 4] = ["memoryEntries", "documents", "memories", RESULTS];
pub(super) const RESULTS: &str = "results";
/// Key of a profile, and keys of its lists of sentences. The member `buckets` has further lists.
pub(super) const PROFILE: &str = "profile";
pub(super) const PROFILE_LISTS: [&str; 2] = ["static", "dynamic"];

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
    let is_list = || std::iter::once("").chain(LIST_KEYS).any(|list| is_memory(list) || is_document(list));
    (is_list() || is_search(head) || is_profile(head)).then_some("")
}

/// True for the answer to a search. Other programs call the figure of a result its score.
fn is_search(head: &Head) -> bool {
    head.has_all(RESULTS, &["memory", "similarity"]) && head.has_all("", &["timing", "total"]) && !head.is_list
}

/// True for a profile. Its lists contain sentences, which have no members, so both lists are required.
fn is_profile(head: &Head) -> bool {
    head.has_all(PROFILE, &PROFILE_LISTS) && PROFILE_LISTS.iter().all(|list| has_texts(head, list)) && !head.is_list
}

/// True if a list is empty or begins with a text.
fn has_texts(head: &Head, list: &str) -> bool {
    let bytes = head.bytes();
    let key = format!("\"{list}\"");
    let value = memchr::memmem::find(&bytes, key.as_bytes()).and_then(|at| bytes.get(at + key.len()..));
    let list = value.and_then(|rest| rest.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"["));
    list.is_some_and(|items| matches!(items.trim_ascii_start().first(), None | Some(b'"' | b']')))
}

fn dotted(list: &str, member: &str) -> String {
    if list.is_empty() { member.to_owned() } else { format!("{list}.{member}") }
}
