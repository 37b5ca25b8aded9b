//! Reads the collection `memoryentries` of LibreChat's database, which contains what assistants remember about a
//! person.
use super::parts::FORMAT_ID;
use mementory_format::{FormatError, Member};
use mementory_formats_shared::any_time::first_time;
use mementory_formats_shared::message::first_text;
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::reader::FileReader;
use mementory_model::{DroppedAs, Kind, Origin, Record, RecordKey, Verbatim};

/// Sends each row as a memory.
pub(super) fn read(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    files.objects(member, &[], Kind::Memory, |files, element| {
        let object = &element.object;
        let Some(value) = object.non_blank_text("value") else {
            let place = format!("{}#{}", member.place, element.pointer);
            files.report_dropped(place, DroppedAs::Failed, "no_content: this memory has no text", Some(Kind::Memory));
            return Ok(());
        };
        let id = first_text(object, &["_id"]);
        let key = format!("memory/{}", id.clone().unwrap_or_else(|| content_id(element.text)));
        let mut record = Record::new(Kind::Memory, RecordKey::new(FORMAT_ID, key), value.into_owned());
        record.origin_id = id;
        record.title = first_text(object, &["key"]);
        record.times.updated = first_time(object, &["updated_at", "updatedAt"]);
        record.source.platform = FORMAT_ID.into();
        record.source.account = first_text(object, &["userId", "user"]);
        record.origin = Origin {
            format: FORMAT_ID.into(),
            version: None,
            container: member.place.clone(),
            pointer: element.pointer.clone(),
        };
        record.verbatim = Some(Verbatim::json(element.text));
        files.sink.unit(record.into())
    })?;
    Ok(())
}
