//! Topics by which writers group memories. They are in the same order as in assistants' prompts for importing memories.
use mementory_model::Record;

/// Names of the topics, in the order in which they are written.
pub const TOPIC_NAMES: [&str; 12] = [
    "Instructions",
    "Identity",
    "Career",
    "Projects",
    "Preferences",
    "People",
    "Health",
    "Goals",
    "Skills",
    "Events",
    "Knowledge",
    "Other",
];

/// Index of the topic `Instructions`.
pub const INSTRUCTIONS: usize = 0;

/// Record types, sections and tags that belong to each topic.
const TOPIC_WORDS: [&[&str]; 12] = [
    &["instruction", "instructions", "custom_instructions", "project_instructions"],
    &["identity", "fact", "profile", "personal"],
    &["career", "work", "job", "education"],
    &["project", "projects"],
    &["preference", "preferences"],
    &["person", "people", "relationship", "relationships", "family"],
    &["health"],
    &["goal", "goals"],
    &["skill", "skills", "procedural"],
    &["event", "events", "episodic"],
    &["semantic", "knowledge"],
    &[],
];

/// Index of a record's topic: the topic of the first known word in its type, section and tags, or the last topic if no
/// word is known.
pub fn topic_of(record: &Record) -> usize {
    let types = record.record_type.iter().map(String::as_str);
    let section = record.fields.get("section").and_then(|s| s.as_str());
    let position = |word: &str| {
        let word = word.to_lowercase();
        TOPIC_WORDS.iter().position(|known| known.contains(&word.as_str()))
    };
    let words = types.chain(section).chain(record.tags.iter().map(String::as_str));
    words.filter_map(position).next().unwrap_or(TOPIC_NAMES.len() - 1)
}

/// Like [`topic_of`], but custom instructions and rules always have the topic `Instructions`, whatever their type.
pub fn topic_for_agents(record: &Record) -> usize {
    let method = record.source.method.as_deref();
    match method {
        Some("custom_instructions" | "project_instructions" | "rules_file") => INSTRUCTIONS,
        _ => topic_of(record),
    }
}
