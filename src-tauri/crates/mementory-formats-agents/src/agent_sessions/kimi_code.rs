//! Reads the records of Kimi Code, the successor of Kimi's command line: prompts, messages of the model's context, and
//! the events of the loop, in which the assistant writes a message step by step.
use super::kimi::{KimiSession, Prompt, push_call, push_parts, push_result, time_of};
use super::session::verbatim_of;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Verbatim;

/// Name of the folder with the logs of a session: one for the session's agent, and one for each subagent.
pub(super) const AGENTS_FOLDER: &str = "agents";
/// Name of the folder of the session's agent.
pub(super) const MAIN_AGENT: &str = "main";
/// Types of records that contain a prompt.
const PROMPT_TYPES: [&str; 2] = ["turn.prompt", "turn.steer"];
const MESSAGE_TYPE: &str = "context.append_message";
const EVENT_TYPE: &str = "context.append_loop_event";

/// True for a record that only Kimi Code writes.
pub(super) fn is_record(line: &Object<'_>) -> bool {
    match line.text("type").as_deref() {
        Some("metadata") => line.has("protocol_version"),
        Some(MESSAGE_TYPE) => line.object("message").is_some_and(|message| message.has("role")),
        Some(EVENT_TYPE) => line.object("event").is_some_and(|event| event.has("type")),
        Some(kind) => PROMPT_TYPES.contains(&kind) && line.has("input"),
        None => false,
    }
}

impl KimiSession {
    /// Adds a line of a log, which is a record, or an event of the older log.
    pub(super) fn add_line(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let Some(kind) = line.text("type") else { return self.add(reader, member, element) };
        match kind.as_ref() {
            kind if PROMPT_TYPES.contains(&kind) => {
                self.close(reader, member)?;
                let mut content = AgentContent::default();
                line.raw_value("input").into_iter().for_each(|raw| push_parts(&mut content, raw));
                let text = content.text.clone();
                let role = self.role_of_prompt(line.object("origin").as_ref());
                let turn = self.push_record(reader, member, element, role, content)?;
                self.prompt = Some(Prompt { turn, line: element.text.to_owned(), text });
            }
            MESSAGE_TYPE => self.add_message(reader, member, element)?,
            EVENT_TYPE => match line.object("event") {
                Some(event) => self.add_loop_event(reader, member, element, &event)?,
                None => self.session.other_lines.push(element.text.to_owned()),
            },
            "context.apply_compaction" => {
                self.close(reader, member)?;
                let text = line.text("summary").unwrap_or_default().into_owned();
                let content = AgentContent { text, ..AgentContent::default() };
                self.push_record(reader, member, element, "system", content)?;
            }
            "usage.record" => self.skipped_lines += 1,
            _ => {
                self.note_settings(line);
                // Copies of messages are removed, because they would still contain the text of a message that is erased
                // later.
                let copies = ["history", "messages", "context"].iter();
                let copies: Vec<_> = copies.filter_map(|key| Some((line.raw_value(key)?, "null"))).collect();
                self.session.other_lines.push(with_replaced_values(element.text, &copies));
            }
        }
        Ok(())
    }

    /// Stores the model and the folder of the session if the record states them. A record states them when they change.
    fn note_settings(&mut self, line: &Object<'_>) {
        let text = |keys: [&str; 2]| keys.into_iter().find_map(|key| line.non_blank_text(key)).map(|t| t.into_owned());
        self.model = text(["modelAlias", "model"]).or(self.model.take());
        let project = &mut self.session.chat.source.project;
        *project = project.take().or_else(|| text(["cwd", "workDir"]));
    }

    /// The role of a prompt: `user` if the person wrote the prompt, otherwise `system`. The assistant writes the
    /// prompts of a subagent, and the program adds the prompts that state another origin than `user`.
    fn role_of_prompt(&self, origin: Option<&Object<'_>>) -> &'static str {
        let origin = origin.and_then(|origin| origin.non_blank_text("kind"));
        if self.is_subagent || origin.is_some_and(|kind| kind != "user") { "system" } else { "user" }
    }

    /// Adds a message of the context. A message that repeats the prompt before it is not added again.
    fn add_message(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        self.close(reader, member)?;
        let Some(message) = element.object.object("message") else {
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        };
        let mut content = AgentContent::default();
        let stated_role = message.text("role").unwrap_or_default();
        if stated_role == "tool" {
            let text = message.raw_value("content").map_or_else(String::new, value_text);
            content.push_block("tool_result", message.non_blank_text("name").as_deref(), text);
        } else {
            message.raw_value("content").into_iter().for_each(|raw| push_parts(&mut content, raw));
        }
        for raw in message.raw_value("toolCalls").and_then(list).unwrap_or_default() {
            let call = Object::parse(raw.get()).unwrap_or_default();
            let function = call.object("function").unwrap_or(call);
            push_call(&mut content, &function);
        }
        let role = match stated_role.as_ref() {
            "user" => self.role_of_prompt(message.object("origin").as_ref()),
            "assistant" => "assistant",
            "tool" => "tool",
            _ => "system",
        };
        if stated_role == "user"
            && let Some(prompt) = self.prompt.take_if(|prompt| prompt.text == content.text)
        {
            if let Some(turn) = self.session.chat.turns.get_mut(prompt.turn) {
                turn.verbatim = verbatim_of(&[prompt.line, element.text.to_owned()]);
            }
            return Ok(());
        }
        self.push_record(reader, member, element, role, content)?;
        Ok(())
    }

    fn add_loop_event(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        event: &Object<'_>,
    ) -> Result<(), FormatError> {
        match event.text("type").as_deref() {
            Some("content.part") => {
                let part = event.object("part").unwrap_or_default();
                self.add_part(reader, member, element, ("ContentPart", &part), None)
            }
            Some("tool.call") => self.add_part(reader, member, element, ("ToolCall", event), None),
            Some("tool.result") => {
                self.close(reader, member)?;
                let mut content = AgentContent::default();
                push_result(&mut content, event);
                self.push_record(reader, member, element, "tool", content)?;
                Ok(())
            }
            Some("step.begin") => {
                self.close(reader, member)?;
                self.session.other_lines.push(element.text.to_owned());
                Ok(())
            }
            Some("step.end") => {
                self.model = event.non_blank_text("model").map(|model| model.into_owned()).or(self.model.take());
                self.close(reader, member)?;
                self.session.other_lines.push(element.text.to_owned());
                Ok(())
            }
            _ => {
                self.session.other_lines.push(element.text.to_owned());
                Ok(())
            }
        }
    }

    /// Adds the message of one record. Returns the position of the message.
    fn push_record(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
        role: &str,
        content: AgentContent,
    ) -> Result<usize, FormatError> {
        let mut turn = Turn { role: role.into(), pointer: element.pointer.clone(), ..Turn::default() };
        turn.times.created = time_of(&element.object);
        turn.verbatim = Some(Verbatim::json(element.text));
        turn.model = self.model.clone().filter(|_| role == "assistant");
        self.session.push(reader, member, turn, content)
    }
}
