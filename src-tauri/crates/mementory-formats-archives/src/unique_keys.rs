//! Gives each record of a file a unique key, even if several records have the same id, so that no record replaces
//! another.
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The keys of the records of a file. Each key takes about 40 bytes, because only its hash is stored.
#[derive(Default)]
pub(crate) struct UniqueKeys {
    keys: HashMap<u128, KeyUse>,
}

struct KeyUse {
    /// Hash of the content of the first record with this key. None if contents are not compared.
    content: Option<u64>,
    /// Largest number that was appended to this key, or 1 if none was.
    last_number: u32,
}

/// The result of assigning a key to a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AssignedKey {
    /// No earlier record has the key.
    Free,
    /// The first record with the key has the same content.
    Duplicate,
    /// Other records already have the key, so `#` and a number are added to make it unique.
    Numbered(String),
}

impl UniqueKeys {
    /// Reserves a key for a record that is read separately, so that [`Self::assign`] gives the key to no other record.
    pub(crate) fn reserve(&mut self, scope: &str, value: &str) {
        self.keys.entry(hash128(&(scope, value))).or_insert(KeyUse { content: None, last_number: 1 });
    }

    /// Assigns a key to a record. `value` is the key derived from the record's id. A record whose `content` equals that
    /// of the first record with the same key is reported as a duplicate.
    pub(crate) fn assign(&mut self, scope: &str, value: &str, content: Option<&str>) -> AssignedKey {
        let key = hash128(&(scope, value));
        let content = content.map(|content| hash64(&content));
        let Some(earlier) = self.keys.get(&key) else {
            self.keys.insert(key, KeyUse { content, last_number: 1 });
            return AssignedKey::Free;
        };
        if content.is_some() && earlier.content == content {
            return AssignedKey::Duplicate;
        }
        let with_number = |n: u32| format!("{value}#{n}");
        let is_free = |n: &u32| !self.keys.contains_key(&hash128(&(scope, &*with_number(*n))));
        let number = (earlier.last_number + 1..).find(is_free).unwrap_or(u32::MAX);
        let numbered = with_number(number);
        self.keys.insert(hash128(&(scope, &*numbered)), KeyUse { content, last_number: 1 });
        if let Some(earlier) = self.keys.get_mut(&key) {
            earlier.last_number = number;
        }
        AssignedKey::Numbered(numbered)
    }

    /// Removes all keys.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
    }
}

fn hash64(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn hash128(value: &impl Hash) -> u128 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    let low_bits = hasher.finish();
    low_bits.hash(&mut hasher);
    value.hash(&mut hasher);
    (u128::from(hasher.finish()) << 64) | u128::from(low_bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_key_is_the_key_of_no_other_record() {
        let mut keys = UniqueKeys::default();
        let numbered = |key: &str| AssignedKey::Numbered(key.to_owned());
        assert_eq!(keys.assign("s", "a#2", None), AssignedKey::Free);
        assert_eq!(keys.assign("s", "a", Some("x")), AssignedKey::Free);
        assert_eq!(keys.assign("s", "a", Some("x")), AssignedKey::Duplicate);
        assert_eq!(keys.assign("s", "a", Some("y")), numbered("a#3"));
        assert_eq!(keys.assign("s", "a", None), numbered("a#4"));
        assert_eq!(keys.assign("s", "a#3", None), numbered("a#3#2"));
        assert_eq!(keys.assign("other", "a", Some("x")), AssignedKey::Free);
        keys.reserve("s", "b");
        keys.reserve("s", "a");
        assert_eq!(keys.assign("s", "b", Some("x")), numbered("b#2"));
        assert_eq!(keys.assign("s", "a", Some("x")), AssignedKey::Duplicate);
    }
}
