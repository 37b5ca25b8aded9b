//! Topics, people, timelines and contradictions.
use super::{ListItem, ReviewAnswer, TsNumber};
use serde::{Deserialize, Serialize};
use specta::Type;

/// Memories about the same topic.
#[derive(Debug, Clone, Serialize, Deserialize, Type)]
pub struct TopicInfo {
    /// Position in the list of topics by size; changes when memories change.
    pub id: String,
    /// Made of words of the memories: letters, digits and spaces only.
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
    /// Position in the list; changes when memories change.
    pub id: String,
    /// As the memories write it; none if only the relation is known ("her boss").
    pub name: Option<String>,
    /// Such as `brother` or `boss`, as far as the memories say.
    pub relation: Option<String>,
    /// Whose relation it is, if not that of the person who owns the vault: `Ruth` for Ruth's daughter.
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
    /// The oldest first; those without a date at the end.
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
    /// From 0 to 1.
    #[specta(type = TsNumber)]
    pub confidence: f64,
    /// Both memories, `a` first.
    pub items: Vec<ListItem>,
}

/// Which of several memories is right.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
#[serde(default)]
pub struct SettleRequest {
    /// Id of the memory that is right.
    pub right: String,
    /// Ids of the memories that it contradicts.
    pub others: Vec<String>,
}

/// Answer of `settle`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct Settled {
    /// The answers that the memories had before, `none` for those without one; the one that is right comes first.
    pub before: Vec<ReviewAnswer>,
}

/// Answer of `contradictions`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Type)]
pub struct ContradictionList {
    pub pairs: Vec<ContradictionInfo>,
    /// Plans whose date has passed, without those that the person called true.
    pub past_plans: Vec<ListItem>,
}
