//! Searching for several byte strings at once.
use aho_corasick::{AhoCorasick, BuildError, packed::Searcher};

/// Byte strings to search for. Whether any occurs is found with vector instructions if there are few enough of them; which
/// ones, and where, with an automaton, which is many times slower.
pub struct Needles {
    any: Option<Searcher>,
    all: AhoCorasick,
}

impl Needles {
    /// From the strings to search for.
    ///
    /// # Errors
    /// Too many or too long strings for the automaton.
    pub fn new<N: AsRef<[u8]>>(needles: &[N]) -> Result<Self, BuildError> {
        Ok(Self {
            // None for too many, and for an empty one.
            any: Searcher::new(needles),
            all: AhoCorasick::new(needles)?,
        })
    }

    /// True when one of them is in `bytes`.
    pub fn is_match(&self, bytes: &[u8]) -> bool {
        match &self.any {
            Some(any) => any.find(bytes).is_some(),
            None => self.all.is_match(bytes),
        }
    }

    /// Every occurrence of every needle as (number, start), also of one that begins like another. Most bytes hold none:
    /// that is found out first.
    pub fn each<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = (usize, usize)> + 'b {
        let found = self.is_match(bytes).then(|| self.all.find_overlapping_iter(bytes));
        found.into_iter().flatten().map(|m| (m.pattern().as_usize(), m.start()))
    }
}
