//! Reads the list in which Cursor 3 stores the titles and times of conversations, separate from the conversations
//! themselves: the setting `composer.composerHeaders`, or the table `composerHeaders`.
use super::{bubble, chat_file, setting};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::Chat;
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, column_text};
use mementory_model::{DroppedAs, Issue, Kind, Timestamp, Verbatim};
use rusqlite::Row;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};

/// Name of the table, and the last part of the setting's key.
const TABLE: &str = "composerHeaders";
/// Key of the setting.
const SETTING_KEY: &str = "composer.composerHeaders";

/// An entry of the list.
#[derive(Debug)]
pub(super) struct Header {
    id: String,
    text: String,
    pointer: String,
    /// Times in the columns of the table.
    created: Option<Timestamp>,
    updated: Option<Timestamp>,
}

impl Header {
    /// A conversation with the values of the entry, without messages.
    pub(super) fn chat(&self) -> Chat {
        let mut chat = Chat { id: Some(self.id.clone()), is_log: true, ..Chat::default() };
        chat.pointer.clone_from(&self.pointer);
        bubble::fill_chat(&mut chat, &Object::parse(&self.text).unwrap_or_default());
        chat.times.created = chat.times.created.or(self.created);
        chat.times.updated = chat.times.updated.or(self.updated);
        chat.verbatim = Some(Verbatim::json(self.text.as_str()));
        chat
    }

    /// Fills in the values that the conversation's own row does not state.
    pub(super) fn complete(&self, chat: &mut Chat) {
        let listed_chat = self.chat();
        chat.title = chat.title.take().or(listed_chat.title);
        chat.status = chat.status.take().or(listed_chat.status);
        chat.record_type = chat.record_type.take().or(listed_chat.record_type);
        chat.model = chat.model.take().or(listed_chat.model);
        chat.source.project = chat.source.project.take().or(listed_chat.source.project);
        if chat.summary.is_empty() {
            chat.summary = listed_chat.summary;
        }
        chat.note_time(listed_chat.times.created);
        chat.note_time(listed_chat.times.updated);
        chat.verbatim = match chat.verbatim.take() {
            None => listed_chat.verbatim,
            Some(row) => {
                let text = format!("{}\n{}", row.text, self.text);
                Some(Verbatim { media_type: "application/x-ndjson".into(), text })
            }
        };
    }
}

/// The entries of the list in one database, by conversation id.
#[derive(Debug, Default)]
pub(super) struct Headers {
    by_id: BTreeMap<String, Header>,
    /// Number of bytes that further entries may have.
    budget: u64,
}

impl Headers {
    /// Reads the list. Entries that cannot be read are only reported as issues, because the conversations are stored
    /// elsewhere.
    pub(super) fn read(reader: &mut FileReader<'_>, member: &Member, database: &Database) -> Self {
        let mut out = Self { budget: reader.context.limits.element_bytes, ..Self::default() };
        if database.has_table("ItemTable") {
            match setting::value(member, database, SETTING_KEY) {
                Ok(text) => text.iter().for_each(|text| out.read_setting(reader, member, text)),
                Err(e) => note_unreadable(reader, member, SETTING_KEY, &e),
            }
        }
        if database.has_table(TABLE)
            && let Err(e) = out.read_table(reader, member, database)
        {
            note_unreadable(reader, member, TABLE, &e);
        }
        out
    }

    /// Removes and returns the entry of a conversation.
    pub(super) fn take(&mut self, id: &str) -> Option<Header> {
        self.by_id.remove(id)
    }

    fn read_setting(&mut self, reader: &mut FileReader<'_>, member: &Member, text: &str) {
        let entries = match Object::parse(text) {
            Some(object) => Some(object.list("allComposers").unwrap_or_default()),
            None => serde_json::from_str::<&RawValue>(text).ok().and_then(list),
        };
        let Some(entries) = entries else { return note_malformed(reader, member, SETTING_KEY) };
        for (n, raw) in entries.into_iter().enumerate() {
            self.add(reader, member, raw.get(), format!("{SETTING_KEY}/allComposers/{n}"), None, [None, None]);
        }
    }

    fn read_table(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        database: &Database,
    ) -> Result<(), rusqlite::Error> {
        let mut statement = database.connection.prepare(&format!("SELECT * FROM {TABLE}"))?;
        let column = |name: &str| statement.column_index(name).ok();
        let id_column = column("composerId").or_else(|| column("key"));
        let [value_column, created_column, updated_column] = ["value", "createdAt", "lastUpdatedAt"].map(column);
        let text = |row: &Row<'_>, at: Option<usize>| column_text(row.get_ref(at?).ok()?);
        let time = |row: &Row<'_>, at: Option<usize>| {
            Timestamp::from_seconds(row.get::<_, i64>(at?).ok().filter(|time| *time > 0)? as f64 / 1e3)
        };
        let mut rows = statement.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            count += 1;
            if count > database.max_rows {
                return Ok(());
            }
            let id = text(row, id_column);
            let Some(value) = text(row, value_column).filter(|value| !value.trim().is_empty()) else { continue };
            let times = [time(row, created_column), time(row, updated_column)];
            self.add(reader, member, &value, format!("{TABLE}/{count}"), id, times);
        }
        Ok(())
    }

    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        text: &str,
        pointer: String,
        id: Option<String>,
        [created, updated]: [Option<Timestamp>; 2],
    ) {
        let Some(object) = Object::parse(text) else { return note_malformed(reader, member, &pointer) };
        let place = format!("{}#{pointer}", member.place);
        let id = object.non_blank_text("composerId").map(|id| id.into_owned()).or(id).filter(|id| !id.is_empty());
        let Some(id) = id else {
            let reason = "no_content: an entry of the list without an id";
            return reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
        };
        let Some(budget) = self.budget.checked_sub(text.len() as u64) else {
            let reason = "too_large: the list of conversations is larger than an element may be";
            return reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        };
        self.budget = budget;
        self.by_id.insert(id.clone(), Header { id, text: text.to_owned(), pointer, created, updated });
    }
}

fn note_malformed(reader: &mut FileReader<'_>, member: &Member, pointer: &str) {
    let place = format!("{}#{pointer}", member.place);
    reader.sink.note(Issue::new("malformed", place, "an entry of the list of conversations is not a JSON object"));
}

fn note_unreadable(reader: &mut FileReader<'_>, member: &Member, pointer: &str, error: &dyn std::error::Error) {
    let message = format!("the list of conversations cannot be read: {error}");
    reader.sink.note(Issue::new("malformed", format!("{}#{pointer}", member.place), message));
}

/// Ids of the conversations read from all databases so far, and the list entries for which no conversation was found
/// yet.
#[derive(Debug, Default)]
pub(super) struct Index {
    read_ids: HashSet<String>,
    /// Entries, each with the place of the file that it was read from.
    remaining: Vec<(Header, String)>,
}

impl Index {
    /// Records that a conversation was read.
    pub(super) fn mark_read(&mut self, id: Option<&String>) {
        self.read_ids.extend(id.cloned());
    }

    /// Adds the entries whose conversation is not in this database, because the conversation may be in another
    /// database.
    pub(super) fn add_remaining(&mut self, headers: Headers, member: &Member) {
        self.remaining.extend(headers.by_id.into_values().map(|header| (header, member.place.clone())));
    }

    /// Sends a conversation without messages for each entry that has a title and whose conversation was not found.
    pub(super) fn send_remaining(mut self, reader: &mut FileReader<'_>) -> Result<(), FormatError> {
        for (header, place) in self.remaining {
            if !self.read_ids.insert(header.id.clone()) {
                continue;
            }
            let chat = header.chat();
            if chat.title.is_none() {
                let reason = "no_content: an entry of the list without a title and without a conversation";
                let place = format!("{place}#{}", header.pointer);
                reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
                continue;
            }
            reader.send_chat(chat, chat_file(&place))?;
        }
        Ok(())
    }
}
