//! Reads the database of the command line program LLM: a table of conversations, and a table whose rows are a prompt
//! with its response. Later versions log to more tables (see `llm_threads`).
use super::llm_parts::{Attachments, SentFiles, Tables, row_numbers_by_value};
use super::llm_row::add_turns;
use super::llm_threads::{self, Threads};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, times_of};
use mementory_formats_shared::message::send;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, unreadable};
use mementory_formats_shared::sqlite_rows::{
    self, Schema, each_row, report_other_tables, row_of, row_text, tables, text_in,
};
use mementory_model::{DroppedAs, EXPANSION, Kind, Verbatim};
use serde_json::Value;
use std::cell::Cell;
use std::collections::HashMap;

/// Name of the platform.
pub(super) const PLATFORM: &str = "llm";

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
    let tables = Tables::of(&database, &names);
    let log = Log { attachments: Attachments::of(&database), tables, sent_bytes: Cell::new(0) };
    each_row(files, member, &database, "conversations", |files, row, number| {
        let id = text_in(&row, "id");
        let rows = id.as_ref().and_then(|_| responses.remove(&id)).unwrap_or_default();
        let mut turns = log.turns_of(files, member, id.as_deref().unwrap_or_default(), &rows)?;
        // A thread that continues a conversation of an older version has the id of that conversation.
        threads.add_messages(files, member, &log.attachments, id.as_deref().unwrap_or_default(), &mut turns)?;
        let mut chat = Chat {
            id,
            title: text_in(&row, "name"),
            model: text_in(&row, "model"),
            is_log: true,
            pointer: format!("conversations/row {number}"),
            turns,
            ..Chat::default()
        };
        chat.verbatim = Some(Verbatim::json(row_text(row, |_| false)));
        log.send(files, member, chat)
    })?;
    // Responses whose conversation is not in the table. A response that states no conversation becomes a separate
    // conversation.
    let mut others: Vec<(Option<String>, Vec<i64>)> = Vec::new();
    for (id, rows) in responses {
        match id {
            Some(_) => others.push((id, rows)),
            None => others.extend(rows.into_iter().map(|row| (None, vec![row]))),
        }
    }
    others.sort();
    for (id, rows) in others {
        let turns = log.turns_of(files, member, id.as_deref().unwrap_or_default(), &rows)?;
        let Some(first) = turns.first() else { continue };
        let mut chat = Chat { pointer: first.pointer.clone(), is_log: true, ..Chat::default() };
        chat.id = id.or_else(|| Some(first.pointer.clone()));
        chat.turns = turns;
        log.send(files, member, chat)?;
    }
    for id in threads.ids() {
        let mut chat = Chat { is_log: true, pointer: format!("threads/{id}"), ..Chat::default() };
        threads.add_messages(files, member, &log.attachments, &id, &mut chat.turns)?;
        if chat.turns.is_empty() {
            continue;
        }
        chat.title = Threads::name(&database, &id);
        // All turns outside of threads form one conversation.
        chat.id = Some(id).filter(|id| !id.is_empty());
        log.send(files, member, chat)?;
    }
    report_other_tables(files, member, &database, &names, |table| match table {
        "conversations" | "responses" => None,
        name if llm_threads::TABLES.contains(&name) || log.tables.are_read(name) => None,
        // These tables are read with the messages of threads, which refer to them.
        "fragments" | "attachments"
            if llm_threads::TABLES.iter().all(|table| names.iter().any(|name| name == table)) =>
        {
            None
        }
        // These tables repeat texts, or describe messages that are read from other tables.
        name if name.starts_with("turn_") || name.starts_with("part_") => None,
        name if name.starts_with('_') || name.starts_with("responses_fts") => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

/// The rows of the responses of each conversation, oldest first. The table may have no index of conversations, so it is
/// searched only once.
fn responses_of(database: &Database) -> rusqlite::Result<HashMap<Option<String>, Vec<i64>>> {
    row_numbers_by_value(
        database,
        "SELECT CAST(conversation_id AS TEXT), rowid FROM responses ORDER BY datetime_utc, rowid",
    )
}

/// An open database, and which tables it has besides the table of responses.
struct Log<'d> {
    attachments: Attachments<'d>,
    tables: Tables,
    /// Total size in bytes of the messages that were sent.
    sent_bytes: Cell<u64>,
}

impl Log<'_> {
    /// Sends a conversation. A fragment is stored once in the database, but is copied into each message that uses it.
    /// So the messages of a hostile database could be many times as large as the database.
    fn send(&self, files: &mut FileReader<'_>, member: &Member, mut chat: Chat) -> Result<(), FormatError> {
        let sources = chat.turns.iter().filter_map(|turn| turn.verbatim.as_ref());
        let bytes = sources.map(|source| source.text.len() as u64).sum::<u64>();
        self.sent_bytes.set(self.sent_bytes.get().saturating_add(bytes));
        let figure = files.context.limits.expanded_bytes.max(member.size.saturating_mul(EXPANSION));
        if self.sent_bytes.get() > figure {
            return Err(FormatError::Limit { limit: "expanded_bytes", place: member.place.clone(), figure });
        }
        chat.times = times_of(&chat.turns);
        send(files, member, chat, PLATFORM, Some("database"))
    }

    /// The messages of a conversation, from these rows. Responses that cannot be read are reported.
    fn turns_of(
        &self,
        files: &mut FileReader<'_>,
        member: &Member,
        conversation: &str,
        rows: &[i64],
    ) -> Result<Vec<Turn>, FormatError> {
        let (mut out, mut sent_files) = (Vec::new(), Vec::new());
        let max_bytes = files.context.limits.element_bytes;
        let failure = match self.read_turns(rows, max_bytes, &mut out, &mut sent_files) {
            Ok(true) => None,
            Ok(false) => Some("too_large: the rest of this conversation is larger than the limit".to_owned()),
            Err(error) => Some(format!("database_unreadable: {error}")),
        };
        if let Some(reason) = failure {
            let place = format!("{}#responses of {conversation}", member.place);
            files.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Message));
        }
        self.attachments.attach(files, member, sent_files, &mut out)?;
        Ok(out)
    }

    /// Adds the messages of a conversation, and their files to `sent_files`. If the texts have more than `max_bytes`,
    /// returns false and does not read the remaining rows.
    fn read_turns(
        &self,
        rows: &[i64],
        max_bytes: u64,
        out: &mut Vec<Turn>,
        sent_files: &mut SentFiles,
    ) -> rusqlite::Result<bool> {
        let sql = "SELECT * FROM responses WHERE rowid = ?1";
        let database = self.attachments.database;
        let mut statement = database.connection.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let (mut bytes, mut last_system) = (0, None);
        for number in rows {
            let row = statement.query_row([number], |row| Ok(row_of(row, &names)))?;
            bytes += row.values().filter_map(Value::as_str).map(|text| text.len() as u64).sum::<u64>();
            if bytes > max_bytes || out.len() as u64 >= database.max_rows {
                return Ok(false);
            }
            let id = text_in(&row, "id").unwrap_or_default();
            let Some(parts) = self.tables.parts(database, &id, max_bytes - bytes)? else { return Ok(false) };
            bytes += parts.bytes();
            add_turns(row, parts, "responses", &mut last_system, sent_files, out);
        }
        Ok(true)
    }
}
