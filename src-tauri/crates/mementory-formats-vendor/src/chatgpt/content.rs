//! What a message says and which files it names, by content type (vendors.md §2.3).
use super::wire::{Content, File, Metadata, Thought};
use mementory_json::Tree;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How deep an unknown part is looked into.
const DEPTH: u32 = 64;

/// A file that a message names.
#[derive(Debug, Default, Clone)]
pub(super) struct FileRef {
    /// Empty when the source gives only a name.
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) media_type: Option<String>,
    pub(super) size: Option<u64>,
}

/// The readable side of one `content`.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) text: String,
    /// The source's own word.
    pub(super) source_type: String,
    pub(super) files: Vec<FileRef>,
}

impl Reading {
    fn line(&mut self, text: &str, between: &str) {
        if !text.is_empty() {
            if !self.text.is_empty() {
                self.text.push_str(between);
            }
            self.text.push_str(text);
        }
    }

    fn name_file(&mut self, file: FileRef) {
        let same = |f: &&mut FileRef| f.id == file.id && (!file.id.is_empty() || f.name == file.name);
        match self.files.iter_mut().find(same) {
            Some(known) => {
                known.name = known.name.take().or(file.name);
                known.media_type = known.media_type.take().or(file.media_type);
                known.size = known.size.or(file.size);
            }
            None => self.files.push(file),
        }
    }
}

/// Reads `content` (and of `metadata` what names files: `attachments`, and `aggregate_result` of code that drew
/// something). Never fails: what is not understood is only found by its leaves.
pub(super) fn read(raw: Option<&RawValue>, parsed: &Content<'_>, metadata: &Metadata<'_>) -> Reading {
    let mut out = Reading { source_type: parsed.content_type.owned().unwrap_or_default(), ..Reading::default() };
    match out.source_type.as_str() {
        "text" | "multimodal_text" => {
            parts(parsed.parts, &mut out);
            out.line(parsed.text.get().unwrap_or_default(), "\n");
        }
        "code" | "execution_output" | "system_error" => out.line(parsed.text.get().unwrap_or_default(), "\n"),
        "thoughts" => {
            let thoughts: Vec<Thought<'_>> = list(parsed.thoughts);
            for thought in thoughts {
                out.line(thought.summary.get().unwrap_or_default(), "\n\n");
                out.line(thought.content.get().unwrap_or_default(), "\n");
            }
            out.line(parsed.content.get().unwrap_or_default(), "\n\n");
        }
        "reasoning_recap" => out.line(parsed.content.get().unwrap_or_default(), "\n"),
        "user_editable_context" => {
            out.line(parsed.user_profile.get().unwrap_or_default(), "\n\n");
            out.line(parsed.user_instructions.get().unwrap_or_default(), "\n\n");
        }
        "model_editable_context" => {
            for text in [&parsed.model_set_context, &parsed.repo_summary, &parsed.structured_context] {
                out.line(text.get().unwrap_or_default(), "\n\n");
            }
        }
        "tether_browsing_display" | "tether_quote" | "sonic_webpage" => {
            for text in [&parsed.title, &parsed.url, &parsed.summary, &parsed.result, &parsed.text, &parsed.snippet] {
                out.line(text.get().unwrap_or_default(), "\n");
            }
        }
        "search_result_groups" => {
            if let Some(raw) = raw {
                leaves(raw, &mut out, &FOUND);
            }
        }
        _ => {
            parts(parsed.parts, &mut out);
            if let Some(raw) = raw.filter(|_| out.text.is_empty()) {
                leaves(raw, &mut out, &SAID);
            }
        }
    }
    if let Some(raw) = metadata.aggregate_result {
        leaves(raw, &mut out, &[]);
    }
    for file in list::<File<'_>>(metadata.attachments) {
        let id = file.id.owned().or_else(|| file.file_id.owned()).unwrap_or_default();
        if !id.is_empty() || file.name.get().is_some() {
            out.name_file(FileRef {
                id,
                name: file.name.owned(),
                media_type: file.mime_type.owned().or_else(|| file.mime_type_camel.owned()),
                size: file.size.0.filter(|s| *s >= 0.0).map(|s| s as u64),
            });
        }
    }
    out
}

/// The items of an array that are of this shape; anything else gives nothing.
pub(super) fn list<'a, T: serde::Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> Vec<T> {
    let items: Vec<&'a RawValue> = raw.and_then(|r| serde_json::from_str(r.get()).ok()).unwrap_or_default();
    items.into_iter().map(|r| serde_json::from_str(r.get()).unwrap_or_default()).collect()
}

fn parts(raw: Option<&RawValue>, out: &mut Reading) {
    let Some(raw) = raw else { return };
    // Nearly always an array of one string: decoded without an array in between.
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    for item in items {
        match item.get().as_bytes().first() {
            Some(b'"') => {
                if let Some(text) = string(item.get()) {
                    out.line(&text, "\n");
                }
            }
            Some(b'{' | b'[') => leaves(item, out, &SAID),
            _ => {}
        }
    }
}

fn string(json: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<super::wire::Text<'_>>(json).ok()?.0
}

/// Keys that hold text.
const SAID: [&str; 5] = ["text", "content", "output", "summary", "result"];
/// Keys of a page that a search found.
const FOUND: [&str; 4] = ["title", "url", "snippet", "text"];

/// Strings under these keys, and pointers to files, anywhere inside.
fn leaves(raw: &RawValue, out: &mut Reading, keys: &[&str]) {
    let Ok(tree) = Tree::of(raw, DEPTH) else { return };
    let mut pending: Vec<(&str, &Tree, Option<u64>)> = vec![("", &tree, None)];
    while let Some((key, node, size)) = pending.pop() {
        match node {
            Tree::Text(text) => {
                if let Some(id) = pointer(text) {
                    out.name_file(FileRef { id: id.to_owned(), size, ..FileRef::default() });
                } else if keys.contains(&key) {
                    out.line(text, "\n");
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

/// The file id in `file-service://file-X`, `sediment://file_X#p_0`.
fn pointer(text: &str) -> Option<&str> {
    let id = text.strip_prefix("file-service://").or_else(|| text.strip_prefix("sediment://"))?;
    let id = id.split(['#', '?']).next().unwrap_or(id);
    (!id.is_empty() && id.len() < 256).then_some(id)
}
