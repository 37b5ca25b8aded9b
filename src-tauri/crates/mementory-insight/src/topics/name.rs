//! Names of topics. A name is a phrase that one of the memories has, word for word. Words of several memories, or from
//! different places of one, would read like a phrase that nobody wrote.
use super::{MAX_NAME_CHARS, STEM_CHARS, is_common};
use crate::{
    fold::{MAX_CHARS, is_east_asian, noun_runs, words},
    word_lists::{MONTHS, NUMBERS, WEEKDAYS},
};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization;

/// Largest number of words of a name that say something.
const MAX_MEANINGFUL: usize = 3;
/// Largest number of words of a name, with articles and prepositions.
const MAX_PHRASE_WORDS: usize = 5;
/// Fewest characters of a word that says something.
const MIN_CHARS: usize = 3;
/// Share of its weight that a phrase loses by a word that only one of the memories has.
const COST_OF_UNSHARED: f32 = 0.6;

/// What a phrase loses by beginning a sentence.
const COST_OF_OPENING: f32 = 0.8;

/// Words that may stand inside a name, between two words that say something.
const JOINING: &[&str] = &[
    "a", "am", "an", "at", "auf", "aus", "bei", "beim", "by", "das", "dem", "den", "der", "des", "die", "ein", "eine",
    "einem", "einen", "einer", "for", "from", "für", "im", "in", "mit", "of", "on", "the", "to", "von", "vom", "with",
    "zu", "zum", "zur",
];
/// Words for times, besides months and weekdays: they say when something is, and not what it is.
const TIMES: &[&str] = &[
    "abend",
    "autumn",
    "day",
    "days",
    "evening",
    "evenings",
    "first",
    "frühling",
    "herbst",
    "hour",
    "hours",
    "jahr",
    "jahre",
    "jahren",
    "last",
    "minuten",
    "minutes",
    "monat",
    "monate",
    "months",
    "morgen",
    "morning",
    "mornings",
    "next",
    "night",
    "second",
    "sommer",
    "spring",
    "stunden",
    "summer",
    "tag",
    "tage",
    "tagen",
    "third",
    "today",
    "until",
    "weeks",
    "winter",
    "wochen",
    "今年",
    "今月",
    "去年",
    "午前",
    "午後",
    "来年",
    "毎年",
    "毎晩",
    "毎朝",
    "週末",
];

/// In how many texts each word occurs, by its stem.
pub(super) struct WordCounts {
    texts: usize,
    counts: HashMap<String, usize>,
}

impl WordCounts {
    pub(super) fn new(texts: &[&str]) -> Self {
        let mut counts = HashMap::new();
        for text in texts {
            let stems: HashSet<String> = phrases(text).into_iter().flat_map(|phrase| phrase.stems).collect();
            for stem in stems {
                *counts.entry(stem).or_default() += 1;
            }
        }
        Self { texts: texts.len(), counts }
    }

    /// The weight of a word: the higher, the fewer texts have it. A word in very many texts, such as the person's own
    /// name, has none.
    fn weight(&self, stem: &str) -> f32 {
        let count = self.counts.get(stem).copied().unwrap_or(1);
        if count * 6 > self.texts.max(30) { 0.0 } else { ((self.texts + 1) as f32 / count as f32).ln() }
    }
}

/// A name for the texts at `members`, unlike all names in `used` (in lower case), to which it is added. It is the phrase
/// whose words are rare elsewhere and are in most of the members. Only if they share no word, it is one of a single
/// member.
pub(super) fn topic_name(texts: &[&str], members: &[usize], counts: &WordCounts, used: &mut HashSet<String>) -> String {
    let phrases: Vec<Vec<Phrase>> =
        members.iter().filter_map(|n| texts.get(*n)).map(|text| self::phrases(text)).collect();
    let mut shared: HashMap<&str, usize> = HashMap::new();
    for phrases in &phrases {
        let stems: HashSet<&str> = phrases.iter().flat_map(|phrase| &phrase.stems).map(String::as_str).collect();
        stems.into_iter().for_each(|stem| *shared.entry(stem).or_default() += 1);
    }
    let score = |phrase: &Phrase| -> (usize, f32) {
        let count = |stem: &String| shared.get(stem.as_str()).copied().unwrap_or_default();
        let weigh = |stem: &String| match (count(stem), counts.weight(stem)) {
            (_, 0.0) => -1.0,
            (0 | 1, weight) => -weight * COST_OF_UNSHARED,
            (count, weight) => (count as f32 - 0.5) * weight,
        };
        let cost = if phrase.opens_sentence { COST_OF_OPENING } else { 0.0 };
        if phrase.stems.iter().any(|stem| count(stem) > 1) {
            return (1, phrase.stems.iter().map(weigh).sum::<f32>() - cost);
        }
        // Two words of a single memory say more than one, and three are too many.
        let weights = phrase.stems.iter().take(2).map(|stem| counts.weight(stem)).sum::<f32>();
        (0, weights - 5.0 * cost - phrase.stems.len().saturating_sub(2) as f32)
    };
    let mut rated: Vec<((usize, f32), &Phrase)> =
        phrases.iter().flatten().map(|phrase| (score(phrase), phrase)).collect();
    // Equally good phrases stay in the order of the members.
    rated.sort_by(|(one, _), (other, _)| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
    let names: Vec<&str> = rated.into_iter().map(|(_, phrase)| phrase.text.as_str()).collect();
    // If all phrases are taken, a number makes the difference.
    let numbered = (2..used.len() + 3).filter_map(|n| Some(format!("{} {n}", names.first()?)));
    let mut all = names.iter().map(|name| (*name).to_owned()).chain(numbered);
    let name = all.find(|name| !used.contains(&name.to_lowercase())).unwrap_or_default();
    used.insert(name.to_lowercase());
    name
}

/// A phrase that may be a name.
struct Phrase {
    /// Letters, digits and single spaces only.
    text: String,
    /// The stems of its words that say something.
    stems: Vec<String>,
    /// True if it begins a sentence. Notes about a person often begin with a verb: "Drives a green estate".
    opens_sentence: bool,
}

/// All phrases of a text that may be names. They begin and end with words that say something.
fn phrases(text: &str) -> Vec<Phrase> {
    let start: String = text.nfkc().take(MAX_CHARS).collect();
    let all = words(&start);
    let mut out = Vec::new();
    for (n, word) in all.iter().enumerate() {
        if word.chars().next().is_some_and(is_east_asian) {
            out.extend(east_asian_phrases(word));
            continue;
        }
        let mut stems: Vec<String> = Vec::new();
        let mut end = offset(&start, word);
        let before = start.get(..end).unwrap_or_default().trim_end();
        let opens_sentence = before.is_empty() || before.ends_with(['.', '!', '?', ':', ';', '。', '-', '•']);
        let mut name = String::new();
        for next in all.iter().skip(n).take(MAX_PHRASE_WORDS) {
            let at = offset(&start, next);
            let is_joined = name.is_empty() || matches!(start.get(end..at), Some(" " | "-"));
            if !is_joined || next.chars().next().is_some_and(is_east_asian) {
                break;
            }
            end = at + next.len();
            let stem = stem_of(next);
            if stem.is_none() && (name.is_empty() || !JOINING.contains(&next.to_lowercase().as_str())) {
                break;
            }
            name.push_str(if name.is_empty() { "" } else { " " });
            name.push_str(next);
            let Some(stem) = stem else { continue };
            if stems.contains(&stem) || stems.len() == MAX_MEANINGFUL || name.chars().count() > MAX_NAME_CHARS {
                break;
            }
            stems.push(stem);
            out.push(Phrase { text: with_capital(&name), stems: stems.clone(), opens_sentence });
        }
    }
    out
}

/// The nouns of a run of characters in a script without spaces, and two nouns that follow each other or are joined by
/// 「の」.
fn east_asian_phrases(word: &str) -> Vec<Phrase> {
    let runs: Vec<&str> = noun_runs(word, 2, 2)
        .into_iter()
        .filter(|run| !is_common(run) && !is_time_or_number(run) && run.chars().count() <= MAX_NAME_CHARS / 2)
        .collect();
    let one = |run: &&str| Phrase { text: (*run).to_owned(), stems: vec![(*run).to_owned()], opens_sentence: false };
    let mut out: Vec<Phrase> = runs.iter().map(one).collect();
    for pair in runs.windows(2) {
        let &[first, second] = pair else { continue };
        let (from, to) = (offset(word, first), offset(word, second));
        if matches!(word.get(from + first.len()..to), Some("" | "の"))
            && let Some(text) = word.get(from..to + second.len())
        {
            let stems = vec![first.to_owned(), second.to_owned()];
            out.push(Phrase { text: text.to_owned(), stems, opens_sentence: false });
        }
    }
    out
}

/// Position of a slice of `text` in bytes.
fn offset(text: &str, slice: &str) -> usize {
    slice.as_ptr() as usize - text.as_ptr() as usize
}

/// The first letters of a word that says something. None for articles, times, numbers and words that say little.
fn stem_of(word: &str) -> Option<String> {
    let folded = word.to_lowercase();
    let says_something = (MIN_CHARS..=MAX_NAME_CHARS).contains(&folded.chars().count())
        && !is_common(&folded)
        && !is_time_or_number(&folded)
        && folded.chars().all(char::is_alphabetic);
    says_something.then(|| folded.chars().take(STEM_CHARS).collect())
}

fn with_capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn is_time_or_number(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let listed = MONTHS.iter().chain(WEEKDAYS).chain(NUMBERS).flat_map(|names| names.iter().copied());
        listed.chain(TIMES.iter().copied()).collect()
    });
    // English plurals of weekdays: "Fridays".
    words.contains(word) || word.strip_suffix('s').is_some_and(|one| words.contains(one))
}
