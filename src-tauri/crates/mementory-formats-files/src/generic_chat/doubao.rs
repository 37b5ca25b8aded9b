//! Reads a conversation with Doubao as its page receives it from `im/chain/single`. Texts are JSON inside a string.
use super::page_answer::{Messages, send_answer};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::{Content, FileRef};
use mementory_formats_shared::message::{first_text, read_message};
use mementory_formats_shared::object::{Object, decode_string, list};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_json::Keys;
use serde_json::value::RawValue;

/// Keys of the nested objects that contain the list of messages. The misspelling `singe` is Doubao's.
const PATH: [&str; 2] = ["downlink_body", "pull_singe_chain_downlink_body"];
/// Member with the messages.
const MESSAGES: &str = "messages";

/// True for the keys of a conversation.
pub(super) fn is_conversation(keys: &Keys) -> bool {
    let at = format!("{}.{MESSAGES}", PATH.join("."));
    ["user_type", "content"].iter().all(|key| keys.has(&format!("{at}.{key}")))
}

/// Sends the conversation in an element.
pub(super) fn read(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let [outer, inner] = PATH;
    let at = format!("{}/{outer}/{inner}/{MESSAGES}", element.pointer);
    let chain = element.object.object(outer).and_then(|body| body.object(inner)).unwrap_or_default();
    let stated_id = |object: &Object<'_>| first_text(object, &["conversation_id"]);
    let id = stated_id(&chain).or_else(|| chain.objects(MESSAGES).find_map(|message| stated_id(&message)));
    let messages = Messages { list: chain.raw_value(MESSAGES), pointer: at, number: "index_in_conv", read: turn };
    send_answer(files, member, element, &messages, Chat { id, ..Chat::default() }, "doubao")
}

fn turn(files: &FileReader<'_>, message: &Object<'_>, text: &str, pointer: String) -> Turn {
    let mut turn = read_message(message, text, pointer, files.format);
    turn.role = if message.whole_number("user_type") == Some(1) { USER } else { ASSISTANT }.to_owned();
    let mut content = Content::default();
    // The second member is read only if the first one has no content, because both may contain the same blocks.
    for key in ["content", "content_block"] {
        if content.is_empty() {
            message.raw_value(key).into_iter().for_each(|raw| add_content(&mut content, raw));
        }
    }
    if content.text.is_empty() {
        content.add_text(&first_text(message, &["tts_content"]).unwrap_or_default());
    }
    turn.content_type = content.content_type().into();
    content.put_into(&mut turn, files.format);
    turn
}

/// Adds the content of a message: blocks, an object with a text, or a text. Blocks and object may be inside a string.
fn add_content(content: &mut Content, raw: &RawValue) {
    let decoded = decode_string(raw);
    let inner_json = decoded.as_ref().and_then(|text| serde_json::from_str::<&RawValue>(text).ok());
    let raw = inner_json.filter(|raw| raw.get().starts_with(['[', '{'])).unwrap_or(raw);
    if let Some(blocks) = list(raw) {
        blocks.into_iter().filter_map(|block| Object::parse(block.get())).for_each(|block| add_block(content, &block));
    } else if let Some(object) = Object::parse(raw.get()) {
        content.add_text(&first_text(&object, &["text"]).unwrap_or_default());
        add_creations(content, &object);
    } else {
        content.add(raw);
    }
}

/// Adds a block: a text, pictures that the model made, or a block of another kind, which is shown collapsed.
fn add_block(content: &mut Content, block: &Object<'_>) {
    let inner = block.object("content").unwrap_or_default();
    if let Some(text) = inner.object("text_block") {
        content.add_text(&first_text(&text, &["text"]).unwrap_or_default());
    } else if let Some(creation) = inner.object("creation_block") {
        add_creations(content, &creation);
    } else {
        let kind = inner.members().map(|(key, _)| key.to_owned()).next().unwrap_or_default();
        let texts = inner.members().filter_map(|(_, raw)| first_text(&Object::parse(raw.get())?, &["text", "title"]));
        content.add_block(&kind, None, texts.collect::<Vec<_>>().join("\n"));
    }
}

/// Adds the addresses of pictures. The page has each picture in several sizes.
fn add_creations(content: &mut Content, object: &Object<'_>) {
    let sizes = ["image_ori_raw", "image_raw", "image_ori", "image_preview"];
    for image in object.objects("creations").filter_map(|creation| creation.object("image")) {
        let address = sizes.iter().find_map(|size| first_text(&image.object(size)?, &["url"]));
        content.files.extend(address.map(|id| FileRef { id: Some(id), ..FileRef::default() }));
    }
}
