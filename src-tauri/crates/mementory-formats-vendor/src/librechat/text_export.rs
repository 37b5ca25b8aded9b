//! Reads conversations that were exported as text, Markdown or CSV. Text and Markdown contain one branch, without the
//! ids of messages. A table contains the ids, and all branches if the person chose to export them.
use super::parts::{FORMAT_ID, message_turn};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::send;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles::{ASSISTANT, TOOL, USER};
use mementory_formats_shared::tables::{Header, Row, csv_columns, turns_of_csv};
use mementory_formats_shared::text_head::text_head;
use mementory_formats_shared::text_parts::ends_of_parts;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::{Map, Value};

/// Number of bytes at the beginning of a file that detection reads.
const HEAD_BYTES: usize = 256;
/// The columns that every exported table has. Newer versions write further columns.
const COLUMNS: [&str; 5] = ["sender", "text", "isCreatedByUser", "messageId", "parentMessageId"];
/// Further columns that have a field in the model.
const OTHER_COLUMNS: [&str; 3] = ["error", "unfinished", "createdAt"];
/// Speakers that are tools, and neither the person nor the model.
const TOOLS: [&str; 4] = ["Tool", "Code Interpreter", "Retrieval", "Image"];
/// Lines at the end of a message that failed or was stopped, each with the field that it sets.
const NOTES: [(&str, &str); 2] =
    [("(This is an error message)", "error"), ("(This is an unfinished message)", "unfinished")];

/// The notation of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notation {
    Text,
    Markdown,
    Table,
}

/// Determines the notation of a file. None if the file is not an exported text, Markdown or CSV file.
pub(super) fn notation(catalog: &Catalog, member: &Member) -> Option<Notation> {
    let columns = csv_columns(catalog, member);
    if COLUMNS.iter().all(|column| columns.iter().any(|name| name == column)) {
        return Some(Notation::Table);
    }
    let name = member.file_name().to_ascii_lowercase();
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    if !matches!(ending, None | Some("txt" | "md")) {
        return None;
    }
    let head = text_head(catalog, member, HEAD_BYTES)?.replace('\r', "");
    let head = head.trim_start();
    if head.starts_with("Conversation\n####") && head.contains("\nconversationId: ") {
        Some(Notation::Text)
    } else {
        head.starts_with("# Conversation\n- conversationId: ").then_some(Notation::Markdown)
    }
}

/// Reads the conversation in a file and sends it to the sink.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member, notation: Notation) -> Result<(), FormatError> {
    if notation == Notation::Table {
        return read_table(files, member);
    }
    let text = files.text(member)?;
    let is_markdown = notation == Notation::Markdown;
    let Some(start) = start_of_history(&text, is_markdown) else {
        let reason = "no_messages: the history of this conversation is missing";
        files.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Conversation));
        return Ok(());
    };
    let (head, messages) = text.split_at_checked(start).unwrap_or_default();
    let mut chat = head_of(head);
    let History { text_before, turns } = turns_of(messages, start, is_markdown);
    if !text_before.trim().is_empty() {
        let reason = "no_speaker: the text before the first speaker belongs to no message";
        files.report_dropped(format!("{}#@{start}", member.place), DroppedAs::Failed, reason, Some(Kind::Message));
    }
    chat.turns = turns;
    send(files, member, chat, FORMAT_ID, None)
}

/// Returns the number of bytes before the messages. None if the heading of the messages is missing.
fn start_of_history(text: &str, is_markdown: bool) -> Option<usize> {
    let headings: &[&str] = if is_markdown { &["## History"] } else { &["History", "########################"] };
    let (mut at, mut found) = (0, 0);
    for line in text.split_inclusive('\n') {
        at += line.len();
        let is_next = |found: usize| headings.get(found) == Some(&line.trim_end());
        found = if is_next(found) { found + 1 } else { usize::from(is_next(0)) };
        if found == headings.len() {
            return Some(at);
        }
    }
    None
}

/// Reads the members of a conversation from the lines `key: value` before its messages.
fn head_of(head: &str) -> Chat {
    let lines = || head.lines().map(|line| line.strip_prefix("- ").unwrap_or(line));
    let value = |key: &str| {
        let found = lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": ").map(str::trim));
        found.filter(|value| !value.is_empty() && !matches!(*value, "null" | "undefined")).map(str::to_owned)
    };
    let mut chat = Chat {
        id: value("conversationId"),
        title: value("title"),
        model: value("model"),
        is_log: true,
        verbatim: Some(text_verbatim(head)),
        ..Chat::default()
    };
    let fields = [("endpoint", "endpoint"), ("exportAt", "exportAt"), ("promptPrefix", "system_prompt")];
    for (key, field) in fields {
        chat.fields.extend(value(key).map(|value| (field.to_owned(), value.into())));
    }
    chat
}

/// The messages of an exported conversation, and the text before the first message.
struct History<'t> {
    text_before: &'t str,
    turns: Vec<Turn>,
}

/// Splits a text into messages. A message begins with the name of its speaker, after two blank lines. `offset` is the
/// number of bytes in the file before `messages`.
fn turns_of(messages: &str, offset: usize, is_markdown: bool) -> History<'_> {
    let mut starts = Vec::new();
    let (mut at, mut blank_lines) = (0, 2);
    for line in messages.split_inclusive('\n') {
        if blank_lines >= 2
            && let Some(speaker) = speaker_of(line.trim_end(), is_markdown)
        {
            starts.push((at, at + line.len(), speaker));
        }
        blank_lines = if line.trim().is_empty() { blank_lines + 1 } else { 0 };
        at += line.len();
    }
    let ends = ends_of_parts(starts.iter().map(|(start, ..)| *start), messages.len());
    let turn = |((start, from, speaker), to): ((usize, usize, &str), usize)| {
        let mut text = messages.get(from..to).unwrap_or_default().trim_end();
        let mut turn = Turn {
            role: role_of(speaker).into(),
            pointer: format!("@{}", offset + start),
            verbatim: Some(text_verbatim(messages.get(start..to).unwrap_or_default().trim_end())),
            ..Turn::default()
        };
        for (note, field) in NOTES.into_iter().rev() {
            let without =
                text.strip_suffix(note).or_else(|| text.strip_suffix('*')?.strip_suffix(note)?.strip_suffix('*'));
            if let Some(without) = without.filter(|rest| rest.is_empty() || rest.ends_with('\n')) {
                turn.fields.insert(field.into(), true.into());
                text = without.trim_end();
            }
        }
        turn.text = text.replace("\r\n", "\n");
        turn.hidden = turn.role == TOOL;
        turn.content_type = if turn.hidden { "tool_result" } else { "text" }.into();
        turn.fields.insert("author".into(), speaker.into());
        turn
    };
    let first = starts.first().map_or(messages.len(), |(start, ..)| *start);
    let text_before = messages.get(..first).unwrap_or_default();
    History { text_before, turns: starts.into_iter().zip(ends).map(turn).collect() }
}

/// Returns the speaker in a line `>> User:`, or `**User**` in Markdown. None for any other line.
fn speaker_of(line: &str, is_markdown: bool) -> Option<&str> {
    let name = match is_markdown {
        true => line.strip_prefix("**")?.strip_suffix("**")?,
        false => line.strip_prefix(">> ")?.strip_suffix(':')?,
    };
    (!name.trim().is_empty() && !name.contains("**")).then_some(name)
}

fn role_of(speaker: &str) -> &'static str {
    match speaker {
        "User" => USER,
        name if TOOLS.contains(&name) => TOOL,
        _ => ASSISTANT,
    }
}

fn text_verbatim(text: &str) -> Verbatim {
    Verbatim { media_type: "text/plain".into(), text: text.to_owned() }
}

/// Reads a table as one conversation. The table contains no conversation id, so a key is made from the first message.
fn read_table(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let turns = turns_of_csv(files, member, turn_of_row)?;
    let Some(first) = turns.first() else { return Ok(()) };
    let key = content_id(&format!("{:?}\n{}", first.id, first.text));
    send(files, member, Chat { key: Some(key), turns, ..Chat::default() }, FORMAT_ID, None)
}

fn turn_of_row(header: &Header, row: &Row, pointer: String) -> Turn {
    let mut message = Map::new();
    for name in COLUMNS.into_iter().chain(OTHER_COLUMNS) {
        let value = match row.cell(header.column(&[name])) {
            "" => continue,
            "true" if !matches!(name, "sender" | "text") => Value::Bool(true),
            "false" if !matches!(name, "sender" | "text") => Value::Bool(false),
            cell => cell.into(),
        };
        message.insert(name.to_owned(), value);
    }
    let text = Value::Object(message).to_string();
    let mut turn = message_turn(&Object::parse(&text).unwrap_or_default(), &text, pointer);
    turn.verbatim = Some(Verbatim { media_type: "text/csv".into(), text: row.raw.clone() });
    let used_columns: Vec<Option<usize>> =
        COLUMNS.into_iter().chain(OTHER_COLUMNS).map(|name| header.column(&[name])).collect();
    turn.fields.extend(header.other_cells(row, &used_columns));
    turn
}
