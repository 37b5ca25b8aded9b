//! A change as a unified diff.
use similar::TextDiff;
use std::path::Path;

/// Largest length in bytes of a line that is shown in full. Some programs write their configuration as a single line,
/// which can be megabytes long.
const MAX_LINE_BYTES: usize = 2000;

/// Number of characters shown on each side of the change in a line longer than `MAX_LINE_BYTES`.
const CONTEXT_CHARS: usize = 80;

/// The change of a file from `before` to `after`; empty if there is none. A file that does not exist is shown as
/// `/dev/null`. If the file has very long lines, only the changed part is shown, between `…`.
pub(crate) fn unified_diff(path: &Path, before: Option<&str>, after: Option<&str>) -> String {
    if before == after {
        return String::new();
    }
    let name = path.display().to_string();
    let header = |side: Option<&str>| if side.is_some() { name.clone() } else { "/dev/null".into() };
    let (from, to) = (header(before), header(after));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if [before, after].iter().any(|text| text.lines().any(|line| line.len() > MAX_LINE_BYTES)) {
        return format!("--- {from}\n+++ {to}\n{}", changed_part(before, after));
    }
    TextDiff::from_lines(before, after).unified_diff().header(&from, &to).to_string()
}

/// The part in which two texts differ, with some of the text around it.
fn changed_part(before: &str, after: &str) -> String {
    let is_same = |pair: &(char, char)| pair.0 == pair.1;
    let start: usize = before.chars().zip(after.chars()).take_while(is_same).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (&before[start..], &after[start..]);
    let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(is_same).map(|(c, _)| c.len_utf8()).sum();
    let text_before: Vec<char> = before[..start].chars().rev().take(CONTEXT_CHARS).collect();
    let text_before: String = text_before.into_iter().rev().collect();
    let text_after: String = old[old.len() - end..].chars().take(CONTEXT_CHARS).collect();
    let diff_line = |sign: char, text: &str| {
        let part = format!("…{text_before}{}{text_after}…", &text[..text.len() - end]);
        part.lines().map(|line| format!("{sign}{line}\n")).collect::<String>()
    };
    diff_line('-', old) + &diff_line('+', new)
}
