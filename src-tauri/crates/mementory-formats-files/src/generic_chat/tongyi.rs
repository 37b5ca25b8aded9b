//! Reads chats with Tongyi Qianwen as its page receives them from `dialog/chat/list`: messages with the parts of their
//! text under `contents`. A file may have the messages of several sessions.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, TurnParent, put_oldest_first, times_of};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, read_message, send};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles;
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind};
use std::collections::{HashMap, HashSet};

const PLATFORM: &str = "tongyi";
/// Keys of the list of messages in an answer.
pub(super) const WRAPPER_KEYS: [&str; 1] = ["data"];
/// Member of a message with the parts of its text.
const PARTS: &str = "contents";

/// True for the keys of messages, in an answer or alone.
pub(super) fn is_chat(keys: &Keys) -> bool {
    let names = ["msgId", "sessionId", "contents.content", "contents.contentType"];
    ["", "data."].iter().any(|at| names.iter().all(|name| keys.has(&format!("{at}{name}"))))
}

/// The messages of the sessions in a file.
#[derive(Default)]
pub(super) struct Sessions {
    order: Vec<String>,
    turns: HashMap<String, Vec<Turn>>,
    bytes: u64,
}

impl Sessions {
    /// Adds the message in an element.
    pub fn add(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let object = &element.object;
        if !object.has(PARTS) {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "no_content: this entry is not a message";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        self.bytes += element.text.len() as u64;
        let limit = files.context.limits.element_bytes;
        if self.bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        let session = first_text(object, &["sessionId"]).unwrap_or_default();
        if !self.turns.contains_key(&session) {
            self.order.push(session.clone());
        }
        self.turns.entry(session).or_default().push(turn(element));
        Ok(())
    }

    /// Sends the sessions as conversations.
    pub fn send(mut self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        for id in self.order {
            let mut turns = self.turns.remove(&id).unwrap_or_default();
            put_oldest_first(&mut turns);
            let ids: HashSet<String> = turns.iter().filter_map(|turn| turn.id.clone()).collect();
            for turn in &mut turns {
                if matches!(&turn.parent, TurnParent::Id(parent) if !ids.contains(parent)) {
                    turn.parent = TurnParent::Previous;
                }
            }
            let chat = Chat {
                id: Some(id).filter(|id| !id.is_empty()),
                times: times_of(&turns),
                is_log: true,
                turns,
                ..Chat::default()
            };
            send(files, member, chat, PLATFORM, Some("tongyi"))?;
        }
        Ok(())
    }
}

fn turn(element: &ObjectElement<'_>) -> Turn {
    let object = &element.object;
    let mut content = Content::default();
    let mut role = first_text(object, &["senderType"]);
    for part in object.objects(PARTS) {
        role = role.or_else(|| first_text(&part, &["role"]));
        let text = first_text(&part, &["content"]).unwrap_or_default();
        match part.text("contentType").unwrap_or_default().as_ref() {
            "text" | "" => content.add_text(&text),
            "think" => content.add_block("thinking", None, text),
            kind => content.add_block(kind, None, text),
        }
    }
    let mut turn = read_message(object, element.text, element.pointer.clone(), FORMAT_ID);
    turn.role = roles::role_or_name(&role.unwrap_or_default());
    turn.hidden = turn.role == roles::SYSTEM;
    turn.id = first_text(object, &["msgId"]).or_else(|| Some(content_id(element.text)));
    turn.parent = first_text(object, &["parentMsgId"]).map_or(TurnParent::Previous, TurnParent::Id);
    turn.content_type = content.content_type().into();
    content.put_into(&mut turn, FORMAT_ID);
    turn
}
