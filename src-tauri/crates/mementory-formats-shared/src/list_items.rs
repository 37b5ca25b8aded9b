//! Writes texts as items of a Markdown list. No text can end its item, begin another item, or make an agent load a
//! file.

/// The text without surrounding whitespace. Line breaks become line feeds, and zero bytes become U+FFFD.
pub fn clean(text: &str) -> String {
    let text = super::note_reader::unix_lines(text.trim());
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

/// The text as one list item. All lines after the first are indented.
pub fn item(text: &str) -> String {
    let text = clean(text);
    let mut lines = text.lines();
    let mut out = format!("- {}\n", without_commands(lines.next().unwrap_or_default()));
    for line in lines {
        let line = line.trim_end();
        if line.is_empty() {
            out.push('\n');
            continue;
        }
        let unindented = line.trim_start();
        // A code fence, a table or a horizontal rule at the start of a line could absorb the text after the item.
        let is_block = ["```", "~~~", "|"].iter().any(|mark| unindented.starts_with(mark))
            || matches!(unindented, "---" | "***" | "___");
        let mark = if is_block { "\\" } else { "" };
        let indent = line.get(..line.len() - unindented.len()).unwrap_or_default();
        out.push_str(&format!("  {indent}{mark}{}\n", without_commands(unindented)));
    }
    out
}

/// The text with a backslash before everything that has an effect on agents: an `@`, which makes them load a file, and
/// the start of an HTML comment, which they would remove.
pub fn without_commands(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut previous_char = ' ';
    for (at, c) in text.char_indices() {
        let is_import = c == '@' && !previous_char.is_alphanumeric() && previous_char != '\\';
        let is_comment = c == '<' && text.get(at..).is_some_and(|rest| rest.starts_with("<!--"));
        if is_import || is_comment {
            out.push('\\');
        }
        out.push(c);
        previous_char = c;
    }
    out
}

/// Turns a title into the text of a link: one line of at most `max_chars` characters.
pub fn link_text(title: &str, max_chars: usize) -> String {
    // Characters that change the writing direction could reorder how the rest of the list is displayed.
    let changes_direction = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let plain_char = |c: char| if c.is_control() || changes_direction(c) || "[]()<>`\\".contains(c) { ' ' } else { c };
    let words: String = title.chars().map(plain_char).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let short_text: String = words.chars().take(max_chars).collect();
    let words = if short_text.len() < words.len() { format!("{}…", short_text.trim_end()) } else { short_text };
    if words.is_empty() { "Memory".into() } else { without_commands(&words) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules_text::items;

    #[test]
    fn a_hostile_text_stays_one_item() {
        for text in [
            "one line",
            "two\nlines",
            "# heading\n## another\n- item\n1. number",
            "```sh\nnever closed",
            "text\n```\n- not an item\n```\n\n\nafter",
            "a\n|b|\n|-|\n---\n<!-- open\n***",
            "\r\rreturns\r\nand\0zero",
            "\u{2028}odd\u{85}breaks",
        ] {
            let file = format!("## Topic\n\n{}{}", item(text), item("next"));
            let items_found = items(&file, "");
            assert_eq!(items_found.len(), 2, "{file}");
            assert_eq!(items_found[1].text, "next");
            assert!(items_found.iter().all(|p| p.section.as_deref() == Some("Topic")), "{file}");
        }
        assert_eq!(items(&item("Prefers metric units."), "")[0].text, "Prefers metric units.");
    }

    #[test]
    fn a_text_cannot_load_a_file_or_hide_what_follows() {
        assert_eq!(
            without_commands("see @~/.ssh/id_rsa and a@b.example <!-- x"),
            "see \\@~/.ssh/id_rsa and a@b.example \\<!-- x"
        );
        assert_eq!(link_text("a](evil.md) [b\nc", 40), "a evil.md b c");
        assert_eq!(link_text("\u{7}", 40), "Memory");
    }
}
