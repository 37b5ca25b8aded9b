//! Tests for contradictions in memories that were not used to write the rules. They use the vectors of the real encoder
//! if its weights are present (`MEMENTORY_WEIGHTS_DIR`), and also the words alone.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
use mementory_insight::{Statement, contradictions};
use mementory_meaning::Encoder;
use std::collections::HashSet;

#[path = "../../mementory-meaning/tests/common/mod.rs"]
mod common;

const LIFE: &str = include_str!("data/life.tsv");
const DAY: i64 = 86_400_000_000;

struct Life {
    names: Vec<&'static str>,
    days: Vec<i64>,
    texts: Vec<&'static str>,
    wanted: HashSet<(usize, usize)>,
    arguable: HashSet<(usize, usize)>,
}

fn life() -> Life {
    let (mut names, mut days, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut wanted, mut arguable) = (HashSet::new(), HashSet::new());
    for line in LIFE.lines().filter(|line| !line.starts_with('#')) {
        let [first, second, third] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let position = |name: &str| names.iter().position(|other| *other == name).unwrap();
        let pair = || (position(second).min(position(third)), position(second).max(position(third)));
        match first {
            "+" => drop(wanted.insert(pair())),
            "?" => drop(arguable.insert(pair())),
            "-" => drop(pair()),
            name => {
                names.push(name);
                days.push(second.parse::<i64>().unwrap() * DAY);
                texts.push(third);
            }
        }
    }
    Life { names, days, texts, wanted, arguable }
}

/// Precision (the share of the found pairs that are right) and recall (the share of the wanted pairs that were found).
fn figures(life: &Life, vectors: &[Vec<f32>]) -> (f64, f64) {
    let statements: Vec<Statement<'_>> =
        life.texts.iter().zip(&life.days).map(|(text, at)| Statement { text, at: Some(*at) }).collect();
    let found: Vec<(usize, usize)> = contradictions(&statements, vectors)
        .into_iter()
        .map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)))
        .filter(|pair| !life.arguable.contains(pair))
        .collect();
    let right = found.iter().filter(|pair| life.wanted.contains(pair)).count();
    for (a, b) in found.iter().filter(|pair| !life.wanted.contains(pair)) {
        println!("wrong: {} {}", life.names[*a], life.names[*b]);
    }
    for (a, b) in life.wanted.iter().filter(|pair| !found.contains(pair)) {
        println!("missed: {} {}", life.names[*a], life.names[*b]);
    }
    (right as f64 / found.len().max(1) as f64, right as f64 / life.wanted.len() as f64)
}

#[test]
fn contradictions_of_a_life_are_found_by_meaning() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    let life = life();
    let vectors: Vec<Vec<f32>> = encoder.encode(&life.texts).iter().map(|vector| vector.as_slice().to_vec()).collect();
    let (precision, recall) = figures(&life, &vectors);
    println!("precision {precision:.2}, recall {recall:.2}");
    assert!(precision >= 0.85, "precision {precision}");
    assert!(recall >= 0.45, "recall {recall}");
}

#[test]
fn without_vectors_the_words_alone_are_rarely_wrong() {
    let (precision, recall) = figures(&life(), &[]);
    println!("precision {precision:.2}, recall {recall:.2}");
    assert!(precision >= 0.8, "precision {precision}");
    // Vectors of another encoder are ignored. They are recognised by their number of dimensions.
    let life = life();
    let short = vec![vec![1.0]; life.texts.len()];
    assert_eq!(figures(&life, &short), figures(&life, &[]));
}

#[test]
fn many_statements_of_one_attribute_take_a_bounded_number_of_comparisons() {
    let texts: Vec<String> = (0..3000).map(|n| format!("Is {n} years old.")).collect();
    let statements: Vec<Statement<'_>> = texts.iter().map(|text| Statement { text, at: None }).collect();
    let same = vec![vec![0.044_194_174; 512]; texts.len()];
    assert!(contradictions(&statements, &same).len() <= 2000);
    assert!(contradictions(&statements, &vec![vec![f32::NAN; 512]; texts.len()]).len() <= 2000);
}
