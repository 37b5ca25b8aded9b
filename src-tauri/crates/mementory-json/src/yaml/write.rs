//! Writes YAML that all parsers read in the same way: block style, all strings double-quoted with JSON escapes, and
//! numbers that YAML 1.1 also reads as numbers.
use crate::Tree;
use std::{collections::HashSet, fmt::Write};

/// Deeper levels are written in flow style (`{a: [1, 2]}`). In block style, the white space for the indentation would
/// grow with the square of the depth.
const MAX_BLOCK_LEVELS: usize = 12;
/// A value that has at least this many nested levels is written in block style even below [`MAX_BLOCK_LEVELS`], because
/// parsers limit the depth of flow style (ours to 255).
const MAX_FLOW_LEVELS: u32 = 200;
/// Longer keys are written as explicit keys (`? key`), because YAML 1.2 §8.2.2 allows only 1024 characters before the
/// colon.
const MAX_PLAIN_KEY_BYTES: usize = 500;

/// Writes `key: value` at the start of a line.
pub fn write_member(key: &str, value: &Tree, level: usize, out: &mut String) {
    write_indent(level, out);
    write_key_and_colon(key, level, out);
    write_value_after(value, level + 1, out);
}

/// Writes `- element` at the start of a line.
pub fn write_element(value: &Tree, level: usize, out: &mut String) {
    write_indent(level, out);
    out.push('-');
    match value {
        Tree::Object(members) if !members.is_empty() && level < MAX_BLOCK_LEVELS => {
            for (i, (key, value)) in unique_members(members).into_iter().enumerate() {
                if i == 0 {
                    out.push(' ');
                } else {
                    write_indent(level + 1, out);
                }
                write_key_and_colon(key, level + 1, out);
                write_value_after(value, level + 2, out);
            }
        }
        other => write_value_after(other, level + 1, out),
    }
}

/// The members to write. YAML does not allow repeated keys, so for each key only the last member is written, which JSON
/// readers use too.
fn unique_members(members: &[(String, Tree)]) -> Vec<(&str, &Tree)> {
    let mut seen_keys = HashSet::with_capacity(members.len());
    let members = members.iter().rev().map(|(key, value)| (key.as_str(), value));
    let mut last_members: Vec<(&str, &Tree)> = members.filter(|(key, _)| seen_keys.insert(*key)).collect();
    last_members.reverse();
    last_members
}

fn write_indent(level: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", level));
}

fn write_key_and_colon(key: &str, level: usize, out: &mut String) {
    let is_plain = key.len() < 64
        && key.bytes().next().is_some_and(|b| b.is_ascii_alphabetic())
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !matches!(
            key.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "true" | "false" | "on" | "off" | "null"
        );
    if is_plain {
        out.push_str(key);
    } else if key.len() > MAX_PLAIN_KEY_BYTES {
        out.push_str("? ");
        write_quoted(key, out);
        out.push('\n');
        write_indent(level, out);
    } else {
        write_quoted(key, out);
    }
    out.push(':');
}

/// Writes a value after its key or dash, and the end of the line.
fn write_value_after(value: &Tree, level: usize, out: &mut String) {
    match value {
        Tree::Object(members) if !members.is_empty() && uses_block_style(value, level) => {
            out.push('\n');
            for (key, value) in unique_members(members) {
                write_member(key, value, level, out);
            }
        }
        Tree::Array(items)
            if uses_block_style(value, level)
                && items.iter().any(|i| matches!(i, Tree::Object(_) | Tree::Array(_))) =>
        {
            out.push('\n');
            for item in items {
                write_element(item, level, out);
            }
        }
        other => {
            out.push(' ');
            write_flow(other, out);
            out.push('\n');
        }
    }
}

fn uses_block_style(value: &Tree, level: usize) -> bool {
    level <= MAX_BLOCK_LEVELS || !is_shallower(value, MAX_FLOW_LEVELS)
}

/// True if the tree has fewer levels than this. Recursion is safe, because the parser bounds the depth of a tree.
fn is_shallower(value: &Tree, level_limit: u32) -> bool {
    let Some(next_limit) = level_limit.checked_sub(1) else { return false };
    match value {
        Tree::Array(items) => items.iter().all(|item| is_shallower(item, next_limit)),
        Tree::Object(members) => members.iter().all(|(_, value)| is_shallower(value, next_limit)),
        _ => true,
    }
}

fn write_flow(value: &Tree, out: &mut String) {
    match value {
        Tree::Null => out.push_str("null"),
        Tree::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Tree::Number(token) => write_number(token, out),
        Tree::Text(text) => write_quoted(text, out),
        Tree::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_flow(item, out);
            }
            out.push(']');
        }
        Tree::Object(members) => {
            out.push('{');
            for (i, (key, value)) in unique_members(members).into_iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                if key.len() > MAX_PLAIN_KEY_BYTES {
                    out.push_str("? ");
                }
                write_quoted(key, out);
                out.push_str(": ");
                write_flow(value, out);
            }
            out.push('}');
        }
    }
}

/// Writes a number. If it has an exponent, it gets a decimal point and a sign in the exponent (`1.0e+5`), because YAML
/// 1.1 reads `1e5` as a string.
fn write_number(token: &str, out: &mut String) {
    let Some(at) = token.find(['e', 'E']) else { return out.push_str(token) };
    let (mantissa, exponent) = (&token[..at], &token[at + 1..]);
    out.push_str(mantissa);
    if !mantissa.contains('.') {
        out.push_str(".0");
    }
    out.push('e');
    if !exponent.starts_with(['+', '-']) {
        out.push('+');
    }
    out.push_str(exponent);
}

fn write_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // YAML does not allow these characters unescaped, or one of its versions treats them as a line break.
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32); // writing into a String cannot fail
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{parse, repeated_keys};
    use super::*;

    #[test]
    fn repeated_keys_are_written_once() {
        let json = r#"{"a":1,"b":{"c":1,"d":[{"e":1,"e":2}],"c":2},"a":3}"#;
        let mut text = String::new();
        write_element(&Tree::parse(json, 10).unwrap(), 0, &mut text);
        let tree = parse(&text, 10.into()).unwrap();
        assert_eq!(repeated_keys(&tree), Vec::<String>::new());
        let mut out = String::new();
        tree.write(&mut out);
        assert_eq!(out, r#"[{"b":{"d":[{"e":2}],"c":2},"a":3}]"#);
    }
}
