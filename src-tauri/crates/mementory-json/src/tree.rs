//! A JSON tree that preserves order and the text of numbers, for canonical output, changes and lossless copies.
use mementory_model::Bounds;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::{borrow::Cow, marker::PhantomData};

mod parse;
mod value;

pub use value::{tree_of, value_of};

/// A JSON value. Numbers keep their text, and objects keep their key order and duplicate keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as its text in the source.
    Number(String),
    /// A string, without escapes.
    Text(String),
    /// An array.
    Array(Vec<Tree>),
    /// An object, in the order of the source.
    Object(Vec<(String, Tree)>),
}

/// Error for a text that cannot be read as a tree.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// Not JSON.
    #[error("not valid JSON: {0}")]
    Syntax(String),
    /// The nesting is deeper than allowed.
    #[error("nested deeper than {0} levels")]
    Depth(u32),
    /// The value needs more memory than allowed.
    #[error("more values than fit into {0} bytes of memory (tree_bytes)")]
    Size(u64),
}

impl Tree {
    /// Reads one JSON value. Lone surrogates, NaN and unescaped control characters are errors.
    pub fn parse(text: &str, bounds: impl Into<Bounds>) -> Result<Tree, TreeError> {
        parse::parse(text, bounds.into())
    }

    /// Like [`Self::parse`], but if the value is an object whose member `key` is an object, that member is left empty.
    /// The content of the member is still checked, and its memory is counted, so the errors are those of
    /// [`Self::parse`].
    pub fn parse_without_members_of(key: &str, text: &str, bounds: impl Into<Bounds>) -> Result<Tree, TreeError> {
        parse::parse_without_members_of(key, text, bounds.into())
    }

    /// Converts a raw value to a tree. serde_json has already checked its grammar, but a lone surrogate is still an
    /// error.
    pub fn from_raw(raw: &RawValue, bounds: impl Into<Bounds>) -> Result<Tree, TreeError> {
        parse::read_tree(raw, bounds.into()).map(|(tree, _)| tree)
    }

    /// Like [`Self::from_raw`], but subtracts the memory of the value from `bounds`, so that several values that are in
    /// memory together share one limit.
    pub fn from_raw_within(raw: &RawValue, bounds: &mut Bounds) -> Result<Tree, TreeError> {
        let (tree, used_bytes) = parse::read_tree(raw, *bounds)?;
        bounds.bytes -= used_bytes;
        Ok(tree)
    }

    /// The value of the last member with this key.
    pub fn get(&self, key: &str) -> Option<&Tree> {
        match self {
            Tree::Object(members) => members.iter().rev().find(|(k, _)| equal_names(k, key)).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The value of the last member with this key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Tree> {
        match self {
            Tree::Object(members) => members.iter_mut().rev().find(|(k, _)| equal_names(k, key)).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Replaces the value of the last member with this key, or adds a member at the end. Does nothing if this is not an
    /// object.
    pub fn set(&mut self, key: &str, value: Tree) {
        if let Tree::Object(members) = self {
            match members.iter_mut().rev().find(|(k, _)| k == key) {
                Some((_, slot)) => *slot = value,
                None => members.push((key.to_owned(), value)),
            }
        }
    }

    /// Removes every member with this key. Does nothing if this is not an object.
    pub fn remove(&mut self, key: &str) {
        if let Tree::Object(members) = self {
            members.retain(|(k, _)| k != key);
        }
    }

    /// True if this is an object that has a key more than once. Programs disagree on how to read such objects.
    pub fn repeats_a_key(&self) -> bool {
        let Self::Object(members) = self else { return false };
        let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        keys.sort_unstable();
        keys.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// True if any object in the tree has a key more than once.
    pub fn repeats_a_key_at_any_depth(&self) -> bool {
        match self {
            Self::Array(items) => items.iter().any(Self::repeats_a_key_at_any_depth),
            Self::Object(members) => {
                self.repeats_a_key() || members.iter().any(|(_, value)| value.repeats_a_key_at_any_depth())
            }
            _ => false,
        }
    }

    /// Removes every member whose object has a later member with the same key, at any depth.
    pub fn remove_repeated_keys(&mut self) {
        match self {
            Tree::Array(items) => items.iter_mut().for_each(Tree::remove_repeated_keys),
            Tree::Object(members) => {
                let mut seen_keys = std::collections::HashSet::with_capacity(members.len());
                members.reverse();
                members.retain(|(key, _)| seen_keys.insert(key.clone()));
                members.reverse();
                members.iter_mut().for_each(|(_, value)| value.remove_repeated_keys());
            }
            _ => {}
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a number as a double.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Tree::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Appends the value as JSON without white space. Members keep their order, and numbers keep their text.
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

/// True if two names are equal. Compares the last bytes first, because that is where names of equal length usually
/// differ.
pub fn equal_names(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.as_bytes().last() == b.as_bytes().last() && a == b
}

/// Number of bytes before the first byte that must be escaped in a string literal.
fn unescaped_len(text: &[u8]) -> usize {
    let escaped = |b: &u8| *b < 0x20 || *b == b'"' || *b == b'\\';
    // A whole chunk is checked without an early exit, so that the compiler can vectorise the loop.
    let pieces = text.chunks(32).take_while(|piece| !piece.iter().fold(false, |any, b| any | escaped(b)));
    let at: usize = pieces.map(<[u8]>::len).sum();
    at + text[at..].iter().position(escaped).unwrap_or(text.len() - at)
}

/// True if a number token is the shortest text of its double and has no exponent, so that every canonical form writes
/// it unchanged. The test is cautious: it may return false for such a token. It accepts only tokens without superfluous
/// zeros, with at most 15 characters after the sign, and with a value that is 0 or at least 0.1 in magnitude.
pub fn is_shortest(token: &str) -> bool {
    let digits = token.strip_prefix('-').unwrap_or(token);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "1"));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let whole_fits = if whole == "0" { !fraction.starts_with('0') } else { !whole.starts_with('0') };
    digits.len() <= 15
        && is_digits(whole)
        && is_digits(fraction)
        && !fraction.ends_with('0')
        && whole_fits
        && token != "-0"
}

/// Appends a JSON string literal. `"`, `\` and control characters are escaped, with the short form if JSON has one.
pub fn write_string(text: &str, out: &mut String) {
    use std::fmt::Write;
    out.push('"');
    let mut rest = text;
    // The text is split only at characters that must be escaped. They are ASCII, so no other character is split.
    loop {
        let at = unescaped_len(rest.as_bytes());
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
            // Writing into a String cannot fail.
            other => drop(write!(out, "\\u{other:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push('"');
}

/// The members of an object in the order of the source, with their values as raw JSON.
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of the last member with this key.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(k, _)| equal_names(k, key)).map(|(_, value)| *value)
    }

    /// Reads an object. `read_other` may read the value of a member itself; it then returns true, and the member is not
    /// in the result.
    ///
    /// # Errors
    /// Invalid JSON, more members than fit into the memory for a tree, and the errors of `read_other`.
    pub fn read_from<A: MapAccess<'a>>(
        mut map: A,
        mut read_other: impl FnMut(&str, &mut A) -> Result<bool, A::Error>,
    ) -> Result<Self, A::Error> {
        let mut out = Vec::new();
        let mut bytes_left = mementory_model::TREE_BYTES;
        while let Some(Key(key)) = map.next_key()? {
            let cost = size_of::<(Cow<'_, str>, &RawValue)>() as u64 + parse::allocated_bytes(key.len());
            bytes_left = bytes_left.checked_sub(cost).ok_or_else(|| serde::de::Error::custom("too many members"))?;
            if !read_other(&key, &mut map)? {
                out.push((key, map.next_value()?));
            }
        }
        Ok(Members(out))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visit<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Visit<'a> {
            type Value = Members<'a>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Members::read_from(map, |_, _| Ok(false))
            }
        }
        d.deserialize_map(Visit(PhantomData))
    }
}

/// A key, which is copied only if it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visit<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Visit<'a> {
            type Value = Key<'a>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Key<'a>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        d.deserialize_str(Visit(PhantomData))
    }
}
