//! Finds quotations of erased texts in files in which earlier redactions left marks. Only the pieces between the marks
//! can be compared with the erased texts. A piece of a few words may also occur in unrelated texts. It therefore counts
//! only if the piece on the other side of the mark is close to it in the same erased text, or if the whole line or
//! string matches an erased text.
use crate::word_removal::{
    ERASED_MARK, MAX_GAP_BYTES, edit_json, is_distinctive_sentence, is_rare_phrase, parse_json,
    split_texts::{SplitLines, pieces_between_marks},
    window_filter::WindowFilter,
};
use memchr::memmem;
use mementory_json::Tree;
use mementory_model::{REDACTED, between_redaction_marks, normal_text, redaction_marks};
use std::ops::Range;

/// Separates the texts in the joined string in which pieces are searched for.
const SEPARATOR: char = '\0';
/// Byte order mark, which Windows programs write at the start of a text file.
const BYTE_ORDER_MARK: &str = "\u{feff}";
/// Length in bytes of the beginning or end of a piece that is looked up if no text contains the whole piece.
const EDGE_BYTES: usize = 12;

/// The erased texts, indexed so that pieces of files can be found in them.
pub(crate) struct QuotedPieces {
    /// The texts, followed by the pieces between the texts' own redaction marks. A separator follows each of them.
    texts: String,
    /// Number of bytes of the texts without the pieces.
    texts_bytes: usize,
    windows: WindowFilter,
    split_lines: SplitLines,
}

/// The pieces beyond the marks before and after a piece. None at the edge of a line or string.
#[derive(Clone, Copy)]
struct Neighbours<'p> {
    earlier: Option<&'p str>,
    later: Option<&'p str>,
}

impl QuotedPieces {
    pub(crate) fn new(texts: &[String]) -> Self {
        let mut joined = String::new();
        let mut texts_bytes = 0;
        for (n, text) in texts.iter().map(String::as_str).chain(pieces_between_marks(texts)).enumerate() {
            joined.push_str(text);
            joined.push(SEPARATOR);
            if n < texts.len() {
                texts_bytes = joined.len();
            }
        }
        let windows = WindowFilter::new(joined.as_bytes());
        Self { texts: joined, texts_bytes, windows, split_lines: SplitLines::new(texts) }
    }

    /// Removes pieces of the texts from the bytes of a file or a line. Returns None if the bytes contain no piece.
    pub(crate) fn without_pieces(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let has_marks = memmem::find(bytes, REDACTED.as_bytes()).is_some();
        if !has_marks && !self.split_lines.may_be_in(bytes) {
            return None;
        }
        match std::str::from_utf8(bytes) {
            Ok(text) if has_marks || memchr::memchr(0, bytes).is_none() => {
                self.without_pieces_in_text(text).map(String::into_bytes)
            }
            _ => self.split_lines.without_pieces_in_bytes(bytes),
        }
    }

    fn without_pieces_in_text(&self, text: &str) -> Option<String> {
        let (start, document) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(document) => (BYTE_ORDER_MARK, document),
            None => ("", text),
        };
        if let Some(found) = self.without_pieces_in_json(document.trim_end()) {
            let end = document.get(document.trim_end().len()..).unwrap_or_default();
            return found.map(|new| format!("{start}{new}{end}"));
        }
        // A quoted text may have several lines and a mark in only one. JSON strings, as in JSON Lines, have no line
        // breaks.
        let is_quotable = text.trim_end().contains('\n') && !is_json_lines(text);
        let across_lines = is_quotable.then(|| self.without_pieces_across_lines(text)).flatten();
        let text = across_lines.as_deref().unwrap_or(text);
        let mut out = String::with_capacity(text.len());
        let mut changed = across_lines.is_some();
        for line in text.split_inclusive('\n') {
            let new = match self.without_pieces_in_json(line.trim_end()) {
                Some(found) => found.map(|new| new + line.get(line.trim_end().len()..).unwrap_or_default()),
                None => self.without_pieces_in_string(line),
            };
            changed |= new.is_some();
            out.push_str(new.as_deref().unwrap_or(line));
        }
        changed.then_some(out)
    }

    /// Removes pieces from JSON. Returns None if the text is not a JSON object or array, and Some(None) if it contains
    /// no piece.
    fn without_pieces_in_json(&self, text: &str) -> Option<Option<String>> {
        if !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        edit_json(text, |tree| self.clean_tree(tree))
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
        if !text.contains(REDACTED) && !self.split_lines.may_be_in(text.as_bytes()) {
            return false;
        }
        let new = self.without_pieces_in_json(text).unwrap_or_else(|| self.without_pieces_in_string(text));
        new.map(|new| *text = new).is_some()
    }

    fn without_pieces_in_string(&self, text: &str) -> Option<String> {
        let beside_marks = self.without_pieces_beside_marks(text);
        self.split_lines.without_pieces(beside_marks.as_deref().unwrap_or(text)).or(beside_marks)
    }

    fn without_pieces_beside_marks(&self, text: &str) -> Option<String> {
        with_erased_marks(text, &self.places_beside_marks(text))
    }

    /// Removes pieces that extend over several lines, and pieces in single lines. None if no piece is found when the
    /// text is searched as a whole.
    fn without_pieces_across_lines(&self, text: &str) -> Option<String> {
        let mut places = self.places_beside_marks(text);
        if places.is_empty() {
            return None;
        }
        // A whole line may match a text, so each line is also searched separately, before anything is replaced.
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if line.contains(REDACTED) && self.without_pieces_in_json(line.trim_end()).is_none() {
                let places_in_line = self.places_beside_marks(line).into_iter();
                places.extend(places_in_line.map(|place| at + place.start..at + place.end));
            }
            at += line.len();
        }
        places.sort_by_key(|place| (place.start, place.end));
        with_erased_marks(text, &places)
    }

    /// Returns the ranges of the pieces that come from the texts and are next to redaction marks, in ascending order.
    fn places_beside_marks(&self, text: &str) -> Vec<Range<usize>> {
        if !text.contains(REDACTED) {
            return Vec::new();
        }
        let places = between_redaction_marks(text);
        let piece = |n: Option<usize>| n.and_then(|n| places.get(n)).and_then(|place| text.get(place.clone()));
        let is_whole_text = self.is_whole_text(text, &places);
        let mut out = Vec::new();
        for (n, place) in places.iter().enumerate() {
            let neighbours = Neighbours { earlier: piece(n.checked_sub(1)), later: piece(Some(n + 1)) };
            let found = match piece(Some(n)).unwrap_or_default() {
                piece if is_whole_text => [Some(without_space(piece)).filter(|place| !place.is_empty()), None],
                piece => self.find(piece, neighbours),
            };
            let found = found.into_iter().flatten();
            out.extend(found.map(|found| place.start + found.start..place.start + found.end));
        }
        out
    }

    /// True if the whole line or string matches one of the texts, with any words in place of the marks. The pieces
    /// between the marks must make up at least half of the text. They must also be too long to match by chance. If all
    /// marks are from erasures, it is enough that the pieces are long enough to be searched for. `places` are the
    /// ranges of the pieces.
    fn is_whole_text(&self, text: &str, places: &[Range<usize>]) -> bool {
        let line = without_space(text);
        let text_in_line = |place: &Range<usize>| text.get(place.start.max(line.start)..place.end.min(line.end));
        let Some(pieces) = places.iter().map(text_in_line).collect::<Option<Vec<&str>>>() else { return false };
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let is_same = |text: &str| 2 * bytes >= text.len() && consists_of(text, &pieces);
        let normal = normal_text(&pieces.join(" "));
        // The mark of an erasure replaces whole texts and sentences, so whole sentences are left.
        let has_erased_marks_only = redaction_marks(text).all(|mark| text.get(mark) == Some(ERASED_MARK));
        (is_rare_phrase(&normal) || has_erased_marks_only && is_distinctive_sentence(&normal))
            && pieces.iter().all(|piece| self.windows.may_contain(piece))
            && self.texts.get(..self.texts_bytes).is_some_and(|texts| texts.split(SEPARATOR).any(is_same))
    }

    /// Returns the ranges of `piece` that come from the texts, in ascending order. If a text contains the whole piece,
    /// the only range is the whole piece. Otherwise a piece after a mark may begin with the end of a text, and a piece
    /// before a mark may end with the beginning of a text.
    fn find(&self, piece: &str, neighbours: Neighbours<'_>) -> [Option<Range<usize>>; 2] {
        if neighbours.earlier.is_none() && neighbours.later.is_none() {
            return [None, None];
        }
        let whole = piece.trim();
        if !is_distinctive_sentence(&normal_text(whole)) {
            return [None, None];
        }
        if self.is_in_a_text(whole, neighbours) {
            return [Some(without_space(piece)), None];
        }
        let prefix = neighbours.earlier.and_then(|earlier| self.prefix_that_ends_a_text(piece, earlier));
        let suffix = neighbours.later.and_then(|later| self.suffix_that_begins_a_text(piece.trim_end(), later));
        match (prefix, suffix) {
            (Some(start), Some(end)) if end.start < start.end => [Some(start.start..end.end.max(start.end)), None],
            both => both.into(),
        }
    }

    /// True if one of the texts contains the piece. If the piece is short, its neighbours must be close to it in the
    /// same text.
    fn is_in_a_text(&self, piece: &str, neighbours: Neighbours<'_>) -> bool {
        self.windows.may_contain(piece)
            && memmem::find_iter(self.texts.as_bytes(), piece.as_bytes()).any(|at| {
                let before = neighbours.earlier.and_then(|earlier| self.part_before(at, earlier));
                let after = neighbours.later.and_then(|later| self.part_after(at + piece.len(), later));
                is_rare([before, Some(piece), after])
            })
    }

    /// Returns the range of the longest suffix of `piece` that is the beginning of a text. `later` is the next piece.
    fn suffix_that_begins_a_text(&self, piece: &str, later: &str) -> Option<Range<usize>> {
        let edge = piece.get(piece.ceil_char_boundary(piece.len().checked_sub(EDGE_BYTES)?)..)?;
        if !self.windows.may_contain(edge) {
            return None;
        }
        let texts = self.texts.as_bytes();
        let common = memmem::find_iter(texts, edge.as_bytes()).filter_map(|at| {
            let before = texts.get(..at + edge.len())?;
            let common_len = before.iter().rev().zip(piece.as_bytes().iter().rev()).take_while(|(a, b)| a == b).count();
            let begins_text =
                before.get(..before.len() - common_len)?.last().is_none_or(|byte| *byte == SEPARATOR as u8);
            let part = piece.get(piece.len() - common_len..).filter(|_| begins_text)?;
            self.is_part(None, part, self.part_after(before.len(), later)).then_some(common_len)
        });
        common.max().map(|common| piece.len() - common..piece.len())
    }

    /// Returns the range of the longest prefix of `piece` that is the end of a text. `earlier` is the piece before it.
    fn prefix_that_ends_a_text(&self, piece: &str, earlier: &str) -> Option<Range<usize>> {
        let edge = piece.get(..piece.floor_char_boundary(EDGE_BYTES)).filter(|edge| edge.len() + 4 > EDGE_BYTES)?;
        if !self.windows.may_contain(edge) {
            return None;
        }
        let texts = self.texts.as_bytes();
        let common = memmem::find_iter(texts, edge.as_bytes()).filter_map(|at| {
            let after = texts.get(at..)?;
            let common_len = after.iter().zip(piece.as_bytes()).take_while(|(a, b)| a == b).count();
            let part = piece.get(..common_len).filter(|_| after.get(common_len) == Some(&(SEPARATOR as u8)))?;
            self.is_part(self.part_before(at, earlier), part, None).then_some(common_len)
        });
        common.max().map(|common| 0..common)
    }

    fn is_part(&self, before: Option<&str>, part: &str, after: Option<&str>) -> bool {
        is_distinctive_sentence(&normal_text(part)) && is_rare([before, Some(part), after])
    }

    /// Returns the prefix of `piece` that occurs shortly after the position `at` in the same text.
    fn part_after<'p>(&self, at: usize, piece: &'p str) -> Option<&'p str> {
        let piece = piece.trim();
        let edge = piece.get(..piece.floor_char_boundary(EDGE_BYTES)).filter(|edge| !edge.is_empty())?;
        let texts = self.texts.as_bytes();
        let nearby = texts.get(at..texts.len().min(at + MAX_GAP_BYTES + edge.len()))?;
        let nearby = nearby.split(|byte| *byte == SEPARATOR as u8).next()?;
        let rest = texts.get(at + memmem::find(nearby, edge.as_bytes())?..)?;
        let common = rest.iter().zip(piece.as_bytes()).take_while(|(a, b)| a == b).count();
        piece.get(..piece.floor_char_boundary(common))
    }

    /// Returns the suffix of `piece` that occurs shortly before the position `at` in the same text.
    fn part_before<'p>(&self, at: usize, piece: &'p str) -> Option<&'p str> {
        let piece = piece.trim();
        let edge = piece.get(piece.ceil_char_boundary(piece.len().saturating_sub(EDGE_BYTES))..)?;
        let texts = self.texts.as_bytes();
        let nearby = texts.get(at.saturating_sub(MAX_GAP_BYTES + edge.len())..at)?;
        let nearby = nearby.rsplit(|byte| *byte == SEPARATOR as u8).next().filter(|_| !edge.is_empty())?;
        let end = at - nearby.len() + memmem::rfind(nearby, edge.as_bytes())? + edge.len();
        let before = texts.get(..end)?;
        let common = before.iter().rev().zip(piece.as_bytes().iter().rev()).take_while(|(a, b)| a == b).count();
        piece.get(piece.ceil_char_boundary(piece.len() - common)..)
    }
}

/// True if the first line of the text and all lines with redaction marks are JSON objects or arrays.
fn is_json_lines(text: &str) -> bool {
    let is_json = |line: &str| line.trim_start().starts_with(['{', '[']) && parse_json(line.trim_end()).is_some();
    let first = text.trim_start().lines().next().unwrap_or_default();
    is_json(first) && text.lines().filter(|line| line.contains(REDACTED)).all(is_json)
}

/// True if the text begins with the first piece, ends with the last piece, and contains the other pieces in order
/// between them.
fn consists_of(text: &str, pieces: &[&str]) -> bool {
    let [first, between @ .., last] = pieces else { return false };
    let mut rest = text.strip_prefix(*first).and_then(|rest| rest.strip_suffix(*last));
    for piece in between {
        rest = rest.and_then(|rest| rest.split_once(*piece)).map(|(_, rest)| rest);
    }
    rest.is_some()
}

/// Replaces each range in `places` with a mark. The ranges are in ascending order, and overlapping ranges get one mark.
/// Returns None if there are no ranges.
fn with_erased_marks(text: &str, places: &[Range<usize>]) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for place in places {
        if place.start >= at {
            out.push_str(text.get(at..place.start)?);
            out.push_str(ERASED_MARK);
        }
        at = at.max(place.end);
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// Returns the range of the text without the white space around it.
fn without_space(text: &str) -> Range<usize> {
    let start = text.len() - text.trim_start().len();
    start..start + text.trim().len()
}

/// True if these neighbouring pieces together are too long to occur in another text by chance.
fn is_rare(pieces: [Option<&str>; 3]) -> bool {
    let pieces: Vec<&str> = pieces.into_iter().flatten().collect();
    is_rare_phrase(&normal_text(&pieces.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_pieces(text: &str) -> Option<String> {
        let texts = ["The old key is under the shed. Müller knows the way there.", "Tea at four in the garden."];
        let pieces = QuotedPieces::new(&texts.map(str::to_owned));
        pieces.without_pieces(text.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn a_quoted_text_with_a_mark_inside_is_removed() {
        let new = without_pieces(
            r#"{"quoted":"The old key is under the shed.[REDACTED:name]ler knows the way there.","n":1.50}"#,
        );
        let expected = r#"{"quoted":"[REDACTED:erased][REDACTED:name][REDACTED:erased]","n":1.50}"#;
        assert_eq!(new.as_deref(), Some(expected), "in JSON");
        let new =
            without_pieces("# Notes\n- He said: The old key is under [REDACTED:x] knows the way there. Or not.\n");
        let expected = "# Notes\n- He said: [REDACTED:erased] [REDACTED:x][REDACTED:erased] Or not.\n";
        assert_eq!(new.as_deref(), Some(expected), "inside a longer line");
        let new = without_pieces(
            "Mail [REDACTED:x]. He said: The old key is under the shed.[REDACTED:y]ler knows the way there.",
        );
        let expected = "Mail [REDACTED:x]. He said: [REDACTED:erased][REDACTED:y][REDACTED:erased]";
        assert_eq!(new.as_deref(), Some(expected), "between two marks");
    }

    #[test]
    fn the_end_of_one_text_and_the_beginning_of_another_are_removed() {
        let texts = ["Ask Lena where the old key of the shed is.", "The new map of the garden is with Müller."];
        let pieces = QuotedPieces::new(&texts.map(str::to_owned));
        let quoted =
            "Ask [REDACTED:a] where the old key of the shed is. Yes. The new map of the garden is with [REDACTED:b].";
        let new = pieces.without_pieces(quoted.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let expected = "Ask [REDACTED:a][REDACTED:erased] Yes. [REDACTED:erased] [REDACTED:b].";
        assert_eq!(new.as_deref(), Some(expected));
    }

    #[test]
    fn the_lines_around_a_marked_line_are_removed_too() {
        let text = "Plan of the garden:\nThe old key is under the shed.\nAsk Müller for the way.\nTea is at four.";
        let pieces = QuotedPieces::new(&[text.to_owned()]);
        let quoted = text.replace("Müller", "[REDACTED:name]");
        for first_line in ["# Notes", r#"{"title":"Notes"}"#] {
            let new = pieces.without_pieces(format!("{first_line}\n{quoted}\nOr not.\n").as_bytes());
            let expected = format!("{first_line}\n[REDACTED:erased] [REDACTED:name][REDACTED:erased]\nOr not.\n");
            assert_eq!(new.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()), Some(expected));
        }
    }

    #[test]
    fn a_line_that_may_be_a_text_is_removed_if_the_next_lines_are_too() {
        let line = "Tea with Lena in the old garden at four, as every week.";
        let pieces = QuotedPieces::new(&[line.to_owned(), format!("{line}\nThe key is under the red shed.")]);
        let quoted =
            "Tea [REDACTED:name] in the old garden at four, as every week.\nThe key is under the red shed.\nYes.";
        let new = pieces.without_pieces(quoted.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(new.as_deref(), Some("[REDACTED:erased] [REDACTED:name][REDACTED:erased]\nYes."));
    }

    #[test]
    fn texts_of_scripts_without_spaces_are_removed_too() {
        // In English: "The key of the garden shed is under the red stone. Tanaka knows it."
        let text = "庭の小屋の鍵は赤い石の下にあります。田中さんが知っています。";
        let pieces = QuotedPieces::new(&[text.to_owned()]);
        let quoted = r#"{"a":"庭の小屋の鍵は赤い石の下にあります。[REDACTED:name]さんが知っています。"}"#;
        let new = pieces.without_pieces(quoted.as_bytes()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(new.as_deref(), Some(r#"{"a":"[REDACTED:erased][REDACTED:name][REDACTED:erased]"}"#));
        assert_eq!(pieces.without_pieces("石の下に[REDACTED:name]".as_bytes()), None, "a phrase of other texts too");
    }

    #[test]
    fn object_keys_are_cleaned_like_values() {
        let new = without_pieces(
            r#"{"The old key is under the shed.[REDACTED:name]ler knows the way there.":{"Tea [REDACTED:x]":1}}"#,
        );
        let expected = r#"{"[REDACTED:erased][REDACTED:name][REDACTED:erased]":{"Tea [REDACTED:x]":1}}"#;
        assert_eq!(new.as_deref(), Some(expected));
    }

    #[test]
    fn short_pieces_are_removed_if_the_whole_line_may_be_the_text() {
        let new =
            without_pieces("# Plan\n  The [REDACTED:x] under the shed. [REDACTED:y] knows the way [REDACTED:z].\n");
        let expected = "# Plan\n  [REDACTED:erased] [REDACTED:x] [REDACTED:erased] [REDACTED:y] [REDACTED:erased] \
                        [REDACTED:z][REDACTED:erased]\n";
        assert_eq!(new.as_deref(), Some(expected));
    }

    #[test]
    fn a_short_sentence_beside_marks_of_erasures_is_removed() {
        let pieces = QuotedPieces::new(&["Thank you. My PIN is 4711.".to_owned()]);
        let new = pieces.without_pieces(br#"{"a":"[REDACTED:erased] My PIN is 4711.","b":"[REDACTED:x] is 4711."}"#);
        let expected = r#"{"a":"[REDACTED:erased] [REDACTED:erased]","b":"[REDACTED:x] is 4711."}"#;
        assert_eq!(new.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).as_deref(), Some(expected));
    }

    #[test]
    fn other_words_beside_a_mark_stay() {
        for text in [
            "The old key is under the shed.",
            r#"{"a":"Some other words. [REDACTED:name] And more of them."}"#,
            "the key [REDACTED:name] is",
            "Tea at four [REDACTED:a] the old key is under [REDACTED:b] in the garden.",
            "He sat down [REDACTED:a] in the garden.",
            "Tea [REDACTED:a] in the garden.",
            "The old key is under [REDACTED:a] the table in the kitchen, as everybody knows.",
            r#"{"a":"The old key is under [REDACTED:name]","b":"knows the way there."}"#,
            "[REDACTED:name]",
        ] {
            assert_eq!(without_pieces(text), None, "{text}");
        }
    }
}
