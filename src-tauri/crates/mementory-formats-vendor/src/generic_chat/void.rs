//! Reads the chats of the editor Void: threads by their ids, as its storage has them under `void.chatThreadStorageII`.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, times_of};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};

const PLATFORM: &str = "void";

/// True for the keys of threads. Only Void writes a text to show beside the one that the model received, and the files
/// that the person changed.
pub(super) fn is_storage(keys: &Keys) -> bool {
    ["lastModified", "filesWithUserChanges", "messages.role", "messages.displayContent"]
        .iter()
        .all(|key| keys.has_at_any_level(key))
}

/// Sends the threads of a storage.
pub(super) fn read_storage(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    for (id, raw) in element.object.members() {
        let pointer = format!("{}/{id}", element.pointer);
        let thread = Object::parse(raw.get()).and_then(|thread| Some((thread.raw_value("messages")?, thread)));
        let Some((messages, thread)) = thread else {
            let place = format!("{}#{pointer}", member.place);
            let reason = "no_messages: this thread has no messages";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            continue;
        };
        let mut turns = Vec::new();
        for (index, raw) in list(messages).unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("{pointer}/messages/{index}");
            match Object::parse(raw.get()) {
                // A checkpoint is a state of the files.
                Some(message) if message.text("role").as_deref() == Some("checkpoint") => {}
                Some(message) => turns.push(turn(&message, raw.get(), pointer)),
                None => report_no_message(files, member, &pointer),
            }
        }
        // Void opens an empty thread at each start.
        if turns.is_empty() {
            continue;
        }
        let mut chat_times = times(&thread);
        chat_times.created = chat_times.created.or(times_of(&turns).created);
        let chat = Chat {
            id: first_text(&thread, &["id"]).or_else(|| Some(id.to_owned())),
            times: chat_times,
            pointer,
            verbatim: Some(Verbatim::json(with_replaced_values(raw.get(), &[(messages, "[]")]))),
            is_log: true,
            turns,
            ..Chat::default()
        };
        send(files, member, chat, PLATFORM, Some("void"))?;
    }
    Ok(())
}

fn turn(message: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut turn = read_message(message, text, pointer, FORMAT_ID);
    let mut content = Content::default();
    let member = |key: &str| first_text(message, &[key]).unwrap_or_default();
    turn.role = match message.text("role").unwrap_or_default().as_ref() {
        "user" => USER,
        "assistant" => ASSISTANT,
        "tool" => TOOL,
        _ => SYSTEM,
    }
    .to_owned();
    match turn.role.as_str() {
        TOOL => {
            let name = first_text(message, &["name"]);
            let parameters = message.raw_value("rawParams").map(|raw| raw.get()).unwrap_or_default();
            content.add_block("tool_call", name.clone(), parameters);
            content.add_block("tool_result", name, member("content"));
        }
        ASSISTANT => {
            content.add_block("thinking", None, member("reasoning"));
            content.add_text(&member("displayContent"));
        }
        _ => {
            // The model also received the files that the person chose.
            let shown = first_text(message, &["displayContent"]);
            content.add_text(&shown.unwrap_or_else(|| member("content")));
        }
    }
    turn.hidden = matches!(turn.role.as_str(), SYSTEM | TOOL);
    turn.content_type = content.content_type().into();
    content.put_into(&mut turn, FORMAT_ID);
    turn
}
