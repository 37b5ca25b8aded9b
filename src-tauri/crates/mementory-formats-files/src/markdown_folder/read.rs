//! Reads the records of a folder that this format wrote. The text between the records is only for human readers and is
//! ignored.
use super::{ID, VERSION, note};
use mementory_format::{AttachmentFile, Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::{
    files,
    lines::{Line, Lines},
    reader::FileReader,
};
use mementory_model::{AttachmentRef, DroppedAs, Unit};
use std::{collections::HashMap, io::Read};

/// Number of bytes of a file from which its media type is determined.
const HEAD_BYTES: u64 = 512;

/// Reads the notes, then the files that they name.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut named_files: HashMap<String, AttachmentRef> = HashMap::new();
    let mut reader = FileReader::new(ID, catalog, context, sink);
    reader.each_file(detected, |reader, member, role| match role {
        Role::Attachment => Ok(()),
        _ => {
            let catalog = reader.catalog;
            catalog.read(member, |bytes| read_notes(reader, member, bytes, &mut named_files))
        }
    })?;
    for part in detected.claim.parts.iter().filter(|part| part.role == Role::Attachment) {
        let Some(member) = catalog.members().get(part.member) else { continue };
        let result = match named_files.remove(member.file_name()) {
            Some(file) => send_file(&mut reader, member, file),
            None => reader.pass_through(member, "", "sidecar"),
        };
        reader.drop_if_damaged(member, result)?;
    }
    Ok(())
}

fn send_file(reader: &mut FileReader<'_>, member: &Member, file: AttachmentRef) -> Result<(), FormatError> {
    let catalog = reader.catalog;
    catalog.read(member, |bytes| {
        let mut head = Vec::new();
        (&mut *bytes).take(HEAD_BYTES).read_to_end(&mut head).map_err(|e| FormatError::io(&member.place, e))?;
        let media_type = file.media_type.or_else(|| files::media_type(&head, &file.name).map(str::to_owned));
        let (key, origin_id, name, place) = (file.key, file.origin_id, file.name, member.place.clone());
        let file = AttachmentFile { key, origin_id, name, media_type, place };
        reader.sink.attachment(file, &mut head.as_slice().chain(bytes))
    })
}

fn read_notes(
    reader: &mut FileReader<'_>,
    member: &Member,
    bytes: &mut dyn Read,
    named_files: &mut HashMap<String, AttachmentRef>,
) -> Result<(), FormatError> {
    let limits = &reader.context.limits;
    let (limit, line_limit) = (limits.element_bytes, limits.line_bytes.max(limits.element_bytes));
    let mut lines = Lines::new(bytes, line_limit);
    let (mut number, mut open_note) = (0_u64, None::<note::OpenNote>);
    while let Some(line) = lines.next_line().map_err(|e| FormatError::io(&member.place, e))? {
        number += 1;
        let Line::Text(line) = line else {
            open_note.iter_mut().for_each(|open_note| open_note.is_too_large = true);
            continue;
        };
        let text = String::from_utf8_lossy(line);
        if text.starts_with(note::BEGIN) {
            if let Some(done) = open_note.replace(note::OpenNote::new(number, &text)) {
                send(reader, member, done, named_files)?;
            }
        } else if let Some(open_note) = &mut open_note {
            open_note.add(&text, limit);
        }
    }
    open_note.map_or(Ok(()), |done| send(reader, member, done, named_files))
}

fn send(
    reader: &mut FileReader<'_>,
    member: &Member,
    note: note::OpenNote,
    named_files: &mut HashMap<String, AttachmentRef>,
) -> Result<(), FormatError> {
    let pointer = format!("line {}", note.line);
    let result = match note.is_too_large {
        true => Err("too_large: this record is larger than the limit"),
        false => note.record(ID).ok_or("malformed: the values of this record cannot be read"),
    };
    match result {
        Ok((mut record, files)) => {
            for (file, path) in files {
                named_files.insert(path.rsplit('/').next().unwrap_or_default().to_owned(), file);
            }
            record.origin.version = Some(VERSION.into());
            record.origin.container.clone_from(&member.place);
            record.origin.pointer = pointer;
            reader.sink.unit(Unit::from(record))
        }
        Err(reason) => {
            reader.report_dropped(format!("{}#{pointer}", member.place), DroppedAs::Failed, reason, None);
            Ok(())
        }
    }
}
