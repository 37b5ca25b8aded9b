//! Reads a story that KoboldAI or KoboldAI Lite saved: a beginning, the texts that follow it, and texts that the model
//! receives with each request (memory, author's note, world info).
use super::shape::KOBOLD_ACTIONS;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, report_no_message, send};
use mementory_formats_shared::object::{Object, content_id, decode_string, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, USER};
use mementory_model::Verbatim;
use serde_json::value::RawValue;

const PLATFORM: &str = "koboldai";
/// Members with the settings of the page, which can contain API keys.
const SETTINGS: [&str; 2] = ["savedsettings", "savedaestheticsettings"];
/// Pairs of marks in stories that are chats. The first mark is before a text of the person, and the second is after it,
/// where the answer of the model begins. Newer versions write placeholders, and older ones write the marks that the
/// model knows.
const TURN_MARKS: [(&str, &str); 2] = [("{{[INPUT]}}", "{{[OUTPUT]}}"), ("\n### Instruction:\n", "\n### Response:\n")];

/// Sends the story as a conversation.
pub(super) fn read_story(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let at = &element.pointer;
    let mut turns: Vec<Turn> = Vec::new();
    let mut cuts: Vec<(&RawValue, &str)> = Vec::new();
    for key in ["memory", "authorsnote"] {
        if let Some(raw) = object.raw_value(key) {
            turns.extend(context_turn(raw, format!("{at}/{key}")));
            cuts.push((raw, "\"\""));
        }
    }
    for (index, raw) in object.list("worldinfo").unwrap_or_default().into_iter().enumerate() {
        let content = Object::parse(raw.get()).and_then(|entry| entry.raw_value("content"));
        let Some(content) = content else { continue };
        turns.extend(context_turn(content, format!("{at}/worldinfo/{index}/content")));
        cuts.push((content, "\"\""));
    }
    // This member repeats the texts that were chosen among several answers.
    for (_, raw) in object.object("actions_metadata").iter().flat_map(|entries| entries.members()) {
        let chosen_text = Object::parse(raw.get()).and_then(|entry| entry.raw_value("Selected Text"));
        cuts.extend(chosen_text.map(|raw| (raw, "\"\"")));
    }
    let actions = object.list(KOBOLD_ACTIONS).unwrap_or_default();
    let marks = marks_of(object);
    // In a chat, `prompt` is the first text of the person, with the same marks.
    let prompt = object.raw_value("prompt");
    let is_chat =
        prompt.into_iter().chain(actions.iter().copied()).filter_map(decode_string).any(|text| marks.is_prompt(&text));
    if let Some(raw) = prompt {
        let without_marks = |text: String| if is_chat { marks.remove_from(&text) } else { text };
        turns.extend(text_of(raw).map(|text| turn(USER, without_marks(text), raw, format!("{at}/prompt"))));
        cuts.push((raw, "\"\""));
    }
    for (index, raw) in actions.into_iter().enumerate() {
        let pointer = format!("{at}/{KOBOLD_ACTIONS}/{index}");
        let Some(text) = decode_string(raw) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        // In a story, the person and the model write into the same text, so the speaker is unknown.
        let role = match (is_chat, marks.is_prompt(&text)) {
            (false, _) => "unknown",
            (true, true) => USER,
            (true, false) => ASSISTANT,
        };
        turns.push(turn(role, marks.remove_from(&text), raw, pointer));
    }
    cuts.extend(object.raw_value(KOBOLD_ACTIONS).map(|raw| (raw, "[]")));
    cuts.extend(SETTINGS.iter().filter_map(|key| object.raw_value(key)).map(|raw| (raw, "{}")));
    // Many stories begin with the text of the same scenario, so the key also depends on the text after it.
    let beginning: Vec<&str> =
        turns.iter().filter(|turn| turn.role != SYSTEM).take(2).map(|turn| turn.text.as_str()).collect();
    let chat = Chat {
        key: Some(content_id(&beginning.join("\n"))),
        title: first_text(object, &["title"]),
        pointer: element.pointer.clone(),
        verbatim: Some(Verbatim::json(with_replaced_values(element.text, &cuts))),
        turns,
        ..Chat::default()
    };
    send(files, member, chat, PLATFORM, Some("kobold"))
}

fn text_of(raw: &RawValue) -> Option<String> {
    decode_string(raw).filter(|text| !text.trim().is_empty()).map(|text| text.into_owned())
}

/// A text that the model receives with each request. None if it is blank.
fn context_turn(source: &RawValue, pointer: String) -> Option<Turn> {
    let text = text_of(source)?;
    Some(Turn { hidden: true, content_type: "context".into(), ..turn(SYSTEM, text, source, pointer) })
}

fn turn(role: &str, text: String, source: &RawValue, pointer: String) -> Turn {
    Turn {
        role: role.into(),
        text,
        content_type: "text".into(),
        pointer,
        verbatim: Some(Verbatim::json(source.get())),
        ..Turn::default()
    }
}

/// The marks of a story.
struct Marks(Vec<(String, String)>);

/// The usual marks, and those in the story's settings.
fn marks_of(object: &Object<'_>) -> Marks {
    let mut marks: Vec<(String, String)> =
        TURN_MARKS.iter().map(|(start, end)| ((*start).to_owned(), (*end).to_owned())).collect();
    if let Some(settings) = object.object("savedsettings") {
        let text = |key: &str| settings.non_blank_text(key).map(|text| text.replace("\\n", "\n"));
        let tags = text("instruct_starttag").zip(text("instruct_endtag"));
        marks.extend(tags.filter(|(start, _)| !start.trim().is_empty()));
    }
    Marks(marks)
}

impl Marks {
    /// True for a text that the person wrote.
    fn is_prompt(&self, text: &str) -> bool {
        self.0.iter().any(|(start, _)| text.trim_start().starts_with(start.trim_start()))
    }

    /// The text without the marks around it.
    fn remove_from(&self, text: &str) -> String {
        let mut text = text.trim();
        for (start, end) in &self.0 {
            let (start, end) = (start.trim(), end.trim());
            text = text.strip_prefix(start).unwrap_or(text).trim();
            text = text.strip_suffix(end).unwrap_or(text).trim();
        }
        text.to_owned()
    }
}
