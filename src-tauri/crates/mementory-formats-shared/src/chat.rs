//! Builds the records of a conversation from its turns, which form a list or refer to their parents.
use super::object::content_id;
use super::order::{Node, Parent, order_messages};
use super::roles::{ASSISTANT, USER};
use mementory_model::{
    AttachmentRef, Fields, Issue, Kind, MessagePart, Origin, Record, RecordKey, Source, Times, Unit, Verbatim,
};
use std::borrow::Cow;
use std::collections::HashSet;

/// A conversation as a reader parsed it. Turns are in the order of the source.
#[derive(Debug, Default)]
pub struct Chat {
    /// Id of the conversation in the source. If None, an id is derived from the content.
    pub id: Option<String>,
    /// Identifies the conversation in its record key. If None, `id` is used. If `id` is None too, an id is derived from
    /// the title, the time and the first message.
    pub key: Option<String>,
    /// The title that the source gives.
    pub title: Option<String>,
    /// A summary made by the source. It becomes the text of the record.
    pub summary: String,
    /// Times of the conversation.
    pub times: Times,
    /// Account and project. Platform and conversation are added by [`Chat::into_unit`].
    pub source: Source,
    /// Type of the conversation, as named in the source.
    pub record_type: Option<String>,
    /// Status in the source (`archived`, `deleted` …).
    pub status: Option<String>,
    /// Tags of the conversation.
    pub tags: Vec<String>,
    /// Model of the turns that do not name one themselves.
    pub model: Option<String>,
    /// JSON pointer or line of the conversation in its file.
    pub pointer: String,
    /// The source text without the messages, each of which has its own verbatim.
    pub verbatim: Option<Verbatim>,
    /// Members for which the record model has no field.
    pub fields: Fields,
    /// The messages.
    pub turns: Vec<Turn>,
    /// Id of the last message on the branch that the user last had open. If None, the branch of the last turn is used.
    pub leaf: Option<String>,
    /// True for a log, whose order of messages is reliable. In other sources, an answer that precedes a prompt with the
    /// same time is swapped with this prompt.
    pub is_log: bool,
}

/// True for the content type of a message that is only the call or the result of a tool.
pub fn is_tool_type(content_type: &str) -> bool {
    matches!(content_type, "tool_call" | "tool_result")
}

/// A message as a reader parsed it.
#[derive(Debug, Default)]
pub struct Turn {
    /// Id of the message in the source. If None, an id is derived from position and text.
    pub id: Option<String>,
    /// Identifies the message in its conversation. If None, `id` is used. If `id` is None too, an id is derived from
    /// position and text.
    pub key: Option<String>,
    /// The parent, for formats whose messages form a tree.
    pub parent: TurnParent,
    /// `user`, `assistant`, `system` or `tool`.
    pub role: String,
    /// The text of the message.
    pub text: String,
    /// `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context`, or the source's own name for the type.
    pub content_type: String,
    /// True if the source's user interface does not show the message.
    pub hidden: bool,
    /// Model that wrote the message.
    pub model: Option<String>,
    /// Times of the message.
    pub times: Times,
    /// JSON pointer or line of the message in its file.
    pub pointer: String,
    /// The source text of the message.
    pub verbatim: Option<Verbatim>,
    /// Files that the message refers to.
    pub attachments: Vec<AttachmentRef>,
    /// Members for which the record model has no field.
    pub fields: Fields,
}

/// The parent of a turn.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum TurnParent {
    /// The parent is the turn before this one. Used for sources without parent links.
    #[default]
    Previous,
    /// The turn has no parent: it begins the conversation.
    Root,
    /// Id of the parent in the source.
    Id(String),
    /// The index of the parent among the turns.
    At(usize),
}

/// The file from which a conversation is read.
#[derive(Debug, Clone, Copy)]
pub struct ChatFile<'f> {
    /// Id of the format, which is also the scope of the record keys.
    pub format: &'f str,
    /// Name of the platform, for the filter by source.
    pub platform: &'f str,
    /// Version or layout of the format.
    pub version: Option<&'f str>,
    /// Place of the file, as in [`Origin::container`].
    pub container: &'f str,
}

/// Length, in bytes, of the longest id that is part of the keys of a conversation and of its messages.
const MAX_KEY_BYTES: usize = 1_024;

impl Chat {
    /// Converts the conversation and its messages to one unit. Missing parents and cycles are added to `issues`.
    pub fn into_unit(self, file: ChatFile<'_>, issues: &mut Vec<Issue>) -> Unit {
        let origin = |pointer: &str| Origin {
            format: file.format.into(),
            version: file.version.map(Into::into),
            container: file.container.into(),
            pointer: pointer.into(),
        };
        let key = |value: String| RecordKey::new(file.format, value);
        let id = self.key.clone().or_else(|| self.id.clone()).unwrap_or_else(|| self.content_id());
        // Each message repeats the id several times.
        let id = if id.len() > MAX_KEY_BYTES { content_id(&id) } else { id };
        let mut record = Record::new(Kind::Conversation, key(id.clone()), self.summary);
        record.origin_id = self.id;
        record.title = self.title;
        record.times = self.times;
        record.source = Source { platform: file.platform.into(), ..self.source };
        record.record_type = self.record_type;
        record.status = self.status;
        record.tags = self.tags;
        record.origin = origin(&self.pointer);
        record.verbatim = self.verbatim;
        record.fields = self.fields;

        let place = format!("{}#{}", file.container, self.pointer);
        let mut turns = self.turns;
        let keys = unique_keys(&turns, file.container, issues);
        let order = {
            let nodes: Vec<Node<'_>> =
                turns.iter().zip(&keys).map(|(turn, key)| turn.node(key, &keys, self.is_log)).collect();
            order_messages(&nodes, self.leaf.as_deref())
        };
        if order.missing_parents > 0 {
            let message = "messages whose parent is missing were attached to the message before them";
            issues.push(Issue::new("parent_missing", &place, format!("{} {message}", order.missing_parents)));
        }
        if order.cycles > 0 {
            let message = "cycles of messages, cut at their first message";
            issues.push(Issue::new("cycle", &place, format!("{} {message}", order.cycles)));
        }
        let mut records = Vec::with_capacity(turns.len() + 1);
        records.push(record);
        for (position, index) in order.sequence.iter().copied().enumerate() {
            let turn = std::mem::take(&mut turns[index]);
            let mut message = Record::new(Kind::Message, key(format!("{id}/{}", keys[index])), turn.text);
            message.origin_id = turn.id;
            message.times = turn.times;
            message.source = Source { conversation: Some(id.clone()), ..records[0].source.clone() };
            message.origin = origin(&turn.pointer);
            message.parent = Some(key(id.clone()));
            message.verbatim = turn.verbatim;
            message.attachments = turn.attachments;
            message.fields = turn.fields;
            message.message = Some(MessagePart {
                role: turn.role,
                parent: order.parent[index].map(|parent| key(format!("{id}/{}", keys[parent]))),
                position: u32::try_from(position).unwrap_or(u32::MAX),
                hidden: turn.hidden,
                active: order.active[index],
                model: turn.model.or_else(|| self.model.clone()),
                content_type: turn.content_type,
            });
            records.push(message);
        }
        Unit { records }
    }

    /// The id of a conversation for which the source states none: a digest of its title, its time and its first
    /// message.
    fn content_id(&self) -> String {
        let first_message = self.turns.first().map(|turn| (turn.text.as_str(), turn.times.created));
        content_id(&format!("{:?}\n{:?}\n{first_message:?}", self.title, self.times.created))
    }
}

impl Turn {
    /// The turn as a node for [`order_messages`].
    fn node<'t>(&'t self, key: &'t str, keys: &'t [String], is_log: bool) -> Node<'t> {
        Node {
            uuid: Cow::Borrowed(key),
            parent: match &self.parent {
                TurnParent::Previous => Parent::Missing,
                TurnParent::Root => Parent::Root,
                TurnParent::Id(id) => Parent::Id(Cow::Borrowed(id)),
                TurnParent::At(at) => keys.get(*at).map_or(Parent::Missing, |id| Parent::Id(Cow::Borrowed(id))),
            },
            // Only prompts and answers may be reordered by time, so instructions and tool results get no time here.
            created: self.times.created.filter(|_| !is_log && matches!(self.role.as_str(), USER | ASSISTANT)),
            is_human: self.role == USER,
        }
    }
}

/// The first question and the first answer, from which the id of a conversation without an id is derived. Instructions
/// before them are left out, because they are often the same in many conversations.
pub fn beginning(turns: &[Turn]) -> String {
    let first_text_of = |role: &str| turns.iter().find(|turn| turn.role == role).map(|turn| turn.text.as_str());
    let first_text = || turns.first().map(|turn| turn.text.as_str());
    format!("{:?}\n{:?}", first_text_of(USER).or_else(first_text), first_text_of(ASSISTANT))
}

/// The times of a conversation for which the source states none: the times of its oldest and its newest message.
pub fn times_of(turns: &[Turn]) -> Times {
    let times = || turns.iter().filter_map(|turn| turn.times.created);
    Times { created: times().min(), updated: times().max(), ..Times::default() }
}

/// Reverses the turns if the time falls from one turn to the next more often than it rises, because some exports list
/// the newest message first. Turns without links to parents are then sorted by time.
pub fn put_oldest_first(turns: &mut [Turn]) {
    let times: Vec<_> = turns.iter().filter_map(|turn| turn.times.created).collect();
    let falling_count = times.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let rising_count = times.windows(2).filter(|pair| pair[0] < pair[1]).count();
    if falling_count <= rising_count {
        return;
    }
    turns.reverse();
    let has_links = turns.iter().any(|turn| matches!(turn.parent, TurnParent::Id(_)));
    // The right position of a message without a time is unknown, so messages are sorted only if all of them have a
    // time.
    if !has_links && times.len() == turns.len() {
        turns.sort_by_key(|turn| turn.times.created);
    }
}

/// Keys of the turns inside their conversation: the turn's own key or id, otherwise a digest of its position and text.
/// If two turns have the same key, a digest is appended to the key of the second turn.
fn unique_keys(turns: &[Turn], container: &str, issues: &mut Vec<Issue>) -> Vec<String> {
    let mut used_keys = HashSet::with_capacity(turns.len());
    let mut keys = Vec::with_capacity(turns.len());
    for (index, turn) in turns.iter().enumerate() {
        let digest = || content_id(&format!("{index}\n{}\n{}", turn.role, turn.text));
        let mut key = turn.key.clone().or_else(|| turn.id.clone()).unwrap_or_else(digest);
        if !used_keys.insert(key.clone()) {
            let message = "two messages have the same id; both are imported";
            issues.push(Issue::new("duplicate_id", format!("{container}#{}", turn.pointer), message));
            key = format!("{key}~{}", digest());
            used_keys.insert(key.clone());
        }
        keys.push(key);
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_id_is_stored_once() {
        let id = "x".repeat(MAX_KEY_BYTES + 1);
        let turns = vec![Turn { role: USER.into(), ..Turn::default() }];
        let chat = Chat { id: Some(id.clone()), turns, ..Chat::default() };
        let file = ChatFile { format: "test", platform: "test", version: None, container: "c" };
        let unit = chat.into_unit(file, &mut Vec::new());
        let [conversation, message] = &unit.records[..] else { panic!("not one message") };
        assert_eq!(conversation.origin_id.as_deref(), Some(&*id));
        assert_eq!(conversation.key.value, content_id(&id));
        assert_eq!(message.source.conversation.as_deref(), Some(&*conversation.key.value));
        assert!(message.key.value.len() < 100);
    }
}
