//! The whole backup of a chat program in one object: NextChat, Chatbox and LobeChat.
use super::FORMAT_ID;
use super::conversation::{LooseMessages, TITLE_KEYS, conversation};
use super::shape::{CHATBOX_LIST, CHATBOX_SESSION, NEXT_CHAT};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::values;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::{HashMap, HashSet};

/// Sends the sessions of a backup of NextChat. The backup's settings are left out, because they contain API keys.
pub(super) fn read_next_chat(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let mut loose = LooseMessages::of_platform("nextchat");
    let sessions = element.object.object(NEXT_CHAT).and_then(|store| store.list("sessions")).unwrap_or_default();
    for (index, raw) in sessions.into_iter().enumerate() {
        session(files, member, raw, format!("{}/{NEXT_CHAT}/sessions/{index}", element.pointer), &mut loose)?;
    }
    loose.send(files, member)
}

/// Sends the sessions of a backup of Chatbox, and the earlier threads inside them.
pub(super) fn read_chatbox(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let mut loose = LooseMessages::of_platform("chatbox");
    let mut session_texts: Vec<(String, &RawValue)> = Vec::new();
    for (name, raw) in element.object.members() {
        if name.starts_with(CHATBOX_SESSION) {
            session_texts.push((format!("{}/{name}", element.pointer), raw));
        } else if name == CHATBOX_LIST {
            let sessions = list(raw).unwrap_or_default().into_iter().enumerate();
            session_texts.extend(sessions.map(|(n, raw)| (format!("{}/{name}/{n}", element.pointer), raw)));
        }
    }
    for (pointer, raw) in session_texts {
        let threads = Object::parse(raw.get()).and_then(|object| object.list("threads")).unwrap_or_default();
        for (index, thread) in threads.into_iter().enumerate() {
            // Entries without messages are skipped. The messages of the open thread are in the session itself, which is
            // read below.
            if Object::parse(thread.get()).is_some_and(|thread| thread.has("messages")) {
                session(files, member, thread, format!("{pointer}/threads/{index}"), &mut loose)?;
            }
        }
        session(files, member, raw, pointer, &mut loose)?;
    }
    loose.send(files, member)
}

fn session(
    files: &mut FileReader<'_>,
    member: &Member,
    raw: &RawValue,
    pointer: String,
    loose: &mut LooseMessages,
) -> Result<(), FormatError> {
    let Some(object) = Object::parse(raw.get()) else {
        let place = format!("{}#{pointer}", member.place);
        let reason = "not_an_object: this session is none";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    conversation(files, member, &ObjectElement { text: raw.get(), object, pointer }, loose)
}

/// Sends the topics of a backup of LobeChat, and those messages of its sessions that are outside of topics.
pub(super) fn read_lobe_chat(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let key = if element.object.has("state") { "state" } else { "data" };
    let state = element.object.object(key).unwrap_or_default();
    let at = format!("{}/{key}", element.pointer);
    let mut order: Vec<String> = Vec::new();
    let mut turns: HashMap<String, Vec<Turn>> = HashMap::new();
    let mut session_of: HashMap<String, String> = HashMap::new();
    for (index, raw) in state.list("messages").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{at}/messages/{index}");
        let Some(message) = Object::parse(raw.get()) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        let session = first_text(&message, &["sessionId"]).unwrap_or_else(|| "inbox".into());
        let id = first_text(&message, &["topicId", "threadId"]).unwrap_or_else(|| session.clone());
        let mut turn = read_message(&message, raw.get(), pointer, FORMAT_ID);
        add_calls(&message, &mut turn);
        let extra = message.object("extra");
        turn.model = turn.model.or_else(|| first_text(extra.as_ref()?, &["fromModel"]));
        if !turns.contains_key(&id) {
            order.push(id.clone());
            session_of.insert(id.clone(), session);
        }
        turns.entry(id).or_default().push(turn);
    }
    let rows_by_id = |list: &str| by_id(state.list(list).unwrap_or_default());
    let (topics, sessions) = (rows_by_id("topics"), rows_by_id("sessions"));
    for id in order {
        let mut own_turns = turns.remove(&id).unwrap_or_default();
        own_turns.sort_by_key(|turn| turn.times.created);
        let ids: HashSet<String> = own_turns.iter().filter_map(|turn| turn.id.clone()).collect();
        for turn in &mut own_turns {
            if matches!(&turn.parent, TurnParent::Id(parent) if !ids.contains(parent)) {
                turn.parent = TurnParent::Previous;
            }
        }
        let topic = topics.get(&id).copied();
        let session = session_of.get(&id).and_then(|session| sessions.get(session)).copied();
        let mut chat = head(topic, session);
        chat.id = Some(id);
        chat.pointer.clone_from(&at);
        chat.turns = own_turns;
        send(files, member, chat, "lobechat", Some("lobechat"))?;
    }
    Ok(())
}

/// Adds the calls of an answer, which are under `tools`, with the name of the tool as `apiName`.
fn add_calls(message: &Object<'_>, turn: &mut Turn) {
    let calls = message.objects("tools").filter(|call| call.has("apiName"));
    let blocks = calls.map(|call| {
        let arguments = call.text("arguments").unwrap_or_default().into_owned();
        values::block("tool_call", call.text("apiName").as_deref(), arguments)
    });
    let blocks: Vec<Value> = blocks.collect();
    if blocks.is_empty() {
        return;
    }
    match turn.fields.get_mut("blocks").and_then(Value::as_array_mut) {
        Some(list) => list.extend(blocks),
        None => {
            turn.fields.insert("blocks".into(), blocks.into());
        }
    }
    if turn.text.trim().is_empty() {
        turn.content_type = "tool_call".into();
    }
}

/// Title, times and instructions of a topic. Values that the topic does not state are those of its session.
fn head(topic: Option<&RawValue>, session: Option<&RawValue>) -> Chat {
    let topic_object = topic.and_then(|raw| Object::parse(raw.get()));
    let session_object = session.and_then(|raw| Object::parse(raw.get()));
    let title = |object: &Object<'_>| {
        let meta = object.object("meta");
        first_text(object, &TITLE_KEYS).or_else(|| first_text(meta.as_ref()?, &TITLE_KEYS))
    };
    let mut chat = Chat {
        title: topic_object.as_ref().and_then(title).or_else(|| session_object.as_ref().and_then(title)),
        times: topic_object.as_ref().or(session_object.as_ref()).map(times).unwrap_or_default(),
        summary: topic_object.as_ref().and_then(|o| first_text(o, &["historySummary"])).unwrap_or_default(),
        verbatim: topic.or(session).map(|raw| Verbatim::json(raw.get())),
        ..Chat::default()
    };
    let config = session_object.as_ref().and_then(|object| object.object("config"));
    chat.model = config.as_ref().and_then(|config| first_text(config, &["model"]));
    if let Some(prompt) = config.as_ref().and_then(|config| first_text(config, &["systemRole"])) {
        chat.fields.insert("system_prompt".into(), prompt.into());
    }
    chat
}

fn by_id(list: Vec<&RawValue>) -> HashMap<String, &RawValue> {
    let entries = list.into_iter().filter_map(|raw| Some((first_text(&Object::parse(raw.get())?, &["id"])?, raw)));
    entries.collect()
}
