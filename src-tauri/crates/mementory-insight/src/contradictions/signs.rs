//! Finds words that show how a statement relates to other statements: that something is over, has changed, is denied,
//! is an addition, or is true only on some occasions.
use crate::{
    patterns::WordSet,
    word_lists::{ADDITIONS, AFFIRMING_NEGATIONS, CHANGED, NEGATIONS, OCCASIONS, ONLOOKING, OVER, REMAINING},
};
use regex::Regex;
use std::sync::OnceLock;

/// The signs in one statement: what its words say about its relation to other statements.
#[derive(Debug, Clone, Default)]
pub(super) struct Signs {
    pub(super) says_over: bool,
    pub(super) says_changed: bool,
    pub(super) is_negated: bool,
    /// True if a phrase contains a negation but affirms something: "not only", "cannot live without".
    pub(super) affirms: bool,
    /// Start and end of each negated clause or phrase in bytes, if the rest of the statement is not negated: "no dogs but
    /// two cats", "black without milk". Otherwise None.
    pub(super) negated_clauses: Option<Vec<(usize, usize)>>,
    pub(super) is_addition: bool,
    /// True if something is only watched, read or heard about.
    pub(super) is_onlooker: bool,
    /// True if the numbers in the statement say how much is still to be done.
    pub(super) counts_remaining: bool,
    /// The occasions to which the statement is limited, as positions in `OCCASIONS`.
    pub(super) occasions: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
enum Sign {
    Over,
    Changed,
    Negated,
    /// A phrase that contains a negation but affirms something: "not only", "cannot live without".
    Affirms,
    Adds,
    Remaining,
    Onlooks,
    Limited(usize),
}

impl Signs {
    /// Finds the signs in a folded text.
    pub(super) fn new(folded: &str) -> Self {
        let mut signs = Self::default();
        let hits = sign_words().hits(folded);
        let affirming: Vec<(usize, usize)> =
            hits.iter().filter(|hit| matches!(hit.value, Sign::Affirms)).map(|hit| (hit.start, hit.end)).collect();
        let mut negations = Vec::new();
        for hit in hits {
            match hit.value {
                Sign::Affirms => {}
                Sign::Negated if affirming.iter().any(|(start, end)| *start <= hit.start && hit.end <= *end) => {}
                Sign::Over => signs.says_over = true,
                Sign::Changed => signs.says_changed = true,
                Sign::Negated => negations.push(hit.start),
                Sign::Adds => signs.is_addition |= is_addition(folded, hit.start, hit.end),
                Sign::Remaining => signs.counts_remaining = true,
                Sign::Onlooks => signs.is_onlooker = true,
                Sign::Limited(n) => signs.occasions.push(*n),
            }
        }
        // Two negations affirm something if one of them is "without": "Kann ohne Kaffee nicht leben" denies nothing.
        let is_lack = |at: &usize| ["without", "ohne"].iter().any(|word| folded[*at..].starts_with(word));
        if negations.iter().any(is_lack) && !negations.iter().all(is_lack) {
            signs.affirms = true;
            negations.clear();
        }
        signs.is_addition |= lists_favourites(folded);
        signs.says_over |= ends_with_gap(folded);
        signs.affirms |= !affirming.is_empty();
        signs.is_negated = !negations.is_empty();
        let are_all_lacks = !negations.is_empty() && negations.iter().all(is_lack);
        signs.negated_clauses = match are_all_lacks {
            true => Some(negations.iter().map(|at| (*at, phrase_end(folded, *at))).collect()),
            false => negated_clauses(folded, &negations),
        };
        signs
    }
}

/// True if the word from `start` to `end`, which can announce an addition, really does so. False in "too expensive" and
/// "does not want another dog".
fn is_addition(folded: &str, start: usize, end: usize) -> bool {
    const CLAUSE_ENDS: [char; 10] = ['.', ',', ';', ':', '!', '?', ')', '(', '-', '/'];
    const DENIALS: [&str; 6] = [" no ", " not ", "n't ", " never ", " without ", " nor "];
    let (before, after) = (&folded[..start], folded[end..].trim_start());
    match &folded[start..end] {
        "too" => after.is_empty() || after.starts_with(CLAUSE_ENDS),
        "another" => {
            let clause = before.rsplit(CLAUSE_ENDS).next().unwrap_or_default();
            !DENIALS.iter().any(|denial| clause.contains(denial))
        }
        "auch" => !after.starts_with("wenn "),
        // "A second child" includes the first child, so the statement replaces "has one child" instead of adding to it.
        "a second" | "ein zweites" => !["child", "baby", "kind"].iter().any(|child| after.starts_with(child)),
        _ => true,
    }
}

/// True if the text ends with "kein … mehr" around other words: "macht keinen Nachtdienst mehr". In "mag keine
/// Schokolade mehr, seit sie schwanger ist", the words after "mehr" may name something that is not over, so the result
/// is false.
pub(super) fn ends_with_gap(folded: &str) -> bool {
    static REGEX: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = REGEX.get_or_init(|| Regex::new(r"\bkein(?:e|en|er|em|es)? (?:[\p{L}-]+ ){1,3}mehr[.!]?$").ok());
    regex.as_ref().is_some_and(|regex| regex.is_match(folded))
}

/// True for a text such as "her favourite authors are …", which may name only some of several favourites.
fn lists_favourites(folded: &str) -> bool {
    let is_favourite = ["favourite", "favorite", "lieblings"].iter().any(|word| folded.contains(word));
    is_favourite && [" are ", " sind "].iter().any(|verb| folded.contains(verb))
}

/// The byte at which the phrase that begins at the byte `at` ends. "Without" and "ohne" deny only the rest of their
/// phrase: "takes it black, without milk" does not say that something is not taken.
fn phrase_end(folded: &str, at: usize) -> usize {
    const ENDS: [char; 7] = ['.', ',', ';', ':', '!', '?', ')'];
    folded.get(at..).and_then(|rest| rest.find(ENDS)).map_or(folded.len(), |length| at + length)
}

/// Start and end of each negated clause in bytes. None if no contrasting clause is without negation.
fn negated_clauses(folded: &str, negations: &[usize]) -> Option<Vec<(usize, usize)>> {
    const CONTRASTS: [&str; 10] =
        [" but ", " aber ", " sondern ", " although ", " though ", " obwohl ", "; ", "が、", "けど", "ものの"];
    if negations.is_empty() {
        return None;
    }
    let mut clause_ends: Vec<(usize, usize)> = CONTRASTS
        .iter()
        .flat_map(|contrast| folded.match_indices(contrast).map(|(at, text)| (at, at + text.len())))
        .collect();
    clause_ends.sort_unstable();
    clause_ends.push((folded.len(), folded.len()));
    let (mut start, mut negated, mut has_other_clause) = (0, Vec::new(), false);
    for (end, next) in clause_ends {
        match negations.iter().any(|at| (start..end).contains(at)) {
            true => negated.push((start, end)),
            false => has_other_clause = true,
        }
        start = next;
    }
    has_other_clause.then_some(negated)
}

fn sign_words() -> &'static WordSet<Sign> {
    static WORDS: OnceLock<WordSet<Sign>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let lists = [
            (OVER, Sign::Over),
            (CHANGED, Sign::Changed),
            (NEGATIONS, Sign::Negated),
            (AFFIRMING_NEGATIONS, Sign::Affirms),
            (ADDITIONS, Sign::Adds),
            (REMAINING, Sign::Remaining),
            (ONLOOKING, Sign::Onlooks),
        ];
        let signs = lists.into_iter().flat_map(|(words, sign)| words.iter().map(move |word| (*word, sign)));
        let occasions = OCCASIONS.iter().enumerate();
        let occasions = occasions.flat_map(|(n, names)| names.iter().map(move |name| (*name, Sign::Limited(n))));
        WordSet::new(signs.chain(occasions))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_word_that_adds_something_is_an_addition() {
        for text in [
            "plays the harp too.",
            "has another dog",
            "also likes brie",
            "hat auch einen hund",
            "a second boat leaves at 8",
        ] {
            assert!(Signs::new(text).is_addition, "{text}");
        }
        for text in [
            "quit the gym, it got too expensive",
            "does not want another dog right now",
            "antworten auf deutsch, auch wenn auf englisch gefragt wird",
            "expects a second child",
        ] {
            assert!(!Signs::new(text).is_addition, "{text}");
        }
    }

    #[test]
    fn without_denies_only_what_it_names() {
        let text = "takes it black, without milk, at noon";
        let denied = Signs::new(text).negated_clauses.and_then(|clauses| text.get(clauses[0].0..clauses[0].1));
        assert_eq!(denied, Some("without milk"));
        assert_eq!(Signs::new("does not drink milk").negated_clauses, None);
    }

    #[test]
    fn keinen_nachtdienst_mehr_says_that_something_is_over() {
        for text in ["macht keinen nachtdienst mehr", "isst kein rotes fleisch mehr"] {
            assert!(Signs::new(text).says_over, "{text}");
        }
        for text in [
            "will keinen hund, sondern mehr zeit",
            "mag keine schokolade mehr, seit sie schwanger ist",
            "hat keinen hund",
        ] {
            assert!(!Signs::new(text).says_over, "{text}");
        }
    }
}
