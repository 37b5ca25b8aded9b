//! Reads sessions of Kiro CLI, which was Amazon Q before: a saved session in one object, or the database with all of
//! them. The history has a prompt and its answer in each entry.
use super::shape::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::{first_time, text_time};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::{Content, nested_text};
use mementory_formats_shared::message::{first_text, report_no_message, send};
use mementory_formats_shared::object::{Object, content_id, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, TOOL, USER};
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{self, Row, Schema, each_row, report_other_tables, tables};
use mementory_model::{DroppedAs, Kind, Times, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::HashSet;

const PLATFORM: &str = "kiro";
/// The prompt that the program writes when the person interrupts a tool by a key.
const INTERRUPTED: &str = "The user interrupted the tool execution.";
/// Tables with sessions, the newer one first. Newer versions copy the sessions of the older table.
const TABLES: [&str; 2] = ["conversations_v2", "conversations"];

/// True for the database of the program.
pub(super) fn is_database(schema: &Schema) -> bool {
    let has = |table: &str, columns: &[&str]| schema.has_table(table, columns);
    // Other programs may have a table with such general names, so a second table is required.
    has("conversations_v2", &["key", "conversation_id", "value"])
        || has("conversations", &["key", "value"]) && has("auth_kv", &["key", "value"])
}

/// Sends a saved session.
pub(super) fn read_saved(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    send_session(files, member, &element.object, element.text, &element.pointer, None, Times::default())
}

/// Sends the sessions of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let mut seen = HashSet::new();
    for table in TABLES.into_iter().filter(|table| names.iter().any(|name| name == table)) {
        each_row(files, member, &database, table, |files, row, number| {
            let pointer = format!("{table}/row {number}");
            let place = format!("{}#{pointer}", member.place);
            let text = column(&row, "value").unwrap_or_default();
            let Some(state) = Object::parse(&text).filter(|state| state.has("history")) else {
                let reason = "no_messages: this session has no history";
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
                return Ok(());
            };
            let id = first_text(&state, &["conversation_id"]).unwrap_or_else(|| content_id(&text));
            if !seen.insert(id) {
                let reason = "duplicate: a session with the same id was read before it";
                files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Conversation));
                return Ok(());
            }
            let time = |name: &str| column(&row, name).as_deref().and_then(text_time);
            let times = Times { created: time("created_at"), updated: time("updated_at"), ..Times::default() };
            send_session(files, member, &state, &text, &pointer, column(&row, "key"), times)
        })?;
    }
    report_other_tables(files, member, &database, &names, |table| match table {
        _ if TABLES.contains(&table) => None,
        "auth_kv" => Some("it has keys of the account"),
        "history" => Some("it has commands of the shell"),
        _ => Some("it has no sessions"),
    });
    Ok(())
}

fn column(row: &Row, name: &str) -> Option<String> {
    match row.get(name)? {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// `folder` is the working folder, if it is stated beside the session.
fn send_session(
    files: &mut FileReader<'_>,
    member: &Member,
    state: &Object<'_>,
    text: &str,
    pointer: &str,
    folder: Option<String>,
    times: Times,
) -> Result<(), FormatError> {
    let history = state.raw_value("history").filter(|raw| raw.get().starts_with('['));
    // The other two members repeat the texts of the messages.
    let repeated = ["transcript", "tangent_state"].iter().filter_map(|key| Some((state.raw_value(key)?, "null")));
    let replaced: Vec<_> = history.map(|history| (history, "[]")).into_iter().chain(repeated).collect();
    let mut chat = Chat {
        id: first_text(state, &["conversation_id"]),
        times,
        is_log: true,
        pointer: pointer.to_owned(),
        verbatim: Some(Verbatim::json(with_replaced_values(text, &replaced))),
        ..Chat::default()
    };
    chat.source.project = folder;
    for (index, raw) in history.and_then(list).into_iter().flatten().enumerate() {
        let at = format!("{pointer}/history/{index}");
        let Some(entry) = Entry::parse(raw) else {
            report_no_message(files, member, &at);
            continue;
        };
        let state = entry.prompt.object("env_context").and_then(|context| context.object("env_state"));
        let folder = state.and_then(|state| first_text(&state, &["current_working_directory"]));
        chat.source.project = chat.source.project.take().or(folder);
        chat.turns.extend(entry.turns(raw, &at));
    }
    let found = || chat.turns.iter().filter_map(|turn| turn.times.created);
    let (first, last) = (found().min(), found().max());
    chat.times.created = chat.times.created.or(first);
    chat.times.updated = chat.times.updated.or(last);
    send(files, member, chat, PLATFORM, None)
}

/// A prompt and its answer.
struct Entry<'a> {
    prompt: Object<'a>,
    answer: Object<'a>,
    metadata: Object<'a>,
    raw_prompt: Option<&'a RawValue>,
    raw_answer: Option<&'a RawValue>,
}

impl<'a> Entry<'a> {
    /// An entry is an object, or in older versions a list of the prompt and the answer.
    fn parse(raw: &'a RawValue) -> Option<Self> {
        if let Some(pair) = list(raw) {
            let object = |at: usize| Object::parse(pair.get(at)?.get());
            return Some(Self {
                prompt: object(0)?,
                answer: object(1).unwrap_or_default(),
                metadata: Object::default(),
                raw_prompt: pair.first().copied(),
                raw_answer: pair.get(1).copied(),
            });
        }
        let entry = Object::parse(raw.get())?;
        let object = |key: &str| entry.object(key);
        Some(Self {
            prompt: object("user")?,
            answer: object("assistant").unwrap_or_default(),
            metadata: object("request_metadata").unwrap_or_default(),
            raw_prompt: entry.raw_value("user"),
            raw_answer: entry.raw_value("assistant"),
        })
    }

    /// The prompt, or the results of tools that were sent in its place, and the answer.
    fn turns(&self, raw: &RawValue, pointer: &str) -> Vec<Turn> {
        let answer = ["Response", "ToolUse"].iter().find_map(|key| self.answer.object(key));
        let id = answer.as_ref().and_then(|answer| first_text(answer, &["message_id"]));
        let mut prompt = self.prompt_turn();
        // The program removes the first entries of a long history, so the position of a prompt changes.
        prompt.key = id.as_ref().map(|id| format!("{id}/prompt"));
        prompt.pointer = format!("{pointer}/user");
        // Neither of the two has the text of the other, so that one of them can be erased alone.
        let without = |other: Option<&RawValue>| {
            let replaced: Vec<_> = other.into_iter().map(|other| (other, "null")).collect();
            Some(Verbatim::json(with_replaced_values(raw.get(), &replaced)))
        };
        prompt.verbatim = without(self.raw_answer);
        let Some(answer) = answer else { return vec![prompt] };
        let mut content = Content::default();
        content.add_text(&answer.text("content").unwrap_or_default());
        for call in answer.list("tool_uses").unwrap_or_default() {
            if let Some(call) = Object::parse(call.get()) {
                content.add_call(&call);
            }
        }
        let mut turn = turn_of(ASSISTANT, content);
        turn.id = id;
        turn.model = first_text(&self.metadata, &["model_id"]);
        turn.times.created = first_time(&self.metadata, &["stream_end_timestamp_ms", "request_start_timestamp_ms"]);
        turn.pointer = format!("{pointer}/assistant");
        turn.verbatim = without(self.raw_prompt);
        vec![prompt, turn]
    }

    fn prompt_turn(&self) -> Turn {
        let content = self.prompt.object("content").unwrap_or_default();
        let said = content.object("Prompt");
        let cancelled = content.object("CancelledToolUses");
        // A person who writes instead of allowing a tool cancels its calls. Otherwise the program wrote the prompt.
        let beside_cancelled = cancelled.as_ref().and_then(|cancelled| cancelled.text("prompt")).unwrap_or_default();
        let (notice, words) = match beside_cancelled == INTERRUPTED {
            true => (beside_cancelled, "".into()),
            false => ("".into(), said.as_ref().and_then(|said| said.text("prompt")).unwrap_or(beside_cancelled)),
        };
        let results = content.object("ToolUseResults").or(cancelled);
        let is_result = words.is_empty() && results.is_some();
        let mut found = Content::default();
        found.add_text(&words);
        found.add_block("context", None, notice);
        let results = results.and_then(|results| results.list("tool_use_results")).unwrap_or_default();
        for result in results.into_iter().filter_map(|raw| Object::parse(raw.get())) {
            let parts = result.list("content").unwrap_or_default();
            let texts = parts
                .into_iter()
                .filter_map(|raw| Object::parse(raw.get()))
                .filter_map(|part| ["Text", "Json"].iter().find_map(|key| part.raw_value(key)).map(nested_text));
            found.add_block("tool_result", None, texts.collect::<Vec<_>>().join("\n"));
        }
        let context = self.prompt.text("additional_context").unwrap_or_default();
        found.add_block("context", None, context);
        let mut turn = turn_of(if is_result { TOOL } else { USER }, found);
        turn.times.created = first_time(&self.prompt, &["timestamp"])
            .or_else(|| first_time(&self.metadata, &["request_start_timestamp_ms"]));
        turn
    }
}

fn turn_of(role: &str, content: Content) -> Turn {
    let content_type = content.content_type();
    let mut turn = Turn {
        role: role.into(),
        content_type: content_type.into(),
        hidden: content_type != "text",
        attachments: content.attachments(FORMAT_ID),
        ..Turn::default()
    };
    if !content.blocks.is_empty() {
        turn.fields.insert("blocks".into(), content.blocks.into());
    }
    turn.text = content.text;
    turn
}
