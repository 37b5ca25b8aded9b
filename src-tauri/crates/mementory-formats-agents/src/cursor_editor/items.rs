//! Reads the settings table of `state.vscdb`: chats of older versions, the person's rules, and the prompts of a
//! workspace. Other settings, which include access tokens, are not read.
use super::headers::Index;
use super::setting::value;
use super::{FORMAT, PLATFORM, bubble, chat_file};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::Database;
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};
use serde_json::value::RawValue;

/// Reads the settings whose keys are known.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    index: &mut Index,
) -> Result<(), FormatError> {
    for (key, lists) in [
        ("workbench.panel.aichat.view.aichat.chatdata", ["tabs", "chats"]),
        ("composer.composerData", ["allComposers", "composers"]),
    ] {
        let Some(text) = value(member, database, key)? else { continue };
        let Some(object) = Object::parse(&text) else {
            let reason = "malformed: the chats are not a JSON object";
            reader.report_failed(member, key, reason, Kind::Conversation);
            continue;
        };
        let chats = lists.into_iter().find_map(|name| Some((name, object.list(name)?)));
        let Some((name, chats)) = chats else { continue };
        for (n, raw) in chats.into_iter().enumerate() {
            read_chat(reader, member, raw, format!("{key}/{name}/{n}"), index)?;
        }
    }
    if let Some(text) = value(member, database, "aicontext.personalContext")?.filter(|t| !t.trim().is_empty()) {
        read_rules(reader, member, &text)?;
    }
    let prompts = value(member, database, "aiService.generations")?;
    let prompts = match prompts.filter(|text| text.contains("textDescription")) {
        Some(text) => Some((text, "aiService.generations", "textDescription")),
        None => value(member, database, "aiService.prompts")?.map(|text| (text, "aiService.prompts", "text")),
    };
    match prompts {
        Some((text, key, member_name)) => read_prompts(reader, member, &text, key, member_name),
        None => Ok(()),
    }
}

/// Reads a chat with its messages. A chat without messages is only a reference to a conversation in the table
/// `cursorDiskKV`.
fn read_chat(
    reader: &mut FileReader<'_>,
    member: &Member,
    raw: &RawValue,
    pointer: String,
    index: &mut Index,
) -> Result<(), FormatError> {
    let place = format!("{}#{pointer}", member.place);
    let Some(object) = Object::parse(raw.get()) else {
        let reason = "not_an_object: this entry is not an object";
        reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let messages = ["bubbles", "conversation", "messages"].into_iter().find_map(|key| object.raw_value(key));
    let items = messages.and_then(list).unwrap_or_default();
    if items.is_empty() {
        return Ok(());
    }
    let mut chat = Chat { is_log: true, ..Chat::default() };
    let id = ["tabId", "composerId", "id"].into_iter().find_map(|key| object.non_blank_text(key));
    chat.id = id.map(|t| t.into_owned());
    index.mark_read(chat.id.as_ref());
    bubble::fill_chat(&mut chat, &object);
    chat.verbatim = messages.map(|raw_list| Verbatim::json(with_replaced_values(raw.get(), &[(raw_list, "[]")])));
    for (n, item) in items.into_iter().enumerate() {
        let Some(message) = Object::parse(item.get()) else {
            let reason = "not_an_object: this message is not an object";
            reader.report_dropped(format!("{place}/{n}"), DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        };
        let (mut turn, mut content) = bubble::turn(item.get(), &message);
        reader.store_files(member, &mut content)?;
        turn.pointer = format!("{pointer}/{n}");
        chat.note_time(turn.times.created);
        chat.turns.push(turn);
    }
    chat.pointer = pointer;
    reader.send_chat(chat, chat_file(&member.place))
}

/// Reads "Rules for AI", the instructions that the person wrote for every conversation.
fn read_rules(reader: &mut FileReader<'_>, member: &Member, text: &str) -> Result<(), FormatError> {
    let rules = serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned());
    let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT, "rules/personal"), rules.trim());
    record.source.platform = PLATFORM.into();
    record.source.method = Some("custom_instructions".into());
    let pointer = "aicontext.personalContext".into();
    record.origin = Origin { format: FORMAT.into(), version: None, container: member.place.clone(), pointer };
    record.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: text.to_owned() });
    reader.sink.unit(record.into())
}

/// Reads a workspace's list of recent prompts, which contains no answers.
fn read_prompts(
    reader: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    key: &str,
    name: &str,
) -> Result<(), FormatError> {
    let Some(items) = serde_json::from_str::<&RawValue>(text).ok().and_then(list) else { return Ok(()) };
    let mut chat = Chat { is_log: true, pointer: key.into(), ..Chat::default() };
    chat.record_type = Some("prompt_history".into());
    for (n, raw) in items.into_iter().enumerate() {
        let object = Object::parse(raw.get());
        let prompt = object.as_ref().and_then(|o| o.non_blank_text(name)).or_else(|| decode_string(raw));
        let Some(prompt) = prompt.filter(|w| !w.trim().is_empty()) else { continue };
        let mut turn = Turn { role: "user".into(), content_type: "text".into(), ..Turn::default() };
        turn.times.created = object.as_ref().and_then(|o| any_time(o, "unixMs"));
        turn.id = object.as_ref().and_then(|o| o.non_blank_text("generationUUID").map(|t| t.into_owned()));
        turn.text = prompt.into_owned();
        turn.pointer = format!("{key}/{n}");
        turn.verbatim = Some(Verbatim::json(raw.get()));
        chat.note_time(turn.times.created);
        chat.turns.push(turn);
    }
    let Some(first) = chat.turns.first() else { return Ok(()) };
    // The long name of Cursor's folder for a workspace identifies the workspace. A short name means that the file was
    // copied elsewhere.
    let folder = member.name.split('/').rev().nth(1).filter(|f| f.len() >= 16);
    let id = folder.map_or_else(|| content_id(&first.text), str::to_owned);
    chat.id = Some(format!("prompts/{id}"));
    reader.send_chat(chat, chat_file(&member.place))
}
