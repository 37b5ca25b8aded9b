//! An order-preserving JSON tree that keeps number text, for canonical output, patching and lossless copies.
use mementory_model::Bounds;
use serde_json::value::RawValue;

mod parse;

/// A JSON value. Numbers keep their text, objects their key order and duplicate keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// The number's own text.
    Number(String),
    /// Decoded text.
    Text(String),
    /// Array.
    Array(Vec<Tree>),
    /// Object, in source order.
    Object(Vec<(String, Tree)>),
}

/// Why a text is not a usable JSON tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Not JSON.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// Nested deeper than allowed.
    #[error("nested deeper than {0} levels")]
    Depth(u32),
    /// Takes more memory than allowed.
    #[error("more values than fit into {0} bytes of memory (tree_bytes)")]
    Size(u64),
}

impl Tree {
    /// Reads one JSON value. Lone surrogates, NaN and raw control characters are errors.
    pub fn parse(text: &str, bounds: impl Into<Bounds>) -> Result<Tree, TreeError> {
        parse::parse(text, bounds.into())
    }

    /// Reads a raw value, which is JSON already. Lone surrogates are errors, which nobody looked for yet.
    pub fn of(raw: &RawValue, bounds: impl Into<Bounds>) -> Result<Tree, TreeError> {
        parse::walk(raw, bounds.into()).map(|(tree, _)| tree)
    }

    /// As [`Self::of`], taking what the value needs of `bounds`: for several that are held together.
    pub fn take(raw: &RawValue, bounds: &mut Bounds) -> Result<Tree, TreeError> {
        let (tree, spent) = parse::walk(raw, *bounds)?;
        bounds.bytes -= spent;
        Ok(tree)
    }

    /// Member of an object; the last one wins, as the field does with duplicate keys.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        match self {
            Tree::Object(members) => members.iter().rev().find(|(k, _)| same(k, key)).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Replaces or appends a member of an object, in place; other values are left alone.
    pub fn set(&mut self, key: &str, value: Tree) {
        if let Tree::Object(members) = self {
            match members.iter_mut().rev().find(|(k, _)| k == key) {
                Some((_, slot)) => *slot = value,
                None => members.push((key.to_owned(), value)),
            }
        }
    }

    /// Removes every member with this key.
    pub fn remove(&mut self, key: &str) {
        if let Tree::Object(members) = self {
            members.retain(|(k, _)| k != key);
        }
    }

    /// Text of a string value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Value of a number that fits.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Tree::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Compact JSON in this order with this number text.
    pub fn write(&self, out: &mut String) {
        match self {
            Tree::Null => out.push_str("null"),
            Tree::Bool(true) => out.push_str("true"),
            Tree::Bool(false) => out.push_str("false"),
            Tree::Number(text) => out.push_str(text),
            Tree::Text(text) => write_string(text, out),
            Tree::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Tree::Object(members) => {
                out.push('{');
                for (i, (key, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_string(key, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Are these two names the same? Names of one length mostly differ in their last byte: asking it first is cheaper than comparing.
pub fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().last() == b.as_bytes().last() && a == b
}

/// Bytes before the first that a string literal must escape.
fn plain(text: &[u8]) -> usize {
    let escaped = |b: &u8| *b < 0x20 || *b == b'"' || *b == b'\\';
    // Whole pieces without a way out in between are looked at many bytes at a time.
    let pieces = text.chunks(32).take_while(|piece| !piece.iter().fold(false, |any, b| any | escaped(b)));
    let at: usize = pieces.map(<[u8]>::len).sum();
    at + text[at..].iter().position(escaped).unwrap_or(text.len() - at)
}

/// Is a number token already the shortest text of its double, without an exponent? At most 15 digits, which a double
/// keeps apart, no zeros that could go, and 0 or at least 0.1 away from it: there every canonical form writes it as it is.
pub fn is_shortest(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "1"));
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let whole_fits = if whole == "0" { !fraction.starts_with('0') } else { !whole.starts_with('0') };
    digits.len() <= 15 && plain(whole) && plain(fraction) && !fraction.ends_with('0') && whole_fits && token != "-0"
}

/// A JSON string literal: `"` `\` and controls escaped (short forms where JSON has them), all else raw.
pub fn write_string(text: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    let mut rest = text;
    // What is escaped is ASCII, so a cut beside it is a cut between characters.
    loop {
        let at = plain(rest.as_bytes());
        out.push_str(&rest[..at]);
        let Some(byte) = rest.as_bytes().get(at) else { break };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            // writing into a String cannot fail
            other => drop(write!(out, "\\u{other:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push('"');
}

/// Object members in source order with raw values.
pub struct Members<'a>(pub Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visit<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> serde::de::Visitor<'de> for Visit<'a> {
            type Value = Members<'a>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                let mut left = mementory_model::TREE_BYTES;
                while let Some((k, v)) = map.next_entry::<String, &'de RawValue>()? {
                    let cost = size_of::<(String, &RawValue)>() as u64 + parse::held(k.len());
                    left = left.checked_sub(cost).ok_or_else(|| serde::de::Error::custom("too many members"))?;
                    out.push((k, v));
                }
                Ok(Members(out))
            }
        }
        d.deserialize_map(Visit(std::marker::PhantomData))
    }
}
