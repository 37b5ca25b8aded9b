//! Detects rows of a store by a namespace, a key and a value, and by a time or a memory in the value. Detects threads
//! by their messages.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};
use mementory_formats_shared::sqlite_rows;

/// Keys under which a file may contain rows.
pub(super) const LIST_KEYS: [&str; 5] = ["items", "results", "memories", "data", "rows"];

/// Key of a list of serialised messages. It is also the layout of a file with such a list.
pub(super) const MESSAGES: &str = "messages";

/// Returns one claim for the files of each archive or selected folder, and one for each database.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut out = memory_heads::claims(catalog, 0.9, "rows of a LangGraph store with namespace, key and value", layout);
    out.extend(sqlite_rows::claims(catalog, 0.9, "the database of a LangGraph store or checkpointer", |schema| {
        schema.has_table("store", &["prefix", "key", "value"])
            || schema.has_table("checkpoints", &["thread_id", "checkpoint_ns", "checkpoint_id", "checkpoint"])
    }));
    out
}

/// Determines the layout of a file: `threads` for states of threads, `messages` for serialised messages, `store` for
/// rows of a store. None for any other file.
pub(super) fn layout(head: &Head) -> Option<&'static str> {
    let is_store = |list: &str| {
        let has_name = head.has_any(list, &["namespace", "prefix"]);
        let is_dated = head.has_any(list, &["created_at", "updated_at", "createdAt", "updatedAt"]);
        has_name
            && head.has_all(list, &["key", "value"])
            && (is_dated || head.has_any(list, &["value.content", "value.kind"]))
    };
    // The file is a thread or a state of a thread, as LangGraph's server returns it.
    let has_messages = head.has_all("values.messages", &["content", "type"]);
    if has_messages && head.has_any("", &["thread_id", "checkpoint", "checkpoint_id", "next", "config"]) {
        return Some("threads");
    }
    let is_serialised =
        |list: &str| head.has_all(list, &["lc", "id", "kwargs"]) && head.has_any(list, &["kwargs.content"]);
    if is_serialised("") || is_serialised(MESSAGES) {
        return Some(MESSAGES);
    }
    let has_store = std::iter::once("").chain(LIST_KEYS).any(is_store);
    has_store.then_some("store")
}
