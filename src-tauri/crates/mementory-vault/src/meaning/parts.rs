//! Divides a text into parts, each of which is encoded as one vector. A single vector for a long note would be slightly
//! similar to every query and very similar to none.

/// Once a part has this many characters, it ends with its current line.
const PART_CHARS: usize = 200;
/// A line with more characters than this is divided.
const MAX_PART_CHARS: usize = 1_000;
/// Largest number of parts of a text. Further text is not encoded, so that a long text costs little.
const MAX_PARTS: usize = 32;

/// Returns the parts of a text. The title is in the first part, unless the text contains it.
pub(super) fn parts(title: Option<&str>, text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut chars = 0;
    let title = title.filter(|title| !text.contains(title)).unwrap_or("");
    for line in std::iter::once(title).chain(text.lines()) {
        let mut remainder = line.trim();
        while !remainder.is_empty() && parts.len() < MAX_PARTS {
            let end = remainder.char_indices().nth(MAX_PART_CHARS).map_or(remainder.len(), |(index, _)| index);
            let (piece, after) = remainder.split_at(end);
            if !part.is_empty() {
                part.push('\n');
            }
            part.push_str(piece);
            chars += piece.chars().count();
            remainder = after;
            if chars >= PART_CHARS {
                parts.push(std::mem::take(&mut part));
                chars = 0;
            }
        }
        if parts.len() == MAX_PARTS {
            return parts;
        }
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_one_part() {
        assert_eq!(parts(None, "I like tea.\n\nAnd cake.\n"), ["I like tea.\nAnd cake."]);
        assert_eq!(parts(Some("Food"), "I like tea."), ["Food\nI like tea."]);
        assert_eq!(parts(Some("tea"), "I like tea."), ["I like tea."]);
        assert!(parts(None, " \n\t\n").is_empty() && parts(Some(""), "").is_empty());
    }

    #[test]
    fn long_texts_have_several_parts_up_to_a_limit() {
        let lines = format!("{}\n{}\nend", "a".repeat(150), "b".repeat(150));
        assert_eq!(parts(None, &lines), [format!("{}\n{}", "a".repeat(150), "b".repeat(150)), "end".into()]);
        let endless = parts(None, &"日本".repeat(500_000));
        assert_eq!(endless.len(), MAX_PARTS);
        assert!(endless.iter().all(|part| part.chars().count() <= MAX_PART_CHARS));
    }
}
