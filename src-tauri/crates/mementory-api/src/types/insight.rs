//! Topics, people, timelines and contradictions.
use super::{ListItem, ReviewAnswer, TsNumber};
use serde::{Deserialize, Serialize};
use specta::Type;

/// Memories about the same topic.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TopicInfo {
    /// Position of the topic in the list of topics, which is sorted by size, as text. The position may change when
    /// memories change.
    pub id: String,
    /// The name, which consists of words from the memories and contains only letters, digits and spaces.
    pub name: String,
    /// Ids of the memories about the topic.
    pub memories: Vec<String>,
}

/// Answer of `topics`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Topics {
    pub topics: Vec<TopicInfo>,
}

/// Somebody who occurs in memories.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct PersonInfo {
    /// Position of the person in the list of people, as text. The position may change when memories change.
    pub id: String,
    /// The name as the memories spell it. Null if the memories name only a relation, such as "her boss".
    pub name: Option<String>,
    /// The relation, such as `brother` or `boss`. Null if the memories name none.
    pub relation: Option<String>,
    /// Name of the person to whom the relation belongs, such as `Ruth` for Ruth's daughter. Null for a relation of the
    /// vault's owner.
    pub of: Option<String>,
    /// Ids of the memories that mention the person, at least one.
    pub memories: Vec<String>,
}

/// Answer of `people`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct People {
    pub people: Vec<PersonInfo>,
}

/// Answer of `timeline`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Timeline {
    /// The memories, oldest first. Memories without a date come last.
    pub items: Vec<ListItem>,
}

/// Two memories that cannot both be true now.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ContradictionInfo {
    /// Id of one memory: the older one, if the dates are known. `b` is the id of the other memory.
    pub a: String,
    pub b: String,
    /// `replaced` or `conflict`.
    pub sort: String,
    /// Id of the newer memory, if the dates are known.
    pub newer: Option<String>,
    /// Confidence, from 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// Both memories, `a` first.
    pub items: Vec<ListItem>,
}

/// Memories about the same thing that cannot all be true.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ContradictionGroup {
    /// Ids of the memories, oldest first. Memories without a date come last.
    pub memories: Vec<String>,
    /// Positions of the group's pairs in [`ContradictionList::pairs`].
    pub pairs: Vec<u32>,
}

/// Request to store which of several contradicting memories is right.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct ResolveRequest {
    /// Id of the memory that is right.
    pub right: String,
    /// Ids of the memories that contradict `right`.
    pub others: Vec<String>,
}

/// Answer of `resolve_contradiction`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Resolved {
    /// The answer that each memory had before, or `none` if it had no answer. The memory that is right comes first.
    pub before: Vec<ReviewAnswer>,
}

/// Answer of `contradictions`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ContradictionList {
    pub pairs: Vec<ContradictionInfo>,
    /// The pairs, joined into groups that are each about one thing. A pair is in only one group, but a memory may be in
    /// several.
    pub groups: Vec<ContradictionGroup>,
    /// Memories of plans whose date has passed, except those that the person marked as true.
    pub past_plans: Vec<ListItem>,
}
