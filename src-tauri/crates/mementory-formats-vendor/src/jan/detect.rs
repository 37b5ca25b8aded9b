//! Detects threads by the member `object`, which states what each file or line contains.
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::json_head::candidate_head;

/// Returns one claim for all threads in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts = Vec::new();
    for member in catalog.members() {
        if let Some(role) = role(catalog, member) {
            parts.push(Part { member: member.id, role });
        }
    }
    // Threads without any messages are not claimed, because they contain nothing to show, and because other programs
    // write similar objects.
    if !parts.iter().any(|part| part.role == Role::Conversations) {
        return Vec::new();
    }
    vec![Claim {
        version: None,
        confidence: 0.9,
        reason: "Threads and their messages, as Jan stores them".into(),
        parts,
        missing_parts: vec![],
    }]
}

/// Returns the role of a file: `Conversations` for messages, `Manifest` for the file with the title of a thread. None
/// for any other file.
fn role(catalog: &Catalog, member: &Member) -> Option<Role> {
    let head = candidate_head(catalog, member)?;
    let keys = &head.keys;
    let states = |object: &str| {
        let bytes = head.bytes();
        let text = String::from_utf8_lossy(&bytes);
        [":", ": "].iter().any(|colon| text.contains(&format!("\"object\"{colon}\"{object}\"")))
    };
    if keys.has("thread_id") && keys.has("role") && keys.has("content") && states("thread.message") {
        return Some(Role::Conversations);
    }
    (keys.has("assistants") && keys.has("id") && states("thread")).then_some(Role::Manifest)
}
