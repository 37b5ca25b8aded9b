//! Splits a Markdown file into sections at its second-level headings.
use mementory_formats_shared::frontmatter::Document;
use std::ops::Range;

/// Length in bytes of the frontmatter at the start of a file, with the lines around it. 0 if there is none.
pub fn frontmatter_length(text: &str) -> usize {
    if !text.starts_with("---") {
        return 0;
    }
    let document = Document::parse(text);
    document.yaml.map_or(0, |_| text.len() - document.body.len())
}

/// The sections of a file in order. Joining them yields the unchanged file.
pub fn split_sections(text: &str) -> Vec<&str> {
    let mut cuts = Vec::new();
    let after_frontmatter = frontmatter_length(text);
    let (mut at, mut is_in_code) = (after_frontmatter, false);
    for line in text[after_frontmatter..].split_inclusive('\n') {
        if is_fence(line) {
            is_in_code = !is_in_code;
        } else if !is_in_code && line.starts_with("## ") {
            cuts.push(at);
        }
        at += line.len();
    }
    // Frontmatter, a title or blank lines before the first heading are part of the first section.
    if cuts.first().is_some_and(|first| is_title_or_blank(&text[after_frontmatter..*first])) {
        cuts[0] = 0;
    }
    if cuts.first() != Some(&0) {
        cuts.insert(0, 0);
    }
    let ends = cuts.iter().skip(1).copied().chain([text.len()]);
    cuts.iter().zip(ends).map(|(start, end)| &text[*start..end]).filter(|piece| !piece.is_empty()).collect()
}

/// Converts a text to the body of a section. Second-level headings are moved down one level, because they would split
/// the section. If the last code block is not closed, its first line gets a backslash, because the block would absorb
/// the following sections.
pub fn section_body(text: &str) -> String {
    let fences: Vec<usize> = text.lines().enumerate().filter(|(_, l)| is_fence(l)).map(|(at, _)| at).collect();
    let unclosed = fences.last().filter(|_| fences.len() % 2 == 1);
    let (mut out, mut is_in_code) = (String::with_capacity(text.len() + 2), false);
    for (at, line) in text.lines().enumerate() {
        if unclosed == Some(&at) {
            let words = line.trim_start();
            out.extend([&line[..line.len() - words.len()], "\\", words]);
        } else {
            is_in_code ^= is_fence(line);
            let mark = if !is_in_code && line.starts_with("## ") { "#" } else { "" };
            out.extend([mark, line]);
        }
        out.push('\n');
    }
    out
}

/// True if a section that is appended to the file would be read back unchanged. This is false if the file ends inside a
/// code block, or if it contains only a title, which would be read as part of the section.
pub fn can_append(file: &str) -> bool {
    const PROBE: &str = "## -\n";
    split_sections(&format!("{file}\n\n{PROBE}")).last() == Some(&PROBE)
}

/// True for a line that begins or ends a code block. A line inside a code block is never a heading.
fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~")
}

fn is_title_or_blank(text: &str) -> bool {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    lines.next().is_none_or(|l| l.starts_with("# ")) && lines.next().is_none()
}

/// Byte ranges of the parts of a section.
pub struct Section {
    /// The heading without `## `.
    pub heading: Option<Range<usize>>,
    /// The text below the heading and the frontmatter, without surrounding whitespace.
    pub body: Range<usize>,
}

/// Finds the heading and the body of a section. If `is_one_record` is true, `piece` is a whole file without a heading.
pub fn parse_section(piece: &str, is_one_record: bool) -> Section {
    // If a file contains only frontmatter, the frontmatter is the text of its record.
    let after_frontmatter = Some(frontmatter_length(piece)).filter(|at| !piece[*at..].trim().is_empty()).unwrap_or(0);
    let mut at = after_frontmatter;
    let mut heading = None;
    if !is_one_record {
        let mut is_in_code = false;
        for line in piece[after_frontmatter..].split_inclusive('\n') {
            is_in_code ^= is_fence(line);
            if let Some(words) = line.strip_prefix("## ").filter(|_| !is_in_code) {
                let start = at + line.len() - words.trim_start().len();
                heading = Some(start..start + words.trim().len());
                at += line.len();
                break;
            }
            at += line.len();
        }
        if heading.is_none() {
            at = after_frontmatter;
        }
    }
    let body_text = &piece[at..];
    let start = at + body_text.len() - body_text.trim_start().len();
    let end = start.max(at + body_text.trim_end().len());
    Section { heading, body: start.min(end)..end }
}

/// The section with a new heading and body, and unchanged whitespace around them.
pub fn replace_parts(piece: &str, is_one_record: bool, heading: Option<&str>, body: &str) -> String {
    let section = parse_section(piece, is_one_record);
    let mut out = String::with_capacity(piece.len() + body.len());
    let mut at = 0;
    if let (Some(range), Some(heading)) = (&section.heading, heading) {
        out.push_str(&piece[..range.start]);
        out.push_str(&heading.replace(['\n', '\r'], " "));
        at = range.end;
    }
    out.push_str(&piece[at..section.body.start]);
    if section.body.is_empty() && !body.is_empty() && !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(body);
    out.push_str(&piece[section.body.end..]);
    out
}

/// Importance and tags in OpenClaw's notation: `[decision|i=0.9]` and `#word`. If the text states several importances,
/// the highest one is returned.
pub fn importance_and_tags(text: &str) -> (Option<f64>, Vec<String>) {
    let (mut importance, mut tags): (Option<f64>, Vec<String>) = (None, Vec::new());
    let add = |tag: &str, tags: &mut Vec<String>| {
        if !tag.is_empty() && tag.len() <= 64 && !tags.iter().any(|t| t == tag) && tags.len() < 100 {
            tags.push(tag.to_owned());
        }
    };
    let mut remainder = text;
    while let Some(at) = remainder.find('[') {
        remainder = &remainder[at + 1..];
        let Some((inner, after)) = remainder.split_once(']') else { break };
        if let Some((word, value)) = inner.split_once("|i=")
            && word.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c))
        {
            add(word.trim(), &mut tags);
            let value = value.trim().parse().ok().filter(|v: &f64| (0.0..=1.0).contains(v));
            importance = match (importance, value) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
            remainder = after;
        }
    }
    for word in text.split_whitespace() {
        if let Some(tag) = word.strip_prefix('#') {
            let tag = tag.trim_end_matches(|c: char| !c.is_alphanumeric());
            let is_valid_tag = tag.chars().next().is_some_and(char::is_alphabetic)
                && tag.chars().all(|c| c.is_alphanumeric() || "-_/".contains(c));
            if is_valid_tag {
                add(tag, &mut tags);
            }
        }
    }
    (importance, tags)
}

/// A heading without its `[word|i=0.9]` marks.
pub fn title_without_marks(heading: &str) -> String {
    let mut out = heading.to_owned();
    while let Some(start) = out.find('[') {
        let Some(end) = out[start..].find(']').filter(|end| out[start..start + end].contains("|i=")) else { break };
        out.replace_range(start..=start + end, "");
    }
    out.trim().to_owned()
}
