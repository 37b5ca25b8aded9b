//! Decides the kind of a text (what the text is about, see [`AboutKind`]) and its special categories by its words and
//! by the vector of a sentence encoder. A softmax regression decides the kind, and a logistic regression each special
//! category. `examples/fit.rs` fits the weights to the sentences in `data/samples`, `data/everyday`, `data/memories`
//! and `data/voices`, and those of the kinds also to sentences in `data/claims`.
use crate::{
    About, AboutKind, Special,
    classify::{KIND_COUNT, best_kind, features, word_scores},
    fold::Folded,
    home::{HomePhrase, home_phrase},
    special::{Evidence, evidence_of, shown_categories},
    subject::{FirstSubject, first_subject},
};
use std::collections::HashSet;
use std::sync::OnceLock;

/// Number of dimensions of the encoder's vectors.
pub const DIMENSIONS: usize = 512;
const SPECIAL_COUNT: usize = Special::ALL.len();
/// Number of regressions: one for each kind and each special category.
const ROWS: usize = KIND_COUNT + SPECIAL_COUNT;
/// Number of inputs that are computed from the words: the score of each kind; for each category, whether the words show
/// it surely, likely or doubtfully; and whether the text begins with a person or with a pet.
const WORD_INPUTS: usize = KIND_COUNT + 3 * SPECIAL_COUNT + 2;
/// Number of inputs of each regression: the numbers of the vector, and the inputs from the words.
const INPUTS: usize = DIMENSIONS + WORD_INPUTS;
/// Number of different hashes of features. Features are the words of a text, their beginnings, and pairs of characters.
/// They cannot be listed, because new texts contain new words, so each feature is represented by its hash.
pub const FEATURE_COUNT: usize = 8192;
/// Length of the vector of all feature inputs of a text (the square root of the sum of their squares).
const FEATURE_VALUE: f32 = 2.5;
/// The score of a kind, computed from the words, for which the input of the regression is one half.
const HALF_SCORE: f32 = 2.0;

/// Size in bytes of all rows of weights with `inputs` inputs. A row is stored as `f32`, little endian, and ends with
/// the bias.
const fn row_bytes(inputs: usize) -> usize {
    4 * ROWS * (inputs + 1)
}

/// Size in bytes of the weights of features: first a factor for each row (`f32`), then for each feature number one `i8`
/// per row, which is multiplied by the row's factor.
const FEATURE_BYTES: usize = 4 * ROWS + FEATURE_COUNT * ROWS;
/// The weights for all inputs and those of the features, then the weights for the vector alone, then those for the
/// words alone and those of the features.
const STORED_WEIGHTS: &[u8; row_bytes(INPUTS) + row_bytes(DIMENSIONS) + row_bytes(WORD_INPUTS) + 2 * FEATURE_BYTES] =
    include_bytes!("../data/fitted.bin");

/// Lowest probability at which a kind is suggested. If all kinds were equally likely, each would have 0.08.
const MIN_KIND_PROBABILITY: f32 = 0.2;
/// Lowest probability by all inputs at which a special category is suggested. Missing a category is worse than
/// suggesting a wrong one.
pub const MIN_SPECIAL: f32 = 0.2;
/// Like [`MIN_SPECIAL`], but for a category that no listed word shows. To the vector, numbers of any kind look like
/// money, and a relative's life looks like their origin or health. Such a category must therefore be more probable than
/// not.
const MIN_SPECIAL_UNSHOWN: f32 = 0.5;
/// Like [`MIN_SPECIAL`], but for the probability by the vector alone or by the words alone. The limit is higher,
/// because this probability is less reliable and too many suggestions would be wrong.
pub const MIN_SPECIAL_BY_LESS: f32 = 0.3;

/// What the words of a text show about its kind and categories.
struct Words {
    scores: [f32; KIND_COUNT],
    evidence: [Evidence; SPECIAL_COUNT],
    first: Option<FirstSubject>,
    features: Vec<u16>,
    /// True if the text is in a language without word lists.
    is_foreign: bool,
    /// How the text says where the owner of the memories lives. None if it does not.
    home: Option<HomePhrase>,
}

impl Words {
    fn new(folded: &Folded) -> Self {
        let evidence = evidence_of(folded);
        let features: HashSet<String> = features(&folded.text).into_iter().collect();
        let mut numbers: Vec<u16> = features.iter().map(|feature| feature_number(feature)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self {
            scores: word_scores(folded, &shown_categories(&evidence), &features),
            evidence,
            first: first_subject(folded),
            features: numbers,
            is_foreign: folded.languages.other,
            home: home_phrase(folded),
        }
    }

    /// The inputs of the regressions that are computed from the words.
    fn inputs(&self) -> Vec<f32> {
        // The input approaches 1, so each further word of a kind adds less evidence.
        let mut inputs: Vec<f32> = self.scores.iter().map(|score| score / (score.abs() + HALF_SCORE)).collect();
        for wanted in [Evidence::Sure, Evidence::Likely, Evidence::Doubtful] {
            inputs.extend(self.evidence.map(|evidence| f32::from(evidence == wanted)));
        }
        inputs.extend([FirstSubject::Person, FirstSubject::Pet].map(|wanted| f32::from(self.first == Some(wanted))));
        inputs
    }

    /// The score of each kind and of each special category for a text, or for a part of it, whose vector is `vector`.
    fn regress(&self, vector: &[f32]) -> [f32; ROWS] {
        if self.is_foreign {
            // Only the vector is used, because words of a foreign language may be in a word list by chance.
            return rows_of(&fitted().by_vector, vector);
        }
        let mut inputs = vector.to_vec();
        inputs.extend(self.inputs());
        let mut scores = rows_of(&fitted().by_all, &inputs);
        fitted().features_with_vector.add(&self.features, &mut scores);
        scores
    }

    /// Decides the kind and special categories without a vector. For a text in a language without word lists, only the
    /// scores of the words decide, because the regressions contain none of the words.
    fn judge(&self) -> (Option<About>, Vec<Special>) {
        if self.is_foreign || self.features.is_empty() {
            return (best_kind(&self.home_first(self.scores)), shown_categories(&self.evidence));
        }
        let mut scores = rows_of(&fitted().by_words, &self.inputs());
        fitted().features_alone.add(&self.features, &mut scores);
        let (kinds, classes) = split_scores(&scores);
        // A word that certainly shows a category gives it the probability 1, even in a long text.
        let probabilities = std::array::from_fn(|n| match self.evidence[n] {
            Evidence::Sure => 1.0,
            Evidence::Figurative => 0.0,
            _ => probability(classes[n]),
        });
        (
            most_probable(&self.home_first(kinds)),
            probable_categories(probabilities, [MIN_SPECIAL_BY_LESS; SPECIAL_COUNT]),
        )
    }

    /// Returns the scores of the kinds. If the text says where the person lives, the kind "home" gets the highest score
    /// of those kinds that such a text resembles, and the kind with this score gets that of "home": "lives in Graz"
    /// names a city, but says where home is. A text that begins with the home resembles also those about people and
    /// work: "Lives in Graz with two friends".
    fn home_first(&self, mut scores: [f32; KIND_COUNT]) -> [f32; KIND_COUNT] {
        let rivals: &[AboutKind] = match self.home {
            None => &[],
            Some(HomePhrase::Later) => &[AboutKind::PlacesTravel],
            Some(HomePhrase::First) => &[AboutKind::PlacesTravel, AboutKind::People, AboutKind::Work],
        };
        let home = AboutKind::Home.index();
        let best_rival = rivals.iter().map(|kind| kind.index()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        if let Some(rival) = best_rival
            && scores[home] < scores[rival]
        {
            scores.swap(home, rival);
        }
        scores
    }
}

/// Value of each feature input of a text with `count` features. The features of a long text together count as much as
/// those of a short one.
pub fn feature_value(count: usize) -> f32 {
    FEATURE_VALUE / (count.max(1) as f32).sqrt()
}

/// The hash of a feature (FNV-1a), as a number less than `FEATURE_COUNT`.
fn feature_number(feature: &str) -> u16 {
    let hash = feature.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    ((hash ^ (hash >> 16)) % FEATURE_COUNT as u32) as u16
}

/// The inputs of the regressions for `text`, and the numbers of its features. `vector` has [`DIMENSIONS`] numbers and
/// is normalised to length 1.
pub fn inputs_and_features(text: &str, vector: &[f32]) -> (Vec<f32>, Vec<u16>) {
    let words = Words::new(&Folded::new(text));
    let mut inputs = vector.to_vec();
    inputs.extend(words.inputs());
    (inputs, words.features)
}

/// Returns what a text is about, and its special categories. `vectors` contains the encoder's vectors for the parts of
/// the text, normalised to length 1. A vector whose number of dimensions differs from the encoder's is ignored. Without
/// vectors, the words alone decide.
pub fn judge(text: &str, vectors: &[&[f32]]) -> (Option<About>, Vec<Special>) {
    let words = Words::new(&Folded::new(text));
    let mut kinds = [0.0; KIND_COUNT];
    let mut probabilities = [0.0f32; SPECIAL_COUNT];
    let mut parts = 0;
    for vector in vectors.iter().filter(|vector| vector.len() == DIMENSIONS) {
        let (kind_scores, classes) = split_scores(&words.regress(vector));
        kinds.iter_mut().zip(kind_scores).for_each(|(sum, score)| *sum += score);
        // A category that one part of the text shows counts for the whole text.
        for ((known, score), evidence) in probabilities.iter_mut().zip(classes).zip(words.evidence) {
            // The encoder does not distinguish a figure of speech from the literal meaning.
            if evidence != Evidence::Figurative {
                *known = known.max(probability(score));
            }
        }
        parts += 1;
    }
    if parts == 0 {
        return words.judge();
    }
    let min_probabilities = words.evidence.map(|evidence| match evidence {
        // In a language without word lists, only the vector decides.
        _ if words.is_foreign => MIN_SPECIAL_BY_LESS,
        Evidence::None => MIN_SPECIAL_UNSHOWN,
        _ => MIN_SPECIAL,
    });
    let kinds = words.home_first(kinds.map(|score| score / parts as f32));
    (most_probable(&kinds), probable_categories(probabilities, min_probabilities))
}

/// Splits the scores of all rows into those of the kinds and those of the special categories.
fn split_scores(scores: &[f32; ROWS]) -> ([f32; KIND_COUNT], [f32; SPECIAL_COUNT]) {
    let (mut kinds, mut classes) = ([0.0; KIND_COUNT], [0.0; SPECIAL_COUNT]);
    kinds.iter_mut().chain(&mut classes).zip(scores).for_each(|(to, score)| *to = *score);
    (kinds, classes)
}

fn probability(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

/// The special categories whose probability reaches their minimum.
fn probable_categories(probabilities: [f32; SPECIAL_COUNT], min_probabilities: [f32; SPECIAL_COUNT]) -> Vec<Special> {
    let classes = Special::ALL.into_iter().zip(probabilities).zip(min_probabilities);
    classes.filter(|((_, probability), least)| probability >= least).map(|((class, _), _)| class).collect()
}

/// The square root of the probability of each kind. The dot product of the results for two texts measures how likely it
/// is that both texts are of the same kind. Without a vector, all kinds are equally likely.
pub(crate) fn kind_roots(text: &str, vector: &[f32]) -> [f32; KIND_COUNT] {
    if vector.len() != DIMENSIONS {
        return [(1.0 / KIND_COUNT as f32).sqrt(); KIND_COUNT];
    }
    let (mut roots, _) = split_scores(&Words::new(&Folded::new(text)).regress(vector));
    let largest = roots.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    roots.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let total: f32 = roots.iter().sum();
    roots.map(|share| (share / total).sqrt())
}

fn most_probable(scores: &[f32; KIND_COUNT]) -> Option<About> {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f32 = scores.iter().map(|score| (score - largest).exp()).sum();
    let (kind, _) = AboutKind::ALL.into_iter().zip(scores).find(|(_, score)| **score == largest)?;
    let confidence = 1.0 / total;
    (confidence >= MIN_KIND_PROBABILITY).then_some(About { kind, confidence })
}

/// The score of each row. `weights` contains the weights of all rows, one row after another.
fn rows_of(weights: &[f32], inputs: &[f32]) -> [f32; ROWS] {
    let mut scores = [0.0; ROWS];
    for (score, row) in scores.iter_mut().zip(weights.chunks_exact(inputs.len() + 1)) {
        // The bias is the last weight.
        let bias = row.last().copied().unwrap_or_default();
        *score = row.iter().zip(inputs).map(|(weight, input)| weight * input).sum::<f32>() + bias;
    }
    scores
}

struct Fitted {
    by_all: Vec<f32>,
    /// Weights for the vector alone, used for texts in languages without word lists.
    by_vector: Vec<f32>,
    /// Weights for the words alone, used for texts without a vector.
    by_words: Vec<f32>,
    features_with_vector: FeatureWeights,
    features_alone: FeatureWeights,
}

struct FeatureWeights {
    /// The factor of each row, by which its weights are multiplied.
    factors: [f32; ROWS],
    weights: Vec<[i8; ROWS]>,
}

impl FeatureWeights {
    fn new(bytes: &[u8]) -> Self {
        let (factors, weights) = bytes.split_at_checked(4 * ROWS).unwrap_or_default();
        let mut numbers = [0.0; ROWS];
        numbers.iter_mut().zip(floats(factors)).for_each(|(to, number)| *to = number);
        Self { factors: numbers, weights: weights.as_chunks().0.iter().map(|row| row.map(u8::cast_signed)).collect() }
    }

    /// Adds the weights of the features with these numbers to the scores.
    fn add(&self, features: &[u16], scores: &mut [f32; ROWS]) {
        let mut sums = [0i32; ROWS];
        for weights in features.iter().filter_map(|number| self.weights.get(usize::from(*number))) {
            sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += i32::from(*weight));
        }
        let value = feature_value(features.len());
        for ((score, sum), factor) in scores.iter_mut().zip(sums).zip(self.factors) {
            *score += value * factor * sum as f32;
        }
    }
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}

fn fitted() -> &'static Fitted {
    static FITTED: OnceLock<Fitted> = OnceLock::new();
    FITTED.get_or_init(|| {
        let mut remaining: &[u8] = STORED_WEIGHTS;
        let mut next = |count: usize| {
            let (part, after) = remaining.split_at_checked(count).unwrap_or_default();
            remaining = after;
            part
        };
        let by_all = floats(next(row_bytes(INPUTS))).collect();
        let features_with_vector = FeatureWeights::new(next(FEATURE_BYTES));
        let by_vector = floats(next(row_bytes(DIMENSIONS))).collect();
        let by_words = floats(next(row_bytes(WORD_INPUTS))).collect();
        let features_alone = FeatureWeights::new(next(FEATURE_BYTES));
        Fitted { by_all, by_vector, by_words, features_with_vector, features_alone }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts in languages without word lists are judged by their vectors, without the word lists.
    #[test]
    fn words_of_other_languages_have_no_weight() {
        let vector = vec![0.04; DIMENSIONS];
        let judged = |text: &str| Words::new(&Folded::new(text)).regress(&vector);
        // "pain" means bread in French, but is also in an English word list.
        assert_eq!(judged("Elle achète du pain pour le dîner."), judged("Elle habite dans une ville avec lui."));
        assert_ne!(judged("She buys bread for dinner."), judged("She is in pain at dinner."));
    }

    #[test]
    fn a_sure_word_in_a_long_text_shows_its_category() {
        let text =
            "Needs crutches until the cast comes off. ".to_owned() + &"Likes quiet mornings with tea. ".repeat(30);
        assert_eq!(crate::judge(&text, &[]).1, [Special::Health]);
    }

    #[test]
    fn feature_numbers_are_in_range() {
        let words = Words::new(&Folded::new("Learns to play the harp. ハープを習っている。"));
        assert!(words.features.len() > 10);
        assert!(words.features.iter().all(|number| usize::from(*number) < FEATURE_COUNT));
        assert_eq!(feature_number("harp"), feature_number("harp"));
    }
}
