//! Reads threads of Chainlit: as JSON in the form in which its data layers return them, and from the database of its
//! SQLAlchemy data layer. The steps of a thread are messages, tools, and steps of the program.
use super::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::{Chat, Turn, put_oldest_first};
use mementory_formats_shared::content::Content;
use mementory_formats_shared::message::{first_text, report_no_message, send, times};
use mementory_formats_shared::object::{Object, decode_string, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, SYSTEM, TOOL, USER};
use mementory_formats_shared::sqlite::unreadable;
use mementory_formats_shared::sqlite_rows::{
    self, Row, Schema, each_row, each_row_in_order, report_other_tables, row_text, tables, text_in,
};
use mementory_json::Keys;
use mementory_model::{AttachmentRef, DroppedAs, Kind, RecordKey, Verbatim};
use std::collections::HashMap;

const PLATFORM: &str = "chainlit";
/// Keys of a list of threads in an answer.
pub(super) const WRAPPER_KEYS: [&str; 2] = ["data", "threads"];
const THREADS: &str = "threads";
const STEPS: &str = "steps";
const ELEMENTS: &str = "elements";
const FEEDBACKS: &str = "feedbacks";
/// Columns whose text is JSON.
const JSON_COLUMNS: [&str; 4] = ["metadata", "tags", "generation", "props"];

/// True for the keys of threads.
pub(super) fn is_thread(keys: &Keys, text: &str) -> bool {
    let has_steps = |at: &str| {
        let has = |name: &str| keys.has(&format!("{at}{STEPS}.{name}"));
        has("type") && has("output") && ["threadId", "parentId", "createdAt"].iter().any(|name| has(name))
    };
    ["", "data.", "threads."].into_iter().any(has_steps)
        && ["\"user_message\"", "\"assistant_message\""].iter().any(|kind| text.contains(kind))
}

/// True for the database of Chainlit.
pub(super) fn is_database(schema: &Schema) -> bool {
    schema.has_table(THREADS, &["id", "createdAt", "userIdentifier"])
        && schema.has_table(STEPS, &["id", "threadId", "type", "output"])
}

/// Sends the thread in an element.
pub(super) fn read_thread(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let thread = &element.object;
    let Some((raw_steps, steps)) = thread.raw_value(STEPS).and_then(|raw| Some((raw, list(raw)?))) else {
        let reason = "no_messages: this entry has no messages";
        files.report_failed(member, &element.pointer, reason, Kind::Conversation);
        return Ok(());
    };
    let mut read = ThreadSteps::default();
    for (index, raw) in steps.into_iter().enumerate() {
        let pointer = format!("{}/{STEPS}/{index}", element.pointer);
        match Object::parse(raw.get()) {
            Some(step) => read.add(&step, raw.get(), pointer),
            None => report_no_message(files, member, &pointer),
        }
    }
    put_oldest_first(&mut read.turns);
    let elements: Vec<_> = thread.objects(ELEMENTS).filter_map(|element| file_of(&element)).collect();
    let rest = with_replaced_values(element.text, &[(raw_steps, "[]")]);
    let place = format!("{}#{}", member.place, element.pointer);
    report_empty_steps(files, place, read.empty_count);
    let chat = chat_of(thread, rest, element.pointer.clone(), read.turns, elements);
    send(files, member, chat, PLATFORM, Some(PLATFORM))
}

/// Sends the threads of a database. Opening the database neither locks nor changes anything.
pub(super) fn read_database(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let database = sqlite_rows::open(files, member)?;
    let names = tables(&database).map_err(|error| unreadable(member, &error))?;
    let has_table = |table: &str| names.iter().any(|name| name == table);
    let mut feedback: HashMap<String, String> = HashMap::new();
    if has_table(FEEDBACKS) {
        each_row(files, member, &database, FEEDBACKS, |_, row, _| {
            if let Some(step) = text_in(&row, "forId") {
                feedback.insert(step, row_text(row, |_| false));
            }
            Ok(())
        })?;
    }
    let mut elements: HashMap<String, Vec<FileOfStep>> = HashMap::new();
    if has_table(ELEMENTS) {
        each_row(files, member, &database, ELEMENTS, |_, row, _| {
            let thread = text_in(&row, "threadId").unwrap_or_default();
            let text = row_text(row, |column| JSON_COLUMNS.contains(&column));
            let file = Object::parse(&text).and_then(|element| file_of(&element));
            elements.entry(thread).or_default().extend(file);
            Ok(())
        })?;
    }
    let mut threads: Vec<(String, Row)> = Vec::new();
    each_row(files, member, &database, THREADS, |_, row, _| {
        threads.push((text_in(&row, "id").unwrap_or_default(), row));
        Ok(())
    })?;
    let mut rows: HashMap<String, ThreadRow> = HashMap::new();
    for (number, (id, row)) in threads.into_iter().enumerate() {
        let files_of_thread = elements.remove(&id).unwrap_or_default();
        rows.entry(id).or_insert(ThreadRow { row, number, elements: files_of_thread });
    }
    // The steps of a thread follow one another, so only one thread is in memory.
    let mut current: Option<(String, ThreadSteps)> = None;
    let limit = files.context.limits.element_bytes;
    each_row_in_order(files, member, &database, (STEPS, "\"threadId\", \"createdAt\""), |files, row, number| {
        let id = text_in(&row, "threadId").unwrap_or_default();
        if current.as_ref().is_none_or(|(known, _)| *known != id) {
            if let Some((known, steps)) = current.take() {
                let thread = rows.remove(&known);
                send_row(files, member, &known, thread, steps)?;
            }
            current = Some((id, ThreadSteps::default()));
        }
        let Some((_, steps)) = current.as_mut() else { return Ok(()) };
        let opinion = text_in(&row, "id").and_then(|id| Some((feedback.remove(&id)?, id)));
        let text = row_text(row, |column| JSON_COLUMNS.contains(&column));
        steps.bytes += text.len() as u64;
        if steps.bytes > limit {
            let place = format!("{}#{STEPS}/row {number}", member.place);
            let reason = "too_large: the rest of this thread is larger than the limit";
            files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            return Ok(());
        }
        if let Some(step) = Object::parse(&text) {
            steps.add(&step, &text, format!("{STEPS}/row {number}"));
        }
        if let (Some((opinion, id)), Some(turn)) = (opinion, steps.turns.last_mut())
            && turn.id.as_ref() == Some(&id)
            && let Ok(opinion) = serde_json::from_str(&opinion)
        {
            turn.fields.insert("feedback".into(), opinion);
        }
        Ok(())
    })?;
    if let Some((known, steps)) = current {
        let thread = rows.remove(&known);
        send_row(files, member, &known, thread, steps)?;
    }
    let mut without_steps: Vec<_> = rows.into_iter().collect();
    without_steps.sort_by_key(|(_, thread)| thread.number);
    for (id, thread) in without_steps {
        send_row(files, member, &id, Some(thread), ThreadSteps::default())?;
    }
    report_other_tables(files, member, &database, &names, |table| match table {
        THREADS | STEPS | ELEMENTS | FEEDBACKS => None,
        _ => Some("it has no messages"),
    });
    Ok(())
}

/// A row of the table of threads, with the files of the thread.
struct ThreadRow {
    row: Row,
    number: usize,
    elements: Vec<FileOfStep>,
}

/// Sends a thread of the database. Its row may be missing.
fn send_row(
    files: &mut FileReader<'_>,
    member: &Member,
    id: &str,
    thread: Option<ThreadRow>,
    steps: ThreadSteps,
) -> Result<(), FormatError> {
    report_empty_steps(files, format!("{}#{STEPS} of {id}", member.place), steps.empty_count);
    let (row, number, elements) = thread
        .map_or_else(|| (Row::new(), None, Vec::new()), |thread| (thread.row, Some(thread.number), thread.elements));
    let text = row_text(row, |column| JSON_COLUMNS.contains(&column));
    let head = Object::parse(&text).unwrap_or_default();
    let pointer = number.map_or_else(|| format!("{STEPS} of {id}"), |number| format!("{THREADS}/row {number}"));
    let mut chat = chat_of(&head, text.clone(), pointer, steps.turns, elements);
    chat.id = Some(id.to_owned()).filter(|id| !id.is_empty());
    send(files, member, chat, PLATFORM, Some("database"))
}

fn report_empty_steps(files: &mut FileReader<'_>, place: String, count: u64) {
    if count > 0 {
        let reason = format!("progress: {count} steps without a text");
        files.report_dropped(place, DroppedAs::Skipped, &reason, None);
    }
}

/// A thread with its messages. A file belongs to the message that it names, else to the last one.
fn chat_of(
    thread: &Object<'_>,
    source: String,
    pointer: String,
    mut turns: Vec<Turn>,
    elements: Vec<FileOfStep>,
) -> Chat {
    for FileOfStep { step, file } in elements {
        let position = turns.iter().position(|turn| turn.id.is_some() && turn.id == step);
        let last = turns.len().saturating_sub(1);
        if let Some(turn) = turns.get_mut(position.unwrap_or(last)) {
            turn.attachments.push(file);
        }
    }
    let tags = thread.list("tags").unwrap_or_default();
    let mut chat = Chat {
        id: first_text(thread, &["id"]),
        title: first_text(thread, &["name"]),
        times: times(thread),
        tags: tags.into_iter().filter_map(|tag| Some(decode_string(tag)?.into_owned())).collect(),
        is_log: true,
        pointer,
        verbatim: Some(Verbatim::json(source)),
        turns,
        ..Chat::default()
    };
    chat.source.account = first_text(thread, &["userIdentifier"]);
    chat
}

/// A file, and the id of the step to which it belongs.
struct FileOfStep {
    step: Option<String>,
    file: AttachmentRef,
}

/// The file that an element describes. Its bytes are in the storage of the server.
fn file_of(element: &Object<'_>) -> Option<FileOfStep> {
    let id = first_text(element, &["id"])?;
    let file = AttachmentRef {
        key: RecordKey::new(FORMAT_ID, format!("file/{id}")),
        name: first_text(element, &["name"]).unwrap_or_else(|| id.clone()),
        origin_id: Some(id),
        media_type: first_text(element, &["mime"]),
        size: None,
        text: None,
    };
    Some(FileOfStep { step: first_text(element, &["forId"]), file })
}

/// The steps of a thread while they are read.
#[derive(Default)]
struct ThreadSteps {
    turns: Vec<Turn>,
    empty_count: u64,
    bytes: u64,
}

impl ThreadSteps {
    /// Adds a step as a message. A step without a text is counted.
    fn add(&mut self, step: &Object<'_>, text: &str, pointer: String) {
        let kind = first_text(step, &["type"]).unwrap_or_default();
        let name = first_text(step, &["name"]);
        let [input, output] = ["input", "output"].map(|key| first_text(step, &[key]).unwrap_or_default());
        let mut content = Content::default();
        let role = match kind.as_str() {
            "user_message" => USER,
            "assistant_message" => ASSISTANT,
            "tool" => TOOL,
            // The other steps are those of the program: what it sent to a model, for example, repeats the messages.
            _ => SYSTEM,
        };
        match role {
            USER | ASSISTANT => content.add_text(&output),
            TOOL => {
                content.add_block("tool_call", name.clone(), input);
                content.add_block("tool_result", name, output);
            }
            _ if kind == "system_message" => content.add_text(&output),
            _ => {
                let texts = [input, output].into_iter().filter(|text| !text.trim().is_empty());
                texts.for_each(|text| content.add_block(&kind, name.clone(), text));
            }
        }
        if content.is_empty() {
            self.empty_count += 1;
            return;
        }
        let generation = step.object("generation").unwrap_or_default();
        let mut times = times(step);
        times.created = times.created.or_else(|| first_time(step, &["start"]));
        let mut turn = Turn {
            id: first_text(step, &["id"]),
            role: role.to_owned(),
            content_type: match role {
                TOOL => content.content_type().to_owned(),
                SYSTEM => "context".to_owned(),
                _ => "text".to_owned(),
            },
            hidden: !matches!(role, USER | ASSISTANT),
            model: first_text(&generation, &["model"]).filter(|_| role == ASSISTANT),
            times,
            pointer,
            verbatim: Some(Verbatim::json(text)),
            ..Turn::default()
        };
        content.put_into(&mut turn, FORMAT_ID);
        if let Some(feedback) = step.raw_value("feedback").and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            turn.fields.insert("feedback".into(), feedback);
        }
        self.turns.push(turn);
    }
}
