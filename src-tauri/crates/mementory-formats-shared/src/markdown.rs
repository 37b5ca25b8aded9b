//! Finds the headings, list items, links and tags of a Markdown note, except in code.
use super::percent::percent_decoded;
use pulldown_cmark::{Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use std::collections::HashSet;
use std::ops::Range;

/// Largest size in bytes of a note whose outline is determined.
pub const MAX_BYTES: usize = 8 << 20;

/// The outline of a note.
#[derive(Debug, Default)]
pub struct Outline {
    /// Level and text of each heading, in the order of the note.
    pub headings: Vec<(u8, String)>,
    /// Items of lists.
    pub items: Vec<Item>,
    /// Links, in the order of the note.
    pub links: Vec<NoteLink>,
    /// Byte ranges of code blocks and inline code in the text.
    pub code: Vec<Range<usize>>,
}

/// A list item. Nested items are separate items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Byte range of the item's text in the note, without the bullet.
    pub span: Range<usize>,
}

/// A link in a note: to another note, to a file or to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteLink {
    /// Address or name of the target. For `[[Note#Part|shown]]` it is `Note#Part`.
    pub target: String,
    /// True for `[[Note]]`.
    pub is_wiki: bool,
    /// True for `![[Note]]` and `![](image.png)`.
    pub is_embedded: bool,
    /// Byte offset at which the link begins in the note.
    pub at: usize,
}

impl NoteLink {
    /// The name of the target note, without the heading or block after `#` or `^`.
    pub fn note(&self) -> &str {
        self.target.split(['#', '^']).next().unwrap_or_default().trim()
    }

    /// True for an address with a scheme (`https:`, `mailto:`).
    pub fn is_external(&self) -> bool {
        let scheme = self.target.split_once(':').map_or("", |(scheme, _)| scheme);
        scheme.len() >= 2 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    }
}

/// The outline of a Markdown text. Empty for a text that is too large.
pub fn outline(text: &str) -> Outline {
    let mut out = Outline::default();
    if text.len() > MAX_BYTES {
        return out;
    }
    let mut heading: Option<(u8, String)> = None;
    let mut items: Vec<Option<Range<usize>>> = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_WIKILINKS).into_offset_iter() {
        match &event {
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => out.code.push(range.clone()),
            Event::Start(Tag::Heading { level, .. }) => heading = Some((level_number(*level), String::new())),
            Event::End(TagEnd::Heading(_)) => out.headings.extend(heading.take()),
            Event::Start(Tag::Item) => items.push(None),
            Event::End(TagEnd::Item) => {
                out.items.extend(items.pop().flatten().map(|span| Item { span }));
            }
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                out.links.push(link(*link_type, dest_url, false, range.start));
            }
            Event::Start(Tag::Image { link_type, dest_url, .. }) => {
                out.links.push(link(*link_type, dest_url, true, range.start));
            }
            _ => {}
        }
        let is_inline = matches!(
            event,
            Event::Text(_)
                | Event::Code(_)
                | Event::InlineHtml(_)
                | Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong | Tag::Strikethrough)
        );
        if !is_inline {
            continue;
        }
        if let (Some((_, title)), Event::Text(text) | Event::Code(text)) = (&mut heading, &event) {
            title.push_str(text);
        }
        if let Some(span) = items.last_mut() {
            let whole_range = span.get_or_insert(range.clone());
            *whole_range = whole_range.start.min(range.start)..whole_range.end.max(range.end);
        }
    }
    // Sorts the items by position, because a nested item ends, and is added, before the item that contains it.
    out.items.sort_by_key(|item| item.span.start);
    out
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

fn link(link_type: LinkType, target: &str, is_embedded: bool, at: usize) -> NoteLink {
    let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
    let target = target.trim();
    let is_path = !is_wiki && !target.contains("://");
    let target = if is_path { percent_decoded(target) } else { target.to_owned() };
    NoteLink { target, is_wiki, is_embedded, at }
}

/// Tags in the text (`#garden`, `#work/plan`) outside of code, without `#` and without repetitions. A tag needs at
/// least one character that is not a digit.
pub fn tags_in(text: &str, code: &[Range<usize>]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut seen_tags: HashSet<&str> = HashSet::new();
    let mut previous_char = ' ';
    for (at, c) in text.char_indices() {
        let starts_tag = c == '#' && (previous_char.is_whitespace() || previous_char == '(');
        previous_char = c;
        // The ranges are in the order of the text and do not overlap.
        let next = code.partition_point(|range| range.end <= at);
        if !starts_tag || code.get(next).is_some_and(|range| range.contains(&at)) {
            continue;
        }
        let text_after_mark = text.get(at + 1..).unwrap_or_default();
        let end = text_after_mark
            .find(|c: char| !(c.is_alphanumeric() || "_-/".contains(c)))
            .unwrap_or(text_after_mark.len());
        let tag = text_after_mark.get(..end).unwrap_or_default().trim_end_matches(['/', '-']);
        if tag.chars().any(|c| !c.is_ascii_digit()) && seen_tags.insert(tag) {
            out.push(tag.to_owned());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn links_headings_and_items_are_found_and_code_is_not() {
        let text = "# Leek *Show*\n\nSee [[Plot 12#Beds|the plot]], ![[map.png]] and [a](notes/a%20b.md).\n\n\
                    ```md\n[[not a link]]\n- [x] no item\n```\n\n- [fact] one `[[code]]` #tag\n  - [[Nested]]\n\nEnd.\n";
        let outline_found = outline(text);
        assert_eq!(outline_found.headings, [(1, "Leek Show".to_owned())]);
        let targets: Vec<&str> = outline_found.links.iter().map(|l| l.target.as_str()).collect();
        assert_eq!(targets, ["Plot 12#Beds", "map.png", "notes/a b.md", "Nested"]);
        assert_eq!(outline_found.links[0].note(), "Plot 12");
        assert!(outline_found.links[1].is_embedded);
        let items: Vec<&str> = outline_found.items.iter().map(|i| text.get(i.span.clone()).unwrap()).collect();
        assert_eq!(items, ["[fact] one `[[code]]` #tag", "[[Nested]]"]);
    }

    #[test]
    fn tags_are_words_after_a_number_sign() {
        let text = "# Heading\n#garden and (#work/plan) but not a#b, #12, `#code` #garden";
        let outline_found = outline(text);
        assert_eq!(tags_in(text, &outline_found.code), ["garden", "work/plan"]);
        let many_tags: String = (0..200_000).map(|n| format!("#tag{n} ")).collect();
        assert_eq!(tags_in(&many_tags, &[]).len(), 200_000);
    }
}
