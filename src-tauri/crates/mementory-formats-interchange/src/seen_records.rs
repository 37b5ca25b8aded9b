//! The records that were read from a file so far, by key and content, so that no record is imported twice and none replaces
//! another.
use crate::text_digest::digest;
use mementory_model::RecordKey;
use std::collections::{HashMap, HashSet};

/// The keys and contents of the records so far, as digests.
#[derive(Default)]
pub(crate) struct SeenRecords {
    /// The key that each record has in the file, and its content.
    contents: HashSet<(u128, u128)>,
    /// For each key: the largest number that was appended to it, or 1 if none was.
    last_numbers: HashMap<u128, u32>,
}

/// How often the key of a record occurred so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    /// No earlier record has the key.
    First,
    /// An earlier record has the same key and the same content.
    Duplicate,
    /// Earlier records have the key, but other contents. A number was appended to the key, so that both are imported.
    Numbered,
}

impl SeenRecords {
    /// Adds a record, and changes its key if earlier records with other contents have it. `content` is a digest.
    pub fn add(&mut self, key: &mut RecordKey, content: u128) -> Occurrence {
        let digest_of = |value: &str| digest(&format!("{}\0{value}", key.scope));
        let key_digest = digest_of(&key.value);
        if !self.contents.insert((key_digest, content)) {
            return Occurrence::Duplicate;
        }
        let Some(last_number) = self.last_numbers.get(&key_digest).copied() else {
            self.last_numbers.insert(key_digest, 1);
            return Occurrence::First;
        };
        let with_number = |number: u32| format!("{}#{number}", key.value);
        let is_free = |number: &u32| !self.last_numbers.contains_key(&digest_of(&with_number(*number)));
        let number = (last_number + 1..).find(is_free).unwrap_or(u32::MAX);
        let numbered = with_number(number);
        self.last_numbers.insert(digest_of(&numbered), 1);
        self.last_numbers.insert(key_digest, number);
        key.value = numbered;
        Occurrence::Numbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_content_of_a_key_is_imported_once() {
        let mut seen = SeenRecords::default();
        let mut add = |value: &str, content: u128| {
            let mut key = RecordKey::new("scope", value);
            let occurrence = seen.add(&mut key, content);
            (occurrence, key.value)
        };
        assert_eq!(add("a#2", 1), (Occurrence::First, "a#2".to_owned()));
        assert_eq!(add("a", 1), (Occurrence::First, "a".to_owned()));
        assert_eq!(add("a", 2), (Occurrence::Numbered, "a#3".to_owned()));
        assert_eq!(add("a", 2), (Occurrence::Duplicate, "a".to_owned()));
        assert_eq!(add("a", 1), (Occurrence::Duplicate, "a".to_owned()));
        assert_eq!(add("a", 3), (Occurrence::Numbered, "a#4".to_owned()));
        assert_eq!(add("a#3", 1), (Occurrence::Numbered, "a#3#2".to_owned()));
    }
}
