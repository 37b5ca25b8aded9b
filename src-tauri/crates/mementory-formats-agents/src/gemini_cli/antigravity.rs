//! Reads transcripts of Antigravity. Each line is one step of the conversation.
use super::session::chat_file;
use mementory_format::{FormatError, Member, is_uuid};
use mementory_formats_shared::agent_content::{AgentContent, value_text};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_json::keys_of;
use mementory_model::{DroppedAs, Kind, Verbatim};
use std::collections::HashMap;

/// Name of the platform.
pub(super) const PLATFORM: &str = "antigravity";
/// Tags around the person's own words in a request.
const REQUEST_TAGS: (&str, &str) = ("<USER_REQUEST>", "</USER_REQUEST>");

/// True if one of the lines is a step of a conversation.
pub(super) fn is_transcript_of_lines(lines: &[String]) -> bool {
    const KEYS: [&str; 3] = ["step_index", "source", "type"];
    const TYPES: [&str; 2] = ["USER_INPUT", "PLANNER_RESPONSE"];
    lines.iter().any(|text| match Object::parse(text) {
        Some(line) => {
            let kind = line.text("type").unwrap_or_default();
            KEYS.iter().all(|key| line.has(key)) && TYPES.contains(&kind.as_ref())
        }
        // A line that is longer than the head of the file is cut off, so it is not valid JSON.
        None => {
            let keys = keys_of(text.as_bytes());
            let has_type = TYPES.iter().any(|kind| text.contains(&format!("\"{kind}\"")));
            has_type && KEYS.iter().all(|key| keys.has(key))
        }
    })
}

/// Reads a transcript as a conversation.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut chat = Chat { is_log: true, ..Chat::default() };
    let mut turn_of: HashMap<String, usize> = HashMap::new();
    let mut other_lines: Vec<String> = Vec::new();
    let mut bytes = 0;
    reader.lines(member, Kind::Message, |reader, line| {
        if !reader.add_message_size(&mut bytes, member, line, "transcript") {
            return Ok(());
        }
        let Some(mut turn) = turn_of_step(&line.object) else {
            other_lines.push(line.text.to_owned());
            return Ok(());
        };
        turn.pointer.clone_from(&line.pointer);
        turn.verbatim = Some(Verbatim::json(line.text));
        chat.note_time(turn.times.created);
        // A step is written again when its status changes. The later line replaces the earlier line.
        let earlier_position = turn.id.as_ref().and_then(|id| turn_of.get(id)).copied();
        if let Some(previous) = earlier_position.and_then(|at| chat.turns.get_mut(at)) {
            *previous = turn;
            return Ok(());
        }
        if let Some(id) = &turn.id {
            turn_of.insert(id.clone(), chat.turns.len());
        }
        chat.turns.push(turn);
        Ok(())
    })?;
    if chat.turns.is_empty() {
        let reason = "no_messages: this transcript has no step with content";
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
        return Ok(());
    }
    // The lines contain no conversation id, but the name of an enclosing folder does.
    chat.id = member.name.split('/').rev().skip(1).find(|folder| is_uuid(folder)).map(str::to_owned);
    if !other_lines.is_empty() {
        let text = other_lines.join("\n");
        chat.verbatim = Some(Verbatim { media_type: "application/x-ndjson".into(), text });
    }
    reader.send_chat(chat, ChatFile { platform: PLATFORM, ..chat_file(&member.place) })
}

/// The message in a step. None for a step without content.
fn turn_of_step(step: &Object<'_>) -> Option<Turn> {
    let (source, kind) = (step.text("source").unwrap_or_default(), step.text("type").unwrap_or_default());
    let text = step.text("content").unwrap_or_default();
    let mut content = AgentContent::default();
    let (role, hidden) = match (source.as_ref(), kind.as_ref()) {
        ("USER_EXPLICIT", _) => {
            let (person_text, added) = split_request(&text);
            content.text = person_text;
            content.push_block("context", None, added);
            ("user", false)
        }
        ("MODEL", "PLANNER_RESPONSE") => {
            content.push_block("thinking", None, step.text("thinking").unwrap_or_default());
            content.text = text.into_owned();
            ("assistant", false)
        }
        ("MODEL", _) => {
            content.push_block("tool_result", Some(kind.to_lowercase().as_str()), text);
            ("tool", true)
        }
        _ => {
            content.text = text.into_owned();
            ("system", true)
        }
    };
    for call in step.list("tool_calls").unwrap_or_default() {
        let Some(call) = Object::parse(call.get()) else { continue };
        let args =
            ["args", "arguments"].iter().find_map(|key| call.raw_value(key)).map_or_else(String::new, value_text);
        content.push_block("tool_call", call.non_blank_text("name").as_deref(), args);
    }
    if content.text.trim().is_empty() && content.blocks.is_empty() {
        return None;
    }
    let kind = content.content_type();
    let mut turn = Turn {
        id: step.raw_value("step_index").map(|raw| raw.get().trim_matches('"').to_owned()),
        role: role.into(),
        hidden: hidden || kind == "tool_call",
        ..Turn::default()
    };
    turn.times.created = any_time(step, "created_at");
    content.fill(&mut turn);
    if role == "system" {
        turn.content_type = "context".into();
    } else if role == "tool" {
        turn.content_type = "tool_result".into();
    }
    Some(turn)
}

/// Splits a request into the person's text and the text that the program added before and after it.
fn split_request(text: &str) -> (String, String) {
    let parts = text.split_once(REQUEST_TAGS.0).and_then(|(before, rest)| {
        let (person_text, after) = rest.rsplit_once(REQUEST_TAGS.1)?;
        Some((before, person_text, after))
    });
    match parts {
        Some((before, person_text, after)) => {
            let added = [before.trim(), after.trim()].join("\n");
            (person_text.trim().to_owned(), added.trim().to_owned())
        }
        None => (text.to_owned(), String::new()),
    }
}
