//! Removes the marks of Markdown from a text, because `**Work context**` is harder to read on paper than the words
//! alone.
use mementory_model::REDACTED;
use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag};
use std::ops::Range;

/// Texts of more bytes than this are not parsed and keep their marks.
const MAX_BYTES: usize = 8 << 20;

/// Removes the marks for emphasis, headings and code from a text, and replaces links with their words. Line breaks are
/// kept, and so are the marks of lists and quotations, HTML, and images.
pub(super) fn without_markdown(text: &str) -> String {
    if text.len() > MAX_BYTES {
        return text.to_owned();
    }
    let mut marks = Marks { text, cuts: Vec::new(), open_elements: Vec::new(), read_end: 0 };
    for (event, range) in Parser::new_ext(text, Options::ENABLE_YAML_STYLE_METADATA_BLOCKS).into_offset_iter() {
        marks.read(event, range);
    }
    marks.without_marks()
}

/// Collects the positions of marks in a text.
struct Marks<'t> {
    text: &'t str,
    cuts: Vec<Range<usize>>,
    /// The elements that are open at the current position, each with the range of its content that was read so far.
    open_elements: Vec<(Tag<'t>, Option<Range<usize>>)>,
    /// End position of the last text or code that was read.
    read_end: usize,
}

impl<'t> Marks<'t> {
    fn read(&mut self, event: Event<'t>, range: Range<usize>) {
        match event {
            Event::Start(tag) => {
                self.add_to_parent(&range);
                self.open_elements.push((tag, None));
            }
            Event::End(_) => {
                if let Some((tag, Some(content))) = self.open_elements.pop() {
                    self.cut_around(&tag, &range, &content);
                }
            }
            leaf => {
                self.add_to_parent(&range);
                match leaf {
                    Event::Code(_) => {
                        let ticks = self.text[range.clone()].bytes().take_while(|byte| *byte == b'`').count();
                        self.cut_ends(&range, ticks);
                    }
                    // The backslash before an escaped character belongs to no event, so it is cut here.
                    Event::Text(_) if range.start > self.read_end && self.byte_before(range.start) == Some(b'\\') => {
                        self.cuts.push(range.start - 1..range.start);
                    }
                    _ => {}
                }
                self.read_end = range.end;
            }
        }
    }

    fn add_to_parent(&mut self, range: &Range<usize>) {
        if let Some((_, content)) = self.open_elements.last_mut() {
            let start = content.as_ref().map_or(range.start, |content| content.start);
            *content = Some(start..range.end);
        }
    }

    /// Cuts the marks before and after the content of an element.
    fn cut_around(&mut self, tag: &Tag<'_>, whole: &Range<usize>, content: &Range<usize>) {
        let (before, mut after) = (whole.start..content.start, content.end..whole.end);
        match tag {
            Tag::Emphasis if !self.is_within_word(whole) => return self.cut_ends(whole, 1),
            Tag::Strong if !self.is_within_word(whole) => return self.cut_ends(whole, 2),
            Tag::Link { link_type, .. } => {
                let is_address = matches!(link_type, LinkType::Autolink | LinkType::Email);
                // A redaction mark looks like a Markdown link, but must not be changed.
                if is_address || self.text[whole.clone()].starts_with(REDACTED) {
                    return;
                }
            }
            Tag::Heading { .. } => after.end = whole.start + self.text[whole.clone()].trim_end().len(),
            // The line break before the closing fence is removed together with the fence.
            Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                after.end = whole.start + self.text[whole.clone()].trim_end().len();
                after.start = content.start + self.text[content.clone()].trim_end_matches('\n').len();
            }
            _ => return,
        }
        self.cuts.extend([before, after].into_iter().filter(|cut| cut.start < cut.end));
    }

    /// True if an element is inside a word: `2*3*4` contains no emphasis.
    fn is_within_word(&self, range: &Range<usize>) -> bool {
        let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
        is_word(self.byte_before(range.start)) && is_word(self.text.as_bytes().get(range.end).copied())
    }

    fn cut_ends(&mut self, range: &Range<usize>, width: usize) {
        self.cuts.extend([range.start..range.start + width, range.end - width..range.end]);
    }

    fn byte_before(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at.checked_sub(1)?).copied()
    }

    /// Returns the text without the marks.
    fn without_marks(mut self) -> String {
        self.cuts.sort_by_key(|cut| cut.start);
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for cut in self.cuts {
            out.push_str(self.text.get(at..cut.start).unwrap_or_default());
            at = at.max(cut.end);
        }
        out.push_str(self.text.get(at..).unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marks_of_markdown_go_and_the_words_stay() {
        for (text, plain) in [
            ("**Work context**\n\nPlans *ferries* and _tides_.", "Work context\n\nPlans ferries and tides."),
            ("# Memory index\n- [user_maren](user_maren.md)", "Memory index\n- user_maren"),
            ("Runs `npm test` and __only__ that", "Runs npm test and only that"),
            ("これは**重要**です。***Ines***: ``a`b``", "これは重要です。Ines: a`b"),
            ("## Title ##\ntext\n\nTitle\n---\n> *said*", "Title\ntext\n\nTitle\n> said"),
            ("A [**b** c](d \"e\"), [f][g], \\*h\\*\n\n[g]: i", "A b c, f, *h*\n\n[g]: i"),
            ("Runs\n```sh\nls **/*.md\n```\n\nhere", "Runs\nls **/*.md\n\nhere"),
            ("- ```\n  a\n  ```\n- b", "- a\n- b"),
        ] {
            assert_eq!(without_markdown(text), plain);
        }
    }

    #[test]
    fn what_only_looks_like_a_mark_stays() {
        for text in [
            "2 ** 3, a [note], C#, [a](b",
            "#tag **open",
            "2*3*4 and 2**3**4, snake_case_name",
            "[REDACTED:address](x) and [REDACTED:name]",
            "<https://example.org>, ![a](b.png), <b>c</b> &amp; d\\e",
            "1934. A house\n\n---\n\n- a\n* b",
            "---\nname: a\n---\n\nb",
            "#",
            "",
        ] {
            assert_eq!(without_markdown(text), text);
        }
    }
}
