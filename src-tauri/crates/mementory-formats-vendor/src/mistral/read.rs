//! Reads the files of a claim according to their roles.
use super::{MISTRAL, VIBE_LAYOUT, content, le_chat, memories, vibe};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::{
    files::{folder, send_file},
    reader::FileReader,
};
use mementory_model::{DroppedAs, RecordKey};

/// Reads an export of Le Chat, or the sessions of Vibe.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let version = detected.claim.version.as_deref();
    let is_vibe = version == Some(VIBE_LAYOUT);
    FileReader::new(MISTRAL, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Conversations if is_vibe => vibe::read_whole(reader, member, version),
        Role::Conversations => le_chat::read(reader, member, version),
        Role::Manifest => vibe::read_folder(reader, member, messages_file(catalog, detected, member), version),
        // A file of messages is read together with the metadata of its session.
        Role::Records => Ok(()),
        Role::Memories => memories::read(reader, member, version),
        Role::Attachment => {
            let key = match le_chat::file_of_chat(&member.place) {
                Some((chat, name)) => content::file_key(chat, name),
                None => RecordKey::new(MISTRAL, format!("path/{}", member.name)),
            };
            send_file(reader, member, key, None, member.file_name())
        }
        Role::Junk => {
            let reason = "junk: bookkeeping of an operating system";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        _ => reader.pass_through(member, "", "sidecar"),
    })
}

/// Finds the file of messages in the same folder as the metadata of a session.
fn messages_file<'c>(catalog: &'c Catalog, detected: &Detected, metadata: &Member) -> Option<&'c Member> {
    let messages = detected.claim.parts.iter().filter(|part| part.role == Role::Records);
    let mut members = messages.filter_map(|part| catalog.members().get(part.member));
    members.find(|m| m.archive == metadata.archive && folder(&m.place) == folder(&metadata.place))
}
