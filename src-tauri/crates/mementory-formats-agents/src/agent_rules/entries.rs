//! The entries of a memory file of Hermes Agent. A line with a section sign separates them.
use mementory_formats_shared::object::content_id;
use mementory_formats_shared::rules_text::Item;

const SEPARATOR: &str = "§";

/// True for a text with a line that separates entries.
pub(super) fn has_separator(text: &str) -> bool {
    text.lines().any(|line| line.trim() == SEPARATOR)
}

/// The entries of a file. Joining their sources yields the whole file. An empty entry becomes part of the next entry.
pub(super) fn entries(text: &str) -> Vec<Item<'_>> {
    let (mut out, mut start, mut at, mut line_number): (Vec<Item<'_>>, usize, usize, usize) = (Vec::new(), 0, 0, 0);
    // Byte offset and line number at which the entry that is being read begins.
    let mut entry: Option<(usize, usize)> = None;
    for line in text.split_inclusive('\n') {
        line_number += 1;
        let next = at + line.len();
        if line.trim() == SEPARATOR {
            if let Some((begin, number)) = entry.take() {
                out.push(item(&text[start..next], &text[begin..at], number));
                start = next;
            }
        } else if entry.is_none() && !line.trim().is_empty() {
            entry = Some((at, line_number));
        }
        at = next;
    }
    if let Some((begin, number)) = entry {
        out.push(item(&text[start..], &text[begin..], number));
    } else if let Some(last) = out.pop() {
        let before = text.len() - text[start..].len() - last.source.len();
        out.push(Item { source: &text[before..], ..last });
    }
    out
}

fn item<'t>(source: &'t str, words: &str, line: usize) -> Item<'t> {
    let text = words.trim().to_owned();
    Item { id: content_id(&text), text, source, section: None, pointer: format!("line {line}") }
}
