//! Compares strings with chosen spans of a text, word by word. Strings that are derived from the text or quote it in
//! another layout (a list item without its bullet, a paragraph of a longer message) are recognised by their words.
use mementory_model::fold;
use std::ops::Range;

/// How a string that repeats part of the text overlaps the spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlap {
    /// The string does not overlap any span.
    None,
    /// The string contains a whole span and other words.
    Contains,
    /// The string lies inside a span or across the border of a span, so that removed and remaining words cannot be
    /// separated.
    Crosses,
}

/// The words of a text, and the chosen spans as ranges of indices into them.
pub(crate) struct Spans {
    words: Vec<String>,
    chosen: Vec<Range<usize>>,
}

impl Spans {
    /// Splits `text` into words and finds the words of each span. `spans` are byte ranges of `text`.
    pub(crate) fn new(text: &str, spans: &[Range<usize>]) -> Self {
        let words = folded_words(text);
        let chosen = spans
            .iter()
            .map(|span| {
                let from = words.partition_point(|(place, _)| place.end <= span.start);
                let to = words.partition_point(|(place, _)| place.start < span.end);
                from..to.max(from)
            })
            .filter(|range| !range.is_empty())
            .collect();
        Self { words: words.into_iter().map(|(_, word)| word).collect(), chosen }
    }

    /// Returns how `part` overlaps the spans. A string of fewer than `min_words` words is not compared.
    pub(crate) fn overlap(&self, part: &str, min_words: usize) -> Overlap {
        if self.chosen.is_empty() {
            return Overlap::None;
        }
        let part: Vec<String> = folded_words(part).into_iter().map(|(_, word)| word).collect();
        let n = part.len();
        if n < min_words.max(1) || n > self.words.len() {
            return Overlap::None;
        }
        let mut contains = false;
        for at in self.words.windows(n).enumerate().filter(|(_, w)| *w == part.as_slice()).map(|(at, _)| at) {
            for span in self.chosen.iter().filter(|span| at < span.end && span.start < at + n) {
                if at <= span.start && span.end <= at + n && span.len() < n {
                    contains = true;
                } else {
                    return Overlap::Crosses;
                }
            }
        }
        if contains { Overlap::Contains } else { Overlap::None }
    }
}

/// Returns the words (letters and digits) of a text, case-folded, each with its byte range.
fn folded_words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut out = Vec::new();
    let mut from = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_alphanumeric(), from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                out.push((start..at, fold(&text[start..at])));
                from = None;
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn parts_of_a_text_are_compared_with_the_span() {
        let text = "- Allergic to **nuts**.\n- Lives in Rome now.\n- Likes tea.";
        let from = text.find("nuts").unwrap();
        let to = text.find(" now").unwrap();
        let span = from..to;
        let spans = Spans::new(text, std::slice::from_ref(&span));
        assert_eq!(spans.overlap("Allergic to nuts.", 1), Overlap::Crosses, "its end is in the span");
        assert_eq!(spans.overlap("Lives in Rome now.", 1), Overlap::Crosses, "its beginning is");
        assert_eq!(spans.overlap("Likes tea.", 1), Overlap::None);
        assert_eq!(spans.overlap(text, 1), Overlap::Contains, "the whole text contains it");
        assert_eq!(spans.overlap("rome", 1), Overlap::Crosses, "inside");
        assert_eq!(spans.overlap("rome", 2), Overlap::None, "a single word may be any");
    }
}
