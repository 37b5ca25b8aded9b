//! Session logs as JSON Lines. Each line is parsed separately, so a truncated or damaged line does not affect others.
//! One file can contain the turns of several conversations.
use super::agent_content::{AgentContent, InlineFile};
use super::chat::{Chat, ChatFile, Turn};
use super::json_head;
use super::object::Object;
use super::reader::{FileReader, ObjectElement};
use encoding_rs::Encoding;
use mementory_format::{AttachmentFile, Catalog, FormatError, Member};
use mementory_json::Elements;
use mementory_model::{DroppedAs, Kind, Timestamp};
use std::collections::HashMap;

/// Number of bytes at the start of a file that detection reads.
const HEAD_BYTES: usize = 64 << 10;
/// Number of lines at the start of a file that detection examines.
const HEAD_LINES: usize = 40;
/// Extensions of other files in agents' folders, which are never logs.
const NON_LOG_EXTENSIONS: [&str; 7] = ["html", "db", "vscdb", "png", "jpg", "csv", "toml"];

/// False if a file's name shows that it is not an agent's log.
pub fn may_be_log(member: &Member) -> bool {
    let ending = member.file_name().rsplit_once('.').map_or("", |(_, ending)| ending);
    !json_head::is_markdown_in_folder(member)
        && !NON_LOG_EXTENSIONS.iter().any(|other| ending.eq_ignore_ascii_case(other))
}

impl FileReader<'_> {
    /// Adds the size of a message to `used`, the size of its conversation so far. If the sum exceeds the limit for one
    /// element, reports the message as dropped and returns false. `what` is the word for a conversation in the report
    /// (`chat`, `session` …).
    pub fn add_message_size(
        &mut self,
        used: &mut u64,
        member: &Member,
        message: &ObjectElement<'_>,
        what: &str,
    ) -> bool {
        *used += message.text.len() as u64;
        if *used <= self.context.limits.element_bytes {
            return true;
        }
        let place = format!("{}#{}", member.place, message.pointer);
        let reason = format!("too_large: the {what} is larger than an element may be");
        self.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Message));
        false
    }

    /// Calls `read` for the elements of a JSON file, or for each line of a JSON Lines file.
    pub fn lines_or_elements(
        &mut self,
        member: &Member,
        keys: &[&str],
        kind: Kind,
        read: impl FnMut(&mut Self, &ObjectElement<'_>) -> Result<(), FormatError>,
    ) -> Result<u64, FormatError> {
        if head_lines(self.catalog, member).is_some() {
            return self.lines(member, kind, read);
        }
        Ok(self.elements(member, keys, kind, read)?.0)
    }

    /// JSON text of the object that encloses the arrays of elements, with each of these arrays replaced by `[]`. None
    /// if the text is too long, or if the file is truncated.
    pub fn wrapper(&mut self, member: &Member, keys: &[&str]) -> Result<Option<String>, FormatError> {
        let limits = &self.context.limits;
        self.catalog.read(member, |bytes| {
            let mut elements = Elements::new(bytes, limits).with_keys(keys);
            while let Ok(Some(_)) = elements.next() {}
            Ok(elements.wrapper().and_then(|text| Some(std::str::from_utf8(text).ok()?.trim().to_owned())))
        })
    }

    /// Sends the files inside a message to the sink.
    pub fn store_files(&mut self, member: &Member, content: &mut AgentContent) -> Result<(), FormatError> {
        for InlineFile { reference, bytes } in &mut content.files {
            let file = AttachmentFile::inside(&member.place, reference);
            self.sink.attachment(file, &mut bytes.as_slice())?;
            bytes.clear();
        }
        Ok(())
    }

    /// Sends a conversation and reports its issues.
    pub fn send_chat(&mut self, chat: Chat, file: ChatFile<'_>) -> Result<(), FormatError> {
        let mut issues = Vec::new();
        let unit = chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| self.sink.note(issue));
        self.sink.unit(unit)
    }
}

/// The first complete lines of a file in which each line is a JSON object. None for any other file, such as an array or
/// a JSON document that spans several lines.
pub fn head_lines(catalog: &Catalog, member: &Member) -> Option<Vec<String>> {
    let head = catalog.head(member, HEAD_BYTES).ok()?;
    let is_whole = head.len() < HEAD_BYTES;
    let (encoding, mark) = Encoding::for_bom(&head).unwrap_or((encoding_rs::UTF_8, 0));
    // Most files begin with another character, and decoding them takes longer than this look at it.
    let first = head.get(mark..)?.iter().find(|byte| !byte.is_ascii_whitespace());
    if encoding == encoding_rs::UTF_8 && first.is_some_and(|byte| byte.is_ascii() && *byte != b'{') {
        return None;
    }
    let (text, _) = encoding.decode_without_bom_handling(head.get(mark..)?);
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).take(HEAD_LINES + 1).collect();
    if lines.len() > HEAD_LINES || !is_whole && lines.len() > 1 {
        lines.pop();
    }
    let first = lines.first()?.trim();
    // In a JSON document that spans several lines, the first line is not a complete object. If the first line is longer
    // than the head, its end is unknown.
    let is_object = Object::parse(first).is_some();
    let is_cut = !is_whole && lines.len() == 1 && !is_object;
    let next_is_object = lines.get(1).is_some_and(|line| Object::parse(line.trim()).is_some());
    (is_object || next_is_object || is_cut && !first.trim_end().ends_with('{'))
        .then(|| lines.into_iter().map(|l| l.trim().to_owned()).collect())
}

/// Conversations whose lines may be interleaved in one file. They are in the order of their first lines.
#[derive(Debug, Default)]
pub struct Sessions {
    /// The conversations.
    pub chats: Vec<SessionChat>,
    position: HashMap<String, usize>,
    /// Total size of the lines so far, in bytes.
    bytes: u64,
}

/// A conversation whose lines are being read.
#[derive(Debug, Default)]
pub struct SessionChat {
    /// Key of the conversation in the file.
    pub key: String,
    /// The conversation.
    pub chat: Chat,
    /// Indexes of turns by their ids.
    pub turn_of: HashMap<String, usize>,
    /// Name of the file that contains the first line.
    pub container: String,
}

impl Sessions {
    /// The conversation with this key, which is created if it does not exist.
    pub fn get(&mut self, key: &str, container: &str) -> &mut SessionChat {
        let at = *self.position.entry(key.to_owned()).or_insert_with(|| {
            self.chats.push(SessionChat { key: key.into(), container: container.into(), ..SessionChat::default() });
            self.chats.len() - 1
        });
        &mut self.chats[at]
    }

    /// Counts the bytes of a line. Returns false if all conversations together would exceed `limit`.
    pub fn add_bytes_within(&mut self, bytes: usize, limit: u64) -> bool {
        if self.bytes + bytes as u64 > limit {
            return false;
        }
        self.bytes += bytes as u64;
        true
    }
}

impl SessionChat {
    /// Adds a turn, or replaces an earlier turn with the same id, because some programs write a line again when it
    /// changes.
    pub fn add_turn(&mut self, turn: Turn) {
        self.chat.note_time(turn.times.created);
        match turn.id.as_ref().and_then(|id| self.turn_of.get(id)) {
            Some(at) => self.chat.turns[*at] = turn,
            None => {
                if let Some(id) = &turn.id {
                    self.turn_of.insert(id.clone(), self.chat.turns.len());
                }
                self.chat.turns.push(turn);
            }
        }
    }
}

impl Chat {
    /// Extends the conversation's time range to include the time of a message.
    pub fn note_time(&mut self, time: Option<Timestamp>) {
        let Some(time) = time else { return };
        self.times.created = Some(self.times.created.map_or(time, |t| t.min(time)));
        self.times.updated = Some(self.times.updated.map_or(time, |t| t.max(time)));
    }
}

/// Parses a time: RFC 3339, or a number of seconds, milliseconds or microseconds since 1970, with or without quotes.
pub fn any_time(object: &Object<'_>, key: &str) -> Option<Timestamp> {
    let raw = object.raw_value(key)?.get().trim_matches('"');
    match raw.parse::<f64>() {
        Ok(number) if number.abs() >= 1e14 => Timestamp::from_seconds(number / 1e6),
        Ok(number) if number.abs() >= 1e11 => Timestamp::from_seconds(number / 1e3),
        Ok(number) if number > 0.0 => Timestamp::from_seconds(number),
        Ok(_) => None,
        Err(_) => object.timestamp(key),
    }
}
