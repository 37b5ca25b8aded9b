//! Reads the memories of exports and databases.
use super::detect::LIST_KEYS;
use super::memory::memory_of;
use super::{ID, PLATFORM, database};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::memory_rows::{Row, RowSender, each_row, object_of};
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut files = FileReader::new(ID, catalog, context, sink);
    let mut rows = RowSender::new(ID, PLATFORM, detected.claim.version.as_deref());
    files.each_file(detected, |files, member, role| match role {
        Role::Manifest => database::read(&mut rows, files, member),
        Role::Junk => Ok(()),
        _ => each_row(files, member, &LIST_KEYS, Kind::Memory, &mut |files, row| read_row(&mut rows, files, row)),
    })
}

fn read_row(rows: &mut RowSender, files: &mut FileReader<'_>, row: &Row<'_>) -> Result<(), FormatError> {
    let Some(object) = object_of(files, row, Kind::Memory) else { return Ok(()) };
    // A search result contains the memory and its score as two members.
    let memory = object.object("memory").unwrap_or(object);
    match memory_of(rows, &memory) {
        Some(record) => rows.send(files, row, record),
        None => {
            rows.fail(files, row, "no_content: no text in it", Kind::Memory);
            Ok(())
        }
    }
}
