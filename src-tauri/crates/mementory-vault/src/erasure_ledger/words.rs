//! Finds words in a text by their length and keyed fingerprint, without knowing the words.
use mementory_crypto::{VaultKeys, keyed_id};
use mementory_model::normal_text;
use mementory_store::ids::parse_id;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Fingerprint of redacted words in the list of erasures, with their length and the mark that replaced them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WordFingerprint {
    /// Number of code points of the words.
    length: usize,
    print: String,
    /// The text that replaced the words.
    mark: String,
}

/// Makes the fingerprint of words. `mark` is the text that replaced them.
pub(crate) fn word_fingerprint(keys: &VaultKeys, words: &str, mark: &str) -> WordFingerprint {
    let print = hex::encode(keyed_id(keys.ledger(), &[b"words", words.as_bytes()]));
    WordFingerprint { length: words.chars().count(), print, mark: mark.to_owned() }
}

/// Returns the fingerprint of a whole text, in hex.
pub(crate) fn text_fingerprint(keys: &VaultKeys, text: &str) -> String {
    hex::encode(keyed_id(keys.ledger(), &[b"text", text.as_bytes()]))
}

/// Searches texts for words that are known by their fingerprints.
pub(crate) struct WordFinder<'k> {
    keys: &'k VaultKeys,
    /// The fingerprints not found so far, each with its mark. The key is the number of code points of the words.
    not_found: BTreeMap<usize, HashMap<[u8; 16], String>>,
    pub(crate) words: BTreeSet<(String, String)>,
}

impl<'k> WordFinder<'k> {
    pub(crate) fn new(keys: &'k VaultKeys, fingerprints: &[WordFingerprint]) -> Self {
        let mut not_found: BTreeMap<usize, HashMap<[u8; 16], String>> = BTreeMap::new();
        for word in fingerprints.iter().filter(|word| word.length > 0) {
            if let Some(id) = parse_id(&word.print) {
                not_found.entry(word.length).or_default().insert(id, word.mark.clone());
            }
        }
        Self { keys, not_found, words: BTreeSet::new() }
    }

    /// Searches a text for the words, beginning at every code point.
    pub(crate) fn search(&mut self, text: &str) {
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        self.search_from(text, &starts, 0..starts.len());
    }

    /// Searches the normal form of a text for sentences, beginning at every word.
    pub(crate) fn search_normalized(&mut self, text: &str) {
        let text = normal_text(text);
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let bytes = text.as_bytes();
        let begins_word = |n: &usize| starts.get(*n).is_some_and(|at| *at == 0 || bytes.get(at - 1) == Some(&b' '));
        let words: Vec<usize> = (0..starts.len()).filter(begins_word).collect();
        self.search_from(&text, &starts, words);
    }

    fn search_from(&mut self, text: &str, starts: &[usize], from: impl IntoIterator<Item = usize> + Clone) {
        let keys = self.keys;
        for (length, fingerprints) in &mut self.not_found {
            for first in from.clone() {
                if fingerprints.is_empty() {
                    break;
                }
                let (Some(start), Some(end)) = (starts.get(first), starts.get(first + length)) else { break };
                let Some(words) = text.get(*start..*end) else { break };
                if let Some(mark) = fingerprints.remove(&keyed_id(keys.ledger(), &[b"words", words.as_bytes()])) {
                    self.words.insert((words.to_owned(), mark));
                }
            }
        }
        self.not_found.retain(|_, fingerprints| !fingerprints.is_empty());
    }
}
