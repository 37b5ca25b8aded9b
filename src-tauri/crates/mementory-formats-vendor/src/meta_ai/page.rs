//! Reads conversations in a page of the Accounts Center. The cells of a table contain the name and the text of a
//! transcript, or a speaker and a text in each row.
use super::{
    PLATFORM, SCOPE,
    transcript::{self, Name},
};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    chat::{Chat, ChatFile, Turn},
    html::{self, RowError, RowKind, Rows},
    object::content_id,
    reader::FileReader,
};
use mementory_model::{DroppedAs, Issue, Kind, Times, Verbatim};

const CELL: RowKind = RowKind { name: "td", class: "" };

/// Reads a page cell by cell. Only one conversation is in memory at a time.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let (catalog, context) = (reader.catalog, reader.context);
    let mut open = OpenChat::default();
    catalog.read(member, |bytes| {
        let mut cells = Rows::new(bytes, CELL, &context.limits);
        loop {
            match cells.next_row() {
                Ok(Some(cell)) => {
                    if cell.is_cut {
                        let place = format!("{}#@{}", member.place, cell.offset);
                        let message = "the page ends inside this cell; what is there was read";
                        reader.sink.note(Issue::new("truncated", place, message));
                    }
                    if let Some(done) = open.add(&cell.html, cell.offset) {
                        send(reader, member, done)?;
                    }
                }
                Ok(None) => return Ok(()),
                Err(RowError::Io(error)) => return Err(FormatError::io(&member.place, error)),
                Err(RowError::TooLarge(offset)) => {
                    let place = format!("{}#@{offset}", member.place);
                    let reason = "too_large: this cell is larger than the limit";
                    reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
                }
            }
            reader.progress_in_file(member, cells.raw_bytes())?;
        }
    })?;
    send(reader, member, open)
}

/// A conversation of which not all cells have been read.
#[derive(Default)]
struct OpenChat {
    name: Option<Name>,
    turns: Vec<Turn>,
    /// Role of the speaker in the previous cell. The next cell contains the text.
    speaker: Option<&'static str>,
    /// Texts of cells that contain neither a name, nor a speaker, nor a message.
    other_texts: Vec<String>,
    /// Text of a transcript before its first speaker.
    heading: String,
    /// HTML of the cells that contain no messages.
    source: String,
    offset: u64,
}

impl OpenChat {
    /// Adds a cell. If the cell begins a new conversation, returns the previous conversation.
    fn add(&mut self, cell: &str, offset: u64) -> Option<OpenChat> {
        let text = html::to_text_with_lines(cell);
        let mut finished_chat = None;
        if let Some(name) = transcript::name(&text) {
            // On some pages, the cell with the name of a transcript comes before the cell with its text.
            if self.name.is_some() || !self.turns.is_empty() {
                finished_chat = Some(std::mem::take(self));
            }
            self.name = Some(name);
            self.offset = offset;
            self.source.push_str(cell);
            return finished_chat;
        }
        if let Some(role) = transcript::role(&text) {
            self.speaker = Some(role);
            self.source.push_str(cell);
            return None;
        }
        if let Some(role) = self.speaker.take() {
            self.push(role, text, cell, offset);
            return None;
        }
        let turns = transcript::turns(&text);
        if turns.is_empty() {
            if !text.trim().is_empty() {
                self.other_texts.push(text);
            }
            self.source.push_str(cell);
            return None;
        }
        // Each transcript is a separate conversation, even if no name comes before it.
        if !self.turns.is_empty() {
            finished_chat = Some(std::mem::take(self));
        }
        if self.name.is_none() {
            self.offset = offset;
        }
        // Only the verbatim of the messages contains the text of this cell, so erasing a message erases its text
        // completely.
        self.heading = transcript::heading(&text);
        for (role, text) in turns {
            let verbatim = Some(Verbatim { media_type: "text/plain".into(), text: text.clone() });
            let turn = Turn { verbatim, ..turn(role, text, offset) };
            self.turns.push(turn);
        }
        finished_chat
    }

    fn push(&mut self, role: &'static str, text: String, cell: &str, offset: u64) {
        let verbatim = Some(Verbatim { media_type: "text/html".into(), text: cell.to_owned() });
        self.turns.push(Turn { verbatim, ..turn(role, text, offset) });
    }
}

fn turn(role: &str, text: String, offset: u64) -> Turn {
    Turn { role: role.into(), text, content_type: "text".into(), pointer: format!("@{offset}"), ..Turn::default() }
}

fn send(reader: &mut FileReader<'_>, member: &Member, open: OpenChat) -> Result<(), FormatError> {
    if open.turns.is_empty() {
        let place = format!("{}#@{}", member.place, open.offset);
        if open.name.is_some() {
            let reason = "no_content: nobody speaks in this conversation";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
        } else if !open.other_texts.is_empty() {
            let reason = "not_understood: a table without a conversation";
            reader.report_dropped(place, DroppedAs::Skipped, reason, None);
        }
        return Ok(());
    }
    let chat = chat(open.name, open.turns, format!("@{}", open.offset));
    let source = Some(Verbatim { media_type: "text/html".into(), text: open.source });
    let mut chat = Chat { verbatim: source, ..chat };
    if !open.heading.is_empty() {
        chat.fields.insert("heading".into(), open.heading.into());
    }
    if !open.other_texts.is_empty() {
        chat.fields.insert("other_cells".into(), open.other_texts.into());
    }
    send_chat(reader, member, chat, "html")
}

/// Returns a conversation. Its id is made from the first message and from `name`, such as `Conversation with Meta
/// AI_04-17-2026_1776479869`.
pub(super) fn chat(name: Option<Name>, turns: Vec<Turn>, pointer: String) -> Chat {
    let first = turns.first().map_or("", |turn| turn.text.as_str());
    let stem = name.as_ref().map_or("", |name| name.stem.as_str());
    let id = content_id(&format!("{stem}\n{first}"));
    let mut chat = Chat {
        id: Some(id),
        times: Times { created: name.as_ref().and_then(|name| name.time), ..Times::default() },
        pointer,
        turns,
        ..Chat::default()
    };
    if let Some(name) = name {
        chat.fields.insert("name".into(), name.stem.into());
    }
    chat
}

pub(super) fn send_chat(
    reader: &mut FileReader<'_>,
    member: &Member,
    chat: Chat,
    layout: &str,
) -> Result<(), FormatError> {
    let file = ChatFile { format: SCOPE, platform: PLATFORM, version: Some(layout), container: &member.place };
    let mut issues = Vec::new();
    let unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    reader.sink.unit(unit)
}
