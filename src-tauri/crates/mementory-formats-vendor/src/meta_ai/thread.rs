//! Reads conversations in JSON: transcripts in a list of labels, and threads with Meta AI that have the shape of
//! Messenger's.
use super::{
    PLATFORM, SCOPE, page,
    transcript::{self, ASSISTANT},
};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    any_time::first_time,
    chat::{Chat, Turn},
    object::{Object, content_id, decode_string, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
    roles::PARTICIPANT,
    values::other_fields,
};
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Times, Timestamp, Verbatim};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

const LIST_KEYS: [&str; 3] = ["label_values", "threads", "conversations"];
/// Members that state the time of a message.
const MESSAGE_TIMES: [&str; 4] = ["timestamp_ms", "timestamp", "created_at", "creation_timestamp"];
/// Members that state the time of a thread. It is used if no message states a time.
const THREAD_TIMES: [&str; 6] =
    ["timestamp_ms", "timestamp", "created_at", "creation_timestamp", "creation_time", "last_message_timestamp"];
/// Deepest nesting of labels that is read.
const MAX_DEPTH: u32 = 16;

/// Reads a file that contains labels or threads.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    reader.objects(member, &LIST_KEYS, Kind::Conversation, |reader, element| {
        if element.object.has("messages") { thread(reader, member, element) } else { labels(reader, member, element) }
    })?;
    Ok(())
}

/// Reads the transcripts in a list of labels: `{label, value}` inside `{label, dict[]}`.
fn labels(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<(), FormatError> {
    let root: Option<&RawValue> = serde_json::from_str(element.text).ok();
    let mut pending: Vec<(&RawValue, String, u32)> =
        root.into_iter().map(|raw| (raw, element.pointer.clone(), 0)).collect();
    while let Some((raw, pointer, depth)) = pending.pop() {
        let Some(object) = Object::parse(raw.get()) else { continue };
        let inside = ["dict", "label_values", "vec"].into_iter().find_map(|key| Some((key, object.list(key)?)));
        if let Some((key, items)) = inside
            && depth < MAX_DEPTH
        {
            let place = |index: usize| format!("{pointer}/{key}/{index}");
            let items: Vec<_> = items.into_iter().enumerate().map(|(i, raw)| (raw, place(i), depth + 1)).collect();
            pending.extend(items.into_iter().rev());
            continue;
        }
        label(reader, member, raw, &object, &pointer)?;
    }
    Ok(())
}

fn label(
    reader: &mut FileReader<'_>,
    member: &Member,
    raw: &RawValue,
    object: &Object<'_>,
    pointer: &str,
) -> Result<(), FormatError> {
    let text = |key: &str| object.text(key).map(|text| transcript::repaired(&text));
    let (label, value) = (text("label").unwrap_or_default(), text("value").or_else(|| text("href")));
    let Some(value) = value.filter(|value| !value.trim().is_empty()) else {
        let reason = "no_content: a label without a value";
        reader.report_dropped(format!("{}#{pointer}", member.place), DroppedAs::Skipped, reason, None);
        return Ok(());
    };
    let turns = transcript::turns(&value);
    if turns.is_empty() {
        // The value is not a transcript, but for example a picture or information about the account.
        let key = RecordKey::new(SCOPE, format!("label/{}", content_id(&format!("{label}\n{value}"))));
        let mut record = Record::new(Kind::Foreign, key, value);
        record.title = Some(label).filter(|label| !label.is_empty());
        record.times.created = object.whole_number("timestamp_value").and_then(|n| Timestamp::from_seconds(n as f64));
        record.source.platform = PLATFORM.into();
        record.origin = Origin {
            format: SCOPE.into(),
            version: Some("json".into()),
            container: member.place.clone(),
            pointer: pointer.to_owned(),
        };
        record.verbatim = Some(Verbatim::json(raw.get()));
        return reader.sink.unit(record.into());
    }
    let turns = turns.into_iter().map(|(role, text)| Turn {
        role: role.into(),
        verbatim: Some(Verbatim { media_type: "text/plain".into(), text: text.clone() }),
        text,
        content_type: "text".into(),
        pointer: pointer.to_owned(),
        ..Turn::default()
    });
    let mut chat = page::chat(transcript::name(&label), turns.collect(), pointer.to_owned());
    // Only the verbatim of the messages contains the text of the value, so erasing a message erases its text
    // completely.
    let key = if object.text("value").is_some() { "value" } else { "href" };
    let texts: Vec<(&RawValue, &str)> = object.raw_value(key).map(|raw| (raw, "\"\"")).into_iter().collect();
    chat.verbatim = Some(Verbatim::json(with_replaced_values(raw.get(), &texts)));
    let heading = transcript::heading(&value);
    if !heading.is_empty() {
        chat.fields.insert("heading".into(), heading.into());
    }
    page::send_chat(reader, member, chat, "json")
}

/// Reads `{participants[{name}], messages[{sender_name, timestamp_ms, content}], thread_path}`. The messages may be in
/// ascending or descending order of time.
fn thread(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Result<(), FormatError> {
    let object = &element.object;
    let raw_messages = object.raw_value("messages");
    let Some(items) = raw_messages.and_then(list) else {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "malformed: the messages are not a list";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let mut turns = Vec::with_capacity(items.len());
    let mut senders = BTreeSet::new();
    for (index, raw) in items.iter().enumerate() {
        let pointer = format!("{}/messages/{index}", element.pointer);
        let Some(message) = Object::parse(raw.get()) else {
            let reason = "not_an_object: this message is not an object";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            continue;
        };
        if let Some(pair) = read_pair(raw, &message, &pointer) {
            turns.extend(pair);
            continue;
        }
        let sender = message.text("sender_name").map(|name| transcript::repaired(&name)).unwrap_or_default();
        let role = if sender == ASSISTANT { "assistant" } else { "user" };
        if role == "user" {
            senders.insert(sender.clone());
        }
        turns.push(read_message(raw, &message, role, sender, pointer));
    }
    if is_newest_first(&turns) {
        turns.reverse();
    }
    if senders.len() > 1 {
        // The thread does not state which of several people exported it, so none of them gets the role of the user.
        turns.iter_mut().filter(|turn| turn.role == "user").for_each(|turn| turn.role = PARTICIPANT.into());
    }
    let id = ["thread_path", "thread_id", "id"].iter().find_map(|key| object.non_blank_text(key));
    let replaced: Vec<_> = raw_messages.map(|raw| (raw, "[]")).into_iter().collect();
    let chat = Chat {
        id: id.map(std::borrow::Cow::into_owned),
        title: object.non_blank_text("title").map(|title| transcript::repaired(&title)),
        times: Times {
            created: turns.iter().find_map(|turn| turn.times.created).or_else(|| first_time(object, &THREAD_TIMES)),
            updated: turns.iter().rev().find_map(|turn| turn.times.created),
            ..Times::default()
        },
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &replaced))),
        turns,
        ..Chat::default()
    };
    page::send_chat(reader, member, chat, "json")
}

/// True if the newest message comes first. The times of the first and last message show this. Without times, their
/// speakers show it, because a prompt comes before its answer.
fn is_newest_first(turns: &[Turn]) -> bool {
    let (Some(first), Some(last)) = (turns.first(), turns.last()) else { return false };
    match (first.times.created, last.times.created) {
        (Some(first), Some(last)) if first != last => first > last,
        _ => first.role == "assistant" && last.role == "user",
    }
}

/// Reads an element that contains a prompt, its answer and one time: `{prompt, response, timestamp}`.
fn read_pair(raw: &RawValue, message: &Object<'_>, pointer: &str) -> Option<[Turn; 2]> {
    let find = |keys: &[&'static str]| {
        let key = keys.iter().find(|key| message.non_blank_text(key).is_some())?;
        Some((*key, message.raw_value(key)?, transcript::repaired(&message.text(key)?)))
    };
    let (prompt_key, raw_prompt, prompt) = find(&["prompt", "user_message", "query", "question"])?;
    let (answer_key, _, answer) = find(&["response", "reply", "answer", "ai_response"])?;
    let turn = |role: &str, key: &str, text: String, verbatim: String| Turn {
        role: role.into(),
        text,
        content_type: "text".into(),
        times: Times { created: first_time(message, &MESSAGE_TIMES), ..Times::default() },
        pointer: format!("{pointer}/{key}"),
        verbatim: Some(Verbatim::json(verbatim)),
        ..Turn::default()
    };
    // The verbatim of the answer does not contain the prompt, so erasing the prompt erases its text completely.
    let rest = with_replaced_values(raw.get(), &[(raw_prompt, "\"\"")]);
    let mut answer = turn("assistant", answer_key, answer, rest);
    let known_members: Vec<&str> = [prompt_key, answer_key].into_iter().chain(MESSAGE_TIMES).collect();
    answer.fields = other_fields(message, &known_members);
    Some([turn("user", prompt_key, prompt, raw_prompt.get().to_owned()), answer])
}

fn read_message(raw: &RawValue, message: &Object<'_>, role: &str, sender: String, pointer: String) -> Turn {
    let text = ["content", "text"].iter().find_map(|key| message.text(key));
    let mut turn = Turn {
        role: role.into(),
        text: text.map(|text| transcript::repaired(&text)).unwrap_or_default(),
        content_type: "text".into(),
        times: Times { created: first_time(message, &MESSAGE_TIMES), ..Times::default() },
        pointer,
        verbatim: Some(Verbatim::json(raw.get())),
        ..Turn::default()
    };
    if !sender.is_empty() {
        turn.fields.insert("sender_name".into(), sender.into());
    }
    let is_known = |name: &str| ["content", "text", "sender_name"].contains(&name) || MESSAGE_TIMES.contains(&name);
    for (name, raw) in message.members().filter(|(name, _)| !is_known(name)) {
        let value = decode_string(raw).map(|text| transcript::repaired(&text).into());
        if let Some(value) = value.or_else(|| serde_json::from_str(raw.get()).ok()) {
            turn.fields.insert(name.into(), value);
        }
    }
    turn
}
