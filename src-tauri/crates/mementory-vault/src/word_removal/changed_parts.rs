//! Finds the parts in which a text and its redacted form differ. In a file that quotes the text, only these parts are
//! replaced, and the other words keep their exact form.
use mementory_model::{between_redaction_marks, redaction_marks};
use std::ops::Range;

/// Returns the parts of `from` that are replaced in `to`, in ascending order, each with its replacement. If `to` does
/// not consist of `from` with marks in place of some parts, the only part is the whole text.
pub(super) fn changed_parts<'t>(from: &str, to: &'t str) -> Vec<(Range<usize>, &'t str)> {
    aligned_parts(from, to).unwrap_or_else(|| vec![(0..from.len(), to)])
}

/// Returns the mark that replaces a whole quotation if its parts cannot be replaced separately.
pub(super) fn mark_of(to: &str) -> &str {
    redaction_marks(to).next().and_then(|mark| to.get(mark)).unwrap_or(to)
}

/// Finds the parts as [`changed_parts`] does. Returns None if `to` does not consist of `from` with marks in place of
/// some parts.
fn aligned_parts<'t>(from: &str, to: &'t str) -> Option<Vec<(Range<usize>, &'t str)>> {
    let unchanged_pieces = between_redaction_marks(to);
    let last = unchanged_pieces.len().checked_sub(1)?;
    let mut out = Vec::new();
    let (mut from_at, mut to_at) = (0, 0);
    for (n, place) in unchanged_pieces.into_iter().enumerate() {
        let words = to.get(place.clone())?;
        let rest = from.get(from_at..)?;
        // The first piece of `to` must be at the start of `from`, and the last piece at its end. For the pieces between
        // them, the first match is enough, because another match would give the same text.
        let start = match n {
            0 => rest.starts_with(words).then_some(0)?,
            n if n == last => rest.ends_with(words).then(|| rest.len() - words.len())?,
            _ => rest.find(words)?,
        };
        let part = from_at..from_at + start;
        let replacement = to.get(to_at..place.start)?;
        // A mark that is in both texts is not a change.
        if n > 0 && from.get(part.clone())? != replacement {
            out.push((part, replacement));
        }
        from_at += start + words.len();
        to_at = place.end;
    }
    (from_at == from.len()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_the_parts_gives_the_redacted_text() {
        for (from, to, count) in [
            ("One. Two. Three.", "One. [REDACTED:a] Three.", 1),
            ("One. Two. Three.", "[REDACTED:a] [REDACTED:a] Three.", 2),
            ("One. Two. Three.", "One. Two. [REDACTED:a]", 1),
            ("One [REDACTED:b] two. Three.", "One [REDACTED:b] two. [REDACTED:a]", 1),
            ("One. Two.", "[REDACTED:a][REDACTED:b]", 2),
            ("One. One. One.", "One. [REDACTED:a] One.", 1),
            ("One.", "[REDACTED:a]", 1),
            ("One.", "Another text", 1),
            ("One. Two.", "One.", 1),
        ] {
            let parts = changed_parts(from, to);
            let (mut out, mut at) = (String::new(), 0);
            for (part, replacement) in &parts {
                out.push_str(&from[at..part.start]);
                out.push_str(replacement);
                at = part.end;
            }
            assert_eq!(out + &from[at..], to, "{from}");
            assert_eq!(parts.len(), count, "{from}: {parts:?}");
        }
    }

    #[test]
    fn the_mark_of_a_redacted_text_is_its_first_one() {
        assert_eq!(mark_of("One [REDACTED:a] two [REDACTED:b]."), "[REDACTED:a]");
        assert_eq!(mark_of("Another text"), "Another text");
    }
}
