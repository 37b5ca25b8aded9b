//! Reads notes, one in each file. Each note becomes a document.
use super::files::Files;
use super::{ATTACHMENTS, FILE_PATH, ID};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::files::{file_name, send_file};
use mementory_formats_shared::html;
use mementory_formats_shared::note_reader::unix_lines;
use mementory_formats_shared::object::{Object, content_id};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_formats_shared::values::other_fields;
use mementory_model::{AttachmentRef, DroppedAs, Issue, Kind, Origin, Record, RecordKey, Timestamp, Verbatim};
use std::collections::HashSet;

/// Members of a note for which the record has a field. The text with styles repeats the text, and remains in the
/// verbatim.
const USED_KEYS: [&str; 12] = [
    "title",
    "textContent",
    "textContentHtml",
    LIST,
    "labels",
    ATTACHMENTS,
    CREATED,
    EDITED,
    "isTrashed",
    "isArchived",
    "isPinned",
    "color",
];
const LIST: &str = "listContent";
const CREATED: &str = "createdTimestampUsec";
const EDITED: &str = "userEditedTimestampUsec";
/// The colour of a note to which the person gave none.
const NO_COLOUR: &str = "DEFAULT";

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let attachments = detected.claim.parts.iter().filter(|part| part.role == Role::Attachment);
    let files = Files::new(attachments.filter_map(|part| catalog.members().get(part.member)));
    let mut keys = Keys::default();
    FileReader::new(ID, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Records => reader
            .objects(member, &[], Kind::Resource, |reader, element| note(reader, member, element, &files, &mut keys))
            .map(|_| ()),
        Role::Attachment => send_file(reader, member, file_key(member.file_name()), None, member.file_name()),
        Role::DuplicateRendering => {
            let reason = "duplicate_rendering: the same note as a page for browsers";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        _ => reader.pass_through(member, "", "sidecar"),
    })
}

/// The key of a file. Keep gives each file a name that is an id.
fn file_key(name: &str) -> RecordKey {
    RecordKey::new(ID, format!("file/{name}"))
}

/// The keys of the notes that were read, and of their contents.
#[derive(Default)]
struct Keys {
    notes: HashSet<String>,
    contents: HashSet<String>,
}

impl Keys {
    /// The key of a note: the microsecond at which it was created, otherwise the digest of its content. A second note of
    /// the same microsecond also has the digest in its key. None if the same note was read before.
    fn unique(&mut self, created: Option<Timestamp>, content: &str) -> Option<String> {
        let digest = content_id(content);
        let created = created.map(|time| time.as_micros().to_string());
        if !self.contents.insert(format!("{} {digest}", created.as_deref().unwrap_or_default())) {
            return None;
        }
        let key = created.unwrap_or_else(|| digest.clone());
        if self.notes.insert(key.clone()) {
            return Some(key);
        }
        let longer_key = format!("{key}-{digest}");
        self.notes.insert(longer_key.clone()).then_some(longer_key)
    }
}

fn note(
    reader: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    files: &Files<'_>,
    keys: &mut Keys,
) -> Result<(), FormatError> {
    let object = &element.object;
    let place = format!("{}#{}", member.place, element.pointer);
    let title = object.non_blank_text("title").map(|title| title.trim().to_owned());
    let text = text(reader, member, element);
    let attachments = attachments(object, files);
    if title.is_none() && text.is_empty() && attachments.is_empty() {
        let reason = "no_content: this note is empty";
        reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Resource));
        return Ok(());
    }
    let created = time(reader, object, CREATED, &place);
    // The names that the note states do not depend on whether its files are there.
    let names = attachments.iter().filter_map(|file| file.origin_id.as_deref()).collect::<Vec<_>>().join("\n");
    let content = format!("{}\n{text}\n{names}", title.as_deref().unwrap_or_default());
    let Some(key) = keys.unique(created, &content) else {
        let reason = "duplicate: the same note occurs twice";
        reader.report_dropped(place, DroppedAs::Skipped, reason, Some(Kind::Resource));
        return Ok(());
    };
    let mut record = Record::new(Kind::Resource, RecordKey::new(ID, key), text);
    record.title = title;
    record.record_type = Some(if object.has(LIST) { "list" } else { "note" }.into());
    record.status = match (object.is_true("isTrashed"), object.is_true("isArchived")) {
        (true, _) => Some("deleted".into()),
        (_, true) => Some("archived".into()),
        _ => None,
    };
    record.times.created = created;
    record.times.updated = time(reader, object, EDITED, &place);
    let labels = object.objects("labels");
    record.tags = labels.filter_map(|label| Some(label.non_blank_text("name")?.trim().to_owned())).collect();
    record.attachments = attachments;
    record.fields = other_fields(object, &USED_KEYS);
    if object.is_true("isPinned") {
        record.fields.insert("isPinned".into(), true.into());
    }
    if let Some(colour) = object.non_blank_text("color").filter(|colour| colour != NO_COLOUR) {
        record.fields.insert("color".into(), colour.into());
    }
    record.source.platform = ID.into();
    record.origin =
        Origin { format: ID.into(), version: None, container: member.place.clone(), pointer: element.pointer.clone() };
    record.verbatim = Some(Verbatim::json(element.text));
    reader.sink.unit(record.into())
}

/// The text of a note: what it says, or its list with a box before each item. The text with styles is read only if there
/// is no other, and the links only if there is no text at all: they are what Keep found at the addresses in the text.
fn text(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> String {
    let object = &element.object;
    let plain_text = object.non_blank_text("textContent").map(|text| unix_lines(text.trim()));
    let from_html = || object.non_blank_text("textContentHtml").map(|html| html::to_text(&html).trim().to_owned());
    let mut parts: Vec<String> = plain_text.into_iter().collect();
    let items = items(reader, member, element);
    if !items.is_empty() {
        parts.push(items.join("\n"));
    }
    if parts.is_empty() {
        parts.extend(from_html().filter(|text| !text.is_empty()));
    }
    if parts.is_empty() {
        parts.extend(object.objects("annotations").filter_map(|link| {
            let members = ["title", "url"].iter().filter_map(|key| link.non_blank_text(key));
            Some(members.map(|text| text.trim().to_owned()).collect::<Vec<_>>().join(" "))
                .filter(|line| !line.is_empty())
        }));
        return parts.join("\n");
    }
    parts.join("\n\n")
}

/// The items of a list as lines of Markdown. Items without a text are left out.
fn items(reader: &mut FileReader<'_>, member: &Member, element: &ObjectElement<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for (number, raw) in element.object.list(LIST).unwrap_or_default().into_iter().enumerate() {
        let Some(item) = Object::parse(raw.get()) else {
            let pointer = format!("{}/{LIST}/{number}", element.pointer);
            reader.report_failed(
                member,
                &pointer,
                "not_an_object: this item of a list is not an object",
                Kind::Resource,
            );
            continue;
        };
        if let Some(text) = item.non_blank_text("text") {
            let mark = if item.is_true("isChecked") { "x" } else { " " };
            out.push(format!("- [{mark}] {}", unix_lines(text.trim()).replace('\n', "\n  ")));
        }
    }
    out
}

/// The files of a note.
fn attachments(object: &Object<'_>, files: &Files<'_>) -> Vec<AttachmentRef> {
    let mut names = HashSet::new();
    let mut out = Vec::new();
    for file in object.objects(ATTACHMENTS) {
        let Some(path) = file.non_blank_text(FILE_PATH) else { continue };
        let name = files.find(&path).map_or_else(|| file_name(&path), Member::file_name);
        if names.insert(name.to_owned()) {
            out.push(AttachmentRef {
                key: file_key(name),
                origin_id: Some(path.to_string()),
                name: name.to_owned(),
                media_type: file.non_blank_text("mimetype").map(|media_type| media_type.into_owned()),
                size: None,
                text: None,
            });
        }
    }
    out
}

/// The time in a member, in microseconds since 1970. Zero means an unknown time. Any other value is reported.
fn time(reader: &mut FileReader<'_>, object: &Object<'_>, key: &str, place: &str) -> Option<Timestamp> {
    object.raw_value(key)?;
    let micros = object.whole_number(key);
    if micros == Some(0) {
        return None;
    }
    let time = micros.and_then(|micros| i64::try_from(micros).ok()).and_then(Timestamp::from_micros);
    if time.is_none() {
        reader.sink.note(Issue::new("bad_time", place, format!("the time in {key} cannot be read")));
    }
    time
}
