//! Measures precision and recall of the scan for each class with 5,000 labelled texts.
//!
//! Texts and values are generated. `set.rs` lists the kinds of values that are left out because people would disagree
//! on their labels. `SCAN_SEED=7` generates another set, `SCAN_MISSES=20` prints the first errors of each class, and
//! `SCAN_SAMPLE=5` prints the first texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod blocks;
mod forms_code;
mod forms_config;
mod forms_documents;
mod forms_shell;
mod ids_europe;
mod ids_world;
mod keys;
mod measure;
mod money;
mod passwords;
mod people;
mod phones;
mod prose;
mod prose_east;
mod prose_memory;
mod prose_south;
mod prose_west;
mod rng;
mod set;
mod set_checks;
mod slots;
mod text;
mod validate;
mod validate_world;

const DEFAULT_SEED: u64 = 20_261_122;
const TEXT_COUNT: usize = 5_000;
const MIN_SCORE: f64 = 0.95;

fn env_number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().expect("a number"))
}

#[test]
fn every_class_reaches_the_required_precision_and_recall() {
    let set = set::generate(env_number("SCAN_SEED").unwrap_or(DEFAULT_SEED), TEXT_COUNT);
    for sample in set.iter().take(env_number("SCAN_SAMPLE").unwrap_or(0) as usize) {
        println!("--- {}\n{}\n{:?}", sample.about, sample.text, sample.values);
    }
    let scores = measure::measure(&set, mementory_scan::scan);
    let misses = env_number("SCAN_MISSES").unwrap_or(0) as usize;
    for (class, score) in &scores {
        for miss in score.misses.iter().take(misses) {
            println!("{:<12} {miss}", class.as_str());
        }
    }
    println!("{}", measure::score_table(&scores));
    let classes_below_minimum: Vec<&str> = (scores.iter())
        .filter(|(_, score)| score.precision() < MIN_SCORE || score.recall() < MIN_SCORE)
        .map(|(class, _)| class.as_str())
        .collect();
    assert!(
        classes_below_minimum.is_empty(),
        "precision or recall under {MIN_SCORE}: {classes_below_minimum:?}\n{}",
        measure::score_table(&scores)
    );
}
