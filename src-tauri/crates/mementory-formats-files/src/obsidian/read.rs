//! Reads a vault or a folder of notes. Each note becomes a document, and each other file becomes an attachment.
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Sink};
use mementory_formats_shared::note_reader::NoteReader;

/// Reads every file of the vault.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = NoteReader::new("obsidian", catalog, detected, context, sink);
    reader.read_all(detected, |reader, member, text| {
        let mut record = reader.document(member, text).record;
        record.origin.version = detected.claim.version.clone();
        reader.files.sink.unit(record.into())
    })
}
