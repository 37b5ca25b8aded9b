//! Detects responses of AgentCore's data plane by the members of their memory records and events.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Keys under which a response contains memory records.
pub(super) const RECORD_LISTS: [&str; 4] = ["memoryRecordSummaries", "memoryRecords", "records", "results"];
/// Keys under which a response contains events.
pub(super) const EVENT_LISTS: [&str; 1] = ["events"];

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.95, "memory records or events of Amazon Bedrock AgentCore", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let is_record = |list: &str| head.has(&dotted(list, "memoryRecordId"));
    let is_event = |list: &str| {
        let has_names = head.has_all(list, &["eventId", "payload"]) && head.has_any(list, &["sessionId", "actorId"]);
        has_names && head.has_any(list, &["eventTimestamp", "payload.conversational", "payload.blob"])
    };
    let has_records = std::iter::once("").chain(RECORD_LISTS).chain(["memoryRecord"]).any(is_record);
    let has_events = std::iter::once("").chain(EVENT_LISTS).any(is_event);
    (has_records || has_events || head.has("memoryRecordSummaries.content.text")).then_some("")
}

fn dotted(list: &str, member: &str) -> String {
    if list.is_empty() { member.to_owned() } else { format!("{list}.{member}") }
}
