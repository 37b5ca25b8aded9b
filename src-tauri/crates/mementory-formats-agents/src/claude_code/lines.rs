//! Reads one line of a log as a message.
use mementory_formats_shared::agent_content::{AgentContent, nested_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_model::Times;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A message.
    Message,
    /// A progress report of a running tool. Other lines can name it as their parent.
    Progress,
    /// Anything else about the session.
    Other,
}

pub(super) fn kind_of(line: &Object<'_>) -> LineKind {
    match line.text("type").as_deref() {
        Some("user" | "human" | "assistant" | "ai" | "system" | "attachment") => LineKind::Message,
        Some("progress") => LineKind::Progress,
        _ if line.has("uuid") && (line.has("message") || line.has("parentUuid")) => LineKind::Message,
        _ => LineKind::Other,
    }
}

/// The message in `lines`. An answer can be written as several lines, each with one or more of its blocks.
/// `is_subagent` is true for the log of a subagent, in which the prompt comes from another agent.
pub(super) fn message(lines: &[String], is_subagent: bool) -> (Turn, AgentContent) {
    let mut turn = Turn::default();
    let mut content = AgentContent::default();
    let mut merged = MergedBlocks::default();
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
        match content_of(&line, &message) {
            Some(raw) if lines.len() == 1 => content.push(raw),
            Some(raw) => merged.add(raw, message.text("stop_reason").as_deref() == Some("end_turn")),
            None => read_attachment(&line, &mut turn, &mut content),
        }
        if let Some(subtype) = line.non_blank_text("subtype") {
            turn.fields.insert("subtype".into(), subtype.as_ref().into());
        }
        mark_hidden_line(&line, is_subagent, &mut turn);
    }
    for block in &merged.blocks {
        if let Ok(raw) = serde_json::from_str::<&RawValue>(block) {
            content.push(raw);
        }
    }
    if turn.role == "user" && !turn.hidden {
        let only_results = content.text.trim().is_empty() && content.content_type() == "tool_result";
        if only_results {
            (turn.role, turn.hidden) = ("tool".into(), true);
        } else if content.separate_harness_text() {
            (turn.role, turn.hidden) = ("system".into(), true);
        }
    }
    let files = content.fill_session_turn(&mut turn);
    (turn, files)
}

/// True for the type of a line that the person wrote. Older versions wrote `human`.
pub(super) fn is_person(kind: &str) -> bool {
    matches!(kind, "user" | "human")
}

/// True for the type of a line of an answer. Older versions wrote `ai`.
pub(super) fn is_answer(kind: &str) -> bool {
    matches!(kind, "assistant" | "ai")
}

/// The content of a line. In some older lines, the message is a plain string.
fn content_of<'a>(line: &Object<'a>, message: &Object<'a>) -> Option<&'a RawValue> {
    let text = || line.raw_value("message").filter(|raw| raw.get().starts_with('"'));
    message.raw_value("content").or_else(|| line.raw_value("content")).or_else(text)
}

fn role_of(line: &Object<'_>) -> &'static str {
    let kind = line.text("type").unwrap_or_default();
    let role = line.object("message").and_then(|m| m.text("role").map(std::borrow::Cow::into_owned));
    let role = role.unwrap_or_default();
    if is_person(&kind) || kind.is_empty() && is_person(&role) {
        "user"
    } else if is_answer(&kind) || kind.is_empty() && is_answer(&role) {
        "assistant"
    } else {
        "system"
    }
}

/// Reads the text of an attachment or of an unknown line. An attachment that is a queued prompt counts as written by
/// the person.
fn read_attachment(line: &Object<'_>, turn: &mut Turn, content: &mut AgentContent) {
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
            let attachment_json = line.raw_value("attachment");
            content.text = raw.or(attachment_json).map(nested_text).unwrap_or_default();
        }
    }
}

/// Hides a turn that the program wrote with the role of the person, and gives it the role `system`. Also marks a turn
/// whose line reports an API error.
fn mark_hidden_line(line: &Object<'_>, is_subagent: bool, turn: &mut Turn) {
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

/// The blocks of an answer that is written as several lines. A line either adds blocks, or repeats the blocks of the
/// line before it with more text.
#[derive(Debug, Default)]
struct MergedBlocks {
    blocks: Vec<String>,
    seen: HashSet<String>,
    /// Positions of calls by their ids.
    calls: HashMap<String, usize>,
    /// Position of the first block of the last line.
    last_start: usize,
    /// True if the last line completed the answer, so that no block will be extended.
    is_final: bool,
}

impl MergedBlocks {
    fn add(&mut self, content: &RawValue, is_final: bool) {
        let items = mementory_formats_shared::object::list(content).unwrap_or_else(|| vec![content]);
        let last = self.blocks.get(self.last_start..).unwrap_or_default();
        let has_grown = !last.is_empty()
            && items.len() >= last.len()
            && !self.is_final
            && last.iter().zip(&items).all(|(old, new)| extends(old, new.get()));
        if has_grown {
            let start = self.last_start;
            for old in self.blocks.drain(start..) {
                self.seen.remove(&old);
            }
            self.calls.retain(|_, at| *at < start);
        }
        self.last_start = self.blocks.len();
        self.is_final = is_final;
        for item in items {
            let call = Object::parse(item.get())
                .filter(|block| block.text("type").as_deref() == Some("tool_use"))
                .and_then(|block| block.non_blank_text("id").map(|id| id.into_owned()));
            if let Some(block) = call.as_ref().and_then(|id| self.calls.get(id)).and_then(|at| self.blocks.get_mut(*at))
            {
                item.get().clone_into(block);
            } else if self.seen.insert(item.get().to_owned()) {
                self.calls.extend(call.map(|id| (id, self.blocks.len())));
                self.blocks.push(item.get().to_owned());
            }
        }
    }
}

/// True if the block `new` is a later version of the block `old`: it is equal, continues the text of `old`, or is the
/// same tool call.
fn extends(old: &str, new: &str) -> bool {
    let (Some(old_block), Some(new_block)) = (Object::parse(old), Object::parse(new)) else { return old == new };
    let kind = old_block.text("type");
    let member = match kind.as_deref() {
        Some("tool_use") => return kind == new_block.text("type") && old_block.text("id") == new_block.text("id"),
        Some("thinking") => "thinking",
        _ => "text",
    };
    match (old_block.text(member), new_block.text(member)) {
        (Some(before), Some(after)) => kind == new_block.text("type") && after.starts_with(before.as_ref()),
        _ => old == new,
    }
}
