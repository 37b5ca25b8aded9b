//! Finds the words of a list in a folded text. A word of the list matches only a whole word. If it begins with a `*`,
//! it also matches the end of a longer word. If it ends with a `*`, it also matches the start of a longer word.
use crate::fold::{fold, is_word_char};
use aho_corasick::{AhoCorasick, MatchKind};

/// A set of words to search for, each with a value.
pub(crate) struct WordSet<T> {
    automaton: Option<AhoCorasick>,
    entries: Vec<Entry<T>>,
}

struct Entry<T> {
    /// True if the word may be the end of a longer word.
    may_be_end: bool,
    /// True if the word may be the start of a longer word.
    may_be_start: bool,
    value: T,
}

/// A found word: its start and end in bytes, and its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit<'s, T> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) value: &'s T,
}

impl<T> WordSet<T> {
    /// Builds a set of `words` with their values. If the automaton cannot be built, the set finds nothing.
    pub(crate) fn new(words: impl IntoIterator<Item = (&'static str, T)>) -> Self {
        Self::with_open_ends(words, |_| false)
    }

    /// Like [`new`](Self::new), but a word for which `is_open` returns true also matches the start of a longer word, as
    /// if the word ended with a `*`.
    pub(crate) fn with_open_ends(
        words: impl IntoIterator<Item = (&'static str, T)>,
        is_open: impl Fn(&str) -> bool,
    ) -> Self {
        let mut texts = Vec::new();
        let mut entries = Vec::new();
        for (word, value) in words {
            let (may_be_end, may_be_start) = (word.starts_with('*'), word.ends_with('*') || is_open(word));
            texts.push(fold(word.trim_matches('*')));
            entries.push(Entry { may_be_end, may_be_start, value });
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&texts).ok();
        Self { automaton, entries }
    }

    /// Finds every occurrence of every word of the set in a folded text.
    pub(crate) fn hits<'s>(&'s self, folded: &str) -> Vec<Hit<'s, T>> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let mut out = Vec::new();
        for found in automaton.find_overlapping_iter(folded) {
            let Some(entry) = self.entries.get(found.pattern().as_usize()) else { continue };
            let (start, end) = (found.start(), found.end());
            let is_same_word = |inside: Option<char>, outside: Option<char>| {
                inside.is_some_and(is_word_char) && outside.is_some_and(is_word_char)
            };
            let word = &folded[start..end];
            let starts_word =
                entry.may_be_end || !is_same_word(word.chars().next(), folded[..start].chars().next_back());
            let ends_word = entry.may_be_start || !is_same_word(word.chars().next_back(), folded[end..].chars().next());
            if starts_word && ends_word {
                out.push(Hit { start, end, value: &entry.value });
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_lets_a_word_be_part_of_a_longer_one() {
        let set = WordSet::new([("art", 1), ("diagnos*", 2), ("*allergie", 3), ("猫", 4), ("iphone", 5)]);
        let values_in = |text: &str| set.hits(text).iter().map(|hit| *hit.value).collect::<Vec<_>>();
        assert_eq!(values_in("the art of part"), [1]);
        assert_eq!(values_in("was diagnosed; nussallergie"), [2, 3]);
        assert_eq!(values_in("白い猫とiphoneが好き"), [4, 5]);
    }
}
