//! Reads logs in ATOF, the Agent Trajectory Observability Format of NVIDIA NeMo Relay and NeMo Agent Toolkit. Each line
//! begins or ends a scope of an agent's work, or marks a moment. Requests to a model and answers of it are scopes. A
//! request repeats the messages before it, so a message is added only once. Events may be written in any order, so they
//! are sorted by time.
use super::atof_scopes::Scopes;
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, push_text, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::message::report_no_message;
use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::values::id;
use mementory_model::{DroppedAs, Kind, Timestamp, Verbatim};
use serde_json::{Value, value::RawValue};
use std::collections::{HashMap, HashSet};

const PLATFORM: &str = "atof";
/// Beginning of the versions that this reader knows. Newer minor versions only add members.
const VERSION_PREFIX: &str = "0.";
/// Why an event of another version is not read.
const UNKNOWN_VERSION: &str = "a version of ATOF that is not known";
/// Lists of messages in the requests of the APIs of OpenAI and Anthropic, of Google, and of OpenAI's Responses.
const MESSAGE_LISTS: [&str; 3] = ["messages", "contents", "input"];
/// Members of a request that is only a text.
const PROMPT_KEYS: [&str; 2] = ["prompt", "input"];
/// Members of a request that instruct the model outside of the list of messages, in the APIs of Anthropic, of OpenAI's
/// Responses, and of Google. Google's libraries write them in the settings of the request.
const INSTRUCTION_KEYS: [&str; 4] = ["system", "instructions", "systemInstruction", "system_instruction"];
const SETTINGS_KEY: &str = "config";
/// Members of a response that is only a text.
const ANSWER_KEYS: [&str; 3] = ["output_text", "answer", "output"];

/// True if a line is an event of ATOF.
pub(super) fn is_event(line: &Object<'_>) -> bool {
    let kind = line.text("kind").unwrap_or_default();
    let is_known = kind == "mark" || kind == "scope" && line.has("scope_category");
    is_known && ["atof_version", "uuid", "timestamp"].into_iter().all(|key| line.has(key))
}

/// A log while its lines are read. A run of an agent is everything below a scope without a parent.
#[derive(Debug, Default)]
pub(super) struct AtofLog {
    lines: Vec<Line>,
    /// Pointers of the events whose version is not known.
    unsupported: Vec<String>,
    has_events: bool,
    scopes: Scopes,
    /// The runs in the order of their first events.
    runs: Vec<Run>,
    /// Position of each run, by the position of its scope.
    run_of: HashMap<usize, usize>,
}

/// A line that is read once all scopes are known.
#[derive(Debug)]
struct Line {
    text: String,
    pointer: String,
    /// Time of the event, or of the line before it if it has none.
    time: Option<Timestamp>,
}

/// A run while its events are read.
#[derive(Debug, Default)]
struct Run {
    id: String,
    session: Session,
    /// Input and output of the whole run. The input becomes a message if no request to a model could be read, and the
    /// output if no answer could be read. Otherwise the requests and answers repeat them.
    input: Option<(Turn, AgentContent)>,
    output: Option<(Turn, AgentContent)>,
    has_requests: bool,
    has_answers: bool,
    /// How often each text and block of answers and results occurs in events of their own, by its digest.
    reported: HashMap<String, usize>,
    /// Ids of the tool calls whose results are events of their own.
    reported_calls: HashSet<String>,
    /// Number of added messages of requests, by a digest of their role and content.
    added: HashMap<String, usize>,
    /// Digest of the message that was added last.
    last: String,
    /// Number of events that only repeat messages.
    repeated_count: u64,
}

impl AtofLog {
    /// Adds a line.
    pub(super) fn add(&mut self, element: &ObjectElement<'_>) {
        let line = &element.object;
        if line.text("atof_version").is_some_and(|version| !version.starts_with(VERSION_PREFIX)) {
            self.unsupported.push(element.pointer.clone());
            return;
        }
        self.has_events |= is_event(line);
        if let Some(scope) = id(line, "uuid").filter(|_| !is_mark(line)) {
            let is_agent = line.text("category").as_deref() == Some("agent");
            self.scopes.add(scope, id(line, "parent_uuid"), is_agent);
        }
        let time = any_time(line, "timestamp").or_else(|| self.lines.last().and_then(|line| line.time));
        self.lines.push(Line { text: element.text.to_owned(), pointer: element.pointer.clone(), time });
    }

    /// The position of the run to which an event belongs. A mark outside of any scope, and an event without an id,
    /// belong to the run before them.
    fn run_position(&mut self, line: &Object<'_>) -> usize {
        let (scope, parent) = (id(line, "uuid"), id(line, "parent_uuid"));
        if let Some(root) = [&scope, &parent].into_iter().flatten().find_map(|id| self.scopes.root_of(id)) {
            return *self.run_of.entry(root).or_insert_with(|| {
                self.runs.push(Run { id: self.scopes.id(root).to_owned(), ..Run::default() });
                self.runs.len() - 1
            });
        }
        if self.runs.is_empty() {
            self.runs.push(Run { id: parent.or(scope).unwrap_or_default(), ..Run::default() });
        }
        self.runs.len() - 1
    }

    /// Reads the events in the order of their times, and sends each run as a conversation.
    pub(super) fn send(mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        if !self.has_events && !self.unsupported.is_empty() {
            return Err(FormatError::invalid("unsupported_version", &member.place, UNKNOWN_VERSION));
        }
        for pointer in &self.unsupported {
            let place = format!("{}#{pointer}", member.place);
            let reason = format!("unsupported_version: {UNKNOWN_VERSION}");
            reader.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Message));
        }
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(|line| line.time);
        for Line { text, pointer, .. } in lines {
            let Some(object) = Object::parse(&text) else { continue };
            let position = self.run_position(&object);
            let run = &mut self.runs[position];
            if run.session.chat.pointer.is_empty() {
                run.session.chat.pointer.clone_from(&pointer);
            }
            run.add(reader, member, &ObjectElement { text: &text, object, pointer })?;
        }
        self.runs.into_iter().try_for_each(|run| run.send(reader, member))
    }
}

impl Run {
    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let category = line.text("category").unwrap_or_default();
        let is_end = line.text("scope_category").as_deref() == Some("end");
        let is_root = line.raw_value("parent_uuid").is_none();
        let agent = line.non_blank_text("name").filter(|_| is_root && category == "agent" && !is_end);
        self.session.chat.fields.extend(agent.map(|name| ("agent_name".to_owned(), name.into_owned().into())));
        let Some(data) = line.raw_value("data").filter(|_| is_event(line)) else {
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        };
        if is_mark(line) {
            return self.add_mark(reader, member, element, data);
        }
        match (&*category, is_end) {
            ("llm", false) => return self.add_request(reader, member, element, data),
            ("llm", true) => return self.add_answer(reader, member, element, data),
            ("tool", true) => {
                let mut content = AgentContent::default();
                content.push_block("tool_result", line.text("name").as_deref(), only_text(data));
                self.note_reported("tool", &content);
                let profile = line.object("category_profile").unwrap_or_default();
                self.reported_calls.extend(id(&profile, "tool_call_id"));
                let turn = Turn { id: id(line, "uuid"), ..turn_of(element, "tool") };
                self.session.push(reader, member, turn, content)?;
            }
            _ if is_root && category != "tool" => {
                let content = AgentContent { text: only_text(data), ..AgentContent::default() };
                let role = if is_end { "assistant" } else { "user" };
                let message = Some((turn_of(element, role), content)).filter(|(_, content)| !content.text.is_empty());
                if is_end {
                    self.output = message;
                } else {
                    self.input = message;
                }
            }
            _ => self.session.other_lines.push(element.text.to_owned()),
        }
        Ok(())
    }

    /// Adds the messages of a request that no earlier request had. What the assistant and the tools said is mostly in
    /// events of its own, and is then left out.
    fn add_request(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        data: &RawValue,
    ) -> Result<(), FormatError> {
        let outer = Object::parse(data.get()).unwrap_or_default();
        // NeMo Relay stores the headers of a request beside its body.
        let inner = outer.object("content").filter(|_| outer.has("headers"));
        let (request, at) = match &inner {
            Some(inner) => (inner, "data/content"),
            None => (&outer, "data"),
        };
        // Some programs log only the list of messages.
        let (list_at, messages) = match list(data) {
            Some(messages) => ("data".to_owned(), messages),
            None => {
                let found = MESSAGE_LISTS.iter().find_map(|key| Some((*key, request.list(key)?)));
                let (key, messages) = found.unwrap_or_default();
                (format!("{at}/{key}"), messages)
            }
        };
        let is_only = messages.len() == 1;
        let mut is_any_read = false;
        // Number of times that each message has occurred in this request so far.
        let mut occurrences: HashMap<String, usize> = HashMap::new();
        let mut occurrences_of_parts: HashMap<String, usize> = HashMap::new();
        let count_before = self.session.chat.turns.len();
        let has_instructions = self.add_instructions(reader, member, element, (request, at))?;
        for (n, raw) in messages.into_iter().enumerate() {
            let pointer = format!("{}/{list_at}/{n}", element.pointer);
            let Some(message) = Object::parse(raw.get()) else {
                report_no_message(reader, member, &pointer);
                continue;
            };
            let mut content = content_of(&message);
            let role = role_of(&message, &content);
            if role == "tool" && !content.text.trim().is_empty() {
                let text = std::mem::take(&mut content.text);
                content.push_block("tool_result", message.text("name").as_deref(), text);
            }
            let is_empty = content.text.trim().is_empty() && content.blocks.is_empty() && content.files.is_empty();
            is_any_read |= !is_empty;
            let is_reported = matches!(role, "assistant" | "tool")
                && self.is_reported(role, &message, &content, &mut occurrences_of_parts);
            if is_reported || is_empty || !self.is_new(role, &content, &mut occurrences, is_only) {
                continue;
            }
            let mut turn = Turn { role: role.into(), pointer, ..Turn::default() };
            turn.times.created = any_time(&element.object, "timestamp");
            turn.verbatim = Some(Verbatim::json(raw.get()));
            self.session.push(reader, member, turn, content)?;
        }
        let prompt = PROMPT_KEYS
            .iter()
            .find_map(|key| {
                Some((format!("{at}/{key}"), request.non_blank_text(key)?.into_owned(), request.raw_value(key)?))
            })
            .or_else(|| Some(("data".to_owned(), decode_string(data)?.into_owned(), data)))
            .filter(|(_, text, _)| !is_any_read && !text.trim().is_empty());
        let is_read = is_any_read || prompt.is_some();
        if let Some((prompt_at, text, raw)) = prompt {
            let content = AgentContent { text, ..AgentContent::default() };
            if self.is_new("user", &content, &mut occurrences, true) {
                // Only the prompt itself is the source, because the headers of a request may contain keys.
                let turn = Turn {
                    pointer: format!("{}/{prompt_at}", element.pointer),
                    verbatim: Some(Verbatim::json(raw.get())),
                    ..turn_of(element, "user")
                };
                self.session.push(reader, member, turn, content)?;
            }
        }
        self.has_requests |= is_read;
        if is_read || has_instructions {
            self.repeated_count += u64::from(self.session.chat.turns.len() == count_before);
        } else {
            // The headers of a request may contain keys.
            let headers: Vec<_> = outer.raw_value("headers").map(|raw| (raw, "{}")).into_iter().collect();
            self.session.other_lines.push(with_replaced_values(element.text, &headers));
        }
        Ok(())
    }

    /// Adds the instructions that a request has beside its messages, unless an earlier request had them. Returns true
    /// if it has any. `at` is the pointer of the request in its event.
    fn add_instructions(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        (request, at): (&Object<'_>, &str),
    ) -> Result<bool, FormatError> {
        let settings = request.object(SETTINGS_KEY).unwrap_or_default();
        let in_request =
            INSTRUCTION_KEYS.iter().filter_map(|key| Some((format!("{at}/{key}"), request.raw_value(key)?)));
        let in_settings = INSTRUCTION_KEYS
            .iter()
            .filter_map(|key| Some((format!("{at}/{SETTINGS_KEY}/{key}"), settings.raw_value(key)?)));
        let mut has_instructions = false;
        for (path, raw) in in_request.chain(in_settings) {
            let content = instructions_of(raw);
            if content.text.trim().is_empty() && content.blocks.is_empty() && content.files.is_empty() {
                continue;
            }
            has_instructions = true;
            // Whether the person repeats a message does not depend on the instructions beside it.
            let last = std::mem::take(&mut self.last);
            let is_new = self.is_new("system", &content, &mut HashMap::new(), false);
            self.last = last;
            if is_new {
                let turn = Turn {
                    pointer: format!("{}/{path}", element.pointer),
                    verbatim: Some(Verbatim::json(raw.get())),
                    ..turn_of(element, "system")
                };
                self.session.push(reader, member, turn, content)?;
            }
        }
        Ok(has_instructions)
    }

    /// Remembers the content of an answer or of a result that is an event of its own.
    fn note_reported(&mut self, role: &str, content: &AgentContent) {
        for digest in part_digests(role, content) {
            *self.reported.entry(digest).or_default() += 1;
        }
    }

    /// True if events of their own have everything that a message of a request has, as often as the request has it so
    /// far. `occurrences` counts the texts and blocks of the request.
    fn is_reported(
        &self,
        role: &str,
        message: &Object<'_>,
        content: &AgentContent,
        occurrences: &mut HashMap<String, usize>,
    ) -> bool {
        let mut is_reported = true;
        for digest in part_digests(role, content) {
            let reported_count = self.reported.get(&digest).copied().unwrap_or_default();
            let count = occurrences.entry(digest).or_default();
            *count += 1;
            is_reported &= *count <= reported_count;
        }
        let calls = if role == "tool" { calls_of(message) } else { Vec::new() };
        is_reported || !calls.is_empty() && calls.iter().all(|call| self.reported_calls.contains(call))
    }

    /// True if no earlier request had this message. The only message of a request is also new if it differs from the
    /// message added last, because such a request does not repeat the earlier messages.
    fn is_new(
        &mut self,
        role: &str,
        content: &AgentContent,
        occurrences: &mut HashMap<String, usize>,
        is_only: bool,
    ) -> bool {
        let digest = content_id(&format!("{role}\n{}\n{:?}", content.text, content.blocks));
        let count = occurrences.entry(digest.clone()).or_default();
        *count += 1;
        let added = self.added.entry(digest.clone()).or_default();
        let is_new = *count > *added || is_only && self.last != digest;
        if is_new {
            *added += 1;
            self.last = digest;
        }
        is_new
    }

    fn add_answer(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        data: &RawValue,
    ) -> Result<(), FormatError> {
        let content = match Object::parse(data.get()) {
            Some(response) => answer_of(&response),
            None => AgentContent::read(Some(data)),
        };
        if content.text.trim().is_empty() && content.blocks.is_empty() && content.files.is_empty() {
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        }
        self.has_answers = true;
        self.note_reported("assistant", &content);
        self.last.clear();
        let line = &element.object;
        let profile = line.object("category_profile").unwrap_or_default();
        let mut turn = Turn { id: id(line, "uuid"), ..turn_of(element, "assistant") };
        let model = profile.non_blank_text("model_name").or_else(|| line.non_blank_text("name"));
        turn.model = model.map(|model| model.into_owned());
        self.session.push(reader, member, turn, content)?;
        Ok(())
    }

    /// Adds a mark if it is a message, with a role and a content.
    fn add_mark(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        data: &RawValue,
    ) -> Result<(), FormatError> {
        let message = Object::parse(data.get()).unwrap_or_default();
        let role = match message.text("role").as_deref() {
            Some("user") => "user",
            Some("agent" | "assistant") => "assistant",
            Some("system") => "system",
            _ => "",
        };
        let content = AgentContent::read(message.raw_value("content"));
        if role.is_empty() || content.text.trim().is_empty() {
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        }
        self.session.push(reader, member, turn_of(element, role), content)?;
        Ok(())
    }

    fn send(mut self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        self.session.chat.id = Some(std::mem::take(&mut self.id)).filter(|id| !id.is_empty());
        match self.input.take() {
            Some(_) if self.has_requests => self.repeated_count += 1,
            Some((turn, content)) => {
                self.session.push(reader, member, turn, content)?;
                self.session.chat.turns.rotate_right(1);
            }
            None => {}
        }
        match self.output.take() {
            Some(_) if self.has_answers => self.repeated_count += 1,
            Some((turn, content)) => {
                self.session.push(reader, member, turn, content)?;
            }
            None => {}
        }
        Session::report_skipped(reader, member, self.repeated_count, "events that repeat messages");
        self.session.send(reader, member, PLATFORM)
    }
}

/// Ids of the calls to which a message of a tool is the result.
fn calls_of(message: &Object<'_>) -> Vec<String> {
    let of_message = ["tool_call_id", "call_id"].into_iter().find_map(|key| id(message, key));
    let of_blocks = message.objects("content").filter_map(|block| id(&block, "tool_use_id"));
    of_message.into_iter().chain(of_blocks).collect()
}

fn is_mark(line: &Object<'_>) -> bool {
    line.text("kind").as_deref() == Some("mark")
}

/// Digests of the text, of each block and of each file of a message. Requests may repeat an answer in several messages,
/// and a result without the name of its tool.
fn part_digests(role: &str, content: &AgentContent) -> Vec<String> {
    let member = |block: &Value, key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let blocks = content.blocks.iter().map(|block| {
        let kind = member(block, "type");
        let name = if kind == "tool_result" { String::new() } else { member(block, "name") };
        format!("{role}\n{kind}\n{name}\n{}", member(block, "text").trim())
    });
    let files = content.files.iter().map(|file| format!("{role}\nfile\n{}", file.reference.key.value));
    let text = Some(content.text.trim()).filter(|text| !text.is_empty());
    let text = text.map(|text| format!("{role}\ntext\n{text}"));
    text.into_iter().chain(blocks).chain(files).map(|part| content_id(&part)).collect()
}

/// A message whose source is the whole event.
fn turn_of(element: &ObjectElement<'_>, role: &str) -> Turn {
    let mut turn = Turn {
        role: role.into(),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(element.text)),
        ..Turn::default()
    };
    turn.times.created = any_time(&element.object, "timestamp");
    turn
}

/// The role of a message in a request. An entry of OpenAI's Responses may have a type instead of a role.
fn role_of(message: &Object<'_>, content: &AgentContent) -> &'static str {
    let is_result = content.text.trim().is_empty() && content.content_type() == "tool_result";
    match message.text("role").as_deref() {
        Some("user") | None if is_result => "tool",
        Some("user") => "user",
        Some("assistant" | "model") => "assistant",
        Some("tool" | "function") => "tool",
        Some(_) => "system",
        None if message.text("type").is_some_and(|kind| kind != "message") => "assistant",
        None => "user",
    }
}

/// The content of instructions: a text, a list of blocks, or an object with parts. Anything else is kept as JSON.
fn instructions_of(raw: &RawValue) -> AgentContent {
    let message = Object::parse(raw.get()).filter(|object| object.has("parts") || object.has("content"));
    let mut content = message.map_or_else(|| AgentContent::read(Some(raw)), |message| content_of(&message));
    let is_empty = content.text.trim().is_empty() && content.blocks.is_empty() && content.files.is_empty();
    if is_empty && !matches!(raw.get(), "[]" | "{}") {
        content.text = value_text(raw);
    }
    content
}

/// The content of a message of a model's API.
fn content_of(message: &Object<'_>) -> AgentContent {
    let value = |object: &Object<'_>, key: &str| object.raw_value(key).map_or_else(String::new, value_text);
    let mut out = AgentContent::default();
    out.push_block("thinking", None, message.text("reasoning_content").unwrap_or_default());
    for key in ["content", "parts"] {
        message.raw_value(key).into_iter().for_each(|raw| out.push(raw));
    }
    for call in message.objects("tool_calls") {
        let function = call.object("function");
        let named = function.as_ref().unwrap_or(&call);
        out.push_block("tool_call", named.text("name").as_deref(), value(named, "arguments"));
    }
    match message.text("type").as_deref() {
        Some("function_call") => {
            out.push_block("tool_call", message.text("name").as_deref(), value(message, "arguments"));
        }
        Some("function_call_output") => out.push_block("tool_result", None, value(message, "output")),
        Some("reasoning") => out.push_block("thinking", None, value(message, "summary")),
        _ => {}
    }
    out
}

/// The content of the response of a model's API: the first choice of OpenAI's, the first candidate of Google's, the
/// entries of OpenAI's Responses, or one message.
fn answer_of(response: &Object<'_>) -> AgentContent {
    let raw_response = response.object("raw_response");
    let response = raw_response.as_ref().unwrap_or(response);
    let choice = response.objects("choices").next().and_then(|choice| choice.object("message"));
    let candidate = response.objects("candidates").next().and_then(|candidate| candidate.object("content"));
    if let Some(message) = choice.or(candidate).or_else(|| response.object("assistant_message")) {
        return content_of(&message);
    }
    let mut out = content_of(response);
    for entry in response.objects("output") {
        let content = content_of(&entry);
        push_text(&mut out.text, &content.text);
        out.blocks.extend(content.blocks);
        out.files.extend(content.files);
    }
    if out.text.is_empty() {
        let text = ANSWER_KEYS.iter().find_map(|key| response.non_blank_text(key));
        out.text = text.unwrap_or_default().into_owned();
    }
    out
}

/// A value as text: a text itself, the only member of an object, or JSON. Empty for an empty object.
fn only_text(raw: &RawValue) -> String {
    if let Some(text) = decode_string(raw) {
        return text.into_owned();
    }
    let Some(object) = Object::parse(raw.get()) else { return raw.get().to_owned() };
    let mut members = object.members();
    match (members.next(), members.next()) {
        (None, _) => String::new(),
        (Some((_, only)), None) => value_text(only),
        _ => raw.get().to_owned(),
    }
}
