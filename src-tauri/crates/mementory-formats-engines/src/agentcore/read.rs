//! Reads memory records as memories, and events as the turns of conversations.
use super::detect::{EVENT_LISTS, RECORD_LISTS};
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::chat::{Chat, ChatFile, Turn};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, object_of};
use mementory_formats_shared::object::{Object, with_replaced_values};
use mementory_formats_shared::reader::FileReader;
use mementory_model::{Kind, Source, Timestamp, Verbatim};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The turns of each session of a file, each with its time. The key is the session id and the actor id.
type Sessions = BTreeMap<(String, String), Vec<(Option<Timestamp>, Turn)>>;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    let lists = [&RECORD_LISTS[..], &EVENT_LISTS].concat();
    files.each_file(detected, |files, member, _| {
        let mut sessions = Sessions::new();
        let mut bytes_of_events = 0;
        each_row(files, member, &lists, Kind::Memory, &mut |files, row| {
            let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
            if !object.has("eventId") && !object.has("payload") {
                return read_record(&mut rows, files, row, &object);
            }
            // All events are in memory until the end of the file, because the events of a session may be in any order.
            bytes_of_events += row.text.len() as u64;
            if bytes_of_events > files.context.limits.element_bytes {
                rows.fail(files, row, "too_large: the events of this file", Kind::Message);
                return Ok(());
            }
            read_event(&rows, files, row, &object, &mut sessions);
            Ok(())
        })?;
        send_sessions(files, member, sessions)
    })
}

fn read_record(
    rows: &mut RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
) -> Result<(), FormatError> {
    // A response to a request for a single record contains this record under `memoryRecord`.
    let inner = object.object("memoryRecord");
    let object = inner.as_ref().unwrap_or(object);
    let content = object.object("content");
    let stated_text = content.as_ref().and_then(|content| content.first_text(&["text"]));
    let Some(stated_text) = stated_text.or_else(|| object.first_text(&["content", "text"])) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    let preference = Object::parse(&stated_text);
    let text = preference.as_ref().and_then(|p| p.first_text(&["preference", "fact", "text", "summary"]));
    let id = object.id("memoryRecordId");
    let mut record = rows.record(Kind::Memory, id, &stated_text, text.clone().unwrap_or_else(|| stated_text.clone()));
    let namespaces = object.texts("namespaces");
    record.namespace = Some(namespaces.join(", ")).filter(|names| !names.is_empty());
    record.times.created = object.time("createdAt");
    record.times.updated = object.time("updatedAt");
    // The service extracts memory records from events.
    record.source.method = Some("extracted".into());
    record.source.account = namespaces.iter().find_map(|namespace| actor_in(namespace));
    let used_members = ["memoryRecordId", "content", "namespaces", "createdAt", "updatedAt"];
    record.fields = object.other_fields(&used_members);
    if let Some(preference) = preference.filter(|_| text.is_some()) {
        record.tags = preference.texts("categories");
        record.fields.extend(preference.other_fields(&["preference", "fact", "text", "summary", "categories"]));
    }
    rows.send(files, row, record)
}

/// Returns the actor in a namespace such as `/strategies/<id>/actors/<actor>/…`, which is the form that the service
/// proposes. None for a namespace without an actor.
fn actor_in(namespace: &str) -> Option<String> {
    let mut parts = namespace.split('/').skip_while(|part| !matches!(*part, "actors" | "actor"));
    parts.nth(1).filter(|actor| !actor.is_empty()).map(str::to_owned)
}

/// Adds the turns of an event to its session. Each payload becomes one turn: a message, or a hidden turn with the text
/// of a `blob`.
fn read_event(
    rows: &RowSender,
    files: &mut FileReader<'_>,
    row: &Row<'_>,
    object: &Object<'_>,
    sessions: &mut Sessions,
) {
    let time = object.time("eventTimestamp");
    let session = (object.id("sessionId").unwrap_or_default(), object.id("actorId").unwrap_or_default());
    let payloads = object.list("payload").or_else(|| object.raw_value("payload").map(|raw| vec![raw]));
    let payloads = payloads.unwrap_or_default();
    if payloads.is_empty() {
        rows.fail(files, row, "no_content: this event has no payload", Kind::Message);
    }
    // Each payload is only in the verbatim of its own turn, so erasing the turn erases the payload completely.
    let later_payloads: Vec<(&RawValue, &str)> = payloads.iter().skip(1).map(|raw| (*raw, "null")).collect();
    let event = with_replaced_values(row.text, &later_payloads);
    for (n, raw) in payloads.into_iter().enumerate() {
        let payload = Object::parse(raw.get()).unwrap_or_default();
        let conversational = payload.object("conversational");
        let (role, text) = match &conversational {
            Some(conversational) => {
                let content = conversational.object("content").and_then(|content| content.first_text(&["text"]));
                (
                    conversational.text("role").unwrap_or_default(),
                    content.or_else(|| conversational.first_text(&["content"])),
                )
            }
            None => ("blob".into(), payload.first_text(&["blob"])),
        };
        let role = match role.to_ascii_uppercase().as_str() {
            "USER" => "user",
            "ASSISTANT" => "assistant",
            "TOOL" => "tool",
            _ => "system",
        };
        let id = object.id("eventId").map(|id| if n == 0 { id } else { format!("{id}/{n}") });
        let mut turn = Turn {
            id,
            role: role.into(),
            text: text.unwrap_or_default(),
            content_type: if conversational.is_some() { "text" } else { "blob" }.into(),
            hidden: role == "system" || conversational.is_none(),
            pointer: format!("{}/payload/{n}", row.pointer),
            // The verbatim of the first turn is the event without the later payloads.
            verbatim: Some(Verbatim::json(if n == 0 { event.as_str() } else { raw.get() })),
            fields: object.other_fields(&["eventId", "sessionId", "actorId", "eventTimestamp", "payload"]),
            ..Turn::default()
        };
        turn.times.created = time;
        sessions.entry(session.clone()).or_default().push((time, turn));
    }
}

fn send_sessions(files: &mut FileReader<'_>, member: &Member, sessions: Sessions) -> Result<(), FormatError> {
    for ((session, actor), mut turns) in sessions {
        // The service lists the newest event first, so the turns are sorted by time.
        turns.sort_by_key(|(time, _)| *time);
        let mut chat = Chat {
            id: Some(session).filter(|id| !id.is_empty()),
            source: Source { account: Some(actor).filter(|actor| !actor.is_empty()), ..Source::default() },
            ..Chat::default()
        };
        chat.times.created = turns.iter().find_map(|(time, _)| *time);
        chat.times.updated = turns.iter().rev().find_map(|(time, _)| *time);
        chat.verbatim = Some(Verbatim::json(serde_json::json!({ "sessionId": chat.id }).to_string()));
        chat.turns = turns.into_iter().map(|(_, turn)| turn).collect();
        let mut issues = Vec::new();
        let file = ChatFile { format: ID, platform: PLATFORM, version: None, container: &member.place };
        let unit = chat.into_unit(file, &mut issues);
        issues.into_iter().for_each(|issue| files.sink.note(issue));
        files.sink.unit(unit)?;
    }
    Ok(())
}
