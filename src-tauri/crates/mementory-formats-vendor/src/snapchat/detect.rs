//! Detects the chat with My AI in an archive of My Data by the names of JSON lists: `snapchat_ai.json`, and a
//! `chat_history.json` that contains this chat.
use memchr::memmem;
use mementory_format::{Catalog, Claim, FormatError, JsonHead, Member, Role};
use mementory_formats_shared::memory_heads::{self, Head};

/// Name of the list with the messages of the chat with My AI.
pub(super) const CHAT: &str = "My AI Content";
/// Name of the list with the memories of My AI.
pub(super) const MEMORY: &str = "My AI Memory";

/// Name of the list with the chat with My AI in `chat_history.json`. In this file, each chat of the account is a list
/// with the name of the other person.
pub(super) const HISTORY: &str = "myai";

/// Members that a message in `chat_history.json` has.
const HISTORY_MEMBERS: [&str; 3] = ["From", "Media Type", "Created"];
/// Number of bytes of a file that are read at once.
const CHUNK: usize = 64 << 10;

/// Role of a `chat_history.json`.
pub(super) const HISTORY_ROLE: Role = Role::Conversations;

/// Returns one claim for the files of each archive or selected folder. In a claim, `chat_history.json` comes first,
/// because it must be read first.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let reason = "What Snapchat has of the chat with My AI";
    let mut claims =
        memory_heads::claims_with_roles(catalog, 0.95, reason, |member| Some(("", role(catalog, member)?)));
    for claim in &mut claims {
        claim.parts.sort_by_key(|part| part.role != HISTORY_ROLE);
    }
    claims
}

fn role(catalog: &Catalog, member: &Member) -> Option<Role> {
    let head = Head::of(catalog, member)?;
    if head.has_all(HISTORY, &HISTORY_MEMBERS) && !head.is_list || is_late_history(catalog, member) {
        return Some(HISTORY_ROLE);
    }
    has_my_ai(&head).then_some(Role::Memories)
}

/// True for a `chat_history.json` in which the chat with My AI begins after the part of the file that detection parses.
fn is_late_history(catalog: &Catalog, member: &Member) -> bool {
    let head = JsonHead::of(catalog, member);
    let is_chats = head.is_some_and(|head| {
        let is_object = head.first == b'{';
        let has_messages = HISTORY_MEMBERS.iter().all(|key| head.keys.has_at_any_level(key));
        is_object && has_messages
    });
    is_chats && has_member(catalog, member, HISTORY)
}

/// True if a file contains a JSON member with the given name. The text of a message cannot be mistaken for a member,
/// because quotation marks in it are escaped.
fn has_member(catalog: &Catalog, member: &Member, name: &str) -> bool {
    let key = format!("\"{name}\"");
    let found = catalog.read(member, |reader| {
        let mut buffer = vec![0; CHUNK];
        let mut text: Vec<u8> = Vec::new();
        loop {
            let count = reader.read(&mut buffer).map_err(|error| FormatError::io(&member.place, error))?;
            text.extend_from_slice(buffer.get(..count).unwrap_or_default());
            let is_name =
                |at: usize| text.get(at + key.len()..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"));
            if memmem::find_iter(&text, key.as_bytes()).any(is_name) {
                return Ok(true);
            }
            if count == 0 {
                return Ok(false);
            }
            // The last bytes are searched again with the next chunk, because the key and its colon may be in two
            // chunks.
            let searched = text.len().saturating_sub(2 * key.len());
            text.drain(..searched);
        }
    });
    found.unwrap_or(false)
}

/// True for a file with the chat with My AI or its memories. For an account that never used My AI, both lists are
/// empty.
fn has_my_ai(head: &Head) -> bool {
    let is_chat = head.has_all(CHAT, &["Timestamp", "Content"]);
    let is_memory = head.has_any(MEMORY, &["Memory", "Timestamp"]);
    let has_both = head.has_all("", &[CHAT, MEMORY]);
    !head.is_list && (is_chat || is_memory || has_both)
}
