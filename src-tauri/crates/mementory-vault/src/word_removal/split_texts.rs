//! Finds erased texts that contain marks of earlier redactions. A file that quotes the original text has the original
//! words in place of the marks, so only the pieces between the marks match. A piece of a few words may also occur in
//! other texts, so it counts only if the next piece of its line is close to it.
use crate::word_removal::{
    ERASED_MARK, MAX_GAP_BYTES, is_distinctive_sentence, is_rare_phrase, pattern_finder::PatternFinder,
};
use mementory_model::{REDACTED, between_redaction_marks, normal_text, without_redaction_marks};
use std::{
    collections::{BTreeSet, HashMap},
    ops::Range,
};

/// Shortest piece that is searched for next to another piece, in bytes of its normal form.
const MIN_PIECE_BYTES: usize = 6;

/// Returns the trimmed pieces between the redaction marks of erased texts that are long enough to be compared.
pub(super) fn pieces_between_marks(texts: &[String]) -> BTreeSet<&str> {
    let marked_texts = texts.iter().filter(|text| text.contains(REDACTED));
    let pieces = marked_texts
        .flat_map(|text| between_redaction_marks(text).into_iter().filter_map(move |piece| text.get(piece)));
    pieces.map(str::trim).filter(|piece| is_distinctive_sentence(&normal_text(piece))).collect()
}

/// Returns the parts that earlier erasures left of the texts, except parts that are too short to be searched for. Each
/// part consists of whole sentences, because the mark of an erasure replaces whole sentences. A file may quote a part
/// together with the sentences that were replaced.
pub(super) fn sentences_left(texts: &[String]) -> BTreeSet<&str> {
    let marked_texts = texts.iter().filter(|text| text.contains(ERASED_MARK));
    let parts = marked_texts.flat_map(|text| text.split(ERASED_MARK)).map(str::trim);
    parts.filter(|part| is_distinctive_sentence(&normal_text(&without_redaction_marks(part)))).collect()
}

/// The pieces of lines with redaction marks, indexed to find consecutive pieces that are close to each other.
#[derive(Default)]
pub(super) struct SplitLines {
    /// Finds the pieces. None if there are no pieces.
    finder: Option<PatternFinder>,
    /// Length of each piece in bytes.
    lengths: Vec<usize>,
    /// For each piece, the pieces that come next in a line.
    next: Vec<BTreeSet<usize>>,
}

impl SplitLines {
    pub(super) fn new(texts: &[String]) -> Self {
        let mut out = Self::default();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut pieces: Vec<&str> = Vec::new();
        for line in texts.iter().filter(|text| text.contains(REDACTED)).flat_map(|text| text.lines()) {
            let mut last: Option<(usize, String)> = None;
            for piece in between_redaction_marks(line).into_iter().filter_map(|piece| line.get(piece)) {
                let piece = piece.trim();
                let normal = normal_text(piece);
                if normal.len() < MIN_PIECE_BYTES {
                    continue;
                }
                let number = *numbers.entry(piece).or_insert(pieces.len());
                if number == pieces.len() {
                    pieces.push(piece);
                    out.next.push(BTreeSet::new());
                }
                if let Some((last, before)) = last
                    && is_rare_phrase(&format!("{before} {normal}"))
                    && let Some(next) = out.next.get_mut(last)
                {
                    next.insert(number);
                }
                last = Some((number, normal));
            }
        }
        out.lengths = pieces.iter().map(|piece| piece.len()).collect();
        if out.next.iter().any(|next| !next.is_empty()) {
            out.finder = Some(PatternFinder::of_all(&pieces));
        }
        out
    }

    /// True if the bytes contain a piece, or an escape that may hide a piece.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        self.finder.as_ref().is_some_and(|finder| memchr::memchr(b'\\', bytes).is_some() || finder.is_match(bytes))
    }

    /// Removes the pieces that are close to the next piece of their line. Returns None if the text contains no such
    /// piece.
    pub(super) fn without_pieces(&self, text: &str) -> Option<String> {
        self.replace(text.as_bytes(), false).and_then(|new| String::from_utf8(new).ok())
    }

    /// Like [`without_pieces`](Self::without_pieces), line by line, for bytes that are not text. If the bytes include a
    /// NUL, their length does not change.
    pub(super) fn without_pieces_in_bytes(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let keeps_length = memchr::memchr(0, bytes).is_some();
        let mut out = Vec::with_capacity(bytes.len());
        let mut changed = false;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let new = self.replace(line, keeps_length);
            changed |= new.is_some();
            out.extend_from_slice(new.as_deref().unwrap_or(line));
        }
        changed.then_some(out)
    }

    fn replace(&self, bytes: &[u8], keeps_length: bool) -> Option<Vec<u8>> {
        let places = self.find(bytes);
        if places.is_empty() {
            return None;
        }
        let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
        for place in places {
            // Two pieces may overlap.
            let start = place.start.max(at);
            out.extend_from_slice(bytes.get(at..start)?);
            if keeps_length {
                out.resize(out.len() + place.end.saturating_sub(start), b'*');
            } else if start == place.start {
                out.extend_from_slice(ERASED_MARK.as_bytes());
            }
            at = place.end.max(at);
        }
        out.extend_from_slice(bytes.get(at..)?);
        Some(out)
    }

    /// Returns the ranges of pieces close to the next piece of their line, in ascending order.
    fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let Some(finder) = &self.finder else { return Vec::new() };
        let mut starts: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut found = Vec::new();
        for (piece, place) in finder.find_overlapping(bytes) {
            starts.entry(piece).or_default().push(place.start);
            found.push((piece, place));
        }
        let mut out = Vec::new();
        for (piece, place) in found {
            for next in self.next.get(piece).into_iter().flatten() {
                let (Some(starts), Some(length)) = (starts.get(next), self.lengths.get(*next)) else { continue };
                let after = starts.partition_point(|start| *start < place.end);
                if let Some(start) = starts.get(after).filter(|start| **start <= place.end + MAX_GAP_BYTES) {
                    out.extend([place.clone(), *start..*start + *length]);
                }
            }
        }
        out.sort_by_key(|place| (place.start, place.end));
        out.dedup();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_lines() -> SplitLines {
        let text =
            "# Keys\nI am quite sure that [REDACTED:name] still has the old [REDACTED:x] key of the garden shed.";
        SplitLines::new(&[text.to_owned()])
    }

    #[test]
    fn pieces_near_each_other_are_removed() {
        let quoted = "He wrote: I am quite sure that Müller still has the old key of the garden shed. Or not.";
        let expected = "He wrote: [REDACTED:erased] Müller [REDACTED:erased] [REDACTED:erased] Or not.";
        assert_eq!(split_lines().without_pieces(quoted).as_deref(), Some(expected));
    }

    #[test]
    fn a_phrase_alone_stays() {
        let far = format!("I am quite sure that {}still has the old map.", "nobody ".repeat(30));
        for text in ["I am quite sure that he is right.", "key of the garden shed. I am quite sure that", &far] {
            assert_eq!(split_lines().without_pieces(text), None, "{text}");
        }
    }

    #[test]
    fn only_parts_that_an_erasure_left_count_as_sentences() {
        let texts = [
            "[REDACTED:erased] My PIN is 4711. [REDACTED:erased] Yes.",
            "The key is [REDACTED:x] here. [REDACTED:erased]",
            "The old key is with [REDACTED:name] now.",
            "My PIN is 4812.",
        ];
        let left = sentences_left(&texts.map(str::to_owned)).into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(left, ["My PIN is 4711.", "The key is [REDACTED:x] here."]);
    }

    #[test]
    fn binary_bytes_keep_their_length() {
        let new = split_lines().without_pieces_in_bytes(b"\0\xffstill has the old x key of the garden shed.\0");
        let expected = [&b"\0\xff"[..], &[b'*'; 17], b" x ", &[b'*'; 23], b"\0"].concat();
        assert_eq!(new, Some(expected));
    }
}
