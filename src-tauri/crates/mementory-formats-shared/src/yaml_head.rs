//! Writes the frontmatter of Markdown files.
use mementory_model::Timestamp;
use std::fmt::Write as _;

/// The lines of a note's frontmatter.
#[derive(Default)]
pub struct YamlHead(String);

impl YamlHead {
    /// Adds a string in double quotes, which every note program reads the same way.
    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        let _ = writeln!(self.0, "{key}: {}", quoted(value));
        self
    }

    /// Adds a value without quotes. `value` must be a constant, because it is not escaped.
    pub fn word(&mut self, key: &str, value: &str) -> &mut Self {
        let _ = writeln!(self.0, "{key}: {value}");
        self
    }

    /// Adds a time in RFC 3339, if there is one.
    pub fn time(&mut self, key: &str, value: Option<Timestamp>) -> &mut Self {
        if let Some(time) = value {
            let _ = writeln!(self.0, "{key}: \"{}\"", time.to_rfc3339());
        }
        self
    }

    /// Adds a list of texts, unless it is empty.
    pub fn texts(&mut self, key: &str, values: &[String]) -> &mut Self {
        if !values.is_empty() {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            let _ = writeln!(self.0, "{key}: [{}]", values.join(", "));
        }
        self
    }

    /// The frontmatter, followed by the text of the note.
    pub fn document(&self, body: &str) -> String {
        format!("---\n{}---\n\n{body}\n", self.0)
    }
}

/// A string in double quotes on one line. Characters that YAML does not allow are escaped.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::frontmatter::Document;
    use crate::note::Note;

    #[test]
    fn every_text_is_read_back() {
        let texts = [
            "plain",
            "---\n---\nname: other",
            "a: b # c",
            "\"quoted\" \\ 'single'",
            "*alias &anchor !tag %x @y `z`",
            "\u{0}\u{1}\u{7f}\u{85}\u{9f}\u{2028}\u{feff}\u{ffff}",
            "emoji 🥬 and ünïcode",
            "{}[],:?-|>",
        ];
        for text in texts {
            let mut head = YamlHead::default();
            head.text("name", text).texts("tags", &[text.to_owned(), "b".to_owned()]);
            let file = head.document("body\n---\nmore");
            let document = Document::parse(&file);
            assert_eq!(document.fields["name"], text, "{file}");
            assert_eq!(document.fields["tags"][0], text, "{file}");
            assert_eq!(document.body, "\nbody\n---\nmore\n");
            assert_eq!(Note::parse(&file).head["name"], text);
        }
    }
}
