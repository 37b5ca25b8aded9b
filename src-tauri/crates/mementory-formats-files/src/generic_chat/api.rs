//! Reads requests to a model's API and its answers, in the form of OpenAI's API: requests and answers of a batch, saved
//! answers (`chat.completion`, `response`), and training data in which one answer is preferred.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, read_list, read_message, role_name, send, times};
use mementory_formats_shared::object::{Object, content_id, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Verbatim};
use serde_json::value::RawValue;

/// Keys under which a file may list its elements.
pub(super) const WRAPPER_KEYS: [&str; 2] = ["data", "results"];
/// Members of a conversation that are stored as additional fields, because a record has no field for them.
const FIELDS: [&str; 2] = ["custom_id", "previous_response_id"];

/// True if the start of a file has requests or answers of an API. `objects` are the values of the members `object`.
pub(super) fn is_exchange(keys: &Keys, objects: &[&str]) -> bool {
    let is_element = |at: &str| {
        let has = |path: &str| keys.has(&format!("{at}{path}"));
        let is_request = has("body.messages") || has("body.input") || has("body.prompt");
        let is_answer = has("response.body.choices") || has("response.body.output");
        let is_saved = has("choices.message") && objects.contains(&"chat.completion")
            || has("output.type") && has("model") && objects.contains(&"response");
        has("custom_id") && (is_request && has("url") || is_answer)
            || has("preferred_output") && has("input")
            || is_saved
    };
    is_element("") || WRAPPER_KEYS.iter().any(|wrapper| is_element(&format!("{wrapper}.")))
}

/// Sends the messages of an element as a conversation.
pub(super) fn read_exchange(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let mut exchange = Exchange::default();
    let response = object.object("response").and_then(|response| response.object("body"));
    let at = &element.pointer;
    let mut described = object.object("body");
    if let Some(body) = &described {
        exchange.add_request(files, member, body, &format!("{at}/body"));
    }
    if let Some(body) = response {
        exchange.add_answer(files, member, &body, &format!("{at}/response/body"));
        described = Some(body);
    }
    if described.is_none() && object.has("preferred_output") {
        exchange.add_preferences(files, member, object, at);
    } else if described.is_none() {
        exchange.add_answer(files, member, object, at);
    }
    if exchange.turns.is_empty() {
        let has_error = |object: &Object<'_>| object.object("error").is_some();
        let (outcome, reason) = match has_error(object) || described.as_ref().is_some_and(has_error) {
            true => (DroppedAs::Skipped, "failed_request: the API answered with an error"),
            false => (DroppedAs::Failed, "no_messages: this entry has no messages"),
        };
        files.report_dropped(format!("{}#{at}", member.place), outcome, reason, Some(Kind::Conversation));
        return Ok(());
    }
    let described = described.as_ref().unwrap_or(object);
    let text = with_replaced_values(element.text, &exchange.cuts);
    // The ids of requests, such as `request-1`, are the same in every batch, so they cannot identify a conversation.
    let stated_id = first_text(described, &["id"]);
    let id = stated_id.unwrap_or_else(|| content_id(&format!("{text}\n{:?}", exchange.beginning())));
    let mut chat = Chat {
        id: Some(id),
        model: first_text(described, &["model"]),
        times: times(described),
        leaf: exchange.ensure_leaf_id(),
        is_log: true,
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(text)),
        turns: exchange.turns,
        ..Chat::default()
    };
    for key in FIELDS {
        if let Some(value) = first_text(object, &[key]).or_else(|| first_text(described, &[key])) {
            chat.fields.insert(key.into(), value.into());
        }
    }
    send(files, member, chat, "other", Some("api"))
}

/// The messages of a request and of its answers.
#[derive(Default)]
struct Exchange<'e> {
    turns: Vec<Turn>,
    /// Position of the message that ends the conversation.
    last: Option<usize>,
    /// Values that contain the texts of messages, each with its replacement in the verbatim of the conversation.
    cuts: Vec<(&'e RawValue, &'static str)>,
}

impl<'e> Exchange<'e> {
    /// Adds messages as a chain that follows the message at position `after`. Returns the position of the last message.
    fn chain(&mut self, turns: Vec<Turn>, after: Option<usize>) -> Option<usize> {
        let mut before = after;
        for mut turn in turns {
            turn.parent = before.map_or(TurnParent::Root, TurnParent::At);
            before = Some(self.turns.len());
            self.turns.push(turn);
        }
        before
    }

    /// Adds the messages of a request.
    fn add_request(&mut self, files: &mut FileReader<'_>, member: &Member, body: &Object<'e>, at: &str) {
        if let Some(raw) = body.raw_value("instructions") {
            let turns = text_turn(raw, SYSTEM, format!("{at}/instructions"));
            self.add_value(turns, raw);
        }
        for key in ["messages", "input", "prompt"] {
            let Some(raw) = body.raw_value(key) else { continue };
            let at = format!("{at}/{key}");
            let turns = match list(raw) {
                Some(items) if key == "messages" => read_list(files, member, &items, &at),
                Some(items) => items_of(&items, &at),
                None => text_turn(raw, USER, at),
            };
            self.add_value(turns, raw);
        }
    }

    fn add_value(&mut self, turns: Vec<Turn>, raw: &'e RawValue) {
        if !turns.is_empty() {
            self.cuts.push((raw, if raw.get().starts_with('[') { "[]" } else { "\"\"" }));
        }
        self.last = self.chain(turns, self.last);
    }

    /// Adds the messages of an answer. If the answer offers several choices, the first one counts as the chosen one.
    fn add_answer(&mut self, files: &mut FileReader<'_>, member: &Member, body: &Object<'e>, at: &str) {
        // Some programs save the request next to its answer.
        self.add_request(files, member, body, at);
        let question = self.last;
        if let Some(raw) = body.raw_value("choices") {
            self.cuts.push((raw, "[]"));
            for (index, raw) in list(raw).unwrap_or_default().into_iter().enumerate() {
                let choice = Object::parse(raw.get()).unwrap_or_default();
                let pointer = format!("{at}/choices/{index}");
                let turns = match choice.object("message") {
                    Some(message) => vec![answer(&message, raw, pointer)],
                    None => choice.raw_value("text").map(|raw| text_turn(raw, ASSISTANT, pointer)).unwrap_or_default(),
                };
                let last = self.chain(turns, question);
                self.last = if index == 0 { last } else { self.last };
            }
        }
        if let Some(items) = body.list("output") {
            let turns = items_of(&items, &format!("{at}/output"));
            self.last = self.chain(turns, question);
            self.cuts.extend(body.raw_value("output").map(|raw| (raw, "[]")));
            // OpenAI's clients repeat the texts of the output in this member.
            self.cuts.extend(body.raw_value("output_text").map(|raw| (raw, "\"\"")));
        }
    }

    /// Adds a request with its preferred answer and its rejected answer.
    fn add_preferences(&mut self, files: &mut FileReader<'_>, member: &Member, object: &Object<'e>, at: &str) {
        match object.object("input") {
            Some(input) => self.add_request(files, member, &input, &format!("{at}/input")),
            None => self.add_request(files, member, object, at),
        }
        let question = self.last;
        for (key, is_preferred) in [("non_preferred_output", false), ("preferred_output", true)] {
            let Some(raw) = object.raw_value(key) else { continue };
            let mut turns = read_list(files, member, &list(raw).unwrap_or_default(), &format!("{at}/{key}"));
            turns.iter_mut().for_each(|turn| drop(turn.fields.insert("preferred".into(), is_preferred.into())));
            self.cuts.push((raw, "[]"));
            let last = self.chain(turns, question);
            self.last = if is_preferred { last } else { self.last };
        }
    }

    /// The texts of the first two messages.
    fn beginning(&self) -> Vec<&str> {
        self.turns.iter().take(2).map(|turn| turn.text.as_str()).collect()
    }

    /// Returns the id of the message that ends the conversation. If this message has no id, gives it one that is made
    /// from its position and text.
    fn ensure_leaf_id(&mut self) -> Option<String> {
        let at = self.last?;
        let turn = self.turns.get_mut(at)?;
        if turn.id.is_none() {
            turn.key = Some(content_id(&format!("{at}\n{}\n{}", turn.role, turn.text)));
        }
        turn.key.clone().or_else(|| turn.id.clone())
    }
}

/// Reads the message in the element `source`. A message without a role counts as an answer.
fn answer(message: &Object<'_>, source: &RawValue, pointer: String) -> Turn {
    let turn = read_message(message, source.get(), pointer, FORMAT_ID);
    match role_name(message) {
        Some(_) => turn,
        None => Turn { role: ASSISTANT.into(), ..turn },
    }
}

/// Reads a text as a message. Returns no message if the value is not a text, or if the text is blank.
fn text_turn(raw: &RawValue, role: &str, pointer: String) -> Vec<Turn> {
    let text = decode_string(raw).filter(|text| !text.trim().is_empty());
    let is_instruction = role == SYSTEM;
    let turn = text.map(|text| Turn {
        role: role.into(),
        text: text.into_owned(),
        content_type: if is_instruction { "context" } else { "text" }.into(),
        hidden: is_instruction,
        pointer,
        verbatim: Some(Verbatim::json(raw.get())),
        ..Turn::default()
    });
    turn.into_iter().collect()
}

/// The items of a request or an answer: messages, thoughts, calls of tools and their results.
fn items_of(items: &[&RawValue], at: &str) -> Vec<Turn> {
    let mut out = Vec::new();
    for (index, raw) in items.iter().enumerate() {
        let pointer = format!("{at}/{index}");
        let Some(item) = Object::parse(raw.get()) else {
            out.extend(text_turn(raw, USER, pointer));
            continue;
        };
        let kind = item.text("type").unwrap_or_default();
        if role_name(&item).is_some() || kind == "message" {
            out.push(answer(&item, raw, pointer));
            continue;
        }
        let mut content = Content::default();
        content.add(raw);
        let is_result = kind.ends_with("_output");
        let mut turn = Turn {
            id: first_text(&item, &["id"]),
            role: if is_result { TOOL } else { ASSISTANT }.into(),
            content_type: content.content_type().into(),
            hidden: is_result || content.content_type() == "tool_call",
            pointer,
            verbatim: Some(Verbatim::json(raw.get())),
            ..Turn::default()
        };
        content.put_into(&mut turn, FORMAT_ID);
        out.push(turn);
    }
    out
}
