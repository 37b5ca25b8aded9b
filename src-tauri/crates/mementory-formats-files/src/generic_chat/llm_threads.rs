//! Reads the tables in which LLM 0.32 and later logs: threads, turns, and messages that are stored once and refer to
//! their parents. A turn is converted to a row as older versions stored it (see `llm_row`).
use super::llm_parts::{Attachments, Named, Parts, SentFiles};
use super::llm_row::add_turns;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::Database;
use mementory_formats_shared::sqlite_rows::{Row, row_of, text_in};
use mementory_model::{DroppedAs, Kind};
use rusqlite::OptionalExtension;
use serde_json::Value;
use std::collections::BTreeMap;

/// Largest number of messages of a turn. The messages of a damaged database may refer to each other in a circle.
const MAX_MESSAGES: usize = 1000;
/// The tables that LLM 0.32 and later use.
pub(super) const TABLES: [&str; 4] = ["threads", "turns", "messages", "parts"];

/// The turns of each thread, by the numbers of their rows, oldest first.
#[derive(Debug, Default)]
pub(super) struct Threads(BTreeMap<String, Vec<i64>>);

impl Threads {
    /// Finds the threads of a database, which has none unless it has all [`TABLES`]. A turn that is also stored as a
    /// response of an older version is left out.
    pub fn of(database: &Database, tables: &[String]) -> rusqlite::Result<Self> {
        let mut out = Self::default();
        if !TABLES.iter().all(|name| tables.iter().any(|table| table == name)) {
            return Ok(out);
        }
        let sql = "SELECT CAST(thread_id AS TEXT), rowid FROM turns \
                   WHERE NOT EXISTS (SELECT 1 FROM responses WHERE responses.id = turns.id) \
                   ORDER BY datetime_utc, rowid";
        let mut statement = database.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while count < database.max_rows
            && let Some(row) = rows.next()?
        {
            let thread: Option<String> = row.get(0)?;
            out.0.entry(thread.unwrap_or_default()).or_default().push(row.get(1)?);
            count += 1;
        }
        Ok(out)
    }

    /// Ids of the threads that were not read yet.
    pub fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Name of a thread.
    pub fn name(database: &Database, id: &str) -> Option<String> {
        let sql = "SELECT name FROM threads WHERE id = ?1";
        let name = database.connection.query_row(sql, [id], |row| row.get::<_, Option<String>>(0));
        name.ok().flatten().filter(|name| !name.trim().is_empty())
    }

    /// Adds the messages of a thread, and sends their files. Turns that cannot be read are reported.
    pub fn add_messages(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        attachments: &Attachments<'_>,
        thread: &str,
        out: &mut Vec<Turn>,
    ) -> Result<(), FormatError> {
        let rows = self.0.remove(thread).unwrap_or_default();
        let max_bytes = files.context.limits.element_bytes;
        let (mut bytes, mut last_system, mut sent_files) = (0, None, SentFiles::new());
        for number in rows {
            let failure = match turn_row(attachments.database, number, max_bytes.saturating_sub(bytes)) {
                Ok(Some((row, parts))) => {
                    bytes += row.values().filter_map(Value::as_str).map(|text| text.len() as u64).sum::<u64>();
                    bytes += parts.bytes();
                    add_turns(row, parts, "turns", &mut last_system, &mut sent_files, out);
                    continue;
                }
                Ok(None) => "too_large: the rest of this conversation is larger than the limit".to_owned(),
                Err(error) => format!("database_unreadable: {error}"),
            };
            let place = format!("{}#turns of {thread}", member.place);
            files.report_dropped(place, DroppedAs::Failed, &failure, Some(Kind::Message));
            break;
        }
        attachments.attach(files, member, sent_files, out)
    }
}

/// Reads a turn with its texts, its calls of tools, and the results and files that were sent. None if the texts have
/// more than `max_bytes`.
fn turn_row(database: &Database, number: i64, max_bytes: u64) -> rusqlite::Result<Option<(Row, Parts)>> {
    let mut statement = database.connection.prepare("SELECT * FROM turns WHERE rowid = ?1")?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut row = statement.query_row([number], |row| Ok(row_of(row, &names)))?;
    let parent = text_in(&row, "parent_message_hash");
    let answers = messages(database, text_in(&row, "tip_message_hash"), |hash, _| Some(hash) == parent.as_deref())?;
    // The messages after the previous answer were sent in this turn. In the first turn, they include the system prompt.
    let sent_messages = messages(database, parent.clone(), |_, role| role == "assistant")?;
    let mut texts = Texts { database, max_bytes, bytes: 0 };
    let columns = [
        ("system", texts.of(&sent_messages, Some("system"), "text")?),
        ("prompt", texts.of(&sent_messages, Some("user"), "text")?),
        ("response", texts.of(&answers, None, "text")?),
        ("reasoning", texts.of(&answers, None, "reasoning")?),
    ];
    let file_id = |(_, json): Named| Some(serde_json::from_str::<Value>(&json).ok()?.get("id")?.as_str()?.to_owned());
    let parts = Parts {
        calls: texts.of_json(&answers, "tool_call", "arguments")?,
        results: texts.of_json(&sent_messages, "tool_result", "output")?,
        files: texts.of_json(&sent_messages, "attachment", "attachment")?.into_iter().filter_map(file_id).collect(),
        ..Parts::default()
    };
    if texts.bytes > max_bytes {
        return Ok(None);
    }
    for (name, text) in columns.into_iter().filter(|(_, text)| !text.is_empty()) {
        row.insert(name.into(), text.into());
    }
    Ok(Some((row, parts)))
}

/// Returns hash and role of the message `from` and of the messages before it, oldest first. The latest message for
/// which `is_end` returns true, and all messages before it, are left out.
fn messages(
    database: &Database,
    from: Option<String>,
    is_end: impl Fn(&str, &str) -> bool,
) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = database.connection.prepare("SELECT parent_hash, role FROM messages WHERE hash = ?1")?;
    let (mut out, mut next) = (Vec::new(), from);
    while let Some(hash) = next.take().filter(|_| out.len() < MAX_MESSAGES) {
        let found: Option<(Option<String>, Option<String>)> =
            statement.query_row([&hash], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
        let Some((parent, role)) = found else { break };
        let role = role.unwrap_or_default();
        if is_end(&hash, &role) {
            break;
        }
        out.push((hash, role));
        next = parent;
    }
    out.reverse();
    Ok(out)
}

/// Joins the texts of messages, up to a number of bytes.
struct Texts<'d> {
    database: &'d Database,
    max_bytes: u64,
    bytes: u64,
}

impl Texts<'_> {
    /// Joins the texts of the parts of type `kind` without separators, as LLM prints them. A part without text is
    /// written as its JSON.
    fn of(&mut self, messages: &[(String, String)], role: Option<&str>, kind: &str) -> rusqlite::Result<String> {
        let sql = "SELECT text, payload FROM parts WHERE message_hash = ?1 AND type = ?2 ORDER BY position";
        let database = self.database;
        let mut statement = database.connection.prepare(sql)?;
        let mut out = String::new();
        for (hash, _) in messages.iter().filter(|(_, name)| role.is_none_or(|role| role == name)) {
            let mut rows = statement.query([hash.as_str(), kind])?;
            while let Some(row) = rows.next()? {
                let (text, payload): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
                match text {
                    Some(text) => self.push(&mut out, &text),
                    None => self.push_payload(&mut out, &payload.unwrap_or_default())?,
                }
            }
        }
        Ok(out)
    }

    /// The texts of the parts of type `kind`, each with the name of the tool. If a part has no text, its text is the
    /// member `key` of its JSON or, if that member is missing, all of its JSON.
    fn of_json(&mut self, messages: &[(String, String)], kind: &str, key: &str) -> rusqlite::Result<Vec<Named>> {
        let sql = "SELECT tool_name, text, payload FROM parts WHERE message_hash = ?1 AND type = ?2 ORDER BY position";
        let database = self.database;
        let mut statement = database.connection.prepare(sql)?;
        let mut out = Vec::new();
        for (hash, _) in messages {
            let mut rows = statement.query([hash.as_str(), kind])?;
            while self.bytes <= self.max_bytes
                && let Some(row) = rows.next()?
            {
                let (name, text): (Option<String>, Option<String>) = (row.get(0)?, row.get(1)?);
                let payload = row.get::<_, Option<String>>(2)?.unwrap_or_default();
                let text = text.unwrap_or_else(|| member_of(payload, key));
                self.bytes += text.len() as u64;
                out.push((name, text));
            }
        }
        Ok(out)
    }

    /// Adds the payload of a part. If the payload refers to fragments, adds their texts instead.
    fn push_payload(&mut self, out: &mut String, payload: &str) -> rusqlite::Result<()> {
        let value: Value = serde_json::from_str(payload).unwrap_or_default();
        let Some(parts) = value.get("text_ref").and_then(Value::as_array) else {
            self.push(out, payload);
            return Ok(());
        };
        for part in parts {
            if let Some(literal) = part.get("literal").and_then(Value::as_str) {
                self.push(out, literal);
            } else if let Some(id) =
                part.get("fragment").and_then(Value::as_i64).filter(|_| self.bytes <= self.max_bytes)
            {
                let sql = "SELECT content FROM fragments WHERE id = ?1";
                let content = self.database.connection.query_row(sql, [id], |row| row.get::<_, Option<String>>(0));
                self.push(out, &content.optional()?.flatten().unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Adds a text unless the limit was reached.
    fn push(&mut self, out: &mut String, text: &str) {
        if self.bytes <= self.max_bytes {
            self.bytes += text.len() as u64;
            out.push_str(text);
        }
    }
}

/// Returns the member `key` of a JSON text, as text or JSON. If there is no such member, returns the whole JSON text.
fn member_of(json: String, key: &str) -> String {
    let value: Value = serde_json::from_str(&json).unwrap_or_default();
    match value.get(key) {
        Some(Value::String(text)) => text.clone(),
        Some(member) if !member.is_null() => member.to_string(),
        _ => json,
    }
}
