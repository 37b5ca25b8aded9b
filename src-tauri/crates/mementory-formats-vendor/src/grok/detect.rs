//! Detects Grok's files of conversations by their keys. The folder of such a file shows which other files belong to the
//! export.
use super::files;
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::files::{folder, is_inside, is_junk, json_keys};
use mementory_json::Keys;
use std::collections::HashSet;

/// Paths of keys that occur only in Grok's conversations.
const CONVERSATION_KEYS: [&str; 8] = [
    "conversation.leaf_response_id",
    "conversation.modify_time",
    "conversation.create_time",
    "conversation.system_prompt_name",
    "conversation.title",
    "conversation.id",
    "conversation.conversation_id",
    "responses.response",
];

/// Returns one claim for each file of conversations. All other files of a folder belong to the first claim of the
/// folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let backend_files: Vec<&Member> =
        catalog.members().iter().filter(|m| json_keys(catalog, m).is_some_and(|keys| is_backend(&keys))).collect();
    let backend_ids: HashSet<usize> = backend_files.iter().map(|member| member.id).collect();
    let mut out: Vec<Claim> = Vec::new();
    for (position, backend) in backend_files.iter().enumerate() {
        let mut parts = vec![Part { member: backend.id, role: Role::Conversations }];
        let is_first_of_folder = !backend_files[..position].iter().any(|other| is_same_export(backend, other));
        let belongs_to_claim =
            |m: &&Member| is_first_of_folder && is_same_export(backend, m) && !backend_ids.contains(&m.id);
        for member in catalog.members().iter().filter(belongs_to_claim) {
            parts.extend(role_of(member).map(|role| Part { member: member.id, role }));
        }
        out.push(Claim {
            version: None,
            confidence: 0.95,
            reason: "conversations in Grok's format".into(),
            parts,
            missing_parts: vec![],
        });
    }
    out
}

/// True for the keys of Grok's file of conversations, of a list of its conversations, and of a list of projects.
fn is_backend(keys: &Keys) -> bool {
    let has_conversation = keys.has("conversation") && CONVERSATION_KEYS.iter().any(|key| keys.has(key));
    let has_responses = keys.has("responses.response.sender") || keys.has("responses.sender");
    let is_export = keys.has("media_posts") && keys.has("tasks") && keys.has("projects");
    keys.has("responses") && (has_conversation || has_responses) || is_export || keys.has("custom_personality")
}

/// True if a file is in the folder that contains the file of conversations, or below this folder. If an archive
/// contains the file of conversations at the top, all files of the archive belong to the export.
fn is_same_export(backend: &Member, member: &Member) -> bool {
    let is_same_root = member.root == backend.root && member.archive == backend.archive;
    // No other files belong to a file that was selected alone.
    is_same_root && !backend.is_selected_alone() && is_inside(&member.name, folder(&backend.name))
}

/// Returns the role of a file in the folder of the conversations. None for a file that may not belong to the export.
fn role_of(member: &Member) -> Option<Role> {
    if is_junk(&member.name) {
        return member.archive.is_some().then_some(Role::Junk);
    }
    if files::asset_id(&member.name).is_some() {
        return Some(Role::Attachment);
    }
    let is_side_file = member.file_name().starts_with("prod-") || member.name.contains("canvas_thumbnails/");
    (is_side_file || member.archive.is_some()).then_some(Role::Sidecar)
}
