//! A conversation as the page of an assistant receives it from its server. Browser scripts save the server's answer
//! unchanged. The answer lists the newest message first, and most servers number the messages.
use mementory_format::{FormatError, Member};
use mementory_formats_shared::chat::{Chat, Turn, put_oldest_first, times_of};
use mementory_formats_shared::message::{report_no_message, send};
use mementory_formats_shared::object::{Object, list, with_replaced_values};
use mementory_formats_shared::reader::{FileReader, ObjectElement};
use mementory_model::Verbatim;
use serde_json::value::RawValue;

/// The messages of an answer.
pub(super) struct Messages<'a> {
    /// The list. None if the answer lacks it.
    pub list: Option<&'a RawValue>,
    /// JSON pointer of the list.
    pub pointer: String,
    /// Name of the member that contains a message's number.
    pub number: &'static str,
    /// Reads a message from its object, its text and its JSON pointer.
    pub read: fn(&FileReader<'_>, &Object<'_>, &str, String) -> Turn,
}

/// Sends the conversation in an element. `chat` already has the conversation's id and title. `platform` is also the
/// version of the claim.
pub(super) fn send_answer(
    files: &mut FileReader<'_>,
    member: &Member,
    element: &ObjectElement<'_>,
    messages: &Messages<'_>,
    mut chat: Chat,
    platform: &str,
) -> Result<(), FormatError> {
    let mut turns: Vec<(Option<u64>, Turn)> = Vec::new();
    for (position, raw) in messages.list.and_then(list).unwrap_or_default().into_iter().enumerate() {
        let pointer = format!("{}/{position}", messages.pointer);
        match Object::parse(raw.get()) {
            Some(message) => {
                let turn = (messages.read)(files, &message, raw.get(), pointer);
                turns.push((message.whole_number(messages.number), turn));
            }
            None => report_no_message(files, member, &pointer),
        }
    }
    let cuts: Vec<_> = messages.list.map(|raw| (raw, "[]")).into_iter().collect();
    chat.verbatim = Some(Verbatim::json(with_replaced_values(element.text, &cuts)));
    chat.pointer.clone_from(&element.pointer);
    chat.is_log = true;
    chat.turns = oldest_first(turns);
    chat.times = times_of(&chat.turns);
    send(files, member, chat, platform, Some(platform))
}

/// Returns messages in the order of their numbers. If a message has no number, reverses the list, unless the times of
/// the messages contradict this.
fn oldest_first(mut turns: Vec<(Option<u64>, Turn)>) -> Vec<Turn> {
    let are_numbered = turns.iter().all(|(number, _)| number.is_some());
    turns.reverse();
    if are_numbered {
        turns.sort_by_key(|(number, _)| *number);
    }
    let mut turns: Vec<Turn> = turns.into_iter().map(|(_, turn)| turn).collect();
    if !are_numbered {
        put_oldest_first(&mut turns);
    }
    turns
}
