//! Reads the files of a claim.
use super::detect::{FileKind, file_kind};
use super::headers::Index;
use super::{FORMAT, dump, items, state, store, text_transcript, transcript};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::reader::FileReader;
use mementory_formats_shared::sqlite;
use mementory_model::{DroppedAs, Issue};

/// Reads all files of the claim. Databases are not stored as files, because they contain access tokens.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut reader = FileReader::new(FORMAT, catalog, context, sink);
    let mut index = Index::default();
    reader.each_file(detected, |reader, member, role| {
        if role == Role::Sidecar {
            let reason = "database_log: it is read with its database and not stored";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            return Ok(());
        }
        match file_kind(reader.catalog, member) {
            Some(FileKind::Transcript) => transcript::read(reader, member),
            Some(FileKind::TextTranscript) => text_transcript::read(reader, member),
            Some(FileKind::Dump) => dump::read(reader, member),
            Some(kind) => read_database(reader, member, kind, &mut index),
            None => Err(FormatError::invalid("changed", &member.place, "the file is no longer what was detected")),
        }
    })?;
    index.send_remaining(&mut reader)
}

fn read_database(
    reader: &mut FileReader<'_>,
    member: &Member,
    kind: FileKind,
    index: &mut Index,
) -> Result<(), FormatError> {
    let original = member.name.strip_suffix(".backup");
    let is_original =
        |m: &Member| Some(m.name.as_str()) == original && (m.root, m.archive) == (member.root, member.archive);
    if reader.catalog.members().iter().any(is_original) {
        let reason = "duplicate: a backup of the database beside it";
        reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
        return Ok(());
    }
    let database = sqlite::open(reader.catalog, member, &reader.context.limits)?;
    if database.is_log_unread {
        let message = "the database is too large to read its log as well: the last changes are missing. Quit Cursor and import again";
        reader.sink.note(Issue::new("log_not_read", &member.place, message));
    }
    match kind {
        FileKind::Store => store::read(reader, member, &database, index),
        _ => {
            state::read(reader, member, &database, index)?;
            if database.has_table("ItemTable") { items::read(reader, member, &database, index) } else { Ok(()) }
        }
    }
}
