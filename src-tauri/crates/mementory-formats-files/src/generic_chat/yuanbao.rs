//! Reads a conversation with Tencent Yuanbao as its page receives it from `conversation/v1/detail`.
use super::page_answer::{Messages, send_answer};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::{Content, FileRef};
use mementory_formats_shared::message::{first_text, read_message};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::ASSISTANT;
use mementory_json::Keys;

/// Member with the messages.
const MESSAGES: &str = "convs";
/// Member of a message with the parts of its text.
const SPEECHES: &str = "speechesV2";

/// True for the keys of a conversation.
pub(super) fn is_conversation(keys: &Keys) -> bool {
    [SPEECHES, "speaker"].iter().all(|key| keys.has(&format!("{MESSAGES}.{key}")))
}

/// Sends the conversation in an element.
pub(super) fn read(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let data = element.object.object("data").filter(|data| data.has(MESSAGES));
    let (at, object) = match &data {
        Some(inner) => (format!("{}/data/{MESSAGES}", element.pointer), inner),
        None => (format!("{}/{MESSAGES}", element.pointer), &element.object),
    };
    let messages = Messages { list: object.raw_value(MESSAGES), pointer: at, number: "index", read: turn };
    let chat = Chat {
        id: first_text(object, &["conversationId", "id"]),
        title: first_text(object, &["sessionTitle", "title"]),
        ..Chat::default()
    };
    send_answer(files, member, element, &messages, chat, "yuanbao")
}

fn turn(files: &FileReader<'_>, message: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut content = Content::default();
    let mut model = None;
    for speech in message.objects(SPEECHES) {
        speech.objects("content").for_each(|part| add_part(&mut content, &part));
        model = model.or_else(|| first_text(&speech, &["chatModelId"]));
    }
    if content.text.is_empty() {
        content.add_text(&first_text(message, &["speech", "displayPrompt"]).unwrap_or_default());
    }
    let mut turn = read_message(message, text, pointer, files.format);
    turn.content_type = content.content_type().into();
    turn.model = model.filter(|_| turn.role == ASSISTANT);
    content.put_into(&mut turn, files.format);
    turn
}

/// Adds a part of a message: text, thoughts, pages that a search found, or a file.
fn add_part(content: &mut Content, part: &Object<'_>) {
    let kind = part.text("type").unwrap_or_default();
    let text = |keys: &[&str]| first_text(part, keys).unwrap_or_default();
    match kind.as_ref() {
        "text" | "" => content.add_text(&text(&["msg", "text"])),
        "think" => content.add_block("thinking", None, text(&["content", "msg"])),
        // A deep search contains the thoughts of the model, and the pages that it read.
        "deepSearch" => {
            for step in part.objects("contents") {
                content.add_block("thinking", None, first_text(&step, &["msg"]).unwrap_or_default());
                add_pages(content, &step);
            }
        }
        "searchGuid" => add_pages(content, part),
        _ if part.has("fileName") || part.has("url") => content.files.push(FileRef {
            id: first_text(part, &["url", "fileName"]),
            name: first_text(part, &["fileName"]),
            ..FileRef::default()
        }),
        kind => content.add_block(kind, None, text(&["msg", "title"])),
    }
}

/// Adds the pages that a search found, each with title and address.
fn add_pages(content: &mut Content, search: &Object<'_>) {
    let line = |page: Object<'_>| {
        let texts = ["title", "url"].iter().filter_map(|key| first_text(&page, &[key]));
        texts.collect::<Vec<_>>().join(" ")
    };
    let lines: Vec<String> = search.objects("docs").map(line).filter(|line| !line.is_empty()).collect();
    if !lines.is_empty() {
        content.add_block("tool_result", Some("search".into()), lines.join("\n"));
    }
}
