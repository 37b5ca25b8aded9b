//! Fits the weights in `data/fitted.bin` to the sentences in `data/samples`, `data/everyday`, `data/memories` and
//! `data/voices`, and those of the kinds also to the sentences in `data/claims` whose attribute is in
//! `data/claim_kinds.tsv`. Also prints how well weights predict sentences to which they were not fitted. Usage:
//! `MEMENTORY_WEIGHTS_DIR=FOLDER cargo run --release -p mementory-insight --example fit`. If the number of inputs has
//! changed, first set `data/fitted.bin` to its new length (`truncate -s`), because the crate does not compile
//! otherwise.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use mementory_insight::{
    AboutKind, DIMENSIONS, FEATURE_COUNT, MIN_SPECIAL, MIN_SPECIAL_BY_LESS, Special, feature_value, inputs_and_features,
};
use mementory_meaning::Encoder;
use std::collections::{HashMap, HashSet};
use std::path::Path;

const FOLDS: usize = 5;
const ROUNDS: usize = 300;
/// How strongly each step pulls the weights towards 0 (weight decay). Those of the kinds were chosen by the lives in
/// `tests/data` whose errors may be read: there, the vector alone misleads more than in cross-validation, whose
/// sentences resemble each other.
const KIND_DECAY: Decay = Decay { vector: 4.5, words: 2.0, features: 0.78 };
/// Chosen by cross-validation.
const SPECIAL_DECAY: Decay = Decay { vector: 0.5, words: 0.5, features: 0.5 };
/// Factor for the numbers of a vector before fitting. Without it, they are so small compared with the other inputs that
/// the decay would leave them too little weight. Chosen by cross-validation. The stored weights are for the vector
/// without this factor.
const VECTOR_SCALE: f32 = 3.0;
/// Determines the weight of the few sentences that show a special category. At 1, they have the same total weight as
/// all other sentences; at 0, every sentence has the same weight. A value in between gives good recall and good
/// precision.
const BALANCE: f32 = 0.3;

/// How strongly the weights of the vector, of the inputs from the words, and of the features are pulled towards 0.
#[derive(Clone, Copy)]
struct Decay {
    vector: f32,
    words: f32,
    features: f32,
}

struct Sample {
    kind: usize,
    /// Whether the sentence shows each category. None if it is not labelled with categories.
    special: Option<Vec<bool>>,
    inputs: Vec<f32>,
    /// The feature numbers of the sentence.
    features: Vec<u16>,
}

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let weights = std::env::var_os("MEMENTORY_WEIGHTS_DIR").expect("MEMENTORY_WEIGHTS_DIR");
    let encoder = Encoder::open(Path::new(&weights)).expect("the weights of the encoder");
    let mut samples: Vec<Sample> = ["samples", "everyday", "memories", "voices"]
        .iter()
        .flat_map(|folder| read(&data.join(folder), &encoder))
        .collect();
    samples.extend(read_claims(&data, &encoder));
    let bytes = stored(&samples);
    std::fs::write(data.join("fitted.bin"), &bytes).unwrap();
    println!("{} samples, {} bytes", samples.len(), bytes.len());
    cross_validate(&samples, InputSet::All, "all inputs");
    cross_validate(&samples, InputSet::Vector, "the vector alone");
    cross_validate(&samples, InputSet::Words, "the words alone");
}

/// The rows of a file in each language, without comments.
fn rows(folder: &Path) -> Vec<[String; 3]> {
    let files = ["de", "en", "ja"].map(|language| std::fs::read_to_string(folder.join(format!("{language}.tsv"))));
    let columns = |line: &str| -> [String; 3] {
        line.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().expect("three columns")
    };
    let rows_of = |text: String| text.lines().filter(|line| !line.starts_with('#')).map(columns).collect::<Vec<_>>();
    files.into_iter().flat_map(|text| rows_of(text.unwrap())).collect()
}

/// The sentences of a folder, each labelled with its kind and its special categories.
fn read(folder: &Path, encoder: &Encoder) -> Vec<Sample> {
    let labelled = |[kind, special, sentence]: [String; 3]| {
        let special: Vec<&str> = special.split(',').map(str::trim).filter(|name| *name != "-").collect();
        assert!(special.iter().all(|name| Special::parse(name).is_some()), "{sentence}");
        let special = Special::ALL.map(|class| special.contains(&class.as_str())).to_vec();
        sample(&kind, Some(special), &sentence, encoder)
    };
    rows(folder).into_iter().map(labelled).collect()
}

/// The sentences in `data/claims` whose attribute has a kind. They are not labelled with categories.
fn read_claims(data: &Path, encoder: &Encoder) -> Vec<Sample> {
    let text = std::fs::read_to_string(data.join("claim_kinds.tsv")).unwrap();
    let pairs = text.lines().filter(|line| !line.starts_with('#'));
    let kind_of: HashMap<&str, &str> = pairs
        .map(|line| line.split_once('\t').expect("two columns"))
        .map(|(kind, attribute)| (attribute, kind))
        .collect();
    let claims = rows(&data.join("claims"));
    let attributes: HashSet<&str> = claims.iter().map(|[attribute, ..]| attribute.as_str()).collect();
    assert!(kind_of.keys().all(|attribute| attributes.contains(attribute)), "an attribute that is not in data/claims");
    let of_a_kind = |[attribute, _, sentence]: &[String; 3]| {
        Some(sample(kind_of.get(attribute.as_str())?, None, sentence, encoder))
    };
    claims.iter().filter_map(of_a_kind).collect()
}

fn sample(kind: &str, special: Option<Vec<bool>>, sentence: &str, encoder: &Encoder) -> Sample {
    let vector = &encoder.encode(&[sentence])[0];
    let (mut inputs, features) = inputs_and_features(sentence, vector.as_slice());
    inputs[..DIMENSIONS].iter_mut().for_each(|input| *input *= VECTOR_SCALE);
    Sample { kind: AboutKind::parse(kind).expect("a kind").index(), special, inputs, features }
}

/// Five times, fits weights to four fifths of the samples and tests them with the remaining fifth, a different one each
/// time. Tested with the sentences that are labelled with categories only, because many of those in `data/claims` say
/// nearly the same.
fn cross_validate(samples: &[Sample], input_set: InputSet, name: &str) {
    let (mut right_kinds, mut tested_count) = (0, 0);
    let (mut found_count, mut wanted_count, mut right_count) = (0, 0, 0);
    for fold in 0..FOLDS {
        let (tested, others): (Vec<usize>, Vec<usize>) = (0..samples.len()).partition(|n| n % FOLDS == fold);
        let weights = fit(samples, &others, input_set);
        let (kind_rows, special_rows) = weights.split_at(AboutKind::ALL.len());
        for sample in tested.iter().map(|n| &samples[*n]) {
            let Some(special) = &sample.special else { continue };
            let scores: Vec<f32> = kind_rows.iter().map(|row| row.score(input_set, sample)).collect();
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
            right_kinds += usize::from(best == sample.kind);
            tested_count += 1;
            for (row, shows) in special_rows.iter().zip(special) {
                let says = sigmoid(row.score(input_set, sample)) >= input_set.min_special();
                found_count += usize::from(says);
                wanted_count += usize::from(*shows);
                right_count += usize::from(says && *shows);
            }
        }
    }
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    println!("cross-validated, {name}: kind right {:.3}", share(right_kinds, tested_count));
    println!(
        "special: recall {:.3}, precision {:.3}",
        share(right_count, wanted_count),
        share(right_count, found_count)
    );
}

/// The weights of a regression.
#[derive(Clone)]
struct Row {
    /// The weight of each input, then the bias.
    inputs: Vec<f32>,
    /// The weight of each feature number. Empty if the regression does not use features.
    features: Vec<f32>,
}

impl Row {
    fn zero(inputs: usize, features: usize) -> Self {
        Self { inputs: vec![0.0; inputs + 1], features: vec![0.0; features] }
    }

    fn score(&self, input_set: InputSet, sample: &Sample) -> f32 {
        let of_features: f32 = sample.features.iter().filter_map(|at| self.features.get(usize::from(*at))).sum();
        let (bias, weights) = self.inputs.split_last().unwrap();
        dot(weights, input_set.inputs(sample)) + bias + of_features * feature_value(sample.features.len())
    }
}

/// The inputs that a regression uses.
#[derive(Clone, Copy)]
enum InputSet {
    All,
    Vector,
    Words,
}

impl InputSet {
    const fn min_special(self) -> f32 {
        match self {
            Self::All => MIN_SPECIAL,
            Self::Vector | Self::Words => MIN_SPECIAL_BY_LESS,
        }
    }

    fn inputs(self, sample: &Sample) -> &[f32] {
        match self {
            Self::All => &sample.inputs,
            Self::Vector => &sample.inputs[..DIMENSIONS],
            Self::Words => &sample.inputs[DIMENSIONS..],
        }
    }

    /// The decay of the weight of the input at this position.
    const fn decay(self, decay: Decay, at: usize) -> f32 {
        match self {
            Self::All | Self::Vector if at < DIMENSIONS => decay.vector,
            _ => decay.words,
        }
    }

    fn zero(self, sample: &Sample) -> Row {
        let features = if matches!(self, Self::Vector) { 0 } else { FEATURE_COUNT };
        Row::zero(self.inputs(sample).len(), features)
    }
}

/// Fits the rows of weights: first one row for each kind, then one for each special category.
fn fit(samples: &[Sample], chosen: &[usize], input_set: InputSet) -> Vec<Row> {
    let samples: Vec<&Sample> = chosen.iter().map(|n| &samples[*n]).collect();
    let even = vec![1.0; samples.len()];
    let of_kind: Vec<Vec<f32>> = samples
        .iter()
        .map(|sample| AboutKind::ALL.map(|kind| f32::from(kind.index() == sample.kind)).to_vec())
        .collect();
    let mut rows = descend(&samples, input_set, &of_kind, &even, KIND_DECAY, softmax);
    let (samples, special): (Vec<&Sample>, Vec<&Vec<bool>>) =
        samples.into_iter().filter_map(|sample| Some((sample, sample.special.as_ref()?))).unzip();
    for class in 0..Special::ALL.len() {
        let shows: Vec<Vec<f32>> = special.iter().map(|shown| vec![f32::from(shown[class])]).collect();
        let positive = shows.iter().map(|one| one[0]).sum::<f32>();
        let half = samples.len() as f32 / 2.0;
        let importance_of = |share: f32| BALANCE * half / share + 1.0 - BALANCE;
        let (shown_importance, other_importance) =
            (importance_of(positive), importance_of(samples.len() as f32 - positive));
        let importance: Vec<f32> =
            shows.iter().map(|one| if one[0] > 0.0 { shown_importance } else { other_importance }).collect();
        rows.extend(descend(&samples, input_set, &shows, &importance, SPECIAL_DECAY, |scores| {
            scores.iter_mut().for_each(|score| *score = sigmoid(*score));
        }));
    }
    rows
}

/// Minimises the mean loss by gradient descent with Nesterov's momentum. The bias is not pulled to 0.
fn descend(
    samples: &[&Sample],
    input_set: InputSet,
    targets: &[Vec<f32>],
    importance: &[f32],
    decay: Decay,
    to_probabilities: fn(&mut [f32]),
) -> Vec<Row> {
    const STEP: f32 = 0.8;
    let n = samples.len() as f32;
    let zero = input_set.zero(samples[0]);
    let mut weights = vec![zero.clone(); targets[0].len()];
    let mut before = weights.clone();
    for round in 0..ROUNDS {
        let momentum = round as f32 / (round as f32 + 3.0);
        let mut lookahead = weights.clone();
        for (lookahead, before) in lookahead.iter_mut().zip(&before) {
            let extrapolate = |now: &mut f32, old: &f32| *now += momentum * (*now - old);
            lookahead.inputs.iter_mut().zip(&before.inputs).for_each(|(now, old)| extrapolate(now, old));
            lookahead.features.iter_mut().zip(&before.features).for_each(|(now, old)| extrapolate(now, old));
        }
        let mut gradient = vec![zero.clone(); lookahead.len()];
        for ((sample, target), importance) in samples.iter().zip(targets).zip(importance) {
            let mut scores: Vec<f32> = lookahead.iter().map(|row| row.score(input_set, sample)).collect();
            to_probabilities(&mut scores);
            let value = feature_value(sample.features.len());
            for ((row, probability), target) in gradient.iter_mut().zip(scores).zip(target) {
                let error = (probability - target) * importance / n;
                let (bias, slopes) = row.inputs.split_last_mut().unwrap();
                *bias += error;
                slopes.iter_mut().zip(input_set.inputs(sample)).for_each(|(slope, input)| *slope += error * input);
                for at in &sample.features {
                    if let Some(slope) = row.features.get_mut(usize::from(*at)) {
                        *slope += error * value;
                    }
                }
            }
        }
        before = weights;
        weights = lookahead;
        for (row, slopes) in weights.iter_mut().zip(&gradient) {
            let step = |weight: &mut f32, slope: &f32, decay: f32| *weight -= STEP * (slope + decay / n * *weight);
            let last = row.inputs.len() - 1;
            for (at, (weight, slope)) in row.inputs.iter_mut().zip(&slopes.inputs).enumerate() {
                step(weight, slope, if at == last { 0.0 } else { input_set.decay(decay, at) });
            }
            let features = row.features.iter_mut().zip(&slopes.features);
            features.for_each(|(weight, slope)| step(weight, slope, decay.features));
        }
    }
    weights
}

/// The dot product of two vectors, summed in eight accumulators that the processor can compute at once.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (a, b) in a.0.iter().zip(b.0) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum::<f32>() + a.1.iter().zip(b.1).map(|(a, b)| a * b).sum::<f32>()
}

/// The content of `data/fitted.bin`: the weights for all inputs and those of the features, then the weights for the
/// vector alone, then those for the words alone and those of the features.
fn stored(samples: &[Sample]) -> Vec<u8> {
    let everything: Vec<usize> = (0..samples.len()).collect();
    let mut bytes = Vec::new();
    for input_set in [InputSet::All, InputSet::Vector, InputSet::Words] {
        let mut rows = fit(samples, &everything, input_set);
        if !matches!(input_set, InputSet::Words) {
            let of_vector = rows.iter_mut().flat_map(|row| &mut row.inputs[..DIMENSIONS]);
            of_vector.for_each(|weight| *weight *= VECTOR_SCALE);
        }
        bytes.extend(rows.iter().flat_map(|row| &row.inputs).flat_map(|weight| weight.to_le_bytes()));
        if !matches!(input_set, InputSet::Vector) {
            add_features(&mut bytes, &rows);
        }
    }
    bytes
}

/// Appends a factor for each row, and then the weights of the features: for each feature number, one weight per row,
/// divided by the row's factor.
fn add_features(bytes: &mut Vec<u8>, rows: &[Row]) {
    let largest = |row: &Row| row.features.iter().fold(f32::MIN_POSITIVE, |most, weight| most.max(weight.abs()));
    let factors: Vec<f32> = rows.iter().map(|row| largest(row) / 127.0).collect();
    bytes.extend(factors.iter().flat_map(|factor| factor.to_le_bytes()));
    for at in 0..FEATURE_COUNT {
        let shares = rows.iter().zip(&factors).map(|(row, factor)| (row.features[at] / factor).round() as i8);
        bytes.extend(shares.map(i8::cast_unsigned));
    }
}

fn sigmoid(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

fn softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let total: f32 = scores.iter().sum();
    scores.iter_mut().for_each(|score| *score /= total);
}
