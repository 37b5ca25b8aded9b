//! Reads each history as one conversation, together with the summary in the same folder, if there is one.
use super::detect::{LINE_TYPES, Summaries};
use super::{FORMAT, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink, is_uuid};
use mementory_formats_shared::agent_content::{AgentContent, nested_text, push_text, value_text};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Issue, Kind, Link, RecordKey, Verbatim};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Reads all files of the claim. The summary of a session is stored as the verbatim of its conversation.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let summaries = Summaries::new(catalog);
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    reader.each_file(detected, |reader, member, role| match role {
        Role::Conversations => read_history(reader, member, summaries.summary_of(catalog, member)),
        Role::Sidecar => reader.pass_through(member, "", "sidecar"),
        _ => Ok(()),
    })
}

fn read_history(reader: &mut FileReader<'_>, member: &Member, summary: Option<&Member>) -> Result<(), FormatError> {
    let mut chat = Chat { is_log: true, ..Chat::default() };
    let mut parent = None;
    if let Some(summary) = summary {
        let text = reader.text(summary)?;
        match Object::parse(text.trim()) {
            Some(object) => {
                read_summary(&mut chat, &object, text.trim());
                parent = object.non_blank_text("parent_session_id").map(|t| t.into_owned());
            }
            None => reader.sink.note(Issue::new("malformed", &summary.place, "the summary of the session is not JSON")),
        }
    }
    let (limit, mut bytes, mut unknown_lines) = (reader.context.limits.element_bytes, 0, 0u64);
    reader.lines(member, Kind::Message, |reader, line| {
        bytes += line.text.len() as u64;
        if bytes > limit {
            let place = format!("{}#{}", member.place, line.pointer);
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        unknown_lines += u64::from(!LINE_TYPES.contains(&kind_of(&line.object).as_ref()));
        let (mut turn, mut content) = message(line.text, &line.object);
        reader.store_files(member, &mut content)?;
        turn.pointer.clone_from(&line.pointer);
        chat.turns.push(turn);
        Ok(())
    })?;
    if unknown_lines > 0 {
        let message =
            format!("{unknown_lines} lines are of kinds that are not known; they are kept as hidden messages");
        reader.sink.note(Issue::new("unknown_lines", &member.place, message));
    }
    if chat.id.is_none() {
        // The name of the folder is the id of the session.
        let folder = member.name.split('/').rev().nth(1).filter(|folder| is_uuid(folder));
        let prompt = chat.turns.iter().find(|t| t.role == "user").map(|t| content_id(&t.text));
        chat.id = folder.map(str::to_owned).or(prompt);
    }
    let file = ChatFile { format: FORMAT, platform: PLATFORM, version: None, container: &member.place };
    let mut issues = Vec::new();
    let mut unit = chat.into_unit(file, &mut issues);
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    if let (Some(record), Some(parent)) = (unit.records.first_mut(), parent) {
        let target = RecordKey::new(FORMAT, parent);
        record.links.push(Link { relation: "continues".into(), kind: Kind::Conversation, target });
    }
    reader.sink.unit(unit)
}

fn read_summary(chat: &mut Chat, summary: &Object<'_>, text: &str) {
    let info = summary.object("info").unwrap_or_default();
    let member = |object: &Object<'_>, key: &str| object.non_blank_text(key).map(|t| t.into_owned());
    chat.id = member(&info, "id");
    chat.source.project = member(&info, "cwd");
    let titles = ["title", "generated_title", "session_summary"];
    chat.title = titles.into_iter().find_map(|key| member(summary, key));
    chat.times.created = any_time(summary, "created_at");
    chat.times.updated = any_time(summary, "updated_at");
    chat.model = member(summary, "current_model_id");
    chat.verbatim = Some(Verbatim::json(text));
}

/// The type of a line. Older lines have a role instead.
fn kind_of<'a>(line: &Object<'a>) -> Cow<'a, str> {
    line.text("type").or_else(|| line.text("role")).unwrap_or_default()
}

fn message(text: &str, line: &Object<'_>) -> (Turn, AgentContent) {
    let mut turn = Turn { verbatim: Some(Verbatim::json(text)), ..Turn::default() };
    let kind = kind_of(line);
    // The program states a reason for a text that it added. The reason `interjection` is different: the person wrote
    // this text while the agent was working.
    let is_added = line.non_blank_text("synthetic_reason").is_some_and(|reason| reason != "interjection");
    turn.role = match kind.as_ref() {
        "user" if !is_added => "user",
        "assistant" | "reasoning" | "backend_tool_call" => "assistant",
        "tool_result" | "tool" => "tool",
        _ => "system",
    }
    .into();
    turn.model = line.non_blank_text("model_id").map(|t| t.into_owned());
    let mut content = AgentContent::default();
    match kind.as_ref() {
        "reasoning" => {
            for raw in line.list("summary").into_iter().flatten() {
                let words = Object::parse(raw.get()).and_then(|o| o.raw_value("text").map(value_text));
                push_text(&mut content.text, &words.unwrap_or_else(|| value_text(raw)));
            }
            if content.text.is_empty()
                && let Some(raw) = line.raw_value("content").or_else(|| line.raw_value("summary"))
            {
                content.text = value_text(raw);
            }
        }
        "backend_tool_call" => {
            let call = line.object("kind").unwrap_or_default();
            let name = call.non_blank_text("tool_type");
            let words =
                call.raw_value("action").or_else(|| line.raw_value("kind")).map_or_else(String::new, value_text);
            content.push_block("tool_call", name.as_deref().or(Some("tool")), words);
        }
        "tool_result" | "tool" => {
            let mut inner = AgentContent::read(line.raw_value("content"));
            content.files.append(&mut inner.files);
            let words = if inner.text.is_empty() {
                line.raw_value("content").map_or_else(String::new, value_text)
            } else {
                inner.text
            };
            content.push_block("tool_result", None, words);
        }
        _ => content = AgentContent::read(line.raw_value("content")),
    }
    let inline = line.object("reasoning").and_then(|r| r.non_blank_text("text").map(|t| t.into_owned()));
    if let Some(words) = inline {
        content.push_block("thinking", None, words);
    }
    if let Some(words) = line.non_blank_text("reasoning_content") {
        content.push_block("thinking", None, words);
    }
    for raw in line.list("tool_calls").into_iter().flatten() {
        let Some(call) = Object::parse(raw.get()) else { continue };
        let function = call.object("function");
        let call = function.as_ref().unwrap_or(&call);
        let arguments = call.raw_value("arguments").or_else(|| call.raw_value("input"));
        let name = call.non_blank_text("name");
        content.push_block(
            "tool_call",
            name.as_deref().or(Some("tool")),
            arguments.map_or_else(String::new, value_text),
        );
    }
    if !LINE_TYPES.contains(&kind.as_ref())
        && content.text.trim().is_empty()
        && content.blocks.is_empty()
        && let Ok(raw) = serde_json::from_str::<&RawValue>(text)
    {
        // In a line of an unknown kind, all strings become the text, so that it can be searched.
        content.text = nested_text(raw);
    }
    if turn.role == "user" && content.separate_harness_text() {
        turn.role = "system".into();
    }
    let files = content.fill_session_turn(&mut turn);
    if turn.role != "system" && kind == "reasoning" {
        turn.content_type = "thinking".into();
    }
    (turn, files)
}
