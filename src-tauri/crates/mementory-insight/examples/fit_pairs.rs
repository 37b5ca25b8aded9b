//! Fits the weights in `data/evidence.tsv` (a logistic regression) to the pairs in `tests/data/lives` and
//! `tests/data/pairs.tsv`. Each file in `lives` contains the invented memories of one person. Also prints how well
//! weights predict pairs in files to which they were not fitted. Usage: `MEMENTORY_WEIGHTS_DIR=FOLDER cargo run -p
//! mementory-insight --example fit_pairs`.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers")]
use mementory_insight::{Statement, evidence_of};
use mementory_meaning::Encoder;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// How strongly large weights are penalised. Chosen by cross-validation.
const PENALTY: f64 = 1.0 / 0.03;
/// Number of steps of Newton's method. After eight steps, the weights no longer change.
const STEPS: usize = 12;
/// Thresholds of the probability for which precision and recall are printed.
const THRESHOLDS: [f64; 4] = [0.5, 0.6, 0.7, 0.8];
/// Number of parts into which the pairs are divided for cross-validation.
const FOLDS: usize = 8;
/// The days in the files are counted from 1 January 2022, which is this many days after 1 January 1970.
const FIRST_DAY: i64 = 18_993;
/// A day and a year in microseconds.
const DAY: i64 = 86_400_000_000;
const YEAR: i64 = 365 * DAY;

/// A compared pair of statements.
struct Row {
    numbers: Vec<f64>,
    is_contradiction: bool,
    /// True if the pair is never suggested, whatever its features are.
    both_can_hold: bool,
}

/// The compared pairs of one vault.
#[derive(Default)]
struct Set {
    rows: Vec<Row>,
    /// Number of labelled contradictions, including those whose statements are not compared.
    wanted: usize,
}

struct Model {
    weights: Vec<f64>,
    bias: f64,
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let weights = std::env::var_os("MEMENTORY_WEIGHTS_DIR").expect("MEMENTORY_WEIGHTS_DIR");
    let encoder = Encoder::open(Path::new(&weights)).expect("the weights of the encoder");
    let mut names = Vec::new();
    let mut lives = Vec::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("tests/data/lives")).unwrap().map(|file| file.unwrap().path()).collect();
    files.push(folder.join("tests/data/life.tsv"));
    files.sort();
    // The weights are not fitted to a file whose name begins with `kept`. It is used only for measuring.
    files.retain(|file| !file.file_name().unwrap().to_string_lossy().starts_with("kept"));
    for file in &files {
        lives.push(life(&std::fs::read_to_string(file).unwrap(), &encoder, &mut names));
    }
    let pairs = pairs(&std::fs::read_to_string(folder.join("tests/data/pairs.tsv")).unwrap(), &encoder, &mut names);
    cross_validate(&lives, &pairs, &files);
    let fitted = fit(&lives.iter().chain(&pairs).collect::<Vec<_>>());
    let mut out = format!("bias\t{:.4}\n", fitted.bias);
    names.iter().zip(&fitted.weights).for_each(|(name, weight)| out.push_str(&format!("{name}\t{weight:.4}\n")));
    std::fs::write(folder.join("data/evidence.tsv"), out).unwrap();
}

fn set(
    statements: &[Statement<'_>],
    wanted: &HashSet<(usize, usize)>,
    ignored: &HashSet<(usize, usize)>,
    encoder: &Encoder,
    names: &mut Vec<&'static str>,
) -> Set {
    let texts: Vec<&str> = statements.iter().map(|statement| statement.text).collect();
    let vectors: Vec<Vec<f32>> = encoder.encode(&texts).iter().map(|vector| vector.as_slice().to_vec()).collect();
    let mut rows = Vec::new();
    for (a, b, both_can_hold, features) in evidence_of(statements, &vectors) {
        *names = features.iter().map(|(name, _)| *name).collect();
        if !ignored.contains(&(a, b)) {
            let numbers = features.iter().map(|(_, number)| f64::from(*number)).collect();
            rows.push(Row { numbers, is_contradiction: wanted.contains(&(a, b)), both_can_hold });
        }
    }
    Set { rows, wanted: wanted.len() }
}

fn life(file: &str, encoder: &Encoder, names: &mut Vec<&'static str>) -> Set {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let (mut statements, mut wanted, mut ignored) = (Vec::new(), HashSet::new(), HashSet::new());
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let [first, second, third] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        match first {
            "+" | "?" | "-" => {
                let (one, other): (usize, usize) = (positions[second], positions[third]);
                let pair = (one.min(other), one.max(other));
                match first {
                    "+" => drop(wanted.insert(pair)),
                    "?" => drop(ignored.insert(pair)),
                    _ => {}
                }
            }
            name => {
                positions.insert(name, statements.len());
                let day = second.parse::<i64>().ok();
                statements.push(Statement { text: third, at: day.map(|day| (day + FIRST_DAY) * DAY) });
            }
        }
    }
    set(&statements, &wanted, &ignored, encoder, names)
}

/// Reads pairs of memories. Each pair is treated as the memories of a separate vault.
fn pairs(file: &str, encoder: &Encoder, names: &mut Vec<&'static str>) -> Vec<Set> {
    let mut out: Vec<Set> = (0..FOLDS).map(|_| Set::default()).collect();
    for (n, line) in file.lines().filter(|line| !line.starts_with('#')).enumerate() {
        let [sign, older, newer] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let statement = |(n, text)| Statement { text, at: Some((n as i64 + 50) * YEAR) };
        let statements: Vec<Statement<'_>> = [older, newer].into_iter().enumerate().map(statement).collect();
        let wanted = if sign == "+" { HashSet::from([(0, 1)]) } else { HashSet::new() };
        let one = set(&statements, &wanted, &HashSet::new(), encoder, names);
        out[n % FOLDS].rows.extend(one.rows);
        out[n % FOLDS].wanted += one.wanted;
    }
    out
}

/// Prints precision and recall of the rule `evidence` alone. Each set is judged by weights that were fitted to the
/// other sets.
fn cross_validate(lives: &[Set], pairs: &[Set], files: &[std::path::PathBuf]) {
    let all: Vec<&Set> = lives.iter().chain(pairs).collect();
    let mut judged: Vec<Vec<(f64, bool)>> = Vec::new();
    for left_out in 0..all.len() {
        let others: Vec<&Set> = (0..all.len()).filter(|n| *n != left_out).map(|n| all[n]).collect();
        let model = fit(&others);
        let suggestible = all[left_out].rows.iter().filter(|row| !row.both_can_hold);
        judged.push(suggestible.map(|row| (model.probability(&row.numbers), row.is_contradiction)).collect());
    }
    let print = |name: &str, sets: &[usize]| {
        let wanted: usize = sets.iter().map(|n| all[*n].wanted).sum();
        for threshold in THRESHOLDS {
            let rows = || sets.iter().flat_map(|n| judged[*n].iter());
            let found = rows().filter(|(probability, _)| *probability >= threshold).count();
            let right = rows().filter(|(probability, right)| *right && *probability >= threshold).count();
            let (precision, recall) = (right as f64 / found.max(1) as f64, right as f64 / wanted.max(1) as f64);
            println!("{name}, at least {threshold}: precision {precision:.2}, recall {recall:.2}");
        }
    };
    println!("{} lives", files.len());
    print("lives", &(0..lives.len()).collect::<Vec<_>>());
    print("pairs", &(lives.len()..all.len()).collect::<Vec<_>>());
}

/// Fits a logistic regression to standardised numbers, with a penalty for the squares of the weights.
fn fit(sets: &[&Set]) -> Model {
    let rows: Vec<&Row> = sets.iter().flat_map(|set| &set.rows).collect();
    let size = rows[0].numbers.len();
    let mean: Vec<f64> =
        (0..size).map(|n| rows.iter().map(|row| row.numbers[n]).sum::<f64>() / rows.len() as f64).collect();
    let deviation: Vec<f64> = (0..size)
        .map(|n| (rows.iter().map(|row| (row.numbers[n] - mean[n]).powi(2)).sum::<f64>() / rows.len() as f64).sqrt())
        .map(|deviation| if deviation < 1e-9 { 1.0 } else { deviation })
        .collect();
    // The last number is 1, for the constant.
    let standardised: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| (0..size).map(|n| (row.numbers[n] - mean[n]) / deviation[n]).chain([1.0]).collect())
        .collect();
    let mut weights = vec![0.0; size + 1];
    for _ in 0..STEPS {
        let mut gradient = vec![0.0; size + 1];
        let mut curvature = vec![vec![0.0; size + 1]; size + 1];
        for (row, Row { is_contradiction, .. }) in standardised.iter().zip(&rows) {
            let probability = 1.0 / (1.0 + (-dot(row, &weights)).exp());
            let error = f64::from(u8::from(*is_contradiction)) - probability;
            let weight = probability * (1.0 - probability);
            for (n, number) in row.iter().enumerate() {
                gradient[n] += error * number;
                let scaled = weight * number;
                curvature[n].iter_mut().zip(&row[..=n]).for_each(|(cell, other)| *cell += scaled * other);
            }
        }
        gradient.iter_mut().zip(&weights).take(size).for_each(|(slope, weight)| *slope -= PENALTY * weight);
        curvature.iter_mut().enumerate().take(size).for_each(|(n, row)| row[n] += PENALTY);
        curvature[size][size] += 1e-6;
        weights.iter_mut().zip(solve(curvature, gradient)).for_each(|(weight, step)| *weight += step);
    }
    let bias = weights[size] - (0..size).map(|n| weights[n] * mean[n] / deviation[n]).sum::<f64>();
    Model { weights: (0..size).map(|n| weights[n] / deviation[n]).collect(), bias }
}

/// Solves a system of linear equations whose matrix is symmetric and positive definite, by the Cholesky factor of the
/// matrix. Only the lower half of the matrix must be given.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    for row in 0..matrix.len() {
        let (above, rest) = matrix.split_at_mut(row);
        let current = &mut rest[0];
        for (column, other) in above.iter().enumerate() {
            current[column] = (current[column] - dot(&current[..column], &other[..column])) / other[column];
        }
        current[row] = (current[row] - dot(&current[..row], &current[..row])).sqrt();
        right[row] = (right[row] - dot(&current[..row], &right[..row])) / current[row];
    }
    for row in (0..matrix.len()).rev() {
        let below: f64 = (row + 1..matrix.len()).map(|n| matrix[n][row] * right[n]).sum();
        right[row] = (right[row] - below) / matrix[row][row];
    }
    right
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Model {
    fn probability(&self, row: &[f64]) -> f64 {
        1.0 / (1.0 + (-dot(row, &self.weights) - self.bias).exp())
    }
}
