//! Messages of other branches, which Chatbox stores next to the messages of a session.
use mementory_format::Member;
use mementory_formats_shared::chat::{Turn, TurnParent};
use mementory_formats_shared::message::read_list;
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::reader::FileReader;
use serde_json::value::RawValue;

/// Member of a session of Chatbox. For a message, it lists the messages that follow on other branches.
const FORKS: &str = "messageForksHash";

/// Messages of other branches that were added to those of a session.
pub(super) struct Forks<'o> {
    /// The id of the last message that is shown.
    pub last_shown_id: Option<String>,
    /// The lists of the added messages.
    pub lists: Vec<&'o RawValue>,
}

/// Adds the messages of other branches to those of a session of Chatbox. None if there are no other branches.
pub(super) fn add_forks<'o>(
    files: &mut FileReader<'_>,
    member: &Member,
    session: &Object<'o>,
    at: &str,
    turns: &mut Vec<Turn>,
) -> Option<Forks<'o>> {
    let forks = session.object(FORKS)?;
    let last_shown_id = turns.last()?.id.clone();
    let mut lists = Vec::new();
    for (id, raw) in forks.members() {
        let branches = Object::parse(raw.get()).and_then(|fork| fork.list("lists")).unwrap_or_default();
        for (index, raw) in branches.into_iter().enumerate() {
            let Some(list_of_messages) = Object::parse(raw.get()).and_then(|branch| branch.raw_value("messages"))
            else {
                continue;
            };
            let messages = list(list_of_messages).unwrap_or_default();
            let pointer = format!("{at}/{FORKS}/{id}/lists/{index}/messages");
            for (n, mut turn) in read_list(files, member, &messages, &pointer).into_iter().enumerate() {
                turn.parent = if n == 0 { TurnParent::Id(id.to_owned()) } else { TurnParent::At(turns.len() - 1) };
                turns.push(turn);
            }
            lists.push(list_of_messages);
        }
    }
    Some(Forks { last_shown_id, lists })
}
