//! Reads traces of OpenTelemetry in which a program records its requests to a model, as Visual Studio's Copilot does.
//! Each line has spans. The span of a request repeats the messages before it, so a message is added only once.
use super::session::Session;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::{AgentContent, push_text, value_text};
use mementory_formats_shared::chat::Turn;
use mementory_formats_shared::object::{Object, content_id, list};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{Timestamp, Verbatim};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// Name of the platform of a trace that names no provider.
const PLATFORM: &str = "opentelemetry";
const CONVERSATION_ATTRIBUTE: &str = "gen_ai.conversation.id";
const MESSAGES_ATTRIBUTES: [&str; 2] = ["gen_ai.input.messages", "gen_ai.output.messages"];

/// True for a line with a request to a model that names its conversation.
pub(super) fn is_trace(line: &Object<'_>) -> bool {
    let mut found = false;
    each_span(line, &mut |span, _| {
        let attributes = Attributes::of(span);
        found |= attributes.text(CONVERSATION_ATTRIBUTE).is_some()
            && MESSAGES_ATTRIBUTES.iter().any(|key| attributes.text(key).is_some());
    });
    found
}

/// Calls `read` for each span of a line, with the pointer of the span in the line.
fn each_span(line: &Object<'_>, read: &mut dyn FnMut(&Object<'_>, String)) {
    for (r, resource) in line.objects("resourceSpans").enumerate() {
        for (s, scope) in resource.objects("scopeSpans").enumerate() {
            for (n, span) in scope.objects("spans").enumerate() {
                read(&span, format!("resourceSpans/{r}/scopeSpans/{s}/spans/{n}"));
            }
        }
    }
}

/// The attributes of a span.
struct Attributes<'s>(Vec<Object<'s>>);

impl<'s> Attributes<'s> {
    fn of(span: &Object<'s>) -> Self {
        Self(span.objects("attributes").collect())
    }

    fn text(&self, key: &str) -> Option<String> {
        let attribute = self.0.iter().find(|attribute| attribute.text("key").as_deref() == Some(key))?;
        let value = attribute.object("value")?.non_blank_text("stringValue")?.into_owned();
        Some(value)
    }
}

/// The conversations of a file, in the order of their first spans.
#[derive(Debug, Default)]
pub(super) struct Traces {
    ids: Vec<String>,
    of_id: HashMap<String, Trace>,
    other_spans: u64,
}

/// The state of a conversation while its spans are read.
#[derive(Debug, Default)]
struct Trace {
    session: Session,
    /// Number of added messages, by a digest of their role and content.
    added: HashMap<String, usize>,
    last: String,
}

/// A message of a span.
struct SpanMessage<'m> {
    raw: &'m RawValue,
    pointer: String,
    time: Option<Timestamp>,
    model: Option<String>,
}

impl Traces {
    /// Adds the spans of a line.
    pub(super) fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let mut result = Ok(());
        each_span(&element.object, &mut |span, at| {
            if result.is_ok() {
                result = self.add_span(reader, member, span, &format!("{}/{at}", element.pointer));
            }
        });
        result
    }

    fn add_span(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        span: &Object<'_>,
        at: &str,
    ) -> Result<(), FormatError> {
        let attributes = Attributes::of(span);
        let Some(id) = attributes.text(CONVERSATION_ATTRIBUTE) else {
            self.other_spans += 1;
            return Ok(());
        };
        if !self.of_id.contains_key(&id) {
            self.ids.push(id.clone());
        }
        let trace = self.of_id.entry(id).or_default();
        let time = |key: &str| nanoseconds(&span.text(key)?);
        let times = [time("startTimeUnixNano"), time("endTimeUnixNano")];
        let model = attributes.text("gen_ai.response.model").or_else(|| attributes.text("gen_ai.request.model"));
        let mut has_messages = false;
        for ((key, time), is_answer) in MESSAGES_ATTRIBUTES.into_iter().zip(times).zip([false, true]) {
            let Some(text) = attributes.text(key) else { continue };
            let Ok(raw) = serde_json::from_str::<&RawValue>(&text) else { continue };
            has_messages = true;
            let messages = list(raw).unwrap_or_default();
            let is_only = messages.len() == 1;
            // Number of times that each message has occurred in this span so far.
            let mut occurrences: HashMap<String, usize> = HashMap::new();
            for (n, raw) in messages.into_iter().enumerate() {
                let pointer = format!("{at}/{key}/{n}");
                let model = model.clone().filter(|_| is_answer);
                trace.add(reader, member, &mut occurrences, is_only, SpanMessage { raw, pointer, time, model })?;
            }
        }
        self.other_spans += u64::from(!has_messages);
        Ok(())
    }

    /// Sends the conversations.
    pub(super) fn send(self, reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        Session::report_skipped(reader, member, self.other_spans, "spans without messages");
        let mut of_id = self.of_id;
        for id in self.ids {
            let Some(mut trace) = of_id.remove(&id) else { continue };
            trace.session.chat.id = Some(id);
            if !trace.session.chat.turns.is_empty() {
                trace.session.send(reader, member, PLATFORM)?;
            }
        }
        Ok(())
    }
}

impl Trace {
    /// Adds a message, unless an earlier span already added it. The only message of a span is also new if it differs
    /// from the message added last, because such a span does not repeat the earlier messages.
    fn add(
        &mut self,
        reader: &mut FileReader<'_>,
        member: &Member,
        occurrences: &mut HashMap<String, usize>,
        is_only: bool,
        message: SpanMessage<'_>,
    ) -> Result<(), FormatError> {
        let Some(object) = Object::parse(message.raw.get()) else { return Ok(()) };
        let mut content = AgentContent::default();
        for part in object.objects("parts") {
            push_part(&mut content, &part);
        }
        object.raw_value("content").into_iter().for_each(|raw| content.push(raw));
        let role = match object.text("role").as_deref() {
            Some("user") => "user",
            Some("assistant" | "model") => "assistant",
            Some("tool") => "tool",
            _ => "system",
        };
        let digest = content_id(&format!("{role}\n{}\n{:?}", content.text, content.blocks));
        let count = occurrences.entry(digest.clone()).or_default();
        *count += 1;
        let added = self.added.get(&digest).copied().unwrap_or_default();
        let is_new = *count > added || is_only && self.last != digest;
        if !is_new || content.text.trim().is_empty() && content.blocks.is_empty() {
            return Ok(());
        }
        *self.added.entry(digest.clone()).or_default() += 1;
        self.last = digest;
        let mut turn = Turn { role: role.into(), pointer: message.pointer, model: message.model, ..Turn::default() };
        turn.times.created = message.time;
        turn.verbatim = Some(Verbatim::json(message.raw.get()));
        self.session.push(reader, member, turn, content)?;
        Ok(())
    }
}

/// Adds a part of a message: a text, a thought, a tool call or the result of a tool call.
fn push_part(content: &mut AgentContent, part: &Object<'_>) {
    let kind = part.text("type").unwrap_or(Cow::Borrowed("unknown"));
    let first = |keys: &[&str]| keys.iter().find_map(|key| part.raw_value(key)).map_or_else(String::new, value_text);
    let name = part.non_blank_text("name");
    match kind.as_ref() {
        "text" => push_text(&mut content.text, &first(&["content", "text"])),
        "reasoning" | "thinking" => content.push_block("thinking", None, first(&["content", "text"])),
        "tool_call" => content.push_block("tool_call", name.as_deref(), first(&["arguments"])),
        "tool_call_response" => {
            content.push_block("tool_result", name.as_deref(), first(&["response", "result", "content"]));
        }
        kind => content.push_block(kind, name.as_deref(), first(&["content", "text"])),
    }
}

/// The time in a text with nanoseconds since 1970.
fn nanoseconds(text: &str) -> Option<Timestamp> {
    Timestamp::from_micros(i64::try_from(text.trim().parse::<u64>().ok()? / 1000).ok()?)
}
