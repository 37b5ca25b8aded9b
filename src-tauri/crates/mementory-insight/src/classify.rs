//! Suggests what a memory is about (its kind, see [`AboutKind`]) by the words of the memory alone. The evidence for a
//! kind is its cue words, and words that are more frequent in the samples of the kind than in those of all kinds.
use crate::{
    AboutKind, Special,
    fold::{Folded, is_east_asian, words},
    patterns::WordSet,
    special::{evidence_of, shown_categories},
    subject::{FirstSubject, first_subject},
    word_lists::ABOUT,
};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

pub(crate) const KIND_COUNT: usize = AboutKind::ALL.len();
/// Positions of the lists in a table of `data/about`.
const STRONG_LIST: usize = 0;
const CUE_LIST: usize = 1;
const PROTOTYPES: usize = 2;
/// Weights of strong cues, of other cues and of sample words. They were tuned on other texts than those used for the
/// published figures.
const STRONG_WEIGHT: f32 = 2.2;
const CUE_WEIGHT: f32 = 1.0;
const SAMPLE_WEIGHT: f32 = 0.6;
/// Lowest score at which a kind is suggested.
const MIN_SCORE: f32 = 0.8;

/// What a memory is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct About {
    /// The most likely kind.
    pub kind: AboutKind,
    /// Confidence, from 0 to 1.
    pub confidence: f32,
}

/// Suggests the kind of a text by its words alone. None if the words suggest no kind.
pub fn about(text: &str) -> Option<About> {
    let folded = Folded::new(text);
    let features = features(&folded.text).into_iter().collect();
    best_kind(&word_scores(&folded, &shown_categories(&evidence_of(&folded)), &features))
}

/// The sample sentences with their kinds.
fn prototypes() -> Vec<(&'static str, AboutKind)> {
    let mut out = Vec::new();
    for table in ABOUT.iter().flat_map(|language| language.tables) {
        if let Some(kind) = AboutKind::parse(table.name) {
            out.extend(table.list(PROTOTYPES).iter().map(|sentence| (*sentence, kind)));
        }
    }
    out
}

/// The kind with the highest score. None if the score is too low.
pub(crate) fn best_kind(scores: &[f32; KIND_COUNT]) -> Option<About> {
    let (kind, score) = AboutKind::ALL.into_iter().zip(scores.iter().copied()).fold(
        None,
        |best: Option<(AboutKind, f32)>, (kind, score)| match best {
            Some((_, top)) if top >= score => best,
            _ => Some((kind, score)),
        },
    )?;
    if !score.is_finite() || score < MIN_SCORE {
        return None;
    }
    let sum: f32 = scores.iter().map(|other| (other - score).exp()).sum();
    // Little evidence gives a low confidence, even if no other kind has any evidence.
    Some(About { kind, confidence: (1.0 / sum) * (score / (score + 0.7)) })
}

/// Returns a score for each kind, which says how strongly the words suggest the kind. `special` contains the special
/// categories that the words show, and `features` the features of the text.
pub(crate) fn word_scores(folded: &Folded, special: &[Special], features: &HashSet<String>) -> [f32; KIND_COUNT] {
    let model = model();
    let mut scores = [0.0; KIND_COUNT];
    let mut counted_cues = HashSet::new();
    let mut hits = model.cues.hits(&folded.text);
    // A cue inside a longer cue of the same kind is not counted separately.
    hits.sort_by_key(|hit| (hit.start, std::cmp::Reverse(hit.end)));
    let mut ends = [0usize; KIND_COUNT];
    for hit in hits {
        let cue = hit.value;
        let kind = cue.kind.index();
        if !folded.languages.may_be(cue.language) || hit.end <= ends[kind] {
            continue;
        }
        ends[kind] = hit.end;
        let word = &folded.text[hit.start..hit.end];
        if counted_cues.insert((kind, word)) {
            // A text is mostly about what it says first, so an early cue counts more.
            scores[kind] += cue.weight * position_weight(cue.kind, folded, hit.start);
        }
    }
    for class in special {
        let (kind, weight) = match class {
            Special::Health => (AboutKind::Health, 1.5),
            Special::Beliefs | Special::Politics => (AboutKind::Beliefs, 1.5),
            Special::Origin | Special::Sexuality => (AboutKind::WhoYouAre, 1.2),
            Special::Union => (AboutKind::Work, 1.5),
            Special::Money => (AboutKind::Money, 1.2),
            Special::ExactAddress => (AboutKind::Home, 2.0),
            Special::Biometrics | Special::Minors => continue,
        };
        scores[kind.index()] += weight;
    }
    // A text that begins with a relative, friend or pet is about them, whatever they do or have.
    if let Some(first) = first_subject(folded) {
        scores = scores.map(|score| score * 0.65);
        let kind = match first {
            FirstSubject::Pet => AboutKind::Home,
            FirstSubject::Person => AboutKind::People,
        };
        scores[kind.index()] += 3.0;
    }
    let mut samples = [0.0f32; KIND_COUNT];
    for feature in features {
        if let Some(weights) = model.samples.get(feature) {
            for (score, weight) in samples.iter_mut().zip(weights) {
                *score += weight;
            }
        }
    }
    // The sum is scaled down for texts with many features, so that it does not outweigh the cues.
    let scale = SAMPLE_WEIGHT / (1.0 + features.len() as f32 / 20.0);
    for (score, sample) in scores.iter_mut().zip(samples) {
        *score += sample * scale;
    }
    // A long text contains words of every kind. Above a limit, the scores are scaled down, so that only their ratios
    // count.
    let total: f32 = scores.iter().map(|score| score.max(0.0)).sum();
    if total > 20.0 {
        scores = scores.map(|score| score * 20.0 / total);
    }
    scores
}

/// Factor for the weight of a cue, by its position in the text. Texts, and above all those about people, are mostly
/// about what they mention first.
fn position_weight(kind: AboutKind, folded: &Folded, start: usize) -> f32 {
    let before = folded.text[..start].chars().count();
    let subject = if folded.languages.ja { 10 } else { 22 };
    match kind {
        AboutKind::People if before <= subject => 1.7,
        _ if start * 2 <= folded.text.len() => 1.1,
        _ => 0.9,
    }
}

struct Cue {
    kind: AboutKind,
    weight: f32,
    language: &'static str,
}

struct Model {
    cues: WordSet<Cue>,
    /// For each feature and kind, the logarithm of a ratio: how frequent the feature is in the samples of the kind,
    /// relative to the samples of all kinds. The logarithm is clamped.
    samples: HashMap<String, [f32; KIND_COUNT]>,
}

fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let mut cues = Vec::new();
        for language in ABOUT {
            for table in language.tables {
                let Some(kind) = AboutKind::parse(table.name) else { continue };
                for (list, weight) in [(STRONG_LIST, STRONG_WEIGHT), (CUE_LIST, CUE_WEIGHT)] {
                    let words = table.list(list).iter();
                    cues.extend(words.map(|word| (*word, Cue { kind, weight, language: language.code })));
                }
            }
        }
        Model { cues: WordSet::new(cues), samples: sample_weights() }
    })
}

fn sample_weights() -> HashMap<String, [f32; KIND_COUNT]> {
    let mut counts: HashMap<String, [f32; KIND_COUNT]> = HashMap::new();
    let mut totals = [0.0f32; KIND_COUNT];
    for (sentence, kind) in prototypes() {
        totals[kind.index()] += 1.0;
        for feature in features(&crate::fold::fold(sentence)).into_iter().collect::<HashSet<_>>() {
            counts.entry(feature).or_insert([0.0; KIND_COUNT])[kind.index()] += 1.0;
        }
    }
    for weights in counts.values_mut() {
        let all: f32 = weights.iter().sum();
        let share = |count: f32, total: f32| (count + 0.3) / (total + 3.9);
        let mean = share(all / KIND_COUNT as f32, totals.iter().sum::<f32>() / KIND_COUNT as f32);
        for (weight, total) in weights.iter_mut().zip(totals) {
            *weight = (share(*weight, total) / mean).ln().clamp(-1.0, 2.0);
        }
    }
    counts
}

/// The features of a text: its words, the first letters of longer words (instead of stems), and pairs of characters in
/// scripts without spaces.
pub(crate) fn features(folded: &str) -> Vec<String> {
    let mut out = Vec::new();
    for word in words(folded) {
        if word.chars().next().is_some_and(is_east_asian) {
            let chars: Vec<char> = word.chars().collect();
            out.extend(chars.windows(2).map(|pair| pair.iter().collect::<String>()));
        } else {
            let start: String = word.chars().take(5).collect();
            if start.len() < word.len() {
                out.push(format!("{start}~"));
            }
            out.push(word.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_samples_get_their_own_kind() {
        let all = prototypes();
        let right = all.iter().filter(|(text, wanted)| about(text).is_some_and(|about| about.kind == *wanted)).count();
        assert!(right * 100 >= all.len() * 85, "{right} of {}", all.len());
        for kind in AboutKind::ALL {
            assert!(all.iter().filter(|(_, of)| *of == kind).count() >= 75, "{}", kind.as_str());
        }
    }
}
