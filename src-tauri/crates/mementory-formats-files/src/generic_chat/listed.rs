//! Whole conversations under a key that other files use for messages, as in the backup of Page Assist.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::message::role_name;
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::{DroppedAs, Kind};
use serde_json::value::RawValue;

/// Key of the messages of each conversation.
const MESSAGES: &str = "messages";
/// Members of a backup of Page Assist.
const PAGE_ASSIST: [&str; 4] = ["knowledge", "chat", "vector", "prompts"];

/// True if the first entry of a list is a conversation with messages, and no message itself.
pub(super) fn is_list_of_conversations(raw: &RawValue) -> bool {
    let entries = list(raw).unwrap_or_default();
    let Some(entry) = entries.first().and_then(|raw| Object::parse(raw.get())) else { return false };
    let messages = entry.list(MESSAGES).unwrap_or_default();
    let message = messages.first().and_then(|raw| Object::parse(raw.get()));
    role_name(&entry).is_none() && message.is_some_and(|message| role_name(&message).is_some())
}

/// True for a list whose entries are not conversations themselves.
fn is_list_of_messages(raw: &RawValue) -> bool {
    list(raw).is_some() && !is_list_of_conversations(raw)
}

/// The program whose backup an object is.
pub(super) fn platform(object: &Object<'_>) -> Option<&'static str> {
    PAGE_ASSIST.iter().all(|key| object.has(key)).then_some("page_assist")
}

/// Calls `send` for each conversation of a list. The other members of the object become a passthrough file.
pub(super) fn send_listed(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    (key, listed): (&'static str, &RawValue),
    mut send: impl FnMut(&mut FileReader<'_>, &ObjectElement<'_>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    for (index, raw) in list(listed).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/{key}/{index}", element.pointer);
        match Object::parse(raw.get()) {
            // An entry that lists conversations itself is not read, so that the depth of the input has no effect.
            Some(object) if object.raw_value(MESSAGES).is_some_and(is_list_of_messages) => {
                send(files, &ObjectElement { text: raw.get(), object, pointer })?;
            }
            _ => {
                let reason = "no_messages: this entry has no messages";
                let place = format!("{}#{pointer}", member.place);
                files.report_dropped(place, DroppedAs::Failed, reason, Some(Kind::Conversation));
            }
        }
    }
    let rest = with_replaced_values(element.text, &[(listed, "[]")]);
    files.pass_through_wrapper(member, &element.pointer, &[key], Some(rest))
}
