//! Fits the weights in `data/fitted.bin` to the sentences in `data/samples` and `data/everyday`. It also prints how well
//! the weights do on sentences to which they were not fitted:
//! `MEMENTORY_WEIGHTS_DIR=FOLDER cargo run -p mementory-insight --example fit`.
//! After a change of the number of inputs, first give `data/fitted.bin` the new length (`truncate -s`), so that it builds.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use mementory_insight::{AboutKind, MIN_SPECIAL, Special, inputs};
use mementory_meaning::Encoder;
use std::path::Path;

const FOLDS: usize = 5;
const ROUNDS: usize = 400;
/// How strongly each step pulls the weights towards 0 (weight decay). Chosen by cross-validation.
const KIND_DECAY: f32 = 0.4;
const SPECIAL_DECAY: f32 = 0.2;
/// The sentences that show a special category are far fewer than the others. At 1 both groups would have the same total
/// weight, at 0 every sentence the same. In between, recall and precision are both high.
const BALANCE: f32 = 0.3;

struct Sample {
    kind: usize,
    special: Vec<bool>,
    inputs: Vec<f32>,
}

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let samples: Vec<Sample> = ["samples", "everyday"].iter().flat_map(|folder| read(&data.join(folder))).collect();
    let everything: Vec<usize> = (0..samples.len()).collect();
    cross_validate(&samples);
    let weights = fit(&samples, &everything);
    let bytes: Vec<u8> = weights.iter().flatten().flat_map(|weight| weight.to_le_bytes()).collect();
    std::fs::write(data.join("fitted.bin"), bytes).unwrap();
    println!("{} samples, {} rows of weights", samples.len(), weights.len());
}

fn read(folder: &Path) -> Vec<Sample> {
    let weights = std::env::var_os("MEMENTORY_WEIGHTS_DIR").expect("MEMENTORY_WEIGHTS_DIR");
    let encoder = Encoder::open(Path::new(&weights)).expect("the weights of the encoder");
    let mut samples = Vec::new();
    for language in ["de", "en", "ja"] {
        let text = std::fs::read_to_string(folder.join(format!("{language}.tsv"))).unwrap();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let [kind, special, sentence] = line.split('\t').collect::<Vec<_>>().try_into().expect("three columns");
            let special: Vec<&str> = special.split(',').map(str::trim).filter(|name| *name != "-").collect();
            assert!(special.iter().all(|name| Special::parse(name).is_some()), "{line}");
            samples.push(Sample {
                kind: AboutKind::parse(kind).expect("a kind").index(),
                special: Special::ALL.map(|class| special.contains(&class.as_str())).to_vec(),
                inputs: inputs(sentence, encoder.encode(&[sentence])[0].as_slice()),
            });
        }
    }
    samples
}

/// Fits the weights to four fifths of the samples and tests them with the remaining fifth. Repeats this five times,
/// each time with another fifth.
fn cross_validate(samples: &[Sample]) {
    let (mut kinds, mut found, mut wanted, mut right) = (0, 0, 0, 0);
    for fold in 0..FOLDS {
        let (tested, others): (Vec<usize>, Vec<usize>) = (0..samples.len()).partition(|n| n % FOLDS == fold);
        let weights = fit(samples, &others);
        let (of_kind, of_special) = weights.split_at(AboutKind::ALL.len());
        for sample in tested.iter().map(|n| &samples[*n]) {
            let scores: Vec<f32> = of_kind.iter().map(|row| score(row, &sample.inputs)).collect();
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
            kinds += usize::from(best == sample.kind);
            for (row, shows) in of_special.iter().zip(&sample.special) {
                let says = sigmoid(score(row, &sample.inputs)) >= MIN_SPECIAL;
                found += usize::from(says);
                wanted += usize::from(*shows);
                right += usize::from(says && *shows);
            }
        }
    }
    let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
    println!("cross-validated: kind right {:.3}", share(kinds, samples.len()));
    println!("special: recall {:.3}, precision {:.3}", share(right, wanted), share(right, found));
}

/// Rows of weights: first one for each kind, then one for each special category. The bias is last in a row.
fn fit(samples: &[Sample], chosen: &[usize]) -> Vec<Vec<f32>> {
    let inputs: Vec<&[f32]> = chosen.iter().map(|n| samples[*n].inputs.as_slice()).collect();
    let even = vec![1.0; chosen.len()];
    let of_kind: Vec<Vec<f32>> = chosen
        .iter()
        .map(|n| AboutKind::ALL.map(|kind| f32::from(kind.index() == samples[*n].kind)).to_vec())
        .collect();
    let mut rows = descend(&inputs, &of_kind, &even, KIND_DECAY, softmax);
    for class in 0..Special::ALL.len() {
        let shows: Vec<Vec<f32>> = chosen.iter().map(|n| vec![f32::from(samples[*n].special[class])]).collect();
        let positive = shows.iter().map(|one| one[0]).sum::<f32>();
        let half = chosen.len() as f32 / 2.0;
        let even_out = |share: f32| BALANCE * half / share + 1.0 - BALANCE;
        let (of_shown, of_others) = (even_out(positive), even_out(chosen.len() as f32 - positive));
        let importance: Vec<f32> = shows.iter().map(|one| if one[0] > 0.0 { of_shown } else { of_others }).collect();
        rows.extend(descend(&inputs, &shows, &importance, SPECIAL_DECAY, |scores| {
            scores.iter_mut().for_each(|score| *score = sigmoid(*score));
        }));
    }
    rows
}

/// Gradient descent with Nesterov's momentum on the mean loss. The bias is not pulled to 0.
fn descend(
    inputs: &[&[f32]],
    targets: &[Vec<f32>],
    importance: &[f32],
    decay: f32,
    to_probabilities: fn(&mut [f32]),
) -> Vec<Vec<f32>> {
    const STEP: f32 = 0.8;
    let (rows, width, n) = (targets[0].len(), inputs[0].len() + 1, inputs.len() as f32);
    let mut weights = vec![vec![0.0f32; width]; rows];
    let mut before = weights.clone();
    for round in 0..ROUNDS {
        let momentum = round as f32 / (round as f32 + 3.0);
        let ahead: Vec<Vec<f32>> = weights
            .iter()
            .zip(&before)
            .map(|(now, old)| now.iter().zip(old).map(|(now, old)| now + momentum * (now - old)).collect())
            .collect();
        let mut gradient = vec![vec![0.0f32; width]; rows];
        for ((input, target), importance) in inputs.iter().zip(targets).zip(importance) {
            let mut scores: Vec<f32> = ahead.iter().map(|row| score(row, input)).collect();
            to_probabilities(&mut scores);
            for ((row, probability), target) in gradient.iter_mut().zip(scores).zip(target) {
                let error = (probability - target) * importance / n;
                for (slope, input) in row.iter_mut().zip(input.iter().chain([&1.0])) {
                    *slope += error * input;
                }
            }
        }
        before = weights;
        weights = ahead;
        for (row, slopes) in weights.iter_mut().zip(&gradient) {
            for (at, (weight, slope)) in row.iter_mut().zip(slopes).enumerate() {
                let pull = if at + 1 == width { 0.0 } else { decay / n * *weight };
                *weight -= STEP * (slope + pull);
            }
        }
    }
    weights
}

fn score(row: &[f32], input: &[f32]) -> f32 {
    row.iter().zip(input).map(|(weight, input)| weight * input).sum::<f32>() + row.last().unwrap()
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
