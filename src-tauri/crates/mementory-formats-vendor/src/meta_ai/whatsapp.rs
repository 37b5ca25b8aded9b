//! Reads a chat or a group with Meta AI that WhatsApp exported as text: `[19.07.26, 10:00:00] Name: text` or
//! `19/07/2026, 10:00 - Name: text`. The language of the phone decides whether the day or the month comes first.
use super::page::send_chat;
use super::transcript::ASSISTANT;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::local_time::{INVISIBLE_CHARS, Order, Stamp, day_order};
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::roles::{self, PARTICIPANT, SYSTEM, USER};
use mementory_model::{Issue, Times, Verbatim};
use std::collections::BTreeSet;

/// Name of this layout. It is the version in the origin of records.
const LAYOUT: &str = "whatsapp";
/// Largest length in characters of the name of a speaker.
const MAX_NAME: usize = 60;

/// The parts of a line that begins a message.
struct Head<'l> {
    stamp: Stamp,
    /// Name of the speaker. None for a notice that the app wrote.
    speaker: Option<&'l str>,
    text: &'l str,
}

/// True if a text is the beginning of a chat or group in which Meta AI writes.
pub(super) fn is_chat(text: &str) -> bool {
    let first = text.lines().map(|line| line.trim_matches(INVISIBLE_CHARS)).find(|line| !line.trim().is_empty());
    if first.and_then(head_of).is_none() {
        return false;
    }
    text.lines().filter_map(head_of).any(|head| head.speaker == Some(ASSISTANT))
}

/// Reads a file as one conversation.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let source = reader.text(member)?;
    let stamps: Vec<Stamp> = source.lines().filter_map(head_of).map(|head| head.stamp).collect();
    let (order, is_certain) = day_order(&stamps);
    if !is_certain {
        let message = "the file does not show whether the day or the month comes first in its dates";
        reader.sink.note(Issue::new("date_order_unknown", &member.place, message));
    }
    if stamps.iter().any(|stamp| stamp.time(order).is_none()) {
        let message = "some times have a word or a date that is not known; their messages have no time";
        reader.sink.note(Issue::new("bad_time", &member.place, message));
    }
    let people = source.lines().filter_map(head_of).filter_map(|head| head.speaker).filter(|name| *name != ASSISTANT);
    // The file does not state which of several people exported it, so none of them gets the role of the user.
    let person = if people.collect::<BTreeSet<_>>().len() > 1 { PARTICIPANT } else { USER };
    let mut turns: Vec<Turn> = Vec::new();
    for (index, line) in source.lines().enumerate() {
        if let Some(head) = head_of(line) {
            let mut turn = turn(&head, line, order, person);
            turn.pointer = format!("line {}", index + 1);
            // The key does not contain the role, because a longer export may show that the chat has more people, which
            // changes the roles.
            let speaker = head.speaker.unwrap_or_default();
            turn.key = Some(content_id(&format!("{}\n{speaker}\n{}", turns.len(), head.text)));
            turns.push(turn);
        } else if let Some(last) = turns.last_mut() {
            last.text.push('\n');
            last.text.push_str(line);
            if let Some(verbatim) = &mut last.verbatim {
                verbatim.text.push('\n');
                verbatim.text.push_str(line);
            }
        }
    }
    for turn in &mut turns {
        turn.text.truncate(turn.text.trim_end().len());
    }
    // The id is made from the first line and not from its time. A longer export may show that the order of day and
    // month was guessed wrong, which changes all times.
    let first_line = source.lines().find(|line| head_of(line).is_some()).unwrap_or_default();
    let chat = Chat {
        id: Some(content_id(first_line.trim_matches(INVISIBLE_CHARS))),
        times: Times {
            created: turns.iter().find_map(|turn| turn.times.created),
            updated: turns.iter().rev().find_map(|turn| turn.times.created),
            ..Times::default()
        },
        verbatim: Some(Verbatim { media_type: "text/plain".into(), text: String::new() }),
        turns,
        is_log: true,
        ..Chat::default()
    };
    send_chat(reader, member, chat, LAYOUT)
}

/// Returns the turn of a message. `person` is the role of every speaker except Meta AI.
fn turn(head: &Head<'_>, line: &str, order: Order, person: &str) -> Turn {
    let role = match head.speaker {
        None => SYSTEM,
        Some(ASSISTANT) => roles::ASSISTANT,
        Some(_) => person,
    };
    let mut turn = Turn {
        role: role.into(),
        text: head.text.to_owned(),
        content_type: if role == SYSTEM { "context" } else { "text" }.into(),
        hidden: role == SYSTEM,
        // The local time of the phone, which is read as UTC, because the file does not state the time zone.
        times: Times { created: head.stamp.time(order), ..Times::default() },
        verbatim: Some(Verbatim { media_type: "text/plain".into(), text: line.to_owned() }),
        ..Turn::default()
    };
    if let Some(speaker) = head.speaker {
        turn.fields.insert("sender_name".into(), speaker.into());
    }
    turn
}

/// Parses a line that begins a message. None for any other line.
fn head_of(line: &str) -> Option<Head<'_>> {
    let line = line.trim_start_matches(INVISIBLE_CHARS);
    let (stamp, rest) = match line.strip_prefix('[') {
        Some(inside) => inside.split_once(']')?,
        None => line.split_once(" - ").or_else(|| line.split_once(" – "))?,
    };
    let stamp = Stamp::parse(stamp)?;
    let rest = rest.trim_start().trim_start_matches(INVISIBLE_CHARS);
    let named = rest.split_once(':').filter(|(name, after)| {
        let is_end = after.is_empty() || after.starts_with(char::is_whitespace);
        is_end && !name.trim().is_empty() && name.chars().count() <= MAX_NAME
    });
    Some(match named {
        Some((name, text)) => {
            let speaker = Some(name.trim_matches(INVISIBLE_CHARS).trim());
            Head { stamp, speaker, text: text.trim_start().trim_start_matches(INVISIBLE_CHARS) }
        }
        None => Head { stamp, speaker: None, text: rest },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mementory_model::Timestamp;

    #[test]
    fn lines_are_read_in_every_layout() {
        for (line, expected) in [
            ("[19.07.26, 10:00:00] Mirela: Hello", "2026-07-19T10:00:00Z"),
            ("\u{200e}[7/19/26, 1:46:27\u{202f}PM] Mirela: Hello", "2026-07-19T13:46:27Z"),
            ("19/07/2026, 10:00 - Mirela: Hello", "2026-07-19T10:00:00Z"),
            ("7/19/26, 12:05 AM - Mirela: Hello", "2026-07-19T00:05:00Z"),
            ("2026-07-19, 10:00 - Mirela: Hello", "2026-07-19T10:00:00Z"),
            ("[19.7.2026 klo 10.00.00] Mirela: Hello", "2026-07-19T10:00:00Z"),
            ("[2026/7/19 下午1:05:00] Mirela: Hello", "2026-07-19T13:05:00Z"),
        ] {
            let head = head_of(line);
            let (order, _) = day_order(&head.iter().map(|head| head.stamp).collect::<Vec<_>>());
            let time = head.as_ref().and_then(|head| head.stamp.time(order)).map(Timestamp::to_rfc3339);
            assert_eq!(time.as_deref(), Some(expected), "{line}");
            assert_eq!(head.map(|head| (head.speaker, head.text)), Some((Some("Mirela"), "Hello")), "{line}");
        }
        for line in ["Hello", "[1] Mirela: Hello", "10:00 - Mirela: Hello", "[99.99.99, 99:99] Mirela: Hello", ""] {
            assert!(head_of(line).is_none(), "{line}");
        }
    }

    #[test]
    fn only_a_chat_in_which_the_assistant_speaks_is_recognised() {
        let chat = "19/07/2026, 10:00 - Mirela: What eats slugs?\n19/07/2026, 10:01 - Meta AI: Hedgehogs.\nAnd frogs.";
        assert!(is_chat(chat));
        assert!(is_chat(&format!("{chat}\n19/07/2026, 10:02 - Jonas: Really?")));
        assert!(!is_chat("19/07/2026, 10:00 - Mirela: Hello\n19/07/2026, 10:01 - Jonas: Hello"));
        assert!(!is_chat(&format!("A note\n{chat}")));
    }
}
