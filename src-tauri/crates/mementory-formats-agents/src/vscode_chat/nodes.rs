//! The values of a chat while its log is read. A value stays JSON text until a line changes something inside it. Only
//! such a value is split into parts, whose memory is limited.
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Memory in bytes of a list item, in addition to its text: the element itself, the unused capacity of a growing list,
/// and the smallest allocation for a text.
const ITEM_BYTES: u64 = 96;
/// Memory in bytes of a member of an object, in addition to its name and its text.
const MEMBER_BYTES: u64 = 176;

/// The split values need more memory than allowed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the values that the log changes need more than {0} bytes of memory")]
pub(super) struct TooLarge(u64);

/// Counts the memory that a chat's values use in addition to their text, which is never longer than the log.
#[derive(Debug)]
pub(super) struct Memory {
    used: u64,
    limit: u64,
}

/// A value of a chat.
#[derive(Debug)]
pub(super) enum Node {
    /// JSON text that has not been split into parts.
    Text(String),
    /// JSON text that cannot be split: it has no parts, or they cannot be read.
    Whole(String),
    Members(BTreeMap<String, Node>),
    Items(Vec<Node>),
}

/// One step of a path.
#[derive(Debug)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

impl Memory {
    pub(super) fn new(limit: u64) -> Self {
        Self { used: 0, limit }
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), TooLarge> {
        self.used = self.used.saturating_add(bytes);
        if self.is_exceeded() { Err(TooLarge(self.limit)) } else { Ok(()) }
    }

    fn release(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    fn is_exceeded(&self) -> bool {
        self.used > self.limit
    }
}

impl Node {
    /// The value to which a step leads. A missing member is added as null, because a line may append to a list that
    /// does not exist yet. None if this value cannot have such a member or item.
    pub(super) fn enter(&mut self, step: Step, memory: &mut Memory) -> Result<Option<&mut Self>, TooLarge> {
        self.split_into_values(memory)?;
        match (self, step) {
            (Self::Members(members), Step::Key(key)) => {
                if !members.contains_key(&key) {
                    memory.reserve(member_bytes(&key))?;
                }
                Ok(Some(members.entry(key).or_insert_with(Self::null)))
            }
            (Self::Items(items), Step::Index(at)) => Ok(items.get_mut(at)),
            _ => Ok(None),
        }
    }

    /// Sets the value at a step. Returns false if this value cannot have such a member or item.
    pub(super) fn set(&mut self, step: Step, value: String, memory: &mut Memory) -> Result<bool, TooLarge> {
        self.split_into_values(memory)?;
        let value = Self::Text(value);
        let old = match (self, step) {
            (Self::Members(members), Step::Key(key)) => {
                let bytes = member_bytes(&key);
                let old = members.insert(key, value);
                if old.is_none() {
                    memory.reserve(bytes)?;
                }
                old
            }
            (Self::Items(items), Step::Index(at)) if at == items.len() => {
                memory.reserve(ITEM_BYTES)?;
                items.push(value);
                None
            }
            (Self::Items(items), Step::Index(at)) => {
                let Some(item) = items.get_mut(at) else { return Ok(false) };
                Some(std::mem::replace(item, value))
            }
            _ => return Ok(false),
        };
        memory.release(old.map_or(0, |old| old.memory()));
        Ok(true)
    }

    /// Truncates a list to `length` and appends the items of the JSON list `values`. Null counts as an empty list.
    /// Returns false if this value or `values` is not a list.
    pub(super) fn append(
        &mut self,
        values: Option<&str>,
        length: Option<usize>,
        memory: &mut Memory,
    ) -> Result<bool, TooLarge> {
        if self.is_null() {
            *self = Self::Items(Vec::new());
        }
        self.split_into_values(memory)?;
        let Self::Items(items) = self else { return Ok(false) };
        let new = match values.map(|text| parts_of(text, memory)).transpose()? {
            None => Vec::new(),
            Some(Some(Self::Items(new))) => new,
            Some(other) => {
                memory.release(other.map_or(0, |other| other.memory()));
                return Ok(false);
            }
        };
        let length = length.unwrap_or(items.len()).min(items.len());
        memory.release(items.drain(length..).map(|item| ITEM_BYTES + item.memory()).sum());
        // Unused capacity is released only if it is large. Otherwise, every line would reallocate the list.
        if items.capacity() / 4 > items.len() {
            items.shrink_to(items.len() * 2);
        }
        items.extend(new);
        Ok(true)
    }

    /// Deletes the value at a step. As in VS Code, a deleted list item becomes null, so the later items keep their
    /// indexes. Returns false if there is no such value.
    pub(super) fn delete(&mut self, step: &Step, memory: &mut Memory) -> Result<bool, TooLarge> {
        self.split_into_values(memory)?;
        let bytes = match (self, step) {
            (Self::Members(members), Step::Key(key)) => {
                let Some(old) = members.remove(key) else { return Ok(false) };
                member_bytes(key) + old.memory()
            }
            (Self::Items(items), Step::Index(at)) => {
                let Some(item) = items.get_mut(*at) else { return Ok(false) };
                std::mem::replace(item, Self::null()).memory()
            }
            _ => return Ok(false),
        };
        memory.release(bytes);
        Ok(true)
    }

    /// Splits the text of an object or a list into its values.
    pub(super) fn split_into_values(&mut self, memory: &mut Memory) -> Result<(), TooLarge> {
        let Self::Text(text) = self else { return Ok(()) };
        let text = std::mem::take(text);
        *self = match parts_of(&text, memory)? {
            Some(parts) => parts,
            None => Self::Whole(text),
        };
        Ok(())
    }

    /// The value as JSON.
    pub(super) fn into_text(self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Writes the value as JSON. The recursion is no deeper than the longest path.
    fn write(self, out: &mut String) {
        match self {
            Self::Text(text) | Self::Whole(text) => out.push_str(&text),
            Self::Members(members) => {
                out.push('{');
                for (n, (key, node)) in members.into_iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    out.push_str(&serde_json::Value::String(key).to_string());
                    out.push(':');
                    node.write(out);
                }
                out.push('}');
            }
            Self::Items(items) => {
                out.push('[');
                for (n, node) in items.into_iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    node.write(out);
                }
                out.push(']');
            }
        }
    }

    /// The memory that the values inside this value use, as [`Memory`] counts it.
    fn memory(&self) -> u64 {
        match self {
            Self::Text(_) | Self::Whole(_) => 0,
            Self::Members(members) => members.iter().map(|(key, node)| member_bytes(key) + node.memory()).sum(),
            Self::Items(items) => items.iter().map(|node| ITEM_BYTES + node.memory()).sum(),
        }
    }

    fn null() -> Self {
        Self::Text("null".to_owned())
    }

    fn is_null(&self) -> bool {
        matches!(self, Self::Text(text) | Self::Whole(text) if text == "null")
    }
}

fn member_bytes(key: &str) -> u64 {
    MEMBER_BYTES + key.len() as u64
}

/// The values of an object or a list. None for any other value, and if a name cannot be read.
fn parts_of(text: &str, memory: &mut Memory) -> Result<Option<Node>, TooLarge> {
    if !text.starts_with(['{', '[']) {
        return Ok(None);
    }
    let before = memory.used;
    let mut source = serde_json::Deserializer::from_str(text);
    match source.deserialize_any(Parts { memory: &mut *memory }) {
        Ok(parts) => Ok(Some(parts)),
        Err(_) if memory.is_exceeded() => Err(TooLarge(memory.limit)),
        Err(_) => {
            memory.used = before;
            Ok(None)
        }
    }
}

struct Parts<'m> {
    memory: &'m mut Memory,
}

impl<'de> Visitor<'de> for Parts<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object or a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut source: A) -> Result<Node, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((key, value)) = source.next_entry::<String, &'de RawValue>()? {
            let bytes = member_bytes(&key);
            // If a name occurs several times, its last value is used.
            if members.insert(key, Node::Text(value.get().to_owned())).is_none() {
                self.memory.reserve(bytes).map_err(A::Error::custom)?;
            }
        }
        Ok(Node::Members(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut source: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(value) = source.next_element::<&'de RawValue>()? {
            self.memory.reserve(ITEM_BYTES).map_err(A::Error::custom)?;
            items.push(Node::Text(value.get().to_owned()));
        }
        Ok(Node::Items(items))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_value_that_cannot_be_split_is_examined_once() {
        let mut memory = Memory::new(10_000);
        for text in ["\"a text\"", "7", "null", r#"{"a":1,"\ud800":2}"#] {
            let mut node = Node::Text(text.to_owned());
            assert!(node.enter(Step::Key("x".to_owned()), &mut memory).unwrap().is_none(), "{text}");
            assert!(matches!(&node, Node::Whole(whole) if whole == text), "{text}");
        }
        assert_eq!(memory.used, 0);
    }

    #[test]
    fn values_that_are_split_into_parts_count_towards_the_limit() {
        let mut memory = Memory::new(10_000);
        let mut node = Node::Text(format!("[{}0]", "0,".repeat(50)));
        node.split_into_values(&mut memory).unwrap();
        assert_eq!(memory.used, 51 * ITEM_BYTES);
        assert!(node.append(Some("[1,{}]"), Some(3), &mut memory).unwrap());
        assert!(!node.append(Some("{\"a\":1}"), None, &mut memory).unwrap());
        assert!(node.enter(Step::Index(4), &mut memory).unwrap().unwrap().append(None, None, &mut memory).is_ok());
        assert_eq!(memory.used, 5 * ITEM_BYTES);
        let large = format!("[{}0]", "0,".repeat(500));
        assert_eq!(node.append(Some(&large), None, &mut memory), Err(TooLarge(10_000)));
    }

    #[test]
    fn replacing_a_value_releases_its_memory() {
        let mut memory = Memory::new(2_000);
        let mut node = Node::Text("{}".to_owned());
        for _ in 0..100 {
            assert!(node.set(Step::Key("a".to_owned()), "[0,1,2,3,4]".to_owned(), &mut memory).unwrap());
            let list = node.enter(Step::Key("a".to_owned()), &mut memory).unwrap().unwrap();
            assert!(list.append(Some("[5]"), None, &mut memory).unwrap());
        }
        assert!(node.delete(&Step::Key("a".to_owned()), &mut memory).unwrap());
        assert_eq!((memory.used, node.into_text().as_str()), (0, "{}"));
    }
}
