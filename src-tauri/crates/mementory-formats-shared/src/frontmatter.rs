//! YAML frontmatter of Markdown files: the lines between `---` at the very start of a file.
use mementory_model::Fields;
use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Longest frontmatter that is parsed, in bytes. The parser needs many times as much memory as the text.
const MAX_YAML_BYTES: usize = 64 << 10;
/// Largest nesting depth of lists and mappings.
const MAX_DEPTH: usize = 32;
/// Largest number of lines that are read from broken YAML.
const MAX_KEY_LINES: usize = 200;

/// A Markdown file, split into frontmatter and body.
#[derive(Debug, Default)]
pub struct Document<'t> {
    /// The frontmatter without its `---` lines. None if the file has none.
    pub yaml: Option<&'t str>,
    /// The members of the frontmatter. If the YAML is broken, these are only the members on lines of the form
    /// `key: value`.
    pub fields: Fields,
    /// The reason why the YAML could not be parsed. None if it is valid.
    pub broken: Option<String>,
    /// The text after the frontmatter.
    pub body: &'t str,
}

impl<'t> Document<'t> {
    /// Splits a text. A text that begins with a horizontal rule (`---`) instead of frontmatter only has a body.
    pub fn parse(text: &'t str) -> Self {
        let without_frontmatter = Self { body: text, ..Self::default() };
        let Some((yaml, body)) = split(text) else { return without_frontmatter };
        let salvaged_fields = key_lines(yaml);
        match parse_yaml(yaml) {
            Ok(Value::Object(fields)) => Self { yaml: Some(yaml), fields, broken: None, body },
            Ok(Value::Null) => Self { yaml: Some(yaml), body, ..Self::default() },
            Ok(_) if salvaged_fields.is_empty() => without_frontmatter,
            Err(_) if salvaged_fields.is_empty() => without_frontmatter,
            Ok(_) => {
                Self { yaml: Some(yaml), fields: salvaged_fields, broken: Some("it is not a mapping".into()), body }
            }
            Err(reason) => Self { yaml: Some(yaml), fields: salvaged_fields, broken: Some(reason), body },
        }
    }

    /// The text or number of a member, without surrounding whitespace. None if it is blank.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match self.fields.get(key)? {
            Value::String(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// The strings of a member: the items of a list, or one string that is split at its commas.
    pub fn texts(&self, key: &str) -> Vec<String> {
        let items: Vec<String> = match self.fields.get(key) {
            Some(Value::Array(items)) => items.iter().filter_map(|i| i.as_str().map(str::to_owned)).collect(),
            Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        items.into_iter().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty()).collect()
    }
}

/// The text between the `---` lines and the text after them.
fn split(text: &str) -> Option<(&str, &str)> {
    let is_rule = |line: &str| line.trim_end() == "---";
    let first_line = text.split_inclusive('\n').next().filter(|line| is_rule(line))?;
    let mut at = first_line.len();
    for line in text.get(at..)?.split_inclusive('\n') {
        if is_rule(line) {
            return Some((text.get(first_line.len()..at)?, text.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// The members on the lines of the form `key: value`. The values are not parsed.
fn key_lines(yaml: &str) -> Fields {
    let mut out = Fields::new();
    for line in yaml.lines().take(MAX_KEY_LINES) {
        let Some((key, value)) = line.split_once(':') else { continue };
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        if is_key {
            out.insert(key.to_owned(), value.trim().trim_matches(['"', '\'']).into());
        }
    }
    out
}

enum Open {
    List(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// Parses one YAML document, event by event and without recursion, so that deeply nested input does no harm. Aliases
/// are refused, because they can multiply content without limit.
fn parse_yaml(yaml: &str) -> Result<Value, String> {
    if yaml.len() > MAX_YAML_BYTES {
        return Err(format!("longer than {MAX_YAML_BYTES} bytes"));
    }
    let mut open: Vec<Open> = Vec::new();
    let mut root = Value::Null;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|e| format!("line {}, column {}", e.marker().line(), e.marker().col() + 1))?;
        let finished_value = match event {
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err("nested too deep".into());
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items)) => Value::Array(items),
                Some(Open::Mapping(members, _)) => Value::Object(members),
                None => return Err("a list ends without having begun".into()),
            },
            Event::Alias(_) => return Err("an alias".into()),
            Event::Scalar(text, style, ..) => scalar(text.into_owned(), style),
            _ => continue,
        };
        match open.last_mut() {
            None => root = finished_value,
            Some(Open::List(items)) => items.push(finished_value),
            Some(Open::Mapping(members, key)) => match key.take() {
                Some(key) => drop(members.insert(key, finished_value)),
                None => {
                    *key = Some(match finished_value {
                        Value::String(text) => text,
                        other => other.to_string(),
                    });
                }
            },
        }
    }
    Ok(root)
}

fn scalar(text: String, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::String(text);
    }
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        // A scalar such as `007` or `1e5x` is not a JSON number and stays a string.
        word => match serde_json::from_str::<serde_json::Number>(word) {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(text),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn members_and_body_are_split() {
        let document = Document::parse("---\nname: a\nmetadata:\n  type: user\ntags: [x, y]\n---\n\nBody\n---\nmore");
        assert_eq!(document.text("name").as_deref(), Some("a"));
        assert_eq!(document.fields["metadata"]["type"], "user");
        assert_eq!(document.texts("tags"), ["x", "y"]);
        assert_eq!(document.body, "\nBody\n---\nmore");
    }

    #[test]
    fn broken_yaml_keeps_the_body_and_its_lines() {
        let document =
            Document::parse("---\r\ndescription: Rust: style\r\nglobs: **/*.rs\r\n---\r\n- Use thiserror.\r\n");
        assert!(document.broken.is_some());
        assert_eq!(document.text("globs").as_deref(), Some("**/*.rs"));
        assert_eq!(document.body, "- Use thiserror.\r\n");
    }

    #[test]
    fn a_rule_or_a_code_block_is_not_frontmatter() {
        for text in [
            "---\nJust words\n---\nmore",
            "```yaml\n---\na: 1\n---\n```\n",
            "---\na: 1\nno end",
            "text\n---\na: 1\n---\n",
        ] {
            let document = Document::parse(text);
            assert!(document.yaml.is_none() && document.fields.is_empty(), "{text}");
            assert_eq!(document.body, text);
        }
    }

    #[test]
    fn hostile_yaml_is_refused() {
        for yaml in ["a: &x [1]\nb: *x", &"[".repeat(5000), &format!("a: {}", "{a: ".repeat(500))] {
            assert!(parse_yaml(yaml).is_err());
        }
    }
}
