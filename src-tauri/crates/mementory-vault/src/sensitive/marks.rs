//! Replaces values in a text with marks. Also finds existing marks, with their class and, if known, the position of the
//! value.
use crate::word_removal::Removal;
use mementory_formats::{REDACTED, Redaction};
use mementory_model::redaction_marks;
use std::ops::Range;

pub(crate) fn mark(class: &str) -> String {
    format!("{REDACTED}{class}]")
}

/// Replaces the strings of the removals in a text with marks. Returns the new text and the marks. The removals are
/// applied in order, and each removal searches for its longest string first. Marks are not searched, so that no part of
/// a mark is mistaken for a value.
pub(crate) fn replace_by_marks<'r>(
    text: &str,
    removals: impl Iterator<Item = &'r Removal>,
) -> (String, Vec<Redaction>) {
    let mut pieces: Vec<(Range<usize>, Option<&str>)> = vec![(0..text.len(), None)];
    for (words, mark) in removals.flat_map(|removal| removal.found_in(text)) {
        let can_be_marked =
            |piece: &(Range<usize>, Option<&str>)| piece.1.is_none() && text[piece.0.clone()].contains(words);
        if !pieces.iter().any(can_be_marked) {
            continue;
        }
        for (range, covered) in std::mem::take(&mut pieces) {
            let mut at = range.start;
            if covered.is_none() {
                for (start, _) in text[range.clone()].match_indices(words) {
                    let start = range.start + start;
                    pieces.push((at..start, None));
                    at = start + words.len();
                    pieces.push((start..at, Some(mark)));
                }
            }
            pieces.push((at..range.end, covered));
        }
    }
    let (mut out, mut marks) = (String::with_capacity(text.len()), Vec::new());
    for (range, covered) in pieces {
        let Some(mark) = covered else {
            out.push_str(&text[range]);
            continue;
        };
        let start = out.len();
        out.push_str(mark);
        let class = mark.trim_start_matches(REDACTED).trim_end_matches(']').to_owned();
        marks.push(Redaction { class, mark: start..out.len(), value: Some(range) });
    }
    (out, marks)
}

/// Adds the marks that earlier redactions left in a text. The values that these marks replaced are not known any more.
pub(crate) fn add_earlier_marks(text: &str, known: &mut Vec<Redaction>) {
    let mut further_marks: Vec<Redaction> = redaction_marks(text)
        .filter(|mark| !known.iter().any(|k| k.mark.start == mark.start))
        .map(|mark| {
            let class = text[mark.start + REDACTED.len()..mark.end - 1].to_owned();
            Redaction { class, mark, value: None }
        })
        .collect();
    known.append(&mut further_marks);
    known.sort_by_key(|k| k.mark.start);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removal(pairs: &[(&str, &str)]) -> Removal {
        Removal::exact(pairs.iter().map(|(words, class)| ((*words).to_owned(), mark(class))).collect())
    }

    fn covered_values(text: &str, removals: &[Removal]) -> (String, Vec<(String, Option<String>)>) {
        let (out, marks) = replace_by_marks(text, removals.iter());
        for found in &marks {
            assert_eq!(out[found.mark.clone()], mark(&found.class));
        }
        let value = |r: &Redaction| r.value.clone().map(|range| text[range].to_owned());
        (out, marks.iter().map(|m| (m.class.clone(), value(m))).collect())
    }

    #[test]
    fn every_mark_has_the_position_of_its_value() {
        let removals =
            [removal(&[("tea-47", "password"), ("tea-47-long", "access_key")]), removal(&[("café", "email")])];
        let (out, marks) = covered_values("ä tea-47-long tea-47 café tea-47", &removals);
        assert_eq!(out, "ä [REDACTED:access_key] [REDACTED:password] [REDACTED:email] [REDACTED:password]");
        let expected =
            [("access_key", "tea-47-long"), ("password", "tea-47"), ("email", "café"), ("password", "tea-47")];
        assert_eq!(marks, expected.map(|(class, value)| (class.to_owned(), Some(value.to_owned()))));
    }

    #[test]
    fn a_value_that_occurs_in_a_mark_does_not_break_the_mark() {
        let (out, marks) = covered_values(
            "access_key and REDACTED and card",
            &[removal(&[("access_key", "password"), ("REDACTED", "password"), ("card", "access_key")])],
        );
        assert_eq!(
            (out.as_str(), marks.len()),
            ("[REDACTED:password] and [REDACTED:password] and [REDACTED:access_key]", 3)
        );
        // The text that remains between two marks is searched again.
        assert_eq!(covered_values("Qaaa", &[removal(&[("Qaa", "card"), ("aaa", "email")])]).0, "[REDACTED:card]a");
        assert_eq!(
            covered_values("Qaabab", &[removal(&[("Qaab", "card"), ("aba", "email"), ("abab", "phone")])]).0,
            "[REDACTED:card]ab"
        );
    }

    #[test]
    fn a_mark_of_an_earlier_redaction_has_only_a_class() {
        let (text, mut marks) = replace_by_marks(
            "[REDACTED:name] or tea-47, [REDACTED:] [REDACTED:Name]",
            [removal(&[("tea-47", "password")])].iter(),
        );
        add_earlier_marks(&text, &mut marks);
        let values: Vec<_> = marks.iter().map(|m| (m.class.as_str(), m.value.clone())).collect();
        assert_eq!(values, [("name", None), ("password", Some(19..25))]);
    }
}
