//! Reads threads of LangGraph, and messages that LangChain serialised. Each state of a thread contains all messages so
//! far, so the states of a thread are merged by the ids of their messages.
use super::{ID, PLATFORM};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::memory_rows::{id_of, time_of_text};
use mementory_formats_shared::message::{read_message, send};
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Times, Timestamp, Verbatim};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The threads of a file, in the order of the file.
#[derive(Default)]
pub(super) struct Threads {
    list: Vec<Thread>,
    positions: HashMap<String, usize>,
}

/// The messages of a thread, from the states that have been read so far.
#[derive(Default)]
pub(super) struct Thread {
    id: Option<String>,
    pointer: String,
    title: Option<String>,
    summary: String,
    times: Times,
    turns: Vec<Turn>,
    positions: HashMap<String, usize>,
    /// The messages without ids, from the state that contains the largest number of them.
    turns_without_id: Vec<Turn>,
    /// True if the messages come from a list without a thread around it.
    is_list: bool,
}

/// Name of the conversation that consists of messages without a thread. No thread has this name, because thread ids
/// cannot be empty.
const NO_THREAD: &str = "";

impl Threads {
    /// Adds the state or the serialised message in a row. Returns false if the row is neither of them.
    pub(super) fn add(&mut self, text: &str, pointer: &str) -> bool {
        let Some(object) = Object::parse(text) else { return false };
        if object.has("lc") && object.has("kwargs") {
            return self.add_message(text, pointer);
        }
        let is_state = object.object("values").is_some_and(|values| values.has("messages"));
        let state = is_state.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        let Some(mut state) = state else { return false };
        let thread_id_pointers = ["/thread_id", "/checkpoint/thread_id", "/config/configurable/thread_id"];
        let id = thread_id_pointers.iter().find_map(|at| Some(state.pointer(at)?.as_str()?.to_owned()));
        let name = id.clone().unwrap_or_else(|| format!("@{pointer}"));
        let Some(thread) = self.thread(name, id, pointer) else { return false };
        thread.title = thread.title.take().or_else(|| {
            ["title", "name", "thread_title"].iter().find_map(|key| Some(state["metadata"][key].as_str()?.to_owned()))
        });
        for key in ["created_at", "updated_at"] {
            thread.add_time(state[key].as_str());
        }
        thread.add_channels(state["values"].take(), pointer);
        true
    }

    /// Adds a serialised message that is not inside the state of a thread. All such messages of a file form one
    /// conversation. Returns false if the text is not a message.
    fn add_message(&mut self, text: &str, pointer: &str) -> bool {
        let value = serde_json::from_str(text).ok();
        let Some(members) = value.and_then(|value| message(value, "messages")) else { return false };
        let Some(thread) = self.thread(NO_THREAD.to_owned(), None, pointer) else { return false };
        thread.is_list = true;
        thread.turns.push(Turn { verbatim: Some(Verbatim::json(text)), ..turn(members, pointer.to_owned()) });
        true
    }

    /// Returns the thread with this name, which is created if it does not exist.
    fn thread(&mut self, name: String, id: Option<String>, pointer: &str) -> Option<&mut Thread> {
        let position = *self.positions.entry(name).or_insert_with(|| {
            self.list.push(Thread::new(id, pointer.to_owned()));
            self.list.len() - 1
        });
        self.list.get_mut(position)
    }

    /// Sends the threads as conversations.
    pub(super) fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        self.list.into_iter().try_for_each(|thread| thread.send(files, member))
    }
}

impl Thread {
    pub(super) fn new(id: Option<String>, pointer: String) -> Self {
        Self { id, pointer, ..Self::default() }
    }

    /// Extends the times of the thread (creation and last change) to include the time in `text`.
    pub(super) fn add_time(&mut self, text: Option<&str>) {
        let Some(time) = text.and_then(time_of_text) else { return };
        let is_earlier = |known: Option<Timestamp>| known.is_none_or(|known| time < known);
        let is_later = |known: Option<Timestamp>| known.is_none_or(|known| time > known);
        if is_earlier(self.times.created) {
            self.times.created = Some(time);
        }
        if is_later(self.times.updated) {
            self.times.updated = Some(time);
        }
    }

    /// Adds the messages in all message lists (channels) of a state.
    pub(super) fn add_channels(&mut self, channels: Value, pointer: &str) {
        let Value::Object(channels) = channels else { return };
        let mut turns_without_id = Vec::new();
        for (name, channel) in channels {
            match channel {
                Value::String(text) if name == "summary" => self.summary = text,
                Value::Array(list) => {
                    for (index, message) in list.into_iter().filter_map(|value| message(value, &name)).enumerate() {
                        let turn = turn(message, format!("{pointer}/{name}/{index}"));
                        match turn.id.clone() {
                            Some(id) => self.add(id, turn),
                            None => turns_without_id.push(turn),
                        }
                    }
                }
                _ => {}
            }
        }
        if turns_without_id.len() >= self.turns_without_id.len() {
            self.turns_without_id = turns_without_id;
        }
    }

    fn add(&mut self, id: String, turn: Turn) {
        match self.positions.get(&id).and_then(|at| self.turns.get_mut(*at)) {
            Some(known) => *known = turn,
            None => {
                self.positions.insert(id, self.turns.len());
                self.turns.push(turn);
            }
        }
    }

    /// Sends the thread as a conversation. A thread without messages is not sent.
    pub(super) fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut turns = self.turns;
        turns.extend(self.turns_without_id);
        if turns.is_empty() {
            return Ok(());
        }
        let verbatim = Verbatim::json(json!({"thread_id": self.id}).to_string());
        // The key is made from the first messages, which stay the same if a later list of the same conversation is
        // longer.
        let first: Vec<_> = turns.iter().take(4).map(|turn| (turn.role.as_str(), turn.text.as_str())).collect();
        let key = self.is_list.then(|| content_id(&format!("{first:?}")));
        let chat = Chat {
            key,
            id: self.id,
            title: self.title,
            summary: self.summary,
            times: self.times,
            pointer: self.pointer,
            verbatim: Some(verbatim),
            turns,
            is_log: true,
            ..Chat::default()
        };
        debug_assert_eq!(files.format, ID);
        send(files, member, chat, PLATFORM, Some("threads"))
    }
}

/// Returns the members of a message. The message is an object with content, a serialised class of LangChain, or a pair
/// of a role and a text. None for any other value.
fn message(value: Value, channel: &str) -> Option<Map<String, Value>> {
    match value {
        Value::Object(mut object) if object.contains_key("lc") => {
            let class = object.get("id")?.as_array()?.last()?.as_str()?.to_lowercase();
            let Some(Value::Object(mut members)) = object.remove("kwargs") else { return None };
            // The `type` of a part of a streamed message is not a role, so the role comes from the name of the class.
            // Only a `ChatMessage` states its role.
            if !(class.starts_with("chat") && members.contains_key("role")) {
                let kinds = ["human", "ai", "system", "tool", "function"];
                let kind = kinds.into_iter().find(|kind| class.starts_with(kind))?;
                members.insert("type".into(), kind.into());
            }
            Some(members)
        }
        Value::Object(object) => {
            let is_message =
                object.contains_key("content") && ["type", "role"].iter().any(|key| object.contains_key(*key));
            is_message.then_some(object)
        }
        Value::Array(pair) if channel == "messages" => match pair.as_slice() {
            [Value::String(role), Value::String(text)] => {
                Some(Map::from_iter([("role".into(), role.as_str().into()), ("content".into(), text.as_str().into())]))
            }
            _ => None,
        },
        _ => None,
    }
}

fn turn(message: Map<String, Value>, pointer: String) -> Turn {
    let model = message
        .get("response_metadata")
        .and_then(|about| ["model_name", "model"].iter().find_map(|key| Some(about.get(key)?.as_str()?.to_owned())));
    let text = Value::Object(message).to_string();
    let object = Object::parse(&text).unwrap_or_default();
    let mut turn = read_message(&object, &text, pointer, ID);
    turn.id = object.raw_value("id").and_then(id_of);
    turn.model = turn.model.or(model);
    turn
}
