//! Chooses the names of topics. A name is a phrase that occurs literally in one of the memories. A combination of words
//! from several memories, or from different sentences of one memory, would be a phrase that nobody wrote.
use super::{MAX_NAME_CHARS, STEM_CHARS, is_common};
use crate::{
    fold::{MAX_CHARS, is_east_asian, noun_runs, words},
    word_lists::{MONTHS, NUMBERS, WEEKDAYS},
};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization;

/// Largest number of meaningful words in a name. Articles, prepositions, times, numbers and very common words are not
/// meaningful.
const MAX_MEANINGFUL_WORDS: usize = 3;
/// Largest number of words in a name, including articles and prepositions.
const MAX_PHRASE_WORDS: usize = 5;
/// Smallest number of characters of a meaningful word.
const MIN_WORD_CHARS: usize = 3;
/// If only one memory of the topic contains a word, this share of the word's weight is subtracted from the score of a
/// phrase with this word.
const COST_OF_UNSHARED: f32 = 0.6;

/// Subtracted from the score of a phrase that begins a sentence.
const COST_OF_OPENING: f32 = 0.8;

/// Words that may be inside a name, between two meaningful words.
const JOINING_WORDS: &[&str] = &[
    "a", "am", "an", "at", "auf", "aus", "bei", "beim", "by", "das", "dem", "den", "der", "des", "die", "ein", "eine",
    "einem", "einen", "einer", "for", "from", "für", "im", "in", "mit", "of", "on", "the", "to", "von", "vom", "with",
    "zu", "zum", "zur",
];
/// Words for times, besides months and weekdays. They are not meaningful, because they say when something happens, and
/// not what.
const TIME_WORDS: &[&str] = &[
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

/// For each stem, the number of texts that contain a word with this stem.
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

    /// The weight of a word, which is higher if fewer texts contain it. It is 0 for a word in very many texts, such as
    /// the name of the owner of the memories.
    fn weight(&self, stem: &str) -> f32 {
        let count = self.counts.get(stem).copied().unwrap_or(1);
        if count * 6 > self.texts.max(30) { 0.0 } else { ((self.texts + 1) as f32 / count as f32).ln() }
    }
}

/// Chooses a name for the texts at `members`. The name differs from all names in `used` (in lower case) and is added to
/// them. It is the phrase whose words are in many of these texts and rare in other texts. If the texts have no word in
/// common, it is a phrase of one of them.
pub(super) fn topic_name(texts: &[&str], members: &[usize], counts: &WordCounts, used: &mut HashSet<String>) -> String {
    let phrases: Vec<Vec<Phrase>> =
        members.iter().filter_map(|n| texts.get(*n)).map(|text| self::phrases(text)).collect();
    let mut text_counts: HashMap<&str, usize> = HashMap::new();
    for phrases in &phrases {
        let stems: HashSet<&str> = phrases.iter().flat_map(|phrase| &phrase.stems).map(String::as_str).collect();
        stems.into_iter().for_each(|stem| *text_counts.entry(stem).or_default() += 1);
    }
    let score = |phrase: &Phrase| -> (usize, f32) {
        let count = |stem: &String| text_counts.get(stem.as_str()).copied().unwrap_or_default();
        let weigh = |stem: &String| match (count(stem), counts.weight(stem)) {
            (_, 0.0) => -1.0,
            (0 | 1, weight) => -weight * COST_OF_UNSHARED,
            (count, weight) => (count as f32 - 0.5) * weight,
        };
        let cost = if phrase.opens_sentence { COST_OF_OPENING } else { 0.0 };
        if phrase.stems.iter().any(|stem| count(stem) > 1) {
            return (1, phrase.stems.iter().map(weigh).sum::<f32>() - cost);
        }
        // If the texts share no word, two meaningful words are better than one, but a third makes the name worse.
        let weights = phrase.stems.iter().take(2).map(|stem| counts.weight(stem)).sum::<f32>();
        (0, weights - 5.0 * cost - phrase.stems.len().saturating_sub(2) as f32)
    };
    let mut rated_phrases: Vec<((usize, f32), &Phrase)> =
        phrases.iter().flatten().map(|phrase| (score(phrase), phrase)).collect();
    // Phrases with equal scores remain in the order of the members.
    rated_phrases.sort_by(|(one, _), (other, _)| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
    let names: Vec<&str> = rated_phrases.into_iter().map(|(_, phrase)| phrase.text.as_str()).collect();
    // If the names of all phrases are used, a number is appended to the first one.
    let numbered_names = (2..used.len() + 3).filter_map(|n| Some(format!("{} {n}", names.first()?)));
    let mut all = names.iter().map(|name| (*name).to_owned()).chain(numbered_names);
    let name = all.find(|name| !used.contains(&name.to_lowercase())).unwrap_or_default();
    used.insert(name.to_lowercase());
    name
}

/// A phrase that may be a name.
struct Phrase {
    /// The phrase, which contains only letters, digits and single spaces.
    text: String,
    /// The stems of the meaningful words of the phrase.
    stems: Vec<String>,
    /// True if the phrase begins a sentence. Such a phrase is often no good name, because notes about a person often
    /// begin with a verb: "Drives a green estate".
    opens_sentence: bool,
}

/// All phrases of a text that may be names. They begin and end with a meaningful word.
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
            if stem.is_none() && (name.is_empty() || !JOINING_WORDS.contains(&next.to_lowercase().as_str())) {
                break;
            }
            name.push_str(if name.is_empty() { "" } else { " " });
            name.push_str(next);
            let Some(stem) = stem else { continue };
            if stems.contains(&stem) || stems.len() == MAX_MEANINGFUL_WORDS || name.chars().count() > MAX_NAME_CHARS {
                break;
            }
            stems.push(stem);
            out.push(Phrase { text: with_capital(&name), stems: stems.clone(), opens_sentence });
        }
    }
    out
}

/// The phrases in a run of characters of a script without spaces: each noun, and each pair of nouns that follow each
/// other or are joined by 「の」.
fn east_asian_phrases(word: &str) -> Vec<Phrase> {
    let runs: Vec<&str> = noun_runs(word, 2, 2)
        .into_iter()
        .filter(|run| !is_common(run) && !is_time_or_number(run) && run.chars().count() <= MAX_NAME_CHARS / 2)
        .collect();
    let single_noun =
        |run: &&str| Phrase { text: (*run).to_owned(), stems: vec![(*run).to_owned()], opens_sentence: false };
    let mut out: Vec<Phrase> = runs.iter().map(single_noun).collect();
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

/// Position of `slice` in `text`, of which it is a part, in bytes.
fn offset(text: &str, slice: &str) -> usize {
    slice.as_ptr() as usize - text.as_ptr() as usize
}

/// The stem of a meaningful word, which is its first letters. None for short words, articles, times, numbers and very
/// common words.
fn stem_of(word: &str) -> Option<String> {
    let folded = word.to_lowercase();
    let is_meaningful = (MIN_WORD_CHARS..=MAX_NAME_CHARS).contains(&folded.chars().count())
        && !is_common(&folded)
        && !is_time_or_number(&folded)
        && folded.chars().all(char::is_alphabetic);
    is_meaningful.then(|| folded.chars().take(STEM_CHARS).collect())
}

fn with_capital(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn is_time_or_number(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let listed = MONTHS.iter().chain(WEEKDAYS).chain(NUMBERS).flat_map(|names| names.iter().copied());
        listed.chain(TIME_WORDS.iter().copied()).collect()
    });
    // The comparison without an "s" recognises English plurals of weekdays: "Fridays".
    words.contains(word) || word.strip_suffix('s').is_some_and(|one| words.contains(one))
}
