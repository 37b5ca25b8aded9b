//! Works on the text of a file: its byte order mark and line breaks, positions in it, and edits.
use std::ops::Range;

/// Why a text cannot be parsed or edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextError {
    /// A syntax error at this offset.
    Syntax(usize, String),
    /// The text is well-formed, but its layout at this offset is not supported.
    Layout(usize, String),
    /// The entry with this name was not added by this program.
    NotOurs,
}

/// The byte order mark and the text after it.
pub(crate) fn split_bom(text: &str) -> (&str, &str) {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    }
}

/// The line break of the text: that of its first line, or `\n` if the text has none.
pub(crate) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Line and column of an offset, both counted from 1. The column is in characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Spaces and tabs at the beginning of the line that contains `offset`.
pub(crate) fn indent_at(text: &str, offset: usize) -> &str {
    let line_start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = &text[line_start..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Replaces ranges. Edits at the same offset are applied in the given order. Where ranges overlap, the text is removed
/// only once.
pub(crate) fn apply_edits(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = String::with_capacity(text.len() + edits.iter().map(|(_, new)| new.len()).sum::<usize>());
    let mut at = 0;
    for (range, new) in edits {
        out.push_str(&text[at..range.start.max(at)]);
        out.push_str(&new);
        at = at.max(range.end);
    }
    out.push_str(&text[at..]);
    out
}
