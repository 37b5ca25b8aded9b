//! The keys of an array's elements. After a damaged element, the next element is recognised by these keys.
use std::hash::{DefaultHasher, Hash, Hasher};

/// Largest number of keys that are compared. An object with more keys is often a large dictionary, whose keys its
/// siblings do not have.
const MAX_KEYS: usize = 64;
/// Length in bytes above which a first key is not searched for.
const MAX_KEY_BYTES: usize = 256;
/// After this many complete elements, a guess counts as confirmed.
const MAX_GUESSED: u64 = 100;
/// Number of different kinds of elements that are remembered.
const MAX_KINDS: usize = 8;

/// The first key and the set of keys of an object.
#[derive(Debug, Default, Clone)]
pub(super) struct ElementKeys {
    first: Vec<u8>,
    hashes: Vec<u64>,
    /// True if the key that was added last is the last one in `hashes`.
    has_last: bool,
}

impl ElementKeys {
    /// Adds a key as it is in the text, with its escapes.
    pub(super) fn add(&mut self, key: &[u8]) {
        if self.hashes.is_empty() && key.len() <= MAX_KEY_BYTES {
            self.first = key.to_vec();
        }
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        self.has_last = self.hashes.len() < MAX_KEYS && !self.hashes.contains(&hash);
        if self.has_last {
            self.hashes.push(hash);
        }
    }

    /// Removes the key that was added last.
    pub(super) fn remove_last(&mut self) {
        if std::mem::take(&mut self.has_last) {
            self.hashes.pop();
        }
    }

    fn count_common(&self, other: &Self) -> usize {
        self.hashes.iter().filter(|hash| other.hashes.contains(hash)).count()
    }
}

/// The keys of the elements of an array, as far as they have been read.
#[derive(Debug, Default)]
pub(super) struct Siblings {
    /// The different sets of keys that complete elements have.
    kinds: Vec<ElementKeys>,
    /// The keys of a damaged element, up to the damage. Set only until a complete element is known.
    incomplete: Option<ElementKeys>,
    /// Number of complete elements.
    count: u64,
    /// True if an element was accepted before it was known which keys elements have.
    is_guess: bool,
}

impl Siblings {
    /// Remembers a complete element.
    pub(super) fn add(&mut self, keys: ElementKeys) {
        self.count += 1;
        if self.kinds.len() < MAX_KINDS && !self.kinds.iter().any(|kind| are_similar(&keys, kind)) {
            self.kinds.push(keys);
        }
    }

    /// Remembers the keys of a damaged element that has at least two keys and contains an object or array. Any other
    /// object may itself be nested in an element, and its keys (`id`, `created_at`) may also occur in objects inside of
    /// elements.
    pub(super) fn add_damaged(&mut self, keys: &ElementKeys, has_nested: bool) {
        if has_nested && keys.hashes.len() >= 2 {
            self.incomplete = Some(keys.clone());
        }
    }

    /// Notes that the next element is accepted only because of its position, while the keys of elements are unknown.
    pub(super) fn mark_as_guess(&mut self) {
        self.is_guess = true;
    }

    /// Removes keys that may be wrong, because the bytes that follow are not part of any element. If there is only one
    /// element, a surplus bracket may have ended it too early. The objects since a guess may be parts of one element.
    pub(super) fn forget_uncertain(&mut self) {
        if self.count == 1 {
            self.incomplete = self.kinds.pop();
        } else if self.is_guess && self.count < MAX_GUESSED {
            self.kinds.clear();
            self.incomplete = None;
            self.count = 0;
        }
    }

    /// True if a complete element was read.
    pub(super) fn has_complete(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// True if the keys of an element are known, so that another element can be recognised.
    pub(super) fn can_recognise(&self) -> bool {
        self.known_keys().next().is_some()
    }

    fn known_keys(&self) -> impl Iterator<Item = &ElementKeys> {
        self.kinds.iter().chain(self.incomplete.iter().filter(move |_| self.kinds.is_empty()))
    }

    /// True if the bytes, which start with `{`, start like an element. The quotes of JSON inside of a string are
    /// escaped, so such JSON never does.
    pub(super) fn starts_like_element(&self, bytes: &[u8]) -> bool {
        self.known_keys().any(|kind| {
            let name = bytes.get(1..).map(<[u8]>::trim_ascii_start).and_then(|rest| rest.strip_prefix(b"\""));
            let after_key = name.and_then(|rest| rest.strip_prefix(kind.first.as_slice())?.strip_prefix(b"\""));
            !kind.first.is_empty() && after_key.is_some_and(|rest| rest.trim_ascii_start().first() == Some(&b':'))
        })
    }

    /// True if a complete object has about the same keys as an element. Objects inside of elements often have the same
    /// first key (`id`), but different further keys.
    pub(super) fn has_similar(&self, keys: &ElementKeys) -> bool {
        if self.has_complete() {
            return self.kinds.iter().any(|kind| are_similar(keys, kind));
        }
        self.incomplete.as_ref().is_some_and(|start| keys.count_common(start) == start.hashes.len())
    }

    /// True if an object that is damaged after these keys is probably an element.
    pub(super) fn has_similar_start(&self, keys: &ElementKeys) -> bool {
        let is_start = |kind: &ElementKeys| {
            let common_count = keys.count_common(kind);
            common_count >= kind.hashes.len().min(2) && 2 * common_count >= keys.hashes.len()
        };
        self.known_keys().any(is_start)
    }
}

/// True if the objects share at least half of the keys of the object with more keys.
fn are_similar(keys: &ElementKeys, kind: &ElementKeys) -> bool {
    2 * keys.count_common(kind) >= keys.hashes.len().max(kind.hashes.len())
}
