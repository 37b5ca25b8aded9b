//! Finds the chats, the order of their rows, and repeated rows in all files. My Activity is a log with the newest row
//! first, so a chat is complete only after all rows have been read. The plan stores no texts.
use super::activity::{Activity, Meaning, SCOPE};
use super::verbs;
use mementory_formats_shared::object::content_id;
use mementory_model::{RecordKey, Timestamp};
use std::collections::{HashMap, HashSet};

/// Largest number of first words that are remembered.
const MAX_WORDS: usize = 10_000;

/// Chats and rows of an export.
#[derive(Default)]
pub(super) struct Plan {
    chats: HashMap<String, Chat>,
    /// First words of the titles of activities that have answers, for titles in unknown languages.
    prompt_words: HashSet<String>,
}

/// A chat to which rows have links.
#[derive(Default)]
struct Chat {
    rows: Vec<PlannedRow>,
    /// Position of each row in `rows`, by the id of the row. Set when the rows have been ordered.
    positions: HashMap<String, usize>,
}

struct PlannedRow {
    id: String,
    time: Option<Timestamp>,
    has_answer: bool,
    /// First word of the title, if it is not known yet whether the title is a prompt.
    undecided: Option<String>,
}

/// The place of a row in its chat.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ChatPosition {
    /// Number of rows before this row.
    pub position: u32,
    /// Id of the previous row, and whether that row has an answer.
    pub before: Option<(String, bool)>,
    /// Times of the first and the last row of the chat.
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

/// Ids of rows, unique in an export.
#[derive(Default)]
pub(super) struct RowIds {
    /// For each id: the first file with this id, and the digests of the rows with this id.
    seen: HashMap<String, (usize, HashSet<String>)>,
}

impl RowIds {
    /// A unique id for a row of this file. None if the row is a duplicate: this file already had a row with the same
    /// text, or another file of the export already had the same activity.
    pub(super) fn unique_id(&mut self, file: usize, activity: &Activity) -> Option<String> {
        let id = activity.id();
        let digest = content_id(activity.verbatim.as_ref().map_or("", |verbatim| verbatim.text.as_str()));
        let (first_file, digests) = self.seen.entry(id.clone()).or_insert_with(|| (file, HashSet::new()));
        if *first_file != file || !digests.insert(digest) {
            return None;
        }
        // The same prompt may occur twice in the same second, so a number is appended.
        Some(if digests.len() == 1 { id } else { format!("{id}~{}", digests.len()) })
    }
}

impl Plan {
    /// Adds a row. Rows must be added in the order of the files.
    pub(super) fn add(&mut self, id: String, activity: &Activity) {
        let title = activity.title();
        let has_answer = activity.answer.is_some();
        let word = activity.prompt_word().filter(|_| title == verbs::Title::Unknown);
        if has_answer
            && self.prompt_words.len() < MAX_WORDS
            && let Some(word) = word
        {
            self.prompt_words.insert(word.to_owned());
        }
        let (Some(link), false) = (&activity.chat, title == verbs::Title::Activity) else { return };
        let is_undecided = title == verbs::Title::Unknown && !has_answer;
        let undecided = is_undecided.then(|| word.unwrap_or_default().to_owned());
        let row = PlannedRow { id, time: activity.time, has_answer, undecided };
        self.chats.entry(link.id.clone()).or_default().rows.push(row);
    }

    /// Orders the rows of all chats, after all rows were added.
    pub(super) fn finish(&mut self) {
        let words = &self.prompt_words;
        for chat in self.chats.values_mut() {
            chat.rows.retain(|row| row.undecided.as_ref().is_none_or(|word| words.contains(word)));
            // The newest row is first in the file, so the rows are reversed. The sort keeps the order of rows with the
            // same time.
            chat.rows.reverse();
            chat.rows.sort_by_key(|row| row.time);
            chat.positions = chat.rows.iter().enumerate().map(|(i, row)| (row.id.clone(), i)).collect();
        }
    }

    /// Whether an activity is a prompt.
    pub(super) fn meaning(&self, activity: &Activity) -> Meaning {
        activity.meaning(|word| self.prompt_words.contains(word))
    }

    /// The place of a row in its chat. None for rows without a link to a chat.
    pub(super) fn place(&self, id: &str, activity: &Activity) -> Option<ChatPosition> {
        let chat = self.chats.get(&activity.chat.as_ref()?.id)?;
        let position = *chat.positions.get(id)?;
        let before = position.checked_sub(1).and_then(|before| chat.rows.get(before));
        Some(ChatPosition {
            position: u32::try_from(position).unwrap_or(u32::MAX),
            before: before.map(|row| (row.id.clone(), row.has_answer)),
            first: chat.rows.iter().find_map(|row| row.time),
            last: chat.rows.iter().rev().find_map(|row| row.time),
        })
    }
}

/// Keys of the conversation and the messages of a row.
pub(super) struct Keys {
    conversation: String,
}

impl Keys {
    /// The keys for the chat of a row. If the row has no link to a chat, the row is a conversation of its own.
    pub(super) fn of(id: &str, activity: &Activity) -> Self {
        let conversation = match &activity.chat {
            Some(link) => format!("chat/{}", link.id),
            None => format!("activity/{id}"),
        };
        Self { conversation }
    }

    pub(super) fn conversation(&self) -> RecordKey {
        RecordKey::new(SCOPE, self.conversation.clone())
    }

    pub(super) fn prompt(&self, row: &str) -> RecordKey {
        RecordKey::new(SCOPE, format!("{}/{row}/prompt", self.conversation))
    }

    pub(super) fn answer(&self, row: &str) -> RecordKey {
        RecordKey::new(SCOPE, format!("{}/{row}/answer", self.conversation))
    }
}
