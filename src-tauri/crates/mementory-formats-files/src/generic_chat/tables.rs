//! Chats in tables (CSV): the chats of a server that AnythingLLM exported, and a chat with a Replika that the program
//! `replika_backup` saved.
use super::conversation::{LooseMessages, conversation};
use mementory_format::{Catalog, FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn, put_oldest_first};
use mementory_formats_shared::message::send;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_formats_shared::tables::{Header, Row, csv_columns, each_csv_row, turns_of_csv};
use mementory_model::{Kind, Verbatim};
use serde_json::Value;

const REPLIKA: &str = "replika";
/// The columns that all versions of AnythingLLM export.
const ANYTHING_LLM_COLUMNS: [&str; 5] = ["id", "workspace", "prompt", "response", "sent_at"];
const REPLIKA_COLUMNS: [&str; 5] = ["Timestamp", "From", "Text", "Reaction", "ID"];

/// The program that wrote a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    AnythingLlm,
    Replika,
}

/// The program that wrote a table, by its columns. None for any other file.
pub(super) fn table(catalog: &Catalog, member: &Member) -> Option<Table> {
    let columns = csv_columns(catalog, member);
    let has_all = |names: &[&str]| names.iter().all(|name| columns.iter().any(|column| column == name));
    if has_all(&ANYTHING_LLM_COLUMNS) {
        Some(Table::AnythingLlm)
    } else {
        has_all(&REPLIKA_COLUMNS).then_some(Table::Replika)
    }
}

/// Sends the conversations in a table.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    match table(files.catalog, member) {
        Some(Table::AnythingLlm) => read_anything_llm(files, member),
        Some(Table::Replika) => read_replika(files, member),
        None => Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected")),
    }
}

/// Reads a table in the same way as AnythingLLM's JSON list of the same chats. Each row is a question with its answer.
fn read_anything_llm(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut loose = LooseMessages::default();
    each_csv_row(files, member, Kind::Message, |files, header, row, pointer| {
        let mut cells = header.other_cells(row, &[]);
        for key in ["prompt", "response"] {
            cells.entry(key).or_insert_with(|| "".into());
        }
        let text = Value::Object(cells).to_string();
        let object = Object::parse(&text).unwrap_or_default();
        conversation(files, member, &ObjectElement { text: &text, object, pointer }, &mut loose)
    })?;
    loose.send(files, member)
}

/// Reads a table as one conversation, because the table contains no conversation id. The table lists the newest message
/// first.
fn read_replika(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut turns = turns_of_csv(files, member, replika_turn)?;
    put_oldest_first(&mut turns);
    let Some(first) = turns.first() else { return Ok(()) };
    // The first message identifies the conversation, because a later backup has the same first message.
    let key = content_id(&format!("{:?}\n{}", first.id, first.text));
    let chat = Chat { key: Some(key), turns, is_log: true, ..Chat::default() };
    send(files, member, chat, REPLIKA, Some(REPLIKA))
}

fn replika_turn(header: &Header, row: &Row, pointer: String) -> Turn {
    let cell = |name: &str| row.cell(header.column(&[name])).trim();
    let role = match cell("From") {
        "Me" => USER,
        "Rep" => ASSISTANT,
        _ => "unknown",
    };
    let mut turn = Turn {
        id: Some(cell("ID").to_owned()).filter(|id| !id.is_empty()),
        role: role.into(),
        // The program writes line breaks as escapes.
        text: cell("Text").replace("\\n", "\n"),
        content_type: "text".into(),
        pointer,
        verbatim: Some(Verbatim { media_type: "text/csv".into(), text: row.raw.clone() }),
        ..Turn::default()
    };
    turn.times.created = text_time(cell("Timestamp"));
    let reaction = cell("Reaction");
    if !matches!(reaction, "" | "None") {
        turn.fields.insert("reaction".into(), reaction.into());
    }
    turn
}
