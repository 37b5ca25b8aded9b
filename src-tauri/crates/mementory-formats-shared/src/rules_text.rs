//! Splits Markdown with rules or notes into items: one for each bullet, and one for each section without bullets.
//! Joining the `source` of all items yields the whole file.
use super::object::content_id;
use std::collections::HashMap;
use std::ops::Range;

/// One rule or note.
#[derive(Debug)]
pub struct Item<'t> {
    /// Text of the item, without the bullet.
    pub text: String,
    /// The exact text in the file, including nearby headings and blank lines that belong to no other item.
    pub source: &'t str,
    /// The last heading above the item.
    pub section: Option<String>,
    /// `line N`, where N is the number of the first line of the item's text.
    pub pointer: String,
    /// Digest of section and text. If an earlier item of the file has the same digest, a number is appended.
    pub id: String,
}

/// The type of a block of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Bullet,
    Paragraph,
    /// Code or a table. A section that contains one is not split, because code and tables only make sense in context.
    Indivisible,
    /// A comment or a horizontal rule, which does not become an item.
    NotAnItem,
}

/// Splits a text into items. `before` is the part of `text` before the rules, such as frontmatter, which becomes part
/// of the first item's source.
pub fn items<'t>(text: &'t str, before: &str) -> Vec<Item<'t>> {
    let body = before.len().min(text.len());
    let mut section_items: Vec<(Range<usize>, String, Option<String>)> = Vec::new();
    for section in sections(text, body) {
        let blocks = blocks_of(text, section.body.clone());
        let has_bullets = blocks.iter().any(|(b, _)| *b == Block::Bullet);
        let has_indivisible_block = blocks.iter().any(|(b, _)| *b == Block::Indivisible);
        let title = section.heading;
        if has_indivisible_block || !has_bullets {
            let body = &text[section.body.clone()];
            let has_no_item = blocks.iter().all(|(b, _)| *b == Block::NotAnItem);
            if !body.trim().is_empty() && !has_no_item {
                section_items.push((section.body, body.trim().to_owned(), title));
            }
            continue;
        }
        for (n, (block, range)) in blocks.iter().enumerate() {
            let words = &text[range.clone()];
            let introduces_list =
                words.trim_end().ends_with(':') && blocks.get(n + 1).is_some_and(|b| b.0 == Block::Bullet);
            match block {
                Block::Bullet => section_items.push((range.clone(), without_bullet(words), title.clone())),
                Block::Paragraph if !introduces_list => {
                    section_items.push((range.clone(), words.trim().to_owned(), title.clone()))
                }
                _ => {}
            }
        }
    }
    if section_items.is_empty() {
        let words = text.get(body..).unwrap_or_default().trim();
        let words = if words.is_empty() { text.trim() } else { words };
        section_items.push((0..text.len(), words.to_owned(), None));
    }
    let mut id_counts: HashMap<String, usize> = HashMap::new();
    let mut out = Vec::with_capacity(section_items.len());
    let mut start = 0;
    let last_index = section_items.len() - 1;
    let (mut line, mut counted_until) = (1, 0);
    for (n, (range, words, section)) in section_items.into_iter().enumerate() {
        let end = if n == last_index { text.len() } else { range.end };
        let text_start = range.start + (text[range.clone()].len() - text[range.clone()].trim_start().len());
        line += text[counted_until..text_start].matches('\n').count();
        counted_until = text_start;
        let digest = content_id(&format!("{}\n{words}", section.as_deref().unwrap_or_default()));
        let count = id_counts.entry(digest.clone()).or_default();
        *count += 1;
        let id = if *count > 1 { format!("{digest}~{count}") } else { digest };
        out.push(Item { text: words, source: &text[start..end], section, pointer: format!("line {line}"), id });
        start = end;
    }
    out
}

struct Section {
    heading: Option<String>,
    body: Range<usize>,
}

/// Splits a text into sections at headings of any level. Lines in code blocks are not headings.
fn sections(text: &str, from: usize) -> Vec<Section> {
    let mut out = vec![Section { heading: None, body: from..text.len() }];
    let (mut at, mut fence) = (from, None);
    for line in text[from..].split_inclusive('\n') {
        let next = at + line.len();
        if !toggle_fence(line, &mut fence)
            && fence.is_none()
            && let Some(heading) = heading_of(line)
        {
            if let Some(last) = out.last_mut() {
                last.body.end = at;
            }
            out.push(Section { heading: Some(heading), body: next..text.len() });
        }
        at = next;
    }
    out
}

/// The text of a heading. None for a line that is not a heading.
fn heading_of(line: &str) -> Option<String> {
    let mark_count = line.len() - line.trim_start_matches('#').len();
    let words = line.get(mark_count..).filter(|rest| (1..=6).contains(&mark_count) && rest.starts_with([' ', '\t']))?;
    let words = words.trim().trim_end_matches('#').trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// Updates `fence`, the character of the open code fence, if any. Returns true if the line opens or closes a fence.
fn toggle_fence(line: &str, fence: &mut Option<char>) -> bool {
    let line = line.trim_start();
    let mark = ['`', '~'].into_iter().find(|c| line.starts_with(&c.to_string().repeat(3)));
    match (mark, *fence) {
        (Some(mark), None) => *fence = Some(mark),
        (Some(mark), Some(open)) if mark == open => *fence = None,
        _ => return false,
    }
    true
}

/// Indentation of the first line of a list item. None for any other line.
fn bullet_indent(line: &str) -> Option<usize> {
    let words = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - words.len();
    let digit_count = words.len() - words.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let text_after_mark = match words.get(digit_count..)? {
        rest if (1..=4).contains(&digit_count) => rest.strip_prefix(['.', ')'])?,
        rest => rest.strip_prefix(['-', '*', '+', '•'])?,
    };
    (text_after_mark.starts_with([' ', '\t']) && !text_after_mark.trim().is_empty()).then_some(indent)
}

fn blocks_of(text: &str, range: Range<usize>) -> Vec<(Block, Range<usize>)> {
    let mut out: Vec<(Block, Range<usize>)> = Vec::new();
    let (mut at, mut fence, mut was_blank, mut base) = (range.start, None, true, None);
    let mut is_in_comment = false;
    for line in text[range].split_inclusive('\n') {
        let next = at + line.len();
        let was_in_fence = fence.is_some();
        let is_fence = toggle_fence(line, &mut fence);
        let is_blank = line.trim().is_empty();
        let is_indented = line.starts_with([' ', '\t']);
        let is_in_bullet = out.last().is_some_and(|(b, _)| *b == Block::Bullet);
        let indent = bullet_indent(line).filter(|_| !was_in_fence && !is_fence);
        let is_top = indent.is_some_and(|i| base.is_none_or(|b| i <= b));
        let words = line.trim();
        let kind = if is_in_comment || words.starts_with("<!--") {
            is_in_comment = !words.ends_with("-->");
            Some(Block::NotAnItem)
        } else if is_blank && !was_in_fence {
            None
        } else if is_top {
            base = base.or(indent);
            Some(Block::Bullet)
        } else if (is_fence || was_in_fence) && !(is_in_bullet && (is_indented || was_in_fence))
            || words.starts_with('|')
        {
            Some(Block::Indivisible)
        } else if matches!(words, "---" | "***" | "___") {
            Some(Block::NotAnItem)
        } else {
            Some(Block::Paragraph)
        };
        match (kind, out.last_mut()) {
            (None, _) => {}
            (Some(Block::Paragraph), Some((Block::Bullet, open)))
                if is_indented || !was_blank || was_in_fence || is_fence =>
            {
                open.end = next;
            }
            (Some(kind @ (Block::Indivisible | Block::NotAnItem)), Some((last, open))) if *last == kind => {
                open.end = next
            }
            (Some(Block::Paragraph), Some((Block::Paragraph, open))) if !was_blank => open.end = next,
            (Some(kind), _) => out.push((kind, at..next)),
        }
        was_blank = is_blank;
        at = next;
    }
    out
}

/// The text of a list item without the bullet or number.
fn without_bullet(item: &str) -> String {
    let words = item.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let words = words.strip_prefix(['-', '*', '+', '•', '.', ')']).unwrap_or(words);
    words.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(Option<String>, String)> {
        let items_found = items(text, "");
        assert_eq!(items_found.iter().map(|p| p.source).collect::<String>(), text);
        items_found.into_iter().map(|p| (p.section, p.text)).collect()
    }

    #[test]
    fn bullets_and_sections_without_bullets_are_items() {
        let items = texts(
            "# Rules\n\nAlways:\n\n- Be brief.\n- Use tabs\n  everywhere.\n\n  - nested\n\n## Build\nRun `make`.\nThen test.\n\n## Empty\n",
        );
        let expected = [
            ("Rules", "Be brief."),
            ("Rules", "Use tabs\n  everywhere.\n\n  - nested"),
            ("Build", "Run `make`.\nThen test."),
        ];
        assert_eq!(items, expected.map(|(s, t)| (Some(s.to_owned()), t.to_owned())));
    }

    #[test]
    fn a_section_with_code_is_not_split() {
        let items = texts("## Run\n\n- first\n\n```sh\n# not a heading\n- not a bullet\n```\n\n1. one\n2. two");
        assert_eq!(items.len(), 1);
        let items = texts("1. one\n   ```sh\n   x\n   ```\n2. two\n\nplain words\n");
        assert_eq!(items.len(), 3);
    }

    #[test]
    fn equal_items_have_different_ids_and_no_text_is_lost() {
        let items_found = items("- a\r\n- a\r\n", "");
        assert_ne!(items_found[0].id, items_found[1].id);
        for text in ["", "\n\n", "# Only a heading\n", "<!-- note -->\n", "words", "- ", "---\na: 1\n---\n"] {
            let items_found = items(text, "");
            assert_eq!(items_found.iter().map(|p| p.source).collect::<String>(), text);
        }
    }
}
