//! The content of a coding agent's message: its text, and its other blocks, which are shown collapsed and can be
//! searched. Agents store blocks in the format of their model's API, so this reader supports the blocks of Anthropic,
//! OpenAI and Google.
use super::chat::{Turn, is_tool_type};
use super::harness;
use super::nested_text::nested_strings;
use super::object::{Object, decode_string, list};
use super::values;
use base64::Engine;
use mementory_json::Tree;
use mementory_model::{AttachmentRef, RecordKey};
use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Largest size, in bytes of base64, of an embedded file. A larger file is not extracted from its message.
const MAX_INLINE_BYTES: usize = 64 << 20;

/// The bytes of a file that a message contains in base64, with or without padding. None if they are not base64, empty,
/// or larger than [`MAX_INLINE_BYTES`].
pub fn embedded_bytes(data: &str) -> Option<Vec<u8>> {
    use base64::engine::general_purpose::STANDARD_NO_PAD;
    let data = Some(data.trim().trim_end_matches('=')).filter(|data| data.len() <= MAX_INLINE_BYTES)?;
    STANDARD_NO_PAD.decode(data).ok().filter(|bytes| !bytes.is_empty())
}

/// A file that a message contains.
#[derive(Debug)]
pub struct InlineFile {
    /// The message's reference to the file.
    pub reference: AttachmentRef,
    /// The content of the file.
    pub bytes: Vec<u8>,
}

/// The content of a message.
#[derive(Debug, Default)]
pub struct AgentContent {
    /// Text blocks, joined by blank lines.
    pub text: String,
    /// All blocks except text, which are shown collapsed: `{type, name?, text}`.
    pub blocks: Vec<Value>,
    /// Files inside the message.
    pub files: Vec<InlineFile>,
}

impl AgentContent {
    /// Reads the content of a message: a string, a list of blocks or a single block.
    pub fn read(content: Option<&RawValue>) -> Self {
        let mut out = Self::default();
        if let Some(raw) = content {
            out.push(raw);
        }
        out
    }

    /// Adds the content of a string, a list of blocks or a single block.
    pub fn push(&mut self, raw: &RawValue) {
        match decode_string(raw) {
            Some(text) => push_text(&mut self.text, &text),
            None => {
                for block in list(raw).unwrap_or_else(|| vec![raw]) {
                    self.push_one(block);
                }
            }
        }
    }

    /// Adds a block that is shown collapsed. A block without text and name is left out, unless it is a tool call or a
    /// tool result. An empty tool result is added: if a message contains nothing else, the result shows that the person
    /// did not write the message.
    pub fn push_block(&mut self, kind: &str, name: Option<&str>, text: impl Into<String>) {
        let text = text.into();
        if text.trim().is_empty() && name.is_none() && !is_tool_type(kind) {
            return;
        }
        self.blocks.push(values::block(kind, name, text));
    }

    fn push_one(&mut self, raw: &RawValue) {
        if let Some(text) = decode_string(raw) {
            return push_text(&mut self.text, &text);
        }
        let Some(block) = Object::parse(raw.get()) else { return };
        let name = ["name", "toolName", "tool_name"].into_iter().find_map(|key| block.non_blank_text(key));
        let name = name.as_deref();
        let kind = block.text("type").unwrap_or_default();
        let first_text =
            |keys: &[&str]| keys.iter().find_map(|k| block.raw_value(k)).map_or_else(String::new, value_text);
        match kind.as_ref() {
            "text" | "input_text" | "output_text" | "refusal" if block.has("text") || block.has("refusal") => {
                push_text(&mut self.text, &first_text(&["text", "refusal"]));
            }
            "thinking" | "reasoning" | "reasoning_text" | "summary_text" => {
                self.push_block("thinking", None, first_text(&["thinking", "text", "summary", "content"]));
            }
            "redacted_thinking" | "redacted-reasoning" => {}
            "tool_use" | "tool-call" | "tool_call" | "server_tool_use" | "mcp_tool_use" => {
                self.push_block("tool_call", name, first_text(&["input", "args", "arguments"]));
            }
            "tool_result" | "tool-result" | "web_search_tool_result" | "mcp_tool_result" => {
                if let Some(content) = block.raw_value("content").filter(|c| c.get().starts_with('[')) {
                    self.push_files_of(content);
                }
                self.push_block(
                    "tool_result",
                    name,
                    first_text(&["content", "result", "output", "experimental_content"]),
                );
            }
            "image" | "document" | "input_image" | "input_file" | "file" => self.push_file(&block, &kind),
            _ => self.push_part(&block, raw, name, &kind),
        }
    }

    /// Adds a part of Google's API, which has no type, or a block of an unknown type.
    fn push_part(&mut self, block: &Object<'_>, raw: &RawValue, name: Option<&str>, kind: &str) {
        if let Some(call) = block.object("functionCall") {
            let args = call.raw_value("args").map_or_else(String::new, value_text);
            self.push_block("tool_call", call.non_blank_text("name").as_deref(), args);
        } else if let Some(answer) = block.object("functionResponse") {
            let text = answer.raw_value("response").map_or_else(String::new, nested_text);
            self.push_block("tool_result", answer.non_blank_text("name").as_deref(), text);
        } else if let Some(code) = block.object("executableCode") {
            self.push_block("code", None, code.text("code").unwrap_or_default());
        } else if let Some(result) = block.object("codeExecutionResult") {
            self.push_block("tool_result", None, result.text("output").unwrap_or_default());
        } else if block.has("inlineData") || block.has("fileData") {
            self.push_file(block, "file");
        } else if kind.is_empty() && block.is_true("thought") {
            self.push_block("thinking", None, block.text("text").unwrap_or_default());
        } else if let Some(text) = block.text("text").filter(|_| kind.is_empty()) {
            push_text(&mut self.text, &text);
        } else {
            let kind = if kind.is_empty() { "unknown" } else { kind };
            self.push_block(kind, name, nested_text(raw));
        }
    }

    /// Adds the files in a tool result.
    fn push_files_of(&mut self, content: &RawValue) {
        for item in list(content).unwrap_or_default() {
            if let Some(block) = Object::parse(item.get())
                && matches!(block.text("type").as_deref(), Some("image" | "document"))
            {
                self.push_file(&block, "file");
            }
        }
    }

    /// Adds a file: `source{media_type,data}`, `inlineData{mimeType,data}`, or a data URL.
    pub fn push_file(&mut self, block: &Object<'_>, kind: &str) {
        let file_object =
            block.object("source").or_else(|| block.object("inlineData")).or_else(|| block.object("fileData"));
        let file_object = file_object.as_ref().unwrap_or(block);
        let url = ["image_url", "url", "file_url", "fileUri", "image", "data"].into_iter().find_map(|key| {
            let raw = file_object.raw_value(key)?;
            decode_string(raw).or_else(|| Object::parse(raw.get())?.text("url").map(|t| Cow::Owned(t.into_owned())))
        });
        let media_type =
            ["media_type", "mimeType", "mime_type", "mediaType"].into_iter().find_map(|k| file_object.text(k));
        let (media_type, data) = match url.as_deref().and_then(|u| u.strip_prefix("data:")?.split_once(";base64,")) {
            Some((media_type, data)) => (Some(media_type.to_owned()), Some(data)),
            None => (media_type.map(Cow::into_owned), file_object.has("data").then_some(url.as_deref()).flatten()),
        };
        let name = ["filename", "file_name", "title", "name"].into_iter().find_map(|k| block.non_blank_text(k));
        let Some(bytes) = data.and_then(embedded_bytes) else {
            let place = url.filter(|u| !u.starts_with("data:") && u.len() < 4096).unwrap_or_default();
            let text = [name.as_deref(), media_type.as_deref(), Some(place.as_ref())];
            let text: Vec<&str> = text.into_iter().flatten().filter(|t| !t.is_empty()).collect();
            return self.push_block(kind, None, text.join(" "));
        };
        self.push_bytes(bytes, name.map(Cow::into_owned), media_type);
    }

    /// Adds the file in a data URL. Returns false if `url` is not a data URL, or if its data cannot be decoded.
    pub fn push_data_url(&mut self, url: &str) -> bool {
        let parts = url.strip_prefix("data:").and_then(|url| url.split_once(";base64,"));
        let Some((media_type, bytes)) = parts.and_then(|(kind, data)| Some((kind, embedded_bytes(data)?))) else {
            return false;
        };
        self.push_bytes(bytes, None, Some(media_type.to_owned()));
        true
    }

    fn push_bytes(&mut self, bytes: Vec<u8>, name: Option<String>, media_type: Option<String>) {
        let digest = hex::encode(Sha256::digest(&bytes));
        let extension = media_type.as_deref().and_then(|m| m.split('/').nth(1)).unwrap_or("bin");
        let reference = AttachmentRef {
            key: RecordKey::new("inline", &digest),
            origin_id: None,
            name: name.unwrap_or_else(|| format!("{}.{extension}", &digest[..12])),
            media_type,
            size: Some(bytes.len() as u64),
            text: None,
        };
        if self.files.iter().all(|f| f.reference.key != reference.key) {
            self.files.push(InlineFile { reference, bytes });
        }
    }

    /// `text` if the message has text or no blocks. Otherwise, the first of `tool_call`, `tool_result`, `thinking` and
    /// `code` for which there is a block.
    pub fn content_type(&self) -> &'static str {
        let has = |kind: &str| self.blocks.iter().any(|b| b.get("type").and_then(Value::as_str) == Some(kind));
        if !self.text.trim().is_empty() || self.blocks.is_empty() {
            return "text";
        }
        ["tool_call", "tool_result", "thinking", "code"].into_iter().find(|kind| has(kind)).unwrap_or("text")
    }

    /// Moves text that the agent's program added to the person's message into blocks of type `context`. Returns true if
    /// the person wrote nothing. In that case nothing is moved, and the added text stays the message's text.
    pub fn separate_harness_text(&mut self) -> bool {
        let (written_by_person, added) = harness::split(&self.text);
        if added.is_empty() {
            self.text = written_by_person;
            return false;
        }
        if written_by_person.trim().is_empty() {
            self.text = added.join("\n\n");
            return true;
        }
        self.text = written_by_person;
        for text in added {
            self.push_block("context", None, text);
        }
        false
    }

    /// Moves the content into a turn of a session. Returns content with only the files, whose bytes the caller must
    /// store. A turn with the role `system`, whose text the agent's program wrote, gets the type `context` and is
    /// hidden. Turns that are only tool calls or tool results are hidden too.
    pub fn fill_session_turn(mut self, turn: &mut Turn) -> Self {
        let files = std::mem::take(&mut self.files);
        self.fill(turn);
        turn.attachments = files.iter().map(|file| file.reference.clone()).collect();
        if turn.role == "system" {
            (turn.content_type, turn.hidden) = ("context".into(), true);
        } else if is_tool_type(&turn.content_type) {
            turn.hidden = true;
        }
        Self { files, ..Self::default() }
    }

    /// Moves the content into a turn. Replaces its text, blocks and content type, and adds attachments.
    pub fn fill(self, turn: &mut Turn) {
        turn.content_type = self.content_type().into();
        turn.text = self.text;
        turn.attachments.extend(self.files.into_iter().map(|f| f.reference));
        if !self.blocks.is_empty() {
            turn.fields.insert("blocks".into(), Value::Array(self.blocks));
        }
    }
}

/// Appends a paragraph, unless it is blank.
pub fn push_text(out: &mut String, text: &str) {
    if text.trim().is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str(text);
}

/// The text of a string, or of the blocks in a list. Any other value is returned as JSON without `\u` escapes.
pub fn value_text(raw: &RawValue) -> String {
    if let Some(text) = decode_string(raw) {
        return text.into_owned();
    }
    if let Some(items) = list(raw) {
        let mut out = String::new();
        for item in items {
            push_text(&mut out, &decode_string(item).map_or_else(|| nested_text(item), Cow::into_owned));
        }
        return out;
    }
    if !raw.get().contains("\\u") {
        return raw.get().to_owned();
    }
    match Tree::from_raw(raw, 64) {
        Ok(tree) => {
            let mut out = String::new();
            tree.write(&mut out);
            out
        }
        Err(_) => raw.get().to_owned(),
    }
}

/// The strings of an unknown value under names that usually contain text, one per line. If there are none, all strings
/// except ids, types and long data. The depth and the number of strings are limited, and the function is not recursive.
pub fn nested_text(raw: &RawValue) -> String {
    let named_texts = named_text(raw);
    if named_texts.is_empty() { nested_strings(raw, &[]) } else { named_texts }
}

/// The strings of a value under names that usually contain text, one per line.
pub fn named_text(raw: &RawValue) -> String {
    nested_strings(raw, &["text", "content", "output", "title", "message", "prompt", "error"])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_result_without_text_is_still_a_result() {
        let content = r#"[{"type":"tool_result","tool_use_id":"t1","content":""}]"#;
        let content = AgentContent::read(Some(serde_json::from_str(content).unwrap()));
        assert_eq!((content.content_type(), content.blocks.len()), ("tool_result", 1));
        let thought = r#"[{"type":"thinking","thinking":" "}]"#;
        assert!(AgentContent::read(Some(serde_json::from_str(thought).unwrap())).blocks.is_empty());
    }
}
