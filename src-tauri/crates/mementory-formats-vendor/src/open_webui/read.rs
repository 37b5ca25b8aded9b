//! Reads exported chats and databases.
use super::chat::{Folders, read_chat};
use super::database::read_database;
use mementory_format::{Catalog, Detected, FormatError, ReadContext, Role, Sink};
use mementory_formats_shared::reader::FileReader;
use mementory_model::Kind;

/// Keys under which other programs write the list of chats.
const WRAPPER_KEYS: [&str; 3] = ["data", "chats", "items"];

pub(super) fn read(
    catalog: &Catalog,
    detected: &Detected,
    context: &ReadContext,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let version = detected.claim.version.as_deref();
    FileReader::new("open_webui", catalog, context, sink).each_file(detected, |files, member, role| match role {
        Role::Manifest => read_database(files, member),
        Role::Junk => Ok(()),
        _ => {
            files.objects(member, &WRAPPER_KEYS, Kind::Conversation, |files, element| {
                let folders = Folders::new();
                // A response of the API contains a single chat under `data`, without a list.
                let inner = element.object.raw_value("data").filter(|raw| {
                    !element.object.has("chat") && !element.object.has("history") && raw.get().starts_with('{')
                });
                let (text, pointer) = match inner {
                    Some(raw) => (raw.get(), format!("{}/data", element.pointer)),
                    None => (element.text, element.pointer.clone()),
                };
                read_chat(files, member, text, &pointer, version, &folders, Vec::new())
            })?;
            Ok(())
        }
    })
}
