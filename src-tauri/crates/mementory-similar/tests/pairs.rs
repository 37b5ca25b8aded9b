//! Pairs judged by hand (`pairs.tsv`).
use mementory_similar::{Comparison, Form, compare};

#[test]
fn every_pair_is_what_the_table_says() {
    let mut wrong = Vec::new();
    let mut judged = 0;
    for line in include_str!("pairs.tsv").lines().filter(|l| !l.starts_with('#')) {
        let [expected, a, b] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let answer = compare(&Form::new(a), &Form::new(b));
        let told = match answer {
            Comparison::Same => "same",
            Comparison::Near(score) if score >= mementory_similar::THRESHOLD => "near",
            _ => "apart",
        };
        assert_eq!(answer, compare(&Form::new(b), &Form::new(a)), "{line}");
        if told != expected {
            wrong.push(format!("{line}: {answer:?}"));
        }
        judged += 1;
    }
    assert!(wrong.is_empty(), "{} of {judged} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(judged > 80, "{judged} pairs");
}
