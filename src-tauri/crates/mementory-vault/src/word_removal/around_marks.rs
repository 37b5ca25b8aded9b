//! Finds erased texts in files in which an earlier redaction left marks. Such a file quotes an erased text with a mark
//! inside, so that only the pieces before and after the mark can be compared with the text.
use crate::word_removal::{ERASED_MARK, is_distinctive_sentence, parse_json};
use memchr::memmem;
use mementory_json::Tree;
use mementory_model::{REDACTED, between_redaction_marks, normal_text};
use std::ops::Range;

/// Separates the texts in the one string in which pieces are searched for.
const SEPARATOR: char = '\0';
/// Length in bytes of the end of a piece by which a text is found that the piece contains only in part.
const EDGE_BYTES: usize = 12;

/// Erased texts, prepared to find their pieces.
pub(crate) struct QuotedPieces {
    texts: String,
}

impl QuotedPieces {
    pub(crate) fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut joined = String::new();
        for text in texts {
            joined.push_str(text);
            joined.push(SEPARATOR);
        }
        Self { texts: joined }
    }

    /// The bytes of a file or a line without pieces of the texts beside redaction marks. None if they contain none, or
    /// are not UTF-8.
    pub(crate) fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        memmem::find(bytes, REDACTED.as_bytes())?;
        self.without_in_text(std::str::from_utf8(bytes).ok()?).map(String::into_bytes)
    }

    fn without_in_text(&self, text: &str) -> Option<String> {
        let end = text.get(text.trim_end().len()..).unwrap_or_default();
        if let Some(found) = self.without_in_json(text.trim_end()) {
            return found.map(|new| new + end);
        }
        let mut out = String::with_capacity(text.len());
        let mut changed = false;
        for line in text.split_inclusive('\n') {
            let new = match self.without_in_json(line.trim_end()) {
                Some(found) => found.map(|new| new + line.get(line.trim_end().len()..).unwrap_or_default()),
                None => self.without_in_string(line),
            };
            changed |= new.is_some();
            out.push_str(new.as_deref().unwrap_or(line));
        }
        changed.then_some(out)
    }

    /// None if the text is not a JSON object or array, and Some(None) if it contains no piece.
    fn without_in_json(&self, text: &str) -> Option<Option<String>> {
        if !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        let mut tree = parse_json(text)?;
        if !self.clean_tree(&mut tree) {
            return Some(None);
        }
        let mut out = String::with_capacity(text.len());
        tree.write(&mut out);
        Some(Some(out))
    }

    fn clean_tree(&self, tree: &mut Tree) -> bool {
        match tree {
            Tree::Text(text) => self.clean_text(text),
            Tree::Array(items) => items.iter_mut().fold(false, |changed, item| self.clean_tree(item) | changed),
            Tree::Object(members) => members
                .iter_mut()
                .fold(false, |changed, (key, value)| self.clean_text(key) | self.clean_tree(value) | changed),
            _ => false,
        }
    }

    fn clean_text(&self, text: &mut String) -> bool {
        if !text.contains(REDACTED) {
            return false;
        }
        let new = self.without_in_json(text).unwrap_or_else(|| self.without_in_string(text));
        new.map(|new| *text = new).is_some()
    }

    fn without_in_string(&self, text: &str) -> Option<String> {
        let pieces = between_redaction_marks(text);
        let last = pieces.len() - 1;
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        for (n, piece) in pieces.into_iter().enumerate().filter(|_| last > 0) {
            let start = piece.start;
            let Some(found) = self.find(text.get(piece)?, n < last, n > 0) else { continue };
            out.push_str(text.get(at..start + found.start)?);
            out.push_str(ERASED_MARK);
            at = start + found.end;
        }
        out.push_str(text.get(at..)?);
        (at > 0).then_some(out)
    }

    /// Position in `piece` of what belongs to one of the texts: all of it; or, before a mark, the end of it that is the
    /// beginning of a text; or, behind a mark, the beginning of it that is the end of a text.
    fn find(&self, piece: &str, is_before_mark: bool, is_behind_mark: bool) -> Option<Range<usize>> {
        let start = piece.len() - piece.trim_start().len();
        let whole = start..piece.trim_end().len().max(start);
        let is_distinctive =
            |range: &Range<usize>| piece.get(range.clone()).is_some_and(|p| is_distinctive_sentence(&normal_text(p)));
        if !is_distinctive(&whole) {
            return None;
        }
        if self.texts.contains(piece.get(whole.clone())?) {
            return Some(whole);
        }
        let at_end = is_before_mark.then(|| self.begun_at_end(piece.trim_end())).flatten();
        let part = at_end.or_else(|| is_behind_mark.then(|| self.ended_at_start(piece)).flatten());
        part.filter(is_distinctive)
    }

    /// Position of the longest end of `piece` that is the beginning of a text.
    fn begun_at_end(&self, piece: &str) -> Option<Range<usize>> {
        let edge = piece.get(piece.ceil_char_boundary(piece.len().checked_sub(EDGE_BYTES)?)..)?;
        let texts = self.texts.as_bytes();
        let common = memmem::find_iter(texts, edge.as_bytes()).filter_map(|at| {
            let before = texts.get(..at + edge.len())?;
            let same = before.iter().rev().zip(piece.as_bytes().iter().rev()).take_while(|(a, b)| a == b).count();
            let begins = before.get(..before.len() - same)?.last().is_none_or(|byte| *byte == SEPARATOR as u8);
            begins.then_some(same)
        });
        common.max().map(|common| piece.len() - common..piece.len())
    }

    /// Position of the longest beginning of `piece` that is the end of a text.
    fn ended_at_start(&self, piece: &str) -> Option<Range<usize>> {
        let edge = piece.get(..piece.floor_char_boundary(EDGE_BYTES)).filter(|edge| edge.len() + 4 > EDGE_BYTES)?;
        let texts = self.texts.as_bytes();
        let common = memmem::find_iter(texts, edge.as_bytes()).filter_map(|at| {
            let after = texts.get(at..)?;
            let same = after.iter().zip(piece.as_bytes()).take_while(|(a, b)| a == b).count();
            (after.get(same) == Some(&(SEPARATOR as u8))).then_some(same)
        });
        common.max().map(|common| 0..common)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str) -> Option<String> {
        let texts = ["The old key is under the shed. Müller knows the way there.", "Tea at four in the garden."];
        let pieces = QuotedPieces::new(texts.into_iter());
        pieces.without(text.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn a_quoted_text_with_a_mark_inside_is_removed() {
        let new =
            without(r#"{"quoted":"The old key is under the shed.[REDACTED:name]ler knows the way there.","n":1.50}"#);
        let expected = r#"{"quoted":"[REDACTED:erased][REDACTED:name][REDACTED:erased]","n":1.50}"#;
        assert_eq!(new.as_deref(), Some(expected), "in JSON");
        let new = without("# Notes\n- He said: The old key is under [REDACTED:x] knows the way there. Or not.\n");
        let expected = "# Notes\n- He said: [REDACTED:erased] [REDACTED:x][REDACTED:erased] Or not.\n";
        assert_eq!(new.as_deref(), Some(expected), "inside a longer line");
        let new =
            without("Mail [REDACTED:x]. He said: The old key is under the shed.[REDACTED:y]ler knows the way there.");
        let expected = "Mail [REDACTED:x]. He said: [REDACTED:erased][REDACTED:y][REDACTED:erased]";
        assert_eq!(new.as_deref(), Some(expected), "between two marks");
        let new = without("Tea at four [REDACTED:a] the old key is under [REDACTED:b] in the garden.");
        let expected = "Tea at four [REDACTED:a] the old key is under [REDACTED:b] [REDACTED:erased]";
        assert_eq!(new.as_deref(), Some(expected), "an end that is too short, other capitals, and the end of a text");
    }

    #[test]
    fn the_keys_of_an_object_are_cleaned_as_its_values_are() {
        let new =
            without(r#"{"The old key is under the shed.[REDACTED:name]ler knows the way there.":{"Tea [REDACTED:x]":1}}"#);
        let expected = r#"{"[REDACTED:erased][REDACTED:name][REDACTED:erased]":{"Tea [REDACTED:x]":1}}"#;
        assert_eq!(new.as_deref(), Some(expected));
    }

    #[test]
    fn other_words_beside_a_mark_stay() {
        for text in [
            "The old key is under the shed.",
            r#"{"a":"Some other words. [REDACTED:name] And more of them."}"#,
            "the key [REDACTED:name] is",
            "[REDACTED:name]",
        ] {
            assert_eq!(without(text), None, "{text}");
        }
    }
}
