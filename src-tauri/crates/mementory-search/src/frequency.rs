//! Numbers of documents that contain a word, for callers that weigh the words of a text.
use crate::{IndexResult, SearchIndex, tokenize::tokens};
use std::collections::{HashMap, hash_map::Entry};
use tantivy::Term;

impl SearchIndex {
    /// Returns the number of all documents and, for each word of the text (folded as in the index), the number of
    /// documents whose text contains it. Documents that are deleted but not merged away count too.
    ///
    /// # Errors
    /// `Damaged` if a file fails its check.
    pub fn document_frequencies(&self, text: &str) -> IndexResult<(u64, HashMap<String, u64>)> {
        self.with_searcher(|searcher| {
            let mut out = HashMap::new();
            for word in tokens(text) {
                if let Entry::Vacant(entry) = out.entry(word) {
                    let found = searcher.doc_freq(&Term::from_field_text(self.fields.text, entry.key()))?;
                    entry.insert(found);
                }
            }
            Ok((searcher.num_docs(), out))
        })
    }
}
