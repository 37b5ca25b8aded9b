//! A Markdown note: YAML frontmatter and body. If the frontmatter is not valid YAML, its `key: value` lines are read
//! one by one, and the body is not affected.
use mementory_model::{Fields, Timestamp};
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::Value;
use std::collections::HashSet;

/// Largest frontmatter in bytes. The parser may need up to a thousand times as much memory as the text.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// Largest nesting depth of frontmatter.
const MAX_DEPTH: usize = 32;

/// A note, split into frontmatter and body.
#[derive(Debug, Default)]
pub struct Note<'t> {
    /// Members of the frontmatter, in order.
    pub head: Fields,
    /// True if the note has frontmatter.
    pub has_head: bool,
    /// True if the frontmatter is not valid YAML. In that case, `head` has only the members on `key: value` lines.
    pub is_head_broken: bool,
    /// The text after the frontmatter.
    pub body: &'t str,
    /// Number of the body's first line, counted from 1.
    pub body_line: usize,
}

impl<'t> Note<'t> {
    /// Splits a note. `text` may have any line endings and may begin with a byte order mark.
    pub fn parse(text: &'t str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let Some((head, body)) = split(text) else {
            return Self { body: text, body_line: 1, ..Self::default() };
        };
        let body_line = 1 + text.get(..text.len() - body.len()).unwrap_or_default().matches('\n').count();
        let parsed_fields = yaml_mapping(head);
        let is_head_broken = parsed_fields.is_none();
        let head = parsed_fields.unwrap_or_else(|| simple_lines(head));
        Self { head, has_head: true, is_head_broken, body, body_line }
    }

    /// A string, number or boolean of the frontmatter, as text. The case of the key does not matter.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.value(key)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|t| !t.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            _ => None,
        }
    }

    /// A member of the frontmatter.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.head.get(key).or_else(|| self.head.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v))
    }

    /// The strings of a list. A single string is split at its commas. A leading `#` is removed from each string.
    pub fn tags(&self, key: &str) -> Vec<String> {
        let texts: Vec<String> = match self.value(key) {
            Some(Value::Array(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Value::String(text) => Some(text.clone()),
                    Value::Number(number) => Some(number.to_string()),
                    _ => None,
                })
                .collect(),
            Some(Value::String(text)) if text.contains(',') => text.split(',').map(str::to_owned).collect(),
            Some(Value::String(text)) if key.eq_ignore_ascii_case("tags") => {
                text.split_whitespace().map(str::to_owned).collect()
            }
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Number(number)) => vec![number.to_string()],
            _ => Vec::new(),
        };
        let mut out: Vec<String> = Vec::new();
        let mut seen_tags = HashSet::new();
        for text in texts {
            let text = text.trim().trim_start_matches('#').trim();
            if !text.is_empty() && seen_tags.insert(text.to_owned()) {
                out.push(text.to_owned());
            }
        }
        out
    }

    /// The first valid time under these keys.
    pub fn time(&self, keys: &[&str]) -> Option<Timestamp> {
        keys.iter().find_map(|key| super::any_time::text_time(&self.text(key)?))
    }

    /// The members that are not in `used`.
    pub fn other_members(&self, used: &[&str]) -> Fields {
        let is_unused = |key: &str| !used.iter().any(|u| u.eq_ignore_ascii_case(key));
        self.head
            .iter()
            .filter(|(key, value)| is_unused(key) && !value.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }
}

/// The frontmatter and the text after it. None if the text does not begin with `---`, or if the frontmatter is not
/// closed.
fn split(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first_line = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut at = first_line.len();
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") && line.starts_with(['-', '.']) {
            return Some((text.get(first_line.len()..at)?, text.get(at + line.len()..)?));
        }
        at += line.len();
        if at > MAX_HEAD_BYTES {
            return None;
        }
    }
    None
}

/// A list or mapping that has not ended yet, and the key of its next value.
struct Open {
    value: Value,
    key: Option<String>,
}

/// The members of a YAML mapping. None for invalid YAML, for other values, and for aliases, which note programs do not
/// write. Dates stay strings.
fn yaml_mapping(text: &str) -> Option<Fields> {
    if text.trim().is_empty() {
        return Some(Fields::new());
    }
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(text) {
        let finished_value = match event.ok()?.0 {
            Event::SequenceStart(..) => {
                open.push(Open { value: Value::Array(vec![]), key: None });
                None
            }
            Event::MappingStart(..) => {
                open.push(Open { value: Value::Object(Fields::new()), key: None });
                None
            }
            Event::SequenceEnd | Event::MappingEnd => Some(open.pop()?.value),
            Event::Scalar(text, style, ..) => Some(scalar(&text, style)),
            Event::Alias(_) => return None,
            _ => None,
        };
        if open.len() > MAX_DEPTH {
            return None;
        }
        let Some(finished_value) = finished_value else { continue };
        match open.last_mut() {
            None => root = Some(finished_value),
            Some(Open { value: Value::Array(items), .. }) => items.push(finished_value),
            Some(Open { value: Value::Object(members), key }) => match key.take() {
                Some(key) => {
                    members.insert(key, finished_value);
                }
                None => *key = Some(key_text(finished_value)?),
            },
            Some(_) => return None,
        }
    }
    match root {
        Some(Value::Object(members)) => Some(members),
        // Frontmatter that contains only comments has no members.
        None => Some(Fields::new()),
        Some(_) => None,
    }
}

fn key_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null => Some("null".into()),
        _ => None,
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        // Only a number that prints as the same text is parsed as a number: `007` and `1_000` stay strings.
        _ => match serde_json::from_str::<serde_json::Number>(text) {
            Ok(number) if number.to_string() == text => Value::Number(number),
            _ => text.into(),
        },
    }
}

/// The members on `key: value` lines of frontmatter that is not valid YAML. Indented lines are skipped.
fn simple_lines(text: &str) -> Fields {
    let mut out = Fields::new();
    for line in text.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-'])) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let (key, value) = (key.trim(), value.trim());
        let value = value.strip_prefix('"').map_or(value, |inner| inner.strip_suffix('"').unwrap_or(inner));
        if !key.is_empty() && key.len() <= 60 && !value.is_empty() {
            out.insert(key.to_owned(), value.into());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frontmatter_and_body_are_split() {
        let note = Note::parse("\u{feff}---\r\ntitle: CRLF\r\ntags:\r\n  - a\r\n  - '#b'\r\n---\r\nBody\r\n");
        assert_eq!(note.text("Title").as_deref(), Some("CRLF"));
        assert_eq!(note.tags("tags"), ["a", "b"]);
        assert_eq!((note.body, note.body_line), ("Body\r\n", 7));
        assert!(!note.is_head_broken);
    }

    #[test]
    fn broken_frontmatter_keeps_its_lines_and_the_body() {
        let note = Note::parse("---\ntitle: \"unclosed\ntags: [a, b\nkind: note: odd\n---\nBody survives.\n");
        assert!(note.is_head_broken);
        assert_eq!(note.text("title").as_deref(), Some("unclosed"));
        assert_eq!(note.text("kind").as_deref(), Some("note: odd"));
        assert_eq!(note.body, "Body survives.\n");
    }

    #[test]
    fn a_rule_is_not_frontmatter() {
        for text in ["---\nnever closed\n", "text\n---\nnot: head\n---\n", "", "----\na: b\n---\n"] {
            assert!(!Note::parse(text).has_head, "{text}");
        }
        assert!(Note::parse("---\n---\nx").has_head);
    }

    #[test]
    fn hostile_frontmatter_is_refused_and_the_body_stays() {
        let deep_note = format!("---\na: {}\n---\nbody", "[".repeat(5000));
        let note = Note::parse(&deep_note);
        assert!(note.is_head_broken);
        assert_eq!(note.body, "body");
        let aliases = "---\na: &a [1]\nb: *a\n---\nbody";
        assert!(Note::parse(aliases).is_head_broken);
    }
}
