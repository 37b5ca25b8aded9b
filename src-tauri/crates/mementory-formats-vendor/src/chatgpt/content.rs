//! Extracts the text and the files of a message, depending on its content type.
use super::wire::{Content, File, Metadata, Text, Thought};
use mementory_json::Tree;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Deepest nesting of JSON that is searched for text. Deeper content adds no text.
const MAX_TREE_DEPTH: u32 = 64;

/// A file in a message.
#[derive(Debug, Default, Clone)]
pub(super) struct FileRef {
    /// File id. Empty if the source states only a name.
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) media_type: Option<String>,
    pub(super) size: Option<u64>,
}

/// Text and files in the `content` of a message.
#[derive(Debug, Default)]
pub(super) struct MessageContent {
    pub(super) text: String,
    /// The `content_type` in the source.
    pub(super) source_type: String,
    pub(super) files: Vec<FileRef>,
}

impl MessageContent {
    fn add_text(&mut self, text: &str, separator: &str) {
        if !text.is_empty() {
            if !self.text.is_empty() {
                self.text.push_str(separator);
            }
            self.text.push_str(text);
        }
    }

    fn add_file(&mut self, file: FileRef) {
        let is_same_file = |f: &&mut FileRef| f.id == file.id && (!file.id.is_empty() || f.name == file.name);
        match self.files.iter_mut().find(is_same_file) {
            Some(known) => {
                known.name = known.name.take().or(file.name);
                known.media_type = known.media_type.take().or(file.media_type);
                known.size = known.size.or(file.size);
            }
            None => self.files.push(file),
        }
    }
}

/// Reads the `content` of a message, and the files in its `metadata` (`attachments`, and pictures in
/// `aggregate_result`). The text of an unknown content type consists of the strings under [`TEXT_KEYS`].
pub(super) fn read(raw: Option<&RawValue>, parsed: &Content<'_>, metadata: &Metadata<'_>) -> MessageContent {
    let mut out = MessageContent {
        source_type: parsed.content_type.to_owned_text().unwrap_or_default(),
        ..MessageContent::default()
    };
    match out.source_type.as_str() {
        "text" | "multimodal_text" => {
            add_parts(parsed.parts, &mut out);
            out.add_text(parsed.text.get().unwrap_or_default(), "\n");
        }
        "code" | "execution_output" | "system_error" => out.add_text(parsed.text.get().unwrap_or_default(), "\n"),
        "thoughts" => {
            let thoughts: Vec<Thought<'_>> = parse_list(parsed.thoughts);
            for thought in thoughts {
                out.add_text(thought.summary.get().unwrap_or_default(), "\n\n");
                match thought.content.get() {
                    Some(content) => out.add_text(content, "\n"),
                    // An unfinished thought has its text only in `chunks`.
                    None => {
                        let chunks: Vec<Text<'_>> = parse_list(thought.chunks);
                        let words: String = chunks.iter().filter_map(Text::get).collect();
                        out.add_text(&words, "\n");
                    }
                }
            }
            out.add_text(parsed.content.get().unwrap_or_default(), "\n\n");
        }
        "reasoning_recap" => out.add_text(parsed.content.get().unwrap_or_default(), "\n"),
        "user_editable_context" => {
            out.add_text(parsed.user_profile.get().unwrap_or_default(), "\n\n");
            out.add_text(parsed.user_instructions.get().unwrap_or_default(), "\n\n");
        }
        "model_editable_context" => {
            for text in [&parsed.model_set_context, &parsed.repo_summary, &parsed.structured_context] {
                out.add_text(text.get().unwrap_or_default(), "\n\n");
            }
        }
        "tether_browsing_display" | "tether_quote" | "sonic_webpage" => {
            for text in [&parsed.title, &parsed.url, &parsed.summary, &parsed.result, &parsed.text, &parsed.snippet] {
                out.add_text(text.get().unwrap_or_default(), "\n");
            }
        }
        "search_result_groups" => {
            if let Some(raw) = raw {
                add_nested(raw, &mut out, &SEARCH_RESULT_KEYS);
            }
        }
        _ => {
            add_parts(parsed.parts, &mut out);
            if let Some(raw) = raw.filter(|_| out.text.is_empty()) {
                add_nested(raw, &mut out, &TEXT_KEYS);
            }
        }
    }
    // Browser extensions save thoughts and their summaries as parts, or with the name `text`.
    if matches!(out.source_type.as_str(), "thoughts" | "reasoning_recap") && out.text.is_empty() {
        add_parts(parsed.parts, &mut out);
        if let Some(raw) = raw.filter(|_| out.text.is_empty()) {
            add_nested(raw, &mut out, &TEXT_KEYS);
        }
    }
    if let Some(raw) = metadata.aggregate_result {
        add_nested(raw, &mut out, &[]);
    }
    for file in parse_list::<File<'_>>(metadata.attachments) {
        let id = file.id.to_owned_text().or_else(|| file.file_id.to_owned_text()).unwrap_or_default();
        if !id.is_empty() || file.name.get().is_some() {
            out.add_file(FileRef {
                id,
                name: file.name.to_owned_text(),
                media_type: file.mime_type.to_owned_text().or_else(|| file.mime_type_camel.to_owned_text()),
                size: file.size.0.filter(|s| *s >= 0.0).map(|s| s as u64),
            });
        }
    }
    out
}

/// Parses the items of an array. An item that is not a `T` becomes the default value.
pub(super) fn parse_list<'a, T: serde::Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> Vec<T> {
    let items: Vec<&'a RawValue> = raw.and_then(|r| serde_json::from_str(r.get()).ok()).unwrap_or_default();
    items.into_iter().map(|r| serde_json::from_str(r.get()).unwrap_or_default()).collect()
}

fn add_parts(raw: Option<&RawValue>, out: &mut MessageContent) {
    let Some(raw) = raw else { return };
    // Most arrays contain only strings, which are decoded without building a tree. Programs that edit exports may write
    // a single part without an array around it.
    let items: Vec<&RawValue> = match raw.get().starts_with('[') {
        true => serde_json::from_str(raw.get()).unwrap_or_default(),
        false => vec![raw],
    };
    for item in items {
        match item.get().as_bytes().first() {
            Some(b'"') => {
                if let Some(text) = decode_string(item.get()) {
                    out.add_text(&text, "\n");
                }
            }
            Some(b'{' | b'[') => add_nested(item, out, &TEXT_KEYS),
            _ => {}
        }
    }
}

fn decode_string(json: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<super::wire::Text<'_>>(json).ok()?.0
}

/// Keys whose string values are text of a message.
const TEXT_KEYS: [&str; 6] = ["text", "content", "output", "output_str", "summary", "result"];
/// Keys whose string values are text of a search result.
const SEARCH_RESULT_KEYS: [&str; 4] = ["title", "url", "snippet", "text"];

/// Searches `raw` at any depth. Adds the strings whose key is in `keys` as text, and adds all file references.
fn add_nested(raw: &RawValue, out: &mut MessageContent, keys: &[&str]) {
    let Ok(tree) = Tree::from_raw(raw, MAX_TREE_DEPTH) else { return };
    let mut pending: Vec<(&str, &Tree, Option<u64>)> = vec![("", &tree, None)];
    while let Some((key, node, size)) = pending.pop() {
        match node {
            Tree::Text(text) => {
                if let Some(id) = file_id_in_pointer(text) {
                    out.add_file(FileRef { id: id.to_owned(), size, ..FileRef::default() });
                } else if keys.contains(&key) {
                    out.add_text(text, "\n");
                }
            }
            Tree::Array(items) => pending.extend(items.iter().rev().map(|i| (key, i, None))),
            Tree::Object(members) => {
                let size = node.get("size_bytes").and_then(Tree::as_f64).filter(|s| *s >= 0.0).map(|s| s as u64);
                pending.extend(members.iter().rev().map(|(k, v)| (k.as_str(), v, size)));
            }
            _ => {}
        }
    }
}

/// Returns the file id in an address such as `file-service://file-X` or `sediment://file_X#p_0`.
fn file_id_in_pointer(text: &str) -> Option<&str> {
    let id = text.strip_prefix("file-service://").or_else(|| text.strip_prefix("sediment://"))?;
    let id = id.split(['#', '?']).next().unwrap_or(id);
    (!id.is_empty() && id.len() < 256).then_some(id)
}
