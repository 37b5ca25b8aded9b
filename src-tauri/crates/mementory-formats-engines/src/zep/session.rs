//! Reads sessions (called threads in newer versions) with their messages, summary and facts.
use super::{ID, PLATFORM};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Source, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Keys under which a session contains its facts.
const FACTS: [&str; 2] = ["relevant_facts", "facts"];

/// A function that reads a row and sends its record.
type ReadRow = fn(&mut RowSender, &mut FileReader<'_>, &Row<'_>) -> Result<(), FormatError>;

/// Reads a session as a conversation. Each of its facts is passed to `read_fact`, which sends it as a separate record.
pub(super) fn read(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    read_fact: ReadRow,
) -> Result<(), FormatError> {
    let lists = ["messages"].into_iter().chain(FACTS);
    let replaced: Vec<(&RawValue, &str)> = lists.filter_map(|key| Some((object.raw_value(key)?, "[]"))).collect();
    let summary = object.object("summary").and_then(|summary| summary.first_text(&["content"]));
    let mut chat = Chat {
        id: ["session_id", "thread_id", "uuid"].into_iter().find_map(|key| object.id(key)),
        title: object.first_text(&["name", "title"]),
        summary: summary.or_else(|| object.first_text(&["summary"])).unwrap_or_default(),
        source: Source { account: object.id("user_id"), ..Source::default() },
        pointer: row.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(row.text, &replaced))),
        fields: object.other_fields(&["session_id", "thread_id", "user_id", "messages", "facts", "relevant_facts"]),
        ..Chat::default()
    };
    chat.times.created = object.time("created_at");
    chat.times.updated = object.time("updated_at");
    for (n, raw) in object.list("messages").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/messages/{n}", row.pointer);
        match Object::parse(raw.get()) {
            Some(message) => chat.turns.push(turn(&message, raw.get(), pointer)),
            None => {
                let place = format!("{}#{pointer}", row.member.place);
                let reason = "not_an_object: this entry is not an object";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            }
        }
    }
    send(files, row.member, chat)?;
    for list in FACTS {
        for (n, raw) in object.list(list).unwrap_or_default().into_iter().enumerate() {
            let pointer = format!("{}/{list}/{n}", row.pointer);
            let row = Row { member: row.member, text: raw.get(), pointer };
            read_fact(rows, files, &row)?;
        }
    }
    Ok(())
}

/// Reads messages without a session around them. Messages with the same session id form one conversation, and so do all
/// messages without a session id.
pub(super) fn read_messages(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut sessions: Vec<(Option<String>, Vec<Turn>)> = Vec::new();
    let mut positions: HashMap<Option<String>, usize> = HashMap::new();
    let mut size = 0;
    files.objects(member, &[], Kind::Message, |files, element| {
        size += element.text.len() as u64;
        let limit = files.context.limits.element_bytes;
        if size > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        let id = ["session_id", "thread_id"].into_iter().find_map(|key| element.object.id(key));
        let position = *positions.entry(id.clone()).or_insert_with(|| {
            sessions.push((id, Vec::new()));
            sessions.len() - 1
        });
        if let Some((_, turns)) = sessions.get_mut(position) {
            turns.push(turn(&element.object, element.text, element.pointer.clone()));
        }
        Ok(())
    })?;
    for (id, turns) in sessions {
        let account = turns.iter().find_map(|turn| turn.fields.get("user_id")?.as_str().map(str::to_owned));
        // The messages have verbatims of their own, and there is no object of the session, so the verbatim of the
        // conversation is empty.
        let verbatim = Some(Verbatim::json("{}"));
        let source = Source { account, ..Source::default() };
        send(files, member, Chat { id, turns, source, verbatim, ..Chat::default() })?;
    }
    Ok(())
}

fn send(files: &mut FileReader<'_>, member: &Member, chat: Chat) -> Result<(), FormatError> {
    let mut issues = Vec::new();
    let file = ChatFile { format: ID, platform: PLATFORM, version: None, container: &member.place };
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| files.sink.note(issue));
    files.sink.unit(unit)
}

fn turn(message: &Object<'_>, text: &str, pointer: String) -> Turn {
    // In newer versions, `role_type` is the role and `role` is the name of the speaker. In older versions, `role` is
    // the role.
    let stated_role = message.text("role_type").or_else(|| message.text("role")).unwrap_or_default();
    let role = match stated_role.to_ascii_lowercase().as_str() {
        "user" | "human" => "user",
        "assistant" | "ai" => "assistant",
        "tool" | "function" => "tool",
        _ => "system",
    };
    let mut turn = Turn {
        id: message.id("uuid").or_else(|| message.id("uuid_")),
        role: role.into(),
        text: message.first_text(&["content"]).unwrap_or_default(),
        content_type: if role == "tool" { "tool_result" } else { "text" }.into(),
        hidden: matches!(role, "system" | "tool"),
        pointer,
        verbatim: Some(Verbatim::json(text)),
        fields: message.other_fields(&["uuid", "uuid_", "content", "created_at"]),
        ..Turn::default()
    };
    turn.times.created = message.time("created_at");
    turn
}
