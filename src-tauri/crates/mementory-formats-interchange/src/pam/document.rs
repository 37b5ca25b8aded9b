//! One JSON document of the format, its top level opened: members as raw text, arrays as lists of raw text.
use mementory_format::{Catalog, FormatError, Member};
use mementory_json::{Members, Tree, TreeError};
use mementory_model::{Bounds, Limits};
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The text of a document. Bounded; a byte order mark is passed over.
pub(super) fn text(catalog: &Catalog, member: &Member, limits: &Limits) -> Result<String, FormatError> {
    let bytes = catalog.bytes(member, limits.element_bytes)?;
    let bytes = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.to_vec(),
        None => bytes,
    };
    String::from_utf8(bytes).map_err(|_| FormatError::invalid("malformed", &member.place, "not UTF-8"))
}

/// A document of which only the top level was looked into.
pub(super) struct Document<'t> {
    /// Members in their order.
    pub members: Vec<(String, &'t RawValue)>,
}

impl<'t> Document<'t> {
    /// Opens a text.
    pub fn open(text: &'t str, place: &str) -> Result<Self, FormatError> {
        let members: Members = serde_json::from_str(text).map_err(|e| {
            let what = if e.is_eof() { "the file ends early" } else { "not valid JSON" };
            let message = format!("{what} (line {}, column {})", e.line(), e.column());
            FormatError::invalid("malformed", place, message)
        })?;
        let crowded = members.0.iter().find(|(_, raw)| is_list(raw) && is_crowded(raw.get(), ELEMENTS));
        if let Some((key, raw)) = crowded {
            let (place, figure) = (format!("{place}/{key}"), raw.get().len() as u64);
            return Err(FormatError::Limit { limit: "elements", place, figure });
        }
        Ok(Self { members: members.0 })
    }

    /// A member's text; of duplicate keys the last one.
    pub fn raw(&self, key: &str) -> Option<&'t RawValue> {
        self.members.iter().rev().find(|(k, _)| k == key).map(|(_, v)| *v)
    }

    /// A member that is a text.
    pub fn word(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// The elements of a member that is a list; empty when it is none.
    pub fn list(&self, key: &str) -> Vec<&'t RawValue> {
        self.raw(key).and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
    }

    /// The document with its lists of records emptied, for looking at the rest.
    pub fn outline(&self, lists: &[&str], bounds: Bounds) -> Tree {
        let mut left = bounds;
        let member = |(key, raw): &(String, &'t RawValue)| {
            let value = match lists.contains(&key.as_str()) && is_list(raw) {
                true => Tree::Array(vec![]),
                // All of them are held together.
                false => Tree::take(raw, &mut left).unwrap_or(Tree::Null),
            };
            (key.clone(), value)
        };
        Tree::Object(self.members.iter().map(member).collect())
    }

    /// The members that [`Self::outline`] cannot hold, with the reason.
    pub fn unheld(&self, lists: &[&str], bounds: Bounds) -> Vec<(&str, TreeError)> {
        let mut left = bounds;
        let shown = self.members.iter().filter(|(key, raw)| !(lists.contains(&key.as_str()) && is_list(raw)));
        shown.filter_map(|(key, raw)| Some((key.as_str(), Tree::take(raw, &mut left).err()?))).collect()
    }
}

fn is_list(raw: &RawValue) -> bool {
    raw.get().starts_with('[')
}

/// Elements of one list: they are held by their places, 16 bytes for what may be two bytes of text. A document of
/// real records that is as large as one may be (`Limits::element_bytes`) has fewer.
const ELEMENTS: usize = 4 << 20;

/// True for a list of more elements than `most`. Commas are counted first, which is enough for nearly every list.
fn is_crowded(list: &str, most: usize) -> bool {
    struct More(usize);
    impl<'de> Visitor<'de> for More {
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
    memchr::memchr_iter(b',', list.as_bytes()).count() >= most
        && serde_json::Deserializer::from_str(list).deserialize_seq(More(most)).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::is_crowded;

    #[test]
    fn only_elements_of_the_list_itself_count() {
        for (list, crowded) in
            [("[1,2,3]", false), ("[1,2,3,4]", true), ("[[1,2,3,4,5],{\"a\":1,\"b\":2}]", false), ("[]", false)]
        {
            assert_eq!(is_crowded(list, 3), crowded, "{list}");
        }
    }
}
