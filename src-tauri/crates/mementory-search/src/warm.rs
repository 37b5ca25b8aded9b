//! Reading ahead: who asks the first question after unlocking does not wait until dictionaries are decrypted.
use crate::{IndexResult, SearchIndex};

/// Files of a segment that questions need, what all of them need first. Positions are last: only the best hundred
/// candidates are looked up there.
const READ: [&str; 4] = ["fieldnorm", "fast", "idx", "pos"];

impl SearchIndex {
    /// Decrypts dictionaries, lengths, postings and positions into memory, at most as much as leaves a sixth of the cache
    /// to questions. `Damaged` when a file fails its check.
    pub fn warm(&self) -> IndexResult<()> {
        self.guarded(|searcher| {
            let segments = searcher.segment_readers();
            for segment in segments {
                for (field, _) in self.fields.searched() {
                    segment.inverted_index(field)?;
                }
            }
            let mut room = self.directory.enlarge_cache() / 6 * 5;
            for kind in READ {
                for segment in segments {
                    let name = format!("{}.{kind}", segment.segment_id().uuid_string());
                    if self.directory.names(&name) {
                        room -= self.directory.read_ahead(&name, room)?;
                    }
                }
            }
            Ok(())
        })
    }
}
