//! Reads the threads of the editor Zed: its database, in which a thread is one JSON text that is usually compressed, and
//! the files of its older text threads.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn, beginning};
use mementory_formats_shared::content::{Content, nested_text};
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send};
use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, USER};
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{self, Schema, each_row, report_other_tables, row_text, tables, text_in};
use mementory_formats_shared::text_parts::ends_of_parts;
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;
use std::io::Read;

const PLATFORM: &str = "zed";
/// First bytes of data that is compressed with Zstandard.
const ZSTD_MAGIC: &[u8] = b"\x28\xb5\x2f\xfd";
/// Largest window that the decompressor accepts, as an exponent of two: 128 MiB.
const MAX_WINDOW_LOG: u32 = 27;

/// True for the database of Zed's agent.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table("threads", &["id", "summary", "updated_at", "data_type", "data"])
}

/// Sends the threads of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    each_row(files, member, &database, "threads", |files, mut row, number| {
        let id = text_in(&row, "id");
        let limit = files.context.limits.element_bytes;
        let text = id.as_deref().ok_or("no_id: this thread has no id").and_then(|id| text_of(&database, id, limit));
        let document = text.as_deref().map_err(|reason| *reason).and_then(|text| {
            Object::parse(text).ok_or("malformed: this thread is not JSON").map(|document| (text, document))
        });
        let (text, document) = match document {
            Ok(found) => found,
            Err(reason) => {
                let place = format!("{}#threads/row {number}", member.place);
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
                return Ok(());
            }
        };
        let pointer = format!("threads/row {number}");
        let mut chat = thread(files, member, &document, &pointer);
        chat.id = id;
        chat.title = text_in(&row, "summary").or(chat.title);
        chat.record_type = text_in(&row, "parent_id").map(|_| "subagent".into());
        chat.source.project = text_in(&row, "folder_paths").and_then(|paths| Some(paths.lines().next()?.to_owned()));
        chat.times.created = text_in(&row, "created_at").as_deref().and_then(text_time);
        chat.times.updated = text_in(&row, "updated_at").as_deref().and_then(text_time);
        let messages = document.raw_value("messages");
        let rest = messages.map_or_else(|| text.to_owned(), |raw| with_replaced_values(text, &[(raw, "[]")]));
        row.insert("data".into(), rest.into());
        chat.verbatim = Some(Verbatim::json(row_text(row, |name| name == "data")));
        send(files, member, chat, PLATFORM, Some("database"))
    })?;
    report_other_tables(files, member, &database, &names, |table| match table {
        "threads" => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

/// Reads a thread with its messages from its JSON text. The text also contains the title and the time, but not the id.
fn thread(files: &mut FileReader<'_>, member: &Member, document: &Object<'_>, pointer: &str) -> Chat {
    let model = document.object("model");
    Chat {
        title: first_text(document, &["title", "summary"]),
        model: model.and_then(|model| first_text(&model, &["model"])),
        turns: turns_of(files, member, document.raw_value("messages"), pointer),
        pointer: pointer.to_owned(),
        is_log: true,
        ..Chat::default()
    }
}

/// True if the keys are those of a thread in a separate file.
pub(super) fn is_thread(keys: &Keys) -> bool {
    let has = |key: &str| keys.has(key);
    let is_tagged = has("messages.User.content") || has("messages.Agent.content");
    let is_segmented = has("messages.role") && has("messages.segments.type") && has("messages.segments.text");
    is_tagged && (has("version") || has("updated_at") || has("title")) || is_segmented && has("version")
}

/// Sends the thread in a separate file. A thread without an id is identified by its beginning.
pub(super) fn read_thread(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let document = &element.object;
    let mut chat = thread(files, member, document, &element.pointer);
    chat.id = first_text(document, &["id", "thread_id"]);
    if chat.id.is_none() {
        let beginning = beginning(&chat.turns);
        chat.key = Some(format!("thread/{}", content_id(&format!("{:?}\n{beginning}", chat.title))));
    }
    chat.times.created = first_text(document, &["created_at"]).as_deref().and_then(text_time);
    chat.times.updated = first_text(document, &["updated_at"]).as_deref().and_then(text_time);
    let messages = document.raw_value("messages").map(|raw| (raw, "[]"));
    chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &messages.into_iter().collect::<Vec<_>>())));
    send(files, member, chat, PLATFORM, Some("thread"))
}

/// Returns the JSON text of a thread. It may have at most `max_bytes` both before and after decompression. The error is
/// the reason why the text cannot be read.
fn text_of(database: &Database, id: &str, max_bytes: u64) -> Result<String, &'static str> {
    const TOO_LARGE: &str = "too_large: this thread is larger than the limit";
    let sql = "SELECT CASE WHEN length(data) <= ?2 THEN CAST(data AS BLOB) END FROM threads WHERE id = ?1";
    let limit = i64::try_from(max_bytes).unwrap_or(i64::MAX);
    let found = database.connection.query_row(sql, (id, limit), |row| row.get::<_, Option<Vec<u8>>>(0));
    let data = found.map_err(|_| "database_unreadable: this thread cannot be read")?.ok_or(TOO_LARGE)?;
    let bytes = if data.starts_with(ZSTD_MAGIC) { unpack(&data, max_bytes).ok_or(DAMAGED)? } else { data };
    if bytes.len() as u64 > max_bytes {
        return Err(TOO_LARGE);
    }
    String::from_utf8(bytes).map_err(|_| DAMAGED)
}

const DAMAGED: &str = "malformed: the data of this thread is damaged, or in a form that is not known";

/// Decompresses at most one byte more than `max_bytes`, which shows the caller that the data is too long.
fn unpack(data: &[u8], max_bytes: u64) -> Option<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::new(data).ok()?;
    decoder.window_log_max(MAX_WINDOW_LOG).ok()?;
    let mut out = Vec::new();
    decoder.take(max_bytes.saturating_add(1)).read_to_end(&mut out).ok()?;
    Some(out)
}

/// The messages of a thread. In older versions, a message has a role and segments.
fn turns_of(files: &mut FileReader<'_>, member: &Member, messages: Option<&RawValue>, at: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (index, raw) in messages.and_then(list).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{at}/messages/{index}");
        let Some(object) = Object::parse(raw.get()) else {
            // The text `Resume` only means that the person let the agent continue, so it is skipped without a report.
            if decode_string(raw).is_none() {
                report_no_message(files, member, &pointer);
            }
            continue;
        };
        let is_alone = object.members().count() == 1;
        let is_variant = |kind: &str| is_alone || matches!(kind, "User" | "Agent");
        let mut members = object.members().filter(|(_, inner)| inner.get().starts_with('{'));
        let mut turn = match members.find(|(kind, _)| is_variant(kind)) {
            Some((kind, inner)) => variant_turn(kind, inner, raw, pointer),
            None => segments(&object, raw, pointer, files.format),
        };
        // Messages of the agent have no ids, and only the last messages of a thread change.
        turn.key = turn.id.is_none().then(|| format!("message {index}"));
        out.push(turn);
    }
    out
}

/// A message of the form `{"User": {…}}` or `{"Agent": {…}}`.
fn variant_turn(kind: &str, inner: &RawValue, raw: &RawValue, pointer: String) -> Turn {
    let message = Object::parse(inner.get()).unwrap_or_default();
    let mut content = Content::default();
    for part in message.list("content").unwrap_or_default() {
        add_part(&mut content, part);
    }
    let results = message.object("tool_results");
    for (_, result) in results.iter().flat_map(|results| results.members()) {
        let Some(result) = Object::parse(result.get()) else { continue };
        let name = result.non_blank_text("tool_name").map(|name| name.into_owned());
        content.add_block("tool_result", name, result.raw_value("content").map(text_of_parts).unwrap_or_default());
    }
    let role = match kind {
        "User" => USER,
        "Agent" => ASSISTANT,
        _ => SYSTEM,
    };
    if role == SYSTEM && content.blocks.is_empty() {
        content.add_block(kind, None, nested_text(inner));
    }
    turn(content, role, message.non_blank_text("id").map(|id| id.into_owned()), raw, pointer)
}

/// A message of an older version: `{"role", "segments", "tool_uses", "tool_results"}`, or a message with a text.
fn segments(object: &Object<'_>, raw: &RawValue, pointer: String, format: &str) -> Turn {
    let Some(segments) = object.list("segments") else { return read_message(object, raw.get(), pointer, format) };
    let mut content = Content::default();
    segments.into_iter().for_each(|segment| content.add(segment));
    for call in object.list("tool_uses").unwrap_or_default().into_iter().filter_map(|raw| Object::parse(raw.get())) {
        content.add_call(&call);
    }
    for result in object.list("tool_results").unwrap_or_default().into_iter().filter_map(|raw| Object::parse(raw.get()))
    {
        content.add_block("tool_result", None, result.raw_value("content").map(text_of_parts).unwrap_or_default());
    }
    let role = match object.text("role").as_deref() {
        Some("user") => USER,
        Some("assistant") => ASSISTANT,
        _ => SYSTEM,
    };
    let mut turn = turn(content, role, first_text(object, &["id"]), raw, pointer);
    turn.hidden |= object.is_true("is_hidden");
    turn
}

fn turn(content: Content, role: &str, id: Option<String>, raw: &RawValue, pointer: String) -> Turn {
    let kind = content.content_type();
    let is_result = role == USER && kind == "tool_result";
    let mut turn = Turn {
        id,
        role: if is_result { "tool".into() } else { role.into() },
        content_type: kind.into(),
        hidden: role == SYSTEM || is_result,
        verbatim: Some(Verbatim::json(raw.get())),
        pointer,
        ..Turn::default()
    };
    content.put_into(&mut turn, FORMAT_ID);
    turn
}

/// Adds a part of a message: an object whose only key is the kind of the part, as in `{"Text": "…"}`.
fn add_part(content: &mut Content, raw: &RawValue) {
    let Some(object) = Object::parse(raw.get()) else { return };
    for (kind, value) in object.members() {
        let inner = Object::parse(value.get()).unwrap_or_default();
        match kind {
            "Text" => content.add_text(&decode_string(value).unwrap_or_default()),
            "Thinking" => content.add_block("thinking", None, inner.text("text").unwrap_or_default()),
            "ToolUse" => content.add_call(&inner),
            "Mention" => content.add_block("context", None, inner.text("content").unwrap_or_default()),
            "Image" => content.add_block("image", Some("image".into()), ""),
            // The provider encrypted these thoughts, so they are left out.
            "RedactedThinking" => {}
            kind => content.add_block(kind, None, nested_text(value)),
        }
    }
}

/// The texts of a part or of a list of parts.
fn text_of_parts(raw: &RawValue) -> String {
    let parts = list(raw).unwrap_or_else(|| vec![raw]);
    let text = |part: &RawValue| {
        let inner = Object::parse(part.get()).and_then(|part| part.text("Text"));
        inner.map_or_else(|| nested_text(part), |text| text.into_owned())
    };
    parts.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// Sends a text thread, which consists of one text and the offsets at which its messages begin.
pub(super) fn read_text_thread(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let whole_text = object.text("text").unwrap_or_default();
    let heads = object.list("messages").unwrap_or_default();
    let mut heads: Vec<(usize, usize, &RawValue, Object<'_>)> = heads
        .into_iter()
        .enumerate()
        .filter_map(|(index, raw)| {
            let head = Object::parse(raw.get())?;
            Some((usize::try_from(head.whole_number("start")?).ok()?, index, raw, head))
        })
        .collect();
    heads.sort_by_key(|(start, index, ..)| (*start, *index));
    let ends = ends_of_parts(heads.iter().map(|(start, ..)| *start), whole_text.len());
    let mut turns = Vec::with_capacity(heads.len());
    for ((start, index, raw, head), end) in heads.iter().zip(ends) {
        let pointer = format!("{}/messages/{index}", element.pointer);
        let Some(text) = whole_text.get(*start..end) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        let metadata = head.object("metadata");
        let role = metadata.as_ref().and_then(|metadata| metadata.text("role"));
        let mut content = Content::default();
        content.add_text(text.trim_end());
        let role = match role.as_deref() {
            Some("user") => USER,
            Some("assistant") => ASSISTANT,
            _ => SYSTEM,
        };
        let mut turn = turn(content, role, None, raw, pointer);
        turn.key = Some(format!("message {index}"));
        turn.verbatim = Some(Verbatim::json(serde_json::json!({ "head": raw, "text": text }).to_string()));
        turns.push(turn);
    }
    let text = object.raw_value("text");
    let list = object.raw_value("messages");
    let replacements: Vec<(&RawValue, &str)> =
        text.map(|raw| (raw, "\"\"")).into_iter().chain(list.map(|raw| (raw, "[]"))).collect();
    let chat = Chat {
        id: first_text(object, &["id"]),
        title: first_text(object, &["summary"]),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &replacements))),
        turns,
        is_log: true,
        ..Chat::default()
    };
    send(files, member, chat, PLATFORM, Some("text_thread"))
}
