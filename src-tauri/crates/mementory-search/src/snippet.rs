//! Extracts the part of a text that shows why it was found.
use crate::tokenize::Words;
use std::collections::HashSet;

/// Number of bytes at the start of a text that are searched for the best window.
const MAX_SEARCHED_BYTES: usize = 4 << 20;
/// Number of characters shown before the first hit.
const LEAD_CHARS: usize = 24;

/// Returns the window of at most `max_chars` characters that contains the most different `terms`, which are folded as a
/// search returns them. Also returns the ranges to highlight in the window, in code points. Line breaks become spaces.
/// An ellipsis marks text that was cut off, and counts as a character.
pub fn snippet(text: &str, terms: &[String], max_chars: usize) -> (String, Vec<(u32, u32)>) {
    let text = text.get(..text.floor_char_boundary(MAX_SEARCHED_BYTES)).unwrap_or_default();
    let searched_terms: HashSet<&str> = terms.iter().map(String::as_str).collect();
    let mut hits: Vec<(usize, usize, &str)> = Vec::new();
    let mut words = Words::new(text);
    while let Some(word) = words.next_word() {
        if let Some(term) = searched_terms.get(word.text) {
            hits.push((word.from, word.to, term));
        }
    }
    let room = max_chars.saturating_sub(2).max(1);
    let from = window_start(text, &hits, room);
    let end = text.get(from..).and_then(|t| t.char_indices().nth(room)).map_or(text.len(), |(i, _)| from + i);
    let (from, end) = trim_window(text, from, end);
    let mut out = String::new();
    let mut count = 0;
    if from > 0 {
        out.push('…');
        count += 1;
    }
    let mut marks: Vec<(u32, u32)> = Vec::new();
    let mut next_hits = hits.iter().filter(|h| h.0 >= from && h.1 <= end).peekable();
    let mut open_range: Option<(u32, usize)> = None;
    for (i, c) in text.get(from..end).unwrap_or_default().char_indices() {
        let position = from + i;
        if let Some((begin, _)) = open_range.filter(|o| o.1 <= position) {
            marks.push((begin, count));
            open_range = None;
        }
        while let Some(hit) = next_hits.next_if(|h| h.0 <= position) {
            // In a script without spaces, tokens are overlapping pairs of characters, so overlapping ranges are merged.
            open_range = Some(open_range.map_or((count, hit.1), |(begin, to)| (begin, to.max(hit.1))));
        }
        out.push(if c.is_whitespace() || c.is_control() { ' ' } else { c });
        count += 1;
    }
    marks.extend(open_range.map(|(begin, _)| (begin, count)));
    if end < text.len() {
        out.push('…');
    }
    (out, marks)
}

/// Start of the best window of `room` characters.
fn window_start(text: &str, hits: &[(usize, usize, &str)], room: usize) -> usize {
    // `room` is in characters, but it is compared with lengths in bytes. A text has at least as many bytes as
    // characters, so the window is never too long.
    let mut best = (0, 0, 0);
    for (i, first) in hits.iter().enumerate() {
        let hits_inside =
            hits[i..].iter().take_while(|h| h.1 - first.0 <= room.saturating_sub(LEAD_CHARS).max(1)).take(64);
        let (mut distinct_terms, mut hit_count) = (HashSet::new(), 0);
        for hit in hits_inside {
            distinct_terms.insert(hit.2);
            hit_count += 1;
        }
        if (distinct_terms.len(), hit_count) > (best.0, best.1) {
            best = (distinct_terms.len(), hit_count, first.0);
        }
        // After two thousand hits, a better window is unlikely.
        if i > 2000 {
            break;
        }
    }
    let position = best.2;
    if text.get(..position).is_none_or(|t| t.chars().count() <= LEAD_CHARS) && position < room {
        return 0;
    }
    // The window starts at the beginning of a word, at most `LEAD_CHARS` characters before the first hit.
    let text_before = text.get(..position).unwrap_or_default();
    let lead_start = text_before.char_indices().rev().nth(LEAD_CHARS - 1).map_or(0, |(i, _)| i);
    let piece = text_before.get(lead_start..).unwrap_or_default();
    piece.char_indices().find(|(_, c)| c.is_whitespace()).map_or(position, |(i, c)| lead_start + i + c.len_utf8())
}

/// Removes whitespace at both ends of the window, and a word that the end of the window cuts off.
fn trim_window(text: &str, from: usize, end: usize) -> (usize, usize) {
    let window = text.get(from..end).unwrap_or_default();
    let from = end - window.trim_start().len();
    let mut end = end;
    if end < text.len() {
        let window = text.get(from..end).unwrap_or_default();
        let is_word_cut = text.get(end..).is_some_and(|t| t.starts_with(|c: char| c.is_alphanumeric()));
        if let Some(space) = window.rfind(char::is_whitespace).filter(|s| is_word_cut && window.len() - s < LEAD_CHARS)
        {
            end = from + space;
        }
    }
    let window = text.get(from..end).unwrap_or_default();
    (from, from + window.trim_end().len())
}
