//! Reads the memories of an export.
use super::detect::LISTS;
use super::{ID, PLATFORM};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, RowValues, each_row, object_of};
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;

/// Members with a field in the model.
const USED: [&str; 8] =
    ["content", "content_hash", "tags", "memory_type", "created_at", "created_at_iso", "updated_at", "updated_at_iso"];

/// Reads every claimed file.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, _| {
        each_row(files, member, &LISTS, Kind::Memory, &mut |files, row| read_row(&mut rows, files, row))
    })
}

fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    // Results of a search have the memory beside its score.
    let memory = object.object("memory").unwrap_or(object);
    let Some(text) = memory.first_text(&["content"]) else {
        rows.fail(files, row, "no_content: no text in it", Kind::Memory);
        return Ok(());
    };
    let mut record = rows.record(Kind::Memory, memory.id("content_hash"), &text, text.clone());
    record.record_type = memory.first_text(&["memory_type"]);
    record.tags = memory.texts("tags");
    record.times.created = memory.time("created_at").or_else(|| memory.time("created_at_iso"));
    record.times.updated = memory.time("updated_at").or_else(|| memory.time("updated_at_iso"));
    record.fields = memory.other_fields(&USED);
    rows.send(files, row, record)
}
