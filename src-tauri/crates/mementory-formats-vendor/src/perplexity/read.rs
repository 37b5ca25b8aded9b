//! Reads the files of a claim according to their roles and shapes.
use super::{PERPLEXITY, detect, document, entry, sheets, threads};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::{
    files::{json_keys, send_file},
    reader::FileReader,
};
use mementory_model::{DroppedAs, Issue, Kind};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut threads = threads::Threads::default();
    let mut reader = FileReader::new(PERPLEXITY, catalog, context, sink);
    reader.each_file(detected, |reader, member, role| match role {
        Role::Conversations if document::is_document(catalog, member) => document::read(reader, member),
        Role::Conversations => read_json(reader, member, &mut threads),
        Role::Records => sheets::read(reader, member, &mut threads),
        Role::Attachment => {
            let name = member.file_name();
            send_file(reader, member, entry::file_key(name), None, name)
        }
        Role::DuplicateRendering => {
            let reason = "duplicate_rendering: the same thread as Markdown";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        Role::Junk => {
            let reason = "junk: bookkeeping of an operating system";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        _ => reader.pass_through(member, "", "sidecar"),
    })?;
    threads.send(&mut reader)
}

fn read_json(reader: &mut FileReader<'_>, member: &Member, threads: &mut threads::Threads) -> Result<(), FormatError> {
    let keys = json_keys(reader.catalog, member).unwrap_or_default();
    let mut wrappers = detect::wrappers_of(&keys);
    let is_account = detect::shape_of(&keys) == Some(detect::Shape::Account);
    if is_account && !wrappers.contains(&"conversations") {
        wrappers.push("conversations");
    }
    let count = reader.objects(member, &wrappers, Kind::Conversation, |reader, element| {
        match is_account && !threads::is_wrapper(&element.object) {
            true => threads::read_account(reader, member, element),
            false => threads::read(reader, member, element, threads),
        }
    })?;
    if count == 0 {
        reader.sink.note(Issue::new("empty", &member.place, "this file contains no conversations"));
    }
    Ok(())
}
