//! Reads threads of Gemini in Workspace (`Gemini in Workspace/Conversation History/conversation_N.txt`), which are
//! JSON: `{title, creation_time, conversation_turns[{user_turn{prompt}} | {system_turn{text[{data, preamble}]}}]}`.
use super::activity::{SCOPE, file_key};
use mementory_format::{Catalog, Detected, FormatError, Member, Role};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn, TurnParent},
    files::without_extension,
    object::{Object, content_id, list, with_replaced_values},
    reader::FileReader,
};
use mementory_model::{AttachmentRef, DroppedAs, Kind, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::HashMap;

/// Members of a thread for which the model has a field.
const READ_MEMBERS: [&str; 4] = ["title", "creation_time", "last_modification_time", "conversation_turns"];
/// Members of a turn for which the model has a field.
const READ_TURN_MEMBERS: [&str; 5] = ["prompt", "text", "images", "model_thoughts", "turn_last_modified"];

/// File names of pictures, by folder and by the name without extension, because a thread states a picture without its
/// extension.
pub(super) struct Pictures(HashMap<(String, String), String>);

impl Pictures {
    /// Collects the files next to the threads of an export.
    pub(super) fn from_export(catalog: &Catalog, detected: &Detected) -> Self {
        let parts = detected.claim.parts.iter().filter(|part| part.role == Role::Attachment);
        let members = parts.filter_map(|part| catalog.members().get(part.member));
        let names = members.flat_map(|member| {
            let name = member.file_name();
            let stem = without_extension(name);
            [stem, name].map(|known| ((folder(&member.place), known.to_owned()), name.to_owned()))
        });
        Self(names.collect())
    }

    /// Returns the file name of a picture in a thread. If the export has no such file, returns the name that the thread
    /// states.
    fn file_name(&self, member: &Member, picture: &str) -> String {
        let known = self.0.get(&(folder(&member.place), picture.to_owned()));
        known.map_or_else(|| picture.to_owned(), Clone::clone)
    }
}

fn folder(place: &str) -> String {
    place.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned()
}

/// Reads a file that contains one thread or a list of threads.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member, pictures: &Pictures) -> Result<(), FormatError> {
    reader.objects(member, &["conversations"], Kind::Conversation, |reader, element| {
        let thread = &element.object;
        let place = format!("{}#{}", member.place, element.pointer);
        let raw_turns = thread.raw_value("conversation_turns");
        let Some(items) = raw_turns.and_then(list) else {
            let reason = "not_a_conversation: no list of turns";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            return Ok(());
        };
        let mut chat = Chat {
            title: thread.non_blank_text("title").map(Into::into),
            times: Times {
                created: thread.timestamp("creation_time"),
                updated: thread.timestamp("last_modification_time"),
                ..Times::default()
            },
            pointer: element.pointer.clone(),
            verbatim: raw_turns.map(|raw| Verbatim::json(with_replaced_values(element.text, &[(raw, "[]")]))),
            ..Chat::default()
        };
        for (name, raw) in thread.members().filter(|(name, _)| !READ_MEMBERS.contains(name)) {
            chat.fields.extend(serde_json::from_str(raw.get()).ok().map(|value| (name.to_owned(), value)));
        }
        let mut places = TurnPositions::default();
        for (index, raw) in items.iter().enumerate() {
            let pointer = format!("{}/conversation_turns/{index}", element.pointer);
            let file_name = |picture: &str| pictures.file_name(member, picture);
            let element_turns = turns(raw, &pointer, index, &mut places, &file_name);
            if element_turns.is_empty() {
                let reason = "not_a_message: neither a turn of the user nor one of the system";
                let place = format!("{}#{pointer}", member.place);
                reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
            chat.turns.extend(element_turns);
        }
        chat.id = Some(thread_id(thread, &chat));
        let file = ChatFile { format: SCOPE, platform: SCOPE, version: Some("workspace"), container: &member.place };
        let mut issues = Vec::new();
        let unit = chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| reader.sink.note(issue));
        reader.sink.unit(unit)
    })?;
    Ok(())
}

/// Returns the id of a thread. If the file states no id, the id is a digest of the thread's time and first prompt. The
/// number in the file name is not used, because it changes between exports.
fn thread_id(thread: &Object<'_>, chat: &Chat) -> String {
    let id = ["conversation_id", "id"].iter().find_map(|key| thread.non_blank_text(key));
    let digest = || {
        let first = chat.turns.first().map_or("", |turn| turn.text.as_str());
        content_id(&format!("{}\n{first}", thread.text("creation_time").unwrap_or_default()))
    };
    format!("workspace/{}", id.map_or_else(digest, Into::into))
}

/// Determines the ids and parents of the turns of a thread.
#[derive(Default)]
struct TurnPositions {
    /// For each role and turn number: the number of turns that have both, and the parent of the first of these turns.
    known: HashMap<(&'static str, u64), (u32, TurnParent)>,
    /// Role, number and id of the previous turn.
    previous_turn: Option<(&'static str, u64, String)>,
}

impl TurnPositions {
    /// Returns the id and the parent of the next turn. An edited prompt has the same number as the original prompt, and
    /// a regenerated answer has the same number as the previous answer. The parent of such a turn is the previous turn
    /// if it may follow that turn, and otherwise the parent of the original.
    fn next(&mut self, role: &'static str, number: u64) -> (String, TurnParent) {
        let after = self.previous_turn.as_ref().map_or(TurnParent::Root, |(.., id)| TurnParent::Id(id.clone()));
        // An answer follows its prompt. A prompt follows the answer whose number is one lower.
        let is_follow_up = self.previous_turn.as_ref().is_some_and(|(role_before, number_before, _)| {
            role != *role_before && (role != "user" || number_before.checked_add(1) == Some(number))
        });
        let (count, first_parent) = self.known.entry((role, number)).or_insert_with(|| (0, after.clone()));
        let parent = if *count == 0 || is_follow_up { after } else { first_parent.clone() };
        let id = if *count == 0 { format!("{role}/{number}") } else { format!("{role}/{number}/{count}") };
        *count += 1;
        self.previous_turn = Some((role, number, id.clone()));
        (id, parent)
    }
}

/// Returns the turns of an element, which contains a turn of the user, a turn of the system, or both.
fn turns(
    raw: &RawValue,
    pointer: &str,
    index: usize,
    places: &mut TurnPositions,
    file_name: &dyn Fn(&str) -> String,
) -> Vec<Turn> {
    let Some(element) = Object::parse(raw.get()) else { return Vec::new() };
    let mut out = Vec::new();
    for (name, other, role) in [("user_turn", "system_turn", "user"), ("system_turn", "user_turn", "assistant")] {
        let Some(turn) = element.object(name) else { continue };
        // The verbatim of each message does not contain the other turn of the element, so erasing a message erases its
        // text completely.
        let others: Vec<(&RawValue, &str)> = element
            .raw_value(other)
            .filter(|_| element.object(other).is_some())
            .map(|raw| (raw, "null"))
            .into_iter()
            .collect();
        let number = turn.whole_number("turn_index").unwrap_or(index as u64);
        let (id, parent) = places.next(role, number);
        let mut message = Turn {
            id: Some(id),
            parent,
            role: role.into(),
            content_type: "text".into(),
            times: Times { created: turn.timestamp("turn_last_modified"), ..Times::default() },
            pointer: pointer.to_owned(),
            verbatim: Some(Verbatim::json(with_replaced_values(raw.get(), &others))),
            ..Turn::default()
        };
        message.text = match role {
            "user" => turn.text("prompt").unwrap_or_default().into_owned(),
            _ => answer(&turn),
        };
        let blocks = thoughts(&turn);
        if !blocks.is_empty() {
            message.fields.insert("blocks".into(), Value::Array(blocks));
        }
        for image in turn.list("images").unwrap_or_default() {
            let object = Object::parse(image.get());
            let name = mementory_formats_shared::object::decode_string(image)
                .or_else(|| object.as_ref()?.non_blank_text("name").or_else(|| object.as_ref()?.non_blank_text("id")));
            if let Some(name) = name {
                let file = file_name(&name);
                message.attachments.push(AttachmentRef {
                    key: file_key(&file),
                    origin_id: Some(name.into_owned()),
                    name: file,
                    media_type: None,
                    size: None,
                    text: None,
                });
            }
        }
        for (name, raw) in turn.members().filter(|(name, _)| !READ_TURN_MEMBERS.contains(name)) {
            message.fields.extend(serde_json::from_str(raw.get()).ok().map(|value| (name.to_owned(), value)));
        }
        out.push(message);
    }
    out
}

/// Returns the text of an answer: its `preamble`, its `data`, and the content of its `cards`.
fn answer(turn: &Object<'_>) -> String {
    let mut parts: Vec<String> = Vec::new();
    let Some(raw) = turn.raw_value("text") else { return String::new() };
    for item in list(raw).unwrap_or_else(|| vec![raw]) {
        if let Some(text) = mementory_formats_shared::object::decode_string(item) {
            parts.push(text.into_owned());
        }
        let Some(object) = Object::parse(item.get()) else { continue };
        parts.extend(["preamble", "data"].iter().filter_map(|key| object.non_blank_text(key)).map(Into::into));
        for card in object.list("cards").unwrap_or_default() {
            let content = Object::parse(card.get()).and_then(|card| card.non_blank_text("content"));
            parts.extend(content.map(Into::into));
        }
    }
    parts.join("\n\n")
}

fn thoughts(turn: &Object<'_>) -> Vec<Value> {
    let mut out = Vec::new();
    for raw in turn.list("model_thoughts").unwrap_or_default() {
        let Some(object) = Object::parse(raw.get()) else { continue };
        let parts: Vec<_> = ["headline", "description"].iter().filter_map(|key| object.non_blank_text(key)).collect();
        if !parts.is_empty() {
            out.push(serde_json::json!({ "type": "thinking", "text": parts.join("\n\n") }));
        }
    }
    out
}
