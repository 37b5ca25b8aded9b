//! Reads databases of programs that have a table of messages and, in most of them, a table of chats: DeepChat, Elia,
//! oterm, sessions of OpenAI's Agents SDK, and the message store of LangChain.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::message::{first_text, read_message, send, times};
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, each_row_in_order, report_other_tables, row_text, tables, text_or_number_in,
};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A program and the tables of its database.
pub(super) struct Program {
    /// Name of the platform. It is also the version of the claim.
    pub name: &'static str,
    /// Reason of the claim.
    pub reason: &'static str,
    /// Table of the chats with the columns that detection looks for; the first is the id.
    chats: Option<(&'static str, &'static [&'static str])>,
    /// Table of the messages with the columns that detection looks for; the first is the id of the chat.
    messages: (&'static str, &'static [&'static str]),
    /// Order of the messages, as SQL: first by chat.
    order: &'static str,
    /// Columns of a message whose text is JSON.
    json_columns: &'static [&'static str],
    /// Column that contains the whole message as JSON. If None, the row itself is the message.
    body: Option<&'static str>,
    /// Column that is 1 for another answer to the same prompt.
    variant: Option<&'static str>,
    /// True if the ids of chats are the same in other databases, because the program counts or the caller chooses them.
    has_local_ids: bool,
}

/// The programs. No database has the tables of two of them.
pub(super) static PROGRAMS: [Program; 5] = [
    Program {
        name: "deepchat",
        reason: "The database of DeepChat",
        chats: Some(("conversations", &["conv_id", "title", "model_id", "provider_id"])),
        messages: ("messages", &["conversation_id", "msg_id", "parent_id", "role", "content", "order_seq"]),
        order: "conversation_id, order_seq",
        json_columns: &["content", "metadata"],
        body: None,
        variant: Some("is_variant"),
        has_local_ids: false,
    },
    Program {
        name: "elia",
        reason: "The database of Elia",
        chats: Some(("chat", &["id", "model", "title", "started_at"])),
        messages: ("message", &["chat_id", "id", "role", "content", "timestamp", "parent_id", "meta"]),
        order: "chat_id, id",
        json_columns: &["meta"],
        body: None,
        variant: None,
        has_local_ids: true,
    },
    Program {
        name: "oterm",
        reason: "The database of oterm",
        chats: Some(("chat", &["id", "name", "model", "system", "keep_alive"])),
        messages: ("message", &["chat_id", "id", "author", "text"]),
        order: "chat_id, id",
        json_columns: &["images"],
        body: None,
        variant: None,
        has_local_ids: true,
    },
    Program {
        name: "openai_agents",
        reason: "The sessions of OpenAI's Agents SDK",
        chats: Some(("agent_sessions", &["session_id", "created_at"])),
        messages: ("agent_messages", &["session_id", "id", "message_data"]),
        order: "session_id, id",
        json_columns: &["message_data"],
        body: Some("message_data"),
        variant: None,
        has_local_ids: true,
    },
    Program {
        name: "langchain",
        reason: "The message store of LangChain",
        chats: None,
        messages: ("message_store", &["session_id", "id", "message"]),
        order: "session_id, id",
        json_columns: &["message"],
        body: Some("message"),
        variant: None,
        has_local_ids: true,
    },
];

impl Program {
    /// True for the database of this program.
    pub fn is_database(&self, schema: &Schema) -> bool {
        self.chats.is_none_or(|(table, columns)| schema.has_table(table, columns))
            && schema.has_table(self.messages.0, self.messages.1)
    }
}

/// The program whose databases have this version of the claim.
pub(super) fn program(version: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.name == version)
}

/// The messages of the chat whose rows are being read.
#[derive(Default)]
struct Group {
    id: Option<String>,
    turns: Vec<Turn>,
    bytes: u64,
    /// Number of messages beyond the limit for one element.
    dropped: usize,
    /// Id of the last message that is not another answer to the same prompt.
    last_id: Option<String>,
}

/// Sends the chats of a database. Opening the database neither locks nor changes anything. Messages of a chat that is
/// not in the table of chats are a conversation too.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member, program: &Program) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut heads: HashMap<Option<String>, (usize, Row)> = HashMap::new();
    if let Some((table, columns)) = program.chats {
        let id_column = columns.first().copied().unwrap_or_default();
        each_row(files, member, &database, table, |files, row, number| {
            let id = text_or_number_in(&row, id_column);
            match heads.entry(id) {
                Entry::Vacant(entry) => {
                    entry.insert((number, row));
                }
                Entry::Occupied(_) => {
                    let place = format!("{}#{table}/row {number}", member.place);
                    let reason = "duplicate: a chat with the same id was read before it";
                    files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
                }
            }
            Ok(())
        })?;
    }
    let (table, columns) = program.messages;
    let chat_column = columns.first().copied().unwrap_or_default();
    let mut group: Option<Group> = None;
    each_row_in_order(files, member, &database, (table, program.order), |files, row, number| {
        let id = text_or_number_in(&row, chat_column);
        if let Some(finished) = group.take_if(|group| group.id != id) {
            let head = heads.remove(&finished.id);
            send_chat(files, member, program, finished, head)?;
        }
        let group = group.get_or_insert_with(|| Group { id, ..Group::default() });
        group.add(program, row, number, files.context.limits.element_bytes);
        Ok(())
    })?;
    if let Some(finished) = group {
        let head = heads.remove(&finished.id);
        send_chat(files, member, program, finished, head)?;
    }
    let mut empty_chats: Vec<_> = heads.into_iter().collect();
    empty_chats.sort_by_key(|(_, (number, _))| *number);
    for (id, head) in empty_chats {
        send_chat(files, member, program, Group { id, ..Group::default() }, Some(head))?;
    }
    report_other_tables(files, member, &database, &names, |name| {
        let is_read = name == table || program.chats.is_some_and(|(chats, _)| name == chats);
        (!is_read).then_some("it has no messages")
    });
    Ok(())
}

impl Group {
    /// Adds a message, unless the messages before it have as many bytes as an element may have.
    fn add(&mut self, program: &Program, row: Row, number: usize, max_bytes: u64) {
        let is_variant = program.variant.is_some_and(|column| row.get(column).is_some_and(|value| *value == 1));
        let mut turn = turn(program, row, number);
        self.bytes += turn.verbatim.as_ref().map_or(0, |verbatim| verbatim.text.len()) as u64;
        if self.bytes > max_bytes {
            self.dropped += 1;
            return;
        }
        // A prompt states no parent there, although it follows the answer before it.
        if program.variant.is_some() && !is_variant {
            turn.parent = self.last_id.take().map_or(TurnParent::Root, TurnParent::Id);
            self.last_id.clone_from(&turn.id);
        }
        self.turns.push(turn);
    }
}

fn turn(program: &Program, row: Row, number: usize) -> Turn {
    let text = row_text(row, |column| program.json_columns.contains(&column));
    let row = Object::parse(&text).unwrap_or_default();
    let body = program.body.and_then(|column| row.raw_value(column)).filter(|raw| raw.get().starts_with('{'));
    let body_text = body.map_or(text.as_str(), RawValue::get);
    let message = Object::parse(body_text).unwrap_or_default();
    let mut turn = read_message(&message, body_text, format!("{}/row {number}", program.messages.0), FORMAT_ID);
    if program.body.is_some() {
        turn.id = turn.id.or_else(|| first_text(&row, &["id"]));
        turn.times.created = turn.times.created.or_else(|| times(&row).created);
        turn.verbatim = Some(Verbatim::json(text.as_str()));
    }
    turn
}

fn send_chat(
    files: &mut FileReader<'_>,
    member: &Member,
    program: &Program,
    group: Group,
    head: Option<(usize, Row)>,
) -> Result<(), FormatError> {
    if group.dropped > 0 {
        let place = format!("{}#{} of {}", member.place, program.messages.0, group.id.as_deref().unwrap_or_default());
        let reason = "too_large: the rest of this chat is larger than the limit";
        files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
    }
    let (number, head) = head.map(|(number, row)| (number, row_text(row, |_| false))).unzip();
    let row = head.as_deref().and_then(Object::parse).unwrap_or_default();
    let mut chat = Chat {
        title: first_text(&row, &["title", "name"]),
        model: first_text(&row, &["model", "model_id"]),
        times: times(&row),
        leaf: group.last_id,
        is_log: true,
        turns: group.turns,
        ..Chat::default()
    };
    chat.pointer = match (program.chats, number) {
        (Some((table, _)), Some(number)) => format!("{table}/row {number}"),
        _ => program.messages.0.to_owned(),
    };
    chat.times.created = chat.times.created.or_else(|| text_time(&row.text("started_at")?));
    if let Some(prompt) = first_text(&row, &["system", "system_prompt"]) {
        chat.fields.insert("system_prompt".into(), prompt.into());
    }
    if let Some(id) = group.id.as_deref().filter(|_| program.has_local_ids) {
        let first_message = chat.turns.first().map(|turn| (turn.text.as_str(), turn.times.created));
        let beginning = content_id(&format!("{:?}\n{first_message:?}", chat.times.created));
        chat.key = Some(format!("{}/{id}/{beginning}", program.name));
    }
    chat.id = group.id;
    chat.verbatim = head.as_deref().map(Verbatim::json);
    send(files, member, chat, program.name, Some("database"))
}
