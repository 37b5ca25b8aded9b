//! JSON objects with borrowed members. A method returns None if the key is missing or its value has another type; such
//! a value remains only in the verbatim. If a key occurs several times, its last value is used.
use mementory_json as json;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::ops::Range;

/// The members of a JSON object in the order of the source. Values are not parsed.
#[derive(Debug, Default)]
pub struct Object<'a> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, v: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(v)))
            }
            fn visit_str<E>(self, v: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(v.to_owned())))
            }
        }
        d.deserialize_str(Visit)
    }
}

impl<'de: 'a, 'a> serde::Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a JSON object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
                let mut members = Vec::with_capacity(12);
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((key, value));
                }
                Ok(Object { members })
            }
        }
        d.deserialize_map(Visit)
    }
}

impl<'a> Object<'a> {
    /// The members of a JSON object. None for any other value and for invalid JSON.
    pub fn parse(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// All members of the object.
    pub fn members(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.iter().map(|(k, v)| (k.as_ref(), *v))
    }

    /// True if the key is present, even with the value null.
    pub fn has(&self, key: &str) -> bool {
        self.members.iter().any(|(k, _)| k == key)
    }

    /// The value of a key, unless it is null.
    pub fn raw_value(&self, key: &str) -> Option<&'a RawValue> {
        let value = self.members.iter().rev().find(|(k, _)| k == key)?.1;
        (value.get() != "null").then_some(value)
    }

    /// The text of a member that is a string.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        decode_string(self.raw_value(key)?)
    }

    /// The text of a member that is a string and not blank.
    pub fn non_blank_text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.text(key).filter(|t| !t.trim().is_empty())
    }

    /// The time of a member that is a string.
    pub fn timestamp(&self, key: &str) -> Option<mementory_model::Timestamp> {
        mementory_model::Timestamp::parse(&self.text(key)?)
    }

    /// A whole number, with or without quotes.
    pub fn whole_number(&self, key: &str) -> Option<u64> {
        self.raw_value(key)?.get().trim_matches('"').parse().ok()
    }

    /// True if the value of the member is `true`.
    pub fn is_true(&self, key: &str) -> bool {
        self.raw_value(key).is_some_and(|r| r.get() == "true")
    }

    /// The elements of a member that is a list. None for any other value.
    pub fn list(&self, key: &str) -> Option<Vec<&'a RawValue>> {
        list(self.raw_value(key)?)
    }

    /// The objects in a member that is a list. Other entries are left out.
    pub fn objects(&self, key: &str) -> impl Iterator<Item = Object<'a>> + use<'a> {
        self.list(key).unwrap_or_default().into_iter().filter_map(|raw| Object::parse(raw.get()))
    }

    /// The members of a member that is an object. None for any other value.
    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        Object::parse(self.raw_value(key)?.get())
    }
}

/// The elements of a list. None for any other value.
pub fn list(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// The text of a JSON string. Lone surrogates become U+FFFD; the verbatim preserves them. None for other values.
pub fn decode_string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let text = raw.get();
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inside));
    }
    match serde_json::from_str::<String>(text) {
        Ok(decoded) => Some(Cow::Owned(decoded)),
        Err(_) => {
            let (repaired, _) = json::repair(text.as_bytes())?;
            serde_json::from_str(&repaired).ok().map(Cow::Owned)
        }
    }
}

/// Byte range of `part` in `text`. None if `part` is not a slice of `text`.
pub fn range_in(text: &str, part: &str) -> Option<Range<usize>> {
    let from = (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let range = from..from + part.len();
    text.get(range.clone()).is_some().then_some(range)
}

/// `text` with some of its values replaced by other texts. The values must be slices of `text`.
pub fn with_replaced_values(text: &str, values: &[(&RawValue, &str)]) -> String {
    let mut cuts: Vec<_> = values
        .iter()
        .filter_map(|(raw, with)| {
            let range = range_in(text, raw.get())?;
            Some((range.start, range.end, *with))
        })
        .collect();
    cuts.sort_unstable();
    let mut out = String::new();
    let mut at = 0;
    for (from, to, with) in cuts {
        if from >= at {
            out.push_str(&text[at..from]);
            out.push_str(with);
            at = to;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Id for an element without an id: the first 24 hex digits of the SHA-256 of its text.
pub fn content_id(text: &str) -> String {
    use sha2::Digest;
    let mut id = hex::encode(sha2::Sha256::digest(text.as_bytes()));
    id.truncate(24);
    id
}
