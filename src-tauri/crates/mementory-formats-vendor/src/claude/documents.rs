//! Finds memory documents in chats. When Claude reads or changes its memory in a chat, the result of the tool
//! (`memory_read` or `memory_user_edits`) contains the text of the memory files.
use super::{
    memory,
    wire::{ElementPlace, Object, ReadResult, list},
};
use mementory_model::{Kind, Link, Record, Timestamp, Unit};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Names of the tools whose results contain memory documents.
const TOOLS: [&str; 2] = ["memory_read", "memory_user_edits"];

/// Finds the memory documents in the tool results of a message, and adds them to `out`.
pub(super) fn find(message: &Object<'_>, record: &Record, place: &ElementPlace<'_>, out: &mut ReadResult) {
    let Some(content) = message.raw_value("content") else { return };
    // Most messages contain no documents, and searching the bytes for tool names is cheaper than parsing the blocks.
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

/// Reads one document: `{path, version, updated_at, parsed{name, description, body}}`. None if it has no text, or
/// neither a path nor a name.
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

/// The newest state of each memory document in an export. If a memory file and a document in a chat are equally new,
/// the memory file takes precedence.
#[derive(Default)]
pub(super) struct Documents {
    newest: BTreeMap<String, (Option<Timestamp>, Option<Unit>)>,
}

impl Documents {
    /// Records the time of a memory file that was sent to the sink, so that an older document in a chat does not
    /// replace it.
    pub(super) fn add_file(&mut self, record: &Record) {
        if record.kind == Kind::Memory {
            let slot = self.newest.entry(record.key.value.clone()).or_default();
            *slot = (slot.0.max(record.times.updated), None);
        }
    }

    /// Adds a document in a chat, unless the known state of this document is at least as new.
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

    /// Removes and returns the documents of chats that are newer than the memory file of the export, or that have no
    /// memory file.
    pub(super) fn take(&mut self) -> Vec<Unit> {
        std::mem::take(&mut self.newest).into_values().filter_map(|(_, unit)| unit).collect()
    }
}
