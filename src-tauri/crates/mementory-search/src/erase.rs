//! Erases rows from the index. tantivy itself only marks documents as deleted, so segments that contain an erased row
//! are rewritten without it, and the old files are removed.
use crate::{IndexError, IndexResult, SearchIndex, index::PendingChanges};
use std::sync::PoisonError;
use tantivy::{Term, index::SegmentId};

/// Maximum number of rounds in which segments are rewritten. More than one may be needed, because the merge policy may
/// merge the segments again during a round.
const MAX_REWRITE_ROUNDS: usize = 5;

impl SearchIndex {
    /// Deletes the rows, and commits the deletion together with all other pending changes. `seq` is the number of the
    /// store's last change in this commit. Then removes every file that still contains words of these rows.
    pub fn erase(&self, rows: &[u64], seq: u64) -> IndexResult<()> {
        for row in rows {
            self.delete_row(*row)?;
        }
        self.commit(seq)?;
        self.purge(rows)
    }

    /// Rewrites every segment that contains a deleted document of these rows, waits until this is done, and removes the
    /// old files. Uncommitted changes are dropped, so if a row was deleted and added again (a redaction), call this
    /// after the commit. The change number of the last commit stays the same.
    pub fn purge(&self, rows: &[u64]) -> IndexResult<()> {
        let mut pending = self.pending();
        let mut last_error = None;
        for _ in 0..MAX_REWRITE_ROUNDS {
            // A running merge could copy the row into a new segment, or keep the files of its segment in use, so all
            // merges must end first.
            self.release_locked(&mut pending)?;
            let segments_to_rewrite = self.segments_to_rewrite(rows)?;
            if segments_to_rewrite.is_empty() {
                return self.remove_unused_files(&mut pending);
            }
            for segment in segments_to_rewrite {
                last_error = self.writer(&mut pending)?.merge(&[segment]).wait().err();
            }
            self.reader.reload()?;
        }
        let gave_up = || IndexError::Io(std::io::Error::other("a segment could not be rewritten"));
        Err(last_error.map_or_else(gave_up, IndexError::from))
    }

    /// Segments that contain a deleted document of one of the rows.
    fn segments_to_rewrite(&self, rows: &[u64]) -> IndexResult<Vec<SegmentId>> {
        let searcher = self.reader.searcher();
        let mut out = Vec::new();
        for segment in searcher.segment_readers().iter().filter(|s| s.has_deletes()) {
            let terms = segment.inverted_index(self.fields.row)?;
            for row in rows {
                let term = Term::from_field_u64(self.fields.row, *row);
                let option = tantivy::schema::IndexRecordOption::Basic;
                let Some(mut postings) = terms.read_block_postings(&term, option)? else { continue };
                let mut has_deleted_document = false;
                while !postings.docs().is_empty() {
                    has_deleted_document |= postings.docs().iter().any(|d| segment.is_deleted(*d));
                    postings.advance();
                }
                if has_deleted_document {
                    out.push(segment.segment_id());
                    break;
                }
            }
        }
        Ok(out)
    }

    /// Removes the files of segments that belong to no commit. Waits for running searches, which keep files open.
    fn remove_unused_files(&self, pending: &mut PendingChanges) -> IndexResult<()> {
        let _no_search_runs = self.open_segments.write().unwrap_or_else(PoisonError::into_inner);
        self.filter_cache.clear();
        let writer = self.writer(pending)?;
        let result = writer.garbage_collect_files().wait()?;
        if result.failed_to_delete_files.is_empty() {
            Ok(())
        } else {
            Err(IndexError::Io(std::io::Error::other("an index file could not be removed")))
        }
    }
}
