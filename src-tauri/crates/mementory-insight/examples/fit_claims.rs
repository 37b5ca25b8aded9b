//! Fits the weights in `data/claims.bin` to the sentences in `data/claims`. The sentences in `data/samples` serve as
//! examples that state no attribute. Also prints how well weights predict sentences to which they were not fitted.
//! Usage: `MEMENTORY_WEIGHTS_DIR=FOLDER cargo run -p mementory-insight --example fit_claims`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use mementory_insight::{DIMENSIONS, pools_values};
use mementory_meaning::Encoder;
use std::collections::BTreeMap;
use std::path::Path;

const FOLDS: usize = 5;
/// Share of the sentences' covariance that is replaced by a covariance with equal variance in every direction. The
/// weights are multiplied by `WEIGHT_FACTOR`. Both values were chosen by cross-validation.
const SHRINKAGE: f64 = 0.9;
const WEIGHT_FACTOR: f64 = 0.02;
/// A sample sentence counts as stating no attribute if the probability of every attribute is below this.
const MAX_BACKGROUND: f64 = 0.5;
/// A sample sentence is added to a cluster if its similarity to the cluster's first sentence is above this. Each
/// cluster gets one row of weights.
const MIN_CLUSTER_SIMILARITY: f64 = 0.3;

struct Sentence {
    /// The attribute, the thing to which it belongs (if any), and the value: `attribute:thing=value`.
    group: String,
    attribute: String,
    vector: Vec<f64>,
}

/// A group with its weights and its bias.
type Row = (String, Vec<f64>, f64);

struct Discriminant {
    rows: Vec<Row>,
}

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let folder = std::env::var_os("MEMENTORY_WEIGHTS_DIR").expect("MEMENTORY_WEIGHTS_DIR");
    let encoder = Encoder::open(Path::new(&folder)).expect("the weights of the encoder");
    let claims = read(&data.join("claims"), &encoder, |columns| {
        let attribute = columns[0].split(':').next().unwrap().to_owned();
        let pooled = pools_values(&attribute) && !["none", "done"].contains(&columns[1]);
        let group = if pooled { format!("{attribute}=any") } else { format!("{}={}", columns[0], columns[1]) };
        (group, attribute)
    });
    let samples = read(&data.join("samples"), &encoder, |_| ("*other=".to_owned(), "*other".to_owned()));
    cross_validate(&claims, &samples);
    let all: Vec<&Sentence> = claims.iter().collect();
    let background = background_of(&all, &samples);
    let fitted = fit(&all, &clusters(&background));
    write(&data, &fitted);
    println!("{} sentences, {} of the background, {} rows", claims.len(), background.len(), fitted.rows.len());
}

fn read(folder: &Path, encoder: &Encoder, label: impl Fn(&[&str]) -> (String, String)) -> Vec<Sentence> {
    let mut out = Vec::new();
    for language in ["en", "de", "ja"] {
        let text = std::fs::read_to_string(folder.join(format!("{language}.tsv"))).unwrap();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns.len(), 3, "{line}");
            let (group, attribute) = label(&columns);
            let vector = encoder.encode(&[columns[2]])[0].as_slice().iter().map(|n| f64::from(*n)).collect();
            out.push(Sentence { group, attribute, vector });
        }
    }
    out
}

/// The sample sentences that probably state no attribute, as judged by weights that were fitted to `claims` alone.
fn background_of<'s>(claims: &[&Sentence], samples: &'s [Sentence]) -> Vec<&'s Sentence> {
    let alone = fit(claims, &[]);
    samples.iter().filter(|sample| alone.attributes(&sample.vector).into_values().all(|p| p < MAX_BACKGROUND)).collect()
}

/// Five times, fits weights to four fifths of the sentences and tests them with the remaining fifth, a different one
/// each time. The background is chosen without the tested sentences, as it is for a statement that nobody has seen.
/// Without a background the figure would be too good: a sentence that the background absorbs would count as right.
fn cross_validate(claims: &[Sentence], samples: &[Sentence]) {
    let (mut right, mut absorbed, mut probable) = (0, 0, 0);
    for fold in 0..FOLDS {
        // Neighbouring lines in the files are similar, so they are distributed over the folds.
        let tested = |n: usize| n.wrapping_mul(2_654_435_761) / 7 % FOLDS == fold;
        let others: Vec<&Sentence> = (0..claims.len()).filter(|n| !tested(*n)).map(|n| &claims[n]).collect();
        let fitted = fit(&others, &clusters(&background_of(&others, samples)));
        for sentence in (0..claims.len()).filter(|n| tested(*n)).map(|n| &claims[n]) {
            let probabilities = fitted.attributes(&sentence.vector);
            let best = probabilities.iter().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
            right += usize::from(*best == sentence.attribute);
            absorbed += usize::from(best == "*other");
            probable += usize::from(probabilities.get(&sentence.attribute).is_some_and(|p| *p >= 0.5));
        }
    }
    let share = |count: usize| count as f64 / claims.len() as f64;
    println!(
        "cross-validated with the background: attribute right {:.3}, probability at least 0.5 {:.3}, taken for none {:.3}",
        share(right),
        share(probable),
        share(absorbed)
    );
}

/// Groups similar sentences. A sentence is added to the group whose first sentence is most similar to it, or begins a
/// new group.
fn clusters<'s>(background: &[&'s Sentence]) -> Vec<Vec<&'s Sentence>> {
    let mut out: Vec<Vec<&Sentence>> = Vec::new();
    for sentence in background {
        let similarity = |cluster: &Vec<&Sentence>| dot(&cluster[0].vector, &sentence.vector);
        match out.iter_mut().max_by(|a, b| similarity(a).total_cmp(&similarity(b))) {
            Some(cluster) if similarity(cluster) > MIN_CLUSTER_SIMILARITY => cluster.push(sentence),
            _ => out.push(vec![sentence]),
        }
    }
    out
}

/// Fits a linear discriminant. The weights of a group are its mean vector, multiplied by the inverse of the covariance
/// within the groups.
fn fit(claims: &[&Sentence], background: &[Vec<&Sentence>]) -> Discriminant {
    let mut groups: BTreeMap<String, Vec<&Sentence>> = BTreeMap::new();
    for sentence in claims {
        groups.entry(sentence.group.clone()).or_default().push(sentence);
    }
    let mut covariance = vec![vec![0.0; DIMENSIONS]; DIMENSIONS];
    for members in groups.values() {
        let mean = mean(members);
        for member in members {
            let off: Vec<f64> = member.vector.iter().zip(&mean).map(|(a, b)| a - b).collect();
            for (row, a) in covariance.iter_mut().zip(&off) {
                row.iter_mut().zip(&off).for_each(|(cell, b)| *cell += a * b / claims.len() as f64);
            }
        }
    }
    let trace: f64 = (0..DIMENSIONS).map(|n| covariance[n][n]).sum();
    for (n, row) in covariance.iter_mut().enumerate() {
        row.iter_mut().for_each(|cell| *cell *= 1.0 - SHRINKAGE);
        row[n] += SHRINKAGE * trace / DIMENSIONS as f64;
    }
    let root = cholesky(covariance);
    groups.extend(background.iter().enumerate().map(|(n, members)| (format!("*other={n:04}"), members.clone())));
    let row = |(group, members): (String, Vec<&Sentence>)| {
        let mean = mean(&members);
        let weights: Vec<f64> = solve(&root, &mean).into_iter().map(|weight| weight * WEIGHT_FACTOR).collect();
        let bias = -0.5 * dot(&weights, &mean);
        (group, weights, bias)
    };
    Discriminant { rows: groups.into_iter().map(row).collect() }
}

impl Discriminant {
    fn attributes(&self, vector: &[f64]) -> BTreeMap<String, f64> {
        let scores: Vec<f64> = self.rows.iter().map(|(_, weights, bias)| dot(weights, vector) + bias).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
        let mut out = BTreeMap::new();
        for ((group, _, _), score) in self.rows.iter().zip(scores) {
            *out.entry(attribute_of(group).to_owned()).or_default() += (score - largest).exp() / total;
        }
        out
    }
}

fn attribute_of(group: &str) -> &str {
    group.split(['=', ':']).next().unwrap_or_default()
}

fn mean(members: &[&Sentence]) -> Vec<f64> {
    (0..DIMENSIONS).map(|n| members.iter().map(|member| member.vector[n]).sum::<f64>() / members.len() as f64).collect()
}

/// The Cholesky factor: the lower triangular matrix whose product with its transpose is the given matrix.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for row in 0..matrix.len() {
        let (above, rest) = matrix.split_at_mut(row);
        let current = &mut rest[0];
        for (column, other) in above.iter().enumerate() {
            current[column] = (current[column] - dot(&current[..column], &other[..column])) / other[column];
        }
        current[row] = (current[row] - dot(&current[..row], &current[..row])).sqrt();
    }
    matrix
}

fn solve(root: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut out = right.to_vec();
    for row in 0..root.len() {
        out[row] = (out[row] - dot(&root[row][..row], &out[..row])) / root[row][row];
    }
    for row in (0..root.len()).rev() {
        let below: f64 = (row + 1..root.len()).map(|n| root[n][row] * out[n]).sum();
        out[row] = (out[row] - below) / root[row][row];
    }
    out
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Writes two files: the rows, with each weight as a signed byte, and the list of attributes, each with its number of
/// rows.
fn write(data: &Path, fitted: &Discriminant) {
    let mut counts: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &fitted.rows {
        counts.entry(attribute_of(&row.0)).or_default().push(row);
    }
    let (mut bytes, mut names) = (Vec::new(), String::new());
    for (attribute, rows) in counts {
        names.push_str(&format!("{attribute}\t{}\n", rows.len()));
        for (_, weights, bias) in rows {
            let scale = weights.iter().fold(0.0f64, |largest, weight| largest.max(weight.abs())) / 127.0;
            bytes.extend((scale as f32).to_le_bytes());
            bytes.extend((*bias as f32).to_le_bytes());
            bytes.extend(weights.iter().map(|weight| ((weight / scale).round() as i8).cast_unsigned()));
        }
    }
    std::fs::write(data.join("claims.bin"), bytes).unwrap();
    std::fs::write(data.join("claims.tsv"), names).unwrap();
}
