//! Reads histories. Each history is a conversation with one character. Older histories have `msgs`. Newer ones have
//! `turns` with candidates, which are alternative texts.
use super::CHARACTER_AI;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, TurnParent},
    object::{Object, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_model::{DroppedAs, Kind, Source, Times, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashMap;

pub(super) const LIST_KEYS: [&str; 2] = ["histories", "chats"];
/// Members of a history that have a field in the model.
const HISTORY_MEMBERS: [&str; 8] =
    ["external_id", "chat_id", "id", "msgs", "turns", "created", "last_interaction", "title"];
/// Members of a message that have a field in the model.
const MESSAGE_MEMBERS: [&str; 9] =
    ["uuid", "id", "text", "src", "created", "create_time", "turn_key", "candidates", "primary_candidate_id"];

/// Reads an element, which is a history or an object that contains histories. Histories may be nested in at most two
/// levels of objects or lists.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    character: Option<&str>,
) -> Result<(), FormatError> {
    read_object(reader, member, element.text, &element.object, &element.pointer, character, 2)
}

fn read_object(
    reader: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    object: &Object<'_>,
    pointer: &str,
    character: Option<&str>,
    nesting: usize,
) -> Result<(), FormatError> {
    let character_name = object.object("info").or_else(|| object.object("character"));
    let character_name = character_name.and_then(|info| character_of(&info)).or_else(|| character.map(Into::into));
    if let Some(key) = ["msgs", "turns"].into_iter().find(|key| object.raw_value(key).is_some()) {
        let raw_messages = object.raw_value(key);
        let messages = raw_messages.and_then(list);
        if messages.is_none() {
            let place = format!("{}#{pointer}/{key}", member.place);
            let reason = "malformed: the messages are not a list";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
        }
        let replaced: Vec<(&RawValue, &str)> =
            raw_messages.filter(|_| messages.is_some()).into_iter().map(|raw| (raw, "[]")).collect();
        let messages = messages.unwrap_or_default().into_iter().enumerate();
        let messages = messages.map(|(index, raw)| (format!("{pointer}/{key}/{index}"), raw)).collect();
        let verbatim = with_replaced_values(text, &replaced);
        return send(reader, member, History { object, pointer, verbatim, messages }, character_name.as_deref());
    }
    let inside = LIST_KEYS.iter().find_map(|key| Some((*key, object.raw_value(key)?)));
    let Some((key, raw)) = inside.filter(|_| nesting > 0) else {
        let reason = "not_a_conversation: no messages";
        reader.report_failed(member, pointer, reason, Kind::Conversation);
        return Ok(());
    };
    let list_pointer = format!("{pointer}/{key}");
    if let Some(inner) = Object::parse(raw.get()) {
        return read_object(reader, member, raw.get(), &inner, &list_pointer, character_name.as_deref(), nesting - 1);
    }
    for (index, raw) in list(raw).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{list_pointer}/{index}");
        match Object::parse(raw.get()) {
            Some(history) => {
                read_object(reader, member, raw.get(), &history, &pointer, character_name.as_deref(), nesting - 1)?;
            }
            None => {
                let place = format!("{}#{pointer}", member.place);
                let reason = "not_an_object: this entry is not a history";
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            }
        }
    }
    Ok(())
}

/// Returns the name of the character from the object that describes the character.
pub(super) fn character_of(info: &Object<'_>) -> Option<String> {
    let inner = info.object("character");
    let names = ["participant__name", "name", "title"];
    inner.as_ref().and_then(|inner| first_text(inner, &names)).or_else(|| first_text(info, &names))
}

/// A history and its messages. Each message has its JSON pointer.
struct History<'h> {
    object: &'h Object<'h>,
    pointer: &'h str,
    /// JSON of the history with an empty list in place of the messages.
    verbatim: String,
    messages: Vec<(String, &'h RawValue)>,
}

/// True if an object of a file is a turn that is not inside a history.
pub(super) fn is_turn(object: &Object<'_>) -> bool {
    object.has("turn_key") && object.has("candidates")
}

/// Turns that are not inside a history, grouped by their chats.
#[derive(Default)]
pub(super) struct LooseTurns {
    chats: Vec<LooseChat>,
    /// Maps the id of a chat to its index in `chats`.
    positions: HashMap<Option<String>, usize>,
    bytes: u64,
}

/// The turns of one chat. Each turn has its JSON pointer and its JSON.
struct LooseChat {
    id: Option<String>,
    turns: Vec<(String, String)>,
}

impl LooseTurns {
    /// Adds a turn to its chat. Returns an error if the turns together are larger than the size limit of an element.
    pub(super) fn add(
        &mut self,
        reader: &FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        self.bytes += element.text.len() as u64;
        let limit = reader.context.limits.element_bytes;
        if self.bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        let id = element.object.object("turn_key").and_then(|key| first_id(&key, &["chat_id"]));
        let turn = (element.pointer.clone(), element.text.to_owned());
        let position = *self.positions.entry(id.clone()).or_insert(self.chats.len());
        match self.chats.get_mut(position) {
            Some(chat) => chat.turns.push(turn),
            None => self.chats.push(LooseChat { id, turns: vec![turn] }),
        }
        Ok(())
    }

    /// Sends each chat to the sink as a history without members of its own.
    pub(super) fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        for LooseChat { id, turns } in self.chats {
            let text = serde_json::json!({ "chat_id": id }).to_string();
            let object = Object::parse(&text).unwrap_or_default();
            let messages = turns.iter().filter_map(|(at, text)| Some((at.clone(), serde_json::from_str(text).ok()?)));
            let messages: Vec<(String, &RawValue)> = messages.collect();
            let history = History { object: &object, pointer: "", verbatim: "[]".into(), messages };
            send(reader, member, history, None)?;
        }
        Ok(())
    }
}

fn send(
    reader: &mut FileReader<'_>,
    member: &Member,
    History { object: history, pointer, verbatim, messages }: History<'_>,
    character: Option<&str>,
) -> Result<(), FormatError> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut previous_key: Option<String> = None;
    // The API of the website returns the newest turn first. Turns in that order are reversed.
    let mut numbered = messages;
    let time = |raw: &RawValue| Object::parse(raw.get()).and_then(|m| first_time(&m, &["create_time", "created"]));
    if let (Some((_, first)), Some((_, last))) = (numbered.first(), numbered.last())
        && time(first) > time(last)
        && time(last).is_some()
    {
        numbered.reverse();
    }
    for (pointer, raw) in numbered {
        let place = format!("{}#{pointer}", member.place);
        let Some(message) = Object::parse(raw.get()) else {
            let reason = "not_an_object: this entry is not a message";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        };
        let message_turns = read_message(raw, &message, &pointer, previous_key.as_deref());
        if message_turns.is_empty() {
            let reason = "not_a_message: no text and no speaker";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        }
        // The chosen candidate is the last one in the list. It is the parent of the next message.
        previous_key = message_turns.last().and_then(|turn| turn.key.clone()).or(previous_key);
        turns.extend(message_turns);
    }
    let times = || turns.iter().filter_map(|turn| turn.times.created);
    let chat = Chat {
        id: first_id(history, &["external_id", "chat_id", "id"]),
        title: first_text(history, &["title"]).or_else(|| character.map(Into::into)),
        times: Times {
            created: first_time(history, &["created", "create_time"]).or(times().min()),
            updated: first_time(history, &["last_interaction"]).or(times().max()),
            ..Times::default()
        },
        source: Source { project: character.map(Into::into), ..Source::default() },
        pointer: pointer.to_owned(),
        fields: other_fields(history, &HISTORY_MEMBERS),
        verbatim: Some(Verbatim::json(verbatim)),
        leaf: previous_key,
        turns,
        ..Chat::default()
    };
    let mut issues = Vec::new();
    let file =
        ChatFile { format: CHARACTER_AI, platform: CHARACTER_AI, version: Some("histories"), container: &member.place };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

/// Returns one turn for each alternative text of a message. The chosen text comes last. A message in the older shape
/// has only one text.
fn read_message(raw: &RawValue, message: &Object<'_>, pointer: &str, previous_key: Option<&str>) -> Vec<Turn> {
    let author = message.object("src").or_else(|| message.object("author"));
    let is_human = author.as_ref().and_then(|author| author.raw_value("is_human"));
    let is_human = is_human.filter(|raw| matches!(raw.get(), "true" | "false")).map(|raw| raw.get() == "true");
    let key = message.object("turn_key").and_then(|key| first_id(&key, &["turn_id"]));
    let id = first_id(message, &["uuid", "id"]).or(key);
    // In newer messages of a character, the object of the author has no `is_human`.
    let role = match is_human {
        Some(true) => "user",
        Some(false) => "assistant",
        None if author.is_some() && message.has("candidates") => "assistant",
        None => "unknown",
    };
    let parent = previous_key.map_or(TurnParent::Root, |id| TurnParent::Id(id.to_owned()));
    let times = |object: &Object<'_>| Times {
        created: first_time(object, &["create_time", "created"]).or(first_time(message, &["create_time", "created"])),
        ..Times::default()
    };
    let name = author.as_ref().and_then(|author| {
        let user = author.object("user").and_then(|user| first_text(&user, &["username", "name"]));
        first_text(author, &["name"]).or(user)
    });
    let mut fields = other_fields(message, &MESSAGE_MEMBERS);
    fields.extend(name.map(|name| ("author".to_owned(), name.into())));
    let turn = |key: String, origin: Option<String>, text: String, object: &Object<'_>, raw: &RawValue| Turn {
        key: Some(key),
        id: origin,
        parent: parent.clone(),
        role: role.into(),
        text,
        content_type: "text".into(),
        times: times(object),
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(raw.get())),
        fields: fields.clone(),
        ..Turn::default()
    };
    let digest = |text: &str| mementory_formats_shared::object::content_id(&format!("{pointer}\n{role}\n{text}"));
    let candidates = message.list("candidates").unwrap_or_default();
    if candidates.is_empty() {
        let text = message.text("text").map(Into::into);
        let Some(text): Option<String> = text.or_else(|| author.is_some().then(String::new)) else { return Vec::new() };
        let key = id.clone().unwrap_or_else(|| digest(&text));
        return vec![turn(key, id, text, message, raw)];
    }
    let chosen = first_id(message, &["primary_candidate_id"]);
    let mut out: Vec<(bool, Turn)> = Vec::with_capacity(candidates.len());
    for raw in candidates {
        let Some(candidate) = Object::parse(raw.get()) else { continue };
        let text = first_text(&candidate, &["raw_content", "text"]).unwrap_or_default();
        let candidate_id = first_id(&candidate, &["candidate_id", "id"]);
        let key = candidate_id.clone().unwrap_or_else(|| digest(&text));
        out.push((candidate_id.is_some() && candidate_id == chosen, turn(key, candidate_id, text, &candidate, raw)));
    }
    out.sort_by_key(|(is_chosen, _)| *is_chosen);
    out.into_iter().map(|(_, turn)| turn).collect()
}
