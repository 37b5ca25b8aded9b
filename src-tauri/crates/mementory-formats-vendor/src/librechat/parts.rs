//! Reads the members of a conversation and of a message, which are the same in exports and in the database.
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, read_message};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_model::{Times, Verbatim};
use serde_json::{Value, value::RawValue};

pub(super) const FORMAT_ID: &str = "librechat";

/// Reads the members of a conversation, without its messages.
pub(super) fn head(object: &Object<'_>, pointer: String, verbatim: Verbatim) -> Chat {
    let options = object.object("options");
    let option = |keys: &[&str]| options.as_ref().and_then(|options| first_text(options, keys));
    let updated = first_time(object, &["updatedAt"]);
    let created = first_time(object, &["createdAt"]);
    let mut chat = Chat {
        id: first_text(object, &["conversationId", "_id"]).or_else(|| option(&["conversationId"])),
        title: first_text(object, &["title"]).or_else(|| option(&["title"])),
        model: option(&["model", "modelLabel"]).or_else(|| first_text(object, &["model"])),
        times: Times { created, updated, ..Times::default() },
        status: object.is_true("isArchived").then(|| "archived".to_owned()),
        pointer,
        verbatim: Some(verbatim),
        ..Chat::default()
    };
    chat.source.account = first_text(object, &["user"]);
    for key in ["endpoint", "exportAt"] {
        if let Some(value) = first_text(object, &[key]) {
            chat.fields.insert(key.into(), value.into());
        }
    }
    if let Some(prompt) =
        option(&["promptPrefix", "system", "instructions"]).or_else(|| first_text(object, &["promptPrefix"]))
    {
        chat.fields.insert("system_prompt".into(), prompt.into());
    }
    if let Some(tags) = object.raw_value("tags").and_then(|raw| serde_json::from_str::<Vec<Value>>(raw.get()).ok()) {
        chat.tags = tags.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    }
    chat
}

pub(super) fn message_turn(object: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut turn = read_message(object, text, pointer, FORMAT_ID);
    turn.id = first_text(object, &["messageId", "_id", "id"]);
    if let Some(flag) = object.raw_value("isCreatedByUser").map(RawValue::get) {
        turn.role = if flag == "true" { USER } else { ASSISTANT }.into();
    } else if first_text(object, &["sender"]).is_some_and(|sender| sender != "User") {
        turn.role = ASSISTANT.into();
    }
    turn.hidden = false;
    if turn.content_type == "context" {
        turn.content_type = "text".into();
    }
    if object.is_true("error") {
        turn.fields.insert("error".into(), true.into());
    }
    turn
}
