//! Parses YAML to a tree, event by event. Expansion of aliases is limited, types are not guessed (dates, `yes` and `no` stay
//! text), and there is no recursion over the depth of the input. The parser is `saphyr-parser`.
use mementory_json::Tree;
use mementory_model::Bounds;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use std::{
    borrow::Cow,
    cell::Cell,
    collections::{HashMap, HashSet},
    str::Chars,
};

/// Code for a document that needs more memory than allowed.
pub(super) const TOO_LARGE: &str = "too_large";

/// A fault in a YAML text.
#[derive(Debug)]
pub(super) struct YamlError {
    /// Stable code.
    pub code: &'static str,
    /// Message without any content of the document.
    pub message: String,
}

fn error(code: &'static str, message: impl Into<String>) -> YamlError {
    YamlError { code, message: message.into() }
}

/// A list or mapping that has not ended yet.
struct Open {
    tree: Tree,
    key: Option<String>,
    anchor: usize,
}

/// Memory that the parser may need for each indicator (`,`, `:`, `[`, `{`) until it emits an event: it stores two or three tokens
/// of some hundred bytes for each, until it knows that a flow collection (`[0, 0]`) is not a key.
const PARSER_BYTES_PER_INDICATOR: u64 = 1200;

/// The characters of a text, until the parser has read too many indicators without emitting an event.
struct BoundedChars<'t> {
    chars: Chars<'t>,
    /// Indicators that may still be read before the next event; None = there were too many.
    left: &'t Cell<Option<u64>>,
}

impl Iterator for BoundedChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let next = self.chars.next()?;
        if matches!(next, ',' | ':' | '[' | '{') {
            self.left.set(self.left.get().and_then(|left| left.checked_sub(1)));
            self.left.get()?;
        }
        Some(next)
    }
}

/// Bytes that an allocation needs in addition to the requested size.
const ALLOCATION_OVERHEAD: usize = 16;

/// Parses a text with exactly one document, within the bounds for depth and estimated memory.
pub(super) fn parse(text: &str, bounds: Bounds) -> Result<Tree, YamlError> {
    let Bounds { depth, bytes } = bounds;
    let mut memory_left = bytes;
    let too_large = || error(TOO_LARGE, format!("more values than fit into {bytes} bytes of memory"));
    let mut charge = |memory_cost: u64| {
        memory_left = memory_left.checked_sub(memory_cost).ok_or_else(too_large)?;
        Ok::<(), YamlError>(())
    };
    // Aliases may repeat content, but a file that grows many times larger by them is an attack.
    let mut left = text.len() as u64 * 4 + 10_000;
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Tree> = HashMap::new();
    let mut root = None;
    let indicator_budget = Some(bytes / PARSER_BYTES_PER_INDICATOR);
    let indicators_left = Cell::new(indicator_budget);
    for event in Parser::new_from_iter(BoundedChars { chars: text.chars(), left: &indicators_left }) {
        if indicators_left.replace(indicator_budget).is_none() {
            return Err(too_large());
        }
        let (event, _) = event.map_err(|e| {
            error("malformed", format!("not YAML: line {}, column {}", e.marker().line(), e.marker().col() + 1))
        })?;
        let (done, anchor) = match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
            Event::DocumentStart(_) => {
                if root.is_some() {
                    return Err(error("malformed", "more than one YAML document"));
                }
                continue;
            }
            Event::SequenceStart(anchor, _) => {
                start(&mut open, Tree::Array(vec![]), anchor, depth)?;
                continue;
            }
            Event::MappingStart(anchor, _) => {
                start(&mut open, Tree::Object(vec![]), anchor, depth)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => (closed.tree, closed.anchor),
                None => return Err(error("malformed", "a list ends that has not begun")),
            },
            Event::Alias(id) => {
                // An alias inside its own anchor is not found, so a value cannot contain itself.
                let tree =
                    anchors.get(&id).ok_or_else(|| error("malformed", "an alias refers to an unknown anchor"))?;
                left = left
                    .checked_sub(size(tree))
                    .ok_or_else(|| error("yaml_aliases", "aliases make the document many times larger"))?;
                charge(memory_cost(tree, true))?;
                (tree.clone(), 0)
            }
            Event::Scalar(text, style, anchor, tag) => (scalar(text, style, tag.as_deref()), anchor),
        };
        charge(memory_cost(&done, false))?;
        if anchor > 0 {
            left = left
                .checked_sub(size(&done))
                .ok_or_else(|| error("yaml_aliases", "anchors make the document many times larger"))?;
            charge(memory_cost(&done, true))?;
            anchors.insert(anchor, done.clone());
        }
        match open.last_mut() {
            None => root = Some(done),
            Some(parent) => put(parent, done)?,
        }
    }
    root.ok_or_else(|| error("malformed", "an empty YAML document"))
}

fn start(open: &mut Vec<Open>, tree: Tree, anchor: usize, depth: u32) -> Result<(), YamlError> {
    if open.len() >= depth as usize {
        return Err(error("too_deep", format!("nested deeper than {depth} levels")));
    }
    open.push(Open { tree, key: None, anchor });
    Ok(())
}

fn put(parent: &mut Open, value: Tree) -> Result<(), YamlError> {
    match &mut parent.tree {
        Tree::Array(items) => items.push(value),
        Tree::Object(members) => match parent.key.take() {
            Some(key) => members.push((key, value)),
            None => {
                parent.key = Some(match value {
                    Tree::Text(text) | Tree::Number(text) => text,
                    Tree::Bool(b) => b.to_string(),
                    Tree::Null => "null".into(),
                    Tree::Array(_) | Tree::Object(_) => {
                        return Err(error("malformed", "a key must not be a list or a mapping"));
                    }
                });
            }
        },
        _ => {}
    }
    Ok(())
}

/// Number of duplicate keys that are reported.
const MAX_REPEATED: usize = 100;

/// Duplicate keys, as JSON pointers. YAML 1.2 requires unique keys (§3.2.1.3), but the parser does not check it.
pub(super) fn repeated(tree: &Tree) -> Vec<String> {
    fn collect_repeated(tree: &Tree, at: &str, out: &mut Vec<String>) {
        match tree {
            Tree::Array(items) => {
                for (i, item) in items.iter().enumerate().filter(|(_, item)| has_members(item)) {
                    collect_repeated(item, &format!("{at}/{i}"), out);
                }
            }
            Tree::Object(members) => {
                let mut seen = HashSet::with_capacity(members.len());
                for (key, value) in members {
                    if !seen.insert(key.as_str()) && out.len() < MAX_REPEATED {
                        out.push(format!("{at}/{key}"));
                    }
                    if has_members(value) {
                        collect_repeated(value, &format!("{at}/{key}"), out);
                    }
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    collect_repeated(tree, "", &mut out);
    out
}

fn has_members(tree: &Tree) -> bool {
    matches!(tree, Tree::Array(_) | Tree::Object(_))
}

/// Estimated memory of a value in its parent; `with` everything inside it, for a copy.
fn memory_cost(tree: &Tree, with: bool) -> u64 {
    // Lists and mappings grow by doubling, so on average they allocate half as much again.
    let place = 3 * size_of::<(String, Tree)>() as u64 / 2;
    let inside = match tree {
        Tree::Number(text) | Tree::Text(text) => (ALLOCATION_OVERHEAD + text.len()) as u64,
        Tree::Array(items) if with => items.iter().map(|item| memory_cost(item, true)).sum(),
        Tree::Object(members) if with => {
            members.iter().map(|(key, item)| (ALLOCATION_OVERHEAD + key.len()) as u64 + memory_cost(item, true)).sum()
        }
        _ => 0,
    };
    place + inside
}

/// Approximate size of a tree as text; [`parse`] bounds its depth.
fn size(tree: &Tree) -> u64 {
    match tree {
        Tree::Null | Tree::Bool(_) => 8,
        Tree::Number(t) | Tree::Text(t) => 8 + t.len() as u64,
        Tree::Array(items) => 8 + items.iter().map(size).sum::<u64>(),
        Tree::Object(members) => 8 + members.iter().map(|(k, v)| k.len() as u64 + size(v)).sum::<u64>(),
    }
}

/// Converts a scalar by the YAML 1.2 core schema, as far as JSON has the type. Everything else stays text.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Tree {
    let core = tag.filter(|t| t.is_yaml_core_schema()).map(|t| t.suffix.as_str());
    let plain = style == ScalarStyle::Plain;
    if core == Some("str") || (!plain && core.is_none()) || tag.is_some_and(|t| t.handle == "!" && t.suffix.is_empty())
    {
        return Tree::Text(text.into_owned());
    }
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Bool(true),
        "false" | "False" | "FALSE" => Tree::Bool(false),
        // JSON has no such numbers; where the format requires text, this becomes text.
        ".nan" | ".NaN" | ".NAN" => Tree::Number(text.into_owned()),
        word if matches!(word.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF") => {
            Tree::Number(text.into_owned())
        }
        word => match number(word) {
            Some(token) => Tree::Number(token),
            None => Tree::Text(text.into_owned()),
        },
    }
}

/// The JSON form of a number. Programs disagree about leading zeros (octal or not), so such words stay text.
fn number(word: &str) -> Option<String> {
    let first = *word.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) || word.len() > 400 {
        return None;
    }
    if is_json_number(word) {
        return Some(word.to_owned());
    }
    if let Some(hex) = word.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok().map(|n| n.to_string());
    }
    if let Some(octal) = word.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(|n| n.to_string());
    }
    // `+1`, `.5`, `5.`
    let (sign, rest) = match word.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", word.strip_prefix('+').unwrap_or(word)),
    };
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let mantissa = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            format!(
                "{}.{}",
                if whole.is_empty() { "0" } else { whole },
                if fraction.is_empty() { "0" } else { fraction }
            )
        }
        None => mantissa.to_owned(),
    };
    let token = format!("{sign}{mantissa}{exponent}");
    (rest != "." && is_json_number(&token)).then_some(token)
}

fn is_json_number(word: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(word).is_ok()
        && !word.bytes().any(|b| b.is_ascii_whitespace())
        && word.bytes().any(|b| b.is_ascii_digit())
}
