//! Reads the output of `llm logs --json` of the command line program LLM: a list with the rows of its database. Each
//! entry also has the name of the conversation, the calls of tools and the attachments. The ids are the same as in the
//! database.
use super::FORMAT_ID;
use super::llm_logs::PLATFORM;
use super::llm_parts::Named;
use super::llm_row::{SYSTEM_SEPARATOR, prompt_content};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::content::{Content, FileRef};
use mementory_formats_shared::message::{first_text, send};
use mementory_formats_shared::object::{Object, content_id, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_json::Keys;
use mementory_model::{DroppedAs, Kind, Times, Timestamp, Verbatim};
use std::collections::{HashMap, HashSet};

/// Members with fragments: texts that LLM puts before the prompt or the system prompt.
const PROMPT_FRAGMENTS: &str = "prompt_fragments";
const SYSTEM_FRAGMENTS: &str = "system_fragments";
/// Members of an entry that are read as separate messages or that repeat earlier messages, each with an empty
/// replacement.
const PROMPT_MEMBERS: [(&str, &str); 7] = [
    ("prompt", "\"\""),
    ("system", "\"\""),
    ("prompt_json", "null"),
    (PROMPT_FRAGMENTS, "[]"),
    (SYSTEM_FRAGMENTS, "[]"),
    ("tool_results", "[]"),
    (NAME, "null"),
];
/// Name of the conversation. LLM makes it from the first prompt.
const NAME: &str = "conversation_name";

/// True for the keys of a list of logged responses.
pub(super) fn is_log(keys: &Keys) -> bool {
    ["prompt", "response", "datetime_utc", "conversation_id", NAME].iter().all(|key| keys.has(key))
}

/// The entries of a file, by conversation.
#[derive(Debug, Default)]
pub(super) struct Log {
    chats: Vec<(Option<String>, Vec<Entry>)>,
    positions: HashMap<String, usize>,
    ids: HashSet<String>,
    bytes: u64,
}

#[derive(Debug)]
struct Entry {
    time: Option<Timestamp>,
    text: String,
    pointer: String,
}

impl Log {
    /// Adds an entry. An entry without a response is reported as dropped, and so is an entry that occurs a second time.
    pub fn add(
        &mut self,
        files: &mut FileReader<'_>,
        member: &Member,
        element: &ObjectElement<'_>,
    ) -> Result<(), FormatError> {
        let object = &element.object;
        let place = format!("{}#{}", member.place, element.pointer);
        if object.text("response").is_none() && object.text("prompt").is_none() {
            let reason = "no_messages: this entry has neither prompt nor response";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        if !self.ids.insert(id_of(object, element.text)) {
            let reason = "duplicate: the same response occurs twice";
            files.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Message));
            return Ok(());
        }
        self.bytes += element.text.len() as u64;
        let limit = files.context.limits.element_bytes;
        if self.bytes > limit {
            return Err(FormatError::Limit { limit: "element_bytes", place: member.place.clone(), figure: limit });
        }
        let time = first_time(object, &["datetime_utc"]);
        let entry = Entry { time, text: element.text.to_owned(), pointer: element.pointer.clone() };
        let id = first_text(object, &["conversation_id"]);
        let position = id.as_ref().and_then(|id| self.positions.get(id)).copied();
        match position.and_then(|at| self.chats.get_mut(at)) {
            Some((_, entries)) => entries.push(entry),
            None => {
                if let Some(id) = &id {
                    self.positions.insert(id.clone(), self.chats.len());
                }
                self.chats.push((id, vec![entry]));
            }
        }
        Ok(())
    }

    /// Sends the conversations. A search lists their entries by relevance, so they are sorted by time.
    pub fn send(self, files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
        for (id, mut entries) in self.chats {
            entries.sort_by_key(|entry| entry.time);
            let mut chat = Chat { id, is_log: true, ..Chat::default() };
            let mut last_system = None;
            for entry in &entries {
                let Some(object) = Object::parse(&entry.text) else { continue };
                if chat.pointer.is_empty() {
                    chat.pointer.clone_from(&entry.pointer);
                    chat.title = first_text(&object, &[NAME]);
                    chat.model = first_text(&object, &["conversation_model"]);
                    // As in the database, a response outside of a conversation becomes a separate conversation.
                    chat.id.get_or_insert_with(|| format!("responses/{}", id_of(&object, &entry.text)));
                }
                add_turns(&object, entry, &mut last_system, &mut chat.turns);
            }
            chat.times.created = entries.first().and_then(|entry| entry.time);
            chat.times.updated = entries.last().and_then(|entry| entry.time);
            send(files, member, chat, PLATFORM, Some("llm_json"))?;
        }
        Ok(())
    }
}

fn id_of(object: &Object<'_>, text: &str) -> String {
    first_text(object, &["id"]).unwrap_or_else(|| content_id(text))
}

/// Adds the system prompt (unless the previous entry had the same one), the results of tools, the prompt and the
/// response.
fn add_turns(object: &Object<'_>, entry: &Entry, last_system: &mut Option<String>, out: &mut Vec<Turn>) {
    let id = id_of(object, &entry.text);
    let turn = |role: &str, content: Content, source: String| {
        let mut turn = Turn {
            id: Some(format!("{id}/{role}")),
            hidden: matches!(role, SYSTEM | TOOL),
            content_type: if role == SYSTEM { "context".into() } else { content.content_type().into() },
            role: role.into(),
            times: Times { created: entry.time, ..Times::default() },
            pointer: entry.pointer.clone(),
            verbatim: Some(Verbatim::json(source)),
            ..Turn::default()
        };
        content.put_into(&mut turn, FORMAT_ID);
        turn
    };
    let (words, fragments, source) = text_and_fragments(object, "system", SYSTEM_FRAGMENTS);
    let texts: Vec<String> = fragments.into_iter().map(|(_, text)| text).chain(words).collect();
    let text = texts.join(SYSTEM_SEPARATOR);
    if !text.is_empty() && last_system.as_ref() != Some(&text) {
        out.push(turn(SYSTEM, Content { text: text.clone(), ..Content::default() }, source));
    }
    *last_system = Some(text);
    let mut results = Content::default();
    for result in object.objects("tool_results") {
        let text = first_text(&result, &["output", "exception"]).unwrap_or_default();
        results.add_block("tool_result", first_text(&result, &["name"]), text);
    }
    if !results.blocks.is_empty() {
        out.push(turn(TOOL, results, object.raw_value("tool_results").map_or("[]", |raw| raw.get()).to_owned()));
    }
    let (words, fragments, source) = text_and_fragments(object, "prompt", PROMPT_FRAGMENTS);
    let mut prompt = prompt_content(words, fragments).unwrap_or_default();
    prompt.files.extend(object.objects("attachments").map(|file| attachment(&file)));
    if !prompt.text.is_empty() || !prompt.files.is_empty() {
        out.push(turn(USER, prompt, source));
    }
    let text = object.non_blank_text("response").unwrap_or_default().into_owned();
    let mut answer = Content { text, ..Content::default() };
    answer.add_block("thinking", None, first_text(object, &["reasoning"]).unwrap_or_default());
    object.objects("tool_calls").for_each(|call| answer.add_call(&call));
    // The verbatim of a response does not contain the prompt, so erasing the prompt erases its text completely.
    let cuts: Vec<_> = PROMPT_MEMBERS.iter().filter_map(|(key, with)| Some((object.raw_value(key)?, *with))).collect();
    let mut answer = turn(ASSISTANT, answer, with_replaced_values(&entry.text, &cuts));
    answer.model = first_text(object, &["resolved_model", "model"]);
    out.push(answer);
}

/// Returns the text under `key`, the fragments before it, and the source of both. Fragments have no names in the log.
fn text_and_fragments(object: &Object<'_>, key: &str, fragments_key: &str) -> (Option<String>, Vec<Named>, String) {
    let content = |fragment: Object<'_>| Some((None, fragment.non_blank_text("content")?.into_owned()));
    let fragments: Vec<Named> = object.objects(fragments_key).filter_map(content).collect();
    let source = object.raw_value(key).map_or("\"\"", |raw| raw.get());
    let source = match object.raw_value(fragments_key).filter(|_| !fragments.is_empty()) {
        Some(raw) => format!("{{\"{fragments_key}\":{},\"{key}\":{source}}}", raw.get()),
        None => source.to_owned(),
    };
    (object.non_blank_text(key).map(|text| text.into_owned()), fragments, source)
}

/// Refers to a file that was sent with a prompt. The log contains the file's path or address. The id of a file is a
/// digest of its bytes.
fn attachment(file: &Object<'_>) -> FileRef {
    let name = first_text(file, &["path", "url"]);
    FileRef {
        id: first_text(file, &["id", "path", "url"]),
        name: name.and_then(|place| place.rsplit(['/', '\\']).next().map(str::to_owned)),
        media_type: first_text(file, &["type"]),
        size: file.whole_number("content_length"),
    }
}
