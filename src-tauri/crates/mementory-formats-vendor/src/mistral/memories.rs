//! Reads the file of memories of an account. Its shape is not documented, so lists of texts and lists of objects with a
//! text are read, and any other file becomes a passthrough file.
use super::MISTRAL;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    object::{Object, content_id, decode_string, list},
    reader::FileReader,
    values::{first_id, first_text, first_time, other_fields},
};
use mementory_json::{close_truncated, repair};
use mementory_model::{DroppedAs, Issue, Kind, Origin, Record, RecordKey, Times, Verbatim};
use serde_json::value::RawValue;

const LIST_KEYS: [&str; 4] = ["memories", "data", "items", "results"];
/// Keys under which an object may contain the text of a memory.
const TEXTS: [&str; 6] = ["content", "text", "memory", "value", "fact", "description"];
/// Keys under which an object may contain the title of a memory.
const TITLES: [&str; 2] = ["title", "name"];
/// Members that have a field in the model.
const MEMBERS: [&str; 12] = [
    "id",
    "uuid",
    "memoryId",
    "title",
    "name",
    "createdAt",
    "created_at",
    "updatedAt",
    "updated_at",
    "status",
    "category",
    "type",
];

/// Reads the file and sends its memories to the sink.
pub(super) fn read(reader: &mut FileReader<'_>, member: &Member, version: Option<&str>) -> Result<(), FormatError> {
    let mut text = reader.text(member)?;
    if serde_json::from_str::<&RawValue>(&text).is_err()
        && let Some(repaired_json) = repaired_json(reader, member, &text)
    {
        text = repaired_json;
    }
    let document: Option<&RawValue> = serde_json::from_str(&text).ok();
    let memories = document.and_then(|raw| match list(raw) {
        Some(items) => Some((String::new(), items)),
        None => {
            let object = Object::parse(raw.get())?;
            LIST_KEYS.iter().find_map(|key| Some((format!("/{key}"), object.list(key)?)))
        }
    });
    let Some((below, items)) = memories else {
        return reader.pass_through(member, "", "sidecar");
    };
    for (index, raw) in items.into_iter().enumerate() {
        let pointer = format!("{below}/{index}");
        let place = format!("{}#{pointer}", member.place);
        let Some((mut record, has_only_title)) = memory(raw) else {
            let reason = "no_content: no text that is known to be a memory";
            reader.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Memory));
            continue;
        };
        if has_only_title {
            let message = "this memory has only a title, which was read as its text";
            reader.sink.note(Issue::new("only_title", place, message));
        }
        record.origin = Origin {
            format: MISTRAL.into(),
            version: version.map(Into::into),
            container: member.place.clone(),
            pointer,
        };
        record.source.platform = MISTRAL.into();
        record.verbatim = Some(Verbatim::json(raw.get()));
        reader.sink.unit(record.into())?;
    }
    Ok(())
}

/// Repairs the text of a file that is not valid JSON. None if no part of it can be read.
fn repaired_json(reader: &mut FileReader<'_>, member: &Member, text: &str) -> Option<String> {
    if let Some((repaired, codes)) = repair(text.as_bytes()) {
        for code in codes {
            reader.sink.note(Issue::new(code, &member.place, "repaired while reading"));
        }
        return Some(repaired);
    }
    let closed = String::from_utf8(close_truncated(text.as_bytes())?).ok()?;
    let reason = "truncated: this list of memories ends early";
    reader.report_dropped(member.place.clone(), DroppedAs::Failed, reason, Some(Kind::Memory));
    Some(closed)
}

/// Reads a memory. Also returns whether its title is its only text.
fn memory(raw: &RawValue) -> Option<(Record, bool)> {
    let key = |value: String| RecordKey::new(MISTRAL, format!("memory/{value}"));
    if let Some(text) = decode_string(raw).filter(|text| !text.trim().is_empty()) {
        return Some((Record::new(Kind::Memory, key(content_id(&text)), text), false));
    }
    let object = Object::parse(raw.get())?;
    let mut names = TEXTS.iter().chain(&TITLES).copied();
    let (text_key, text) = names.find_map(|name| Some((name, text_of(object.raw_value(name)?)?)))?;
    let id = first_id(&object, &["id", "uuid", "memoryId"]);
    let mut record = Record::new(Kind::Memory, key(id.clone().unwrap_or_else(|| content_id(&text))), text);
    record.origin_id = id;
    record.title = first_text(&object, &TITLES);
    record.record_type = first_text(&object, &["type", "category"]);
    record.status = first_text(&object, &["status"]);
    record.times = Times {
        created: first_time(&object, &["createdAt", "created_at"]),
        updated: first_time(&object, &["updatedAt", "updated_at"]),
        ..Times::default()
    };
    let mut members = MEMBERS.to_vec();
    members.push(text_key);
    record.fields = other_fields(&object, &members);
    Some((record, TITLES.contains(&text_key)))
}

/// Returns the text in a value, which is a string, `{text}` or `{content}`. None if the text is blank.
fn text_of(raw: &RawValue) -> Option<String> {
    let inside = || first_text(&Object::parse(raw.get())?, &["text", "content"]);
    let text = decode_string(raw).map(|text| text.into_owned()).or_else(inside);
    text.filter(|text| !text.trim().is_empty())
}
