//! The archive that HuggingChat makes of an account (`export.zip`): conversations, the files of their messages, and the
//! assistants that the person made. This module reads the files; the conversations are read as those of other programs.
use super::FORMAT_ID;
use mementory_format::{Catalog, FormatError, Member, Part, Role};
use mementory_formats_shared::files::{folder_of, send_file};
use mementory_formats_shared::reader::FileReader;
use mementory_model::RecordKey;

const CONVERSATIONS: &str = "conversations.json";
const ASSISTANTS: &str = "assistants.json";
/// Length of an id in hexadecimal digits.
const ID: usize = 24;

/// The files next to the file `conversations` that are part of the same export: assistants, avatars and attachments.
pub(super) fn companions(catalog: &Catalog, conversations: &Member) -> Vec<Part> {
    if conversations.file_name() != CONVERSATIONS {
        return Vec::new();
    }
    let place = folder_of(conversations);
    let role = |member: &Member| match member.file_name() {
        ASSISTANTS => Some(Role::Sidecar),
        name if has_id(name, "avatar-") => Some(Role::Sidecar),
        name => has_id(name, "file-").then_some(Role::Attachment),
    };
    let in_folder = catalog.members().iter().filter(|member| folder_of(member) == place);
    in_folder.filter_map(|member| Some(Part { member: member.id, role: role(member)? })).collect()
}

fn has_id(name: &str, beginning: &str) -> bool {
    let id = name.strip_prefix(beginning).and_then(|rest| rest.split(['-', '.']).next());
    id.is_some_and(|id| id.len() == ID && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Sends the bytes of a file. Messages refer to it by its name in the archive.
pub(super) fn send_attachment(files: &mut FileReader<'_>, member: &Member) -> Result<(), FormatError> {
    let name = member.file_name();
    send_file(files, member, RecordKey::new(FORMAT_ID, format!("file/{name}")), Some(name.to_owned()), name)
}
