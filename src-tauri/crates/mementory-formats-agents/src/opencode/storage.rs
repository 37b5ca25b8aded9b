//! Reads OpenCode's storage folder, with one file for each session, message and part. The ids in the files determine
//! which files form a session. The names of folders are used only if a file has no such id.
use super::detect::storage_folders;
use super::session::Session;
use mementory_format::{FormatError, Member, decoded_head};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_json::repair;
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use std::collections::BTreeMap;

#[derive(Default)]
struct SessionFiles<'m> {
    session: Option<&'m Member>,
    /// Messages, sorted by time and id.
    messages: BTreeMap<(i64, String), &'m Member>,
    /// Parts by the id of their message, and then by their own id.
    parts: BTreeMap<String, BTreeMap<String, &'m Member>>,
}

/// Reads the files as conversations.
pub(super) fn read<'m>(reader: &mut FileReader<'_>, members: &[&'m Member]) -> Result<(), FormatError> {
    let mut sessions: BTreeMap<String, SessionFiles<'m>> = BTreeMap::new();
    // Parts that do not name their session, by the id of their message.
    let mut loose_parts: BTreeMap<String, BTreeMap<String, &'m Member>> = BTreeMap::new();
    reader.each_member(members, |reader, member| {
        let text = text_of(reader, member)?;
        let Some(object) = Object::parse(&text) else {
            return Err(FormatError::invalid("not_an_object", &member.place, "this file is not a JSON object"));
        };
        let id = |key: &str| object.non_blank_text(key).map(|t| t.into_owned());
        let own_id = id("id").unwrap_or_default();
        let metadata = object.object("metadata").unwrap_or_default();
        let folder_in = |kind: &str| {
            let folders = storage_folders(member).filter(|(outer, _)| *outer == kind);
            folders.map(|(_, inner)| inner.to_owned())
        };
        let session = id("sessionID").or_else(|| metadata.non_blank_text("sessionID").map(|t| t.into_owned()));
        let session = session.or_else(|| id("sessionId")).or_else(|| folder_in("message"));
        let message = id("messageID").or_else(|| id("messageId")).or_else(|| folder_in("part"));
        match (session, message) {
            (Some(session), Some(message)) => {
                sessions.entry(session).or_default().parts.entry(message).or_default().insert(own_id, member);
            }
            (None, Some(message)) => {
                loose_parts.entry(message).or_default().insert(own_id, member);
            }
            (Some(session), None) => {
                let time = object
                    .object("time")
                    .or_else(|| metadata.object("time"))
                    .and_then(|t| any_time(&t, "created"))
                    .or_else(|| any_time(&object, "createdAt"));
                let time = time.map_or(i64::MAX, |t| t.as_micros());
                sessions.entry(session).or_default().messages.insert((time, own_id), member);
            }
            (None, None) => sessions.entry(own_id).or_default().session = Some(member),
        }
        Ok(())
    })?;
    for (id, mut files) in sessions {
        for (_, message) in files.messages.keys() {
            if let Some(parts) = loose_parts.remove(message) {
                files.parts.entry(message.clone()).or_default().extend(parts);
            }
        }
        read_session(reader, &id, files)?;
    }
    for member in loose_parts.into_values().flat_map(BTreeMap::into_values) {
        let reason = "message_missing: the file of the message of this part is missing";
        reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Message));
    }
    Ok(())
}

fn read_session(reader: &mut FileReader<'_>, id: &str, mut files: SessionFiles<'_>) -> Result<(), FormatError> {
    let text = files.session.map(|member| text_of(reader, member)).transpose()?;
    let mut session = Session::new(Some(id), text.as_deref());
    let first =
        files.messages.values().next().copied().or_else(|| files.parts.values().next()?.values().next().copied());
    let Some(container) = files.session.or(first) else { return Ok(()) };
    let mut budget = reader.context.limits.element_bytes;
    for ((_, id), member) in std::mem::take(&mut files.messages) {
        let info = text_of(reader, member)?;
        let mut texts = Vec::new();
        for part in files.parts.remove(&id).unwrap_or_default().values() {
            texts.push(text_of(reader, part)?);
        }
        let bytes = (info.len() + texts.iter().map(String::len).sum::<usize>()) as u64;
        if bytes > budget {
            let reason = "too_large: the session is larger than an element may be";
            reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        }
        budget -= bytes;
        add(reader, &mut session, member, &info, &texts)?;
    }
    for (message, parts) in files.parts {
        let Some(member) = parts.values().next().copied() else { continue };
        let message_text = format!("the file of the message of {} parts is missing", parts.len());
        reader.sink.note(Issue::new("message_missing", &member.place, message_text));
        let mut texts = Vec::new();
        for part in parts.values() {
            texts.push(text_of(reader, part)?);
        }
        let info = format!("{{\"id\":{}}}", serde_json::Value::from(message));
        add(reader, &mut session, member, &info, &texts)?;
    }
    session.send(reader, &container.place)
}

fn add(
    reader: &mut FileReader<'_>,
    session: &mut Session,
    member: &Member,
    info: &str,
    parts: &[String],
) -> Result<(), FormatError> {
    let verbatim = format!("{{\"info\":{info},\"parts\":[{}]}}", parts.join(","));
    let objects: Vec<Object<'_>> = parts.iter().filter_map(|text| Object::parse(text)).collect();
    let info = Object::parse(info).unwrap_or_default();
    session.add(reader, member, (&info, &objects), (Verbatim::json(verbatim), member.name.clone()))
}

/// A small file as JSON text, repaired if necessary.
fn text_of(reader: &mut FileReader<'_>, member: &Member) -> Result<String, FormatError> {
    let limit = reader.context.limits.side_file_bytes;
    let max_bytes = usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1);
    let bytes = decoded_head(reader.catalog, member, max_bytes)?;
    if bytes.len() as u64 > limit {
        return Err(FormatError::invalid("too_large", &member.place, "the file is larger than a small file may be"));
    }
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if Object::parse(&text).is_some() {
        return Ok(text);
    }
    let repaired = repair(text.as_bytes()).map(|(text, _)| text);
    repaired.ok_or_else(|| FormatError::invalid("malformed", &member.place, "this file is not JSON"))
}
