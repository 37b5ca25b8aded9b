//! Reads threads. One file contains the messages of a thread, and another file its title and times.
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn, put_oldest_first};
use mementory_formats_shared::message::{first_text, read_message, send};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Fields, Issue, Kind, Times, Verbatim};
use std::collections::{BTreeMap, HashMap};

const FORMAT_ID: &str = "jan";
/// Name of the platform of threads of OpenAI's API, whose shape Jan took over, and beginning of their ids.
const OPENAI: &str = "openai";
const OPENAI_THREAD: &str = "thread_";

/// Reads every claimed thread. The files with the titles are read first.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(FORMAT_ID, catalog, context, sink);
    let mut threads: BTreeMap<String, Thread> = BTreeMap::new();
    let mut detected = detected.clone();
    detected.claim.parts.sort_by_key(|part| (part.role != Role::Manifest, part.member));
    files.each_file(&detected, |files, member, role| match role {
        Role::Manifest => {
            files.objects(member, &[], Kind::Conversation, |_, element| {
                let thread = Thread::from_object(&element.object, element.text, member);
                threads.insert(thread.id.clone().unwrap_or_else(|| member.name.clone()), thread);
                Ok(())
            })?;
            Ok(())
        }
        _ => messages(files, member, &mut threads),
    })?;
    // The threads that remain have no file of messages, so they become conversations without messages.
    let by_place: HashMap<&str, &Member> = catalog.members().iter().rev().map(|m| (m.place.as_str(), m)).collect();
    for thread in threads.into_values() {
        if let Some(member) = by_place.get(thread.place.as_str()).copied() {
            send(&mut files, member, thread.chat(Vec::new()), FORMAT_ID, None)?;
        }
    }
    Ok(())
}

/// The metadata of a thread, from the file with its title.
struct Thread {
    id: Option<String>,
    title: Option<String>,
    times: Times,
    model: Option<String>,
    fields: Fields,
    verbatim: Option<Verbatim>,
    place: String,
}

impl Thread {
    fn from_object(object: &Object<'_>, text: &str, member: &Member) -> Self {
        let metadata = object.object("metadata");
        let in_metadata = |keys: &[&str]| metadata.as_ref().and_then(|metadata| first_text(metadata, keys));
        let assistant = object.list("assistants").and_then(|list| Object::parse(list.first()?.get()));
        let model = assistant.as_ref().and_then(|assistant| assistant.object("model"));
        let mut fields = Fields::new();
        let instructions = assistant.as_ref().and_then(|assistant| first_text(assistant, &["instructions"]));
        if let Some(instructions) = instructions {
            fields.insert("system_prompt".into(), instructions.into());
        }
        let updated = first_time(object, &["updated", "updated_at"]);
        Self {
            id: first_text(object, &["id"]),
            title: first_text(object, &["title"]).or_else(|| in_metadata(&["title"])),
            times: Times {
                created: first_time(object, &["created", "created_at"]),
                updated: updated.or_else(|| first_time(metadata.as_ref()?, &["updated_at"])),
                ..Times::default()
            },
            model: model.as_ref().and_then(|model| first_text(model, &["id"])),
            fields,
            verbatim: Some(Verbatim::json(text)),
            place: member.place.clone(),
        }
    }

    fn chat(self, turns: Vec<Turn>) -> Chat {
        Chat {
            id: self.id,
            title: self.title,
            times: self.times,
            model: self.model,
            fields: self.fields,
            verbatim: self.verbatim,
            turns,
            ..Chat::default()
        }
    }
}

/// Reads a file of messages and sends them. The messages belong to one thread, or to several threads if they state
/// several thread ids.
fn messages(
    files: &mut FileReader<'_>,
    member: &Member,
    threads: &mut BTreeMap<String, Thread>,
) -> Result<(), FormatError> {
    let mut by_thread: Vec<(String, Vec<Turn>)> = Vec::new();
    let mut positions: HashMap<String, usize> = HashMap::new();
    let limit = files.context.limits.element_bytes;
    let mut bytes = 0;
    files.objects(member, &["messages", "data"], Kind::Message, |files, element| {
        bytes += element.text.len() as u64;
        if bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        let id = first_text(&element.object, &["thread_id"]).unwrap_or_default();
        let position = *positions.entry(id.clone()).or_insert_with(|| {
            by_thread.push((id, Vec::new()));
            by_thread.len() - 1
        });
        let mut turn = read_message(&element.object, element.text, element.pointer.clone(), FORMAT_ID);
        if let Some(model) = element.object.object("metadata").and_then(|m| first_text(&m, &["model", "modelId"])) {
            turn.model = Some(model);
        }
        if let Some((_, turns)) = by_thread.get_mut(position) {
            turns.push(turn);
        }
        let _ = files;
        Ok(())
    })?;
    for (id, mut turns) in by_thread {
        // In lists from OpenAI's API, the newest message comes first.
        put_oldest_first(&mut turns);
        let platform = if id.starts_with(OPENAI_THREAD) && !threads.contains_key(&id) { OPENAI } else { FORMAT_ID };
        let chat = match threads.remove(&id) {
            Some(thread) => thread.chat(turns),
            None => {
                let message = "these messages have no file with the title and times of their thread";
                files.sink.note(Issue::new("thread_missing", &member.place, message));
                Chat { id: Some(id).filter(|id| !id.is_empty()), turns, ..Chat::default() }
            }
        };
        send(files, member, chat, platform, None)?;
    }
    Ok(())
}
