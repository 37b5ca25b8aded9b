//! Finds whom a statement is about: the owner of the memories, or a relative, friend or pet.
use crate::{
    fold::{Folded, is_east_asian},
    patterns::WordSet,
    word_lists::RELATIONS,
};
use std::sync::OnceLock;

/// Whether a text begins with a person (a relative or friend) or with a pet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstSubject {
    /// A relative or friend.
    Person,
    Pet,
}

/// Returns whether the text begins with a relative or friend, or with a pet. None if it begins with neither.
pub(crate) fn first_subject(folded: &Folded) -> Option<FirstSubject> {
    let limit = if folded.languages.ja { 10 } else { 32 };
    let until = folded.text.char_indices().nth(limit).map_or(folded.text.len(), |(at, _)| at);
    // "Has a brother" also begins a text about a brother, so the relation may be preceded by other words.
    let relation = subject(&folded.text, until)?;
    let names = RELATIONS.get(relation)?;
    let is_one_of = |wanted: &[&str]| names.iter().any(|name| wanted.contains(name));
    if is_one_of(&["boss", "team", "neighbour", "colleague"]) {
        return None;
    }
    Some(if is_one_of(&["dog", "cat"]) { FirstSubject::Pet } else { FirstSubject::Person })
}

/// The last relation that a folded text names before the byte `until`, as its position in the list of relations. None
/// if no relation is named, so that the statement is about the owner of the memories.
pub(crate) fn subject(folded: &str, until: usize) -> Option<usize> {
    relations(folded).into_iter().filter(|(end, _)| *end <= until).max_by_key(|(end, _)| *end).map(|(_, n)| n)
}

/// The relations that a folded text names: the end of each in bytes, and its position in the list of relations.
pub(crate) fn relations(folded: &str) -> Vec<(usize, usize)> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let all = RELATIONS.iter().enumerate();
        WordSet::new(all.flat_map(|(n, names)| names.iter().map(move |name| (*name, n))))
    });
    let hits = words.hits(folded);
    let stands_alone = |end: usize, start: usize| {
        let is_asian = folded[start..end].chars().next().is_some_and(is_east_asian);
        // In a script without spaces, a relation counts only if a particle or a name follows. Otherwise, 母語 (mother
        // tongue) would name a mother.
        let next = folded[end..].chars().next();
        !is_asian
            || next.is_none_or(|c| "のはがもをとにさ、。「・".contains(c) || matches!(u32::from(c), 0x30a0..=0x30ff))
    };
    hits.into_iter().filter(|hit| stands_alone(hit.end, hit.start)).map(|hit| (hit.end, *hit.value)).collect()
}

/// True if the relation that ends at the byte `end` is "Frau" without an article or possessive before it. "Frau" is
/// then a title: "the dentist is Frau Kessler".
pub(crate) fn is_title(folded: &str, end: usize) -> bool {
    const WORDS_BEFORE_WIFE: [&str; 12] =
        ["meine", "meiner", "seine", "seiner", "deine", "ihre", "ihrer", "unsere", "die", "der", "eine", "einer"];
    let Some(before) = folded.get(..end).and_then(|text| text.strip_suffix("frau")) else { return false };
    let before = before.trim_end();
    let last = before.rsplit(' ').next().unwrap_or_default();
    // At the beginning of a statement and after a genitive ("Tims Frau"), "Frau" means a wife.
    !before.is_empty() && !WORDS_BEFORE_WIFE.contains(&last) && !last.ends_with('s')
}
