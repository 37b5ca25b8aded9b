//! Reads a session of Google's Agent Development Kit (ADK), as its command line and its web page save it.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::chat::Chat;
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::roles::{ASSISTANT, USER};
use mementory_json::Keys;
use mementory_model::Verbatim;

const PLATFORM: &str = "google_adk";
const EVENTS: &str = "events";
/// Spellings of the id of an event's run and of the name of the program.
const RUN_KEYS: [&str; 2] = ["invocationId", "invocation_id"];
const PROGRAM_KEYS: [&str; 2] = ["appName", "app_name"];

/// True if the keys are those of a session.
pub(super) fn is_session(keys: &Keys) -> bool {
    let has_run = RUN_KEYS.iter().any(|key| keys.has(&format!("{EVENTS}.{key}")));
    has_run && keys.has(&format!("{EVENTS}.author")) && PROGRAM_KEYS.iter().any(|key| keys.has(key))
}

/// Sends a session. An event without content only changes the state, so it remains in the verbatim of the session.
pub(super) fn read(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let mut chat =
        Chat { id: first_text(object, &["id"]), is_log: true, pointer: element.pointer.clone(), ..Chat::default() };
    let mut cuts = Vec::new();
    for (index, raw) in object.list(EVENTS).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/{EVENTS}/{index}", element.pointer);
        let Some(event) = Object::parse(raw.get()) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        let Some(content) = event.raw_value("content").filter(|raw| raw.get().starts_with('{')) else { continue };
        let message = Object::parse(content.get()).unwrap_or_default();
        let mut turn = read_message(&message, content.get(), pointer, files.format);
        turn.id = first_text(&event, &["id"]);
        turn.times.created = first_time(&event, &["timestamp"]);
        turn.verbatim = Some(Verbatim::json(raw.get()));
        // What one agent passes to another has the role of the person, but another author.
        let author = first_text(&event, &["author"]).unwrap_or_default();
        if turn.role == USER && author != USER {
            turn.role = ASSISTANT.into();
        }
        if author != USER && !author.is_empty() {
            turn.fields.insert("agent".into(), author.into());
        }
        cuts.push((raw, "{}"));
        chat.turns.push(turn);
    }
    chat.times.created = chat.turns.iter().filter_map(|turn| turn.times.created).min();
    chat.times.updated = first_time(object, &["lastUpdateTime", "last_update_time"]);
    chat.source.project = first_text(object, &PROGRAM_KEYS);
    chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &cuts)));
    send(files, member, chat, PLATFORM, Some("adk"))
}
