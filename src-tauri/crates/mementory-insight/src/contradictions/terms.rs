//! Finds the terms of a statement: its nouns and names. A name that is in a list has the same form in all languages.
use super::Prepared;
use crate::{
    fold::{Folded, is_east_asian, is_function_word, noun_runs, words},
    patterns::WordSet,
    values::name_list_index,
    word_lists::{CLOSED_CLASS_WORDS, CONCEPTS, GENERAL_WORDS, MONTHS},
};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Only this many terms of a statement are used, from its beginning.
const MAX_TERMS: usize = 40;

/// The terms of a text, each listed once.
pub(super) fn terms_in(folded: &Folded) -> Vec<String> {
    // A word or phrase in the list of concepts becomes the same term in all languages.
    let concepts = concepts().hits(&folded.text);
    let mut found: Vec<(usize, String)> = concepts.iter().map(|hit| (hit.start, format!("~{}", hit.value))).collect();
    let start_of = |part: &str| part.as_ptr().addr() - folded.text.as_ptr().addr();
    let is_covered = |part: &str| {
        let start = start_of(part);
        concepts.iter().any(|hit| hit.start <= start && start + part.len() <= hit.end)
    };
    for word in words(&folded.text) {
        if is_covered(word) {
            continue;
        }
        if word.chars().next().is_some_and(is_east_asian) {
            for run in noun_runs(word, 3, 2).into_iter().filter(|run| !is_covered(run)) {
                found.push((start_of(run), name_list_index(run).map_or_else(|| run.to_owned(), |n| format!("#{n}"))));
            }
        } else if let Some(n) = name_list_index(word) {
            found.push((start_of(word), format!("#{n}")));
        } else if word.chars().count() >= 3 && !is_common(word) && !word.chars().all(|c| c.is_ascii_digit()) {
            found.push((start_of(word), stem(word)));
        }
    }
    found.sort_by_key(|(start, _)| *start);
    let mut out: Vec<String> = Vec::new();
    for (_, term) in found {
        if out.len() < MAX_TERMS && !out.contains(&term) {
            out.push(term);
        }
    }
    out
}

fn concepts() -> &'static WordSet<usize> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let concepts = CONCEPTS.iter().enumerate();
        // A long word may also be the beginning of a longer one, because German compounds contain other nouns
        // ("Volleyballtraining"). A word of seven or more letters is unlikely to begin another word by chance.
        let is_long =
            |name: &str| name.chars().count() >= 7 && name.chars().all(|c| c.is_alphabetic() && !is_east_asian(c));
        let starts = concepts.clone().flat_map(|(n, names)| names.iter().map(move |name| (*name, n)));
        WordSet::with_open_ends(starts, is_long)
    })
}

/// True for a word of a closed class, such as an article or a preposition.
pub(super) fn is_closed_class(word: &str) -> bool {
    is_common(word)
}

/// True for a term that names a thing. False for listed names (such as cities), amounts and general words.
pub(super) fn is_thing(term: &str) -> bool {
    static GENERAL: OnceLock<HashSet<String>> = OnceLock::new();
    let general = GENERAL.get_or_init(|| GENERAL_WORDS.iter().map(|word| stem(word)).collect());
    let is_amount = term.chars().all(|c| "一二三四五六七八九十百千万円人月日年時分回歳".contains(c));
    !term.starts_with('#') && !is_amount && !general.contains(term)
}

/// True for a city or country. The numbers of cities and countries are below those of the languages, because they come
/// first in the list of names.
fn is_place(term: &str) -> bool {
    let number = term.strip_prefix('#').and_then(|n| n.parse::<usize>().ok());
    number.zip(name_list_index("german")).is_some_and(|(n, first_language)| n < first_language)
}

/// True if both statements name places, but no place in common.
pub(super) fn places_differ(a: &Prepared<'_>, b: &Prepared<'_>) -> bool {
    let places =
        |statement: &Prepared<'_>| statement.terms.iter().filter(|term| is_place(term)).cloned().collect::<Vec<_>>();
    let (one, other) = (places(a), places(b));
    !one.is_empty() && !other.is_empty() && !one.iter().any(|place| other.contains(place))
}

/// True for a listed thing that includes other things of the list: alcohol includes wine, meat includes beef.
pub(super) fn is_general_concept(term: &str) -> bool {
    const GENERAL: [&str; 3] = ["alcohol", "fish", "meat"];
    let number = term.strip_prefix('~').and_then(|n| n.parse::<usize>().ok());
    number.and_then(|n| CONCEPTS.get(n)).is_some_and(|names| names.iter().any(|name| GENERAL.contains(name)))
}

/// True if both statements name the same city or country.
pub(super) fn share_place(a: &Prepared<'_>, b: &Prepared<'_>) -> bool {
    a.terms.iter().any(|term| is_place(term) && b.terms.contains(term))
}

/// The first letters of a word, used as its stem, because plural and case change the end of the word.
pub(super) fn stem(word: &str) -> String {
    word.chars().take(if word.chars().count() > 6 { 6 } else { 5 }).collect()
}

fn is_common(word: &str) -> bool {
    static COMMON: OnceLock<HashSet<&str>> = OnceLock::new();
    let common = COMMON.get_or_init(|| {
        CLOSED_CLASS_WORDS.iter().copied().chain(MONTHS.iter().flat_map(|names| names.iter().copied())).collect()
    });
    common.contains(word) || is_function_word(word)
}

/// The number of statements that contain each term, and the number of all statements.
pub(super) struct Rarity {
    counts: HashMap<String, u32>,
    statements: usize,
}

impl Rarity {
    pub(super) fn new(prepared: &[Prepared<'_>]) -> Self {
        let mut counts = HashMap::new();
        for term in prepared.iter().flat_map(|statement| &statement.terms) {
            *counts.entry(term.clone()).or_default() += 1;
        }
        Self { counts, statements: prepared.len() }
    }

    /// True if only few statements contain the term. The owner's name is not rare, because many statements contain it.
    pub(super) fn is_rare(&self, term: &str) -> bool {
        self.counts.get(term).is_some_and(|count| *count <= self.max_statements())
    }

    /// Largest number of statements that may contain a term if the term is to count as rare.
    pub(super) fn max_statements(&self) -> u32 {
        (self.statements / 25).clamp(6, 30) as u32
    }

    /// For each rare term, the positions of the statements that contain it.
    pub(super) fn groups<'p>(&self, prepared: &'p [Prepared<'_>]) -> HashMap<&'p str, Vec<usize>> {
        let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
        for (n, statement) in prepared.iter().enumerate() {
            for term in statement.terms.iter().filter(|term| self.is_rare(term)) {
                groups.entry(term).or_default().push(n);
            }
        }
        groups
    }

    /// Number of rare terms that two statements share, without places.
    pub(super) fn count_shared_things(&self, a: &Prepared<'_>, b: &Prepared<'_>) -> usize {
        a.terms.iter().filter(|term| b.terms.contains(term) && self.is_rare(term) && !is_place(term)).count()
    }

    /// Number of rare terms that two statements share, divided by the number of terms of the statement with fewer
    /// terms, without general words.
    pub(super) fn overlap(&self, a: &Prepared<'_>, b: &Prepared<'_>) -> f32 {
        let count = |statement: &Prepared<'_>| {
            statement.terms.iter().filter(|term| term.starts_with('#') || is_thing(term)).count()
        };
        self.count_shared(a, b) as f32 / count(a).min(count(b)).max(1) as f32
    }

    /// Number of rare terms that two statements share.
    pub(super) fn count_shared(&self, a: &Prepared<'_>, b: &Prepared<'_>) -> usize {
        a.terms.iter().filter(|term| b.terms.contains(term) && self.is_rare(term)).count()
    }
}
