//! Detects chats by messages that have a `chatId`, and sessions by their metadata. Names decide only which other files
//! belong to the same export.
use super::le_chat::file_of_chat;
use super::{LE_CHAT_LAYOUT, VIBE_LAYOUT};
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role, is_uuid};
use mementory_formats_shared::files::{extension, folder, is_inside_one, is_junk, json_keys};
use mementory_json::Keys;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Root and archive of a file. All files that were selected one by one have the same value, without a root.
type RootAndArchive = (Option<usize>, Option<usize>);

/// The content of a file, as its keys show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// Messages of a chat.
    Chat,
    /// Metadata of a session (`meta.json`).
    SessionMetadata,
    /// Metadata and messages of a session in one file, as early versions wrote it.
    WholeSession,
    /// Lines that may be the messages of a session.
    Messages,
}

/// Returns one claim for the chats, and one for the sessions, of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut chats: BTreeMap<RootAndArchive, Vec<&Member>> = BTreeMap::new();
    let mut empty_chats: BTreeMap<RootAndArchive, Vec<&Member>> = BTreeMap::new();
    let mut sessions: BTreeMap<RootAndArchive, Vec<(&Member, Content)>> = BTreeMap::new();
    for member in catalog.members() {
        let Some(content) = json_keys(catalog, member).and_then(|keys| content_of(&keys, member)) else {
            if has_chat_file_name(member) && is_empty_list(catalog, member) {
                empty_chats.entry(place_of(member)).or_default().push(member);
            }
            continue;
        };
        match content {
            Content::Chat => chats.entry(place_of(member)).or_default().push(member),
            _ => sessions.entry(place_of(member)).or_default().push((member, content)),
        }
    }
    empty_chats.retain(|place, _| !chats.contains_key(place));
    let empty_chats = empty_chats.into_iter().map(|(place, found)| Claim {
        confidence: 0.7,
        reason: "empty chats, named as Mistral's Le Chat names them".into(),
        ..chats_claim(catalog, place, &found)
    });
    let chats = chats.into_iter().map(|(place, found)| chats_claim(catalog, place, &found));
    chats.chain(empty_chats).chain(sessions.into_values().filter_map(|found| sessions_claim(&found))).collect()
}

/// True for a file name such as `chat-<UUID>.json`.
fn has_chat_file_name(member: &Member) -> bool {
    let id = member.file_name().strip_prefix("chat-").and_then(|name| name.strip_suffix(".json"));
    id.is_some_and(is_uuid)
}

fn is_empty_list(catalog: &Catalog, member: &Member) -> bool {
    JsonHead::of(catalog, member).is_some_and(|head| head.is_empty_list())
}

fn place_of(member: &Member) -> RootAndArchive {
    // The person may have selected the folder with the files of a chat separately from the chat.
    let is_beside_chat = || file_of_chat(&member.place).is_some() && member.place.matches('/').count() == 1;
    let is_beside_others = member.is_selected_alone() || member.archive.is_none() && is_beside_chat();
    ((!is_beside_others).then_some(member.root), member.archive)
}

fn content_of(keys: &Keys, member: &Member) -> Option<Content> {
    let has = |path: &str| keys.has(path);
    let has_session_members = |at: &str| {
        let has = |key: &str| keys.has(&format!("{at}{key}"));
        let session_members =
            ["environment.working_directory", "agent_profile", "agent_config", "stats", "total_messages"];
        has("session_id") && has("start_time") && session_members.into_iter().any(has)
    };
    if has("chatId") && has("role") && (has("contentChunks") || has("createdAt") && has("content")) {
        Some(Content::Chat)
    } else if has_session_members("metadata.") && has("messages.role") {
        Some(Content::WholeSession)
    } else if has_session_members("") {
        Some(Content::SessionMetadata)
    } else {
        let is_jsonl = extension(&member.name).as_deref() == Some("jsonl");
        (is_jsonl && has("role") && (has("content") || has("tool_calls"))).then_some(Content::Messages)
    }
}

fn chats_claim(catalog: &Catalog, place: RootAndArchive, chats: &[&Member]) -> Claim {
    let mut parts: Vec<Part> = chats.iter().map(|m| Part { member: m.id, role: Role::Conversations }).collect();
    let folders: BTreeSet<&str> = chats.iter().map(|m| folder(&m.name)).collect();
    let found_ids: HashSet<usize> = chats.iter().map(|m| m.id).collect();
    let others = catalog.members().iter().filter(|m| place_of(m) == place && !found_ids.contains(&m.id));
    for member in others.filter(|m| is_inside_one(&m.name, &folders)) {
        parts.extend(role_of(catalog, member).map(|role| Part { member: member.id, role }));
    }
    Claim {
        version: Some(LE_CHAT_LAYOUT.into()),
        confidence: 0.95,
        reason: match chats {
            [_] => "a chat in the format of Mistral's Le Chat".into(),
            chats => format!("{} chats in the format of Mistral's Le Chat", chats.len()),
        },
        parts,
        missing_parts: vec![],
    }
}

/// Returns the role of a file in the folder of chats. None for a file that may not belong to the export.
fn role_of(catalog: &Catalog, member: &Member) -> Option<Role> {
    let name = member.file_name().to_lowercase();
    let is_json = name.ends_with(".json");
    if is_junk(&member.name) {
        return member.archive.is_some().then_some(Role::Junk);
    }
    if file_of_chat(&member.place).is_some() {
        return Some(Role::Attachment);
    }
    if is_json && name.starts_with("chat-") && is_empty_list(catalog, member) {
        return Some(Role::Conversations);
    }
    if is_json && name.starts_with("memor") {
        return Some(Role::Memories);
    }
    member.archive.is_some().then_some(if is_json { Role::Sidecar } else { Role::Attachment })
}

/// Returns one claim for sessions: their metadata, and the files of messages in the same folders. None if there are no
/// messages.
fn sessions_claim(files: &[(&Member, Content)]) -> Option<Claim> {
    let mut parts = Vec::new();
    let mut messages_files: HashMap<&str, &Member> = HashMap::new();
    for (member, _) in files.iter().filter(|(_, content)| *content == Content::Messages) {
        messages_files.entry(folder(&member.name)).or_insert(member);
    }
    for (member, content) in files {
        match content {
            Content::WholeSession => parts.push(Part { member: member.id, role: Role::Conversations }),
            Content::SessionMetadata => {
                let messages_file = messages_files.get(folder(&member.name));
                parts.push(Part { member: member.id, role: Role::Manifest });
                parts.extend(messages_file.map(|other| Part { member: other.id, role: Role::Records }));
            }
            _ => {}
        }
    }
    let count = parts.iter().filter(|part| part.role != Role::Records).count();
    let has_messages = parts.iter().any(|part| part.role != Role::Manifest);
    (count > 0 && has_messages).then(|| Claim {
        version: Some(VIBE_LAYOUT.into()),
        confidence: 0.9,
        reason: format!("{count} sessions of Mistral's command-line agent Vibe"),
        parts,
        missing_parts: vec![],
    })
}
