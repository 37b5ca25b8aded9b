//! Reads one request of a chat: the person's question and the assistant's answer.
use mementory_formats_shared::agent_content::{AgentContent, nested_text, push_text, value_text};
use mementory_formats_shared::chat::{Turn, is_tool_type};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::{Object, decode_string, list, with_replaced_values};
use mementory_model::Verbatim;
use serde_json::value::RawValue;

/// Kinds of answer parts that only report progress, or mark where an edit begins.
const PROGRESS_PART_KINDS: [&str; 8] = [
    "undoStop",
    "prepareToolInvocation",
    "mcpServersStarting",
    "progressMessage",
    "progressTask",
    "progressTaskSerialized",
    "codeblockUri",
    "treeData",
];

/// Members of a request that contain the question.
const QUESTION_MEMBERS: [&str; 2] = ["message", "variableData"];
/// Members of a request that contain the answer.
const ANSWER_MEMBERS: [&str; 5] = ["response", "result", "followups", "contentReferences", "codeCitations"];
/// Members of `result.metadata` that repeat the question.
const REPEATED_QUESTION_MEMBERS: [&str; 2] = ["renderedUserMessage", "renderedGlobalContext"];

/// The turns of a request: the question, and the answer if there is one. `text` is the JSON of the request.
pub(super) fn turns(text: &str, request: &Object<'_>, pointer: &str) -> Vec<Turn> {
    let id = request.non_blank_text("requestId").map(|id| id.into_owned());
    let question_time = any_time(request, "timestamp");
    let response = request.raw_value("response");
    let mut question = Turn { id: id.clone(), role: "user".into(), pointer: pointer.to_owned(), ..Turn::default() };
    question.times.created = question_time;
    question.verbatim = Some(Verbatim::json(text));
    let mut content = AgentContent { text: question_text(request), ..AgentContent::default() };
    read_context(request, &mut content);
    content.fill(&mut question);
    let mut content = answer_of(response);
    let result = request.object("result");
    let error = result.as_ref().and_then(|result| result.object("errorDetails"));
    if let Some(message) = error.and_then(|error| error.non_blank_text("message").map(|t| t.into_owned())) {
        content.push_block("error", None, message);
    }
    if content.text.trim().is_empty() && content.blocks.is_empty() {
        return vec![question];
    }
    // Question and answer can be erased separately, so the verbatim of one must not contain the text of the other.
    let metadata = result.as_ref().and_then(|result| result.object("metadata")).unwrap_or_default();
    question.verbatim = Some(without_values(text, members(request, &ANSWER_MEMBERS)));
    let question_values =
        [members(request, &QUESTION_MEMBERS), members(&metadata, &REPEATED_QUESTION_MEMBERS)].concat();
    let stated_id = request.non_blank_text("responseId").map(|id| id.into_owned());
    let mut answer = Turn {
        id: stated_id.or_else(|| id.map(|id| format!("{id}/response"))),
        role: "assistant".into(),
        model: request.non_blank_text("modelId").map(|model| model.into_owned()),
        pointer: format!("{pointer}/response"),
        ..Turn::default()
    };
    let state = request.object("modelState");
    answer.times.created = state.and_then(|state| any_time(&state, "completedAt")).or(question_time);
    answer.verbatim = Some(without_values(text, question_values));
    if request.is_true("isCanceled") {
        answer.fields.insert("canceled".into(), true.into());
    }
    let is_tool_only = is_tool_type(content.content_type());
    content.fill(&mut answer);
    answer.hidden = is_tool_only;
    vec![question, answer]
}

fn members<'a>(object: &Object<'a>, names: &[&str]) -> Vec<&'a RawValue> {
    names.iter().filter_map(|name| object.raw_value(name)).collect()
}

/// The JSON of a request without some of its values.
fn without_values(text: &str, values: Vec<&RawValue>) -> Verbatim {
    let replaced: Vec<_> = values.into_iter().map(|raw| (raw, "[]")).collect();
    Verbatim::json(with_replaced_values(text, &replaced))
}

/// The question: `message.text`, the parts of the message, or the message itself, which is a string in older chats.
fn question_text(request: &Object<'_>) -> String {
    let Some(raw) = request.raw_value("message") else { return String::new() };
    if let Some(text) = decode_string(raw) {
        return text.into_owned();
    }
    let message = Object::parse(raw.get()).unwrap_or_default();
    if let Some(text) = message.non_blank_text("text") {
        return text.into_owned();
    }
    let parts = message.list("parts").unwrap_or_default();
    parts.into_iter().filter_map(|part| Some(Object::parse(part.get())?.text("text")?.into_owned())).collect()
}

/// Adds the names of the files and selections that the person attached.
fn read_context(request: &Object<'_>, content: &mut AgentContent) {
    let data = request.object("variableData");
    for raw in data.and_then(|data| data.list("variables")).into_iter().flatten() {
        let Some(variable) = Object::parse(raw.get()) else { continue };
        let name = variable.non_blank_text("name");
        let words = variable.non_blank_text("modelDescription").unwrap_or_default();
        content.push_block("context", name.as_deref(), words);
    }
}

/// The parts of an answer. Consecutive texts may belong to the same sentence, so they are joined without a line break.
/// Texts with another block between them are separated by a blank line.
fn answer_of(response: Option<&RawValue>) -> AgentContent {
    let mut content = AgentContent::default();
    let Some(raw) = response else { return content };
    // Number of blocks before the last text.
    let mut blocks = 0;
    for part in list(raw).unwrap_or_else(|| vec![raw]) {
        let words = if let Some(text) = decode_string(part) {
            text.into_owned()
        } else if let Some(object) = Object::parse(part.get()) {
            add_part(&mut content, part, &object)
        } else {
            continue;
        };
        if words.is_empty() {
            continue;
        }
        if std::mem::replace(&mut blocks, content.blocks.len()) == content.blocks.len() || content.text.is_empty() {
            content.text.push_str(&words);
            continue;
        }
        let end = content.text.trim_end().len();
        content.text.truncate(end);
        content.text.push_str("\n\n");
        content.text.push_str(words.trim_start_matches(['\r', '\n']));
    }
    content
}

/// Adds a part of an answer to `content` if it is not text. Otherwise, returns its text.
fn add_part(content: &mut AgentContent, raw: &RawValue, part: &Object<'_>) -> String {
    let kind = part.text("kind").unwrap_or_default();
    match kind.as_ref() {
        "" | "markdownContent" | "markdownVuln" => {
            return markdown(part.raw_value("content").or_else(|| part.raw_value("value")));
        }
        "inlineReference" => return reference_name(part),
        "thinking" => {
            content.push_block("thinking", None, part.raw_value("value").map_or_else(String::new, value_text))
        }
        "toolInvocation" | "toolInvocationSerialized" => add_tool(content, part),
        "textEditGroup" => {
            let file = part.object("uri").and_then(|uri| path_of_uri(&uri));
            let edits = part.raw_value("edits").map_or_else(String::new, nested_text);
            content.push_block("tool_call", Some("edit"), [file.unwrap_or_default(), edits].join("\n"));
        }
        kind if PROGRESS_PART_KINDS.contains(&kind) => {}
        kind => content.push_block(kind, None, nested_text(raw)),
    }
    String::new()
}

fn add_tool(content: &mut AgentContent, part: &Object<'_>) {
    let name = part.non_blank_text("toolId").or_else(|| part.non_blank_text("toolName"));
    let data = part.object("toolSpecificData");
    let command = data.as_ref().and_then(|data| {
        let line = data.object("commandLine");
        let text =
            line.and_then(|line| ["userEdited", "original"].into_iter().find_map(|key| line.non_blank_text(key)));
        text.or_else(|| data.non_blank_text("command")).map(|text| text.into_owned())
    });
    let mut words = markdown(part.raw_value("pastTenseMessage").or_else(|| part.raw_value("invocationMessage")));
    push_text(&mut words, &command.unwrap_or_default());
    content.push_block("tool_call", name.as_deref().or(Some("tool")), words);
    if let Some(raw) = part.raw_value("resultDetails") {
        let details = Object::parse(raw.get()).unwrap_or_default();
        let output = details.raw_value("output").unwrap_or(raw);
        let words = nested_text(output);
        if !words.trim().is_empty() {
            content.push_block("tool_result", None, words);
        }
    }
}

/// A string, or the value of a Markdown object, which some versions put into a part of an answer.
fn markdown(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else { return String::new() };
    if let Some(text) = decode_string(raw) {
        return text.into_owned();
    }
    let object = Object::parse(raw.get()).unwrap_or_default();
    let inner = object.object("content").unwrap_or_default();
    object.text("value").or_else(|| inner.text("value")).unwrap_or_default().into_owned()
}

/// The text that represents a reference: its name, or the name of the file that it refers to.
fn reference_name(part: &Object<'_>) -> String {
    let inner = part.object("inlineReference").unwrap_or_default();
    let name = part.non_blank_text("name").or_else(|| inner.non_blank_text("name")).map(|name| name.into_owned());
    let place =
        || path_of_uri(&inner).or_else(|| inner.object("location").and_then(|l| path_of_uri(&l.object("uri")?)));
    let file = || place().map(|place| place.rsplit(['/', '\\']).next().unwrap_or_default().to_owned());
    name.or_else(file).map(|name| format!("`{name}`")).unwrap_or_default()
}

/// The path in a URI that VS Code stores as an object.
fn path_of_uri(uri: &Object<'_>) -> Option<String> {
    ["fsPath", "path", "external"].into_iter().find_map(|key| uri.non_blank_text(key)).map(|path| path.into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn turns_of(text: &str) -> Vec<Turn> {
        turns(text, &Object::parse(text).unwrap(), "/requests/0")
    }

    #[test]
    fn texts_before_and_after_a_block_are_separated() {
        let turns = turns_of(
            r#"{"message":{"text":"Where?"},"response":[{"value":"Let me "},{"kind":"undoStop"},{"value":"look."},
            {"kind":"toolInvocationSerialized","toolId":"search","pastTenseMessage":"Searched"},
            {"value":"\nFound "},{"kind":"inlineReference","name":"hive.ts"},{"value":"."}]}"#,
        );
        assert_eq!(turns[1].text, "Let me look.\n\nFound `hive.ts`.");
        let nested = r#"{"message":{"text":"Where?"},"response":[{"value":{"kind":"markdownContent","content":{"value":"There."}}}]}"#;
        assert_eq!(turns_of(nested)[1].text, "There.");
    }

    #[test]
    fn neither_message_has_the_text_of_the_other_in_its_verbatim() {
        let error = r#""result":{"errorDetails":{"message":"No quota"},"metadata":{"renderedUserMessage":["Where?"]}}"#;
        for response in ["", r#""response":["In the south"],"#] {
            let question = r#""message":{"text":"Where?"},"variableData":{"name":"Where?"}"#;
            let text = format!("{{{question},{response}{error}}}");
            let turns = turns_of(&text);
            let source = |at: usize| turns[at].verbatim.as_ref().unwrap().text.as_str();
            assert!(source(0).contains("Where?") && !source(0).contains("quota") && !source(0).contains("south"));
            assert!(!source(1).contains("Where?") && source(1).contains("No quota"), "{}", source(1));
            assert_eq!(source(1).contains("south"), !response.is_empty());
        }
        let alone = r#"{"message":"Where?","response":[{"kind":"undoStop","id":"u"}]}"#;
        assert_eq!(turns_of(alone)[0].verbatim.as_ref().unwrap().text, alone);
    }
}
