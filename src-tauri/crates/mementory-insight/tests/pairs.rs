//! Tests whether two memories are found to contradict each other, for each pair separately. One test needs the weights of
//! the real encoder (`MEMENTORY_WEIGHTS_DIR`). Developers can set `MEMENTORY_PAIRS` to another file of pairs.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
use mementory_insight::{Statement, contradictions};
use mementory_meaning::Encoder;

#[path = "../../mementory-meaning/tests/common/mod.rs"]
mod common;

const PAIRS: &str = include_str!("data/pairs.tsv");
/// Pairs whose forms the rules by words know.
const WORD_PAIRS: &str = include_str!("data/word_pairs.tsv");
const YEAR: i64 = 365 * 86_400_000_000;

struct Pair<'t> {
    contradict: bool,
    texts: [&'t str; 2],
}

impl Pair<'_> {
    /// True if the two memories are found to contradict each other.
    fn is_found(&self, vectors: &[Vec<f32>]) -> bool {
        let statement = |(n, text)| Statement { text, at: Some((n as i64 + 50) * YEAR) };
        let statements: Vec<Statement<'_>> = self.texts.into_iter().enumerate().map(statement).collect();
        !contradictions(&statements, vectors).is_empty()
    }
}

fn pairs(file: &str) -> Vec<Pair<'_>> {
    let mut out = Vec::new();
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let [sign, older, newer] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        out.push(Pair { contradict: sign == "+", texts: [older, newer] });
    }
    out
}

/// Precision and recall over pairs, each of which is judged separately.
fn figures(pairs: &[Pair<'_>], encoder: &Encoder) -> (f64, f64) {
    let (mut right, mut wrong, mut missed) = (0, 0, 0);
    for pair in pairs {
        let vectors: Vec<Vec<f32>> =
            encoder.encode(&pair.texts).iter().map(|vector| vector.as_slice().to_vec()).collect();
        let is_contradiction = pair.is_found(&vectors);
        match (is_contradiction, pair.contradict) {
            (true, true) => right += 1,
            (true, false) => wrong += 1,
            (false, true) => missed += 1,
            (false, false) => {}
        }
        if is_contradiction != pair.contradict {
            println!("{}: {} | {}", if is_contradiction { "wrong" } else { "missed" }, pair.texts[0], pair.texts[1]);
        }
    }
    (f64::from(right) / f64::from((right + wrong).max(1)), f64::from(right) / f64::from((right + missed).max(1)))
}

#[test]
fn contradictions_among_pairs_of_many_lives_are_found() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    let other = std::env::var_os("MEMENTORY_PAIRS").map(|path| std::fs::read_to_string(path).unwrap());
    let pairs = pairs(other.as_deref().unwrap_or(PAIRS));
    let (precision, recall) = figures(&pairs, &encoder);
    println!("{} pairs: precision {precision:.2}, recall {recall:.2}", pairs.len());
    if other.is_none() {
        assert!(pairs.len() >= 160);
        assert!(precision >= 0.94, "precision {precision}");
        assert!(recall >= 0.75, "recall {recall}");
    }
}

#[test]
fn words_alone_show_each_form_of_a_contradiction_that_the_rules_know() {
    let wrong: Vec<[&str; 2]> = pairs(WORD_PAIRS)
        .into_iter()
        .filter(|pair| pair.is_found(&[]) != pair.contradict)
        .map(|pair| pair.texts)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
