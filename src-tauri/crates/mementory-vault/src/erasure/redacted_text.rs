//! Replaces spans of a text with marks.
use crate::{
    VaultError, VaultResult,
    word_removal::{Removal, Spans, is_distinctive_sentence},
};
use mementory_model::{normal_sentences, redaction_marks};
use std::ops::Range;

/// A span of a record's text, in code points, end exclusive.
#[derive(Debug, Clone)]
pub struct RedactSpan {
    /// First code point of the span.
    pub start: u32,
    /// The code point after the last code point of the span.
    pub end: u32,
    /// Class of the removed value (`[a-z0-9_]+`). The mark that replaces the span contains it.
    pub class: String,
}

/// A text in which spans were replaced with marks.
pub(crate) struct RedactedText {
    /// The text with marks in place of the spans.
    pub(crate) text: String,
    /// Each removed string with its replacement.
    pub(crate) removed: Vec<(String, String)>,
    /// Byte ranges of the spans in the original text.
    pub(crate) places: Vec<Range<usize>>,
}

impl RedactedText {
    /// Returns the mark of the first span. This mark also replaces a text that is removed as a whole.
    pub(crate) fn mark(&self) -> &str {
        self.removed.first().map_or("", |(_, mark)| mark)
    }

    pub(crate) fn is_mark(&self, text: &str) -> bool {
        text == self.mark()
    }

    /// Returns the sentences in the spans. Another record (a list item, a derived statement) may contain only one of
    /// these sentences.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let all = self.removed.iter().flat_map(|(words, _)| normal_sentences(words));
        all.filter(|sentence| is_distinctive_sentence(sentence)).collect()
    }

    /// Returns the words to remove from import reports. Short words are left out, since they could be part of any name.
    pub(crate) fn removal_in_reports(&self) -> Removal {
        Removal::exact(self.removed.iter().filter(|(words, _)| words.len() >= 8).cloned().collect())
    }

    /// Returns the words to remove from other records that contain them.
    pub(crate) fn removal_elsewhere(&self) -> Removal {
        Removal::exact(self.removed.clone()).and_sentences(self.sentences(), self.mark())
    }

    /// Returns the words to remove from the redacted record itself (if `is_own`) or from records derived from it.
    /// `former` is the original text of the redacted record. A string is also removed as a whole if it repeats words of
    /// `former` that lie inside a span or on both sides of the start or end of a span.
    pub(crate) fn removal(&self, former: &str, is_own: bool) -> Removal {
        let mut pairs = self.removed.clone();
        if is_own {
            pairs.push((former.to_owned(), self.text.clone()));
        }
        Removal::exact(pairs)
            .and_sentences(self.sentences(), self.mark())
            .and_spans(Spans::new(former, &self.places), self.mark())
    }
}

/// Replaces spans of a text with marks. A span inside the mark of an earlier redaction is skipped: the words of a mark
/// come from this program, and a new mark would contain them again.
///
/// # Errors
/// `Usage` for spans that are empty, overlap, lie outside the text or have an invalid class, and if all spans are
/// inside marks.
pub(crate) fn replace_spans(text: &str, spans: &[RedactSpan]) -> VaultResult<RedactedText> {
    let usage = |m: &str| VaultError::Usage(m.to_owned());
    if spans.is_empty() {
        return Err(usage("Nothing is selected."));
    }
    // Byte offset of every code point, and of the end.
    let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut spans = spans.to_vec();
    spans.sort_by_key(|s| s.start);
    let earlier_marks: Vec<Range<usize>> = redaction_marks(text).collect();
    let mut out = RedactedText { text: String::with_capacity(text.len()), removed: Vec::new(), places: Vec::new() };
    let mut at = 0;
    for span in &spans {
        let invalid_span = || usage("A span is empty, overlaps another or lies outside the text.");
        let (Some(start), Some(end)) = (offsets.get(span.start as usize), offsets.get(span.end as usize)) else {
            return Err(invalid_span());
        };
        if start >= end || *start < at {
            return Err(invalid_span());
        }
        if span.class.is_empty()
            || !span.class.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        {
            return Err(usage("A class is written in lower case letters, digits and underscores."));
        }
        if earlier_marks.iter().any(|mark| mark.start <= *start && *end <= mark.end) {
            continue;
        }
        out.text.push_str(&text[at..*start]);
        let mark = format!("[REDACTED:{}]", span.class);
        out.text.push_str(&mark);
        out.removed.push((text[*start..*end].to_owned(), mark));
        out.places.push(*start..*end);
        at = *end;
    }
    if out.removed.is_empty() {
        return Err(usage("Everything that is selected is already redacted."));
    }
    out.text.push_str(&text[at..]);
    Ok(out)
}
