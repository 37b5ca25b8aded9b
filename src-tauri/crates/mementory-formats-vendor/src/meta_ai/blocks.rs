//! Reads conversations in a page without tables. As in Meta's pages of messages, a block with the name of the speaker
//! is followed by blocks with the text and often with a time.
use super::page::{chat, send_chat};
use super::transcript::{self, Name};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::html;
use mementory_formats_shared::reader::FileReader;
use mementory_model::Verbatim;

/// Largest length in characters of a line that may be a time.
const MAX_TIME_LENGTH: usize = 40;

/// Reads a page line by line. A line that contains only a speaker begins a message.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let source = reader.text(member)?;
    let text = html::to_text_with_lines(&source);
    let mut open: (Option<Name>, Vec<Turn>) = (None, Vec::new());
    let mut finished_chats: Vec<Chat> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let pointer = || format!("line {}", number + 1);
        if let Some(name) = transcript::name(line) {
            let (before, turns) = std::mem::replace(&mut open, (Some(name), Vec::new()));
            if !turns.is_empty() {
                finished_chats.push(chat(before, turns.into_iter().map(finished).collect(), pointer()));
            }
        } else if let Some(role) = transcript::role(line) {
            open.1.push(Turn { role: role.into(), content_type: "text".into(), pointer: pointer(), ..Turn::default() });
        } else if let Some(turn) = open.1.last_mut() {
            turn.text.push_str(line);
            turn.text.push('\n');
        }
    }
    if !open.1.is_empty() {
        finished_chats.push(chat(open.0, open.1.into_iter().map(finished).collect(), String::new()));
    }
    for chat in finished_chats {
        let name = chat.fields.get("name").and_then(serde_json::Value::as_str).unwrap_or_default().to_owned();
        let verbatim = Some(Verbatim { media_type: "text/plain".into(), text: name });
        send_chat(reader, member, Chat { verbatim, ..chat }, "html")?;
    }
    Ok(())
}

/// Completes a message after its last line was added. If the last line is a time, it is moved from the text to a field.
/// It is not parsed, because it has no time zone.
fn finished(mut turn: Turn) -> Turn {
    let text = turn.text.trim().to_owned();
    turn.verbatim = Some(Verbatim { media_type: "text/plain".into(), text: text.clone() });
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", &text));
    if is_time(last) && !before.trim().is_empty() {
        turn.fields.insert("time_raw".into(), last.trim().into());
        turn.text = before.trim_end().to_owned();
    } else {
        turn.text = text;
    }
    turn
}

/// True for a short line with a year and a time of day.
fn is_time(line: &str) -> bool {
    let line = line.trim();
    let is_year = |part: &str| part.len() == 4 && (part.starts_with("20"));
    let has_year = line.split(|c: char| !c.is_ascii_digit()).any(is_year);
    let has_clock =
        line.as_bytes().windows(3).any(|w| matches!(w, [a, b':', c] if a.is_ascii_digit() && c.is_ascii_digit()));
    line.chars().count() <= MAX_TIME_LENGTH && has_year && has_clock
}
