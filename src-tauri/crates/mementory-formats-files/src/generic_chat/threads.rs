//! Reads a list of threads and a list of messages, as T3 Chat exports them.
use super::FORMAT_ID;
use super::conversation::{ID_KEYS, TITLE_KEYS};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn};
use mementory_formats_shared::message::{first_text, read_message, report_no_message, send, times};
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use std::collections::HashMap;

const PLATFORM: &str = "t3_chat";

/// Sends the conversations of a file. Messages whose thread is not in the file become separate conversations.
pub(super) fn read_threads(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let mut turns: HashMap<String, Vec<Turn>> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    for (index, raw) in object.list("messages").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/messages/{index}", element.pointer);
        let Some(message) = Object::parse(raw.get()) else {
            report_no_message(files, member, &pointer);
            continue;
        };
        let thread = first_text(&message, &["threadId", "thread_id", "conversationId"]).unwrap_or_default();
        let mut turn = read_message(&message, raw.get(), pointer, FORMAT_ID);
        turn.id = first_text(&message, &["messageId", "id", "_id"]);
        if !turns.contains_key(&thread) {
            order.push(thread.clone());
        }
        turns.entry(thread).or_default().push(turn);
    }
    for (index, raw) in object.list("threads").unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/threads/{index}", element.pointer);
        let Some(thread) = Object::parse(raw.get()) else {
            let place = format!("{}#{pointer}", member.place);
            files.report_dropped(
                place,
                DroppedAs::Failed,
                "not_an_object: this thread is none",
                Some(Kind::Conversation),
            );
            continue;
        };
        let names: Vec<String> =
            ["threadId", "id", "_id"].iter().filter_map(|key| first_text(&thread, &[key])).collect();
        let thread_turns = names.iter().find_map(|name| turns.remove(name)).unwrap_or_default();
        let mut chat = Chat {
            id: names.into_iter().next().or_else(|| first_text(&thread, &ID_KEYS)),
            title: first_text(&thread, &TITLE_KEYS),
            times: times(&thread),
            model: first_text(&thread, &["model"]),
            pointer,
            verbatim: Some(Verbatim::json(raw.get())),
            turns: sorted_by_time(thread_turns),
            ..Chat::default()
        };
        if thread.is_true("pinned") {
            chat.fields.insert("pinned".into(), true.into());
        }
        send(files, member, chat, PLATFORM, Some("threads"))?;
    }
    for id in order {
        let Some(turns) = turns.remove(&id) else { continue };
        let message = format!("{} messages belong to a thread that is not in the file", turns.len());
        files.sink.note(Issue::new("thread_missing", &member.place, message));
        let chat = Chat { id: Some(id).filter(|id| !id.is_empty()), turns: sorted_by_time(turns), ..Chat::default() };
        send(files, member, chat, PLATFORM, Some("threads"))?;
    }
    Ok(())
}

/// Sorts messages by time if all messages have a time, because the list may be in any order.
fn sorted_by_time(mut turns: Vec<Turn>) -> Vec<Turn> {
    if turns.iter().all(|turn| turn.times.created.is_some()) {
        turns.sort_by_key(|turn| turn.times.created);
    }
    turns
}
