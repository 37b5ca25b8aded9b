//! Checks whether a record still contains a sentence. The deletion has its own function for this; both use
//! `normal_text`.
use mementory_model::{Record, normal_text};

/// True when a text of the record contains `sentence`, which is in normal form.
pub(crate) fn contains_sentence(record: &Record, sentence: &str) -> bool {
    normal_texts(record).any(|text| text.contains(sentence))
}

/// The texts of a record in normal form.
pub(crate) fn normal_texts(record: &Record) -> impl Iterator<Item = String> {
    std::iter::once(normal_text(&record.text))
        .chain(record.title.as_deref().map(normal_text))
        .chain(record.fields.values().map(|value| normal_text(&value.to_string())))
        .chain(record.attachments.iter().filter_map(|file| file.text.as_deref()).map(normal_text))
}
