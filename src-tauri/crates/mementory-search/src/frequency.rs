//! Counts how many documents contain a word. Callers use this to weigh the words of a text.
use crate::{IndexResult, SearchIndex, tokenize::tokens};
use std::collections::{HashMap, hash_map::Entry};
use tantivy::Term;

impl SearchIndex {
    /// Returns the total number of documents, and for each word of the text the number of documents whose text contains
    /// it. The words are folded as in the index. The numbers for the words include deleted documents that are still in
    /// a segment; the total does not.
    ///
    /// # Errors
    /// `Damaged` if a file fails its check.
    pub fn document_frequencies(&self, text: &str) -> IndexResult<(u64, HashMap<String, u64>)> {
        self.with_searcher(|searcher| {
            let mut out = HashMap::new();
            for word in tokens(text) {
                if let Entry::Vacant(entry) = out.entry(word) {
                    let doc_count = searcher.doc_freq(&Term::from_field_text(self.fields.text, entry.key()))?;
                    entry.insert(doc_count);
                }
            }
            Ok((searcher.num_docs(), out))
        })
    }
}
