//! Tests for contradictions in memories of invented people ("lives"). The tests use the vectors of the real encoder if
//! its weights are present (`MEMENTORY_WEIGHTS_DIR`), and also the words alone.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
use mementory_insight::{Statement, contradictions, evidence_of};
use mementory_meaning::Encoder;
use std::collections::HashSet;

#[path = "../../mementory-meaning/tests/common/mod.rs"]
mod common;

const LIFE: &str = include_str!("data/life.tsv");
/// Lives that were used to extend the rules.
const TUNED: [&str; 15] = [
    include_str!("data/lives/baker.tsv"),
    include_str!("data/lives/biologist.tsv"),
    include_str!("data/lives/boat_builder.tsv"),
    include_str!("data/lives/cabinet_maker.tsv"),
    include_str!("data/lives/gardener.tsv"),
    include_str!("data/lives/grandmother.tsv"),
    include_str!("data/lives/illustrator.tsv"),
    include_str!("data/lives/joiner.tsv"),
    include_str!("data/lives/nurse.tsv"),
    include_str!("data/lives/paramedic.tsv"),
    include_str!("data/lives/programmer.tsv"),
    include_str!("data/lives/scientist.tsv"),
    include_str!("data/lives/teacher.tsv"),
    include_str!("data/lives/tester.tsv"),
    include_str!("data/lives/tram_driver.tsv"),
];
/// A life that was labelled before the rules were changed for it. Causes of its missed contradictions have been studied
/// since.
const OPTICIAN: &str = include_str!("data/lives/optician.tsv");
/// The memories of the demonstration vault, with few contradictions and many similar statements. The weights were also
/// fitted to them.
const DEMONSTRATION: &str = include_str!("data/lives/ferry_planner.tsv");
/// A life that was written without knowledge of the rules. Classes of errors that were seen in it have been corrected
/// since.
const VETERINARIAN: &str = include_str!("data/lives/veterinarian.tsv");
/// A life that was written without knowledge of the rules, in the styles of several assistants and agents. Classes of
/// errors that were seen in it have been corrected since.
const PRIMARY_TEACHER: &str = include_str!("data/lives/primary_teacher.tsv");
/// A life that was written without knowledge of the rules. Classes of errors that were seen in it have been corrected
/// since.
const TURBINE_TECHNICIAN: &str = include_str!("data/lives/turbine_technician.tsv");
/// A life in the styles of several assistants and agents whose errors nobody has read. Only its figures are printed.
const SHIPS_ENGINEER: &str = include_str!("data/lives/kept_ships_engineer.tsv");
/// Lives that were written after the rules were last changed, by somebody who had not read them. Only their figures are
/// printed.
const WINE_MERCHANT: &str = include_str!("data/lives/kept_wine_merchant.tsv");
const DENTAL_TECHNICIAN: &str = include_str!("data/lives/kept_dental_technician.tsv");
/// Lives of a later author, who had not read the rules but the tests with their example sentences. Only their figures
/// are printed.
const FERRY_CAPTAIN: &str = include_str!("data/lives/kept_ferry_captain.tsv");
const KINDERGARTEN_TEACHER: &str = include_str!("data/lives/kept_kindergarten_teacher.tsv");
/// The two halves of a life that was written without knowledge of the rules. The missed contradictions of the second
/// half are not printed.
const ARCHIVIST: &str = include_str!("data/lives/archivist.tsv");
const KEPT_ARCHIVIST: &str = include_str!("data/lives/kept_archivist.tsv");
/// Lives that are only for measuring. Do not adjust the rules to them.
const KEPT: [&str; 5] = [
    include_str!("data/lives/kept_arborist.tsv"),
    include_str!("data/lives/kept_customs_officer.tsv"),
    include_str!("data/lives/kept_potter.tsv"),
    include_str!("data/lives/kept_receptionist.tsv"),
    include_str!("data/lives/kept_sound_engineer.tsv"),
];
const DAY: i64 = 86_400_000_000;
/// The days in the files are counted from 1 January 2022, which is this many days after 1 January 1970.
const FIRST_DAY: i64 = 18_993;

struct Life {
    names: Vec<&'static str>,
    times: Vec<Option<i64>>,
    texts: Vec<&'static str>,
    wanted: HashSet<(usize, usize)>,
    arguable: HashSet<(usize, usize)>,
    /// True if nobody may read the errors of this life.
    is_unread: bool,
}

impl Life {
    fn position(&self, name: &str) -> usize {
        self.names.iter().position(|other| *other == name).unwrap()
    }

    fn statements(&self) -> Vec<Statement<'_>> {
        self.texts.iter().zip(&self.times).map(|(text, at)| Statement { text, at: *at }).collect()
    }
}

fn life(file: &'static str) -> Life {
    let (mut names, mut times, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut wanted, mut arguable) = (HashSet::new(), HashSet::new());
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let [first, second, third] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        let position = |name: &str| names.iter().position(|other| *other == name).unwrap();
        let pair = || (position(second).min(position(third)), position(second).max(position(third)));
        match first {
            "+" => drop(wanted.insert(pair())),
            "?" => drop(arguable.insert(pair())),
            "-" => drop(pair()),
            name => {
                names.push(name);
                times.push((second != "?").then(|| (second.parse::<i64>().unwrap() + FIRST_DAY) * DAY));
                texts.push(third);
            }
        }
    }
    let unread =
        [SHIPS_ENGINEER, KEPT_ARCHIVIST, WINE_MERCHANT, DENTAL_TECHNICIAN, FERRY_CAPTAIN, KINDERGARTEN_TEACHER];
    let is_unread = unread.contains(&file);
    Life { names, times, texts, wanted, arguable, is_unread }
}

/// Precision (the share of the found pairs that are right) and recall (the share of the wanted pairs that were found).
fn figures(life: &Life, vectors: &[Vec<f32>]) -> (f64, f64) {
    let (right, found) = count(life, vectors);
    (right as f64 / found.max(1) as f64, right as f64 / life.wanted.len() as f64)
}

/// Precision and recall over several lives, with vectors.
fn figures_of_all(files: &[&'static str], encoder: &Encoder) -> (f64, f64) {
    let (mut right, mut found, mut wanted) = (0, 0, 0);
    for file in files {
        let life = life(file);
        let (right_in_life, found_in_life) = count(&life, &encoded(&life, encoder));
        let (wanted_in_life, wrong) = (life.wanted.len(), found_in_life - right_in_life);
        println!("{right_in_life} of {wanted_in_life} found, {wrong} wrong in: {}", file.lines().next().unwrap());
        right += right_in_life;
        found += found_in_life;
        wanted += life.wanted.len();
    }
    (right as f64 / found.max(1) as f64, right as f64 / wanted as f64)
}

fn encoded(life: &Life, encoder: &Encoder) -> Vec<Vec<f32>> {
    encoder.encode(&life.texts).iter().map(|vector| vector.as_slice().to_vec()).collect()
}

/// Number of found pairs that are right, and number of all found pairs. Pairs on which people disagree are not counted.
fn count(life: &Life, vectors: &[Vec<f32>]) -> (usize, usize) {
    let found_pairs: Vec<(usize, usize)> = contradictions(&life.statements(), vectors)
        .into_iter()
        .map(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)))
        .filter(|pair| !life.arguable.contains(pair))
        .collect();
    let right = found_pairs.iter().filter(|pair| life.wanted.contains(pair)).count();
    if life.is_unread {
        return (right, found_pairs.len());
    }
    for (a, b) in found_pairs.iter().filter(|pair| !life.wanted.contains(pair)) {
        println!("wrong: {} {}", life.names[*a], life.names[*b]);
    }
    for (a, b) in life.wanted.iter().filter(|pair| !found_pairs.contains(pair)) {
        println!("missed: {} {}", life.names[*a], life.names[*b]);
    }
    (right, found_pairs.len())
}

#[test]
fn contradictions_of_a_life_are_found_by_meaning() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    let life = life(LIFE);
    let (precision, recall) = figures(&life, &encoded(&life, &encoder));
    println!("precision {precision:.2}, recall {recall:.2}");
    assert!(precision >= 0.9, "precision {precision}");
    assert!(recall >= 0.88, "recall {recall}");
}

#[test]
fn contradictions_of_further_lives_are_found_by_meaning() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    // The name of each set, its lives, and the lowest allowed precision and recall. All figures are printed before any
    // is checked.
    let sets: [(&str, &[&'static str], f64, f64); 14] = [
        ("tuned", &TUNED, 0.9, 0.8),
        ("kept", &KEPT, 0.88, 0.57),
        ("demonstration", &[DEMONSTRATION], 0.9, 0.5),
        ("optician", &[OPTICIAN], 0.93, 0.75),
        ("veterinarian", &[VETERINARIAN], 0.95, 0.85),
        ("primary teacher", &[PRIMARY_TEACHER], 0.9, 0.62),
        ("turbine technician", &[TURBINE_TECHNICIAN], 0.94, 0.73),
        ("ship's engineer", &[SHIPS_ENGINEER], 0.88, 0.69),
        ("wine merchant", &[WINE_MERCHANT], 0.74, 0.46),
        ("dental technician", &[DENTAL_TECHNICIAN], 0.84, 0.44),
        ("ferry captain", &[FERRY_CAPTAIN], 0.5, 0.31),
        ("kindergarten teacher", &[KINDERGARTEN_TEACHER], 0.58, 0.29),
        ("archivist", &[ARCHIVIST], 0.95, 0.78),
        ("archivist, kept half", &[KEPT_ARCHIVIST], 0.89, 0.61),
    ];
    let figures = sets.map(|(name, lives, ..)| {
        let (precision, recall) = figures_of_all(lives, &encoder);
        println!("{name}: precision {precision:.2}, recall {recall:.2}");
        (precision, recall)
    });
    for ((name, _, min_precision, min_recall), (precision, recall)) in sets.into_iter().zip(figures) {
        assert!(precision >= min_precision, "{name}: precision {precision}");
        assert!(recall >= min_recall, "{name}: recall {recall}");
    }
}

#[test]
fn a_repetition_is_not_a_contradiction() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    let life = life(DEMONSTRATION);
    let repeated = (life.position("f41"), life.position("f121"));
    let found = contradictions(&life.statements(), &encoded(&life, &encoder));
    assert!(found.iter().all(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)) != repeated));
}

/// True if the pair with these names is found in a life.
fn is_found(file: &'static str, one: &str, other: &str, encoder: &Encoder) -> bool {
    let life = life(file);
    let wanted = (life.position(one), life.position(other));
    let found = contradictions(&life.statements(), &encoded(&life, encoder));
    found.iter().any(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)) == wanted)
}

#[test]
fn a_moved_date_is_found_although_the_evidence_is_weak() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    assert!(is_found(DEMONSTRATION, "f75", "f127", &encoder));
}

#[test]
fn another_relative_at_the_start_does_not_exclude_a_contradiction() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    assert!(is_found(LIFE, "cat1", "cat2", &encoder));
    assert!(is_found(VETERINARIAN, "k1a", "k2b", &encoder));
}

/// A life with two statements about one instrument in two languages. They share no word, no attribute of `data/claims`
/// and no near sample sentence.
const TRAM_DRIVER: &str = include_str!("data/lives/tram_driver.tsv");

#[test]
fn statements_about_the_same_thing_are_compared_even_if_no_sample_sentence_is_near_both() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    let life = life(TRAM_DRIVER);
    let wanted = (life.position("m38"), life.position("m39"));
    let compared = evidence_of(&life.statements(), &encoded(&life, &encoder));
    assert!(compared.iter().any(|(a, b, ..)| (*a, *b) == wanted));
}

/// A life with a home in two cities, in two languages, whose vectors do not show that both are homes.
const CUSTOMS_OFFICER: &str = include_str!("data/lives/kept_customs_officer.tsv");

#[test]
fn evidence_does_not_overrule_two_values_that_patterns_read() {
    let Some(folder) = common::weights() else { return };
    let encoder = Encoder::open(&folder).unwrap();
    let life = life(CUSTOMS_OFFICER);
    let (older, newer) = (life.position("home2b"), life.position("home4c"));
    let found = contradictions(&life.statements(), &encoded(&life, &encoder));
    assert!(found.iter().any(|pair| (pair.a, pair.b) == (older, newer)));
}

#[test]
fn without_vectors_the_words_alone_are_rarely_wrong() {
    let (precision, recall) = figures(&life(LIFE), &[]);
    println!("precision {precision:.2}, recall {recall:.2}");
    assert!(precision >= 0.8, "precision {precision}");
    // Vectors of another encoder are ignored. They are recognised by their number of dimensions.
    let life = life(LIFE);
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

#[test]
fn a_denied_visit_is_compared_however_many_newer_visits_there_are() {
    let names = ('a'..='z').flat_map(|first| ['a', 'e', 'o'].map(|second| format!("Z{first}{second}nor")));
    let visits = names.map(|name| format!("Visited {name} in June."));
    let texts: Vec<String> = ["Has never been to Iceland.", "Flew to Iceland in June."]
        .map(str::to_owned)
        .into_iter()
        .chain(visits)
        .collect();
    let at = |n: usize| Some((FIRST_DAY + n as i64) * DAY);
    let statements: Vec<Statement<'_>> =
        texts.iter().enumerate().map(|(n, text)| Statement { text, at: at(n) }).collect();
    let found = contradictions(&statements, &[]);
    assert_eq!(found.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>(), [(0, 1)]);
}
