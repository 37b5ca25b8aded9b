//! Reads the conversations in `state.vscdb`, a table of keys and values. A conversation is a row `composerData:<id>`
//! that lists its messages, which are rows `bubbleId:<conversation>:<id>`. All keys are held in memory, but values are
//! read one at a time.
use super::headers::{Header, Headers, Index};
use super::messages::Messages;
use super::{bubble, chat_file};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, column_text, unreadable};
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use rusqlite::OptionalExtension;
use std::collections::BTreeMap;

/// Member of a conversation that may contain its messages by their ids.
const MESSAGE_MAP: &str = "conversationMap";

/// Row ids of a conversation and of its messages.
#[derive(Debug, Default)]
struct Rows {
    composer: Option<i64>,
    /// Message ids with their row ids, in table order.
    bubbles: Vec<(String, i64)>,
}

/// Reads all conversations of a database.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    index: &mut Index,
) -> Result<(), FormatError> {
    let mut headers = Headers::read(reader, member, database);
    if database.has_table("cursorDiskKV") {
        for (id, rows) in conversation_rows(member, database)? {
            let header = headers.take(&id);
            let conversation = Conversation { id: &id, rows: &rows, member, database, header: header.as_ref() };
            if conversation.read(reader)? {
                index.mark_read(Some(&id));
            }
        }
    }
    index.add_remaining(headers, member);
    Ok(())
}

fn conversation_rows(member: &Member, database: &Database) -> Result<BTreeMap<String, Rows>, FormatError> {
    let mut out: BTreeMap<String, Rows> = BTreeMap::new();
    let unreadable_error = |e: rusqlite::Error| unreadable(member, &e);
    let mut statement = database.connection.prepare("SELECT rowid, key FROM cursorDiskKV").map_err(unreadable_error)?;
    let mut rows = statement.query([]).map_err(unreadable_error)?;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(unreadable_error)? {
        count += 1;
        if count > database.max_rows {
            return Err(FormatError::invalid("database_unreadable", &member.place, "more rows than fit into the file"));
        }
        let (Ok(rowid), Some(key)) = (row.get::<_, i64>(0), row.get_ref(1).ok().and_then(column_text)) else {
            continue;
        };
        if let Some(id) = key.strip_prefix("composerData:") {
            out.entry(id.to_owned()).or_default().composer = Some(rowid);
        } else if let Some(rest) = key.strip_prefix("bubbleId:") {
            let (composer, id) = rest.split_once(':').unwrap_or(("", rest));
            out.entry(composer.to_owned()).or_default().bubbles.push((id.to_owned(), rowid));
        }
    }
    Ok(out)
}

struct Conversation<'c> {
    id: &'c str,
    rows: &'c Rows,
    member: &'c Member,
    database: &'c Database,
    /// The conversation's entry in the list of conversations.
    header: Option<&'c Header>,
}

impl Conversation<'_> {
    fn value(&self, rowid: i64) -> Result<Option<String>, FormatError> {
        let sql = "SELECT value FROM cursorDiskKV WHERE rowid = ?1";
        let mut statement = self.database.connection.prepare_cached(sql).map_err(|e| unreadable(self.member, &e))?;
        let stored_value = statement.query_row([rowid], |row| Ok(column_text(row.get_ref(0)?))).optional();
        Ok(stored_value.map_err(|e| unreadable(self.member, &e))?.flatten())
    }

    fn report(&self, reader: &mut FileReader<'_>, key: &str, outcome: DroppedAs, reason: &str, kind: Kind) {
        reader.report_dropped(format!("{}#{key}", self.member.place), outcome, reason, Some(kind));
    }

    /// Reads the conversation. Returns false if it has no content.
    fn read(&self, reader: &mut FileReader<'_>) -> Result<bool, FormatError> {
        let key = format!("composerData:{}", self.id);
        let text = match self.rows.composer {
            Some(rowid) => match self.value(rowid) {
                Ok(text) => text,
                Err(e) => {
                    self.report(reader, &key, DroppedAs::Failed, &e.to_string(), Kind::Conversation);
                    None
                }
            },
            None => None,
        };
        let repaired = text.and_then(|text| match Object::parse(&text) {
            Some(_) => Some(text),
            None => mementory_json::repair(text.as_bytes()).map(|(text, _)| text),
        });
        let object = repaired.as_deref().and_then(Object::parse);
        let listed_chat = self.header.map(Header::chat).filter(|chat| chat.title.is_some());
        if object.is_none() && self.rows.bubbles.is_empty() {
            if let Some(listed_chat) = listed_chat {
                reader.send_chat(listed_chat, chat_file(&self.member.place))?;
                return Ok(true);
            }
            let reason = "no_content: an empty entry for a conversation";
            self.report(reader, &key, DroppedAs::Skipped, reason, Kind::Conversation);
            return Ok(false);
        }
        let mut chat = Chat { is_log: true, pointer: key, ..Chat::default() };
        chat.id = Some(self.id.to_owned()).filter(|id| !id.is_empty());
        let object = object.unwrap_or_default();
        bubble::fill_chat(&mut chat, &object);
        let mut budget = reader.context.limits.element_bytes;
        let mut messages = Messages::of(&object);
        let mut cuts = Vec::new();
        cuts.extend(read_inline(reader, self.member, &object, &chat.pointer, &mut messages)?.map(|raw| (raw, "[]")));
        cuts.extend(read_map(reader, self.member, &object, &chat.pointer, &mut messages)?.map(|raw| (raw, "{}")));
        if let Some(text) = repaired.as_deref() {
            let text = with_replaced_values(text, &cuts);
            budget = budget.saturating_sub(text.len() as u64);
            chat.verbatim = Some(Verbatim::json(text));
        }
        // Listed messages are read first, so that a conversation that is too large loses its unlisted messages first.
        let mut bubbles: Vec<&(String, i64)> = self.rows.bubbles.iter().collect();
        bubbles.sort_by_key(|(id, _)| messages.rank(id).unwrap_or(usize::MAX));
        for (id, rowid) in bubbles {
            messages.note_present(id);
            if messages.insert_id(id)
                && let Some(turn) = self.read_bubble(reader, id, *rowid, &mut budget)?
            {
                messages.add(id, turn);
            }
        }
        self.note_missing(reader, messages.missing_count());
        messages.fill(&mut chat);
        if let Some(header) = self.header {
            header.complete(&mut chat);
        }
        let is_blank =
            |turn: &Turn| turn.text.trim().is_empty() && turn.fields.is_empty() && turn.attachments.is_empty();
        // Some databases contain leftover rows with neither id nor content.
        let is_orphan = self.id.is_empty() && repaired.is_none() && chat.turns.iter().all(is_blank);
        let is_empty = chat.turns.is_empty() && self.rows.bubbles.is_empty();
        // Cursor writes a row for each new tab, before the person has written anything.
        let lists_messages = object.list("fullConversationHeadersOnly").is_some_and(|headers| !headers.is_empty());
        let has_draft = object.non_blank_text("text").is_some() || !chat.summary.is_empty();
        let is_unused = !object.has("createdAt") || !lists_messages && !has_draft;
        if is_orphan || is_empty && chat.title.is_none() && is_unused {
            let reason = "no_content: a conversation without messages";
            let pointer = chat.pointer.clone();
            self.report(reader, &pointer, DroppedAs::Skipped, reason, Kind::Conversation);
            return Ok(false);
        }
        reader.send_chat(chat, chat_file(&self.member.place))?;
        Ok(true)
    }

    /// Reports how many of the listed messages are not in the database.
    fn note_missing(&self, reader: &mut FileReader<'_>, missing: usize) {
        if missing > 0 {
            let place = format!("{}#composerData:{}", self.member.place, self.id);
            let message = format!("{missing} messages that this conversation lists are not in the database");
            reader.sink.note(Issue::new("messages_missing", place, message));
        }
    }

    /// Reads a message that has its own row. If it cannot be read, reports it and returns None.
    fn read_bubble(
        &self,
        reader: &mut FileReader<'_>,
        id: &str,
        rowid: i64,
        budget: &mut u64,
    ) -> Result<Option<Turn>, FormatError> {
        let key = format!("bubbleId:{}:{id}", self.id);
        let text = match self.value(rowid) {
            Ok(Some(text)) if !text.trim().is_empty() => text,
            Ok(_) => {
                self.report(reader, &key, DroppedAs::Skipped, "no_content: an empty entry", Kind::Message);
                return Ok(None);
            }
            Err(e) => {
                self.report(reader, &key, DroppedAs::Failed, &e.to_string(), Kind::Message);
                return Ok(None);
            }
        };
        if (text.len() as u64) > *budget {
            let reason = "too_large: the conversation is larger than an element may be";
            self.report(reader, &key, DroppedAs::Failed, reason, Kind::Message);
            return Ok(None);
        }
        *budget -= text.len() as u64;
        let repaired = match Object::parse(&text) {
            Some(_) => Some(text),
            None => mementory_json::repair(text.as_bytes()).map(|(text, _)| text),
        };
        let Some((text, bubble)) = repaired.as_deref().and_then(|text| Some((text, Object::parse(text)?))) else {
            let reason = "malformed: this message is not a JSON object";
            self.report(reader, &key, DroppedAs::Failed, reason, Kind::Message);
            return Ok(None);
        };
        let mut turn = read_turn(reader, self.member, text, &bubble, key)?;
        turn.id = Some(id.to_owned()).filter(|id| !id.is_empty()).or(turn.id);
        Ok(Some(turn))
    }
}

/// Reads the messages that older versions store inside the row of the conversation. Returns the JSON of their list,
/// or None if there are no such messages.
pub(super) fn read_inline<'o>(
    reader: &mut FileReader<'_>,
    member: &Member,
    object: &Object<'o>,
    at: &str,
    messages: &mut Messages,
) -> Result<Option<&'o serde_json::value::RawValue>, FormatError> {
    let Some(raw) = object.raw_value("conversation") else { return Ok(None) };
    let items = list(raw).unwrap_or_default();
    for (n, item) in items.iter().enumerate() {
        let pointer = format!("{at}/conversation/{n}");
        let Some(bubble) = Object::parse(item.get()) else {
            let reason = "not_an_object: this message is not an object";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            continue;
        };
        messages.add_inline(read_turn(reader, member, item.get(), &bubble, pointer)?);
    }
    Ok((!items.is_empty()).then_some(raw))
}

/// Reads the messages that the row of the conversation contains by their ids. Returns the JSON of these messages,
/// or None if there are no such messages.
pub(super) fn read_map<'o>(
    reader: &mut FileReader<'_>,
    member: &Member,
    object: &Object<'o>,
    at: &str,
    messages: &mut Messages,
) -> Result<Option<&'o serde_json::value::RawValue>, FormatError> {
    let Some(map) = object.object(MESSAGE_MAP) else { return Ok(None) };
    let mut has_messages = false;
    for (id, raw) in map.members() {
        has_messages = true;
        messages.note_present(id);
        let pointer = format!("{at}/{MESSAGE_MAP}/{id}");
        let Some(bubble) = Object::parse(raw.get()) else {
            let reason = "not_an_object: this message is not an object";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            continue;
        };
        if !messages.insert_id(id) {
            continue;
        }
        let mut turn = read_turn(reader, member, raw.get(), &bubble, pointer)?;
        turn.id = turn.id.or_else(|| Some(id.to_owned()).filter(|id| !id.is_empty()));
        messages.add(id, turn);
    }
    Ok(object.raw_value(MESSAGE_MAP).filter(|_| has_messages))
}

/// Converts a message to a turn, and stores the files in it.
pub(super) fn read_turn(
    reader: &mut FileReader<'_>,
    member: &Member,
    text: &str,
    bubble: &Object<'_>,
    pointer: String,
) -> Result<Turn, FormatError> {
    let (mut turn, mut content) = bubble::turn(text, bubble);
    reader.store_files(member, &mut content)?;
    turn.pointer = pointer;
    Ok(turn)
}
