//! Reads texts, and objects with one text, as memories.
use super::WRAPPER_KEYS;
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Sink};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::json_head::head_keys;
use mementory_formats_shared::message::first_text;
use mementory_formats_shared::object::{Object, content_id, decode_string};
use mementory_formats_shared::reader::FileReader;
use mementory_json::{ElementError, Elements, Keys, repair};
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;
use std::collections::HashSet;

const FORMAT_ID: &str = "generic_memories";
/// Name of the platform of memories with a `memory_type`.
const MEMOS: &str = "memos";
/// Status of a current memory of MemOS. Others are archived, deleted, or not yet decided.
const MEMOS_CURRENT: &str = "activated";
/// Key of the memories in a graph of MemOS, and members that each of them has.
const NODES: &str = "nodes";
const GRAPH_MEMBERS: [&str; 2] = ["memory", "metadata.memory_type"];

/// Members that may contain the text of a memory, in the order in which they are tried.
const TEXT_KEYS: [&str; 10] =
    ["memory", "content", "text", "fact", "note", "statement", "value", "observation", "body", "summary"];
pub(super) const ID_KEYS: [&str; 5] = ["id", "_id", "uuid", "memory_id", "key"];
pub(super) const CREATED_KEYS: [&str; 7] =
    ["created_at", "createdAt", "created", "created_timestamp", "timestamp", "date", "time"];
pub(super) const UPDATED_KEYS: [&str; 4] = ["updated_at", "updatedAt", "updated", "modified"];
const TAG_KEYS: [&str; 4] = ["tags", "categories", "topics", "labels"];
const TYPE_KEYS: [&str; 3] = ["type", "category", "kind"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    FileReader::new(FORMAT_ID, catalog, context, sink).each_file(detected, |files, member, _| read_file(files, member))
}

/// Reads one file. The shared loop over objects is not used, because it would refuse elements that are strings.
fn read_file(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let mut seen_texts = HashSet::new();
    let (catalog, limits) = (files.catalog, &files.context.limits);
    let keys = head_keys(catalog, member).unwrap_or_default();
    let wrappers = wrapper_keys(&keys);
    let platform = if has_chatgpt_keys(&keys) { "chatgpt" } else { "other" };
    let wrapper = catalog.read(member, |bytes| {
        let mut elements = Elements::new(bytes, limits).with_keys(wrappers).resync();
        loop {
            match elements.next() {
                Ok(Some(element)) => {
                    let pointer = element.pointer();
                    read_element(files, member, platform, pointer, element.bytes, &mut seen_texts)?;
                }
                Ok(None) => return Ok(elements.wrapper().map(|text| String::from_utf8_lossy(text).into_owned())),
                Err(ElementError::Io(error)) => return Err(FormatError::io(&member.place, error)),
                Err(error) => {
                    let reason = format!("{}: {error}", error.code());
                    let place = error.place(&member.place);
                    files.report_dropped(place, DroppedAs::Failed, &reason, Some(Kind::Memory));
                    if error.ends_reading() {
                        return Ok(None);
                    }
                }
            }
        }
    })?;
    files.pass_through_wrapper(member, "", wrappers, wrapper)
}

/// Keys under which the memories of a file are listed. A graph of MemOS lists them as nodes.
pub(super) fn wrapper_keys(keys: &Keys) -> &'static [&'static str] {
    let is_graph = GRAPH_MEMBERS.iter().all(|member| keys.has(&format!("{NODES}.{member}")));
    if is_graph { &[NODES] } else { &WRAPPER_KEYS }
}

/// True for the list of saved memories as ChatGPT's own page receives it.
pub(super) fn has_chatgpt_keys(keys: &Keys) -> bool {
    let has_members = ["memories.gizmo_id", "memories.conversation_id"].iter().all(|key| keys.has(key));
    keys.has("memories.content") && (keys.has("memory_num_tokens") || has_members)
}

fn read_element(
    files: &mut FileReader<'_>,
    member: &Member,
    platform: &str,
    pointer: String,
    bytes: &[u8],
    seen: &mut HashSet<String>,
) -> Result<(), FormatError> {
    let place = format!("{}#{pointer}", member.place);
    let valid_text = std::str::from_utf8(bytes).ok().filter(|text| serde_json::from_str::<&RawValue>(text).is_ok());
    let source = match valid_text {
        Some(text) => text.to_owned(),
        None => match repair(bytes) {
            Some((text, _)) => text.to_string(),
            None => {
                files.report_dropped(place, DroppedAs::Failed, "malformed: this entry is not JSON", Some(Kind::Memory));
                return Ok(());
            }
        },
    };
    let Some(text) = memory_text(&source) else {
        files.report_dropped(place, DroppedAs::Failed, "no_content: this entry has no text", Some(Kind::Memory));
        return Ok(());
    };
    let object = Object::parse(&source).unwrap_or_default();
    let id = first_text(&object, &ID_KEYS);
    let key = id.clone().unwrap_or_else(|| content_id(text.trim()));
    if !seen.insert(format!("{key}\n{text}")) {
        files.report_dropped(place, DroppedAs::Skipped, "duplicate: the same memory occurs twice", Some(Kind::Memory));
        return Ok(());
    }
    let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT_ID, key), text.trim());
    record.origin_id = id;
    record.title = first_text(&object, &["title"]);
    // Some programs write the times, the type and the tags of a memory inside `metadata`.
    let metadata = object.object("metadata").unwrap_or_default();
    let both = [&object, &metadata];
    record.times.created = both.iter().find_map(|object| first_time(object, &CREATED_KEYS));
    record.times.updated = both.iter().find_map(|object| first_time(object, &UPDATED_KEYS));
    record.record_type = both.iter().find_map(|object| first_text(object, &TYPE_KEYS));
    record.tags = both.iter().map(|object| tags(object)).find(|tags| !tags.is_empty()).unwrap_or_default();
    let is_of_memos = object.has("memory") && metadata.has("memory_type");
    if is_of_memos {
        let status = metadata.non_blank_text("status").map(Cow::into_owned);
        record.status = status.filter(|status| status != MEMOS_CURRENT);
    }
    record.source.platform = if is_of_memos { MEMOS } else { platform }.into();
    record.origin = Origin { format: FORMAT_ID.into(), version: None, container: member.place.clone(), pointer };
    record.verbatim = Some(Verbatim::json(source.as_str()));
    files.sink.unit(record.into())
}

/// The text of a memory: a JSON string, or the text of an object.
pub(super) fn memory_text(json: &str) -> Option<String> {
    let text = match json.as_bytes().first()? {
        b'"' => decode_string(serde_json::from_str::<&RawValue>(json).ok()?)?.into_owned(),
        b'{' => {
            let object = Object::parse(json)?;
            TEXT_KEYS.iter().find_map(|key| object.non_blank_text(key).map(Cow::into_owned))?
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn tags(object: &Object<'_>) -> Vec<String> {
    let list = TAG_KEYS.iter().find_map(|key| object.raw_value(key));
    let values: Vec<Value> = list.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
