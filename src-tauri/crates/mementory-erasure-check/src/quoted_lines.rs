//! Finds erased texts of several lines that a file quotes with an earlier redaction mark in one of the lines. The lines
//! before or after the mark are recognised if they extend to the beginning or the end of the text.
use crate::{
    internal::search_for,
    phrases::{is_long_phrase, pieces_of},
};
use mementory_model::{REDACTED, normal_text};
use mementory_search::Needles;
use mementory_store::StoreResult;
use std::ops::Range;

/// Length in bytes of the beginning and the end of a text that are searched for.
const EDGE_BYTES: usize = 32;

/// Texts of several lines, and pieces of several lines between the redaction marks of texts.
pub(crate) struct QuotedLines {
    texts: Vec<Vec<u8>>,
    beginnings: Needles,
    ends: Needles,
}

impl QuotedLines {
    /// Prepares the search. None if no text has several lines and is long enough.
    pub(crate) fn new(texts: &[String]) -> StoreResult<Option<Self>> {
        let pieces = pieces_of(texts);
        let unmarked_texts = texts.iter().filter(|text| !text.contains(REDACTED));
        let texts_and_pieces = unmarked_texts.chain(&pieces).map(|text| text.as_bytes());
        let texts: Vec<Vec<u8>> = texts_and_pieces
            .filter(|text| text.len() >= EDGE_BYTES && text.contains(&b'\n'))
            .map(<[u8]>::to_vec)
            .collect();
        if texts.is_empty() {
            return Ok(None);
        }
        let needles = |edges: Vec<&[u8]>| search_for(&edges);
        let beginnings = needles(texts.iter().map(|text| text.get(..EDGE_BYTES).unwrap_or(text)).collect())?;
        let ends = needles(texts.iter().map(|text| text.get(text.len() - EDGE_BYTES..).unwrap_or(text)).collect())?;
        Ok(Some(Self { texts, beginnings, ends }))
    }

    /// True if the bytes before a mark are the beginning of a text, or if the bytes after a mark are the end of a text.
    /// These bytes must form a long phrase that includes a line break.
    pub(crate) fn are_around(&self, window: &[u8], marks: &[Range<usize>]) -> bool {
        if marks.is_empty() {
            return false;
        }
        // Marks are in ascending order and do not overlap.
        let has_mark =
            |offset: usize, position: fn(&Range<usize>) -> usize| marks.binary_search_by_key(&offset, position).is_ok();
        let is_before_mark = |(number, start): (usize, usize)| {
            let (Some(text), Some(rest)) = (self.texts.get(number), window.get(start..)) else { return false };
            let common_len = text.iter().zip(rest).take_while(|(a, b)| a == b).count();
            has_mark(start + common_len, |mark| mark.start) && text.get(..common_len).is_some_and(are_long_lines)
        };
        let is_behind_mark = |(number, start): (usize, usize)| {
            let end = start + EDGE_BYTES;
            let (Some(text), Some(before)) = (self.texts.get(number), window.get(..end)) else { return false };
            let common_len = text.iter().rev().zip(before.iter().rev()).take_while(|(a, b)| a == b).count();
            has_mark(end - common_len, |mark| mark.end)
                && text.get(text.len() - common_len..).is_some_and(are_long_lines)
        };
        self.beginnings.occurrences(window).any(is_before_mark) || self.ends.occurrences(window).any(is_behind_mark)
    }
}

fn are_long_lines(part: &[u8]) -> bool {
    part.contains(&b'\n') && is_long_phrase(&normal_text(&String::from_utf8_lossy(part)))
}
