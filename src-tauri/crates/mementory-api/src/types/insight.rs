//! Topics, people, timelines and contradictions.
use super::{ListItem, ReviewAnswer, TsNumber};
use serde::{Deserialize, Serialize};
use specta::Type;

/// Memories about the same topic.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TopicInfo {
    /// Position in the list of topics, which is sorted by size. It changes when memories change.
    pub id: String,
    /// Consists of words from the memories and contains only letters, digits and spaces.
    pub name: String,
    /// Ids of the memories.
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
    /// Position in the list of people. It changes when memories change.
    pub id: String,
    /// The name as the memories spell it. Null if they give only a relation, such as "her boss".
    pub name: Option<String>,
    /// The relation, such as `brother` or `boss`. Null if the memories give none.
    pub relation: Option<String>,
    /// Whose relation it is, such as `Ruth` for Ruth's daughter. Null for a relation of the vault's owner.
    pub of: Option<String>,
    /// Ids of the memories, at least one.
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
    /// The memories, oldest first. Those without a date come last.
    pub items: Vec<ListItem>,
}

/// Two memories that cannot both be true now.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct ContradictionInfo {
    /// Ids of the memories; `a` is the older one if the dates are known.
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
    /// Ids of the memories, oldest first; those without a date come last.
    pub memories: Vec<String>,
    /// Positions of the group's pairs in `pairs`.
    pub pairs: Vec<u32>,
}

/// Which of several memories is right.
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
    /// The pairs, joined into groups that are each about one thing. A pair is in only one group, a memory may be in
    /// several.
    pub groups: Vec<ContradictionGroup>,
    /// Plans whose date has passed, except those that the person called true.
    pub past_plans: Vec<ListItem>,
}
