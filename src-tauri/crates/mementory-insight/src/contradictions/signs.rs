//! Words that say how a statement is related to others: that something is over or has changed, that it is not so, that
//! it comes in addition, or that it holds only on some occasions.
use crate::{
    patterns::WordSet,
    word_lists::{ADDITIONS, CHANGED, NEGATIONS, OCCASIONS, OVER, REMAINING},
};
use std::sync::OnceLock;

/// What such words say in one statement.
#[derive(Debug, Clone, Default)]
pub(super) struct Signs {
    pub(super) over: bool,
    pub(super) changed: bool,
    pub(super) negated: bool,
    pub(super) adds: bool,
    /// The numbers say what is still to be done.
    pub(super) remaining: bool,
    /// Positions in `OCCASIONS`.
    pub(super) occasions: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Sign {
    Over,
    Changed,
    Negated,
    Adds,
    Remaining,
    Limited(usize),
}

impl Signs {
    /// The signs in a folded text.
    pub(super) fn new(folded: &str) -> Self {
        let mut signs = Self::default();
        for hit in sign_words().hits(folded) {
            match hit.value {
                Sign::Over => signs.over = true,
                Sign::Changed => signs.changed = true,
                Sign::Negated => signs.negated = true,
                Sign::Adds => signs.adds = true,
                Sign::Remaining => signs.remaining = true,
                Sign::Limited(n) => signs.occasions.push(*n),
            }
        }
        signs
    }
}

fn sign_words() -> &'static WordSet<Sign> {
    static WORDS: OnceLock<WordSet<Sign>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let lists = [
            (OVER, Sign::Over),
            (CHANGED, Sign::Changed),
            (NEGATIONS, Sign::Negated),
            (ADDITIONS, Sign::Adds),
            (REMAINING, Sign::Remaining),
        ];
        let signs = lists.into_iter().flat_map(|(words, sign)| words.iter().map(move |word| (*word, sign)));
        let occasions = OCCASIONS.iter().enumerate();
        let occasions = occasions.flat_map(|(n, names)| names.iter().map(move |name| (*name, Sign::Limited(n))));
        WordSet::new(signs.chain(occasions))
    })
}
