//! Reads projects, scheduled tasks and generated media.
use super::{GROK, files};
use mementory_format::{FormatError, Member};
use mementory_formats_shared::{
    object::{Object, content_id, decode_string, with_replaced_values},
    reader::{FileReader, ObjectElement},
    values::{first_id, first_text, first_time, other_fields, readable},
};
use mementory_model::{DroppedAs, Kind, Link, Origin, Record, RecordKey, Source, Times, Unit, Verbatim};
use std::collections::HashSet;

/// Members of a project that have a field in the model.
const PROJECT_MEMBERS: [&str; 10] = [
    "id",
    "workspace_id",
    "project_id",
    "name",
    "description",
    "custom_personality",
    "create_time",
    "modify_time",
    "user_id",
    "last_use_time",
];

/// Sends a project as a profile, and its instructions (`custom_personality`) as a memory.
pub(super) fn read_project(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let outer = &element.object;
    let inner = ["project", "workspace"].iter().find_map(|key| outer.object(key));
    let object = inner.as_ref().unwrap_or(outer);
    let origin_id = first_id(object, &["id", "workspace_id", "project_id", "_id"]);
    let title = first_text(object, &["name", "title"]);
    let id = origin_id.clone().unwrap_or_else(|| content_id(&format!("{title:?}")));
    let key = |value: String| RecordKey::new(GROK, value);
    let source = Source {
        platform: GROK.into(),
        account: first_id(object, &["user_id"]),
        project: Some(id.clone()),
        ..Source::default()
    };
    let mut profile = record(Kind::Profile, key(format!("project/{id}")), member, element);
    profile.text = first_text(object, &["description"]).unwrap_or_default();
    profile.origin_id = origin_id;
    profile.title = title.clone();
    profile.record_type = Some("project".into());
    profile.times = times(object);
    profile.source = source.clone();
    profile.fields = other_fields(object, &PROJECT_MEMBERS);
    let mut records = Vec::with_capacity(2);
    let instructions = object.raw_value("custom_personality");
    let text = instructions.and_then(decode_string).filter(|text| !text.trim().is_empty());
    if let (Some(raw), Some(text)) = (instructions, text) {
        // Only the verbatim of the memory contains the instructions, so erasing the memory erases their text
        // completely.
        profile.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &[(raw, "\"\"")])));
        let mut memory = record(Kind::Memory, key(format!("project/{id}/instructions")), member, element);
        memory.text = text.into_owned();
        memory.title = title;
        memory.record_type = Some("project_instructions".into());
        memory.times = profile.times.clone();
        memory.source = Source { method: Some("project_instructions".into()), ..source };
        memory.origin.pointer = format!("{}/custom_personality", element.pointer);
        memory.verbatim = Some(Verbatim::json(raw.get()));
        memory.links.push(Link { relation: "member_of".into(), kind: Kind::Profile, target: profile.key.clone() });
        records.push(memory);
    } else if instructions.is_some_and(|raw| decode_string(raw).is_none()) {
        profile.fields.insert("custom_personality".into(), instructions.map(readable).unwrap_or_default().into());
    }
    records.insert(0, profile);
    reader.sink.unit(Unit { records })
}

/// Reads a task that Grok runs on a schedule, and sends it to the sink.
pub(super) fn read_task(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
) -> Result<(), FormatError> {
    let inner = element.object.object("task");
    let object = inner.as_ref().unwrap_or(&element.object);
    let origin_id = first_id(object, &["id", "task_id", "_id"]);
    let key = origin_id.clone().unwrap_or_else(|| content_id(element.text));
    let mut task = record(Kind::Todo, RecordKey::new(GROK, format!("task/{key}")), member, element);
    task.origin_id = origin_id;
    task.title = first_text(object, &["name", "title"]);
    task.text = first_text(object, &["prompt", "instructions", "description"]).unwrap_or_default();
    if task.text.is_empty() && task.title.is_none() && task.origin_id.is_none() {
        let place = format!("{}#{}", member.place, element.pointer);
        reader.report_dropped(
            place,
            DroppedAs::Failed,
            "no_content: a task without id, name and text",
            Some(Kind::Todo),
        );
        return Ok(());
    }
    task.times = times(object);
    task.source.account = first_id(object, &["user_id"]);
    task.source.conversation = first_id(object, &["conversation_id"]);
    let used_members = ["id", "task_id", "_id", "name", "title", "prompt", "create_time", "modify_time", "user_id"];
    task.fields = other_fields(object, &used_members);
    reader.sink.unit(task.into())
}

/// Reads an image or video that was generated outside of conversations. Its prompt becomes the text of the record.
pub(super) fn read_media_post(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    assets: &HashSet<&str>,
) -> Result<(), FormatError> {
    let object = &element.object;
    let origin_id = first_id(object, &["id", "_id", "post_id"]);
    let key = origin_id.clone().unwrap_or_else(|| content_id(element.text));
    let mut post = record(Kind::Resource, RecordKey::new(GROK, format!("media/{key}")), member, element);
    post.text = first_text(object, &["original_prompt", "prompt", "title"]).unwrap_or_default();
    post.record_type = Some("media_post".into());
    post.times = times(object);
    post.source.account = first_id(object, &["user_id"]);
    let address = first_text(object, &["link", "media_url", "url"]);
    let is_asset = origin_id.as_deref().filter(|id| assets.contains(id));
    match (address, is_asset) {
        (Some(address), id) => post.attachments.push(files::link(&address, id, assets)),
        (None, Some(id)) => post.attachments.push(files::link(id, Some(id), assets)),
        (None, None) => {}
    }
    post.origin_id = origin_id;
    post.fields = other_fields(object, &["id", "_id", "post_id", "original_prompt", "create_time", "user_id"]);
    reader.sink.unit(post.into())
}

fn times(object: &Object<'_>) -> Times {
    Times {
        created: first_time(object, &["create_time", "created_at"]),
        updated: first_time(object, &["modify_time", "update_time", "updated_at"]),
        last_accessed: first_time(object, &["last_use_time"]),
        ..Times::default()
    }
}

fn record(kind: Kind, key: RecordKey, member: &Member, element: &ObjectElement<'_>) -> Record {
    let mut record = Record::new(kind, key, "");
    record.origin = Origin {
        format: GROK.into(),
        version: None,
        container: member.place.clone(),
        pointer: element.pointer.clone(),
    };
    record.source.platform = GROK.into();
    record.verbatim = Some(Verbatim::json(element.text));
    record
}
