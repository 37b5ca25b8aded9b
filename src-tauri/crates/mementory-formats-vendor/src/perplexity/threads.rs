//! Collects threads from several files. Two files may contain the same thread, saved in different ways.
use super::PERPLEXITY;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    object::{Object, content_id, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_model::{Fields, Issue, Kind, Source, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::{HashMap, HashSet};

/// Members of a conversation, in the export of an account, that are read into a field of the record.
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
/// Members of a thread or of its metadata that do not become `fields`: the model has a field for them, they differ in
/// each export, or they are lists of entries.
const THREAD_MEMBERS: [&str; 29] = [
    "thread_id",
    "context_uuid",
    "thread_uuid",
    "uuid",
    "id",
    "thread_title",
    "context_title",
    "title",
    "created_at",
    "createdAt",
    "created_datetime",
    "created",
    "timestamp",
    "updated_at",
    "updatedAt",
    "updated_datetime",
    "updated",
    "last_query_datetime",
    "collection_uuid",
    "exported_at",
    "total_entries",
    "metadata",
    "meta",
    "thread_metadata",
    "conversations",
    "entries",
    "messages",
    "turns",
    "has_next_page",
];
/// Keys under which a thread may contain the list of its entries.
pub(super) const LIST_KEYS: [&str; 4] = ["conversations", "entries", "messages", "turns"];
/// Keys of the objects that may enclose a thread or a list of threads.
const WRAPPER_KEYS: [&str; 4] = ["data", "thread", "result", "response"];
/// Largest number of objects that enclose a thread, one inside the other.
const MAX_WRAPPERS: usize = 3;
/// Members in which an entry may state the id of its thread.
const IDS_IN_ENTRIES: [&str; 3] = ["context_uuid", "thread_uuid", "thread_id"];
/// Members in which an entry may state the last part of an address, which is that of its thread or of the entry itself.
const SLUGS_IN_ENTRIES: [&str; 2] = ["thread_url_slug", "slug"];
/// Members in which an entry may identify its thread: by the id, or by the last part of the address.
const THREAD_KEYS_IN_ENTRIES: [&str; 5] = ["context_uuid", "thread_uuid", "thread_id", "thread_url_slug", "slug"];
/// Members by which a thread, or its metadata, may identify the thread.
const THREAD_KEYS: [&str; 7] = ["thread_id", "context_uuid", "thread_uuid", "uuid", "id", "thread_url_slug", "slug"];

/// A thread that is not sent yet, because more entries may follow.
struct Thread {
    chat: Chat,
    container: String,
    /// Keys of the messages that were already added.
    keys: HashSet<Option<String>>,
}

/// The threads that were read but not sent yet.
#[derive(Default)]
pub(super) struct Threads {
    list: Vec<Thread>,
    positions: HashMap<String, usize>,
    bytes: usize,
}

impl Threads {
    /// Adds messages to the thread with the same id as `chat`. Without such a thread, `chat` becomes a new thread.
    /// Messages that the thread already contains are skipped. If all threads together exceed the size limit of an
    /// element, they are sent.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        container: &str,
        chat: Chat,
        turns: Vec<Turn>,
    ) -> Result<(), FormatError> {
        let size = |turn: &Turn| turn.text.len() + turn.verbatim.as_ref().map_or(0, |verbatim| verbatim.text.len());
        let bytes: usize = turns.iter().map(size).sum();
        let identity = chat.id.clone().or_else(|| chat.key.clone());
        let position = identity.as_ref().and_then(|id| self.positions.get(id)).copied().unwrap_or(self.list.len());
        match self.list.get_mut(position) {
            Some(Thread { chat: known, .. }) => {
                known.title = known.title.take().or(chat.title);
                known.times.created = known.times.created.or(chat.times.created);
                known.times.updated = known.times.updated.max(chat.times.updated);
            }
            None => {
                self.positions.extend(identity.map(|id| (id, position)));
                self.list.push(Thread { chat, container: container.to_owned(), keys: HashSet::new() });
            }
        }
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

    /// Sends all threads to the sink.
    pub(super) fn send(&mut self, reader: &mut FileReader<'_>) -> Result<(), FormatError> {
        self.positions.clear();
        self.bytes = 0;
        for Thread { mut chat, container, .. } in std::mem::take(&mut self.list) {
            // The entries may come from several files, so the messages are sorted by time.
            if chat.turns.iter().all(|turn| turn.times.created.is_some()) {
                chat.turns.sort_by_key(|turn| turn.times.created);
            }
            let times = || chat.turns.iter().filter_map(|turn| turn.times.created);
            let (first, last) = (times().min(), times().max());
            chat.times.created = chat.times.created.or(first);
            chat.times.updated = chat.times.updated.max(last);
            send_chat(reader, &container, chat)?;
        }
        Ok(())
    }
}

/// Sends one conversation to the sink.
pub(super) fn send_chat(reader: &mut FileReader<'_>, container: &str, chat: Chat) -> Result<(), FormatError> {
    let mut issues = Vec::new();
    let file = ChatFile { format: PERPLEXITY, platform: PERPLEXITY, version: None, container };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}

/// Reads a conversation in the export of an account: `{context_uuid, context_title, entries}`.
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
        reader.report_failed(member, &element.pointer, "not_a_conversation: no entries and no id", Kind::Conversation);
        return Ok(());
    }
    if raw_entries.is_some() && entries.is_none() {
        let pointer = format!("{}/entries", element.pointer);
        reader.report_failed(member, &pointer, "malformed: the entries are not a list", Kind::Message);
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
    let list_pointer = format!("{}/entries", element.pointer);
    // The time that the conversation states may be older than its last entry, so the latest time of all is used.
    chat.turns = read_entries(reader, member, &entries.unwrap_or_default(), &list_pointer);
    chat.times.updated = chat.turns.iter().filter_map(|turn| turn.times.created).chain(chat.times.updated).max();
    send_chat(reader, &member.place, chat)
}

/// True for an object that only encloses another object with threads or entries.
pub(super) fn is_wrapper(object: &Object<'_>) -> bool {
    let has_list = LIST_KEYS.iter().any(|key| object.list(key).is_some());
    !has_list && !is_entry(object) && WRAPPER_KEYS.iter().any(|key| object.object(key).is_some())
}

fn is_entry(object: &Object<'_>) -> bool {
    ["query_str", "query", "question", "answer", "blocks"].iter().any(|key| object.raw_value(key).is_some())
}

/// Reads a thread, a response of the website's API, or a single entry. Up to [`MAX_WRAPPERS`] objects may enclose each
/// of them.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    threads: &mut Threads,
) -> Result<(), FormatError> {
    let Some(mut object) = Object::parse(element.text) else { return Ok(()) };
    let mut pointer = element.pointer.clone();
    for _ in 0..MAX_WRAPPERS {
        let inner = WRAPPER_KEYS.into_iter().find_map(|key| Some((key, object.object(key)?)));
        let Some((key, inner)) = inner.filter(|_| is_wrapper(&object)) else { break };
        pointer = format!("{pointer}/{key}");
        object = inner;
    }
    let has_entries = LIST_KEYS.iter().any(|key| object.list(key).is_some());
    let Some(items) = object.list("threads").filter(|_| !has_entries) else {
        return read_thread(reader, member, (element.text, &object, &pointer), threads);
    };
    for (index, raw) in items.into_iter().enumerate() {
        let pointer = format!("{pointer}/threads/{index}");
        match Object::parse(raw.get()) {
            Some(thread) => read_thread(reader, member, (raw.get(), &thread, &pointer), threads)?,
            None => reader.report_failed(member, &pointer, "not_an_object: this thread is not one", Kind::Conversation),
        }
    }
    Ok(())
}

/// Reads a thread or an entry, which is given by the JSON text that contains it, its object, and its JSON pointer.
fn read_thread(
    reader: &mut FileReader<'_>,
    member: &Member,
    (text, object, pointer): (&str, &Object<'_>, &str),
    threads: &mut Threads,
) -> Result<(), FormatError> {
    let Some((key, raw, entries)) =
        LIST_KEYS.into_iter().find_map(|key| Some((key, object.raw_value(key)?, object.list(key)?)))
    else {
        if !is_entry(object) {
            reader.report_failed(member, pointer, "not_a_conversation: no entries", Kind::Conversation);
            return Ok(());
        }
        let turns = super::entry::turns(text, object, pointer);
        return threads.add(reader, &member.place, entry_chat(object, pointer), turns);
    };
    let list_pointer = format!("{pointer}/{key}");
    let verbatim = Verbatim::json(with_replaced_values(text, &[(raw, "[]")]));
    if object.is_true("has_next_page") {
        let message = "this file has only the first entries of its thread; the others were not saved";
        reader.sink.note(Issue::new("incomplete", format!("{}#{pointer}", member.place), message));
    }
    let metadata = ["metadata", "meta", "thread_metadata"].into_iter().find_map(|key| object.object(key));
    let whole = thread_chat(metadata.as_ref().unwrap_or(object), pointer);
    if let Some(metadata) = &metadata {
        let named = || entries.iter().find_map(|raw| first_id(&Object::parse(raw.get())?, &THREAD_KEYS_IN_ENTRIES));
        let chat = Chat {
            id: whole.id.or_else(named),
            fields: other_fields(metadata, &THREAD_MEMBERS),
            verbatim: Some(verbatim),
            ..whole
        };
        let turns = read_entries(reader, member, &entries, &list_pointer);
        return threads.add(reader, &member.place, chat, turns);
    }
    // The entries in one list may belong to several threads.
    let ids = entries.iter().filter_map(|raw| first_id(&Object::parse(raw.get())?, &IDS_IN_ENTRIES));
    let ids: HashSet<String> = ids.collect();
    let is_one_thread = ids.len() <= 1;
    // Entries without a thread id form one thread, because they are in one list. The key of this thread is made from
    // its first entry, so that the key stays the same if entries are added. The address in an entry may be that of the
    // thread or that of the first entry.
    let first = entries.iter().find_map(|raw| Some((raw, Object::parse(raw.get())?)));
    let address = || first_id(&first.as_ref()?.1, &SLUGS_IN_ENTRIES);
    let only_name = ids.into_iter().next().or_else(|| whole.id.clone()).or_else(address);
    let list_id = first
        .as_ref()
        .filter(|_| only_name.is_none())
        .map(|(raw, entry)| first_id(entry, &["backend_uuid", "uuid", "id"]).unwrap_or_else(|| content_id(raw.get())));
    for (index, raw) in entries.iter().enumerate() {
        let pointer = format!("{list_pointer}/{index}");
        let Some(entry) = Object::parse(raw.get()) else {
            reader.report_failed(member, &pointer, "not_an_object: this entry is not an object", Kind::Message);
            continue;
        };
        let turns = super::entry::turns(raw.get(), &entry, &pointer);
        let mut chat = entry_chat(&entry, &whole.pointer);
        chat.title = chat.title.or_else(|| whole.title.clone());
        chat.verbatim = Some(verbatim.clone());
        if is_one_thread {
            chat.id.clone_from(&only_name);
            chat.times = whole.times.clone();
            chat.source.project = chat.source.project.or_else(|| whole.source.project.clone());
            chat.key = list_id.clone();
            chat.fields.extend(whole.fields.clone());
        } else {
            chat.id = chat.id.or_else(|| whole.id.clone());
        }
        threads.add(reader, &member.place, chat, turns)?;
    }
    Ok(())
}

/// Reads the members of a thread, from the thread itself or from its metadata. Entries are not read.
fn thread_chat(object: &Object<'_>, pointer: &str) -> Chat {
    let slug = || first_text(object, &["thread_url", "url"]).and_then(|url| Some(url.rsplit('/').next()?.to_owned()));
    let id = first_id(object, &THREAD_KEYS).or_else(slug);
    Chat {
        title: first_text(object, &["thread_title", "context_title", "title"]),
        times: Times {
            created: first_time(object, &["created_at", "createdAt", "created_datetime", "created", "timestamp"]),
            updated: first_time(
                object,
                &["updated_at", "updatedAt", "updated_datetime", "updated", "last_query_datetime"],
            ),
            ..Times::default()
        },
        source: Source { project: project_of(object), ..Source::default() },
        pointer: pointer.to_owned(),
        // An object without an id is a response of the API. Its members do not describe the thread, so they do not
        // become fields.
        fields: if id.is_some() { other_fields(object, &THREAD_MEMBERS) } else { Fields::new() },
        id,
        ..Chat::default()
    }
}

fn project_of(object: &Object<'_>) -> Option<String> {
    let collection = object.object("collection_info").or_else(|| object.object("collection"));
    first_id(object, &["collection_uuid"]).or_else(|| first_id(&collection?, &["uuid", "id"]))
}

/// Returns the thread that an entry names, without messages.
fn entry_chat(entry: &Object<'_>, pointer: &str) -> Chat {
    let id = first_id(entry, &THREAD_KEYS_IN_ENTRIES);
    let slug = first_text(entry, &["thread_url_slug"]).map(|slug| ("thread_url_slug".to_owned(), Value::from(slug)));
    Chat {
        title: first_text(entry, &["thread_title", "context_title"]),
        pointer: pointer.to_owned(),
        source: Source { project: project_of(entry), ..Source::default() },
        fields: slug.into_iter().collect(),
        verbatim: Some(Verbatim::json(id.as_ref().map_or("null".into(), |id| Value::from(id.as_str()).to_string()))),
        id,
        ..Chat::default()
    }
}

fn read_entries(reader: &mut FileReader<'_>, member: &Member, entries: &[&RawValue], list_pointer: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (index, raw) in entries.iter().enumerate() {
        let pointer = format!("{list_pointer}/{index}");
        match Object::parse(raw.get()) {
            Some(entry) => out.extend(super::entry::turns(raw.get(), &entry, &pointer)),
            None => reader.report_failed(member, &pointer, "not_an_object: this entry is not an object", Kind::Message),
        }
    }
    out
}
