//! Parses the lines of a note that Basic Memory interprets, which are `- [category] text #tag (context)` and `-
//! relation [[Target]] (context)`.

/// A statement in a note about the subject of the note.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Observation<'t> {
    /// The word in brackets. None if the line has only tags.
    pub category: Option<&'t str>,
    /// The text without category and context.
    pub text: &'t str,
    /// The tags that the text contains.
    pub tags: Vec<&'t str>,
    /// The words in parentheses at the end.
    pub context: Option<&'t str>,
}

/// A relation of a note to another note.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Relation<'t> {
    /// Name of the relation. None if the line has only the link.
    pub kind: Option<&'t str>,
    /// Title, path or permalink of the other note.
    pub target: &'t str,
    /// The words in parentheses at the end.
    pub context: Option<&'t str>,
}

/// Parses an item of a list as an observation. None for checkboxes, links and plain items.
pub(super) fn observation(item: &str) -> Option<Observation<'_>> {
    let item = item.trim();
    let mut category = None;
    let mut rest = item;
    if let Some(inner) = item.strip_prefix('[') {
        let (name, after) = inner.split_once(']')?;
        let is_malformed = name.contains(['[', '(', ')', '\n']) || !after.starts_with(char::is_whitespace);
        if is_malformed || is_task_mark(name.trim()) || is_time(name.trim()) {
            return None;
        }
        category = Some(name.trim());
        rest = after.trim();
    }
    let tags: Vec<&str> = rest
        .split_whitespace()
        .filter_map(|word| word.strip_prefix('#'))
        .map(|tag| tag.trim_end_matches([',', '.', ';', ')', ':']))
        .filter(|tag| !tag.is_empty() && !tag.starts_with('#'))
        .collect();
    if rest.is_empty() || category.is_none() && (tags.is_empty() || rest.contains("[[")) {
        return None;
    }
    let (text, context) = split_context(rest);
    Some(Observation { category, text, tags, context })
}

/// True if the word in brackets is the mark of a task: `[ ]`, `[x]`, `[-]`, `[/]`, `[?]` …
fn is_task_mark(category: &str) -> bool {
    let mut chars = category.chars();
    match (chars.next(), chars.next()) {
        (None, _) => true,
        (Some(c), None) => matches!(c, 'x' | 'X') || !c.is_alphanumeric(),
        _ => false,
    }
}

/// True if the word in brackets is a time or a date, as in logs: `[10:15]`, `[2026-05-02 10:15]`.
fn is_time(category: &str) -> bool {
    category.starts_with(|c: char| c.is_ascii_digit())
        && category.contains([':', '-'])
        && category.chars().all(|c| c.is_ascii_digit() || " :.-/TZ+".contains(c))
}

/// Parses an item of a list as a relation, which is a name of a few words before a link. None for any other item.
pub(super) fn relation(item: &str) -> Option<Relation<'_>> {
    let item = item.trim();
    if item.starts_with('[') && !item.starts_with("[[") {
        return None;
    }
    let (kind, rest) = item.split_once("[[")?;
    let (target, after) = rest.split_once("]]")?;
    let target = target.split('|').next().unwrap_or(target).trim();
    if target.is_empty() || target.contains('\n') || kind.contains('\n') || kind.chars().count() > 60 {
        return None;
    }
    let kind = kind.trim().trim_end_matches([':', '"', '\'']).trim_start_matches(['"', '\'']).trim();
    let context = after.trim().strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).map(str::trim);
    Some(Relation { kind: Some(kind).filter(|kind| !kind.is_empty()), target, context })
}

/// Splits a text into the text itself and the words in parentheses at its end.
fn split_context(text: &str) -> (&str, Option<&str>) {
    let Some(inner) = text.strip_suffix(')') else { return (text, None) };
    // Finds the opening parenthesis that belongs to the last closing one: in `a (b (c))`, the context is `b (c)`.
    let mut depth = 1;
    for (at, c) in inner.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let before = inner.get(..at).unwrap_or_default();
            let context = inner.get(at + 1..).unwrap_or_default().trim();
            let is_separate = before.ends_with(char::is_whitespace) && !before.trim().is_empty();
            return match is_separate && !context.is_empty() {
                true => (before.trim_end(), Some(context)),
                false => (text, None),
            };
        }
    }
    (text, None)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn observations_have_category_tags_and_context() {
        let found = observation("[decision] Wrap stems in July #leek (after last year)").unwrap();
        assert_eq!(found.category, Some("decision"));
        assert_eq!(found.text, "Wrap stems in July #leek");
        assert_eq!((found.tags.as_slice(), found.context), (["leek"].as_slice(), Some("after last year")));
        assert_eq!(observation("Buy fleece #shopping").unwrap().category, None);
        assert_eq!(observation("[fact] f(x) is odd").unwrap().text, "f(x) is odd");
        for text in [
            "[ ] task",
            "[x] done #tag",
            "[link](url)",
            "[[Note]]",
            "plain",
            "[fact]",
            "",
            "[a][b]",
            "see [[Note]] #tag",
            "[10:15] log line",
            "[?] open",
        ] {
            assert_eq!(observation(text), None, "{text}");
        }
    }

    #[test]
    fn relations_have_a_name_and_a_target() {
        let found = relation("part_of [[Allotment]] (since May)").unwrap();
        assert_eq!((found.kind, found.target, found.context), (Some("part_of"), "Allotment", Some("since May")));
        assert_eq!(relation("[[Plot 12|the plot]]").unwrap().target, "Plot 12");
        for text in ["plain", "[fact] see [[Note]]", "open [[never closed", "[[ ]]"] {
            assert_eq!(relation(text), None, "{text}");
        }
    }
}
