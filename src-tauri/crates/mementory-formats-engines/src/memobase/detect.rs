//! Detects responses of Memobase's API by the members of profiles and events.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

pub(super) const LIST_KEYS: [&str; 3] = ["profiles", "events", "gists"];

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.9, "profiles or events of Memobase", layout)
}

/// Determines the layout of a file. Other programs use the same list names for profiles and events, so the members of
/// the entries are checked too.
fn layout(head: &Head) -> Option<&'static str> {
    let is_row = |list: &str| {
        let is_profile = head.has_all(list, &["id", "content", "attributes.topic", "attributes.sub_topic"]);
        let is_event = head.has_all(list, &["id", "event_data"])
            && head.has_any(list, &["event_data.profile_delta", "event_data.event_tip", "event_data.event_tags"]);
        is_profile || is_event || head.has_all(list, &["id", "gist_data.content"])
    };
    std::iter::once("").chain(LIST_KEYS).any(is_row).then_some("")
}
