//! Reads the tables. Consecutive messages with the same title become a conversation.
use super::COPILOT;
use super::columns::{self, Columns, Layout};
use super::{interactions, start, time};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    object::content_id,
    reader::FileReader,
    tables::{CsvRows, Header, Row, RowFault},
};
use mementory_model::{DroppedAs, Fields, Issue, Kind, Times, Timestamp, Verbatim};
use std::collections::HashMap;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(COPILOT, catalog, context, sink).each_file(detected, |reader, member, role| {
        if role == Role::Records {
            return interactions::read(reader, member);
        }
        let mut table = Table::default();
        let (catalog, limits) = (reader.catalog, &reader.context.limits);
        let start = catalog.read(member, |bytes| start::examine(bytes, limits, &member.place))?;
        let columns = start
            .map(|start| start.columns)
            .ok_or_else(|| FormatError::invalid("malformed", &member.place, "not a table of messages"))?;
        let result = catalog.read(member, |bytes| {
            let mut rows = CsvRows::new(bytes, limits, &member.place)?;
            table.read(reader, member, &columns, &mut rows)
        });
        // The messages before a damaged part of the file are sent too.
        table.send(reader, member)?;
        result
    })
}

/// The state while a table is read.
#[derive(Default)]
struct Table {
    header: Header,
    title: String,
    /// The messages of the conversation that is not complete yet, in the order of the file.
    open_turns: Vec<Turn>,
    run_bytes: u64,
    /// True if newer messages come first in the file. None while the order is unknown.
    is_newest_first: Option<bool>,
    last_time: Option<Timestamp>,
    lacks_zone: bool,
}

impl Table {
    fn read(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        columns: &Columns,
        rows: &mut CsvRows<'_>,
    ) -> Result<(), FormatError> {
        let Some(header) = rows.next(&member.place)?.map(Header::new) else { return Ok(()) };
        self.header = header;
        let mut count = 0_u64;
        while let Some(row) = rows.next(&member.place)? {
            count += 1;
            self.read_row(reader, member, columns, row)?;
        }
        if count == 0 {
            reader.sink.note(Issue::new("empty", &member.place, "this table has no rows"));
        }
        if self.lacks_zone {
            let message = "the times have no time zone and were read as UTC";
            reader.sink.note(Issue::new("no_time_zone", &member.place, message));
        }
        Ok(())
    }

    fn read_row(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        columns: &Columns,
        row: Row,
    ) -> Result<(), FormatError> {
        let pointer = format!("row {}", row.number);
        let place = format!("{}#{pointer}", member.place);
        let fault = match row.fault {
            Some(RowFault::TooLarge) => Some("too_large: this row is larger than the limit"),
            Some(RowFault::Truncated) => Some("truncated: the file ends inside this row"),
            None if row.is_blank() => Some("no_content: all cells of this row are empty"),
            None if [columns.text, columns.author].iter().all(|c| row.cell(*c).trim().is_empty()) => {
                Some("no_content: this row has no message and no author")
            }
            None => None,
        };
        if let Some(reason) = fault {
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let title = row.cell(columns.title).trim();
        let is_new = columns.layout == Layout::Prompts
            || title != self.title
            || self.run_bytes > reader.context.limits.element_bytes;
        if is_new {
            self.send(reader, member)?;
            self.title = title.to_owned();
        }
        let time_cell = row.cell(columns.time).trim();
        let parsed = time::parse(time_cell);
        if parsed.is_none() && !time_cell.is_empty() {
            reader.sink.note(Issue::new("bad_time", &place, "the time of this row cannot be read"));
        }
        self.lacks_zone |= parsed.is_some_and(|(_, has_zone)| !has_zone);
        self.run_bytes += row.raw.len() as u64;
        self.open_turns.push(turn(&self.header, columns, row, parsed.map(|(time, _)| time), pointer));
        if columns.layout == Layout::Prompts { self.send(reader, member) } else { Ok(()) }
    }

    /// Sends the collected messages as one conversation.
    fn send(&mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut turns = std::mem::take(&mut self.open_turns);
        self.run_bytes = 0;
        if turns.is_empty() {
            return Ok(());
        }
        if self.is_reversed(&turns) {
            turns.reverse();
        }
        // The same text may occur twice within one second, so a number is appended to every key that is not unique.
        let mut seen: HashMap<String, usize> = HashMap::new();
        for turn in &mut turns {
            let count = seen.entry(turn.key.clone().unwrap_or_default()).or_default();
            *count += 1;
            if *count > 1 {
                turn.key = turn.key.take().map(|key| format!("{key}~{count}"));
            }
        }
        let created_times = || turns.iter().filter_map(|turn| turn.times.created);
        let times = Times { created: created_times().min(), updated: created_times().max(), ..Times::default() };
        let first = turns.first().and_then(|turn| turn.key.clone());
        let is_prompt = turns.iter().any(|turn| turn.fields.contains_key(CLIENT_APP));
        let created_text = times.created.map_or_else(|| format!("{first:?}"), |time| time.to_rfc3339());
        let identity = if is_prompt { format!("{first:?}") } else { format!("{}\n{created_text}", self.title) };
        let chat = Chat {
            key: Some(content_id(&identity)),
            title: (!self.title.is_empty()).then(|| self.title.clone()),
            record_type: is_prompt.then(|| "prompt".into()),
            times,
            pointer: turns.first().map(|turn| turn.pointer.clone()).unwrap_or_default(),
            // No row describes the conversation itself, so the header of the table becomes its verbatim.
            verbatim: Some(csv(&self.header.raw)),
            turns,
            ..Chat::default()
        };
        let mut issues = Vec::new();
        let file = ChatFile { format: COPILOT, platform: COPILOT, version: None, container: &member.place };
        let unit = chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| reader.sink.note(issue));
        reader.sink.unit(unit)
    }

    /// True if the messages of a conversation are in reverse order. If their times do not show the order, the order of
    /// the previous conversations is assumed. If that is unknown too, the order is reversed if the first message is not
    /// the person's and the last one is, because a prompt comes before its answer.
    fn is_reversed(&mut self, turns: &[Turn]) -> bool {
        let times: Vec<Timestamp> = turns.iter().filter_map(|turn| turn.times.created).collect();
        let descending_count = times.windows(2).filter(|pair| pair[0] > pair[1]).count();
        let ascending_count = times.windows(2).filter(|pair| pair[0] < pair[1]).count();
        if descending_count != ascending_count {
            self.is_newest_first = Some(descending_count > ascending_count);
        } else if let (None, Some(before), Some(now)) = (self.is_newest_first, self.last_time, times.first())
            && before != *now
        {
            self.is_newest_first = Some(before > *now);
        }
        self.last_time = times.last().copied().or(self.last_time);
        self.is_newest_first.unwrap_or_else(|| {
            let role = |turn: Option<&Turn>| turn.is_some_and(|turn| turn.role == "user");
            !role(turns.first()) && role(turns.last())
        })
    }
}

/// Name of the field that stores the app in which a prompt was entered.
const CLIENT_APP: &str = "client_app";

fn turn(header: &Header, columns: &Columns, row: Row, time: Option<Timestamp>, pointer: String) -> Turn {
    let author = row.cell(columns.author).trim();
    let role = match columns.layout {
        Layout::Prompts => "user",
        Layout::Messages => columns::role(author).unwrap_or("unknown"),
    };
    let text = row.cell(columns.text).to_owned();
    let mut fields: Fields = header.other_cells(&row, &columns.read_columns());
    if role == "unknown" && !author.is_empty() {
        fields.insert("author".into(), author.into());
    }
    let client_app = row.cell(columns.client_app).trim();
    if columns.layout == Layout::Prompts {
        fields.insert(CLIENT_APP.into(), client_app.into());
    }
    let time_text = time.map_or_else(|| row.cell(columns.time).trim().to_owned(), |time| time.to_rfc3339());
    Turn {
        key: Some(content_id(&format!("{time_text}\n{role}\n{client_app}\n{text}"))),
        role: role.into(),
        text,
        content_type: "text".into(),
        times: Times { created: time, ..Times::default() },
        pointer,
        verbatim: Some(csv(&row.raw)),
        fields,
        ..Turn::default()
    }
}

fn csv(text: &str) -> Verbatim {
    Verbatim { media_type: "text/csv".into(), text: text.to_owned() }
}
