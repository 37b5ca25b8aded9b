//! Reads a row of LLM's table of responses: a prompt with its response.
use mementory_formats_shared::any_time::text_time;
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::content::Content;
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, USER};
use mementory_formats_shared::sqlite_rows::{Row, row_text, text_in};
use mementory_model::{Times, Verbatim};
use serde_json::Value;

/// Names of the members or tables with fragments: texts that LLM puts before the prompt or the system prompt.
pub(super) const PROMPT_FRAGMENTS: &str = "prompt_fragments";
pub(super) const SYSTEM_FRAGMENTS: &str = "system_fragments";
/// Text between fragments, and between the last fragment and a prompt or system prompt.
pub(super) const PROMPT_SEPARATOR: &str = "\n";
pub(super) const SYSTEM_SEPARATOR: &str = "\n\n";

/// Columns that contain or repeat what was sent to the model.
const SENT_COLUMNS: [&str; 3] = ["prompt", "system", "prompt_json"];

/// Adds the messages of a row: its system prompt, unless the previous row had the same one, its prompt and its
/// response. The verbatim of a response does not contain the prompt, so erasing the prompt erases its text completely.
pub(super) fn add_turns(mut row: Row, table: &str, last_system: &mut Option<String>, out: &mut Vec<Turn>) {
    let id = text_in(&row, "id").unwrap_or_else(|| row.get("id").map(Value::to_string).unwrap_or_default());
    let times = Times { created: text_in(&row, "datetime_utc").as_deref().and_then(text_time), ..Times::default() };
    let model = text_in(&row, "resolved_model").or_else(|| text_in(&row, "model"));
    let pointer = format!("{table}/{id}");
    let turn = |role: &str, text: &str, source: String| Turn {
        id: Some(format!("{id}/{role}")),
        role: role.into(),
        text: text.to_owned(),
        content_type: if role == SYSTEM { "context".into() } else { "text".into() },
        hidden: role == SYSTEM,
        model: model.clone().filter(|_| role == ASSISTANT),
        times: times.clone(),
        pointer: pointer.clone(),
        verbatim: Some(Verbatim::json(source)),
        ..Turn::default()
    };
    let system = text_in(&row, "system");
    if let Some(text) = system.as_ref().filter(|_| system != *last_system) {
        out.push(turn(SYSTEM, text, Value::from(text.as_str()).to_string()));
    }
    if let Some(prompt) = text_in(&row, "prompt") {
        out.push(turn(USER, &prompt, Value::from(prompt.as_str()).to_string()));
    }
    let response = text_in(&row, "response").unwrap_or_default();
    let mut content = Content::default();
    content.add_block("thinking", None, text_in(&row, "reasoning").unwrap_or_default());
    SENT_COLUMNS.iter().for_each(|name| {
        row.remove(*name);
    });
    let mut answer = turn(ASSISTANT, &response, row_text(row, |_| false));
    if !content.blocks.is_empty() {
        answer.fields.insert("blocks".into(), content.blocks.into());
    }
    out.push(answer);
    *last_system = system;
}
