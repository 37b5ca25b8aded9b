//! Chats whose entries are lists of two texts: a question and its answer, as demo programs and text-generation-webui
//! store them, or a speaker and a text. Also recognises lists of objects that have a question and its answer.
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::object::{Object, decode_string, list, with_replaced_values};
use mementory_formats_shared::roles::{ASSISTANT, USER, role};
use mementory_json::Keys;
use mementory_model::{Timestamp, Verbatim};
use serde_json::value::RawValue;

/// Keys of the texts that the model received, and of the same texts as the page of text-generation-webui shows them.
/// Older versions of the program wrote the second pair of keys.
const WEBUI_KEYS: [(&str, &str); 2] = [("internal", "visible"), ("data", "data_visible")];
/// Keys of lists of messages whose entries may have a question and its answer, and the keys of the two.
const OBJECT_LISTS: [&str; 6] = ["messages", "turns", "conversation", "dialogue", "dialog", "chat_history"];
const OBJECT_PAIRS: [(&str, &str); 5] =
    [("prompt", "response"), ("user", "assistant"), ("human", "ai"), ("user", "bot"), ("question", "answerText")];
/// Question before the greeting of a character. The person did not write it.
const GREETING_MARK: &str = "<|BEGIN-VISIBLE-CHAT|>";
/// Format of the times in text-generation-webui.
const TIME_FORM: &str = "%b %d, %Y %H:%M";

/// True if the start of a file has a list of pairs under a key that chats use.
pub(super) fn has_pairs(keys: &Keys, text: &str) -> bool {
    let is_pair = |key: &str| keys.has(key) && precedes(text, key, ":[[\"");
    WEBUI_KEYS.into_iter().any(|(internal, visible)| keys.has(visible) && is_pair(internal)) || is_pair("chat_history")
}

/// True if the start of a file has a list of objects with a question and its answer. `at` is the path of the object
/// that contains the list: empty, or with a `.` at its end. An object with a member of `text_keys` is a message, whose
/// other members may state who wrote it.
pub(super) fn has_pair_objects(keys: &Keys, text: &str, at: &str, text_keys: &[&str]) -> bool {
    OBJECT_LISTS.iter().any(|list| {
        let has = |key: &str| keys.has(&format!("{at}{list}.{key}"));
        OBJECT_PAIRS.iter().any(|(question, answer)| has(question) && has(answer))
            && !text_keys.iter().any(|key| has(key))
            && precedes(text, list, ":[{")
    })
}

/// True if these signs follow an occurrence of this key in quotes. There may be white space between them.
fn precedes(text: &str, key: &str, signs: &str) -> bool {
    let quoted_key = format!("\"{key}\"");
    text.match_indices(quoted_key.as_str()).any(|(at, _)| {
        let mut rest = text.get(at + quoted_key.len()..).unwrap_or_default();
        for sign in signs.chars() {
            let Some(after) = rest.trim_start().strip_prefix(sign) else { return false };
            rest = after;
        }
        true
    })
}

/// The list of a chat of text-generation-webui, with its key. None for any other object: other programs use the key
/// `data` for lists of other values, so the first entry that is not empty must be a list.
pub(super) fn webui_list<'a>(object: &Object<'a>) -> Option<(&'static str, &'a RawValue)> {
    WEBUI_KEYS.into_iter().find_map(|(internal, visible)| {
        let raw = object.raw_value(internal).filter(|raw| raw.get().starts_with('['))?;
        let is_empty = |raw: &&RawValue| {
            matches!(raw.get(), "null" | "\"\"") || list(raw).is_some_and(|elements| elements.is_empty())
        };
        let first = list(raw)?.into_iter().find(|entry| !is_empty(entry));
        let is_chat = first.map_or(!object.has("messages"), |entry| entry.get().starts_with('['));
        (is_chat && object.has(visible)).then_some((internal, raw))
    })
}

/// The list that repeats the texts of the list with this key. None if the object is no chat of text-generation-webui.
pub(super) fn repeated_list<'a>(object: &Object<'a>, key: &str) -> Option<&'a RawValue> {
    let (_, visible) = WEBUI_KEYS.into_iter().find(|(internal, _)| *internal == key)?;
    object.raw_value(visible)
}

/// True if the entries of a list of messages are lists. Empty entries and other values may be among them.
pub(super) fn is_list_of_pairs(entries: &[&RawValue]) -> bool {
    entries.iter().any(|raw| raw.get().starts_with('[')) && !entries.iter().any(|raw| raw.get().starts_with('{'))
}

/// The turns of a list of pairs. `report` receives the positions of entries that are not pairs. The metadata of
/// `conversation` contains the times of the messages.
pub(super) fn turns(
    conversation: &Object<'_>,
    entries: &[&RawValue],
    at: &str,
    mut report: impl FnMut(usize),
) -> Vec<Turn> {
    let texts: Vec<Option<Pair<'_>>> = entries.iter().map(|raw| pair_of(raw)).collect();
    // Programs of LangChain write `["human", "…"]`.
    let names_speaker = |pair: &Pair<'_>| pair.first.as_deref().and_then(role).is_some();
    let is_spoken = texts.iter().flatten().all(names_speaker);
    let metadata = conversation.object("metadata").unwrap_or_default();
    let mut out = Vec::new();
    for (index, (pair, raw)) in texts.into_iter().zip(entries).enumerate() {
        let Some(pair) = pair else {
            report(index);
            continue;
        };
        let texts_by_role = if is_spoken {
            let name = pair.first.as_deref().and_then(role).unwrap_or("unknown");
            vec![(name, pair.second, raw.get().to_owned())]
        } else {
            let question = pair.first.filter(|text| text != GREETING_MARK && !text.trim().is_empty());
            let has_both = question.is_some() && pair.second.is_some();
            // The verbatim of the answer does not contain the question, so erasing the question erases its text
            // completely.
            let question_source = if has_both { pair.raw_first.get() } else { raw.get() };
            let cuts: Vec<(&RawValue, &str)> = has_both.then_some((pair.raw_first, "\"\"")).into_iter().collect();
            let rest = with_replaced_values(raw.get(), &cuts);
            vec![(USER, question, question_source.to_owned()), (ASSISTANT, pair.second, rest)]
        };
        for (role, text, source) in texts_by_role {
            let Some(text) = text else { continue };
            let mut turn = Turn {
                role: role.into(),
                text,
                content_type: "text".into(),
                pointer: format!("{at}/{index}"),
                verbatim: Some(Verbatim::json(source)),
                ..Turn::default()
            };
            turn.times.created = metadata.object(&format!("{role}_{index}")).and_then(|message| time(&message));
            out.push(turn);
        }
    }
    out
}

/// The first two elements of an entry. `first` and `second` are None if the element is not a text.
struct Pair<'a> {
    first: Option<String>,
    raw_first: &'a RawValue,
    /// The second element. None if it is not a text, or if the text is blank.
    second: Option<String>,
}

/// The texts of an entry. None if the entry is not a pair.
fn pair_of(raw: &RawValue) -> Option<Pair<'_>> {
    let elements = list(raw)?;
    let (raw_first, raw_second) = (*elements.first()?, *elements.get(1)?);
    let text = |raw: &RawValue| decode_string(raw).map(std::borrow::Cow::into_owned);
    let second = text(raw_second).filter(|text| !text.trim().is_empty());
    Some(Pair { first: text(raw_first), raw_first, second })
}

/// The time of a message. The program writes local time without a zone. This time is read as UTC.
fn time(metadata: &Object<'_>) -> Option<Timestamp> {
    let text = metadata.text("timestamp")?;
    let civil = jiff::fmt::strtime::parse(TIME_FORM, text.trim()).ok()?.to_datetime().ok()?;
    Timestamp::parse(&civil.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn key_of_list(json: &str) -> Option<&'static str> {
        webui_list(&Object::parse(json).unwrap()).map(|(key, _)| key)
    }

    #[test]
    fn a_list_of_other_values_is_not_the_list_of_a_chat() {
        let messages = r#""messages":[{"role":"user","content":"Who eats slugs?"}]"#;
        let pair = r#"["Who eats slugs?","Hedgehogs."]"#;
        for (json, expected) in [
            (format!(r#"{{"data":[{pair}],"data_visible":[{pair}],{messages}}}"#), Some("data")),
            (format!(r#"{{"internal":[[],null,{pair}],"visible":[]}}"#), Some("internal")),
            (r#"{"internal":[],"visible":[]}"#.to_owned(), Some("internal")),
            (format!(r#"{{"data":[{{"size":3}}],"data_visible":true,{messages}}}"#), None),
            (format!(r#"{{"data":["slugs"],"data_visible":true,{messages}}}"#), None),
            (format!(r#"{{"data":[],"data_visible":true,{messages}}}"#), None),
            (format!(r#"{{"data":[{pair}],{messages}}}"#), None),
        ] {
            assert_eq!(key_of_list(&json), expected, "{json}");
        }
    }
}
