//! YAML to a tree, event by event: nothing is expanded beyond a bound (aliases), nothing is guessed at (dates stay
//! text, `yes` and `no` too), nothing recurses over the depth of the input. The parser is `saphyr-parser`.
use mementory_json::Tree;
use mementory_model::Bounds;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use std::{
    borrow::Cow,
    cell::Cell,
    collections::{HashMap, HashSet},
    str::Chars,
};

/// Code of a document that takes more memory than it may.
pub(super) const TOO_LARGE: &str = "too_large";

/// What is wrong with a text.
#[derive(Debug)]
pub(super) struct YamlError {
    /// Stable code.
    pub code: &'static str,
    /// For people; no content.
    pub message: String,
}

fn error(code: &'static str, message: impl Into<String>) -> YamlError {
    YamlError { code, message: message.into() }
}

/// A list or mapping that is still open.
struct Open {
    tree: Tree,
    key: Option<String>,
    anchor: usize,
}

/// Bytes of memory that the parser may take for each sign that it reads in one go: it holds tokens of some hundred bytes back,
/// two or three for each, until it knows that a flow collection (`[0, 0]`) is no key.
const HELD_BACK: u64 = 1200;

/// The characters of a text, until the parser has read too many signs in one go.
struct Feed<'t> {
    chars: Chars<'t>,
    /// Signs that it may still read before it hands something out; None = it wanted more.
    left: &'t Cell<Option<u64>>,
}

impl Iterator for Feed<'_> {
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

/// What an allocation takes beside what is asked for, in bytes.
const ALLOCATED: usize = 16;

/// The only document of a text, nested and large (in memory, by reckoning) as the bounds allow.
pub(super) fn parse(text: &str, bounds: Bounds) -> Result<Tree, YamlError> {
    let Bounds { depth, bytes } = bounds;
    let mut room = bytes;
    let too_large = || error(TOO_LARGE, format!("more values than fit into {bytes} bytes of memory"));
    let mut take = |held: u64| {
        room = room.checked_sub(held).ok_or_else(too_large)?;
        Ok::<(), YamlError>(())
    };
    // Aliases may repeat what is there; a file that grows many times over by them is an attack.
    let mut left = text.len() as u64 * 4 + 10_000;
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Tree> = HashMap::new();
    let mut root = None;
    let at_once = Some(bytes / HELD_BACK);
    let signs = Cell::new(at_once);
    for event in Parser::new_from_iter(Feed { chars: text.chars(), left: &signs }) {
        if signs.replace(at_once).is_none() {
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
                None => return Err(error("malformed", "a list ends that never began")),
            },
            Event::Alias(id) => {
                // An anchor that is still open would contain itself.
                let tree = anchors.get(&id).ok_or_else(|| error("malformed", "an alias names nothing"))?;
                left = left
                    .checked_sub(size(tree))
                    .ok_or_else(|| error("yaml_aliases", "aliases make the document many times larger"))?;
                take(held(tree, true))?;
                (tree.clone(), 0)
            }
            Event::Scalar(text, style, anchor, tag) => (scalar(text, style, tag.as_deref()), anchor),
        };
        take(held(&done, false))?;
        if anchor > 0 {
            left = left
                .checked_sub(size(&done))
                .ok_or_else(|| error("yaml_aliases", "anchors make the document many times larger"))?;
            take(held(&done, true))?;
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
                    Tree::Array(_) | Tree::Object(_) => return Err(error("malformed", "a key is no word")),
                });
            }
        },
        _ => {}
    }
    Ok(())
}

/// Keys of which it is told that they stand twice.
const REPEATED: usize = 100;

/// Keys that stand twice in one mapping, as JSON pointers: YAML 1.2 has them unique (§3.2.1.3), the parser does not look.
pub(super) fn repeated(tree: &Tree) -> Vec<String> {
    fn look(tree: &Tree, at: &str, out: &mut Vec<String>) {
        match tree {
            Tree::Array(items) => {
                for (i, item) in items.iter().enumerate().filter(|(_, item)| has_members(item)) {
                    look(item, &format!("{at}/{i}"), out);
                }
            }
            Tree::Object(members) => {
                let mut seen = HashSet::with_capacity(members.len());
                for (key, value) in members {
                    if !seen.insert(key.as_str()) && out.len() < REPEATED {
                        out.push(format!("{at}/{key}"));
                    }
                    if has_members(value) {
                        look(value, &format!("{at}/{key}"), out);
                    }
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    look(tree, "", &mut out);
    out
}

fn has_members(tree: &Tree) -> bool {
    matches!(tree, Tree::Array(_) | Tree::Object(_))
}

/// Bytes of memory that a value takes where it stands, or a copy of it `with` all that is in it.
fn held(tree: &Tree, with: bool) -> u64 {
    // A list or a mapping grows by doubling: half as much again on the average.
    let place = 3 * size_of::<(String, Tree)>() as u64 / 2;
    let inside = match tree {
        Tree::Number(text) | Tree::Text(text) => (ALLOCATED + text.len()) as u64,
        Tree::Array(items) if with => items.iter().map(|item| held(item, true)).sum(),
        Tree::Object(members) if with => {
            members.iter().map(|(key, item)| (ALLOCATED + key.len()) as u64 + held(item, true)).sum()
        }
        _ => 0,
    };
    place + inside
}

/// About the bytes that a tree was written in; its depth is bounded by [`parse`].
fn size(tree: &Tree) -> u64 {
    match tree {
        Tree::Null | Tree::Bool(_) => 8,
        Tree::Number(t) | Tree::Text(t) => 8 + t.len() as u64,
        Tree::Array(items) => 8 + items.iter().map(size).sum::<u64>(),
        Tree::Object(members) => 8 + members.iter().map(|(k, v)| k.len() as u64 + size(v)).sum::<u64>(),
    }
}

/// YAML 1.2 core types, as far as JSON has them. Everything else is the text that stands there.
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
        // A number that JSON does not have; whoever wants text here takes it as text.
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

/// A number as JSON writes it. Leading zeros mean octal to some and nothing to others: that stays text.
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
