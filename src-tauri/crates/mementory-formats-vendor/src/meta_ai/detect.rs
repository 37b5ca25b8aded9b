//! Detects conversations with Meta AI. Meta's exports contain many other pages and threads, which are ignored.
use super::transcript::{ASSISTANT, PERSON, repaired};
use super::whatsapp;
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role, decoded_head};
use mementory_formats_shared::json_head::has_json_name;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Number of bytes at the beginning of a file that detection examines first.
const HEAD_BYTES: usize = JsonHead::BYTES;
/// Number of bytes of a page or of a list of labels that detection examines if the first bytes contain no conversation,
/// because such files begin with styles or with other labels.
const LARGE_HEAD_BYTES: usize = 2 << 20;
/// Names of the folders that contain pages about Meta AI.
const FOLDERS: [&str; 2] = ["meta_ai_profile", "meta_ai_app"];

/// Returns one claim for each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut groups: BTreeMap<(usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for member in catalog.members().iter().filter(|member| has_conversations(catalog, member)) {
        groups.entry((member.root, member.archive)).or_default().push(member.id);
    }
    let claim = |(group, found): ((usize, Option<usize>), Vec<usize>)| {
        let found_ids: HashSet<usize> = found.iter().copied().collect();
        let neighbours = catalog.members().iter().filter(|member| {
            (member.root, member.archive) == group && !found_ids.contains(&member.id) && is_in_folder(member)
        });
        let parts = found.iter().map(|id| Part { member: *id, role: Role::Conversations });
        let sidecars = neighbours.map(|member| Part { member: member.id, role: Role::Sidecar });
        Claim {
            version: None,
            confidence: 0.9,
            reason: "conversations with Meta AI".into(),
            parts: parts.chain(sidecars).collect(),
            missing_parts: vec![],
        }
    };
    groups.into_iter().map(claim).collect()
}

fn is_in_folder(member: &Member) -> bool {
    member.place.split('/').rev().nth(1).is_some_and(|dir| FOLDERS.contains(&dir))
}

fn head(catalog: &Catalog, member: &Member, bytes: usize) -> Arc<[u8]> {
    decoded_head(catalog, member, bytes).unwrap_or_default()
}

/// True if a file is a web page, which begins with `<`.
pub(super) fn is_page(catalog: &Catalog, member: &Member) -> bool {
    head(catalog, member, 16).first() == Some(&b'<')
}

/// True if a file is a chat that WhatsApp exported.
pub(super) fn is_whatsapp(catalog: &Catalog, member: &Member) -> bool {
    whatsapp::is_chat(&complete_lines(&head(catalog, member, HEAD_BYTES)))
}

/// Returns the text at the beginning of a file. The last line is removed if it may be cut off.
fn complete_lines(head: &[u8]) -> String {
    let text = String::from_utf8_lossy(head).into_owned();
    match text.rsplit_once('\n') {
        Some((lines, _)) if head.len() >= HEAD_BYTES => lines.to_owned(),
        _ => text,
    }
}

/// True for a page in which the speakers and texts are block elements, not cells of a table.
pub(super) fn has_blocks(catalog: &Catalog, member: &Member) -> bool {
    has_block_speakers(&head(catalog, member, LARGE_HEAD_BYTES))
}

/// True if one element contains only the name of the assistant, and another element contains only a word for the
/// person.
fn has_block_speakers(head: &[u8]) -> bool {
    let is_named = |name: &str| {
        let name = format!(">{name}</");
        ["div>", "h2>", "h3>", "h4>", "h5>", "span>", "p>", "b>", "strong>"]
            .iter()
            .any(|end| has(head, &format!("{name}{end}")))
    };
    head.first() == Some(&b'<') && !has(head, "<td") && is_named(ASSISTANT) && PERSON.iter().any(|word| is_named(word))
}

fn has_conversations(catalog: &Catalog, member: &Member) -> bool {
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_usual = matches!(ending, None | Some("json" | "html" | "htm" | "txt"));
    if name.starts_with("._") || !is_usual && !has_json_name(member) {
        return false;
    }
    if let Some(json) = JsonHead::of(catalog, member).filter(|json| json.first != b'"') {
        let has_labels = json.keys.has("label_values")
            || json.keys.has("label") && (json.keys.has("value") || json.keys.has("dict"));
        if has_labels {
            let first = json.bytes();
            return has_transcript(&first)
                || first.len() >= HEAD_BYTES && has_transcript(&head(catalog, member, LARGE_HEAD_BYTES));
        }
        // A line of a WhatsApp chat may begin with a bracket, like JSON.
        let may_be_lines = || json.first == b'[' && whatsapp::is_chat(&complete_lines(&json.bytes()));
        return is_thread(&json) || may_be_lines();
    }
    let first = head(catalog, member, HEAD_BYTES);
    match first.first() {
        Some(b'<') => {
            let is_table = |head: &[u8]| has(head, "<td") && has_transcript(head);
            let is_page = |head: &[u8]| is_table(head) || has_block_speakers(head);
            is_page(&first)
                || first.len() >= HEAD_BYTES && has(&first, "<style") && {
                    is_page(&head(catalog, member, LARGE_HEAD_BYTES))
                }
        }
        Some(_) => whatsapp::is_chat(&complete_lines(&first)),
        None => false,
    }
}

fn has(head: &[u8], words: &str) -> bool {
    memchr::memmem::find(head, words.as_bytes()).is_some()
}

/// True if the beginning of a file contains the name of a transcript, or the assistant as a speaker.
fn has_transcript(head: &[u8]) -> bool {
    ["Meta AI_", "\\nMeta AI: ", "\nMeta AI: ", ">Meta AI</td>", ">Meta AI: "].iter().any(|words| has(head, words))
}

/// True for a thread between Meta AI and one person. A thread with more participants is a conversation of people, which
/// is not claimed.
fn is_thread(json: &JsonHead) -> bool {
    let keys = &json.keys;
    let has_pairs = keys.has_at_any_level("messages.prompt") && keys.has_at_any_level("messages.response");
    if !has_pairs && !keys.has_at_any_level("messages.sender_name") {
        return false;
    }
    let head = &*json.bytes();
    if has_pairs && (has(head, "\"Meta AI\"") || has(head, "\"meta_ai")) {
        return true;
    }
    if !keys.has_at_any_level("messages.sender_name") {
        return false;
    }
    let text = String::from_utf8_lossy(head);
    let Some((_, rest)) = text.split_once("\"participants\"") else {
        return has(head, "\"sender_name\":\"Meta AI\"") || has(head, "\"sender_name\": \"Meta AI\"");
    };
    let list = rest.split(']').next().unwrap_or_default();
    let names: Vec<String> =
        list.split("\"name\"").skip(1).filter_map(|after| Some(repaired(after.split('"').nth(1)?))).collect();
    names.len() <= 2 && names.iter().any(|name| name == ASSISTANT)
}
