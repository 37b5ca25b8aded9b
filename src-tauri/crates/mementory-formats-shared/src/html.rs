//! Web pages in exports: converts a fragment to text, lists its links, and reads the elements of a page one by one.
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use mementory_model::Limits;
use std::{io::Read, ops::Range};

/// Largest number of levels by which nested lists are indented. Without this limit, the size of the text could grow
/// with the square of the size of its source.
const MAX_INDENT_LEVELS: usize = 8;

/// The text of a fragment. Paragraphs, list items, table rows and preformatted text are on separate lines. The address
/// of a link follows its text. Bold, italic and other styles are dropped.
pub fn to_text(html: &str) -> String {
    render(html, false)
}

/// Like [`to_text`], but line breaks in the source are preserved, for pages that show text as it was written.
pub fn to_text_with_lines(html: &str) -> String {
    render(html, true)
}

/// True if [`to_text`] would return any text. Stops at the first word.
pub fn has_text(html: &str) -> bool {
    let mut invisible_depth = 0_u32;
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) => match &**tag.name {
                b"style" | b"script" | b"title" | b"noscript" | b"template" if !tag.self_closing => {
                    invisible_depth += 1
                }
                b"pre" => return true,
                b"img" if invisible_depth == 0 && attribute(&tag, b"alt").is_some() => return true,
                _ => {}
            },
            Token::EndTag(tag) => {
                if matches!(&**tag.name, b"style" | b"script" | b"title" | b"noscript" | b"template") {
                    invisible_depth = invisible_depth.saturating_sub(1);
                }
            }
            Token::String(text)
                if invisible_depth == 0 && text.value.iter().any(|byte| !byte.is_ascii_whitespace()) =>
            {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// Addresses of the links and pictures of a fragment, each with the text of the link or the alternative text of the
/// picture.
pub fn links(html: &str) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) if &*tag.name == b"a" => {
                is_open = false;
                if let Some(address) = attribute(&tag, b"href") {
                    is_open = true;
                    out.push((address, String::new()));
                }
            }
            Token::StartTag(tag) if &*tag.name == b"img" => {
                if let Some(address) = attribute(&tag, b"src") {
                    out.push((address, attribute(&tag, b"alt").unwrap_or_default()));
                }
            }
            Token::EndTag(tag) if &*tag.name == b"a" => is_open = false,
            Token::String(text) if is_open => {
                if let Some((_, words)) = out.last_mut() {
                    words.push_str(&String::from_utf8_lossy(&text.value));
                }
            }
            _ => {}
        }
    }
    out
}

/// Addresses of the pictures of a fragment, in their order.
pub fn pictures(html: &str) -> Vec<String> {
    let sources = tokens(html).filter_map(|token| match token {
        Token::StartTag(tag) if &*tag.name == b"img" => attribute(&tag, b"src"),
        _ => None,
    });
    sources.collect()
}

fn tokens(html: &str) -> impl Iterator<Item = Token<()>> {
    let mut emitter = DefaultEmitter::<()>::default();
    // Makes the tokenizer read the content of `style` and `script` as text, because it is not markup.
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).flatten()
}

fn attribute(tag: &StartTag<()>, name: &[u8]) -> Option<String> {
    let value = String::from_utf8_lossy(&tag.attributes.get(name)?.value).trim().to_owned();
    (!value.is_empty()).then_some(value)
}

fn render(html: &str, keeps_lines: bool) -> String {
    let mut text = Text { keeps_lines, ..Text::default() };
    for token in tokens(html) {
        match token {
            Token::StartTag(tag) => text.open(&tag),
            Token::EndTag(tag) => text.close(&tag.name),
            Token::String(part) if text.invisible_depth == 0 => text.push(&String::from_utf8_lossy(&part.value)),
            _ => {}
        }
    }
    let len = text.out.trim_end().len();
    text.out.truncate(len);
    text.out
}

/// State of the conversion of a page to text.
#[derive(Default)]
struct Text {
    out: String,
    keeps_lines: bool,
    /// Number of line breaks before the next word.
    line_breaks: usize,
    /// True if a space comes before the next word.
    needs_space: bool,
    /// List item marker that is written before the next word.
    marker: Option<String>,
    /// The open lists. An ordered list has the number of its last item, any other list None.
    lists: Vec<Option<u64>>,
    /// Number of open elements whose text is preformatted.
    preformatted: u32,
    /// Number of open elements whose text is not shown to people.
    invisible_depth: u32,
    /// The open link: its address, and the length of `out` before its text.
    link: Option<(String, usize)>,
    /// True after a table cell, so that a separator is written before the next cell in the row.
    is_after_cell: bool,
}

impl Text {
    fn open(&mut self, tag: &StartTag<()>) {
        match &**tag.name {
            b"br" => self.line_breaks = (self.line_breaks + 1).min(2),
            b"ul" | b"menu" => self.open_list(None),
            b"ol" => {
                let first = attribute(tag, b"start").and_then(|number| number.parse::<u32>().ok());
                self.open_list(Some(first.map_or(0, |first| u64::from(first).saturating_sub(1))));
            }
            b"li" => {
                self.break_lines(1);
                let depth = self.lists.len().saturating_sub(1).min(MAX_INDENT_LEVELS);
                let marker = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{number}. ")
                    }
                    _ => "- ".into(),
                };
                self.marker = Some(format!("{}{marker}", "  ".repeat(depth)));
            }
            b"pre" => {
                self.break_lines(2);
                self.start_word();
                self.out.push_str("```\n");
                self.preformatted += 1;
            }
            b"td" | b"th" => {
                if std::mem::take(&mut self.is_after_cell) {
                    self.push(" | ");
                }
            }
            b"tr" => {
                self.break_lines(1);
                self.is_after_cell = false;
            }
            b"a" => self.link = attribute(tag, b"href").map(|address| (address, self.out.len())),
            b"img" => {
                if let Some(words) = attribute(tag, b"alt").filter(|_| self.invisible_depth == 0) {
                    self.push(&format!(" {words} "));
                }
            }
            b"style" | b"script" | b"title" | b"noscript" | b"template" if !tag.self_closing => {
                self.invisible_depth += 1
            }
            name => self.break_lines(breaks_at(name)),
        }
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"ul" | b"ol" | b"menu" => {
                self.lists.pop();
                self.break_lines(if self.lists.is_empty() { 2 } else { 1 });
            }
            b"pre" => {
                if self.preformatted > 0 {
                    self.preformatted -= 1;
                    self.line_breaks = 0;
                    if !self.out.ends_with('\n') {
                        self.out.push('\n');
                    }
                    self.out.push_str("```");
                    self.line_breaks = 2;
                }
            }
            b"td" | b"th" => self.is_after_cell = true,
            b"tr" | b"li" => self.break_lines(1),
            b"a" => {
                if let Some((address, from)) = self.link.take() {
                    let words = self.out.get(from..).unwrap_or_default().trim();
                    let is_new = !words.is_empty() && !words.contains(&address);
                    if is_new && (address.starts_with("http:") || address.starts_with("https:")) {
                        self.push(&format!(" ({address})"));
                    }
                }
            }
            b"style" | b"script" | b"title" | b"noscript" | b"template" => {
                self.invisible_depth = self.invisible_depth.saturating_sub(1)
            }
            name => self.break_lines(breaks_at(name)),
        }
    }

    fn open_list(&mut self, number: Option<u64>) {
        self.break_lines(if self.lists.is_empty() { 2 } else { 1 });
        self.lists.push(number);
    }

    fn break_lines(&mut self, count: usize) {
        self.line_breaks = self.line_breaks.max(count);
    }

    /// Writes the line breaks, space and list marker before the next word.
    fn start_word(&mut self) {
        if self.line_breaks > 0 {
            if !self.out.is_empty() {
                self.out.extend(std::iter::repeat_n('\n', self.line_breaks));
            }
            (self.line_breaks, self.needs_space) = (0, false);
        } else if std::mem::take(&mut self.needs_space)
            && !self.out.is_empty()
            && !self.out.ends_with(char::is_whitespace)
        {
            self.out.push(' ');
        }
        if let Some(marker) = self.marker.take() {
            self.out.push_str(&marker);
        }
    }

    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if self.preformatted > 0 {
                self.out.push(c);
            } else if c == '\n' && self.keeps_lines {
                self.line_breaks = (self.line_breaks + 1).min(2);
            } else if c.is_ascii_whitespace() {
                self.needs_space = true;
            } else {
                self.start_word();
                // A no-break space only matters for the layout, and would prevent a search from finding the words
                // around it.
                self.out.push(if c == '\u{a0}' { ' ' } else { c });
            }
        }
    }
}

/// Number of line breaks before and after an element.
fn breaks_at(name: &[u8]) -> usize {
    match name {
        b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"table" | b"blockquote" | b"hr" | b"dl" => 2,
        b"div" | b"section" | b"article" | b"header" | b"footer" | b"main" | b"aside" | b"nav" | b"dt" | b"dd"
        | b"figure" | b"figcaption" | b"form" | b"fieldset" | b"thead" | b"tbody" | b"caption" => 1,
        _ => 0,
    }
}

/// Selects the elements into which a page is split: the elements with this name and, unless `class` is empty, with this
/// class.
#[derive(Debug, Clone, Copy)]
pub struct RowKind {
    /// Name of the element, in lower case.
    pub name: &'static str,
    /// A class name in the attribute `class`.
    pub class: &'static str,
}

/// An element of a page, with all text up to the end of the element or the start of the next one.
#[derive(Debug)]
pub struct Row {
    /// Source text of the element.
    pub html: String,
    /// Offset of the element's first byte in the page, after decoding to UTF-8.
    pub offset: u64,
    /// True if the page is truncated inside the element.
    pub is_cut: bool,
}

/// The reason why a page or one of its elements cannot be read.
#[derive(Debug)]
pub enum RowError {
    /// The input is damaged or unreadable.
    Io(std::io::Error),
    /// The element at this offset is larger than allowed. The next element can be read.
    TooLarge(u64),
}

/// Iterates over the elements of one kind in a page. Only one element is in memory at a time.
pub struct Rows<'r> {
    reader: &'r mut dyn Read,
    decoder: encoding_rs::Decoder,
    kind: RowKind,
    limit: usize,
    /// Decoded text that has not been returned yet.
    text: String,
    /// Offset of `text` in the page.
    offset: u64,
    /// Number of bytes that were read so far.
    bytes: u64,
    is_at_end: bool,
}

impl<'r> Rows<'r> {
    /// Reads a page from its start. The page is in UTF-8, or in UTF-16 with a byte order mark. An element may have at
    /// most `limits.element_bytes`.
    pub fn new(reader: &'r mut dyn Read, kind: RowKind, limits: &Limits) -> Self {
        Self {
            reader,
            decoder: encoding_rs::UTF_8.new_decoder(),
            kind,
            limit: usize::try_from(limits.element_bytes).unwrap_or(usize::MAX),
            text: String::new(),
            offset: 0,
            bytes: 0,
            is_at_end: false,
        }
    }

    /// Number of bytes read so far.
    pub fn raw_bytes(&self) -> u64 {
        self.bytes
    }

    /// The next element, or None at the end.
    pub fn next_row(&mut self) -> Result<Option<Row>, RowError> {
        // Discards the text before the first element, which is the head of the page.
        loop {
            if let Some(start) = find_element(&self.text, 0, self.kind) {
                self.discard(start.start);
                break;
            }
            // The text may end inside a tag, so everything from the last `<` on stays in memory.
            let keep_from = self.text.rfind('<').unwrap_or(self.text.len());
            self.discard(keep_from);
            if self.text.len() > self.limit {
                self.discard(self.text.len());
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
        let mut scanned = 1;
        let mut is_too_large = false;
        let end = loop {
            if let Some(next) = find_element(&self.text, scanned, self.kind) {
                break next.start;
            }
            scanned = self.text.get(scanned..).and_then(|t| t.rfind('<')).map_or(self.text.len(), |at| scanned + at);
            if self.text.len() > self.limit {
                is_too_large = true;
                self.discard(scanned.max(1));
                scanned = 0;
            }
            if !self.fill()? {
                break self.text.len();
            }
        };
        let offset = self.offset;
        if is_too_large {
            self.discard(end);
            return Err(RowError::TooLarge(offset));
        }
        let mut html: String = self.text.drain(..end).collect();
        self.offset += end as u64;
        let own_end = element_end(&html, self.kind.name);
        html.truncate(own_end.unwrap_or(html.len()));
        Ok(Some(Row { html, offset, is_cut: own_end.is_none() && self.is_at_end && self.text.is_empty() }))
    }

    fn discard(&mut self, count: usize) {
        self.text.drain(..count);
        self.offset += count as u64;
    }

    /// Reads more text. Returns false at the end.
    fn fill(&mut self) -> Result<bool, RowError> {
        let mut buffer = vec![0; 64 << 10];
        if self.is_at_end {
            return Ok(false);
        }
        let count = self.reader.read(&mut buffer).map_err(RowError::Io)?;
        self.bytes += count as u64;
        self.is_at_end = count == 0;
        let bytes = buffer.get(..count).unwrap_or_default();
        let capacity = self.decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() * 3);
        self.text.reserve(capacity);
        let _ = self.decoder.decode_to_string(bytes, &mut self.text, self.is_at_end);
        Ok(true)
    }
}

/// Byte range of the first start tag of this kind at or after `from`. None if `html` contains no complete tag of this
/// kind.
pub fn find_element(html: &str, from: usize, kind: RowKind) -> Option<Range<usize>> {
    let mut at = from;
    loop {
        let start = at + memchr::memchr(b'<', html.as_bytes().get(at..)?)?;
        at = start + 1;
        let Some(rest) = html.get(at..) else { continue };
        let Some(after_name) = strip_name(rest, kind.name) else { continue };
        if !after_name.starts_with(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/') {
            continue;
        }
        let end = after_name.find('>')?;
        if kind.class.is_empty() || has_class(after_name.get(..end)?, kind.class) {
            return Some(start..html.len() - after_name.len() + end + 1);
        }
    }
}

fn strip_name<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(name.len())?;
    head.eq_ignore_ascii_case(name).then_some(rest)
}

/// True if the attributes of a tag contain this class.
fn has_class(attributes: &str, class: &str) -> bool {
    let Some((_, value)) = attributes.split_once("class=") else { return false };
    let value = match value.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => match value.strip_prefix('\'') {
            Some(quoted) => quoted.split('\'').next(),
            None => value.split_ascii_whitespace().next(),
        },
    };
    value.unwrap_or_default().split_ascii_whitespace().any(|word| word == class)
}

/// Position after the end tag of the element that begins `html`. None if the end tag is missing.
pub fn element_end(html: &str, name: &str) -> Option<usize> {
    let mut depth = 0_u64;
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', html.as_bytes().get(at..)?)? + 1;
        let Some(rest) = html.get(at..) else { continue };
        let (is_end, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        let Some(after) = strip_name(rest, name) else { continue };
        if !after.starts_with(|c: char| c.is_ascii_whitespace() || c == '>' || c == '/') {
            continue;
        }
        if !is_end {
            depth += 1;
        } else if depth <= 1 {
            return Some(html.len() - after.len() + after.find('>')? + 1);
        } else {
            depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const CELL: RowKind = RowKind { name: "div", class: "outer-cell" };

    #[test]
    fn blocks_lists_tables_and_code_keep_their_lines() {
        let html = "<p>Also &amp; always: <code>a &lt; b</code></p><ul><li>one</li><li>two<ol><li>x</li></ol></li></ul>\
            <table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table><pre><code>x = 1\n  y</code></pre>\
            after<br>break &nbsp; <b>bold</b><style>p{}</style> <a href=\"https://a.example/x\">site</a>";
        let text = "Also & always: a < b\n\n- one\n- two\n  1. x\n\na | b\n1 | 2\n\n```\nx = 1\n  y\n```\n\n\
            after\nbreak  bold site (https://a.example/x)";
        assert_eq!(to_text(html), text);
        assert_eq!(
            to_text("<ol start=\"3\"><li>c</li><li>d</li></ol><ol start=x><li>a</li></ol>"),
            "3. c\n4. d\n\n1. a"
        );
        assert_eq!(to_text("a\n  b"), "a b");
        assert_eq!(to_text_with_lines("a\n\n\nYou: b\nc"), "a\n\nYou: b\nc");
        assert_eq!(to_text("</ul></pre></a></td><li>"), "");
        for html in
            [html, "", " <p> </p>", "<style>a</style>", "<img alt=x>", "<img>", "<pre></pre>", "<script>x</script>y"]
        {
            assert_eq!(has_text(html), !to_text(html).is_empty(), "{html}");
        }
    }

    #[test]
    fn links_and_pictures_are_listed_with_their_texts() {
        let html = "<a href='x%20y.png'>x <b>y</b></a><img src=\"p.jpg\" alt=\"P\"><a>none</a>";
        let expected = [("x%20y.png", "x y"), ("p.jpg", "P")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(links(html), expected);
    }

    #[test]
    fn rows_that_span_several_reads_are_found_in_utf_8_and_utf_16() {
        let page = "<html><div class=\"outer-cells\">no</div><div class=\"a outer-cell b\"><div>1</div></div>\n\
            <div class='outer-cell'>2</div></div></html>";
        let utf16: Vec<u8> = "\u{feff}".encode_utf16().chain(page.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        for bytes in [page.as_bytes().to_vec(), utf16] {
            let mut reader = OneByte(&bytes);
            let mut rows = Rows::new(&mut reader, CELL, &Limits::default());
            let first = rows.next_row().unwrap().unwrap();
            assert_eq!(first.html, "<div class=\"a outer-cell b\"><div>1</div></div>");
            let second = rows.next_row().unwrap().unwrap();
            assert_eq!((second.html.as_str(), second.is_cut), ("<div class='outer-cell'>2</div>", false));
            assert!(rows.next_row().unwrap().is_none());
        }
    }

    #[test]
    fn only_the_row_that_is_cut_or_too_large_is_lost() {
        let big = "x".repeat(300_000);
        let page = format!(
            "<div class=\"outer-cell\">{big}</div><div class=\"outer-cell\">2</div><div class=\"outer-cell\">3"
        );
        let mut reader = page.as_bytes();
        let limits = Limits { element_bytes: 100_000, ..Limits::default() };
        let mut rows = Rows::new(&mut reader, CELL, &limits);
        assert!(matches!(rows.next_row(), Err(RowError::TooLarge(_))));
        assert_eq!(rows.next_row().unwrap().unwrap().html, "<div class=\"outer-cell\">2</div>");
        assert!(rows.next_row().unwrap().unwrap().is_cut);
        assert!(rows.next_row().unwrap().is_none());
    }

    struct OneByte<'a>(&'a [u8]);

    impl Read for OneByte<'_> {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            let len = buf.len().min(1);
            self.0.read(&mut buf[..len])
        }
    }
}
