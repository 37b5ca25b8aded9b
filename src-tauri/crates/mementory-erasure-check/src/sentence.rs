//! Checks whether a record still contains a sentence. The deletion has its own function for this; both use
//! `normal_text`.
use mementory_model::{Record, normal_text};

/// True when a text of the record contains `sentence`, which is in normal form.
pub(crate) fn contains_sentence(record: &Record, sentence: &str) -> bool {
    let contains = |text: &str| normal_text(text).contains(sentence);
    contains(&record.text)
        || record.title.as_deref().is_some_and(contains)
        || record.fields.values().any(|value| contains(&value.to_string()))
        || record.attachments.iter().filter_map(|file| file.text.as_deref()).any(contains)
}
