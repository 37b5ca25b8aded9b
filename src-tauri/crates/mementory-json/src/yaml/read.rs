//! Parses YAML to a tree, event by event. The expansion of aliases is limited. Only the types of the core schema are
//! recognised: dates, `yes` and `no` stay text. The parser does not recurse into nested values, so the depth of the
//! input cannot exhaust the stack.
use crate::Tree;
use mementory_model::Bounds;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use std::{
    borrow::Cow,
    cell::Cell,
    collections::{HashMap, HashSet},
    str::Chars,
};

/// Code for a document that needs more memory than allowed.
pub const TOO_LARGE_CODE: &str = "too_large";

/// A fault in a YAML text.
#[derive(Debug)]
pub struct YamlError {
    /// Stable code.
    pub code: &'static str,
    /// Message without any content of the document.
    pub message: String,
}

fn error(code: &'static str, message: impl Into<String>) -> YamlError {
    YamlError { code, message: message.into() }
}

/// A list or mapping whose end has not been read yet.
struct OpenCollection {
    tree: Tree,
    key: Option<String>,
    anchor: usize,
}

/// Memory in bytes that the parser needs for each indicator (`,`, `:`, `[`, `{`) of a flow collection (`[0, 0]`).
/// Before the parser knows that the collection is not a key, it stores two or three tokens of a few hundred bytes each
/// for every indicator, and emits no event.
const PARSER_BYTES_PER_INDICATOR: u64 = 1200;

/// Iterates over the characters of a text. Ends early if the parser reads too many indicators without emitting an
/// event, to limit its memory.
struct BoundedChars<'t> {
    chars: Chars<'t>,
    /// Number of indicators that may be read before the next event. None if there were too many.
    indicators_left: &'t Cell<Option<u64>>,
}

impl Iterator for BoundedChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let next = self.chars.next()?;
        if matches!(next, ',' | ':' | '[' | '{') {
            self.indicators_left
                .set(self.indicators_left.get().and_then(|indicators_left| indicators_left.checked_sub(1)));
            self.indicators_left.get()?;
        }
        Some(next)
    }
}

/// Bytes that an allocation needs in addition to the requested size.
const ALLOCATION_OVERHEAD_BYTES: usize = 16;

/// Parses a text with exactly one document, within the bounds for depth and estimated memory. Numbers and truth values
/// that JSON writes in another way, such as `+1`, `0x1F` and `TRUE`, are numbers with their text in the document, so
/// that a caller whose format requires text gets it unchanged. Other callers use [`to_json_notation`].
///
/// # Errors
/// A text that is not YAML or has more or less than one document, and a value beyond the bounds.
pub fn parse(text: &str, bounds: Bounds) -> Result<Tree, YamlError> {
    let Bounds { depth, bytes } = bounds;
    let mut memory_left = bytes;
    let too_large = || error(TOO_LARGE_CODE, format!("more values than fit into {bytes} bytes of memory"));
    let mut reserve_memory = |memory_cost: u64| {
        memory_left = memory_left.checked_sub(memory_cost).ok_or_else(too_large)?;
        Ok::<(), YamlError>(())
    };
    // Aliases may repeat content. The limit rejects documents that aliases would blow up to many times their size, as
    // in an attack.
    let mut repeats_left = text.len() as u64 * 4 + 10_000;
    let mut open_collections: Vec<OpenCollection> = Vec::new();
    let mut anchors: HashMap<usize, Tree> = HashMap::new();
    let mut root = None;
    let indicator_budget = Some(bytes / PARSER_BYTES_PER_INDICATOR);
    let indicators_left = Cell::new(indicator_budget);
    for event in Parser::new_from_iter(BoundedChars { chars: text.chars(), indicators_left: &indicators_left }) {
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
                push_collection(&mut open_collections, Tree::Array(vec![]), anchor, depth)?;
                continue;
            }
            Event::MappingStart(anchor, _) => {
                push_collection(&mut open_collections, Tree::Object(vec![]), anchor, depth)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open_collections.pop() {
                Some(closed) => (closed.tree, closed.anchor),
                None => return Err(error("malformed", "a list ends without having begun")),
            },
            Event::Alias(id) => {
                // An anchor is registered only after its value ends, so an alias inside this value is an error and
                // cannot cause a cycle.
                let tree =
                    anchors.get(&id).ok_or_else(|| error("malformed", "an alias refers to an unknown anchor"))?;
                repeats_left = repeats_left
                    .checked_sub(size(tree))
                    .ok_or_else(|| error("yaml_aliases", "aliases make the document many times larger"))?;
                reserve_memory(memory_cost(tree, true))?;
                (tree.clone(), 0)
            }
            Event::Scalar(text, style, anchor, tag) => (scalar(text, style, tag.as_deref()), anchor),
        };
        reserve_memory(memory_cost(&done, false))?;
        if anchor > 0 {
            repeats_left = repeats_left
                .checked_sub(size(&done))
                .ok_or_else(|| error("yaml_aliases", "anchors make the document many times larger"))?;
            reserve_memory(memory_cost(&done, true))?;
            anchors.insert(anchor, done.clone());
        }
        match open_collections.last_mut() {
            None => root = Some(done),
            Some(parent) => put_value(parent, done)?,
        }
    }
    root.ok_or_else(|| error("malformed", "an empty YAML document"))
}

fn push_collection(
    open_collections: &mut Vec<OpenCollection>,
    tree: Tree,
    anchor: usize,
    depth: u32,
) -> Result<(), YamlError> {
    if open_collections.len() >= depth as usize {
        return Err(error("too_deep", format!("nested deeper than {depth} levels")));
    }
    open_collections.push(OpenCollection { tree, key: None, anchor });
    Ok(())
}

fn put_value(parent: &mut OpenCollection, value: Tree) -> Result<(), YamlError> {
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

/// Largest number of duplicate keys that are reported.
const MAX_REPEATED_KEYS: usize = 100;

/// JSON pointers of duplicate keys. YAML 1.2 requires unique keys (§3.2.1.3), but the parser does not check this.
pub fn repeated_keys(tree: &Tree) -> Vec<String> {
    fn collect_repeated(tree: &Tree, at: &str, out: &mut Vec<String>) {
        match tree {
            Tree::Array(items) => {
                for (i, item) in items.iter().enumerate().filter(|(_, item)| has_members(item)) {
                    collect_repeated(item, &format!("{at}/{i}"), out);
                }
            }
            Tree::Object(members) => {
                let mut seen_keys = HashSet::with_capacity(members.len());
                for (key, value) in members {
                    if !seen_keys.insert(key.as_str()) && out.len() < MAX_REPEATED_KEYS {
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

/// Estimated memory in bytes that a value needs in its parent. The content of a list or mapping counts only if
/// `with_content` is true.
fn memory_cost(tree: &Tree, with_content: bool) -> u64 {
    // Lists and mappings grow by doubling, so on average they allocate 1.5 times the memory that they need.
    let slot_bytes = 3 * size_of::<(String, Tree)>() as u64 / 2;
    let content_bytes = match tree {
        Tree::Number(text) | Tree::Text(text) => (ALLOCATION_OVERHEAD_BYTES + text.len()) as u64,
        Tree::Array(items) if with_content => items.iter().map(|item| memory_cost(item, true)).sum(),
        Tree::Object(members) if with_content => members
            .iter()
            .map(|(key, item)| (ALLOCATION_OVERHEAD_BYTES + key.len()) as u64 + memory_cost(item, true))
            .sum(),
        _ => 0,
    };
    slot_bytes + content_bytes
}

/// Approximate size of a tree as text, in bytes. Recursion is safe, because [`parse`] bounds the depth of the tree.
fn size(tree: &Tree) -> u64 {
    match tree {
        Tree::Null | Tree::Bool(_) => 8,
        Tree::Number(t) | Tree::Text(t) => 8 + t.len() as u64,
        Tree::Array(items) => 8 + items.iter().map(size).sum::<u64>(),
        Tree::Object(members) => 8 + members.iter().map(|(k, v)| k.len() as u64 + size(v)).sum::<u64>(),
    }
}

/// Converts a scalar to a value by the core schema of YAML 1.2. A scalar of a type that JSON does not have stays text.
fn scalar(text: Cow<'_, str>, style: ScalarStyle, tag: Option<&Tag>) -> Tree {
    let core_tag = tag.filter(|t| t.is_yaml_core_schema()).map(|t| t.suffix.as_str());
    let is_plain = style == ScalarStyle::Plain;
    if core_tag == Some("str")
        || (!is_plain && core_tag.is_none())
        || tag.is_some_and(|t| t.handle == "!" && t.suffix.is_empty())
    {
        return Tree::Text(text.into_owned());
    }
    match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" => Tree::Bool(true),
        "false" => Tree::Bool(false),
        // JSON has no such numbers, so they keep their text.
        ".nan" | ".NaN" | ".NAN" => Tree::Number(text.into_owned()),
        word if matches!(word.trim_start_matches(['+', '-']), ".inf" | ".Inf" | ".INF") => {
            Tree::Number(text.into_owned())
        }
        word if truth_value(word).is_some() || number(word).is_some() => Tree::Number(text.into_owned()),
        _ => Tree::Text(text.into_owned()),
    }
}

/// Converts numbers and truth values of a parsed document to the notation of JSON. Infinity and NaN, which JSON does
/// not have, stay as they are. Recursion is safe, because [`parse`] bounds the depth of the tree.
pub fn to_json_notation(tree: &mut Tree) {
    match tree {
        Tree::Number(token) => match truth_value(token) {
            Some(value) => *tree = Tree::Bool(value),
            None => {
                if let Some(json) = number(token) {
                    *token = json;
                }
            }
        },
        Tree::Array(items) => items.iter_mut().for_each(to_json_notation),
        Tree::Object(members) => members.iter_mut().for_each(|(_, value)| to_json_notation(value)),
        Tree::Null | Tree::Bool(_) | Tree::Text(_) => {}
    }
}

fn truth_value(word: &str) -> Option<bool> {
    match word {
        "True" | "TRUE" => Some(true),
        "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// The JSON form of a number. None for a word that is not a number, and for a number with leading zeros, which some
/// programs read as octal.
fn number(word: &str) -> Option<String> {
    let first = *word.as_bytes().first()?;
    if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) || word.len() > 400 {
        return None;
    }
    if is_json_number(word) {
        return Some(word.to_owned());
    }
    // `from_str_radix` accepts a sign, which YAML does not allow after the prefix.
    let unsigned = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'));
    if let Some(hex) = word.strip_prefix("0x") {
        return unsigned(hex, 16).map(|n| n.to_string());
    }
    if let Some(octal) = word.strip_prefix("0o") {
        return unsigned(octal, 8).map(|n| n.to_string());
    }
    // JSON does not allow `+1`, `.5` and `5.`, so they are converted.
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

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn only_digits_follow_the_prefix_of_a_hexadecimal_or_octal_number() {
        for (word, expected) in
            [("0x1F", Some("31")), ("0o17", Some("15")), ("0x+1", None), ("0o+7", None), ("0x", None), ("0o8", None)]
        {
            assert_eq!(number(word).as_deref(), expected, "{word}");
        }
    }
}
