//! Detects the two files of a backup and answers of the server, by memories with a state.
use super::gzip;
use crate::shared::memory_heads::{self, Head};
use mementory_format::{Catalog, Claim, Member, Part, Role};

/// One claim for the files of each folder or archive.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let reason = "memories with their state and app, as OpenMemory writes";
    let mut claims = memory_heads::claims(catalog, 0.95, reason, layout);
    for member in catalog.members().iter().filter(|member| gzip::has_ending(member)) {
        let head = gzip::head(catalog, member).and_then(Head::of_bytes);
        let Some(version) = head.and_then(|head| layout(&head)) else { continue };
        let part = Part { member: member.id, role: Role::Memories };
        let is_beside = |claim: &&mut Claim| claim.parts.iter().any(|part| is_in_one_set(catalog, part.member, member));
        match claims.iter_mut().find(is_beside) {
            Some(claim) => claim.parts.push(part),
            None => claims.push(Claim {
                version: Some(version.to_owned()),
                confidence: 0.95,
                reason: reason.to_owned(),
                parts: vec![part],
                missing_parts: vec![],
            }),
        }
    }
    claims
}

fn is_in_one_set(catalog: &Catalog, id: usize, member: &Member) -> bool {
    catalog.members().get(id).is_some_and(|other| other.root == member.root && other.archive == member.archive)
}

/// `backup` for the database, `rows` for memories on lines or in a list.
pub(super) fn layout(head: &Head) -> Option<&'static str> {
    let is_memory = |list: &str| head.has_all(list, &["content", "state"]);
    let is_backup = head.has("memory_categories") || head.has("status_history") || head.has("export_meta");
    if is_memory("memories") && (is_backup || head.has_any("memories", &["category_ids", "app_id", "archived_at"])) {
        return Some("backup");
    }
    // The account comes first and may fill the start of the file.
    if head.has_all("user", &["user_id", "id"]) && head.has("apps.owner_id") {
        return Some("backup");
    }
    let is_row = |list: &str| {
        let has_app = head.has_any(list, &["app", "app_name", "app_id"]);
        is_memory(list) && has_app && head.has_any(list, &["categories", "created_at", "metadata", "metadata_"])
    };
    ["", "items", "results", "memories"].into_iter().any(is_row).then_some("rows")
}
