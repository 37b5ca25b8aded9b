//! Plans the chats of an export: which rows each chat contains, in which order, and which rows are repeated. My
//! Activity is a log with the newest row first, so a chat is complete only after all rows have been read. The plan
//! stores no prompts or answers, only ids, times, and the headers or first words of titles that may be prompts.
use super::activity::{Activity, Meaning, SCOPE};
use super::verbs;
use mementory_formats_shared::object::content_id;
use mementory_model::{RecordKey, Timestamp};
use std::collections::{HashMap, HashSet};

/// Largest number of words in [`Plan::prompt_words`]. Further words are ignored.
const MAX_WORDS: usize = 10_000;

/// The chats of an export, with their rows.
#[derive(Default)]
pub(super) struct Plan {
    chats: HashMap<String, Chat>,
    /// Headers or first words, in an unknown language, of activities that have an answer. An activity without an answer
    /// is a prompt if its header or first word is one of them.
    prompt_words: HashSet<String>,
}

/// The rows that link to one chat.
#[derive(Default)]
struct Chat {
    rows: Vec<PlannedRow>,
    /// Maps the id of each row to its position in `rows`. Empty until the rows have been ordered.
    positions: HashMap<String, usize>,
}

struct PlannedRow {
    id: String,
    time: Option<Timestamp>,
    has_answer: bool,
    /// Header or first word of the title. Set only while it is unknown whether the title is a prompt.
    undecided: Option<String>,
}

/// The position of a row in its chat.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ChatPosition {
    /// Number of rows of the chat before this row.
    pub position: u32,
    /// Id of the previous row, and whether that row has an answer.
    pub previous_row: Option<(String, bool)>,
    /// Time of the first row of the chat that has a time. `last` is the time of the last such row.
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

/// Assigns ids to rows that are unique in an export.
#[derive(Default)]
pub(super) struct RowIds {
    /// For each id: the first file that contains it, and the digests of the rows that have it in that file.
    seen: HashMap<String, (usize, HashSet<String>)>,
}

impl RowIds {
    /// Returns a unique id for a row of a file. None if the row is a duplicate: the file already contained a row with
    /// the same verbatim, or another file of the export already contained the same activity.
    pub(super) fn unique_id(&mut self, file: usize, activity: &Activity) -> Option<String> {
        let id = activity.id();
        let digest = content_id(activity.verbatim.as_ref().map_or("", |verbatim| verbatim.text.as_str()));
        let (first_file, digests) = self.seen.entry(id.clone()).or_insert_with(|| (file, HashSet::new()));
        if *first_file != file || !digests.insert(digest) {
            return None;
        }
        // The same prompt may occur twice in the same second, so a number is appended to the id of the second row.
        Some(if digests.len() == 1 { id } else { format!("{id}~{}", digests.len()) })
    }
}

impl Plan {
    /// Adds a row. Rows must be added in the order in which the files contain them.
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

    /// Orders the rows of all chats. Must be called after all rows have been added.
    pub(super) fn finish(&mut self) {
        let words = &self.prompt_words;
        for chat in self.chats.values_mut() {
            chat.rows.retain(|row| row.undecided.as_ref().is_none_or(|word| words.contains(word)));
            // A file lists the newest row first, so the rows are reversed. The sort is stable, so it keeps the order of
            // rows with the same time.
            chat.rows.reverse();
            chat.rows.sort_by_key(|row| row.time);
            chat.positions = chat.rows.iter().enumerate().map(|(i, row)| (row.id.clone(), i)).collect();
        }
    }

    /// Determines whether an activity is a prompt.
    pub(super) fn meaning(&self, activity: &Activity) -> Meaning {
        activity.meaning(|word| self.prompt_words.contains(word))
    }

    /// Returns the position of a row in its chat. None for a row without a link to a chat.
    pub(super) fn place(&self, id: &str, activity: &Activity) -> Option<ChatPosition> {
        let chat = self.chats.get(&activity.chat.as_ref()?.id)?;
        let position = *chat.positions.get(id)?;
        let previous_row = position.checked_sub(1).and_then(|at| chat.rows.get(at));
        Some(ChatPosition {
            position: u32::try_from(position).unwrap_or(u32::MAX),
            previous_row: previous_row.map(|row| (row.id.clone(), row.has_answer)),
            first: chat.rows.iter().find_map(|row| row.time),
            last: chat.rows.iter().rev().find_map(|row| row.time),
        })
    }
}

/// Makes the record keys of the conversation and the messages of a row.
pub(super) struct Keys {
    conversation: String,
}

impl Keys {
    /// Returns the keys for a row. A row without a link to a chat is a conversation of its own.
    pub(super) fn for_row(id: &str, activity: &Activity) -> Self {
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
