//! Compares the pairs of texts in `pairs.tsv`. Each result must match the one that was assigned by hand.
use mementory_similar::{Comparison, Form, compare};

#[test]
fn every_pair_compares_as_classified() {
    let mut wrong_results = Vec::new();
    let mut count = 0;
    for line in include_str!("pairs.tsv").lines().filter(|l| !l.starts_with('#')) {
        let [expected, a, b] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let comparison = compare(&Form::new(a), &Form::new(b));
        let result = match comparison {
            Comparison::Same => "same",
            Comparison::Near(score) if score >= mementory_similar::THRESHOLD => "near",
            _ => "apart",
        };
        assert_eq!(comparison, compare(&Form::new(b), &Form::new(a)), "{line}");
        if result != expected {
            wrong_results.push(format!("{line}: {comparison:?}"));
        }
        count += 1;
    }
    assert!(wrong_results.is_empty(), "{} of {count} wrong:\n{}", wrong_results.len(), wrong_results.join("\n"));
    assert!(count > 80, "{count} pairs");
}
