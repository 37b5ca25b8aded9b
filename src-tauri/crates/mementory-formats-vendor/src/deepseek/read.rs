//! Reads the account's file first, then the conversations, because they get the account id from that file.
use super::{DEEPSEEK, conversation};
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::{files::send_file, object::Object, reader::FileReader, values::id};
use mementory_model::{DroppedAs, Issue, Kind, RecordKey};

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let version = detected.claim.version.clone();
    let account = account(catalog, detected, context);
    FileReader::new(DEEPSEEK, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Conversations => {
            let count = reader.objects(member, &["conversations"], Kind::Conversation, |reader, element| {
                conversation::read(reader, member, version.as_deref(), element, account.as_deref())
            })?;
            if count == 0 {
                reader.sink.note(Issue::new("empty", &member.place, "this file contains no conversations"));
            }
            Ok(())
        }
        Role::Junk => {
            let reason = "junk: bookkeeping of an operating system";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        Role::Sidecar if !member.file_name().ends_with(".json") => {
            let key = RecordKey::new(DEEPSEEK, format!("path/{}", member.name));
            send_file(reader, member, key, None, member.file_name())
        }
        _ => reader.pass_through(member, "", "sidecar"),
    })
}

/// Returns the account id. None if the export has no account file, or if that file cannot be read.
fn account(catalog: &Catalog, detected: &Detected, context: &ReadContext) -> Option<String> {
    let part = detected.claim.parts.iter().find(|part| part.role == Role::Manifest)?;
    let bytes = catalog.bytes(catalog.members().get(part.member)?, context.limits.side_file_bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    id(&Object::parse(text.trim_start_matches('\u{feff}'))?, "user_id")
}
