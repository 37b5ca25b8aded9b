//! One JSON document of the format. Only the top level is parsed, into raw members and lists of raw elements.
use mementory_format::{Catalog, FormatError, Member};
use mementory_json::{Members, Tree, TreeError};
use mementory_model::{Bounds, Limits};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The text of a document without its byte order mark. Fails if it is too long or not UTF-8.
pub(super) fn read_text(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<String, FormatError> {
    let bytes = catalog.bytes(member, limits.element_bytes)?;
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(text) => text.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes).map_err(|_| FormatError::invalid("malformed", &member.place, "not UTF-8"))
}

/// A document with only its top level parsed.
pub(super) struct Document<'t> {
    /// Members in their original order.
    pub members: Vec<(Cow<'t, str>, &'t RawValue)>,
}

impl<'t> Document<'t> {
    /// Parses the top level of a text.
    pub fn open(text: &'t str, place: &str) -> Result<Self, FormatError> {
        let members: Members = serde_json::from_str(text).map_err(|e| {
            let fault = if e.is_eof() { "the file ends early" } else { "not valid JSON" };
            let message = format!("{fault} (line {}, column {})", e.line(), e.column());
            FormatError::invalid("malformed", place, message)
        })?;
        let too_long =
            members.0.iter().find(|(_, raw)| is_list(raw) && has_more_elements_than(raw.get(), MAX_ELEMENTS));
        if let Some((key, raw)) = too_long {
            let (place, figure) = (format!("{place}/{key}"), raw.get().len() as u64);
            return Err(FormatError::Limit { limit: "elements", place, figure });
        }
        Ok(Self { members: members.0 })
    }

    /// Raw text of a member. If the key occurs several times, the last member is used.
    pub fn raw(&self, key: &str) -> Option<&'t RawValue> {
        self.members.iter().rev().find(|(k, _)| k == key).map(|(_, v)| *v)
    }

    /// Value of a member if it is a string.
    pub fn text_member(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// Value of a member that contains an id. The format requires a string; for a number, its digits are returned.
    pub fn id_member(&self, key: &str) -> Option<String> {
        let is_number = |raw: &&RawValue| raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit());
        self.text_member(key).or_else(|| Some(self.raw(key).filter(is_number)?.get().to_owned()))
    }

    /// Elements of a member. Empty if the member is not a list.
    pub fn list(&self, key: &str) -> Vec<&'t RawValue> {
        self.raw(key).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The parsed document, with the given lists emptied.
    pub fn outline(&self, lists: &[&str], bounds: Bounds) -> Tree {
        let mut remaining = bounds;
        let member = |(key, raw): &(Cow<'t, str>, &'t RawValue)| {
            let value = match lists.contains(&key.as_ref()) && is_list(raw) {
                true => Tree::Array(vec![]),
                // All members are in memory at the same time, so they share one memory limit.
                false => Tree::from_raw_within(raw, &mut remaining).unwrap_or(Tree::Null),
            };
            (key.to_string(), value)
        };
        Tree::Object(self.members.iter().map(member).collect())
    }

    /// Members that [`Self::outline`] replaces with null because they cannot be parsed or are too large, each with the
    /// reason.
    pub fn unreadable_members(&self, lists: &[&str], bounds: Bounds) -> Vec<(&str, TreeError)> {
        let mut remaining = bounds;
        let other_members = self.members.iter().filter(|(key, raw)| !(lists.contains(&key.as_ref()) && is_list(raw)));
        other_members
            .filter_map(|(key, raw)| Some((key.as_ref(), Tree::from_raw_within(raw, &mut remaining).err()?)))
            .collect()
    }
}

/// Text of a member with an id, or with a reference to an id.
pub(super) fn id<'t>(tree: &'t Tree, name: &str) -> Option<&'t str> {
    id_text(tree.get(name)?)
}

/// Text of an id, or of a reference to an id. The format requires a string; for a number, its digits are returned.
pub(super) fn id_text(value: &Tree) -> Option<&str> {
    match value {
        Tree::Text(id) | Tree::Number(id) => Some(id),
        _ => None,
    }
}

fn is_list(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

/// Largest number of elements in one list. The limit exists because an element may have only two bytes in the document,
/// but needs 16 bytes of memory. A document of the largest size (`Limits::element_bytes`) has fewer real records.
const MAX_ELEMENTS: usize = 4 << 20;

/// True if the list has more than `max` elements. Counting commas is enough for nearly every list.
fn has_more_elements_than(list: &str, max: usize) -> bool {
    struct MoreThan(usize);
    impl<'de> Visitor<'de> for MoreThan {
        type Value = bool;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<bool, A::Error> {
            let mut count = 0;
            while seq.next_element::<IgnoredAny>()?.is_some() {
                count += 1;
                if count > self.0 {
                    return Err(serde::de::Error::custom("more"));
                }
            }
            Ok(false)
        }
    }
    memchr::memchr_iter(b',', list.as_bytes()).count() >= max
        && serde_json::Deserializer::from_str(list).deserialize_seq(MoreThan(max)).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::has_more_elements_than;

    #[test]
    fn nested_elements_are_not_counted() {
        for (list, too_long) in
            [("[1,2,3]", false), ("[1,2,3,4]", true), ("[[1,2,3,4,5],{\"a\":1,\"b\":2}]", false), ("[]", false)]
        {
            assert_eq!(has_more_elements_than(list, 3), too_long, "{list}");
        }
    }
}
