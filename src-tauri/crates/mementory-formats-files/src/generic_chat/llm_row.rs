//! Reads a row of LLM's table of responses: a prompt with its response.
use super::FORMAT_ID;
use super::llm_parts::{Named, Parts, SentFiles};
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::content::Content;
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_formats_shared::sqlite_rows::{Row, row_text, text_in};
use mementory_model::{Times, Verbatim};
use serde_json::{Value, json};

/// Separator between the fragments of a system prompt, and between the fragments and the text of the prompt.
pub(super) const SYSTEM_SEPARATOR: &str = "\n\n";

/// Columns that contain or repeat the texts that were sent to the model.
const SENT_COLUMNS: [&str; 3] = ["prompt", "system", "prompt_json"];

/// Adds the messages of a row: its system prompt (unless the previous row had the same one), the results of tools, its
/// prompt and its response. The files of the prompt are added to `sent_files`. The verbatim of a response does not
/// contain the prompt, so erasing the prompt erases its text completely.
pub(super) fn add_turns(
    mut row: Row,
    parts: Parts,
    table: &str,
    last_system: &mut Option<String>,
    sent_files: &mut SentFiles,
    out: &mut Vec<Turn>,
) {
    let id = text_in(&row, "id").unwrap_or_else(|| row.get("id").map(Value::to_string).unwrap_or_default());
    let times = Times { created: text_in(&row, "datetime_utc").as_deref().and_then(text_time), ..Times::default() };
    let model = text_in(&row, "resolved_model").or_else(|| text_in(&row, "model"));
    let pointer = format!("{table}/{id}");
    let turn = |role: &str, content: Content, source: String| {
        let mut turn = Turn {
            id: Some(format!("{id}/{role}")),
            role: role.into(),
            content_type: if role == SYSTEM { "context".into() } else { content.content_type().into() },
            hidden: matches!(role, SYSTEM | TOOL),
            model: model.clone().filter(|_| role == ASSISTANT),
            times: times.clone(),
            pointer: pointer.clone(),
            verbatim: Some(Verbatim::json(source)),
            ..Turn::default()
        };
        content.put_into(&mut turn, FORMAT_ID);
        turn
    };
    // LLM sends the fragments before the system prompt.
    let system_texts = parts.system_fragments.into_iter().map(|(_, text)| text).chain(text_in(&row, "system"));
    let system = Some(system_texts.collect::<Vec<_>>().join(SYSTEM_SEPARATOR)).filter(|text| !text.is_empty());
    if let Some(text) = system.as_ref().filter(|_| system != *last_system) {
        let content = Content { text: text.clone(), ..Content::default() };
        out.push(turn(SYSTEM, content, Value::from(text.as_str()).to_string()));
    }
    if !parts.results.is_empty() {
        let source = named_source("name", "output", &parts.results).to_string();
        out.push(turn(TOOL, blocks("tool_result", parts.results), source));
    }
    let prompt = prompt(text_in(&row, "prompt"), parts.fragments);
    if prompt.is_some() || !parts.files.is_empty() {
        sent_files.extend(parts.files.into_iter().map(|id| (out.len(), id)));
        let (content, source) = prompt.unwrap_or_else(|| (Content::default(), "\"\"".into()));
        out.push(turn(USER, content, source));
    }
    let mut answer = Content { text: text_in(&row, "response").unwrap_or_default(), ..Content::default() };
    answer.add_block("thinking", None, text_in(&row, "reasoning").unwrap_or_default());
    if !parts.calls.is_empty() {
        row.insert("tool_calls".into(), named_source("name", "arguments", &parts.calls));
    }
    answer.blocks.extend(blocks("tool_call", parts.calls).blocks);
    SENT_COLUMNS.iter().for_each(|name| {
        row.remove(*name);
    });
    out.push(turn(ASSISTANT, answer, row_text(row, |_| false)));
    *last_system = system;
}

/// The content of a prompt, and its source.
fn prompt(words: Option<String>, fragments: Vec<Named>) -> Option<(Content, String)> {
    let source = match fragments.is_empty() {
        true => Value::from(words.as_deref().unwrap_or_default()).to_string(),
        false => {
            let texts = named_source("source", "content", &fragments);
            format!("{{\"fragments\":{texts},\"prompt\":{}}}", Value::from(words.as_deref().unwrap_or_default()))
        }
    };
    Some((prompt_content(words, fragments)?, source))
}

/// The content of a prompt and its fragments. If the prompt has words, the fragments become blocks, each with its name.
/// Otherwise, the texts of the fragments are the text of the prompt. None if there are neither words nor fragments.
pub(super) fn prompt_content(words: Option<String>, fragments: Vec<Named>) -> Option<Content> {
    match words {
        Some(text) => Some(Content { text, ..blocks("context", fragments) }),
        None if fragments.is_empty() => None,
        None => {
            let texts: Vec<String> = fragments.into_iter().map(|(_, text)| text).collect();
            Some(Content { text: texts.join("\n"), ..Content::default() })
        }
    }
}

fn blocks(kind: &str, texts: Vec<Named>) -> Content {
    let mut content = Content::default();
    texts.into_iter().for_each(|(name, text)| content.add_block(kind, name, text));
    content
}

/// Returns the names and texts as JSON objects with these two keys, like the rows of the table that contained them.
fn named_source(name_key: &str, text_key: &str, texts: &[Named]) -> Value {
    texts.iter().map(|(name, text)| json!({ name_key: name, text_key: text })).collect()
}
