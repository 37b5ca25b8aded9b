//! Reads one message of a prompt (an element of `chunks[]`): text or parts, thoughts, code, files on Drive, and files
//! whose bytes are in the JSON.
use super::SCOPE;
use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use mementory_format::AttachmentFile;
use mementory_formats_shared::{
    chat::{Turn, TurnParent},
    object::{Object, decode_string, list},
};
use mementory_model::{AttachmentRef, RecordKey, Times, Verbatim};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// Largest number of files of one message. Further files are stored only in fields or in the verbatim.
const MAX_FILES: usize = 500;
/// Members that have a field in the model.
const READ_MEMBERS: [&str; 6] = ["text", "parts", "role", "createTime", "isThought", "model"];

/// Reads a message. Also returns the files whose bytes the JSON contains.
pub(super) fn read(raw: &RawValue, chunk: &Object<'_>, pointer: String) -> (Turn, Vec<(AttachmentFile, Vec<u8>)>) {
    let role = chunk.text("role").unwrap_or_default().to_ascii_lowercase();
    let mut turn = Turn {
        parent: TurnParent::Previous,
        role: match role.as_str() {
            "user" | "human" => "user",
            "model" | "assistant" => "assistant",
            "system" => "system",
            "tool" | "function" => "tool",
            // A message with an unknown role must not appear to be written by the person.
            _ => "assistant",
        }
        .into(),
        content_type: "text".into(),
        times: Times {
            created: chunk.timestamp("createTime").or_else(|| chunk.timestamp("timestamp")),
            ..Times::default()
        },
        model: chunk.non_blank_text("model").map(Into::into),
        pointer,
        verbatim: Some(Verbatim::json(raw.get())),
        ..Turn::default()
    };
    if !matches!(role.as_str(), "user" | "model") && !role.is_empty() {
        turn.fields.insert("role".into(), role.into());
    }
    let mut files = Vec::new();
    if let Some(text) = chunk.non_blank_text("text") {
        turn.text = text.into_owned();
        // `parts` only repeats the text in pieces, so only the files in `parts` are read.
        chunk.list("parts").into_iter().flatten().for_each(|part| add_files(part, &mut turn, &mut files));
    } else if let Some(parts) = chunk.raw_value("parts") {
        read_parts(parts, &mut turn);
        list(parts).into_iter().flatten().for_each(|part| add_files(part, &mut turn, &mut files));
    }
    let is_thought = chunk.is_true("isThought") || chunk.is_true("thought");
    if is_thought {
        turn.content_type = "thinking".into();
    }
    read_code(chunk, &mut turn);
    add_members(chunk, &mut turn, &mut files);
    if let Some(error) = error(chunk).filter(|_| turn.text.trim().is_empty()) {
        turn.text = error;
    }
    (turn, files)
}

/// Reads the text of `parts`. Thoughts beside an answer become blocks, which the app shows collapsed.
fn read_parts(parts: &RawValue, turn: &mut Turn) {
    let is_thought = |part: &&RawValue| Object::parse(part.get()).is_some_and(|part| part.is_true("thought"));
    let (thoughts, others): (Vec<_>, Vec<_>) =
        list(parts).unwrap_or_else(|| vec![parts]).into_iter().partition(is_thought);
    let join = |parts: &[&RawValue]| parts.iter().copied().map(text_of).collect::<String>();
    let (thought, text) = (join(&thoughts), join(&others));
    if text.trim().is_empty() && !thought.trim().is_empty() {
        turn.text = thought;
        turn.content_type = "thinking".into();
        return;
    }
    turn.text = text;
    if !thought.trim().is_empty() {
        turn.fields.insert("blocks".into(), serde_json::json!([{ "type": "thinking", "text": thought }]));
    }
}

/// Returns the error that AI Studio showed instead of an answer. The source states it as a text or as an object with a
/// message.
fn error(chunk: &Object<'_>) -> Option<String> {
    let inside = || chunk.object("error").and_then(|error| Some(error.non_blank_text("message")?.into_owned()));
    let text = ["errorMessage", "error"].iter().find_map(|key| chunk.non_blank_text(key));
    text.map(std::borrow::Cow::into_owned).or_else(inside)
}

/// Reads the code in a message. If the message has no text, the code becomes its text, or else the output of the code.
fn read_code(chunk: &Object<'_>, turn: &mut Turn) {
    let code = chunk.object("executableCode").and_then(|code| code.non_blank_text("code"));
    let result = chunk.object("codeExecutionResult").and_then(|result| result.non_blank_text("output"));
    for (text, content_type) in [(code, "tool_call"), (result, "tool_result")] {
        let Some(text) = text else { continue };
        if turn.text.trim().is_empty() {
            turn.text = text.into_owned();
            turn.content_type = content_type.into();
        }
    }
}

/// Returns the text of a value, which is a string, `{text}`, `{parts[{text}]}`, or a list of such values.
pub(super) fn text_of(raw: &RawValue) -> String {
    let mut out = Vec::new();
    for item in list(raw).unwrap_or_else(|| vec![raw]) {
        if let Some(text) = decode_string(item) {
            out.push(text.into_owned());
        } else if let Some(object) = Object::parse(item.get()) {
            if let Some(text) = object.text("text") {
                out.push(text.into_owned());
            } else if let Some(parts) = object.list("parts") {
                let parts = parts
                    .into_iter()
                    .filter_map(|part| decode_string(part).or_else(|| Object::parse(part.get())?.text("text")));
                out.push(parts.collect());
            }
        }
    }
    out.concat()
}

fn add_files(part: &RawValue, turn: &mut Turn, files: &mut Vec<(AttachmentFile, Vec<u8>)>) {
    if let Some(object) = Object::parse(part.get()) {
        for (name, raw) in object.members() {
            file_member(name, raw, turn, files);
        }
    }
}

/// Adds files as attachments. All other members for which the model has no field become fields of the record.
fn add_members(chunk: &Object<'_>, turn: &mut Turn, files: &mut Vec<(AttachmentFile, Vec<u8>)>) {
    for (name, raw) in chunk.members().filter(|(name, _)| !READ_MEMBERS.contains(name)) {
        if !file_member(name, raw, turn, files)
            && let Ok(value) = serde_json::from_str(raw.get())
        {
            turn.fields.insert(name.into(), value);
        }
    }
}

/// Decodes Base64 in either alphabet, with or without padding, line breaks and the prefix of a `data:` address.
fn decode(data: &str) -> Option<Vec<u8>> {
    let data = if data.starts_with("data:") { data.split_once(',')?.1 } else { data };
    let to_standard = |c: char| match c {
        '-' => '+',
        '_' => '/',
        c => c,
    };
    let is_data = |c: &char| !c.is_ascii_whitespace() && *c != '=';
    let standard_base64: String = data.chars().filter(is_data).map(to_standard).collect();
    STANDARD_NO_PAD.decode(standard_base64).ok()
}

/// Adds the file that a member refers to: `driveImage{id}` and similar members, `youtubeVideo{id}`, or
/// `inlineImage{mimeType, data}`, which contains the bytes. Returns false for any other member, and if the turn already
/// has [`MAX_FILES`] files.
fn file_member(name: &str, raw: &RawValue, turn: &mut Turn, files: &mut Vec<(AttachmentFile, Vec<u8>)>) -> bool {
    let is_drive = name.starts_with("drive") || name == "youtubeVideo";
    let is_inline = name.starts_with("inline");
    if !is_drive && !is_inline || turn.attachments.len() >= MAX_FILES {
        return false;
    }
    let Some(object) = Object::parse(raw.get()) else { return false };
    let media_type = object.non_blank_text("mimeType").map(std::borrow::Cow::into_owned);
    let title = ["name", "displayName", "fileName"].iter().find_map(|key| object.non_blank_text(key));
    let (key, id, data) = if is_drive {
        let Some(id) = object.non_blank_text("id") else { return false };
        (format!("file/{name}/{id}"), Some(id.into_owned()), None)
    } else {
        let Some(bytes) = object.text("data").and_then(|data| decode(&data)) else { return false };
        (format!("file/sha256/{}", hex::encode(Sha256::digest(&bytes))), None, Some(bytes))
    };
    let file_name = title.map_or_else(|| id.clone().unwrap_or_else(|| name.to_owned()), std::borrow::Cow::into_owned);
    let key = RecordKey::new(SCOPE, key);
    if turn.attachments.iter().any(|known| known.key == key) {
        return true;
    }
    let size = data.as_ref().map(|bytes| bytes.len() as u64);
    turn.attachments.push(AttachmentRef {
        key: key.clone(),
        origin_id: id.clone(),
        name: file_name.clone(),
        media_type: media_type.clone(),
        size,
        text: None,
    });
    if let Some(bytes) = data {
        let file = AttachmentFile { key, origin_id: id, name: file_name, media_type, place: String::new() };
        files.push((file, bytes));
    }
    true
}
