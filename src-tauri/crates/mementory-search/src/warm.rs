//! Decrypts index files after unlocking, so that the first search does not wait for their decryption.
use crate::{IndexResult, SearchIndex};

/// File types that searches need, most important first. Positions are last, because they are read only for the best
/// hundred candidates.
const WARMED_FILE_TYPES: [&str; 4] = ["fieldnorm", "fast", "idx", "pos"];

impl SearchIndex {
    /// Decrypts dictionaries, lengths, columns, postings and positions into the cache. Fills at most about five sixths
    /// of the cache, to leave room for searches. Returns `Damaged` if a file fails its check.
    pub fn warm(&self) -> IndexResult<()> {
        self.with_searcher(|searcher| {
            let segments = searcher.segment_readers();
            for segment in segments {
                for (field, _) in self.fields.searched_fields() {
                    segment.inverted_index(field)?;
                }
            }
            let mut free_chunks = self.directory.enlarge_cache() / 6 * 5;
            for kind in WARMED_FILE_TYPES {
                for segment in segments {
                    let name = format!("{}.{kind}", segment.segment_id().uuid_string());
                    if self.directory.is_known(&name) {
                        free_chunks -= self.directory.read_ahead(&name, free_chunks)?;
                    }
                }
            }
            Ok(())
        })
    }
}
