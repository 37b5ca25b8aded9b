//! Collects the messages of a conversation and puts them in the order in which the conversation lists them. Some
//! messages may be in the row of the conversation, others in separate rows.
use mementory_formats_shared::chat::{Chat, Turn, TurnParent};
use mementory_formats_shared::object::{Object, decode_string};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Messages of a conversation that were read so far.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// Positions in the conversation's list, by message id.
    ranks: HashMap<String, usize>,
    /// True if the database has one of the listed messages, readable or not.
    has_listed: bool,
    /// Ids of the messages that were read, and of rows that could not be read.
    seen: HashSet<String>,
    /// The messages, each with its position in the list. None for a message that is not listed.
    found: Vec<(Option<usize>, Turn)>,
}

impl Messages {
    /// Creates an empty collection with the order in which the row of the conversation lists its messages.
    pub fn of(conversation: &Object<'_>) -> Self {
        let mut ranks = HashMap::new();
        for (rank, id) in listed_ids(conversation).into_iter().enumerate() {
            ranks.entry(id).or_insert(rank);
        }
        Self { ranks, ..Self::default() }
    }

    /// The position of a message in the conversation's list.
    pub fn rank(&self, id: &str) -> Option<usize> {
        self.ranks.get(id).copied()
    }

    /// The ids of the messages in the conversation's list, in any order.
    pub fn listed(&self) -> impl Iterator<Item = &String> {
        self.ranks.keys()
    }

    /// Notes that the database has a message with this id, whether or not it can be read.
    pub fn note_present(&mut self, id: &str) {
        self.has_listed |= self.ranks.contains_key(id);
    }

    /// Stores the id of a message. Returns false if a message with this id was found before. A message without an id
    /// always counts as new.
    pub fn insert_id(&mut self, id: &str) -> bool {
        id.is_empty() || self.seen.insert(id.to_owned())
    }

    /// Adds a message. If the conversation's list contains `id`, the message gets the position of `id` in this list.
    pub fn add(&mut self, id: &str, turn: Turn) {
        self.found.push((self.rank(id), turn));
    }

    /// Adds a message of the list `conversation`. If the message is not listed elsewhere, it follows the previously
    /// added message.
    pub fn add_inline(&mut self, turn: Turn) {
        let id = turn.id.as_deref().unwrap_or_default();
        self.note_present(id);
        self.seen.extend(turn.id.clone());
        let rank = self.rank(id).or_else(|| self.found.last()?.0);
        self.found.push((Some(rank.unwrap_or_default()), turn));
    }

    /// Number of listed messages that were not found.
    pub fn missing_count(&self) -> usize {
        self.ranks.keys().filter(|id| !self.seen.contains(*id)).count()
    }

    /// Adds the messages to the conversation. Listed messages come first, in the order of the list. If the database has
    /// none of the listed messages, all messages count as listed.
    pub fn fill(mut self, chat: &mut Chat) {
        self.found.sort_by_key(|(rank, _)| rank.unwrap_or(usize::MAX));
        for (rank, mut turn) in self.found {
            chat.note_time(turn.times.created);
            if rank.is_none() && self.has_listed {
                // Cursor no longer shows this message. It gets a separate branch, so that it does not count as the end
                // of the conversation.
                turn.fields.insert("listed".into(), false.into());
                turn.parent = TurnParent::Root;
            } else {
                turn.parent = chat.turns.len().checked_sub(1).map_or(TurnParent::Root, TurnParent::At);
                chat.leaf.clone_from(&turn.id);
            }
            chat.turns.push(turn);
        }
    }
}

/// The ids of the messages in the list of a conversation.
fn listed_ids(object: &Object<'_>) -> Vec<String> {
    let headers = object.list("fullConversationHeadersOnly").unwrap_or_default();
    let id = |raw: &&RawValue| match Object::parse(raw.get()) {
        Some(header) => header.text("bubbleId").map(|id| id.into_owned()),
        None => decode_string(raw).map(|id| id.into_owned()),
    };
    headers.iter().filter_map(id).filter(|id| !id.is_empty()).collect()
}
