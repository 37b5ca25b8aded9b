//! Threads from several files. Two files may contain the same thread, saved in different ways.
use super::PERPLEXITY;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    object::{Object, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_model::{DroppedAs, Issue, Kind, Source, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::{HashMap, HashSet};

/// Members of an account's conversation that have a field in the model.
const CONVERSATION_MEMBERS: [&str; 10] = [
    "context_uuid",
    "uuid",
    "id",
    "context_title",
    "title",
    "created_at",
    "updated_at",
    "entries",
    "collection_uuid",
    "mode",
];
/// Members of a thread's metadata that have a field in the model, and members that differ in each export.
const METADATA_MEMBERS: [&str; 4] = ["thread_id", "thread_title", "exported_at", "total_entries"];

/// A thread to which more entries may be added.
struct Thread {
    chat: Chat,
    container: String,
    /// Keys of its messages.
    keys: HashSet<Option<String>>,
}

/// Threads that were read and not yet sent.
#[derive(Default)]
pub(super) struct Threads {
    list: Vec<Thread>,
    positions: HashMap<String, usize>,
    bytes: usize,
}

impl Threads {
    /// Adds messages to the thread with the id of `chat`. If there is none, `chat` becomes a new thread. A message that
    /// the thread already has is not added again.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        container: &str,
        chat: Chat,
        turns: Vec<Turn>,
    ) -> Result<(), FormatError> {
        let size = |turn: &Turn| turn.text.len() + turn.verbatim.as_ref().map_or(0, |verbatim| verbatim.text.len());
        let bytes: usize = turns.iter().map(size).sum();
        let position = chat.id.as_ref().and_then(|id| self.positions.get(id)).copied();
        let position = position.unwrap_or_else(|| {
            let position = self.list.len();
            self.positions.extend(chat.id.clone().map(|id| (id, position)));
            self.list.push(Thread { chat, container: container.to_owned(), keys: HashSet::new() });
            position
        });
        if let Some(thread) = self.list.get_mut(position) {
            for turn in turns {
                if thread.keys.insert(turn.key.clone()) {
                    thread.chat.turns.push(turn);
                }
            }
        }
        self.bytes += bytes;
        let limit = usize::try_from(reader.context.limits.element_bytes).unwrap_or(usize::MAX);
        if self.bytes > limit { self.send(reader) } else { Ok(()) }
    }

    /// Sends all threads.
    pub(super) fn send(&mut self, reader: &mut FileReader<'_>) -> Result<(), FormatError> {
        self.positions.clear();
        self.bytes = 0;
        for Thread { mut chat, container, .. } in std::mem::take(&mut self.list) {
            // The entries may come from several files, so they are sorted by time.
            if chat.turns.iter().all(|turn| turn.times.created.is_some()) {
                chat.turns.sort_by_key(|turn| turn.times.created);
            }
            let times = || chat.turns.iter().filter_map(|turn| turn.times.created);
            let (first, last) = (times().min(), times().max());
            chat.times.created = chat.times.created.or(first);
            chat.times.updated = chat.times.updated.or(last);
            send_chat(reader, &container, chat)?;
        }
        Ok(())
    }
}

/// Sends one conversation.
pub(super) fn send_chat(reader: &mut FileReader<'_>, container: &str, chat: Chat) -> Result<(), FormatError> {
    let mut issues = Vec::new();
    let file = ChatFile { format: PERPLEXITY, platform: PERPLEXITY, version: None, container };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

/// Reads a conversation of an account: `{context_uuid, context_title, entries}`.
pub(super) fn read_account(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let raw_entries = object.raw_value("entries");
    let entries = raw_entries.and_then(list);
    let id = first_id(object, &["context_uuid", "uuid", "id"]);
    if entries.is_none() && id.is_none() && object.raw_value("context_title").is_none() {
        report(reader, member, &element.pointer, "not_a_conversation: no entries and no id", Kind::Conversation);
        return Ok(());
    }
    if raw_entries.is_some() && entries.is_none() {
        let pointer = format!("{}/entries", element.pointer);
        report(reader, member, &pointer, "malformed: the entries are not a list", Kind::Message);
    }
    let replaced: Vec<(&RawValue, &str)> =
        raw_entries.filter(|_| entries.is_some()).into_iter().map(|raw| (raw, "[]")).collect();
    let mut chat = Chat {
        id,
        title: first_text(object, &["context_title", "title"]),
        times: Times {
            created: first_time(object, &["created_at"]),
            updated: first_time(object, &["updated_at"]),
            ..Times::default()
        },
        source: Source { project: first_id(object, &["collection_uuid"]), ..Source::default() },
        pointer: element.pointer.clone(),
        fields: other_fields(object, &CONVERSATION_MEMBERS),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &replaced))),
        ..Chat::default()
    };
    let below = format!("{}/entries", element.pointer);
    chat.turns = read_entries(reader, member, &entries.unwrap_or_default(), &below);
    send_chat(reader, &member.place, chat)
}

/// Reads a thread, a response of the API that the website uses, or one entry.
pub(super) fn read_thread(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    threads: &mut Threads,
) -> Result<(), FormatError> {
    let object = &element.object;
    let metadata = object.object("metadata");
    let key = ["conversations", "entries"].into_iter().find(|key| object.list(key).is_some());
    let Some(key) = key else {
        if object.raw_value("query_str").is_none() && object.raw_value("query").is_none() {
            report(reader, member, &element.pointer, "not_a_conversation: no entries", Kind::Conversation);
            return Ok(());
        }
        let turns = super::entry::turns(element.text, object, &element.pointer);
        return threads.add(reader, &member.place, entry_chat(object, &element.pointer), turns);
    };
    let raw = object.raw_value(key);
    let entries = object.list(key).unwrap_or_default();
    let below = format!("{}/{key}", element.pointer);
    let replaced: Vec<(&RawValue, &str)> = raw.into_iter().map(|raw| (raw, "[]")).collect();
    let verbatim = Verbatim::json(with_replaced_values(element.text, &replaced));
    if let Some(metadata) = metadata {
        let slug = || first_text(&metadata, &["thread_url"]).and_then(|url| Some(url.rsplit('/').next()?.to_owned()));
        let chat = Chat {
            id: first_id(&metadata, &["thread_id", "context_uuid"]).or_else(slug),
            title: first_text(&metadata, &["thread_title", "title"]),
            pointer: element.pointer.clone(),
            fields: other_fields(&metadata, &METADATA_MEMBERS),
            verbatim: Some(verbatim),
            ..Chat::default()
        };
        let turns = read_entries(reader, member, &entries, &below);
        return threads.add(reader, &member.place, chat, turns);
    }
    if object.is_true("has_next_page") {
        let message = "this file has only the first entries of its thread; the others were not saved";
        reader.sink.note(Issue::new("incomplete", format!("{}#{}", member.place, element.pointer), message));
    }
    // Every entry names its thread.
    for (index, raw) in entries.iter().enumerate() {
        let pointer = format!("{below}/{index}");
        match Object::parse(raw.get()) {
            Some(entry) => {
                let turns = super::entry::turns(raw.get(), &entry, &pointer);
                let mut chat = entry_chat(&entry, &element.pointer);
                chat.id = chat.id.or_else(|| first_id(object, &["context_uuid", "thread_uuid", "thread_url_slug"]));
                chat.title = chat.title.or_else(|| first_text(object, &["thread_title", "context_title", "title"]));
                chat.verbatim = Some(verbatim.clone());
                threads.add(reader, &member.place, chat, turns)?;
            }
            None => report(reader, member, &pointer, "not_an_object: this entry is not one", Kind::Message),
        }
    }
    Ok(())
}

/// The thread that an entry names.
fn entry_chat(entry: &Object<'_>, pointer: &str) -> Chat {
    let id = first_id(entry, &["context_uuid", "thread_uuid", "thread_url_slug"]);
    let slug = first_text(entry, &["thread_url_slug"]).map(|slug| ("thread_url_slug".to_owned(), Value::from(slug)));
    Chat {
        title: first_text(entry, &["thread_title", "context_title"]),
        pointer: pointer.to_owned(),
        source: Source {
            project: entry.object("collection_info").and_then(|c| first_id(&c, &["uuid"])),
            ..Source::default()
        },
        fields: slug.into_iter().collect(),
        verbatim: Some(Verbatim::json(id.as_ref().map_or("null".into(), |id| Value::from(id.as_str()).to_string()))),
        id,
        ..Chat::default()
    }
}

fn read_entries(reader: &mut FileReader<'_>, member: &Member, entries: &[&RawValue], below: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (index, raw) in entries.iter().enumerate() {
        let pointer = format!("{below}/{index}");
        match Object::parse(raw.get()) {
            Some(entry) => out.extend(super::entry::turns(raw.get(), &entry, &pointer)),
            None => report(reader, member, &pointer, "not_an_object: this entry is not one", Kind::Message),
        }
    }
    out
}

fn report(reader: &mut FileReader<'_>, member: &Member, pointer: &str, reason: &str, kind: Kind) {
    reader.report_dropped(format!("{}#{pointer}", member.place), DroppedAs::Failed, reason, Some(kind));
}
