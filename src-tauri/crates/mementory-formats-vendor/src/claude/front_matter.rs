//! Reads the front matter of a memory file: `name`, `description`, `sources` and `aliases` between two lines `---`. It
//! looks like YAML but often is not valid, because a description may contain `: `. So it is read line by line.
use mementory_model::Fields;
use serde_json::Value;

/// Largest number of lines of front matter. A longer block is ordinary text that begins with `---` by chance.
const MAX_LINES: usize = 64;

/// Returns the members of the front matter, and the text after it. Without complete front matter, returns no members
/// and the whole input.
pub(super) fn split(text: &str) -> (Fields, &str) {
    let nothing = || (Fields::new(), text);
    let start = text.trim_start_matches('\u{feff}');
    let Some(rest) = start.strip_prefix("---\n").or_else(|| start.strip_prefix("---\r\n")) else { return nothing() };
    let mut fields = Fields::new();
    let mut at = 0;
    let mut last: Option<String> = None;
    for line in rest.split_inclusive('\n').take(MAX_LINES) {
        at += line.len();
        let line = line.trim_end();
        if line == "---" {
            let body = rest.get(at..).unwrap_or_default();
            return if fields.is_empty() { nothing() } else { (fields, body.trim_start_matches(['\r', '\n'])) };
        }
        let item = line.trim_start();
        if let Some(item) = item.strip_prefix("- ")
            && let Some(name) = &last
        {
            // The line is an item of the list whose name is in a line above.
            match fields.get_mut(name) {
                Some(Value::Array(items)) => items.push(unquoted(item).into()),
                _ => _ = fields.insert(name.clone(), Value::Array(vec![unquoted(item).into()])),
            }
        } else if let Some((name, value)) = line.split_once(':').filter(|(name, _)| is_name(name)) {
            fields.insert(name.to_owned(), read_value(value.trim()));
            last = Some(name.to_owned());
        } else if let Some(Value::String(text)) = last.as_ref().and_then(|name| fields.get_mut(name)) {
            // The line continues the value of the line above.
            text.push('\n');
            text.push_str(item);
        } else if !line.is_empty() {
            return nothing();
        }
    }
    nothing()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 40 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn read_value(text: &str) -> Value {
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(items) if !text.starts_with("[[") => {
            items.split(',').map(|item| unquoted(item.trim())).filter(|item| !item.is_empty()).collect()
        }
        _ => unquoted(text).into(),
    }
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_line_by_line() {
        let text = "---\nname: jordan\ndescription: A teammate: works on [[launch]]\nsources: [backfill, chat]\n\
            aliases:\n  - \"JP\"\n  - J\n---\n- [stated] Works with [[profile]]";
        let (fields, body) = split(text);
        assert_eq!(body, "- [stated] Works with [[profile]]");
        let expected = serde_json::json!({
            "name": "jordan",
            "description": "A teammate: works on [[launch]]",
            "sources": ["backfill", "chat"],
            "aliases": ["JP", "J"],
        });
        assert_eq!(Value::Object(fields), expected);
    }

    #[test]
    fn text_without_a_whole_head_stays_as_it_is() {
        for text in ["# Notes", "---\nname: x\nno end", "---\n\n---\nrule", "---\nnot a head\n---\n", "---"] {
            assert_eq!(split(text), (Fields::new(), text));
        }
    }
}
