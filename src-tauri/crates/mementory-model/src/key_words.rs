//! Recognises keys and ids that contain words of their record. Tombstones and deltas name erased records, but must not
//! repeat words of these records.
use crate::{Kind, MIN_SEARCHED_CHARS, REDACTED, Record, RecordKey, normal_text, shares_words};
use std::collections::HashSet;

/// Endings of files that contain one note and are named after it. If another file has a single word as its name, such
/// as `memory.json`, that may be the kind of its records.
const NOTE_ENDINGS: [&str; 8] = ["md", "markdown", "mdx", "txt", "html", "htm", "org", "rst"];

/// True if a word of the title or name is a word of the id, as in a path or in a short form of the title. Not compared
/// are words of fewer than [`MIN_SEARCHED_CHARS`] characters, and the names of kinds, because many ids begin with the
/// name of a kind (`conversation/…`).
fn has_word_of(id: &str, name: &str) -> bool {
    let (id, name) = (normal_text(id), normal_text(name));
    let words_of_id: HashSet<&str> = id.split(' ').collect();
    let is_kind = |word: &str| Kind::ALL.iter().any(|kind| kind.as_str() == word);
    name.split(' ')
        .any(|word| word.chars().count() >= MIN_SEARCHED_CHARS && words_of_id.contains(word) && !is_kind(word))
}

impl Record {
    /// The key, if it has no words of the record. Every vault that read the record from the same source has the same
    /// key. Some sources name records by their title or path, so the result is None if the key has words of the
    /// record's text, its title, the names of its entities, the name of its file, or `titles`, the titles of the
    /// records that contain this record. The result is also None for a relation, whose key may consist of the names of
    /// its ends, and for a key from which a redaction removed words.
    pub fn key_without_words(&self, titles: &[&str]) -> Option<&RecordKey> {
        let key = self.key.value.as_str();
        if self.kind == Kind::Relation || key.contains(REDACTED) {
            return None;
        }
        let file = self.origin.container.rsplit('/').next().unwrap_or_default();
        let (stem, ending) = file.rsplit_once('.').unwrap_or((file, ""));
        let is_name = normal_text(stem).contains(' ') || NOTE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str());
        let texts = [self.text.as_str(), file, if is_name { stem } else { "" }];
        let own_names = self.title.iter().chain(self.entities.iter().map(|entity| &entity.name)).map(String::as_str);
        let mut names = own_names.chain(titles.iter().copied());
        let has_words = texts.into_iter().any(|text| !text.is_empty() && shares_words(key, text))
            || names.any(|name| !name.is_empty() && (shares_words(key, name) || has_word_of(key, name)));
        (!has_words).then_some(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: &str, title: &str, container: &str) -> Record {
        let mut record = Record::new(Kind::Memory, RecordKey::new("notes", key), "Bees swarm in May.");
        record.title = Some(title.to_owned()).filter(|title| !title.is_empty());
        record.origin.container = container.to_owned();
        record
    }

    #[test]
    fn keys_made_of_titles_or_paths_are_left_out() {
        for (key, title, container) in [
            ("places/ghent", "Ghent", "memory.db"),
            ("places/ghent-trip", "Trip to Ghent", "memory.db"),
            ("Ghent/observation/3", "", "notes/Ghent.md"),
            ("ghent#2", "", "notes/Ghent.md"),
            ("Swarm season/1", "", "notes/Swarm season.json"),
            ("bees swarm in may", "", "memory.json"),
            ("[REDACTED:name].md", "", "a.json"),
        ] {
            assert_eq!(record(key, title, container).key_without_words(&[]), None, "{key}");
        }
        let part = record("places/ghent/2", "", "memory.db");
        assert_eq!(part.key_without_words(&["Ghent"]), None, "a part of a note");
        let mut relation = record("1/knows/2", "", "memory.db");
        relation.kind = Kind::Relation;
        assert_eq!(relation.key_without_words(&[]), None);
    }

    #[test]
    fn other_keys_are_named() {
        for (key, title, container) in [
            ("conversation/5f0e7a19", "New conversation", "conversations.json"),
            ("memory/12", "", "memory.json"),
            ("0197f2a0-5555-7000-8000-000000000001", "Ghent", "notes/Ghent.md"),
        ] {
            assert!(record(key, title, container).key_without_words(&["Swarm season"]).is_some(), "{key}");
        }
    }
}
