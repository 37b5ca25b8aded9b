//! Finds topics: groups of memories that are similar in meaning, or that share words if there are no vectors. The name
//! of a topic consists of words from its memories. Purity matters more than coverage, so a memory that fits no topic is
//! left out.
mod linkage;
mod name;
mod similarity;

use crate::fitted::DIMENSIONS;
use crate::fold::{Folded, is_east_asian, is_function_word, noun_runs, words};
use name::{WordCounts, topic_name};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Largest number of characters in the name of a topic.
pub const MAX_NAME_CHARS: usize = 40;
/// Number of first letters of a word that serve as its stem.
const STEM_CHARS: usize = 6;
/// Only this many meaningful words from the start of a text are compared.
const MAX_WORDS: usize = 60;
/// A word does not count for similarity if more texts than this contain it, because it says too little about each of
/// them.
const MAX_TEXTS_WITH_WORD: usize = 60;
/// Two texts are neighbours if their similarity by words (the cosine of their weighted words) is at least this.
const MIN_WORD_SIMILARITY: f32 = 0.2;
/// Largest number of neighbours that are stored for a text: those with the highest similarity.
const MAX_NEIGHBOURS: usize = 12;

/// A group of texts about the same thing, with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
    /// The name, which consists of words from the texts. It contains only letters, digits and single spaces.
    pub name: String,
    /// Positions of the texts in the input, in ascending order. There are at least two.
    pub members: Vec<usize>,
}

/// Finds the topics of the texts, the largest first. `vectors` contains one vector for each text: normalised to length
/// 1, or empty if the text has none. If at least half of the texts have no vector, or if there are more than 3,000
/// texts, only words are compared.
pub fn topics(texts: &[&str], vectors: &[Vec<f32>]) -> Vec<Topic> {
    let stems_by_text: Vec<Vec<String>> = texts.iter().map(|text| distinct_stems(text)).collect();
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for word in stems_by_text.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let weights = |word: &str| {
        let count = counts.get(word).copied().unwrap_or(1);
        // A word in very many texts, such as the name of the owner of the memories, has no weight.
        if count as usize * 6 > texts.len().max(30) { 0.0 } else { ((texts.len() + 1) as f32 / count as f32).ln() }
    };
    let by_words = edges_by_words(&stems_by_text, &weights);
    let usable_count = vectors.iter().filter(|vector| vector.len() == DIMENSIONS).count();
    let can_compare_all = texts.len() <= similarity::MAX_COMPARED_TEXTS;
    let groups = if can_compare_all && vectors.len() == texts.len() && usable_count * 2 > texts.len() {
        linkage::groups(texts.len(), &similarity::pairs(texts, vectors, &by_words))
    } else {
        communities(texts.len(), &by_words)
    };
    let mut groups: Vec<Vec<usize>> = groups.into_iter().filter(|members| members.len() > 1).collect();
    groups.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    let (counts, mut used) = (WordCounts::new(texts), HashSet::new());
    let to_topic = |members: Vec<usize>| Topic { name: topic_name(texts, &members, &counts, &mut used), members };
    groups.into_iter().map(to_topic).collect()
}

/// The similarity of each pair of texts. The smaller position is the first of the pair.
type Edges = BTreeMap<(usize, usize), f32>;

fn edges_by_words(stems_by_text: &[Vec<String>], weight: &impl Fn(&str) -> f32) -> Edges {
    let norm = |stems: &[String]| stems.iter().map(|word| weight(word).powi(2)).sum::<f32>().sqrt().max(1e-6);
    let norms: Vec<f32> = stems_by_text.iter().map(|stems| norm(stems)).collect();
    let mut texts_by_stem: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, stems) in stems_by_text.iter().enumerate() {
        stems.iter().for_each(|word| texts_by_stem.entry(word).or_default().push(n));
    }
    let mut sums = Edges::new();
    let mut shared_stems: Vec<_> =
        texts_by_stem.into_iter().filter(|(_, list)| (2..=MAX_TEXTS_WITH_WORD).contains(&list.len())).collect();
    shared_stems.sort_unstable();
    for (word, list) in shared_stems {
        let squared_weight = weight(word).powi(2);
        for (i, a) in list.iter().enumerate() {
            for b in list.iter().skip(i + 1) {
                *sums.entry((*a, *b)).or_default() += squared_weight;
            }
        }
    }
    sums.retain(|(a, b), sum| {
        *sum /= norms.get(*a).copied().unwrap_or(1.0) * norms.get(*b).copied().unwrap_or(1.0);
        *sum >= MIN_WORD_SIMILARITY
    });
    sums
}

/// Groups densely connected texts by label propagation. The texts are visited in a fixed order, so the result is
/// deterministic.
fn communities(count: usize, edges: &Edges) -> Vec<Vec<usize>> {
    let mut neighbours: Vec<Vec<(usize, f32)>> = vec![Vec::new(); count];
    for ((a, b), weight) in edges {
        neighbours[*a].push((*b, *weight));
        neighbours[*b].push((*a, *weight));
    }
    for list in &mut neighbours {
        list.sort_by(|x, y| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0)));
        list.truncate(MAX_NEIGHBOURS);
    }
    let mut labels: Vec<usize> = (0..count).collect();
    for _ in 0..20 {
        let mut changed = false;
        for n in 0..count {
            let mut votes: HashMap<usize, f32> = HashMap::new();
            for (other, weight) in &neighbours[n] {
                *votes.entry(labels[*other]).or_default() += weight;
            }
            let best = votes.into_iter().max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
            if let Some((label, _)) = best.filter(|(label, _)| *label != labels[n]) {
                labels[n] = label;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, label) in labels.into_iter().enumerate() {
        groups.entry(label).or_default().push(n);
    }
    groups.into_values().collect()
}

/// The stems of the meaningful words of a text (see `written_words`), each once.
fn distinct_stems(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for (stem, _) in written_words(text) {
        if out.len() < MAX_WORDS && !out.contains(&stem) {
            out.push(stem);
        }
    }
    out
}

/// The meaningful words of a text, each preceded by its stem, which is its first letters. A word contains only letters
/// and digits, so no punctuation gets into a topic's name.
fn written_words(text: &str) -> Vec<(String, String)> {
    let folded = Folded::new(text);
    let mut out = Vec::new();
    for word in words(&folded.text) {
        let asian = word.chars().next().is_some_and(is_east_asian);
        if asian {
            let runs = noun_runs(word, 2, 2).into_iter().filter(|run| run.chars().count() <= MAX_NAME_CHARS);
            out.extend(runs.map(|run| (run.to_owned(), run.to_owned())));
        } else {
            let length = word.chars().count();
            if (4..=MAX_NAME_CHARS).contains(&length) && !is_common(word) && word.chars().any(char::is_alphabetic) {
                out.push((word.chars().take(STEM_CHARS).collect(), word.to_owned()));
            }
        }
    }
    out
}

fn is_common(word: &str) -> bool {
    const FURTHER_COMMON_WORDS: &[&str] = &[
        "arbeitet", "leitet", "will", "called", "again", "alle", "most", "trinkt", "braucht", "haben", "zwei", "drei",
        "works", "lives", "wants", "named", "month", "february", "februar", "januar", "recent", "another", "around",
        "while", "lieber", "keine", "keinen", "immer", "wieder", "dass", "担当", "苦手", "毎月", "使用", "必要",
        "現在", "毎日", "毎週", "以前", "好き", "someone", "things", "their", "there", "likes", "nicht", "gehört",
        "heißt", "wohnt", "lebt", "nutzt", "möchte", "user", "users", "nutzers", "have", "been", "since", "about",
        "into", "than", "then", "also", "likes", "loves", "every", "year", "years", "haben", "hatte", "einem", "eines",
        "ihren", "ihrem", "seinen", "sich", "mehr", "noch", "nach", "über", "they", "when", "which", "wenn", "week",
        "woche",
    ];
    FURTHER_COMMON_WORDS.contains(&word) || is_function_word(word)
}
