//! Reads `store.db`, one chat of Cursor's command line. Messages are JSON in blobs that are named by their digest. The
//! root blob lists them in the wire format of Protocol Buffers.
use super::chat_file;
use super::headers::Index;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::agent_content::AgentContent;
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::jsonl_session::any_time;
use mementory_formats_shared::object::Object;
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite::{Database, column_text, unreadable};
use mementory_model::{DroppedAs, Issue, Kind, Verbatim};
use std::collections::{HashMap, HashSet};

/// Length of a digest in bytes.
const DIGEST_BYTES: usize = 32;
/// Largest depth of nested lists of blobs.
const MAX_DEPTH: u32 = 8;

/// Reads the chat of a database.
pub(super) fn read(
    reader: &mut FileReader<'_>,
    member: &Member,
    database: &Database,
    index: &mut Index,
) -> Result<(), FormatError> {
    let mut chat = Chat { is_log: true, record_type: Some("cli".into()), ..Chat::default() };
    let header = header(member, database)?;
    let object = header.as_deref().and_then(Object::parse).unwrap_or_default();
    let text = |key: &str| object.non_blank_text(key).map(|t| t.into_owned());
    chat.id = text("agentId");
    index.mark_read(chat.id.as_ref());
    chat.title = text("name");
    chat.times.created = any_time(&object, "createdAt");
    chat.model = text("lastUsedModel").filter(|m| m != "default");
    chat.source.project = text("workspacePath");
    chat.verbatim = header.as_deref().map(Verbatim::json);
    if let Some(mode) = text("mode") {
        chat.fields.insert("mode".into(), mode.into());
    }
    let blobs = blob_rows(member, database)?;
    let (listed, mut issues) = match text("latestRootBlobId") {
        Some(root) => listed_messages(member, database, &blobs, &root)?,
        None => (Vec::new(), Vec::new()),
    };
    if listed.is_empty() {
        let message = "the list of messages cannot be read; they are in the order of the database";
        issues.push(Issue::new("order_unknown", &member.place, message));
    }
    issues.into_iter().for_each(|issue| reader.sink.note(issue));
    let listed_ids: HashSet<&String> = listed.iter().collect();
    let mut budget = reader.context.limits.element_bytes;
    let mut rest: Vec<(&String, i64)> =
        blobs.iter().filter(|(id, _)| !listed_ids.contains(id)).map(|(i, r)| (i, *r)).collect();
    rest.sort_by_key(|(_, row)| *row);
    let order = listed.iter().map(|id| (id, true)).chain(rest.into_iter().map(|(id, _)| (id, listed.is_empty())));
    for (id, is_listed) in order {
        let Some(bytes) = blobs.get(id).map(|row| blob(member, database, *row)).transpose()?.flatten() else {
            continue;
        };
        let Ok(text) = std::str::from_utf8(&bytes) else { continue };
        let Some(message) = Object::parse(text).filter(|m| m.has("role") && m.has("content")) else { continue };
        let pointer = format!("blobs/{id}");
        if text.len() as u64 > budget {
            let place = format!("{}#{pointer}", member.place);
            let reason = "too_large: the chat is larger than an element may be";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Message));
            continue;
        }
        budget -= text.len() as u64;
        let (mut turn, mut content) = message_turn(text, &message);
        reader.store_files(member, &mut content)?;
        turn.id = Some(id.clone());
        turn.pointer = pointer;
        turn.parent = match chat.turns.len().checked_sub(1) {
            Some(last) if is_listed => TurnParent::At(last),
            _ => TurnParent::Root,
        };
        if is_listed {
            chat.leaf.clone_from(&turn.id);
        } else {
            turn.fields.insert("listed".into(), false.into());
        }
        chat.turns.push(turn);
    }
    reader.send_chat(chat, chat_file(&member.place))
}

/// The chat's settings: JSON that the table `meta` contains as hexadecimal digits.
fn header(member: &Member, database: &Database) -> Result<Option<String>, FormatError> {
    let unreadable_error = |e: rusqlite::Error| unreadable(member, &e);
    let mut statement = database.connection.prepare("SELECT value FROM meta LIMIT 100").map_err(unreadable_error)?;
    let mut rows = statement.query([]).map_err(unreadable_error)?;
    while let Some(row) = rows.next().map_err(unreadable_error)? {
        let Some(text) = row.get_ref(0).ok().and_then(column_text) else { continue };
        let decoded = hex::decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(text);
        if Object::parse(&decoded).is_some_and(|o| o.has("agentId") || o.has("latestRootBlobId")) {
            return Ok(Some(decoded));
        }
    }
    Ok(None)
}

/// Row ids of all blobs, by the id of the blob.
fn blob_rows(member: &Member, database: &Database) -> Result<HashMap<String, i64>, FormatError> {
    let unreadable_error = |e: rusqlite::Error| unreadable(member, &e);
    let mut out = HashMap::new();
    let mut statement = database.connection.prepare("SELECT rowid, id FROM blobs").map_err(unreadable_error)?;
    let mut rows = statement.query([]).map_err(unreadable_error)?;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(unreadable_error)? {
        count += 1;
        if count > database.max_rows {
            return Err(FormatError::invalid("database_unreadable", &member.place, "more rows than fit into the file"));
        }
        if let (Ok(rowid), Some(id)) = (row.get(0), row.get_ref(1).ok().and_then(column_text)) {
            out.insert(id, rowid);
        }
    }
    Ok(out)
}

fn blob(member: &Member, database: &Database, rowid: i64) -> Result<Option<Vec<u8>>, FormatError> {
    let unreadable_error = |e: rusqlite::Error| unreadable(member, &e);
    let mut statement =
        database.connection.prepare_cached("SELECT data FROM blobs WHERE rowid = ?1").map_err(unreadable_error)?;
    let bytes = statement.query_row([rowid], |row| Ok(row.get_ref(0)?.as_bytes().map(<[u8]>::to_vec).ok()));
    match bytes {
        Ok(bytes) => Ok(bytes),
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        Err(e) => Err(unreadable_error(e)),
    }
}

/// Ids of the messages that are reachable from the root, in the root's order.
fn listed_messages(
    member: &Member,
    database: &Database,
    blobs: &HashMap<String, i64>,
    root: &str,
) -> Result<(Vec<String>, Vec<Issue>), FormatError> {
    let (mut out, mut issues) = (Vec::new(), Vec::new());
    let mut seen: HashSet<String> = HashSet::new();
    let mut missing_count = 0u32;
    let mut pending = vec![(root.to_owned(), 0u32)];
    while let Some((id, depth)) = pending.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let Some(row) = blobs.get(&id) else {
            missing_count += 1;
            continue;
        };
        let Some(bytes) = blob(member, database, *row)? else { continue };
        let text = std::str::from_utf8(&bytes).ok().and_then(Object::parse);
        if text.is_some_and(|object| object.has("role")) {
            out.push(id);
        } else if depth < MAX_DEPTH {
            // In the root, every digest is followed, so that missing messages are counted. On deeper levels, other
            // values may have the length of a digest, so only digests of existing blobs are followed.
            let digests = digests_in(&bytes).into_iter().filter(|id| depth == 0 || blobs.contains_key(id));
            let digests: Vec<String> = digests.collect();
            pending.extend(digests.into_iter().rev().map(|id| (id, depth + 1)));
        }
    }
    if missing_count > 0 {
        let message = format!("{missing_count} messages that the chat lists are not in the database");
        issues.push(Issue::new("missing_messages", &member.place, message));
    }
    Ok((out, issues))
}

/// The 32-byte values in field 1 of a Protocol Buffers message, as hexadecimal digits.
fn digests_in(bytes: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Some(tag) = varint(bytes, &mut at) else { break };
        match tag & 7 {
            0 => {
                if varint(bytes, &mut at).is_none() {
                    break;
                }
            }
            1 => at += 8,
            5 => at += 4,
            2 => {
                let Some(length) = varint(bytes, &mut at).and_then(|n| usize::try_from(n).ok()) else { break };
                let Some(value) = at.checked_add(length).and_then(|end| bytes.get(at..end)) else { break };
                if tag >> 3 == 1 && value.len() == DIGEST_BYTES {
                    out.push(hex::encode(value));
                }
                at += length;
            }
            _ => break,
        }
    }
    out
}

fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Converts a message that has a role and content to a turn.
pub(super) fn message_turn(text: &str, message: &Object<'_>) -> (Turn, AgentContent) {
    let mut turn = Turn { verbatim: Some(Verbatim::json(text)), ..Turn::default() };
    turn.role = match message.text("role").as_deref() {
        Some("user") => "user",
        Some("assistant") => "assistant",
        Some("tool") => "tool",
        _ => "system",
    }
    .into();
    let mut content = AgentContent::read(message.raw_value("content"));
    if turn.role == "user" && content.text.trim().is_empty() && content.content_type() == "tool_result" {
        turn.role = "tool".into();
    } else if turn.role == "user" && content.separate_harness_text() {
        turn.role = "system".into();
    }
    let files = content.fill_session_turn(&mut turn);
    let options = message.object("providerOptions").and_then(|o| o.object("cursor"));
    turn.model = options.and_then(|o| o.non_blank_text("modelName").map(|t| t.into_owned()));
    turn.times.created = any_time(message, "createdAt").or_else(|| any_time(message, "timestamp"));
    (turn, files)
}
