//! One line of a log → a message.
use crate::shared::agent_content::{AgentContent, nested_text};
use crate::shared::chat::Turn;
use crate::shared::jsonl_session::any_time;
use crate::shared::object::Object;
use mementory_model::Times;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A message.
    Message,
    /// A report on a running tool. Other lines can have it as their parent.
    Progress,
    /// Anything else about the session.
    Other,
}

pub(super) fn kind_of(line: &Object<'_>) -> LineKind {
    match line.text("type").as_deref() {
        Some("user" | "assistant" | "system" | "attachment") => LineKind::Message,
        Some("progress") if line.has("uuid") => LineKind::Progress,
        _ if line.has("uuid") && (line.has("message") || line.has("parentUuid")) => LineKind::Message,
        _ => LineKind::Other,
    }
}

/// The message in the lines of one answer. Each line has one or more of its blocks. `is_subagent` is true in the log of a
/// subagent, whose prompt another agent wrote.
pub(super) fn message(lines: &[String], is_subagent: bool) -> (Turn, AgentContent) {
    let mut turn = Turn::default();
    let mut content = AgentContent::default();
    let mut blocks_seen: Vec<String> = Vec::new();
    for (n, text) in lines.iter().enumerate() {
        let Some(line) = Object::parse(text) else { continue };
        if n == 0 {
            turn.role = role_of(&line).into();
        }
        let message = line.object("message").unwrap_or_default();
        let time = any_time(&line, "timestamp");
        turn.times = Times {
            created: turn.times.created.or(time),
            updated: turn.times.updated.or(time.filter(|t| n > 0 && Some(*t) != turn.times.created)),
            ..Times::default()
        };
        let model = message.non_blank_text("model").filter(|m| m != "<synthetic>");
        turn.model = turn.model.take().or(model.map(Into::into));
        match message.raw_value("content").or_else(|| line.raw_value("content")) {
            // A later line can repeat the blocks of the ones before it.
            Some(raw) => {
                let items = crate::shared::object::list(raw).unwrap_or_else(|| vec![raw]);
                for item in items {
                    if lines.len() == 1 || !blocks_seen.iter().any(|seen| seen == item.get()) {
                        if lines.len() > 1 {
                            blocks_seen.push(item.get().to_owned());
                        }
                        content.push(item);
                    }
                }
            }
            None => attached(&line, &mut turn, &mut content),
        }
        if let Some(subtype) = line.non_blank_text("subtype") {
            turn.fields.insert("subtype".into(), subtype.as_ref().into());
        }
        is_hidden_line(&line, is_subagent, &mut turn);
    }
    if turn.role == "user" && !turn.hidden {
        let only_results = content.text.trim().is_empty() && content.content_type() == "tool_result";
        if only_results {
            (turn.role, turn.hidden) = ("tool".into(), true);
        } else if content.take_harness_text() {
            (turn.role, turn.hidden) = ("system".into(), true);
        }
    }
    let is_context = turn.role == "system";
    let files: Vec<_> = content.files.iter().map(|f| f.reference.clone()).collect();
    let sent_files = std::mem::take(&mut content.files);
    let kind = content.content_type();
    content.fill(&mut turn);
    turn.attachments = files;
    if is_context {
        turn.content_type = "context".into();
        turn.hidden = true;
    } else if matches!(kind, "tool_call" | "tool_result") {
        turn.hidden = true;
    }
    (turn, AgentContent { files: sent_files, ..AgentContent::default() })
}

fn role_of(line: &Object<'_>) -> &'static str {
    let kind = line.text("type").unwrap_or_default();
    let role = line.object("message").and_then(|m| m.text("role").map(std::borrow::Cow::into_owned));
    match (kind.as_ref(), role.as_deref()) {
        ("user", _) | ("", Some("user")) => "user",
        ("assistant", _) | ("", Some("assistant")) => "assistant",
        _ => "system",
    }
}

/// Text of an attachment or of an unknown line. A prompt that waited in the queue is the person's.
fn attached(line: &Object<'_>, turn: &mut Turn, content: &mut AgentContent) {
    let Some(attachment) = line.object("attachment") else {
        if let Some(raw) = ["toolUseResult", "data", "error", "text"].into_iter().find_map(|k| line.raw_value(k)) {
            content.text = nested_text(raw);
        }
        return;
    };
    if let Some(kind) = attachment.non_blank_text("type") {
        turn.fields.insert("attachment".into(), kind.as_ref().into());
    }
    let is_prompt = attachment.text("type").as_deref() == Some("queued_command")
        && attachment.text("commandMode").is_none_or(|mode| mode == "prompt")
        && !attachment.is_true("isMeta");
    match attachment.raw_value("prompt").filter(|_| is_prompt) {
        Some(prompt) => {
            turn.role = "user".into();
            content.push(prompt);
        }
        None => {
            let raw = ["content", "snippet", "message", "prompt"].into_iter().find_map(|k| attachment.raw_value(k));
            let whole = line.raw_value("attachment");
            content.text = raw.or(whole).map(nested_text).unwrap_or_default();
        }
    }
}

/// Marks lines that the program wrote in the person's name.
fn is_hidden_line(line: &Object<'_>, is_subagent: bool, turn: &mut Turn) {
    let origin = line.object("origin").and_then(|o| o.text("kind").map(std::borrow::Cow::into_owned));
    let is_added = ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"].into_iter().any(|k| line.is_true(k))
        || origin.is_some_and(|kind| kind != "human");
    let is_result = line
        .object("message")
        .and_then(|m| m.raw_value("content"))
        .is_some_and(|c| c.get().contains("\"tool_result\""));
    let is_foreign = (is_subagent || line.is_true("isSidechain")) && !is_result;
    if turn.role == "user" && (is_added || is_foreign) {
        (turn.role, turn.hidden) = ("system".into(), true);
    }
    if line.is_true("isApiErrorMessage") {
        turn.fields.insert("error".into(), true.into());
    }
}
