//! Reads the database of the command line program LLM: a table of conversations, and a table whose rows are a prompt
//! with its response. Later versions log to more tables (see `llm_threads`).
use super::llm_row::{PROMPT_FRAGMENTS, PROMPT_SEPARATOR, SYSTEM_FRAGMENTS, SYSTEM_SEPARATOR, add_turns};
use super::llm_threads::{self, Threads};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::send;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, report_other_tables, row_of, row_text, tables, text_in,
};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::Value;
use std::collections::HashMap;

/// Name of the platform.
pub(super) const PLATFORM: &str = "llm";

/// Tables with fragments, since version 0.24.
const FRAGMENT_TABLES: [&str; 3] = ["fragments", PROMPT_FRAGMENTS, SYSTEM_FRAGMENTS];

/// True for the database of LLM.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table("conversations", &["id", "name", "model"])
        && schema.has_table("responses", &["id", "prompt", "response", "conversation_id", "datetime_utc"])
}

/// Sends the conversations of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut responses = responses_of(&database).map_err(|error| unreadable(member, &error))?;
    let mut threads = Threads::of(&database, &names).map_err(|error| unreadable(member, &error))?;
    each_row(files, member, &database, "conversations", |files, row, number| {
        let id = text_in(&row, "id");
        let rows = id.as_ref().and_then(|_| responses.remove(&id)).unwrap_or_default();
        let mut turns = turns_of(files, member, &database, id.as_deref().unwrap_or_default(), &rows);
        // A thread that continues a conversation of an older version has its id.
        threads.add_messages(files, member, &database, id.as_deref().unwrap_or_default(), &mut turns);
        let mut chat = Chat {
            id,
            title: text_in(&row, "name"),
            model: text_in(&row, "model"),
            is_log: true,
            pointer: format!("conversations/row {number}"),
            turns,
            ..Chat::default()
        };
        chat.times.created = chat.turns.first().and_then(|turn| turn.times.created);
        chat.times.updated = chat.turns.last().and_then(|turn| turn.times.created);
        chat.verbatim = Some(Verbatim::json(row_text(row, |_| false)));
        send(files, member, chat, PLATFORM, Some("database"))
    })?;
    // Responses whose conversation is not in the table. Each one without a conversation is one of its own.
    let mut others: Vec<(Option<String>, Vec<i64>)> = Vec::new();
    for (id, rows) in responses {
        match id {
            Some(_) => others.push((id, rows)),
            None => others.extend(rows.into_iter().map(|row| (None, vec![row]))),
        }
    }
    others.sort();
    for (id, rows) in others {
        let turns = turns_of(files, member, &database, id.as_deref().unwrap_or_default(), &rows);
        let Some(first) = turns.first() else { continue };
        let mut chat = Chat { pointer: first.pointer.clone(), is_log: true, ..Chat::default() };
        chat.id = id.or_else(|| Some(first.pointer.clone()));
        chat.times.created = first.times.created;
        chat.times.updated = turns.last().and_then(|turn| turn.times.created);
        chat.turns = turns;
        send(files, member, chat, PLATFORM, Some("database"))?;
    }
    for id in threads.ids() {
        let mut chat = Chat { is_log: true, pointer: format!("threads/{id}"), ..Chat::default() };
        threads.add_messages(files, member, &database, &id, &mut chat.turns);
        let Some(first) = chat.turns.first() else { continue };
        chat.times.created = first.times.created;
        chat.times.updated = chat.turns.last().and_then(|turn| turn.times.created);
        chat.title = Threads::name(&database, &id);
        // Turns outside of a thread are one conversation.
        chat.id = Some(id).filter(|id| !id.is_empty());
        send(files, member, chat, PLATFORM, Some("database"))?;
    }
    report_other_tables(files, member, &database, &names, |table| match table {
        "conversations" | "responses" => None,
        name if FRAGMENT_TABLES.contains(&name) => None,
        name if llm_threads::TABLES.contains(&name) => None,
        // These tables repeat texts or belong to messages that are read.
        name if name.starts_with("turn_") || name.starts_with("part_") => None,
        name if name.starts_with('_') || name.starts_with("responses_fts") => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

/// The rows of the responses of each conversation, oldest first. The table may have no index of conversations, so it is
/// searched only once.
fn responses_of(database: &Database) -> rusqlite::Result<HashMap<Option<String>, Vec<i64>>> {
    let sql = "SELECT CAST(conversation_id AS TEXT), rowid FROM responses ORDER BY datetime_utc, rowid";
    let mut statement = database.connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let (mut out, mut count) = (HashMap::<Option<String>, Vec<i64>>::new(), 0);
    while count < database.max_rows
        && let Some(row) = rows.next()?
    {
        out.entry(row.get(0)?).or_default().push(row.get(1)?);
        count += 1;
    }
    Ok(out)
}

/// The messages of a conversation, from these rows. Responses that cannot be read are reported.
fn turns_of(
    files: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    conversation: &str,
    rows: &[i64],
) -> Vec<Turn> {
    let mut out = Vec::new();
    let failed = match read_turns(database, rows, files.context.limits.element_bytes, &mut out) {
        Ok(true) => return out,
        Ok(false) => "too_large: the rest of this conversation is larger than the limit".to_owned(),
        Err(error) => format!("database_unreadable: {error}"),
    };
    let place = format!("{}#responses of {conversation}", member.place);
    files.report_dropped(place, DroppedAs::Failed, &failed, Some(Kind::Message));
    out
}

/// Adds the messages of a conversation. Returns false if their texts have more than `max_bytes`; the rest is not read
/// then.
fn read_turns(database: &Database, rows: &[i64], max_bytes: u64, out: &mut Vec<Turn>) -> rusqlite::Result<bool> {
    let sql = "SELECT * FROM responses WHERE rowid = ?1";
    let mut statement = database.connection.prepare(sql)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let has_fragments =
        FRAGMENT_TABLES.iter().all(|name| database.connection.table_exists(None, *name).unwrap_or(false));
    let (mut bytes, mut last_system) = (0, None);
    for number in rows {
        let mut row = statement.query_row([number], |row| Ok(row_of(row, &names)))?;
        if has_fragments {
            add_fragments(database, &mut row, max_bytes)?;
        }
        bytes += row.values().filter_map(Value::as_str).map(|text| text.len() as u64).sum::<u64>();
        if bytes > max_bytes || out.len() as u64 >= database.max_rows {
            return Ok(false);
        }
        add_turns(row, "responses", &mut last_system, out);
    }
    Ok(true)
}

/// Puts the texts of fragments before the prompt and the system prompt of a row. Stops when a text has more than
/// `max_bytes`.
fn add_fragments(database: &Database, row: &mut Row, max_bytes: u64) -> rusqlite::Result<()> {
    let Some(id) = text_in(row, "id") else { return Ok(()) };
    for (column, table, separator) in
        [("prompt", PROMPT_FRAGMENTS, PROMPT_SEPARATOR), ("system", SYSTEM_FRAGMENTS, SYSTEM_SEPARATOR)]
    {
        let sql = format!(
            "SELECT CAST(fragments.content AS TEXT) FROM {table} JOIN fragments ON fragments.id = {table}.fragment_id \
             WHERE {table}.response_id = ?1 ORDER BY {table}.\"order\""
        );
        let mut statement = database.connection.prepare_cached(&sql)?;
        let mut fragments = statement.query([&id])?;
        let (mut texts, mut bytes) = (Vec::new(), 0);
        while bytes <= max_bytes
            && let Some(fragment) = fragments.next()?
        {
            let text = fragment.get::<_, Option<String>>(0)?.unwrap_or_default();
            bytes += text.len() as u64;
            texts.push(text);
        }
        if !texts.is_empty() {
            texts.extend(text_in(row, column));
            row.insert(column.into(), texts.join(separator).into());
        }
    }
    Ok(())
}
