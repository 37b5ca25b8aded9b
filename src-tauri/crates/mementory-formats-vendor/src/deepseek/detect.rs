//! Detects DeepSeek's files by their JSON keys. An export is a tree of messages like ChatGPT's (`mapping`), but with
//! `inserted_at` or `message.fragments`. A response of the website's API is detected by `biz_data`, or by `message_id`
//! and `parent_id`.
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role, plain_name};
use mementory_formats_shared::files::{folder, is_inside, is_junk, json_keys};
use mementory_json::Keys;
use std::collections::HashSet;

/// Returns one claim for each file of conversations. The account's file, and all other files in the same folder, belong
/// to the first claim of the folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let contents: Vec<(&Member, Content)> = catalog
        .members()
        .iter()
        .filter_map(|m| Some((m, json_keys(catalog, m).and_then(|keys| content_of(&keys))?)))
        .collect();
    let is_conversations = |content: &Content| *content != Content::Account;
    let chats: Vec<&(&Member, Content)> = contents.iter().filter(|(_, content)| is_conversations(content)).collect();
    let found_ids: HashSet<usize> = contents.iter().map(|(member, _)| member.id).collect();
    let mut out: Vec<Claim> = Vec::new();
    for (position, (member, content)) in chats.iter().copied().enumerate() {
        let mut parts = vec![Part { member: member.id, role: Role::Conversations }];
        if !chats[..position].iter().any(|(other, _)| is_in_same_folder(other, member)) {
            let accounts =
                contents.iter().filter(|(m, content)| !is_conversations(content) && is_in_same_folder(m, member));
            parts.extend(accounts.map(|(m, _)| Part { member: m.id, role: Role::Manifest }));
            let others = catalog.members().iter().filter(|m| {
                m.archive.is_some() && m.archive == member.archive && is_inside(&m.name, folder(&member.name))
            });
            for other in others.filter(|m| !found_ids.contains(&m.id)) {
                let role = if is_junk(&other.name) { Role::Junk } else { Role::Sidecar };
                parts.push(Part { member: other.id, role });
            }
        }
        let version = if *content == Content::Session { "session" } else { "export" };
        out.push(Claim {
            version: Some(version.into()),
            confidence: 0.95,
            reason: "conversations in DeepSeek's format".into(),
            parts,
            missing_parts: vec![],
        });
    }
    let has_chats = |account: &Member| chats.iter().any(|(member, _)| is_in_same_folder(member, account));
    let accounts = contents.iter().filter(|(_, content)| *content == Content::Account).map(|(member, _)| *member);
    out.extend(accounts.filter(|account| !has_chats(account)).filter_map(|account| empty_export(catalog, account)));
    out
}

/// Returns a claim for the export of an account without conversations, which is an empty list in the folder of the
/// account's file. None if there is no such list.
fn empty_export(catalog: &Catalog, account: &Member) -> Option<Claim> {
    let is_empty_list = |member: &&Member| {
        plain_name(&member.name) == "conversations.json"
            && is_in_same_folder(member, account)
            && JsonHead::of(catalog, member).is_some_and(|head| head.is_empty_list())
    };
    let list = catalog.members().iter().find(is_empty_list)?;
    let parts =
        vec![Part { member: list.id, role: Role::Conversations }, Part { member: account.id, role: Role::Manifest }];
    Some(Claim {
        version: Some("export".into()),
        confidence: 0.8,
        reason: "an empty list of conversations beside the file of a DeepSeek account".into(),
        parts,
        missing_parts: vec![],
    })
}

/// The content of a file, as its keys show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    /// `conversations.json`.
    Export,
    /// The response of the website's API for one conversation, as browser extensions save it.
    Session,
    /// `user.json`.
    Account,
}

fn content_of(keys: &Keys) -> Option<Content> {
    let is_chatgpt = ["current_node", "create_time", "conversation_id"].iter().any(|key| keys.has(key));
    let has_times = keys.has("inserted_at") || keys.has_at_any_level("message.inserted_at");
    // ChatGPT's messages have no `fragments`, so a file with `fragments` is DeepSeek's even if its other keys are
    // ChatGPT's.
    let has_fragments = keys.has_at_any_level("message.fragments");
    if keys.has("mapping") && (has_fragments || has_times && !is_chatgpt) {
        Some(Content::Export)
    } else if ["chat_messages", "chat_session", "messages"].iter().any(|key| keys.has(&format!("biz_data.{key}"))) {
        Some(Content::Session)
    } else if keys.has("chat_messages.message_id") && keys.has("chat_messages.parent_id") {
        // Some extensions save the response without the `data` and `biz_data` objects around it.
        Some(Content::Session)
    } else {
        (keys.has("user_id") && keys.has("email") && keys.has("mobile")).then_some(Content::Account)
    }
}

/// True if two files are in the same folder of the same archive or selection. All files that were selected one by one
/// count as one folder.
fn is_in_same_folder(member: &Member, other: &Member) -> bool {
    let is_same_root = member.root == other.root && member.archive == other.archive;
    is_same_root && folder(&member.name) == folder(&other.name)
        || member.is_selected_alone() && other.is_selected_alone()
}
