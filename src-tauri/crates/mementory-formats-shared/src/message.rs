//! Reads messages of chat programs. Recognises the names under which different programs store role, content, id,
//! parent, time, model and files.
use super::agent_content::embedded_bytes;
use super::any_time::first_time;
use super::chat::{Chat, ChatFile, Turn, TurnParent};
use super::content::{Content, EMBEDDED_KEYS, is_step_type};
use super::object::{Object, content_id, decode_string};
use super::reader::FileReader;
use super::roles::{ASSISTANT, SYSTEM, TOOL, USER, role, role_or_name};
use mementory_format::{AttachmentFile, FormatError, Member};
use mementory_model::{Kind, Times, Unit, Verbatim};
use serde_json::value::RawValue;
use std::borrow::Cow;

const ID_KEYS: [&str; 7] = ["id", "_id", "uuid", "messageId", "message_id", "msg_id", "sid"];
const PARENT_KEYS: [&str; 6] =
    ["parentId", "parentMessageId", "parent_id", "parent_message_id", "parent_uuid", "parentUuid"];
const ROLE_KEYS: [&str; 8] = ["role", "sender", "author", "from", "speaker", "who", "sender_type", "messageType"];
const CONTENT_KEYS: [&str; 9] =
    ["content", "contentParts", "fragments", "parts", "text", "message", "body", "value", "say"];
const THOUGHT_KEYS: [&str; 7] =
    ["reasoning", "reasoning_content", "thinking", "reasoningContent", "thinking_content", "thought", "thoughts"];
const FILE_KEYS: [&str; 5] = ["attachments", "files", "images", "experimental_attachments", "image_urls"];
const CREATED_KEYS: [&str; 16] = [
    "created_at",
    "createdAt",
    "timestamp",
    "create_time",
    "created",
    "time",
    "date",
    "datetime",
    "sent_at",
    "send_date",
    "sentAt",
    "createTime",
    "created_date",
    "creationTime",
    "dateCreated",
    "ts",
];
const UPDATED_KEYS: [&str; 7] =
    ["updated_at", "updatedAt", "update_time", "edited_at", "updated", "lastUpdate", "lastModified"];
/// Role of a message that states none.
const UNKNOWN: &str = "unknown";
/// Roles of messages that contain only the model's thoughts.
const THOUGHT_ROLES: [&str; 2] = ["thinking", "reasoning"];
const MODEL_KEYS: [&str; 8] =
    ["model", "modelId", "model_id", "modelName", "model_name", "model_slug", "modelSlug", "llm"];

/// The first value under these keys that is a number or a non-blank string, as text.
pub fn first_text(object: &Object<'_>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| id_text(object, key))
}

/// An id as text. The source may contain a string, a number, or `{"$oid": …}`.
fn id_text(object: &Object<'_>, key: &str) -> Option<String> {
    let raw = object.raw_value(key)?;
    match raw.get().as_bytes().first()? {
        b'"' => object.non_blank_text(key).map(Cow::into_owned),
        b'{' => object.object(key)?.non_blank_text("$oid").map(Cow::into_owned),
        b'0'..=b'9' | b'-' => Some(raw.get().to_owned()),
        _ => None,
    }
}

/// The role that a message states, in the source's own words. None if it states no role.
pub fn role_name(object: &Object<'_>) -> Option<String> {
    for key in ROLE_KEYS {
        if let Some(name) = object.non_blank_text(key) {
            return Some(name.into_owned());
        }
        if let Some(inner) = object.object(key)
            && let Some(name) = ["role", "type", "name"].iter().find_map(|key| inner.non_blank_text(key))
        {
            return Some(name.into_owned());
        }
    }
    for key in ["isCreatedByUser", "isUser", "is_user", "fromUser", "isHuman", "is_human"] {
        if let Some(raw) = object.raw_value(key) {
            return Some(if raw.get() == "true" { USER } else { ASSISTANT }.to_owned());
        }
    }
    object.text("type").filter(|name| role(name).is_some()).map(Cow::into_owned)
}

/// The content of a message, including thoughts, tool calls and files that are in separate members.
pub fn content(object: &Object<'_>) -> Content {
    let mut content = Content::default();
    for key in THOUGHT_KEYS {
        // Skips a boolean, because it only states whether the text of the message is a thought, and a number, because it
        // counts tokens.
        if let Some(raw) = object.raw_value(key).filter(|raw| raw.get().starts_with(['"', '[', '{'])) {
            content.add_block("thinking", None, super::content::nested_text(raw));
        }
    }
    for key in CONTENT_KEYS {
        if let Some(raw) = object.raw_value(key) {
            content.add(raw);
        }
        // Stops at the first member with content, because all later members only repeat it.
        if !content.text.is_empty() || !content.files.is_empty() {
            break;
        }
    }
    // Kimi stores the content itself under `blocks`. Other programs store only the ids of blocks under this key.
    if content.text.is_empty() && content.files.is_empty() {
        let blocks = object.list("blocks").unwrap_or_default();
        blocks.into_iter().filter(|raw| raw.get().starts_with('{')).for_each(|raw| content.add(raw));
    }
    // TypingMind asks several models at once, and lists their messages.
    if content.text.is_empty() && content.files.is_empty() {
        let responses = object.objects("responses").flat_map(|response| response.objects("messages"));
        responses.for_each(|message| add_response(&message, &mut content));
    }
    // LangChain puts the content inside `data`.
    if content.text.is_empty() && content.files.is_empty() && content.blocks.is_empty() {
        let data = object.object("data");
        data.as_ref().and_then(|data| data.raw_value("content")).into_iter().for_each(|raw| content.add(raw));
    }
    let calls = object.list("tool_calls").or_else(|| object.list("toolCalls"));
    let calls = calls.or_else(|| object.object("data")?.list("tool_calls"));
    // In `additional_kwargs`, LlamaIndex repeats the calls that are parts of the content. Older versions write the
    // calls only there.
    let has_calls = content.blocks.iter().any(|block| block.get("type").is_some_and(|kind| kind == "tool_call"));
    let further_calls = || object.object("additional_kwargs").filter(|_| !has_calls)?.list("tool_calls");
    for call in calls.or_else(further_calls).unwrap_or_default() {
        if let Some(call) = Object::parse(call.get()) {
            content.add_call(&call);
        }
    }
    if let Some(call) = object.object("function_call") {
        content.add_call(&call);
    }
    FILE_KEYS.iter().filter_map(|key| object.raw_value(key)).for_each(|raw| content.add_files(raw));
    add_phases(object, &mut content);
    // Older sessions of the command line of Copilot have answers as the results of their prompts.
    if content.is_empty() && role_name(object).is_some() {
        let answer = ["result", "response", "output"].iter().find_map(|key| object.non_blank_text(key));
        content.add_text(&answer.unwrap_or_default());
    }
    content
}

/// Adds one of the messages that a model wrote for an answer. Results of tools are not words of the assistant. Messages
/// of other speakers remain only in the verbatim.
fn add_response(message: &Object<'_>, content: &mut Content) {
    let Some(raw) = message.raw_value("content") else { return };
    match role_name(message).map_or(Some(ASSISTANT), |name| role(&name)) {
        Some(ASSISTANT) => content.add(raw),
        Some(TOOL) => {
            let tool_name = message.non_blank_text("name").map(Cow::into_owned);
            content.add_block("tool_result", tool_name, super::content::nested_text(raw));
        }
        _ => {}
    }
}

/// Adds the phases of an answer of Qwen, which are thoughts, searches and the answer itself. The answer is added only
/// if the message has no other text.
fn add_phases(object: &Object<'_>, content: &mut Content) {
    let has_text = !content.text.is_empty();
    let phases = object.list("content_list").unwrap_or_default();
    for part in phases.into_iter().filter_map(|raw| Object::parse(raw.get())) {
        let extra = part.object("extra").unwrap_or_default();
        let texts = [("content", &part), ("summary_title", &extra), ("summary_thought", &extra)];
        let texts = texts.iter().filter_map(|(key, at)| Some(super::content::nested_text(at.raw_value(key)?)));
        let text = texts.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n");
        match part.text("phase").unwrap_or_default().as_ref() {
            "answer" | "" if has_text => {}
            "answer" | "" => content.add_text(&text),
            phase if phase.starts_with("think") => content.add_block("thinking", None, text),
            phase => content.add_block("tool_result", Some(phase.to_owned()), text),
        }
    }
}

/// Reads a message of a list or a tree. If the message does not state a parent, its `parent` is `Previous`.
pub fn read_message(object: &Object<'_>, text: &str, pointer: String, format: &str) -> Turn {
    let mut content = content(object);
    // Entries of OpenAI's Responses have a type instead of a role if they are no messages.
    let is_step = content.is_empty() && object.text("type").is_some_and(|kind| is_step_type(&kind));
    if is_step && let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
        content.add(raw);
    }
    // The thoughts of some models are encrypted and have no summary.
    let is_bare_step = is_step && content.is_empty();
    let name = role_or_name(&role_name(object).unwrap_or_default());
    let role = if is_bare_step && name == UNKNOWN { ASSISTANT.to_owned() } else { role_of(&name, object, &content) };
    let is_instruction = role == SYSTEM;
    let mut times = times(object);
    // Amp states the time of a prompt inside `meta`, and the model next to the token counts.
    times.created = times.created.or_else(|| first_time(&object.object("meta")?, &["sentAt"]));
    let mut turn = Turn {
        id: first_text(object, &ID_KEYS),
        parent: parent_of(object),
        hidden: is_instruction
            || role == TOOL
            || is_bare_step
            || object.is_true("hidden")
            || object.is_true("is_hidden")
            || is_only_for_model(object),
        content_type: match content.content_type() {
            "text" if is_bare_step => "thinking".into(),
            "text" if is_instruction => "context".into(),
            "text" if role == TOOL => "tool_result".into(),
            "text" if THOUGHT_ROLES.contains(&name.as_str()) => "thinking".into(),
            other => other.into(),
        },
        role,
        model: first_text(object, &MODEL_KEYS).or_else(|| first_text(&object.object("usage")?, &["model"])),
        times,
        pointer,
        verbatim: Some(Verbatim::json(text)),
        ..Turn::default()
    };
    content.put_into(&mut turn, format);
    turn
}

/// Determines the role of a message whose stated role is `name`. A message of the user or the system that contains only
/// tool results gets the role `tool`. A message of the user that the program does not show to the person gets the role
/// `system`.
fn role_of(name: &str, object: &Object<'_>, content: &Content) -> String {
    let is_result = content.text.trim().is_empty() && content.content_type() == "tool_result";
    let role = match name {
        USER | SYSTEM if is_result => TOOL,
        USER if is_only_for_model(object) => SYSTEM,
        UNKNOWN if is_result => TOOL,
        UNKNOWN if matches!(content.content_type(), "tool_call" | "thinking") => ASSISTANT,
        // Continue writes thoughts as separate messages.
        name if THOUGHT_ROLES.contains(&name) => ASSISTANT,
        // Open Interpreter writes what a program printed as a message of the computer.
        "computer" if object.has("format") => TOOL,
        // Kimi uses roles with an underscore for instructions and token counts.
        name if name.starts_with('_') => SYSTEM,
        name => name,
    };
    role.to_owned()
}

/// True for a message that Goose shows only to the model, such as a summary, or that an agent inserted in the person's
/// name.
fn is_only_for_model(object: &Object<'_>) -> bool {
    if ["injected", "isMeta", "is_meta"].iter().any(|key| object.is_true(key)) {
        return true;
    }
    let metadata = object.object("metadata");
    metadata.and_then(|metadata| metadata.raw_value("userVisible")).is_some_and(|raw| raw.get() == "false")
}

/// The parent that a message states. HuggingChat lists all ancestors of the message, the nearest last.
fn parent_of(object: &Object<'_>) -> TurnParent {
    if let Some(key) = PARENT_KEYS.iter().find(|key| object.has(key)) {
        return id_text(object, key).filter(|id| !is_zero_uuid(id)).map_or(TurnParent::Root, TurnParent::Id);
    }
    // `parent` is known to be the id of a message only if `children` is next to it, as in llama.cpp.
    if object.list("children").is_some()
        && let Some(raw) = object.raw_value("parent").filter(|raw| raw.get().starts_with(['"', 'n']))
    {
        return decode_string(raw).map_or(TurnParent::Root, |id| TurnParent::Id(id.into_owned()));
    }
    let Some(ancestors) = object.list("ancestors") else { return TurnParent::Previous };
    let nearest_ancestor = ancestors.last().and_then(|raw| decode_string(raw));
    nearest_ancestor.map_or(TurnParent::Root, |id| TurnParent::Id(id.into_owned()))
}

/// The time of creation and the time of the last change of a message.
pub fn times(object: &Object<'_>) -> Times {
    // Some programs store both times inside the member `time`.
    let time_object = object.object("time");
    let inner_time = |keys: &[&str]| first_time(time_object.as_ref()?, keys);
    Times {
        created: first_time(object, &CREATED_KEYS).or_else(|| inner_time(&["created"])),
        updated: first_time(object, &UPDATED_KEYS).or_else(|| inner_time(&["updated"])),
        ..Times::default()
    }
}

/// Reads the messages of a list. The pointer of a message is `at/<index>`. Entries that are not objects are reported as
/// dropped.
pub fn read_list(files: &mut FileReader<'_>, member: &Member, list: &[&RawValue], at: &str) -> Vec<Turn> {
    let mut out = Vec::with_capacity(list.len());
    for (index, raw) in list.iter().enumerate() {
        let pointer = format!("{at}/{index}");
        match Object::parse(raw.get()) {
            Some(object) => out.push(read_message(&object, raw.get(), pointer, files.format)),
            None => report_no_message(files, member, &pointer),
        }
    }
    out
}

/// Reads the messages of an object whose keys are the ids of the messages.
pub fn read_map(files: &mut FileReader<'_>, member: &Member, map: &Object<'_>, at: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (id, raw) in map.members() {
        let pointer = format!("{at}/{id}");
        match Object::parse(raw.get()) {
            Some(object) => {
                let mut turn = read_message(&object, raw.get(), pointer, files.format);
                turn.id.get_or_insert_with(|| id.to_owned());
                out.push(turn);
            }
            None => report_no_message(files, member, &pointer),
        }
    }
    out
}

/// Reports an entry in a list of messages that is not a message.
pub fn report_no_message(files: &mut FileReader<'_>, member: &Member, pointer: &str) {
    let reason = "not_an_object: this entry among the messages is none";
    files.report_failed(member, pointer, reason, Kind::Message);
}

/// Sends a conversation with its messages, and reports problems with the order of the messages, such as a missing
/// parent.
pub fn send(
    files: &mut FileReader<'_>,
    member: &Member,
    chat: Chat,
    platform: &str,
    version: Option<&str>,
) -> Result<(), FormatError> {
    store_embedded(files, member, &chat)?;
    let unit = unit(files, member, chat, platform, version);
    files.sink.unit(unit)
}

/// Sends the files that messages contain as `data:` addresses or as base64 to the sink. In the message's list of files,
/// the id of such a file is the digest of its address or of the base64.
pub fn store_embedded(files: &mut FileReader<'_>, member: &Member, chat: &Chat) -> Result<(), FormatError> {
    for turn in chat.turns.iter().filter(|turn| !turn.attachments.is_empty()) {
        let text = turn.verbatim.as_ref().map_or("", |verbatim| verbatim.text.as_str());
        for address in embedded_values(text) {
            let is_escaped = address.contains('\\');
            let address = if is_escaped { Cow::Owned(address.replace("\\/", "/")) } else { Cow::Borrowed(address) };
            let id = content_id(&address);
            let reference = turn.attachments.iter().find(|file| file.origin_id.as_ref() == Some(&id));
            let data = address.split_once(";base64,").map_or(&*address, |(_, data)| data);
            let Some((reference, bytes)) = reference.and_then(|file| Some((file, embedded_bytes(data)?))) else {
                continue;
            };
            let file = AttachmentFile::inside(&member.place, reference);
            files.sink.attachment(file, &mut bytes.as_slice())?;
        }
    }
    Ok(())
}

/// The texts in a message that may be files: `data:` addresses, and the values of [`EMBEDDED_KEYS`].
fn embedded_values(text: &str) -> impl Iterator<Item = &str> {
    let until_quote = |at: usize| text.get(at..)?.split('"').next();
    let addresses = text.match_indices("\"data:").map(|(at, _)| at + 1);
    let values = EMBEDDED_KEYS.iter().flat_map(move |key| {
        text.match_indices(*key).filter_map(move |(at, key)| {
            let value_text = text.get(at + key.len()..)?.strip_prefix('"')?.trim_start().strip_prefix(':')?;
            let value = value_text.trim_start().strip_prefix('"').filter(|value| !value.starts_with("data:"))?;
            Some(text.len() - value.len())
        })
    });
    addresses.chain(values).filter_map(until_quote)
}

/// The records of a conversation. Reports problems with the order of its messages, such as a missing parent.
pub fn unit(files: &mut FileReader<'_>, member: &Member, chat: Chat, platform: &str, version: Option<&str>) -> Unit {
    let mut issues = Vec::new();
    let file = ChatFile { format: files.format, platform, version, container: &member.place };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| files.sink.note(issue));
    unit
}

/// True for the zero UUID and for UUIDs in which at most two digits are not zero. Such an id means that a message has
/// no parent.
fn is_zero_uuid(id: &str) -> bool {
    id.len() == 36 && id.bytes().filter(|b| *b != b'0' && *b != b'-').count() <= 2
}
