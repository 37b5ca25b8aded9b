//! Snippets and their highlights.
use crate::{snippet, tokens};
use proptest::prelude::*;

fn snippet_and_marks(text: &str, query: &str, max: usize) -> (String, Vec<String>) {
    let (out, marks) = snippet(text, &tokens(query), max);
    let chars: Vec<char> = out.chars().collect();
    let marked = marks.iter().map(|(a, b)| chars[*a as usize..*b as usize].iter().collect()).collect();
    (out, marked)
}

#[test]
fn highlights_count_code_points_and_match_folded_words() {
    let (out, marked) = snippet_and_marks("Ein Café in 東京都, STRASSE 🧑‍🚀 und Straße", "cafe strasse 東京", 100);
    assert_eq!(out, "Ein Café in 東京都, STRASSE 🧑‍🚀 und Straße");
    assert_eq!(marked, ["Café", "東京", "STRASSE", "Straße"]);
    assert_eq!(snippet_and_marks("decomposed cafe\u{301} here", "café", 100).1, ["cafe\u{301}"]);
    assert_eq!(snippet_and_marks("東京都庁", "東京都", 100).1, ["東京都"], "pairs join");
}

#[test]
fn the_window_contains_most_of_the_words() {
    let text = format!("key {} the spare key of the Porto flat {}", "filler ".repeat(80), "tail ".repeat(80));
    let (out, marked) = snippet_and_marks(&text, "spare key porto flat", 80);
    assert!(out.starts_with('…') && out.ends_with('…'), "{out}");
    assert_eq!(marked, ["spare", "key", "Porto", "flat"]);
    assert!(out.chars().count() <= 80);
}

#[test]
fn short_texts_are_complete_and_lines_are_joined() {
    assert_eq!(snippet_and_marks("one\ntwo\tthree", "two", 60), ("one two three".into(), vec!["two".into()]));
    assert_eq!(snippet_and_marks("", "two", 60), (String::new(), vec![]));
    assert_eq!(snippet_and_marks("nothing to mark", "absent", 60).1, Vec::<String>::new());
    let (out, _) = snippet_and_marks(&"word ".repeat(100), "absent", 20);
    assert!(out.starts_with("word word") && out.ends_with('…') && out.chars().count() <= 20, "{out}");
}

proptest! {
    #[test]
    fn any_text_gives_a_snippet_within_its_size(text in "\\PC{0,200}|(東京|é|a b|\n| ){0,80}", query in "\\PC{0,20}|東京 b", max in 0usize..90) {
        let (out, marks) = snippet(&text, &tokens(&query), max);
        let len = out.chars().count() as u32;
        prop_assert!(len as usize <= max.max(3));
        let mut last_end = 0;
        for (a, b) in marks {
            prop_assert!(last_end <= a && a < b && b <= len);
            last_end = b;
        }
    }
}
