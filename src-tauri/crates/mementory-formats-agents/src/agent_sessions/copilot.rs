//! Reads the events of a session of GitHub Copilot's command line.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, nested_text, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Verbatim;
use std::collections::HashSet;

/// Known members of a delta line (a fragment of a streamed text), and of its `data`.
const DELTA_LINE_MEMBERS: [&str; 6] = ["type", "data", "id", "timestamp", "parentId", "ephemeral"];
const DELTA_MEMBERS: [&str; 4] = ["messageId", "reasoningId", "deltaContent", "parentToolCallId"];
/// Name of the platform.
const PLATFORM: &str = "copilot-cli";

/// The state of a session while its events are read.
#[derive(Debug, Default)]
pub(super) struct CopilotSession {
    pub session: Session,
    /// Ids of the tool calls in answers. Separate events repeat these calls.
    known_calls: HashSet<String>,
    /// Number of delta events, whose text a later event contains completely.
    skipped_lines: u64,
    model: Option<String>,
}

impl CopilotSession {
    /// Adds an event.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let line = &element.object;
        let kind = line.text("type").unwrap_or_default();
        let data = line.object("data").unwrap_or_default();
        // A later event contains the complete text, so the text of a delta is not stored. A line with unknown members
        // is stored without the text.
        if kind.ends_with("_delta") {
            self.skipped_lines += 1;
            let is_unknown =
                |object: &Object<'_>, known: &[&str]| object.members().any(|(key, _)| !known.contains(&key));
            if is_unknown(line, &DELTA_LINE_MEMBERS) || is_unknown(&data, &DELTA_MEMBERS) {
                let text = data.raw_value("deltaContent").map(|text| (text, "\"\""));
                self.session.other_lines.push(with_replaced_values(element.text, text.as_slice()));
            }
            return Ok(());
        }
        let Some((role, content)) = self.message(&kind, &data) else {
            self.read_session(&kind, &data);
            self.session.chat.note_time(any_time(line, "timestamp").filter(|_| kind.starts_with("session.")));
            self.session.other_lines.push(element.text.to_owned());
            return Ok(());
        };
        let mut turn = Turn { role: role.into(), pointer: element.pointer.clone(), ..Turn::default() };
        turn.id = line.non_blank_text("id").map(|id| id.into_owned());
        turn.times.created = any_time(line, "timestamp");
        turn.verbatim = Some(Verbatim::json(element.text));
        if role == "assistant" {
            let stated_model = data.non_blank_text("model").map(|model| model.into_owned());
            turn.model = stated_model.or_else(|| self.model.clone());
        }
        if let Some(parent) = data.non_blank_text("parentToolCallId") {
            // A subagent wrote this text, so it is hidden and linked to the call that started the subagent.
            turn.fields.insert("parent_call".into(), parent.as_ref().into());
            turn.hidden = true;
        }
        self.session.push(reader, member, turn, content)?;
        Ok(())
    }

    /// Role and content of an event. None if the event is not a message.
    fn message(&mut self, kind: &str, data: &Object<'_>) -> Option<(&'static str, AgentContent)> {
        let mut content = AgentContent::default();
        match kind {
            "user.message" => {
                content.text = data.text("content").unwrap_or_default().into_owned();
                for raw in data.list("attachments").into_iter().flatten() {
                    let file = Object::parse(raw.get()).unwrap_or_default();
                    let keys = ["displayName", "path", "filePath", "url"];
                    let name = keys.into_iter().find_map(|key| file.non_blank_text(key));
                    content.push_block("context", name.as_deref(), "");
                }
                // A skill or a hook can also send a prompt. The event then names the skill or the hook as its source.
                let is_person = data.non_blank_text("source").is_none_or(|source| source == "user");
                Some((if is_person { "user" } else { "system" }, content))
            }
            "assistant.message" => {
                content.push_block("thinking", None, data.text("reasoningText").unwrap_or_default());
                content.text = data.text("content").unwrap_or_default().into_owned();
                for raw in data.list("toolRequests").into_iter().flatten() {
                    let Some(call) = Object::parse(raw.get()) else { continue };
                    self.known_calls.extend(call.non_blank_text("toolCallId").map(|id| id.into_owned()));
                    push_call(&mut content, &call, &["name", "toolName"]);
                }
                (!content.text.trim().is_empty() || !content.blocks.is_empty()).then_some(("assistant", content))
            }
            "tool.execution_start" => {
                let id = data.non_blank_text("toolCallId");
                if id.is_some_and(|id| self.known_calls.contains(id.as_ref())) {
                    return None;
                }
                push_call(&mut content, data, &["toolName", "name"]);
                Some(("assistant", content))
            }
            "tool.execution_complete" => {
                let result = data.object("result");
                let text = result.as_ref().and_then(|result| {
                    ["detailedContent", "content"].into_iter().find_map(|key| result.non_blank_text(key))
                });
                let text = text.map(|text| text.into_owned());
                let other_text = || data.raw_value("error").or_else(|| data.raw_value("result")).map(value_text);
                let text = text.or_else(other_text).unwrap_or_default();
                content.push_block("tool_result", data.non_blank_text("toolName").as_deref(), text);
                Some(("tool", content))
            }
            "system.message" | "system.notification" | "session.error" | "session.warning" => {
                let text = ["content", "message"].into_iter().find_map(|key| data.non_blank_text(key))?;
                content.text = text.into_owned();
                Some(("system", content))
            }
            "session.compaction_complete" => {
                content.text = data.raw_value("summaryContent").map(nested_or_text)?;
                Some(("system", content))
            }
            _ => None,
        }
    }

    fn read_session(&mut self, kind: &str, data: &Object<'_>) {
        let text = |key: &str| data.non_blank_text(key).map(|text| text.into_owned());
        let chat = &mut self.session.chat;
        match kind {
            "session.start" | "session.resume" => {
                chat.id = chat.id.take().or_else(|| text("sessionId"));
                chat.note_time(any_time(data, "startTime"));
                self.model = text("selectedModel").or(self.model.take());
                let context = data.object("context").unwrap_or_default();
                let member = |key: &str| context.non_blank_text(key).map(|text| text.into_owned());
                chat.source.project = chat.source.project.take().or_else(|| member("cwd"));
                for (name, key) in [("git_branch", "branch"), ("repository", "repository")] {
                    if let Some(value) = member(key) {
                        chat.fields.insert(name.into(), value.into());
                    }
                }
            }
            "session.model_change" => self.model = text("newModel").or(self.model.take()),
            "session.title_changed" => chat.title = text("title").or(chat.title.take()),
            _ => {}
        }
    }

    /// Sends the conversation. `title` comes from the `workspace.yaml` next to the session.
    pub(super) fn send(
        mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        title: Option<String>,
    ) -> Result<(), FormatError> {
        Session::report_skipped(reader, member, self.skipped_lines, "lines with parts of a text that follows");
        self.session.chat.title = title.or(self.session.chat.title.take());
        self.session.send(reader, member, PLATFORM)
    }
}

fn push_call(content: &mut AgentContent, call: &Object<'_>, names: &[&str]) {
    let name = names.iter().find_map(|key| call.non_blank_text(key));
    let arguments = call.raw_value("arguments").map_or_else(String::new, value_text);
    content.push_block("tool_call", name.as_deref().or(Some("tool")), arguments);
}

/// Returns the text of a JSON string, or all strings inside any other JSON value.
fn nested_or_text(raw: &serde_json::value::RawValue) -> String {
    mementory_formats_shared::object::decode_string(raw).map_or_else(|| nested_text(raw), |text| text.into_owned())
}
