//! The content of a message in the notations of most chat programs: a string, or a list of parts (text, thought, tool
//! call, tool result, image, file).
use super::chat::Turn;
use super::object::{Object, content_id, decode_string, list};
use super::values;
use mementory_model::{AttachmentRef, RecordKey};
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;

/// The parsed content of a message.
#[derive(Debug, Default)]
pub struct Content {
    /// Text of the message. Parts are joined by blank lines.
    pub text: String,
    /// All parts except text and files, which are shown collapsed: `{type, name?, text}`.
    pub blocks: Vec<Value>,
    /// Files that the message refers to.
    pub files: Vec<FileRef>,
}

/// A file that a message refers to.
#[derive(Debug, Default, Clone)]
pub struct FileRef {
    /// Id or address of the file in the source.
    pub id: Option<String>,
    /// Name of the file.
    pub name: Option<String>,
    /// Media type of the file.
    pub media_type: Option<String>,
    /// Size of the file in bytes.
    pub size: Option<u64>,
}

/// Longest address of a file, in bytes. A longer value is a `data:` address that contains the file itself.
const MAX_ADDRESS_BYTES: usize = 4096;
/// Name of a file that a message contains without a name.
const UNNAMED_FILE: &str = "embedded file";
/// Members of a part that may contain a file (LlamaIndex writes base64, the AI SDK an address).
pub(crate) const EMBEDDED_KEYS: [&str; 4] = ["image", "audio", "video", "data"];
/// Smallest number of characters of a file in base64. A shorter text may be a file name.
const MIN_EMBEDDED_CHARS: usize = 40;
/// Types of parts that contain text.
const TEXT_TYPES: [&str; 6] = ["text", "input_text", "output_text", "markdown", "paragraph", "content"];
/// Types of text parts that are named after HTML elements. Some browser extensions write them.
const HTML_TYPES: [&str; 10] = ["p", "ul", "ol", "li", "h1", "h2", "h3", "pre", "code", "table"];
/// Types of parts that contain thoughts of the model.
const THOUGHT_TYPES: [&str; 6] =
    ["thinking", "reasoning", "think", "thought", "redacted_thinking", "reasoning_content"];
/// Types of parts that call a tool.
const CALL_TYPES: [&str; 7] =
    ["tool_use", "tool_call", "tool-call", "function_call", "toolCallRequest", "tool_call_request", "toolRequest"];
/// Types of parts that contain a tool result.
const RESULT_TYPES: [&str; 7] = [
    "tool_result",
    "tool-result",
    "function_call_output",
    "toolCallResult",
    "tool_response",
    "function_response",
    "toolResponse",
];
/// Types of parts that refer to a file.
const FILE_TYPES: [&str; 14] = [
    "image_url",
    "image",
    "input_image",
    "image_file",
    "file",
    "input_file",
    "document",
    "audio",
    "input_audio",
    "video",
    "media",
    "attachment",
    "collection",
    "doc",
];

/// True for the type of a part that is no text and no file: a thought, a call or a result of a tool.
pub(crate) fn is_step_type(kind: &str) -> bool {
    [&THOUGHT_TYPES[..], &CALL_TYPES, &RESULT_TYPES].iter().any(|types| types.contains(&kind))
}

impl Content {
    /// Adds the content of a message, which may be a string, a part, or a list of parts.
    pub fn add(&mut self, raw: &RawValue) {
        if raw.get().starts_with('[') {
            for part in list(raw).unwrap_or_default() {
                self.add_part(part);
            }
        } else {
            self.add_part(raw);
        }
    }

    fn add_part(&mut self, raw: &RawValue) {
        if let Some(text) = decode_string(raw) {
            return self.add_text(&text);
        }
        let Some(part) = Object::parse(raw.get()) else { return };
        // LlamaIndex names the type of a part `block_type`.
        let kind = part.text("type").or_else(|| part.text("block_type")).unwrap_or_default();
        let kind = kind.as_ref();
        if let Some(fragment) = part.object("part").filter(|fragment| fragment.has("pt")) {
            return self.add_fragment(&fragment);
        }
        // Kimi writes each part as an object whose only key besides the id is the name of the type.
        // So does Amazon's Converse API.
        let has_keyed = |key: &str| kind.is_empty() && part.object(key).is_some();
        let is_keyed_thought = has_keyed("think") || has_keyed("reasoningContent");
        // Google's API has both spellings.
        let is_keyed_call = has_keyed("toolUse") || has_keyed("function_call");
        let is_keyed_result = has_keyed("toolResult") || has_keyed("function_response");
        if is_keyed_thought || part.is_true("thought") || part.is_true("isThought") || THOUGHT_TYPES.contains(&kind) {
            let keyed = part.object("reasoningContent").filter(|_| kind.is_empty());
            let keys = ["thinking", "reasoning", "think", "thought", "text", "content", "summary", "reasoningText"];
            self.add_block("thinking", None, first_nested(keyed.as_ref().unwrap_or(&part), &keys));
        } else if HTML_TYPES.contains(&kind) && part.has("data") {
            self.add_text(&first_nested(&part, &["data"]));
        } else if TEXT_TYPES.contains(&kind) || kind.is_empty() && has_text(&part) {
            let text = first_nested(&part, &["text", "value", "content", "parts"]);
            self.add_text(&text);
        } else if CALL_TYPES.contains(&kind) || part.has("functionCall") || is_keyed_call {
            let call_object = ["tool_call", "functionCall", "function", "toolCall", "toolUse", "function_call"]
                .iter()
                .find_map(|key| part.object(key));
            let call = call_object.unwrap_or(part);
            // Goose puts the call inside `value`, next to the call's status.
            let value = call.object("value");
            self.add_call(value.as_ref().unwrap_or(&call));
        } else if RESULT_TYPES.contains(&kind) || part.has("functionResponse") || is_keyed_result {
            // Goose stores the result under `toolResult`, and Amp under `run`.
            let result_object = ["tool_response", "functionResponse", "function_response", "toolResult", "run"]
                .iter()
                .find_map(|key| part.object(key));
            let result = result_object.as_ref().unwrap_or(&part);
            let text = first_nested(result, &["content", "output", "result", "response", "text", "value", "error"]);
            self.add_block("tool_result", tool_name(result), text);
        } else if kind.starts_with("tool-") || kind == "dynamic-tool" {
            self.add_invocation(&part, Some(kind.trim_start_matches("tool-").to_owned()));
        } else if FILE_TYPES.contains(&kind) || part.has("inlineData") || part.has("fileData") {
            self.files.push(file_ref(&part));
        } else if kind == "step-start" || kind == "step-finish" {
        } else {
            let name = if kind.is_empty() { "unknown" } else { kind };
            let text = first_nested(&part, &["text", "content", "value", "output", "error", "title", "url"]);
            self.add_block(name, None, text);
        }
    }

    /// Adds the inner part of a Big-AGI fragment. The type of the part is in its member `pt`.
    fn add_fragment(&mut self, part: &Object<'_>) {
        let kind = part.text("pt").unwrap_or_default();
        match kind.as_ref() {
            "text" => self.add_text(&part.text("text").unwrap_or_default()),
            "ma" => self.add_block("thinking", None, part.text("aText").unwrap_or_default()),
            "image_ref" | "image" | "reference" | "doc" => {
                self.files.push(file_ref(part));
                let text = first_nested(part, &["data"]);
                self.add_block("document", None, text);
            }
            kind => self.add_block(kind, tool_name(part), first_nested(part, &["text", "error", "result", "args"])),
        }
    }

    /// Adds a paragraph, unless it is blank.
    pub fn add_text(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    /// Adds a part that is shown collapsed. A part without text and name is left out and remains only in the verbatim.
    /// An empty tool result is added: if the message contains nothing else, the result shows that the person did not
    /// write the message.
    pub fn add_block(&mut self, kind: &str, name: Option<String>, text: impl Into<String>) {
        let text = text.into();
        if text.trim().is_empty() && name.is_none() && kind != "tool_result" {
            return;
        }
        self.blocks.push(values::block(kind, name.as_deref(), text));
    }

    /// Adds a tool call: `{name, arguments}`, or an object with these members under `function`. If the call also
    /// contains its result, the result is added too.
    pub fn add_call(&mut self, call: &Object<'_>) {
        let function = call.object("function");
        let named_call = function.as_ref().unwrap_or(call);
        let input = ["arguments", "args", "input", "parameters", "params", "tool_kwargs"]
            .iter()
            .find_map(|key| named_call.raw_value(key));
        let text = input.map(|raw| decode_string(raw).unwrap_or(Cow::Borrowed(raw.get())));
        self.add_block("tool_call", tool_name(named_call), text.unwrap_or_default());
        let result = first_nested(call, &["output", "result", "response"]);
        if !result.is_empty() {
            self.add_block("tool_result", tool_name(named_call), result);
        }
    }

    /// Adds a call and its result as the AI SDK stores them: `{toolName, args, result}`.
    fn add_invocation(&mut self, part: &Object<'_>, name: Option<String>) {
        let invocation = part.object("toolInvocation");
        let invocation = invocation.as_ref().unwrap_or(part);
        let name = tool_name(invocation).or(name);
        let input = ["args", "input"].iter().find_map(|key| invocation.raw_value(key));
        self.add_block("tool_call", name.clone(), input.map(|raw| raw.get()).unwrap_or_default());
        let result = first_nested(invocation, &["result", "output", "errorText"]);
        if !result.is_empty() {
            self.add_block("tool_result", name, result);
        }
    }

    /// Adds the files in a message's list of `attachments`, `files` or `images`.
    pub fn add_files(&mut self, raw: &RawValue) {
        for entry in list(raw).unwrap_or_default() {
            if let Some(object) = Object::parse(entry.get()) {
                self.files.push(file_ref(&object));
            } else if let Some(text) = decode_string(entry) {
                self.files.push(file_ref_of_address(&text));
            }
        }
    }

    /// The type of the message: `text` if the message has text, or no parts at all. Otherwise, the first of
    /// `tool_call`, `tool_result` and `thinking` for which there is a part.
    pub fn content_type(&self) -> &'static str {
        let has = |kind: &str| self.blocks.iter().any(|b| b.get("type").and_then(Value::as_str) == Some(kind));
        if !self.text.trim().is_empty() || self.blocks.is_empty() {
            "text"
        } else if has("tool_call") {
            "tool_call"
        } else if has("tool_result") {
            "tool_result"
        } else if has("thinking") {
            "thinking"
        } else {
            "text"
        }
    }

    /// True if the content has neither text nor blocks nor files.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.blocks.is_empty() && self.files.is_empty()
    }

    /// Replaces text, blocks and files of a message. The type of the message is not changed.
    pub fn put_into(self, turn: &mut Turn, format: &str) {
        turn.attachments.clear();
        turn.fields.remove("blocks");
        self.add_to(turn, format);
    }

    /// Replaces the text of a message, and its blocks if there are any. Adds the files to those of the message.
    pub fn add_to(self, turn: &mut Turn, format: &str) {
        turn.attachments.extend(self.attachments(format));
        if !self.blocks.is_empty() {
            turn.fields.insert("blocks".into(), self.blocks.into());
        }
        turn.text = self.text;
    }

    /// The files as references. The scope of their keys is the format. The value of a key is the id in the source,
    /// otherwise the file name.
    pub fn attachments(&self, format: &str) -> Vec<AttachmentRef> {
        let mut out: Vec<AttachmentRef> = Vec::new();
        for file in &self.files {
            let Some(id) = file.id.clone().or_else(|| file.name.clone()) else { continue };
            // A long address is replaced with its digest.
            let key = if id.len() > 120 { content_id(&id) } else { id.clone() };
            let key = RecordKey::new(format, format!("file/{key}"));
            let name_of_id =
                || if id.len() > MAX_ADDRESS_BYTES { UNNAMED_FILE } else { id.rsplit('/').next().unwrap_or(&id) };
            let name = file.name.clone().unwrap_or_else(|| name_of_id().to_owned());
            if out.iter().any(|other| other.key == key) {
                continue;
            }
            out.push(AttachmentRef {
                key,
                origin_id: file.id.clone().filter(|id| id.len() <= MAX_ADDRESS_BYTES),
                name,
                media_type: file.media_type.clone(),
                size: file.size,
                text: None,
            });
        }
        out
    }
}

/// True for a part without a type that has a text under one of the usual keys.
fn has_text(part: &Object<'_>) -> bool {
    ["text", "value", "content", "parts"].iter().any(|key| part.has(key))
}

fn tool_name(object: &Object<'_>) -> Option<String> {
    let keys = ["name", "toolName", "tool_name", "tool"];
    keys.iter().find_map(|key| object.non_blank_text(key)).map(Cow::into_owned)
}

/// The texts under the first of these keys that contains any. Texts in lists and in the members `text`, `value` and
/// `content` of objects are included.
fn first_nested(object: &Object<'_>, keys: &[&str]) -> String {
    for key in keys {
        let Some(raw) = object.raw_value(key) else { continue };
        let text = nested_text(raw);
        if !text.trim().is_empty() {
            return text;
        }
    }
    String::new()
}

/// The texts in a value, joined by line breaks. An object without a known member is included as JSON unless it is
/// empty. At most three levels are searched, so that deeply nested input does no harm.
pub fn nested_text(raw: &RawValue) -> String {
    fn collect(raw: &RawValue, levels: u32, out: &mut Vec<String>) {
        if let Some(text) = decode_string(raw) {
            out.push(text.into_owned());
        } else if levels == 0 {
            out.push(raw.get().to_owned());
        } else if let Some(items) = list(raw) {
            items.into_iter().for_each(|item| collect(item, levels - 1, out));
        } else if let Some(object) = Object::parse(raw.get()) {
            match ["text", "value", "content", "output", "summary"].iter().find_map(|key| object.raw_value(key)) {
                Some(inner) => collect(inner, levels - 1, out),
                None if raw.get() != "{}" => out.push(raw.get().to_owned()),
                None => {}
            }
        } else if raw.get() != "null" {
            out.push(raw.get().to_owned());
        }
    }
    let mut out = Vec::new();
    collect(raw, 3, &mut out);
    out.join("\n")
}

/// The file that a part, or an entry of a list of files, refers to.
fn file_ref(object: &Object<'_>) -> FileRef {
    let text = |of: &Object<'_>, keys: &[&str]| keys.iter().find_map(|key| of.non_blank_text(key)).map(Cow::into_owned);
    let file_object = ["file", "image_url", "image_file", "input_audio", "inlineData", "fileData", "document", "image"]
        .iter()
        .find_map(|key| object.object(key));
    let described = file_object.as_ref().unwrap_or(object);
    let ids = ["file_id", "fileId", "id", "fileIdentifier", "attachmentId", "fileUri", "url", "image_url", "path"];
    let names = ["filename", "fileName", "file_name", "name", "originalName", "title", "alt"];
    let types = [
        "mime_type",
        "mimeType",
        "content_type",
        "contentType",
        "media_type",
        "mediaType",
        "fileType",
        "image_mimetype",
        "video_mimetype",
        "document_mimetype",
    ];
    let sizes = ["size", "bytes", "sizeBytes", "file_size", "fileSize"];
    let id = text(described, &ids).or_else(|| text(object, &ids));
    let from_address = match id.as_deref() {
        Some(address) => file_ref_of_address(address),
        None => {
            let value = |key: &&str| described.non_blank_text(key).or_else(|| object.non_blank_text(key));
            EMBEDDED_KEYS.iter().find_map(|key| embedded_file(&value(key)?)).unwrap_or_default()
        }
    };
    FileRef {
        id: from_address.id,
        name: text(described, &names).or_else(|| text(object, &names)).or(from_address.name),
        media_type: text(described, &types).or_else(|| text(object, &types)).or(from_address.media_type),
        size: sizes.iter().find_map(|key| described.whole_number(key).or_else(|| object.whole_number(key))),
    }
}

/// A reference to the file in a part. `value` is an address, or the file itself in base64, whose digest becomes the id.
/// None for any other text.
fn embedded_file(value: &str) -> Option<FileRef> {
    if ["data:", "http://", "https://"].iter().any(|beginning| value.starts_with(beginning)) {
        return Some(file_ref_of_address(value));
    }
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let is_file = value.len() >= MIN_EMBEDDED_CHARS && value.bytes().all(is_base64);
    is_file.then(|| FileRef { id: Some(content_id(value)), name: Some(UNNAMED_FILE.into()), ..FileRef::default() })
}

/// A reference to a file for which only the address is known. The id of a `data:` address is a digest, because the
/// address contains the whole file (see `message::store_embedded`).
fn file_ref_of_address(address: &str) -> FileRef {
    let Some(rest) = address.strip_prefix("data:") else {
        return FileRef { id: Some(address.to_owned()), ..FileRef::default() };
    };
    let media_type = rest.split([';', ',']).next().filter(|t| t.contains('/')).map(str::to_owned);
    FileRef { id: Some(content_id(address)), name: Some(UNNAMED_FILE.into()), media_type, size: None }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(json: &str) -> Content {
        let mut out = Content::default();
        out.add(&RawValue::from_string(json.into()).unwrap());
        out
    }

    #[test]
    fn every_kind_of_part_is_read() {
        for (json, text) in [
            (r#""hello""#, "hello"),
            (r#"["a", {"text": "b"}]"#, "a\n\nb"),
            (r#"[{"type":"text","text":{"value":"a","annotations":[]}}]"#, "a"),
            (r#"{"parts":["a","b"]}"#, "a\nb"),
            (r#"[{"type":"input_text","text":"a"},{"type":"output_text","text":"b"}]"#, "a\n\nb"),
            (r#"[7, null, true]"#, ""),
        ] {
            assert_eq!(read(json).text, text, "{json}");
        }
        let imported = read(
            r#"[{"type":"think","think":"hm"},{"type":"tool_call","tool_call":{"name":"search","args":"{}","output":"found"}},
                {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"new_kind","text":"odd"}]"#,
        );
        let kinds: Vec<&str> = imported.blocks.iter().map(|b| b["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["thinking", "tool_call", "tool_result", "new_kind"]);
        assert_eq!(imported.content_type(), "tool_call");
        let files = imported.attachments("test");
        assert_eq!(files[0].media_type.as_deref(), Some("image/png"));
    }

    #[test]
    fn a_result_without_text_is_still_a_result() {
        for json in [
            r#"[{"type":"tool_result","tool_use_id":"t1","content":""}]"#,
            r#"[{"type":"tool_result","tool_use_id":"t1"}]"#,
            r#"{"type":"toolResponse","toolResult":{"status":"success","value":[]}}"#,
        ] {
            let content = read(json);
            assert_eq!((content.content_type(), content.blocks.len()), ("tool_result", 1), "{json}");
        }
        assert!(read(r#"[{"type":"thinking","thinking":" "}]"#).blocks.is_empty());
    }

    #[test]
    fn calls_and_results_inside_other_members_are_read() {
        let value = r#"{"status":"success","value":"#;
        for (json, kind, name, text) in [
            (
                format!(r#"{{"type":"toolRequest","toolCall":{value}{{"name":"shell","arguments":{{"a":1}}}}}}}}"#),
                "tool_call",
                Some("shell"),
                r#"{"a":1}"#,
            ),
            (
                format!(r#"{{"type":"toolResponse","toolResult":{value}[{{"type":"text","text":"found"}}]}}}}"#),
                "tool_result",
                None,
                "found",
            ),
            (
                format!(r#"{{"type":"toolResponse","toolResult":{value}{{"content":[{{"text":"found"}}]}}}}}}"#),
                "tool_result",
                None,
                "found",
            ),
            (
                r#"{"type":"toolResponse","toolResult":{"status":"error","error":"no such tool"}}"#.into(),
                "tool_result",
                None,
                "no such tool",
            ),
            (
                r#"{"type":"tool_result","run":{"status":"done","result":{"output":"found","exitCode":0}}}"#.into(),
                "tool_result",
                None,
                "found",
            ),
        ] {
            let content = read(&json);
            let block = &content.blocks[0];
            assert_eq!(block["type"], kind, "{json}");
            assert_eq!(block["name"].as_str(), name, "{json}");
            assert_eq!(block["text"], text, "{json}");
        }
    }
}
