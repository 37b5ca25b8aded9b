//! Reads the files of conversations, the assets and the side files of an export.
use super::{GROK, conversation, files, other};
use mementory_format::{Catalog, Detected, FormatError, Member, ReadContext, Role, Sink};
use mementory_formats_shared::{
    files::{json_keys, send_file},
    reader::FileReader,
};
use mementory_model::{DroppedAs, Issue, Kind};
use std::collections::HashSet;

/// Keys of the lists in the file of conversations.
const LIST_KEYS: [&str; 4] = ["conversations", "projects", "tasks", "media_posts"];

/// Reads an export. Files with sign-in or payment data are reported as dropped and not stored.
pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let members = detected.claim.parts.iter().filter_map(|part| catalog.members().get(part.member));
    let assets: HashSet<&str> = members.filter_map(|member| files::asset_id(&member.name)).collect();
    let mut sent = HashSet::new();
    FileReader::new(GROK, catalog, context, sink).each_file(detected, |reader, member, role| match role {
        Role::Conversations => read_backend(reader, member, &assets),
        Role::Attachment => read_asset(reader, member, &mut sent),
        Role::Junk => {
            let reason = "junk: bookkeeping of an operating system";
            reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
            Ok(())
        }
        _ => read_side_file(reader, member),
    })
}

fn read_backend(reader: &mut FileReader<'_>, member: &Member, assets: &HashSet<&str>) -> Result<(), FormatError> {
    let count = reader.objects(member, &LIST_KEYS, Kind::Conversation, |reader, element| {
        let list = element.pointer.split('/').nth(1).unwrap_or_default();
        let object = &element.object;
        match list {
            "projects" => other::read_project(reader, member, element),
            "tasks" => other::read_task(reader, member, element),
            "media_posts" => other::read_media_post(reader, member, element, assets),
            _ if object.has("custom_personality") && !object.has("responses") => {
                other::read_project(reader, member, element)
            }
            _ => conversation::read(reader, member, element, assets),
        }
    })?;
    if count == 0 {
        reader.sink.note(Issue::new("empty", &member.place, "this file contains no conversations"));
    }
    Ok(())
}

/// Reads the file of an asset as an attachment. Further files in the folder of the asset become passthrough files.
fn read_asset(reader: &mut FileReader<'_>, member: &Member, sent: &mut HashSet<String>) -> Result<(), FormatError> {
    let id = files::asset_id(&member.name).unwrap_or_default().to_owned();
    if !sent.insert(id.clone()) {
        return reader.pass_through(member, "", "sidecar");
    }
    let name = Some(member.file_name()).filter(|name| *name != "content").unwrap_or(&id).to_owned();
    send_file(reader, member, files::file_key(&id), Some(id), &name)
}

/// Stores a side file as a passthrough file. Files with the person's name, addresses, sessions or payments are reported
/// as dropped and not stored.
fn read_side_file(reader: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let name = member.file_name().to_ascii_lowercase();
    let keys = json_keys(reader.catalog, member).unwrap_or_default();
    let reason = if name.contains("auth") || keys.has("sessions") || keys.has("user.email") {
        "not_imported: profile, sign-ins and sessions of the account"
    } else if name.contains("billing") || name.contains("payment") || keys.has("balance") {
        "not_imported: payment data"
    } else {
        return reader.pass_through(member, "", "sidecar");
    };
    reader.report_dropped(member.place.clone(), DroppedAs::Skipped, reason, None);
    Ok(())
}
