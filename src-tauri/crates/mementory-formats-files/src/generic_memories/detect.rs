//! Detects lists of memories that no specific format describes: lists of sentences, or of objects with one text each.
//! The confidence is low, so that a format that is made for the file takes precedence.
use super::read::{CREATED_KEYS, ID_KEYS, UPDATED_KEYS, has_chatgpt_keys, memory_text, wrapper_keys};
use mementory_format::{Catalog, Claim, JsonHead, Part, Role};
use mementory_formats_shared::json_head::{candidate_head, is_in_truncated_archive};
use mementory_formats_shared::object::Object;
use mementory_json::Elements;
use mementory_model::Limits;

/// Number of elements that detection checks.
const SAMPLE_COUNT: usize = 50;

/// Pointers of the elements of lists whose names say that they contain memories.
const NAMED_LISTS: [&str; 3] = ["/memories/", "/facts/", "/nodes/"];
/// Members that may contain a short memory in an object of a memory store.
const STORED_TEXT_KEYS: [&str; 4] = ["memory", "content", "text", "fact"];
/// Members of messages, tasks, posts and machines, which also have short texts, ids and times.
const NO_STORE_KEYS: [&str; 13] =
    ["role", "author", "sender", "from", "to", "done", "completed", "due", "due_date", "likes", "cpu", "disk", "price"];

/// One claim for each file. If the user selected this format (`is_selected`), short texts are accepted as well.
pub(super) fn claims(catalog: &Catalog, limits: &Limits, is_selected: bool) -> Vec<Claim> {
    let mut out = Vec::new();
    for member in catalog.members() {
        let Some(head) = candidate_head(catalog, member) else { continue };
        // A document with a `schema` is in a specific format, perhaps in a version that is not supported.
        if !is_selected && (head.keys.has("schema") || is_in_truncated_archive(catalog, member)) {
            continue;
        }
        if !is_list_of_memories(&head, limits, is_selected) {
            continue;
        }
        out.push(Claim {
            version: None,
            confidence: 0.3,
            reason: "A list of texts, as a program may write its memories".into(),
            parts: vec![Part { member: member.id, role: Role::Memories }],
            missing_parts: vec![],
        });
    }
    out
}

fn is_list_of_memories(head: &JsonHead, limits: &Limits, is_selected: bool) -> bool {
    let head_bytes = head.bytes();
    let mut bytes = &*head_bytes;
    let wrappers = wrapper_keys(&head.keys);
    let mut elements = Elements::new(&mut bytes, limits).with_keys(wrappers);
    let (mut object_count, mut text_count, mut has_named) = (0, 0, false);
    while object_count < SAMPLE_COUNT {
        match elements.next() {
            Ok(Some(element)) if element.in_array || object_count > 0 || element.offset == 0 => {
                let Ok(text) = std::str::from_utf8(element.bytes) else { return false };
                // An object outside of a list that cannot be parsed is not an entry of JSON Lines.
                if !element.in_array && element.bytes.starts_with(b"{") && Object::parse(text).is_none() {
                    return false;
                }
                object_count += 1;
                let is_named = NAMED_LISTS.iter().any(|list| element.pointer().starts_with(list));
                let is_text = is_memory(text, element.in_array, is_named, is_selected);
                text_count += usize::from(is_text);
                has_named |= is_text && is_named;
            }
            _ => break,
        }
    }
    // One memory is enough in a list at the top level, in a list that is named after memories, and in a file of
    // ChatGPT.
    let is_listed = has_named || head.first == b'[';
    let is_enough = is_selected || text_count > 1 || is_listed || has_chatgpt_keys(&head.keys);
    text_count > 0 && 5 * text_count >= 4 * object_count && is_enough
}

/// True for a sentence in a list, and for an object with a sentence and at most one other sentence. Two words are
/// enough in a list that is named after memories (`is_named`). Any text is enough in an object of a memory store, and
/// if the user selected this format (`is_selected`).
fn is_memory(json: &str, in_array: bool, is_named: bool, is_selected: bool) -> bool {
    let Some(text) = memory_text(json) else { return false };
    let is_object = json.starts_with('{');
    let is_statement = is_sentence(&text) || is_named && text.split_whitespace().count() >= 2 || is_stored_text(json);
    is_selected || is_statement && (in_array || is_object) && count_further_texts(json) <= 1
}

/// True for an object as memory stores return it: a text with an id and a time, but without a speaker.
fn is_stored_text(json: &str) -> bool {
    let Some(object) = Object::parse(json) else { return false };
    let has_one = |keys: &[&str]| keys.iter().any(|key| object.has(key));
    let is_text = STORED_TEXT_KEYS.iter().any(|key| object.non_blank_text(key).is_some());
    let has_time = has_one(&CREATED_KEYS) || has_one(&UPDATED_KEYS);
    is_text && has_one(&ID_KEYS) && has_time && !has_one(&NO_STORE_KEYS)
}

/// True for three words or more, or for eight characters or more that are not all ASCII, because some scripts have no
/// spaces.
fn is_sentence(text: &str) -> bool {
    text.split_whitespace().count() >= 3 || text.chars().count() >= 8 && !text.is_ascii()
}

/// Members of log lines and bookmarks, which also have texts but are not memories.
const NO_MEMORY_KEYS: [&str; 7] = ["step_index", "level", "severity", "logger", "event", "url", "href"];

/// Number of members with sentences, except the text of the memory. One such member is usually a title, but several
/// mean that the record is not a memory but, for example, an article or a ticket. So two is added for a record with
/// many members or with one of [`NO_MEMORY_KEYS`].
fn count_further_texts(json: &str) -> usize {
    let Some(object) = Object::parse(json) else { return 0 };
    let texts = object.members().filter_map(|(key, _)| object.text(key));
    let is_long_record = object.members().count() > 20 || NO_MEMORY_KEYS.iter().any(|key| object.has(key));
    texts.filter(|text| is_sentence(text)).count().saturating_sub(1) + usize::from(is_long_record) * 2
}
