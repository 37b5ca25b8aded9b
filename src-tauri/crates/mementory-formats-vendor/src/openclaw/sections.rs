//! A Markdown file as sections: cut at second-level headings, so that the pieces put together are the file again.
use std::ops::Range;

/// The pieces of a file, in order; together they are all of it.
pub fn split(text: &str) -> Vec<&str> {
    let mut cuts = Vec::new();
    let (mut at, mut fenced) = (0, false);
    for line in text.split_inclusive('\n') {
        if is_fence(line) {
            fenced = !fenced;
        } else if !fenced && line.starts_with("## ") {
            cuts.push(at);
        }
        at += line.len();
    }
    // a title, or blank lines, before the first heading are no section of their own: they go with the first
    if cuts.first().is_some_and(|first| is_title(&text[..*first])) {
        cuts[0] = 0;
    }
    if cuts.first() != Some(&0) {
        cuts.insert(0, 0);
    }
    let ends = cuts.iter().skip(1).copied().chain([text.len()]);
    cuts.iter().zip(ends).map(|(start, end)| &text[*start..end]).filter(|piece| !piece.is_empty()).collect()
}

/// Begins or ends a block of code, in which nothing is a heading.
fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~")
}

fn is_title(text: &str) -> bool {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    lines.next().is_none_or(|l| l.starts_with("# ")) && lines.next().is_none()
}

/// A piece, understood.
pub struct Section {
    /// The words of its heading.
    pub heading: Option<Range<usize>>,
    /// What stands below it, without white space around.
    pub body: Range<usize>,
}

/// Heading and body of a piece; `whole`: a file that is not cut has no heading.
pub fn parse(piece: &str, whole: bool) -> Section {
    let mut at = 0;
    let mut heading = None;
    if !whole {
        let mut fenced = false;
        for line in piece.split_inclusive('\n') {
            fenced ^= is_fence(line);
            if let Some(words) = line.strip_prefix("## ").filter(|_| !fenced) {
                let start = at + line.len() - words.trim_start().len();
                heading = Some(start..start + words.trim().len());
                at += line.len();
                break;
            }
            at += line.len();
        }
        if heading.is_none() {
            at = 0;
        }
    }
    let rest = &piece[at..];
    let start = at + rest.len() - rest.trim_start().len();
    let end = start.max(at + rest.trim_end().len());
    Section { heading, body: start.min(end)..end }
}

/// The piece with another heading and body, all white space as it was.
pub fn with(piece: &str, whole: bool, heading: Option<&str>, body: &str) -> String {
    let found = parse(piece, whole);
    let mut out = String::with_capacity(piece.len() + body.len());
    let mut at = 0;
    if let (Some(range), Some(heading)) = (&found.heading, heading) {
        out.push_str(&piece[..range.start]);
        out.push_str(&heading.replace(['\n', '\r'], " "));
        at = range.end;
    }
    out.push_str(&piece[at..found.body.start]);
    if found.body.is_empty() && !body.is_empty() && !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(body);
    out.push_str(&piece[found.body.end..]);
    out
}

/// Importance and tags that OpenClaw's notes carry: `[decision|i=0.9]` and `#word`.
pub fn marks(text: &str) -> (Option<f64>, Vec<String>) {
    let (mut importance, mut tags): (Option<f64>, Vec<String>) = (None, Vec::new());
    let add = |tag: &str, tags: &mut Vec<String>| {
        if !tag.is_empty() && tag.len() <= 64 && !tags.iter().any(|t| t == tag) && tags.len() < 100 {
            tags.push(tag.to_owned());
        }
    };
    let mut rest = text;
    while let Some(at) = rest.find('[') {
        rest = &rest[at + 1..];
        let Some((inner, after)) = rest.split_once(']') else { break };
        if let Some((word, value)) = inner.split_once("|i=")
            && word.chars().all(|c| c.is_alphanumeric() || "-_ ".contains(c))
        {
            add(word.trim(), &mut tags);
            let value = value.trim().parse().ok().filter(|v: &f64| (0.0..=1.0).contains(v));
            importance = match (importance, value) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
            rest = after;
        }
    }
    for word in text.split_whitespace() {
        if let Some(tag) = word.strip_prefix('#') {
            let tag = tag.trim_end_matches(|c: char| !c.is_alphanumeric());
            let good = tag.chars().next().is_some_and(char::is_alphabetic)
                && tag.chars().all(|c| c.is_alphanumeric() || "-_/".contains(c));
            if good {
                add(tag, &mut tags);
            }
        }
    }
    (importance, tags)
}

/// A heading without its marks.
pub fn title(heading: &str) -> String {
    let mut out = heading.to_owned();
    while let Some(start) = out.find('[') {
        let Some(end) = out[start..].find(']').filter(|end| out[start..start + end].contains("|i=")) else { break };
        out.replace_range(start..=start + end, "");
    }
    out.trim().to_owned()
}
