//! Reads conversations of a ChatGPT workspace as OpenAI's Compliance API returns them (objects
//! `compliance.workspace.conversation`), and as log collectors store them: one message on each line, with the
//! conversation around it.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

const PLATFORM: &str = "chatgpt";
/// Value of the member `object` of a conversation.
const OBJECT: &str = "compliance.workspace.conversation";
/// Key under which a response lists conversations.
pub(super) const WRAPPER_KEYS: [&str; 1] = ["data"];
/// Members of a conversation or a message that are stored as additional fields, because a record has no field for them.
const FIELDS: [&str; 3] = ["workspace_id", "project_id", "gpt_id"];

/// True if the start of a file has conversations of the Compliance API. `objects` are the values of the members
/// `object`.
pub(super) fn is_response(keys: &Keys, objects: &[&str]) -> bool {
    let has = |path: &str| keys.has(path) || keys.has(&format!("data.{path}"));
    objects.contains(&OBJECT) && (has("messages") || has("message"))
}

/// The conversations of a file. The messages of one conversation may be in several elements.
#[derive(Default)]
pub(super) struct Conversations {
    chats: Vec<Chat>,
    positions: HashMap<String, usize>,
    bytes: u64,
}

impl Conversations {
    /// Adds the messages of an element to their conversation.
    pub(super) fn add(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        self.bytes += element.text.len() as u64;
        let limit = files.context.limits.element_bytes;
        if self.bytes > limit {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "too_large: the messages before this one are as large as the limit";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let (object, at) = (&element.object, &element.pointer);
        let mut turns = Vec::new();
        let mut cuts: Vec<(&RawValue, &str)> = Vec::new();
        if let Some(raw) = object.raw_value("message") {
            turns.extend(turn(raw, format!("{at}/message")));
            cuts.push((raw, "{}"));
        }
        // In a response, the list of messages is inside an object, because a response may have several pages.
        let inner = object.object("messages").and_then(|messages| messages.raw_value("data"));
        if let Some(raw) = inner.or_else(|| object.raw_value("messages")) {
            for (index, raw) in list(raw).unwrap_or_default().into_iter().enumerate() {
                let pointer = format!("{at}/messages/{index}");
                match turn(raw, pointer.clone()) {
                    Some(turn) => turns.push(turn),
                    None => report_no_message(files, member, &pointer),
                }
            }
            cuts.push((raw, "[]"));
        }
        let Some(id) = first_text(object, &["id"]).filter(|_| !turns.is_empty()) else {
            let place = format!("{}#{at}", member.place);
            let reason = "no_messages: this entry has no id or no messages";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            return Ok(());
        };
        let position = *self.positions.entry(id.clone()).or_insert_with(|| {
            let verbatim = Verbatim::json(with_replaced_values(element.text, &cuts));
            self.chats.push(head(object, id, at.clone(), verbatim));
            self.chats.len() - 1
        });
        if let Some(chat) = self.chats.get_mut(position) {
            chat.turns.extend(turns);
        }
        Ok(())
    }

    /// Sends the conversations.
    pub(super) fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        for mut chat in self.chats {
            // Collectors may repeat a message, and store messages in any order.
            let mut seen_ids = HashSet::new();
            chat.turns.retain(|turn| turn.id.as_ref().is_none_or(|id| seen_ids.insert(id.clone())));
            if chat.turns.iter().all(|turn| turn.times.created.is_some()) {
                chat.turns.sort_by_key(|turn| turn.times.created);
            }
            for turn in &mut chat.turns {
                if matches!(&turn.parent, TurnParent::Id(parent) if !seen_ids.contains(parent)) {
                    turn.parent = TurnParent::Previous;
                }
            }
            send(files, member, chat, PLATFORM, Some("compliance"))?;
        }
        Ok(())
    }
}

/// Reads a conversation except for its messages.
fn head(object: &Object<'_>, id: String, pointer: String, verbatim: Verbatim) -> Chat {
    let mut chat = Chat {
        id: Some(id),
        title: first_text(object, &["title"]),
        times: times(object),
        pointer,
        verbatim: Some(verbatim),
        ..Chat::default()
    };
    chat.times.updated = first_time(object, &["last_active_at"]).or(chat.times.updated);
    chat.source.account = first_text(object, &["user_email", "user_id"]);
    add_fields(&mut chat.fields, object);
    chat
}

/// Reads a message. Returns None if the value is not an object.
fn turn(raw: &RawValue, pointer: String) -> Option<Turn> {
    let message = Object::parse(raw.get())?;
    let mut turn = read_message(&message, raw.get(), pointer, FORMAT_ID);
    if let Some(files) = message.object("files").and_then(|files| files.raw_value("data")) {
        let mut content = Content::default();
        content.add_files(files);
        turn.attachments.extend(content.attachments(FORMAT_ID));
    }
    add_fields(&mut turn.fields, &message);
    Some(turn)
}

fn add_fields(fields: &mut mementory_model::Fields, object: &Object<'_>) {
    for key in FIELDS {
        if let Some(value) = first_text(object, &[key]) {
            fields.insert(key.into(), value.into());
        }
    }
}
