//! A chat of OpenRouter (`orpg.1.0` to `orpg.3.0`). It has characters (models), messages and, since version 3, the
//! parts of the messages. Characters, messages and parts are objects whose keys are ids.
use super::FORMAT_ID;
use super::distant_parts::DistantParts;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, USER, role};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashMap;

const PLATFORM: &str = "openrouter";

/// Sends the chat.
pub(super) fn read_chat(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let Some(messages) = object.object("messages") else {
        let place = format!("{}#{}", member.place, element.pointer);
        files.report_dropped(
            place,
            DroppedAs::Failed,
            "no_messages: this chat has no messages",
            Some(Kind::Conversation),
        );
        return Ok(());
    };
    let characters = object.object("characters").unwrap_or_default();
    let models: HashMap<&str, String> = characters.members().filter_map(|(id, raw)| Some((id, model(raw)?))).collect();
    let all_items = object.object("items").unwrap_or_default();
    let items: HashMap<&str, &RawValue> = all_items.members().collect();
    let mut turns = Vec::new();
    for (id, raw) in messages.members() {
        let pointer = format!("{}/messages/{id}", element.pointer);
        match Object::parse(raw.get()) {
            Some(message) => turns.push(turn(id, &message, raw.get(), pointer, &models, &items)),
            None => report_no_message(files, member, &pointer),
        }
    }
    turns.sort_by_key(|turn| turn.times.created);
    let cuts: Vec<(&RawValue, &str)> =
        ["messages", "items"].iter().filter_map(|key| object.raw_value(key)).map(|raw| (raw, "{}")).collect();
    let chat = Chat {
        id: first_text(object, &["id", "chatId"]),
        title: first_text(object, &["title"]),
        times: times(object),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &cuts))),
        turns,
        ..Chat::default()
    };
    let version = object.text("version").map(std::borrow::Cow::into_owned);
    send(files, member, chat, PLATFORM, version.as_deref())
}

/// Name of the model behind a character.
fn model(raw: &RawValue) -> Option<String> {
    let character = Object::parse(raw.get())?;
    let info = character.object("modelInfo");
    first_text(&character, &["model"]).or_else(|| first_text(info.as_ref()?, &["slug", "name"]))
}

fn turn(
    id: &str,
    message: &Object<'_>,
    text: &str,
    pointer: String,
    models: &HashMap<&str, String>,
    items: &HashMap<&str, &RawValue>,
) -> Turn {
    let mut turn = read_message(message, text, pointer, FORMAT_ID);
    turn.id = Some(id.to_owned());
    let mut parts = DistantParts::default();
    let mut stated_role = None;
    for reference in message.list("items").unwrap_or_default() {
        let reference = Object::parse(reference.get()).and_then(|reference| first_text(&reference, &["id"]));
        let Some(raw) = reference.and_then(|id| items.get(id.as_str()).copied()) else { continue };
        parts.add_source(raw);
        let Some(data) = Object::parse(raw.get()).and_then(|item| item.object("data")) else { continue };
        stated_role = stated_role.or_else(|| data.text("role").and_then(|name| role(&name)));
        add_item(&data, raw, &mut parts.content);
    }
    let character = first_text(message, &["characterId"]).unwrap_or_default();
    let is_person = character.eq_ignore_ascii_case("user");
    let from_type = message.text("type").and_then(|name| role(&name));
    let role_of_character = if is_person { USER } else { ASSISTANT };
    turn.role = stated_role.or(from_type).unwrap_or(role_of_character).to_owned();
    turn.model = models.get(character.as_str()).cloned().or(turn.model);
    turn.hidden = false;
    if turn.parent == TurnParent::Previous && message.has("parentMessageId") {
        turn.parent = TurnParent::Root;
    }
    parts.put_into(&mut turn, text);
    turn
}

/// Adds a part of a message to `content`: text, a thought, or a tool call.
fn add_item(data: &Object<'_>, item: &RawValue, content: &mut Content) {
    let kind = data.text("type").unwrap_or_default();
    match kind.as_ref() {
        "message" => {
            if let Some(raw) = data.raw_value("content") {
                content.add(raw);
            }
        }
        "reasoning" => {
            let text = ["content", "summary"].iter().find_map(|key| data.raw_value(key));
            content.add_block(
                "thinking",
                None,
                text.map(mementory_formats_shared::content::nested_text).unwrap_or_default(),
            );
        }
        _ => {
            if let Some(raw) = Object::parse(item.get()).and_then(|item| item.raw_value("data")) {
                content.add(raw);
            }
        }
    }
}
