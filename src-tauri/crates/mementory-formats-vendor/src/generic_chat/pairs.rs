//! Chats whose entries are lists of two texts: a question and its answer, as demo programs and text-generation-webui
//! store them, or a speaker and a text.
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::object::{Object, decode_string, list};
use mementory_formats_shared::roles::{ASSISTANT, USER, role};
use mementory_json::Keys;
use mementory_model::{Timestamp, Verbatim};
use serde_json::value::RawValue;

/// Keys of the texts that the model received, and of the same texts as the page of text-generation-webui shows them.
pub(super) const INTERNAL: &str = "internal";
const VISIBLE: &str = "visible";
/// Question before the greeting of a character. The person did not write it.
const NO_QUESTION: &str = "<|BEGIN-VISIBLE-CHAT|>";
/// Form of the times in text-generation-webui.
const TIME_FORM: &str = "%b %d, %Y %H:%M";

/// True if the start of a file has a list of pairs under a key that chats use.
pub(super) fn has_pairs(keys: &Keys, text: &str) -> bool {
    let is_chat = |key: &str| match key {
        INTERNAL => keys.has(INTERNAL) && keys.has(VISIBLE),
        key => keys.has(key),
    };
    [INTERNAL, "chat_history"].into_iter().any(|key| is_chat(key) && begins_with_pair(text, key))
}

/// True if the first entry of the list with this key is a list that begins with a text.
fn begins_with_pair(text: &str, key: &str) -> bool {
    let Some((_, rest)) = text.split_once(&format!("\"{key}\"")) else { return false };
    let mut rest = rest;
    for sign in [':', '[', '['] {
        let Some(after) = rest.trim_start().strip_prefix(sign) else { return false };
        rest = after;
    }
    rest.trim_start().starts_with('"')
}

/// True if the object is a chat of text-generation-webui.
pub(super) fn has_internal_list(object: &Object<'_>) -> bool {
    object.raw_value(INTERNAL).is_some_and(|raw| raw.get().starts_with('[')) && object.has(VISIBLE)
}

/// True if the entries of a list of messages are lists. Empty entries and other values may be among them.
pub(super) fn is_list_of_pairs(entries: &[&RawValue]) -> bool {
    entries.iter().any(|raw| raw.get().starts_with('[')) && !entries.iter().any(|raw| raw.get().starts_with('{'))
}

/// The turns of a list of pairs. `report` receives the positions of entries that are not pairs. `conversation` has the
/// times of the messages.
pub(super) fn turns(
    conversation: &Object<'_>,
    entries: &[&RawValue],
    at: &str,
    mut report: impl FnMut(usize),
) -> Vec<Turn> {
    let texts: Vec<Vec<Option<String>>> = entries.iter().map(|raw| texts_of(raw)).collect();
    // Programs of LangChain write `["human", "…"]`.
    let names_speaker = |pair: &Vec<Option<String>>| pair.first().and_then(Option::as_deref).and_then(role).is_some();
    let is_spoken = texts.iter().filter(|pair| !pair.is_empty()).all(names_speaker);
    let metadata = conversation.object("metadata").unwrap_or_default();
    let mut out = Vec::new();
    for (index, (pair, raw)) in texts.into_iter().zip(entries).enumerate() {
        if pair.is_empty() {
            report(index);
            continue;
        }
        let mut pair = pair.into_iter();
        let (first, second) = (pair.next().flatten(), pair.next().flatten());
        let spoken = match (is_spoken, first) {
            (true, name) => vec![(name.as_deref().and_then(role).unwrap_or("unknown"), second)],
            (false, question) => vec![(USER, question.filter(|text| text != NO_QUESTION)), (ASSISTANT, second)],
        };
        for (role, text) in spoken {
            let Some(text) = text.filter(|text| !text.trim().is_empty()) else { continue };
            let mut turn = Turn {
                role: role.into(),
                text,
                content_type: "text".into(),
                pointer: format!("{at}/{index}"),
                verbatim: Some(Verbatim::json(raw.get())),
                ..Turn::default()
            };
            turn.times.created = metadata.object(&format!("{role}_{index}")).and_then(|about| time(&about));
            out.push(turn);
        }
    }
    out
}

/// The texts of a pair. Empty if the entry is not a pair.
fn texts_of(raw: &RawValue) -> Vec<Option<String>> {
    let texts = list(raw).unwrap_or_default();
    if texts.len() < 2 {
        return Vec::new();
    }
    texts.into_iter().take(2).map(|text| decode_string(text).map(std::borrow::Cow::into_owned)).collect()
}

/// The time of a message, which is that of the computer's own time zone. It is read as UTC.
fn time(about: &Object<'_>) -> Option<Timestamp> {
    let text = about.text("timestamp")?;
    let civil = jiff::fmt::strtime::parse(TIME_FORM, text.trim()).ok()?.to_datetime().ok()?;
    Timestamp::parse(&civil.to_string())
}
