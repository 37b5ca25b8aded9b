//! Decides the kind and the special categories of a text by its words and by the vector of a sentence encoder.
//! `examples/fit.rs` fits the weights to the sentences in `data/samples` and `data/everyday`: those of a softmax regression for the kind,
//! and of a logistic regression for each special category.
use crate::{
    About, AboutKind, Special,
    classify::{KIND_COUNT, best_kind, word_scores},
    fold::Folded,
    special::{Evidence, evidence_of, shown},
    subject::{First, first_subject},
};
use std::sync::OnceLock;

/// Number of dimensions of the encoder's vectors.
pub const DIMENSIONS: usize = 512;
const SPECIAL_COUNT: usize = Special::ALL.len();
/// Number of inputs that say what the words show: the score of each kind, whether each category is shown surely, likely,
/// or doubtfully, and whether the text begins with a person, or with a pet.
const WORD_INPUTS: usize = KIND_COUNT + 3 * SPECIAL_COUNT + 2;
/// Number of inputs of each regression: the numbers of the vector, and what the words show.
const INPUTS: usize = DIMENSIONS + WORD_INPUTS;
/// Number of weights. Each kind and each category has a weight for each of its inputs, and one more for the bias.
const WEIGHT_COUNT: usize = (KIND_COUNT + SPECIAL_COUNT) * (INPUTS + 1);
/// A score of the words at which its input is one half.
const HALF_SCORE: f32 = 2.0;
/// The weights as `f32`, little endian.
const STORED_WEIGHTS: &[u8; 4 * WEIGHT_COUNT] = include_bytes!("../data/fitted.bin");

/// A kind is suggested if its probability is at least this. If all kinds were equally likely, each would have 0.08.
const MIN_KIND_PROBABILITY: f32 = 0.2;
/// A special category is suggested if its probability is at least this. Missing a category is worse than suggesting a
/// wrong one.
pub const MIN_SPECIAL: f32 = 0.4;

/// What the words of a text say.
struct Words {
    scores: [f32; KIND_COUNT],
    evidence: [Evidence; SPECIAL_COUNT],
    first: Option<First>,
}

impl Words {
    fn new(folded: &Folded) -> Self {
        let evidence = evidence_of(folded);
        Self { scores: word_scores(folded, &shown(&evidence)), evidence, first: first_subject(folded) }
    }

    /// The inputs of the regressions for one text or one part of it, whose vector is `vector`.
    fn inputs(&self, vector: &[f32]) -> Vec<f32> {
        let mut inputs = vector.to_vec();
        // Many words of a kind say little more than a few.
        inputs.extend(self.scores.map(|score| score / (score.abs() + HALF_SCORE)));
        for wanted in [Evidence::Sure, Evidence::Likely, Evidence::Doubtful] {
            inputs.extend(self.evidence.map(|evidence| f32::from(evidence == wanted)));
        }
        inputs.extend([First::Person, First::Pet].map(|wanted| f32::from(self.first == Some(wanted))));
        inputs
    }
}

/// The inputs of the regressions for `text`. `vector` has [`DIMENSIONS`] numbers and is normalised to length 1.
pub fn inputs(text: &str, vector: &[f32]) -> Vec<f32> {
    Words::new(&Folded::new(text)).inputs(vector)
}

/// What a text is about, and its special categories. `vectors` holds the encoder's vectors for the parts of the text,
/// normalised to length 1. A vector whose number of dimensions differs from the encoder's is ignored. Without vectors,
/// the words alone decide.
pub fn judge(text: &str, vectors: &[&[f32]]) -> (Option<About>, Vec<Special>) {
    let words = Words::new(&Folded::new(text));
    let mut scores = [0.0; KIND_COUNT];
    let mut probabilities = [0.0f32; SPECIAL_COUNT];
    let mut parts = 0;
    for vector in vectors.iter().filter(|vector| vector.len() == DIMENSIONS) {
        let inputs = words.inputs(vector);
        for (score, weights) in scores.iter_mut().zip(fitted().kind_weights()) {
            *score += weighted_sum(weights, &inputs);
        }
        // A category that one part shows counts for the whole text.
        for (probability, weights) in probabilities.iter_mut().zip(fitted().special_weights()) {
            *probability = probability.max(1.0 / (1.0 + (-weighted_sum(weights, &inputs)).exp()));
        }
        parts += 1;
    }
    if parts == 0 {
        return (best_kind(&words.scores), shown(&words.evidence));
    }
    let classes = Special::ALL.into_iter().zip(probabilities).filter(|(_, probability)| *probability >= MIN_SPECIAL);
    (most_probable(&scores.map(|score| score / parts as f32)), classes.map(|(class, _)| class).collect())
}

/// Square roots of the probabilities that the text is of each kind. For two texts, the dot product of their roots says
/// how likely it is that both are of the same kind. Without a vector, all kinds are equally likely.
pub(crate) fn kind_roots(text: &str, vector: &[f32]) -> [f32; KIND_COUNT] {
    if vector.len() != DIMENSIONS {
        return [(1.0 / KIND_COUNT as f32).sqrt(); KIND_COUNT];
    }
    let inputs = inputs(text, vector);
    let mut roots = [0.0; KIND_COUNT];
    for (root, weights) in roots.iter_mut().zip(fitted().kind_weights()) {
        *root = weighted_sum(weights, &inputs);
    }
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

/// Sum of the inputs multiplied by their weights, and of the bias, which is the last weight.
fn weighted_sum(weights: &[f32], inputs: &[f32]) -> f32 {
    let bias = weights.last().copied().unwrap_or_default();
    weights.iter().zip(inputs).map(|(weight, input)| weight * input).sum::<f32>() + bias
}

struct Fitted(Vec<f32>);

impl Fitted {
    fn kind_weights(&self) -> impl Iterator<Item = &[f32]> {
        self.0.chunks_exact(INPUTS + 1).take(KIND_COUNT)
    }

    fn special_weights(&self) -> impl Iterator<Item = &[f32]> {
        self.0.chunks_exact(INPUTS + 1).skip(KIND_COUNT)
    }
}

fn fitted() -> &'static Fitted {
    static FITTED: OnceLock<Fitted> = OnceLock::new();
    FITTED.get_or_init(|| {
        let numbers = STORED_WEIGHTS.as_chunks::<4>().0;
        Fitted(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    })
}
