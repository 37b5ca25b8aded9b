//! Finds many patterns in one pass over the bytes. If the automaton for the patterns would be too large to be built,
//! searches for the patterns one by one. This is slow, but no words that must be removed are overlooked.
use aho_corasick::{AhoCorasick, MatchKind};
use memchr::memmem;
use std::{cmp::Reverse, ops::Range};

/// Index of a pattern, and the range of bytes where the pattern was found.
type Match = (usize, Range<usize>);

/// The patterns to search for, none of which is empty.
pub(super) enum PatternFinder {
    InOnePass(AhoCorasick),
    OneByOne(Vec<Vec<u8>>),
}

impl PatternFinder {
    /// Returns a finder for [`Self::find`]. If several patterns begin at one place, only the longest is found.
    pub(super) fn of_longest<P: AsRef<[u8]>>(patterns: &[P]) -> Self {
        Self::new(patterns, MatchKind::LeftmostLongest)
    }

    /// Returns a finder for [`Self::find_overlapping`].
    pub(super) fn of_all<P: AsRef<[u8]>>(patterns: &[P]) -> Self {
        Self::new(patterns, MatchKind::Standard)
    }

    fn new<P: AsRef<[u8]>>(patterns: &[P], kind: MatchKind) -> Self {
        let automaton = AhoCorasick::builder().match_kind(kind).build(patterns);
        automaton.map_or_else(|_| Self::one_by_one(patterns), Self::InOnePass)
    }

    fn one_by_one<P: AsRef<[u8]>>(patterns: &[P]) -> Self {
        Self::OneByOne(patterns.iter().map(|pattern| pattern.as_ref().to_vec()).collect())
    }

    /// True if one of the patterns is in the bytes.
    pub(super) fn is_match(&self, bytes: &[u8]) -> bool {
        match self {
            Self::InOnePass(automaton) => automaton.is_match(bytes),
            Self::OneByOne(patterns) => patterns.iter().any(|pattern| memmem::find(bytes, pattern).is_some()),
        }
    }

    /// Returns the places of the patterns without overlaps, in ascending order.
    pub(super) fn find<'b>(&'b self, bytes: &'b [u8]) -> Box<dyn Iterator<Item = Match> + 'b> {
        match self {
            Self::InOnePass(automaton) => {
                Box::new(automaton.find_iter(bytes).map(|found| (found.pattern().as_usize(), found.range())))
            }
            Self::OneByOne(patterns) => {
                let mut from = 0;
                Box::new(std::iter::from_fn(move || {
                    let rest = bytes.get(from..)?;
                    let places = patterns.iter().enumerate().filter_map(|(number, pattern)| {
                        let start = from + memmem::find(rest, pattern)?;
                        Some((number, start..start + pattern.len()))
                    });
                    let found = places.min_by_key(|(_, place)| (place.start, Reverse(place.end)))?;
                    from = found.1.end;
                    Some(found)
                }))
            }
        }
    }

    /// Returns all places of the patterns. The places of one pattern are in ascending order.
    pub(super) fn find_overlapping(&self, bytes: &[u8]) -> Vec<Match> {
        match self {
            Self::InOnePass(automaton) => {
                let found = automaton.find_overlapping_iter(bytes);
                found.map(|found| (found.pattern().as_usize(), found.range())).collect()
            }
            Self::OneByOne(patterns) => {
                let mut out = Vec::new();
                for (number, pattern) in patterns.iter().enumerate() {
                    let mut from = 0;
                    while let Some(at) = bytes.get(from..).and_then(|rest| memmem::find(rest, pattern)) {
                        out.push((number, from + at..from + at + pattern.len()));
                        from += at + 1;
                    }
                }
                out
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_are_searched_for_one_by_one_are_found_as_in_one_pass() {
        let patterns = ["ana", "anan", "nas", "b", "banana split", "xy"];
        let one_by_one = PatternFinder::one_by_one(&patterns);
        for text in ["bananas", "banana split and banana", "anananas", "xyxy", "nothing", "", "a"] {
            let bytes = text.as_bytes();
            let longest = PatternFinder::of_longest(&patterns);
            assert_eq!(longest.find(bytes).collect::<Vec<_>>(), one_by_one.find(bytes).collect::<Vec<_>>(), "{text}");
            let sorted = |finder: &PatternFinder| {
                let mut found = finder.find_overlapping(bytes);
                found.sort_by_key(|(number, place)| (place.start, place.end, *number));
                found
            };
            let all = PatternFinder::of_all(&patterns);
            assert_eq!(sorted(&all), sorted(&one_by_one), "{text}");
            assert_eq!(all.is_match(bytes), one_by_one.is_match(bytes), "{text}");
        }
    }
}
