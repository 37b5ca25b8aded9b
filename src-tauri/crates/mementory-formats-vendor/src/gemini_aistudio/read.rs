//! Reads prompts: `{runSettings, systemInstruction, chunkedPrompt{chunks[], pendingInputs[]}}`. Most files contain one
//! prompt.
use super::{PLATFORM, SCOPE, chunk};
use mementory_format::{Catalog, Detected, FormatError, JsonHead, Member, ReadContext, Role, Sink, plain_name};
use mementory_formats_shared::{
    any_time::first_time,
    chat::{Chat, ChatFile},
    object::{Object, content_id, list, with_replaced_values},
    reader::{FileReader, ObjectElement},
};
use mementory_json::close_truncated;
use mementory_model::{DroppedAs, Issue, Kind, Link, Origin, Record, RecordKey, Times, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashSet;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut ids = HashSet::new();
    FileReader::new(SCOPE, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Conversations if is_list_of_chunks(catalog, member) => read_list_of_chunks(reader, member, &mut ids),
        Role::Conversations => {
            let read = reader.objects(member, &[], Kind::Conversation, |reader, element| {
                prompt(reader, member, element, &mut ids)
            })?;
            if read == 0 {
                reader.sink.note(Issue::new("empty_export", &member.place, "there is no prompt in this file"));
            }
            Ok(())
        }
        _ => reader.pass_through(member, "", "sidecar"),
    })
}

/// True for a file that is a list of messages. A list of whole prompts, which some programs write, is not such a file.
fn is_list_of_chunks(catalog: &Catalog, member: &Member) -> bool {
    let head = JsonHead::of(catalog, member);
    let has_prompts =
        |head: &JsonHead<'_>| ["chunkedPrompt", "runSettings", "chunks"].iter().any(|key| head.keys.has(key));
    head.is_some_and(|head| head.first == b'[' && !has_prompts(&head))
}

/// Reads a file that contains only the chunks of a prompt.
fn read_list_of_chunks(
    reader: &mut FileReader<'_>,
    member: &Member,
    ids: &mut HashSet<String>,
) -> Result<(), FormatError> {
    let text = reader.text(member)?;
    let closed = close_truncated(text.as_bytes());
    if closed.is_some() {
        let reason = "truncated: this list of messages ends early";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Message));
    }
    let raw: Option<&RawValue> = serde_json::from_slice(closed.as_deref().unwrap_or(text.as_bytes())).ok();
    let Some(items) = raw.and_then(list) else {
        let reason = "malformed: this list of messages is not JSON";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let chat = Chat { title: title_of(member), ..Chat::default() };
    send(reader, member, chat, &items, "", ids).map(|_| ())
}

fn prompt(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    ids: &mut HashSet<String>,
) -> Result<(), FormatError> {
    let object = &element.object;
    // Some converters write the chunks directly into the prompt, without the object `chunkedPrompt`.
    let is_bare = !object.has("chunkedPrompt") && object.list("chunks").is_some();
    let chunked_prompt = if is_bare { Object::parse(element.text) } else { object.object("chunkedPrompt") };
    let raw_chunks = chunked_prompt.as_ref().and_then(|prompt| prompt.raw_value("chunks"));
    let items = raw_chunks.and_then(list);
    if let (Some(_), None) = (raw_chunks, &items) {
        let place = format!("{}#{}", member.place, chunks_pointer(element, is_bare));
        let reason = "malformed: the messages are not a list";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
    }
    let settings = object.object("runSettings");
    let model = settings.as_ref().and_then(|settings| settings.non_blank_text("model"));
    let replaced: Vec<_> = raw_chunks.filter(|_| items.is_some()).map(|raw| (raw, "[]")).into_iter().collect();
    let title = stated_title(object).or_else(|| title_of(member));
    let chat = Chat {
        title: title.clone(),
        times: Times {
            created: first_time(object, &["create_time", "createTime"]),
            updated: first_time(object, &["update_time", "updateTime"]),
            ..Times::default()
        },
        model: model.map(|model| model.strip_prefix("models/").unwrap_or(&model).to_owned()),
        pointer: element.pointer.clone(),
        // The verbatim contains everything except the messages, such as the settings and the inputs that were not sent.
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &replaced))),
        ..Chat::default()
    };
    let instruction = object.raw_value("systemInstruction").map(chunk::text_of).filter(|text| !text.trim().is_empty());
    let items = items.unwrap_or_default();
    if items.is_empty() && instruction.is_none() && chunked_prompt.is_none() {
        let place = format!("{}#{}", member.place, element.pointer);
        let reason = "not_a_conversation: settings of a prompt without its messages";
        reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
        return Ok(());
    }
    let list_pointer = chunks_pointer(element, is_bare);
    let (key, created) = send(reader, member, chat, &items, &list_pointer, ids)?;
    let Some(text) = instruction else { return Ok(()) };
    let mut record =
        Record::new(Kind::Memory, RecordKey::new(SCOPE, format!("{}/system_instruction", key.value)), text);
    record.title = title;
    record.record_type = Some("custom_instructions".into());
    record.times.created = created;
    record.source.platform = PLATFORM.into();
    record.source.conversation = Some(key.value.clone());
    record.source.method = Some("custom_instructions".into());
    record.links.push(Link { relation: "derived_from".into(), kind: Kind::Conversation, target: key });
    record.origin = Origin {
        format: SCOPE.into(),
        version: None,
        container: member.place.clone(),
        pointer: format!("{}/systemInstruction", element.pointer),
    };
    record.verbatim = object.raw_value("systemInstruction").map(|raw| Verbatim::json(raw.get()));
    reader.sink.unit(record.into())
}

fn chunks_pointer(element: &ObjectElement<'_>, is_bare: bool) -> String {
    format!("{}{}/chunks", element.pointer, if is_bare { "" } else { "/chunkedPrompt" })
}

/// Returns the title that a file states. Most files state none. A name such as `prompts/1a2b` is an id and not a title.
fn stated_title(object: &Object<'_>) -> Option<String> {
    let title = |object: &Object<'_>| {
        let names = ["displayName", "title", "promptName", "name"];
        let title =
            names.iter().filter_map(|key| object.non_blank_text(key)).find(|name| !name.starts_with("prompts/"))?;
        Some(title.trim().to_owned())
    };
    let inside = |key: &str| object.object(key).and_then(|inside| title(&inside));
    title(object).or_else(|| ["metadata", "promptMetadata"].into_iter().find_map(inside))
}

/// Sends a prompt with its messages. Returns the key of the prompt and the time of its first message.
fn send(
    reader: &mut FileReader<'_>,
    member: &Member,
    mut chat: Chat,
    items: &[&RawValue],
    list_pointer: &str,
    ids: &mut HashSet<String>,
) -> Result<(RecordKey, Option<mementory_model::Timestamp>), FormatError> {
    for (index, raw) in items.iter().enumerate() {
        let pointer = format!("{list_pointer}/{index}");
        let Some(object) = Object::parse(raw.get()) else {
            let reason = "not_an_object: this message is not an object";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            continue;
        };
        let (turn, files) = chunk::read(raw, &object, pointer);
        for (file, bytes) in files {
            let file = mementory_format::AttachmentFile { place: member.place.clone(), ..file };
            reader.sink.attachment(file, &mut bytes.as_slice())?;
        }
        chat.turns.push(turn);
    }
    chat.times = Times {
        created: chat.turns.iter().find_map(|turn| turn.times.created).or(chat.times.created),
        updated: chat.turns.iter().rev().find_map(|turn| turn.times.created).or(chat.times.updated),
        ..Times::default()
    };
    let mut id = prompt_id(&chat);
    if !ids.insert(id.clone()) {
        // A copy of a prompt ("Branch of …") begins with the same messages, so its id also depends on its title.
        id = content_id(&format!("{id}\n{}", chat.title.as_deref().unwrap_or_default()));
        if !ids.insert(id.clone()) {
            let turns: Vec<&str> = chat.turns.iter().map(|turn| turn.text.as_str()).collect();
            id = content_id(&format!("{id}\n{}", turns.join("\n")));
            ids.insert(id.clone());
        }
    }
    let (key, created) = (RecordKey::new(SCOPE, id.clone()), chat.times.created);
    chat.id = Some(id);
    let file = ChatFile { format: SCOPE, platform: PLATFORM, version: None, container: &member.place };
    let mut issues = Vec::new();
    let mut unit = chat.into_unit(file, &mut issues);
    // The id is made by this reader and is not in the file, so it must not become the origin id.
    if let Some(record) = unit.records.first_mut() {
        record.origin_id = None;
    }
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)?;
    Ok((key, created))
}

/// Makes an id for a prompt from its first message, because the file contains no id. The id stays the same if messages
/// are added or the file is renamed.
fn prompt_id(chat: &Chat) -> String {
    let first = chat.turns.first().map(|turn| (turn.text.as_str(), turn.times.created, turn.attachments.len()));
    let title = chat.title.as_deref().filter(|_| first.is_none());
    content_id(&format!("{first:?}\n{title:?}"))
}

/// Returns the title of a prompt, which is the name of its file. None if the name is not a title.
fn title_of(member: &Member) -> Option<String> {
    if member.name == "pasted text" {
        return None;
    }
    let name = member.file_name();
    let lower = name.to_ascii_lowercase();
    let name = match [".json", ".txt", ".prompt"].into_iter().find(|ending| lower.ends_with(ending)) {
        Some(ending) => name.get(..name.len() - ending.len())?,
        None => name,
    };
    Some(name.trim().to_owned()).filter(|title| !title.is_empty() && plain_name(title) != "prompt")
}
