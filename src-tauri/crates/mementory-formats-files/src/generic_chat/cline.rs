//! The messages that Cline or Roo Code showed on the screen during a task (`ui_messages.json`): statements and
//! questions of the agent, and answers of the person.
use super::head_values::values_of;
use mementory_format::{Catalog, FormatError, Member, Part, Role};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::files::{Folder, folder_of};
use mementory_formats_shared::message::{first_text, report_no_message, send};
use mementory_formats_shared::object::{Object, decode_string};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_formats_shared::{harness, harness_cline};
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::{Value, json, value::RawValue};
use std::collections::{HashMap, HashSet};

pub(super) const PLATFORM: &str = "cline";
/// Values of `say` in lines about requests to the model and about copies of the workspace. These lines are left out,
/// because each request repeats the whole conversation.
const PROGRESS: [&str; 9] = [
    "api_req_started",
    "api_req_finished",
    "api_req_retried",
    "api_req_retry_delayed",
    "api_req_deleted",
    "deleted_api_reqs",
    "checkpoint_created",
    "checkpoint_saved",
    "shell_integration_warning",
];

/// Values of `say` and `ask` that only tasks have.
const EVENT_NAMES: [&str; 6] =
    ["api_req_started", "completion_result", "user_feedback", "command_output", "followup", "task"];

/// True if the start of a list contains lines of a task. A short task may have only texts and tools. Other files have
/// these words too, so in a line of such a task, `type` must be the name of the member.
pub(super) fn is_task(text: &str) -> bool {
    let [says, asks] = ["\"say\"", "\"ask\""].map(|key| values_of(text, key));
    let types = || values_of(text, "\"type\"");
    says.iter().chain(&asks).any(|word| EVENT_NAMES.contains(word))
        || says.contains(&"text") && types().contains(&"say")
        || asks.contains(&"tool") && types().contains(&"ask")
}

/// The messages of one task.
#[derive(Default)]
pub(super) struct Task {
    turns: Vec<Turn>,
    has_task: bool,
    progress_count: u64,
    bytes: u64,
}

impl Task {
    /// Adds the turn of one line that the screen showed.
    pub(super) fn add(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let object = &element.object;
        self.bytes += element.text.len() as u64;
        if self.bytes > files.context.limits.element_bytes {
            let place = format!("{}#{}", member.place, element.pointer);
            let reason = "too_large: the messages are larger together than an element may be";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        let is_question = object.text("type").as_deref() == Some("ask");
        let Some(word) = first_text(object, if is_question { &["ask", "say"] } else { &["say", "ask"] }) else {
            report_no_message(files, member, &element.pointer);
            return Ok(());
        };
        if PROGRESS.contains(&word.as_str()) {
            self.progress_count += 1;
            return Ok(());
        }
        let mut turn = self.turn(&word, is_question, object);
        turn.id = first_text(object, &["ts"]);
        // Two lines may have the same time, so the key also contains the value of `say` or `ask`.
        turn.key = turn.id.as_ref().map(|id| format!("{id}/{word}"));
        turn.times.created = first_time(object, &["ts"]);
        turn.model = object
            .object("modelInfo")
            .and_then(|info| first_text(&info, &["modelId"]))
            .filter(|_| turn.role == ASSISTANT);
        let mut content = Content::default();
        ["images", "files"].iter().filter_map(|key| object.raw_value(key)).for_each(|raw| content.add_files(raw));
        turn.attachments = content.attachments(files.format);
        turn.pointer = element.pointer.clone();
        turn.verbatim = Some(Verbatim::json(element.text));
        self.turns.push(turn);
        Ok(())
    }

    fn turn(&mut self, word: &str, is_question: bool, object: &Object<'_>) -> Turn {
        let text = object.text("text").unwrap_or_default().into_owned();
        // In older versions, the task is an ordinary text on the first line.
        let is_task = !self.has_task && !is_question && matches!(word, "task" | "text");
        self.has_task |= is_task;
        let (role, content_type, hidden) = match word {
            _ if is_task => (USER, "text", false),
            "user_feedback" => (USER, "text", false),
            // A change that the person made in a file, as JSON. It is not text that the person typed.
            "user_feedback_diff" => (SYSTEM, "context", true),
            "text" | "completion_result" if !text.is_empty() => (ASSISTANT, "text", false),
            "followup" | "plan_mode_respond" | "mistake_limit_reached" if is_question => (ASSISTANT, "text", false),
            "reasoning" => (ASSISTANT, "thinking", true),
            "tool" | "command" | "use_mcp_server" | "browser_action" | "browser_action_launch" => {
                (ASSISTANT, "tool_call", true)
            }
            "command_output" | "mcp_server_response" | "browser_action_result" => (TOOL, "tool_result", true),
            // Other questions are answered with buttons, and all other values are unknown, so these lines are hidden.
            other => (SYSTEM, other, true),
        };
        let text = if is_question { question(&text).unwrap_or(text) } else { text };
        Turn { role: role.into(), content_type: content_type.into(), hidden, text, ..Turn::default() }
    }

    /// Sends the task as a conversation. Its id is the time of its first line, which Cline also uses as the task's id.
    /// `item` is the file that describes the task.
    pub(super) fn send(
        self,
        files: &mut FileReader<'_>,
        member: &Member,
        item: Option<&Member>,
    ) -> Result<(), FormatError> {
        if self.progress_count > 0 {
            let reason = format!("progress: {} lines about requests and copies of the workspace", self.progress_count);
            files.report_dropped(member.place.clone(), DroppedAs::Skipped, &reason, None);
        }
        if self.turns.is_empty() {
            return Ok(());
        }
        let times = || self.turns.iter().filter_map(|turn| turn.times.created);
        let mut chat = Chat { is_log: true, ..Chat::default() };
        (chat.times.created, chat.times.updated) = (times().min(), times().max());
        let item = item.and_then(|item| files.catalog.bytes(item, MAX_ITEM_BYTES).ok());
        let item = item.and_then(|bytes| String::from_utf8(bytes).ok());
        chat.source.project =
            item.as_deref().and_then(Object::parse).and_then(|item| first_text(&item, &["workspace"]));
        chat.id = self.turns.first().and_then(|turn| turn.id.clone());
        chat.key = chat.id.as_ref().map(|id| format!("{PLATFORM}/{id}"));
        chat.turns = self.turns;
        send(files, member, chat, PLATFORM, None)
    }
}

/// The text of a question that is stored as JSON.
fn question(text: &str) -> Option<String> {
    let object = Object::parse(text)?;
    first_text(&object, &["question", "response"])
}

/// Moves the texts that Cline or Roo Code added to a message of the person into blocks of type `context`. A message in
/// which the person says nothing becomes the result of a tool, or a hidden message of the system.
pub(super) fn separate_added_text(turn: &mut Turn) {
    if turn.role == USER && harness::is_program_message(&turn.text) {
        let (role, content_type) = (SYSTEM.to_owned(), "context".to_owned());
        (turn.role, turn.content_type, turn.hidden) = (role, content_type, true);
    }
    if turn.role != USER || !harness_cline::is_cline_message(&turn.text) {
        return;
    }
    let blocks = text_blocks(turn);
    let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
    let (person_text, added_blocks) = harness_cline::split_cline(&blocks);
    let blocks = turn.fields.get("blocks").and_then(Value::as_array);
    let has_result = blocks.is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"));
    if person_text.trim().is_empty() && !has_result {
        let (role, content_type) = (SYSTEM.to_owned(), "context".to_owned());
        (turn.role, turn.content_type, turn.hidden) = (role, content_type, true);
        turn.text = added_blocks.join("\n\n");
        return;
    }
    if person_text.trim().is_empty() {
        let (role, content_type) = (TOOL.to_owned(), "tool_result".to_owned());
        (turn.role, turn.content_type, turn.hidden) = (role, content_type, true);
    }
    turn.text = person_text;
    let mut blocks = blocks.cloned().unwrap_or_default();
    blocks.extend(added_blocks.into_iter().map(|text| json!({"type": "context", "text": text})));
    turn.fields.insert("blocks".into(), Value::Array(blocks));
}

/// The text blocks that were joined to the text of a message, or the whole text if the source has no such blocks.
fn text_blocks(turn: &Turn) -> Vec<String> {
    let source = turn.verbatim.as_ref().and_then(|verbatim| Object::parse(&verbatim.text));
    let parts = source.and_then(|source| source.list("content")).unwrap_or_default();
    let text_of = |raw: &RawValue| match decode_string(raw) {
        Some(text) => Some(text.into_owned()),
        None => Object::parse(raw.get())?.text("text").map(|text| text.into_owned()),
    };
    // A picture counts as an empty text and is not removed, because it may be the result that belongs to a heading.
    let texts: Vec<String> = parts.into_iter().map(|raw| text_of(raw).unwrap_or_default()).collect();
    let non_blank_texts: Vec<&str> = texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
    if non_blank_texts.join("\n\n") == turn.text { texts } else { vec![turn.text.clone()] }
}

/// Name of the file in which Roo Code describes a task, next to its messages.
pub(super) const ITEM_FILE: &str = "history_item.json";
/// Names of files next to the messages of a task that contain no messages.
const TASK_FILES: [&str; 2] = [ITEM_FILE, "task_metadata.json"];
/// Name of the file in which Roo Code lists all tasks, above their folders.
const INDEX_FILE: &str = "_index.json";
/// Largest size of the description of a task.
const MAX_ITEM_BYTES: u64 = 1 << 20;

/// Files without messages that describe tasks, by folder.
pub(super) type DescribingFiles<'c> = HashMap<Folder<'c>, Vec<&'c Member>>;

/// The files of a catalog that describe tasks.
pub(super) fn describing_files(catalog: &Catalog) -> DescribingFiles<'_> {
    let mut out = DescribingFiles::new();
    let is_one = |member: &Member| member.file_name() == INDEX_FILE || TASK_FILES.contains(&member.file_name());
    for member in catalog.members().iter().filter(|member| is_one(member)) {
        out.entry(folder_of(member)).or_default().push(member);
    }
    out
}

/// The files without messages that belong to the task in a folder. The list of all tasks belongs to the first task, so
/// its id is added to `used`.
pub(super) fn companions(files: &DescribingFiles<'_>, messages: &Member, used: &mut HashSet<usize>) -> Vec<Part> {
    let place @ (root, archive, path) = folder_of(messages);
    let above = (root, archive, path.rsplit_once('/').map_or("", |(above, _)| above));
    let in_folder = files.get(&place).into_iter().flatten().filter(|member| member.file_name() != INDEX_FILE);
    let lists = files.get(&above).into_iter().flatten().filter(|member| member.file_name() == INDEX_FILE);
    let found = in_folder.chain(lists).filter(|member| used.insert(member.id));
    let mut out: Vec<Part> = found.map(|member| Part { member: member.id, role: Role::Sidecar }).collect();
    out.sort_by_key(|part| part.member);
    out
}

/// Name of a file in the same folder. This file contains the same conversation in the form in which the model received
/// it.
pub(super) const MODEL_FILE: &str = "api_conversation_history.json";
