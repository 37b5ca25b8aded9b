//! Memory documents in the results of `memory_read` and `memory_user_edits`. When Claude reads or
//! changes its memory in a chat, the result of the tool contains the text of the files.
use super::{
    memory,
    wire::{ElementPlace, Object, ReadResult, list},
};
use mementory_model::{Kind, Link, Record, Timestamp, Unit};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Tools whose results contain memory.
const TOOLS: [&str; 2] = ["memory_read", "memory_user_edits"];

/// Finds the documents in the results of a message, and adds them to `out`.
pub(super) fn find(message: &Object<'_>, record: &Record, place: &ElementPlace<'_>, out: &mut ReadResult) {
    let Some(content) = message.raw_value("content") else { return };
    // Most messages have no documents, and searching the bytes is cheaper than parsing the blocks.
    if !TOOLS.iter().any(|tool| content.get().contains(tool)) {
        return;
    }
    for (block, raw) in list(content).unwrap_or_default().into_iter().enumerate() {
        let Some(result) = Object::parse(raw.get()) else { continue };
        let is_memory = result.text("name").is_some_and(|name| TOOLS.contains(&name.as_ref()));
        if !is_memory || result.text("type").as_deref() != Some("tool_result") {
            continue;
        }
        let documents = result.object("structured_content").and_then(|data| data.raw_value("documents"));
        for (index, raw) in documents.and_then(list).unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("/content/{block}/structured_content/documents/{index}");
            let from = record.origin.pointer.strip_prefix(place.pointer).unwrap_or_default();
            out.documents.extend(document(raw, record, place, format!("{from}{pointer}")));
        }
    }
}

/// One document: `{path, version, updated_at, parsed{name, description, body}}`.
fn document(raw: &RawValue, record: &Record, place: &ElementPlace<'_>, pointer: String) -> Option<Unit> {
    let object = Object::parse(raw.get())?;
    let parsed = object.object("parsed");
    let body = parsed.as_ref().and_then(|parsed| parsed.non_blank_text("body"));
    let text = body.or_else(|| ["content", "body", "text"].iter().find_map(|key| object.non_blank_text(key)))?;
    let path = object.non_blank_text("path").or_else(|| parsed.as_ref()?.non_blank_text("name"))?;
    let mut unit = memory::file_document(
        &path,
        &text,
        record.source.account.as_deref(),
        object.timestamp("updated_at"),
        raw,
        pointer,
        place,
    );
    let first = unit.records.first_mut()?;
    first.source.conversation.clone_from(&record.source.conversation);
    let members = parsed.iter().flat_map(Object::members).filter(|(name, _)| *name != "body");
    for (name, raw) in members.chain(object.members().filter(|(name, _)| *name == "version")) {
        first.fields.extend(serde_json::from_str(raw.get()).ok().map(|value| (name.to_owned(), value)));
    }
    let target = record.key.clone();
    first.links.push(Link { relation: "derived_from".into(), kind: Kind::Message, target });
    Some(unit)
}

/// The newest state of each document in an export. If a memory file of the export and a document of a chat are equally
/// new, the file takes precedence.
#[derive(Default)]
pub(super) struct Documents {
    newest: BTreeMap<String, (Option<Timestamp>, Option<Unit>)>,
}

impl Documents {
    /// Records that a memory file was sent, so that no older document of a chat replaces this file.
    pub(super) fn add_file(&mut self, record: &Record) {
        if record.kind == Kind::Memory {
            let slot = self.newest.entry(record.key.value.clone()).or_default();
            *slot = (slot.0.max(record.times.updated), None);
        }
    }

    /// Adds a document of a chat, if it is newer than the known state of the same document.
    pub(super) fn add(&mut self, unit: Unit) {
        let Some(record) = unit.records.first() else { return };
        let updated = record.times.updated;
        match self.newest.get(&record.key.value) {
            Some((known, _)) if *known >= updated => {}
            _ => {
                self.newest.insert(record.key.value.clone(), (updated, Some(unit)));
            }
        }
    }

    /// The documents of chats for which the export has no memory file, or only an older one.
    pub(super) fn take(&mut self) -> Vec<Unit> {
        std::mem::take(&mut self.newest).into_values().filter_map(|(_, unit)| unit).collect()
    }
}
