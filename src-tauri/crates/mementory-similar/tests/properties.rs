//! Tests properties that must hold for all texts. Also measures the grouping of texts that are slow to compare.
#![allow(clippy::print_stdout)] // the tests print measurements
mod generated;

use generated::memories;
use mementory_model::normal_text;
use mementory_similar::{
    Comparison, Form, Group, Key, Similarity, Sketch, THRESHOLD, compare, group_texts, jaccard, sketch, sketches,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn key() -> Key {
    Key::new(&[7; 32])
}

/// A few texts made from a small set of words, so that they are often similar. Some of these words are decisive.
fn similar_texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop::sample::select(vec![
        "User", "the", "I", "likes", "liked", "tea", "Berlin", "berlni", "not", "two", "2", "and", "coffee", "coffe",
        "猫", "が", "好き", "ない", "ü", ".", "🍕", "C++",
    ]);
    let text = prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 0..24)
}

fn groups_as_texts(texts: &[String], groups: &[Group]) -> BTreeSet<Vec<String>> {
    groups
        .iter()
        .map(|g| {
            let mut group_texts: Vec<String> = g.members.iter().map(|i| texts[*i].clone()).collect();
            group_texts.sort();
            group_texts
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_form_and_a_sketch(a in any::<String>(), b in any::<String>()) {
        let (x, y) = (Form::new(&a), Form::new(&b));
        prop_assert_eq!(compare(&x, &y), compare(&y, &x));
        prop_assert_eq!(jaccard(&x, &y), jaccard(&y, &x));
        let sketch_of_a = sketch(&key(), &a);
        prop_assert_eq!(&Sketch::from_bytes(&sketch_of_a.to_bytes()), &Some(sketch_of_a.clone()));
        prop_assert_eq!(&sketches(&key(), &[x])[0], &sketch_of_a);
        group_texts(&key(), &[a.as_str(), b.as_str(), a.as_str()], THRESHOLD);
    }

    /// If the result is `Same`, the texts must be equal under the folding that the vault uses for search and
    /// fingerprints. Conversely, a text that is not empty after folding must be `Same` as a copy that differs only in
    /// case, full stops and spaces.
    #[test]
    fn texts_that_compare_as_same_are_equal_after_folding(a in "[a-zA-ZéÜß .,!\n]{0,24}", b in "[a-zA-ZéÜß .,!\n]{0,24}", c in any::<String>(), d in any::<String>()) {
        for (a, b) in [(&a, &b), (&c, &d)] {
            if compare(&Form::new(a), &Form::new(b)) == Comparison::Same {
                prop_assert_eq!(normal_text(a), normal_text(b));
            }
        }
        let folded = a.to_uppercase().replace(['.', ' '], " . ");
        let is_same = compare(&Form::new(&a), &Form::new(&folded)) == Comparison::Same;
        prop_assert_eq!(is_same, !normal_text(&a).is_empty());
        if is_same {
            prop_assert_eq!(sketch(&key(), &a), sketch(&key(), &folded));
        }
    }

    #[test]
    fn groups_do_not_depend_on_the_order(texts in similar_texts(), rotation in 0_usize..24) {
        let found_groups = group_texts(&key(), &texts, THRESHOLD);
        let mut grouped_texts = BTreeSet::new();
        for group in &found_groups {
            prop_assert!(group.members.len() > 1 && group.members.is_sorted());
            for (position, i) in group.members.iter().enumerate() {
                prop_assert!(grouped_texts.insert(*i), "{} is in two groups", i);
                // Any two members must be near. A chain of texts that are near only to their neighbours is not a group.
                for j in &group.members[position + 1..] {
                    let pair = compare(&Form::new(&texts[*i]), &Form::new(&texts[*j]));
                    prop_assert!(pair.score() >= THRESHOLD, "{:?} {:?} {:?}", texts[*i], texts[*j], pair);
                    prop_assert_eq!(group.similarity == Similarity::Same && pair != Comparison::Same, false);
                }
            }
            // Without the other texts, the members of a group must form the same group again.
            let members: Vec<&String> = group.members.iter().map(|i| &texts[*i]).collect();
            let regrouped = group_texts(&key(), &members, THRESHOLD);
            prop_assert_eq!(regrouped.len(), 1);
            prop_assert_eq!(regrouped[0].members.len(), members.len());
        }
        let mut rotated = texts.clone();
        rotated.rotate_left(rotation % texts.len().max(1));
        rotated.reverse();
        prop_assert_eq!(groups_as_texts(&texts, &found_groups), groups_as_texts(&rotated, &group_texts(&key(), &rotated, THRESHOLD)));
    }
}

#[test]
fn a_different_key_gives_a_different_sketch() {
    let (a, b) = (sketch(&Key::new(&[1; 32]), "Lives in Berlin"), sketch(&Key::new(&[2; 32]), "Lives in Berlin"));
    assert!(!a.same_text(&b));
    assert!(a.estimate_similarity(&b) < 0.05, "{}", a.estimate_similarity(&b));
    assert!(a == sketch(&Key::new(&[1; 32]), "lives in BERLIN!"));
    assert_eq!(format!("{a:?} {:?}", Key::new(&[1; 32])), "Sketch Key");
    assert_eq!(Sketch::from_bytes(&a.to_bytes()[1..]), None);
    let mut newer = a.to_bytes();
    newer[0] += 1;
    assert_eq!(Sketch::from_bytes(&newer), None);
}

#[test]
fn sketches_estimate_the_jaccard_similarity() {
    let texts = memories(400, 3);
    let forms: Vec<Form> = texts.iter().map(|m| Form::new(&m.text)).collect();
    let made = sketches(&key(), &forms);
    let (mut sum, mut pairs) = (0.0, 0);
    for i in 0..forms.len() {
        for j in 0..i {
            let error = made[i].estimate_similarity(&made[j]) - jaccard(&forms[i], &forms[j]);
            assert!(error.abs() < 0.25, "{error} {} / {}", texts[i].text, texts[j].text);
            sum += error;
            pairs += 1;
        }
    }
    assert!((sum / pairs as f32).abs() < 0.01, "off by {} on average", sum / pairs as f32);
}

#[test]
fn texts_at_both_ends_of_a_chain_are_not_grouped() {
    let texts = [
        "Lives in a quiet old house in Berlin",
        "Lives in a quiet old house in Berlin downtown",
        "Lives in a quiet old house in Berlin downtown upstairs",
        "Lives in a quiet old house in Berlin downtown upstairs alone",
        "Lives in a quiet old house in Berlin downtown upstairs alone happily",
    ];
    for group in group_texts(&key(), &texts, 0.75) {
        for (position, i) in group.members.iter().enumerate() {
            for j in &group.members[position + 1..] {
                assert!(compare(&Form::new(texts[*i]), &Form::new(texts[*j])).score() >= 0.75, "{i} {j}");
            }
        }
    }
}

#[test]
fn empty_texts_are_not_duplicates() {
    let texts = ["", " ", "!!!", "…", "", "\u{301}", "\u{0}"];
    assert_eq!(group_texts(&key(), &texts, THRESHOLD), []);
}

/// Returns several kinds of texts that are slow to compare: the name of each kind, and `count` texts.
fn expensive_texts(count: usize) -> [(&'static str, Vec<String>); 5] {
    let word_by_number = |n: usize| ["red", "tea", "sky", "oak", "sun", "cup", "fog", "ink", "jar", "key"][n % 10];
    let pseudorandom_word = |n: usize| -> String {
        (0..6).map(|i| char::from(b'a' + ((n.wrapping_mul(2_654_435_761) >> (i * 5)) % 26) as u8)).collect()
    };
    [
        ("equal", vec!["The user prefers dark mode in every application".to_owned(); count]),
        (
            "different fillers only",
            (0..count).map(|n| format!("{}prefers dark mode", "The user ".repeat(n % 97))).collect(),
        ),
        (
            "the same ten words, then another",
            (0..count)
                .map(|n| {
                    format!(
                        "keeps every single morning quiet reading old letters near windows {}",
                        pseudorandom_word(n)
                    )
                })
                .collect(),
        ),
        (
            "all near each other",
            (0..count)
                .map(|n| {
                    format!(
                        "keeps every single morning quiet reading old letters near windows {} {}",
                        word_by_number(n),
                        "🍕".repeat(n / 10)
                    )
                })
                .map(|text| text.chars().take(400).collect())
                .collect(),
        ),
        ("one word many times", (0..count).map(|n| "tea ".repeat(n % 200 + 1)).collect()),
    ]
}

/// Checks that grouping terminates, and for some kinds of texts that it finds the right groups. The command
/// `MEMENTORY_SIMILAR=100000 cargo test --release -p mementory-similar --test properties hostile -- --nocapture` uses
/// more texts and prints the time for each kind.
#[test]
fn grouping_of_hostile_texts_terminates() {
    let count = std::env::var("MEMENTORY_SIMILAR").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    for (name, texts) in expensive_texts(count) {
        let start = std::time::Instant::now();
        let found_groups = group_texts(&key(), &texts, THRESHOLD);
        let grouped: usize = found_groups.iter().map(|g| g.members.len()).sum();
        println!(
            "{name}: {} groups, {grouped} texts in them, {:.2} s",
            found_groups.len(),
            start.elapsed().as_secs_f32()
        );
        if name == "equal" || name.starts_with("different fillers") {
            assert_eq!((found_groups.len(), grouped), (1, texts.len()), "{name}");
        }
        if name.starts_with("the same ten words") {
            assert!(grouped < texts.len() / 20, "{grouped}");
        }
    }
    // Texts of about one megabyte: many different words, one very long word, a script without spaces, and only
    // combining marks.
    let long: String = memories(8_000, 5).iter().map(|m| m.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut texts = vec![
        long.clone(),
        format!("{long} so it is"),
        long.to_uppercase(),
        "x".repeat(1 << 20),
        format!("{}y", "x".repeat(1 << 20)),
        "猫".repeat(1 << 18),
        "\u{301}".repeat(1 << 18),
        "ผู้".repeat(1 << 16),
        "a ".repeat(1 << 19),
    ];
    texts.push(texts[5].replace("猫猫", "猫犬"));
    let found_groups = group_texts(&key(), &texts, THRESHOLD);
    assert_eq!(found_groups.len(), 1, "{found_groups:?}");
    assert!(found_groups[0].members.starts_with(&[0]), "{found_groups:?}");
}
