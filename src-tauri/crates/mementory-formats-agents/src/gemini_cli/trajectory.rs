//! Reads trajectories of Antigravity and Windsurf as JSON. Both editors have the same language server, which answers
//! with the steps of a conversation (a cascade). Scripts and extensions save these answers.
use super::FORMAT;
use super::antigravity::PLATFORM;
use mementory_format::{FormatError, JsonHead, Member, is_uuid};
use mementory_formats_shared::agent_content::{AgentContent, push_text, value_text};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::values::id;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;

/// Name of the platform of a conversation whose source names this editor.
const WINDSURF: &str = "windsurf";
/// Beginning of the types of steps.
const STEP_TYPE: &str = "CORTEX_STEP_TYPE_";
/// Members that the steps of the person and of the model have.
const STEP_MEMBERS: [&str; 2] = ["userInput", "plannerResponse"];
/// Lists of conversations in files of scripts that save all of them.
const LISTS: [&str; 3] = ["conversations", "trajectories", "sessions"];
/// Steps of the program, which are neither tools nor messages.
const PROGRAM_STEPS: [&str; 5] =
    ["checkpoint", "conversation_history", "system_message", "ephemeral_message", "error_message"];

/// True for a file with steps.
pub(super) fn is_trajectory(head: &JsonHead<'_>) -> bool {
    STEP_MEMBERS.iter().any(|name| head.keys.has_name(name))
        && memchr::memmem::find(&head.bytes(), STEP_TYPE.as_bytes()).is_some()
}

/// Reads a file with one conversation, several, or only the steps of one.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut loose = Trajectory::default();
    let mut loose_bytes = 0;
    reader.objects(member, &LISTS, Kind::Conversation, |reader, element| {
        if element.object.text("type").is_some_and(|kind| kind.starts_with(STEP_TYPE)) {
            if reader.add_message_size(&mut loose_bytes, member, element, "trajectory") {
                loose.add(reader, member, element.text, element.pointer.clone())?;
            }
            return Ok(());
        }
        read_conversation(reader, member, element)
    })?;
    if loose.chat.turns.is_empty() && loose.step_count == 0 {
        return Ok(());
    }
    loose.send(reader, member)
}

fn read_conversation(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let outer = &element.object;
    let inner = outer.object("trajectory").filter(|inner| inner.has("steps"));
    let (object, at) = match &inner {
        Some(inner) => (inner, "trajectory/steps"),
        None => (outer, "steps"),
    };
    let Some((raw, steps)) = object.raw_value("steps").and_then(|raw| Some((raw, list(raw)?))) else {
        let reason = "no_messages: this entry has no steps";
        reader.report_failed(member, &element.pointer, reason, Kind::Conversation);
        return Ok(());
    };
    let both = [object, outer];
    let mut trajectory = Trajectory::default();
    let chat = &mut trajectory.chat;
    let ids = ["cascadeId", "sessionId", "conversationId", "id"];
    chat.id = both.iter().find_map(|object| ids.iter().find_map(|key| id(object, key)));
    let annotated = both.iter().find_map(|object| object.object("annotations")?.non_blank_text("title"));
    let stated = || both.iter().find_map(|o| ["title", "summary", "name"].iter().find_map(|key| o.non_blank_text(key)));
    chat.title = annotated.or_else(stated).map(|title| title.into_owned());
    chat.pointer.clone_from(&element.pointer);
    chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &[(raw, "[]")])));
    trajectory.is_windsurf = both
        .iter()
        .filter_map(|object| object.text("source"))
        .any(|source| source.to_ascii_lowercase().contains(WINDSURF));
    for (n, step) in steps.into_iter().enumerate() {
        trajectory.add(reader, member, step.get(), format!("{}/{at}/{n}", element.pointer))?;
    }
    trajectory.send(reader, member)
}

/// A conversation while its steps are read.
#[derive(Debug, Default)]
struct Trajectory {
    chat: Chat,
    step_count: usize,
    /// Number of steps that contain nothing but their state.
    empty_count: usize,
    is_windsurf: bool,
}

impl Trajectory {
    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        text: &str,
        pointer: String,
    ) -> Result<(), FormatError> {
        let number = self.step_count;
        self.step_count += 1;
        let Some(step) = Object::parse(text) else {
            let reason = "not_an_object: this entry is not an object";
            reader.report_failed(member, &pointer, reason, Kind::Message);
            return Ok(());
        };
        let metadata = step.object("metadata").unwrap_or_default();
        let position = metadata.object("sourceTrajectoryStepInfo");
        let kind = step.text("type").unwrap_or_default().trim_start_matches(STEP_TYPE).to_ascii_lowercase();
        let (role, mut content) = content_of(&kind, &step, &metadata);
        if content.text.trim().is_empty() && content.blocks.is_empty() && content.files.is_empty() {
            self.empty_count += 1;
            return Ok(());
        }
        reader.store_files(member, &mut content)?;
        let content_type = content.content_type();
        let mut turn = Turn {
            // The number of a step is left out where it is 0.
            id: position.and_then(|position| id(&position, "stepIndex")).or_else(|| Some(number.to_string())),
            role: role.into(),
            hidden: matches!(role, "system" | "tool") || content_type == "tool_call",
            model: metadata.non_blank_text("generatorModel").filter(|_| role == "assistant").map(|m| m.into_owned()),
            pointer,
            verbatim: Some(Verbatim::json(text)),
            ..Turn::default()
        };
        turn.times.created = any_time(&metadata, "createdAt");
        content.fill(&mut turn);
        match role {
            "system" => turn.content_type = "context".into(),
            "tool" => turn.content_type = "tool_result".into(),
            _ => {}
        }
        self.chat.note_time(turn.times.created);
        self.chat.turns.push(turn);
        Ok(())
    }

    fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        let mut chat = self.chat;
        if self.empty_count > 0 {
            let reason = format!("progress: {} steps without content", self.empty_count);
            reader.report_dropped(format!("{}#{}", member.place, chat.pointer), DroppedAs::Skipped, &reason, None);
        }
        if chat.turns.is_empty() {
            let reason = "no_messages: this conversation has no step with content";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, Some(Kind::Conversation));
            return Ok(());
        }
        chat.is_log = true;
        // A file with only this conversation, or with its steps, may be named after it.
        let stem = member.file_name().split('.').next().unwrap_or_default();
        let is_whole_file = chat.pointer.is_empty();
        chat.id = chat.id.take().or_else(|| Some(stem.to_owned()).filter(|stem| is_whole_file && is_uuid(stem)));
        let platform = if self.is_windsurf { WINDSURF } else { PLATFORM };
        reader.send_chat(chat, ChatFile { format: FORMAT, platform, version: None, container: &member.place })
    }
}

/// The role and the content of a step. `kind` is its type, such as `run_command`, whose data is in the member
/// `runCommand`.
fn content_of(kind: &str, step: &Object<'_>, metadata: &Object<'_>) -> (&'static str, AgentContent) {
    let data = step.raw_value(&camel_case(kind));
    let object = data.and_then(|data| Object::parse(data.get())).unwrap_or_default();
    let mut content = AgentContent::default();
    let is_of_program = metadata.text("source").is_some_and(|source| source.ends_with("_SYSTEM"));
    let role = match kind {
        "user_input" => {
            add_prompt(&mut content, &object);
            if is_of_program { "system" } else { "user" }
        }
        "planner_response" => {
            content.push_block("thinking", None, object.text("thinking").unwrap_or_default());
            let text = ["modifiedResponse", "response"].iter().find_map(|key| object.non_blank_text(key));
            content.text = text.unwrap_or_default().into_owned();
            for call in object.objects("toolCalls") {
                let arguments = call.raw_value("argumentsJson").map_or_else(String::new, value_text);
                content.push_block("tool_call", call.non_blank_text("name").as_deref(), arguments);
            }
            "assistant"
        }
        _ => {
            let output = || object.object("combinedOutput")?.non_blank_text("full").map(|text| text.into_owned());
            let is_empty = |data: &&RawValue| object.members().next().is_none() && data.get().starts_with('{');
            let all = || data.filter(|data| !is_empty(data)).map(value_text);
            let mut text = output().or_else(all).unwrap_or_default();
            // The person's answer to a question is beside the question.
            let keys: &[&str] = if kind == "ask_question" { &["completedInteractions", "error"] } else { &["error"] };
            keys.iter().filter_map(|key| step.raw_value(key)).for_each(|raw| push_text(&mut text, &value_text(raw)));
            if is_of_program || PROGRAM_STEPS.contains(&kind) {
                content.text = text;
                "system"
            } else {
                if !text.trim().is_empty() {
                    content.push_block("tool_result", Some(kind), text);
                }
                "tool"
            }
        }
    };
    (role, content)
}

/// Adds what the person wrote and attached.
fn add_prompt(content: &mut AgentContent, prompt: &Object<'_>) {
    let items = prompt.objects("items").filter_map(|item| item.text("text").map(|text| text.into_owned()));
    let typed = prompt.non_blank_text("userResponse").map(|text| text.into_owned());
    content.text = typed.unwrap_or_else(|| items.collect());
    for file in prompt.objects("media").chain(prompt.objects("images")) {
        let data = ["inlineData", "base64Data"].iter().find_map(|key| file.non_blank_text(key));
        let media_type = file.non_blank_text("mimeType").unwrap_or_else(|| "image/png".into());
        let is_stored = data.is_some_and(|data| content.push_data_url(&format!("data:{media_type};base64,{data}")));
        if !is_stored {
            let name = ["uri", "caption", "description"].iter().find_map(|key| file.non_blank_text(key));
            content.push_block("image", None, name.unwrap_or_default());
        }
    }
}

/// The name of the member that contains the data of a step: `run_command` becomes `runCommand`.
fn camel_case(kind: &str) -> String {
    let mut words = kind.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (start, rest) = word.split_at_checked(1).unwrap_or_default();
        name + &start.to_ascii_uppercase() + rest
    })
}
