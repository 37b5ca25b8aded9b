//! Searches bytes for several strings at once.
use aho_corasick::{AhoCorasick, BuildError, packed::Searcher};

/// Byte strings to search for. Unless there are too many strings, vector instructions first check whether any of the
/// strings occurs. If one occurs, an automaton, which is many times slower, finds out which strings occur and where.
pub struct Needles {
    fast: Option<Searcher>,
    automaton: AhoCorasick,
}

impl Needles {
    /// Prepares a search for these strings.
    ///
    /// # Errors
    /// There are too many strings for the automaton, or they are too long.
    pub fn new<N: AsRef<[u8]>>(needles: &[N]) -> Result<Self, BuildError> {
        Ok(Self {
            // None if there are too many strings, or if one of them is empty.
            fast: Searcher::new(needles),
            automaton: AhoCorasick::new(needles)?,
        })
    }

    /// True if at least one string occurs in `bytes`.
    pub fn is_match(&self, bytes: &[u8]) -> bool {
        match &self.fast {
            Some(fast) => fast.find(bytes).is_some(),
            None => self.automaton.is_match(bytes),
        }
    }

    /// Every occurrence as (index of the string, start), including overlapping ones. The fast check runs first, because
    /// most inputs contain no occurrence.
    pub fn occurrences<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = (usize, usize)> + 'b {
        let occurrences = self.is_match(bytes).then(|| self.automaton.find_overlapping_iter(bytes));
        occurrences.into_iter().flatten().map(|m| (m.pattern().as_usize(), m.start()))
    }
}
