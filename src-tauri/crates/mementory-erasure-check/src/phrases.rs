//! Finds pieces of erased texts in passthrough files. A file or a text may have marks of an earlier redaction, which
//! divide the text into pieces. The code is independent of the vault's code that removes the pieces.
//!
//! A short phrase may be in many texts by chance. So a piece counts only if it is long, or if another piece of the same
//! text is next to it and both together are long.
use crate::{internal::search_for, joined_forms::JoinedForms};
use memchr::memmem;
use mementory_model::{
    REDACTED, between_redaction_marks, is_of_unspaced_script, normal_text, without_redaction_marks, word_count,
};
use mementory_search::Needles;
use mementory_store::StoreResult;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Smallest length of a long phrase, in bytes of its normal form.
const MIN_LONG_PHRASE_BYTES: usize = 32;
/// Smallest number of words of a long phrase.
const MIN_LONG_PHRASE_WORDS: usize = 5;
/// Smallest length of a piece that is compared with a text as a whole, in bytes of its normal form.
const MIN_SENTENCE_BYTES: usize = 12;
/// Smallest length of a piece that is searched for next to another piece, in bytes of its normal form.
const MIN_NEIGHBOUR_BYTES: usize = 6;
/// Largest number of bytes between two pieces that count as neighbours.
pub(crate) const MAX_GAP_BYTES: usize = 128;
/// The mark that replaces sentences of an erased text in other records.
const ERASED_MARK: &str = "[REDACTED:erased]";
/// Number of bytes of a neighbouring piece that are compared, counted from the mark.
const NEIGHBOUR_EDGE_BYTES: usize = 72;

pub(crate) fn is_long_phrase(normal: &str) -> bool {
    normal.len() >= MIN_LONG_PHRASE_BYTES && word_count(normal) >= MIN_LONG_PHRASE_WORDS
}

fn is_sentence(normal: &str) -> bool {
    normal.len() >= MIN_SENTENCE_BYTES && word_count(normal) > 1
}

/// The normal form of bytes of a file. Escaped characters are left out, except those of scripts without spaces, so that
/// the result is never longer than the normal form of the unescaped text.
fn normal_form(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut without_escapes = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            without_escapes.push(c);
        } else if chars.next() == Some('u') {
            let digits: String = chars.by_ref().take(4).collect();
            let decoded = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
            without_escapes.extend(decoded.filter(|c| is_of_unspaced_script(*c)));
        }
    }
    normal_text(&without_escapes)
}

/// The pieces of the texts between their redaction marks that are at least as long as a sentence.
pub(crate) fn pieces_of(texts: &[String]) -> BTreeSet<String> {
    let marked_texts = texts.iter().filter(|text| text.contains(REDACTED));
    let all_pieces = marked_texts.flat_map(|text| {
        let pieces = between_redaction_marks(text).into_iter();
        pieces.filter_map(|piece| text.get(piece)).map(|piece| piece.trim().to_owned()).collect::<Vec<_>>()
    });
    all_pieces.filter(|piece| is_sentence(&normal_text(piece))).collect()
}

/// The parts of the texts that earlier erasures did not remove. The mark of an erasure replaces whole sentences, so
/// each part consists of whole sentences. A file may quote these parts without marks.
pub(crate) fn sentences_left(texts: &[String]) -> BTreeSet<String> {
    let marked_texts = texts.iter().filter(|text| text.contains(ERASED_MARK));
    let parts = marked_texts.flat_map(|text| text.split(ERASED_MARK)).map(str::trim);
    let sentences = parts.filter(|part| is_sentence(&normal_text(&without_redaction_marks(part))));
    sentences.map(str::to_owned).collect()
}

/// True if the piece on one side of a mark is part of a text and long enough, either alone or together with the piece
/// on the other side.
pub(crate) fn are_around_mark(forms: &JoinedForms, piece_before: Option<&[u8]>, piece_after: Option<&[u8]>) -> bool {
    let (piece_before, piece_after) = (piece_before.map(<[u8]>::trim_ascii), piece_after.map(<[u8]>::trim_ascii));
    let is_long_part = |piece: &[u8]| is_long_phrase(&normal_form(piece)) && forms.positions(piece).next().is_some();
    if [piece_before, piece_after].into_iter().flatten().any(is_long_part) {
        return true;
    }
    let (Some(piece_before), Some(piece_after)) = (piece_before, piece_after) else { return false };
    let head = piece_after.get(..NEIGHBOUR_EDGE_BYTES).unwrap_or(piece_after);
    let tail = piece_before.get(piece_before.len().saturating_sub(NEIGHBOUR_EDGE_BYTES)..).unwrap_or(piece_before);
    has_with_neighbour(forms, piece_before, head, |place| {
        let neighbourhood = forms.as_bytes().get(place.end..)?;
        let neighbourhood = neighbourhood.get(..MAX_GAP_BYTES + head.len()).unwrap_or(neighbourhood);
        neighbourhood.split(|byte| *byte == 0).next()
    }) || has_with_neighbour(forms, piece_after, tail, |place| {
        let neighbourhood =
            forms.as_bytes().get(place.start.saturating_sub(MAX_GAP_BYTES + tail.len())..place.start)?;
        neighbourhood.rsplit(|byte| *byte == 0).next()
    })
}

/// True if a text contains the piece with the neighbour close to it, and both together are long enough. `bytes_near`
/// returns the bytes of the text around a position of the piece, in which the neighbour must occur.
fn has_with_neighbour<'t>(
    forms: &'t JoinedForms,
    piece: &[u8],
    neighbour: &[u8],
    bytes_near: impl Fn(Range<usize>) -> Option<&'t [u8]>,
) -> bool {
    let normal = normal_form(piece);
    is_sentence(&normal)
        && is_long_phrase(format!("{normal} {}", normal_form(neighbour)).trim_end())
        && forms.positions(piece).any(|position| {
            bytes_near(position..position + piece.len())
                .is_some_and(|bytes_near| memmem::find(bytes_near, neighbour).is_some())
        })
}

/// A piece in one of its plain or escaped forms.
struct Form {
    /// Number of the piece.
    piece: usize,
    length: usize,
    /// True if the form has no escapes.
    is_plain: bool,
}

/// Pairs of pieces that follow each other in a line of a text, with a redaction mark between them.
pub(crate) struct SplitLines {
    search: Needles,
    forms: Vec<Form>,
    pairs: BTreeSet<(usize, usize)>,
}

impl SplitLines {
    /// Prepares the search. `written_forms` returns the plain and escaped forms of a piece. None if no text has such
    /// pairs.
    pub(crate) fn new(
        texts: &[String],
        written_forms: impl Fn(&str) -> BTreeSet<Vec<u8>>,
    ) -> StoreResult<Option<Self>> {
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut pairs = BTreeSet::new();
        for line in texts.iter().flat_map(|text| text.lines()).filter(|line| line.contains(REDACTED)) {
            let pieces = between_redaction_marks(line).into_iter().filter_map(|piece| line.get(piece)).map(str::trim);
            let pieces = pieces.map(|piece| (piece, normal_text(piece)));
            let pieces: Vec<(&str, String)> =
                pieces.filter(|(_, normal)| normal.len() >= MIN_NEIGHBOUR_BYTES).collect();
            for pair in pieces.windows(2) {
                let [(first, normal), (second, next_normal)] = pair else { continue };
                if is_long_phrase(&format!("{normal} {next_normal}")) {
                    let [first, second] = [first, second].map(|piece| {
                        let next_number = numbers.len();
                        *numbers.entry((*piece).to_owned()).or_insert(next_number)
                    });
                    pairs.insert((first, second));
                }
            }
        }
        if pairs.is_empty() {
            return Ok(None);
        }
        let (mut forms, mut needles) = (Vec::new(), Vec::new());
        for (text, piece) in &numbers {
            for needle in written_forms(text) {
                let is_plain = needle == text.as_bytes();
                forms.push(Form { piece: *piece, length: needle.len(), is_plain });
                needles.push(needle);
            }
        }
        let search = search_for(&needles)?;
        Ok(Some(Self { search, forms, pairs }))
    }

    /// True if two pieces follow each other in one string or line of the bytes. Escaped forms occur only in JSON.
    pub(crate) fn occur_in(&self, bytes: &[u8], is_json: bool) -> bool {
        let mut places: BTreeMap<usize, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for (form, start) in self.search.occurrences(bytes) {
            let form = self.forms.get(form).filter(|form| form.is_plain || is_json);
            if let Some(form) = form {
                places.entry(form.piece).or_default().insert((start, start + form.length));
            }
        }
        self.pairs.iter().any(|(first, second)| {
            let (Some(first), Some(second)) = (places.get(first), places.get(second)) else { return false };
            first.iter().any(|(_, end)| {
                let mut starts_after = second.range((*end, 0)..=(end + MAX_GAP_BYTES, usize::MAX));
                starts_after.any(|(start, _)| {
                    bytes.get(*end..*start).is_some_and(|gap| memchr::memchr2(b'"', b'\n', gap).is_none())
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn written_forms(piece: &str) -> BTreeSet<Vec<u8>> {
        let json = serde_json::to_string(piece).unwrap();
        BTreeSet::from([piece.as_bytes().to_vec(), json.trim_matches('"').as_bytes().to_vec()])
    }

    fn are_split_lines_in(bytes: &str) -> bool {
        let texts = ["One\nI am quite sure that [REDACTED:name] still has the old \"red\" key.".to_owned()];
        let split_lines = SplitLines::new(&texts, written_forms).unwrap().unwrap();
        split_lines.occur_in(bytes.as_bytes(), bytes.starts_with('{'))
    }

    #[test]
    fn two_pieces_are_found_in_one_line_or_string_only() {
        assert!(are_split_lines_in("He: I am quite sure that Müller still has the old \"red\" key. Or not."));
        assert!(are_split_lines_in(r#"{"a":"I am quite sure that he still has the old \"red\" key."}"#));
        assert!(!are_split_lines_in(r#"{"a":"I am quite sure that","b":"still has the old \"red\" key."}"#));
        assert!(!are_split_lines_in("I am quite sure that\nstill has the old \"red\" key."));
        assert!(!are_split_lines_in("I am quite sure that nobody is here."));
    }

    #[test]
    fn escaped_characters_are_counted_in_scripts_without_spaces_only() {
        assert_eq!(normal_form(br#"Herr M\u00fcller said \"yes\""#), "herr mller said yes");
        assert_eq!(normal_form(br"\u9375\u306e\u3002 \u96"), "鍵の");
    }
}
