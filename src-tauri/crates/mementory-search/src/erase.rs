//! Erasing: tantivy only marks documents as deleted. The segments that held an erased row are rewritten without it, and
//! the old files removed.
use crate::{IndexError, IndexResult, SearchIndex, index::Pending};
use std::sync::PoisonError;
use tantivy::{Term, index::SegmentId};

/// Rounds of rewriting: the merge policy may take up the outcome of the first at once.
const ATTEMPTS: usize = 5;

impl SearchIndex {
    /// Deletes the rows, commits (with whatever else is open) as of change `seq`, and leaves no file that holds a word of
    /// theirs because of them.
    pub fn erase(&self, rows: &[u64], seq: u64) -> IndexResult<()> {
        for row in rows {
            self.delete_row(*row)?;
        }
        self.commit(seq)?;
        self.purge(rows)
    }

    /// Rewrites every segment that holds a deleted document of these rows, waits, and removes the old files. For a row
    /// that was deleted and added again (redacted), call it after the commit: what is not committed is forgotten. The
    /// change number stays.
    pub fn purge(&self, rows: &[u64]) -> IndexResult<()> {
        let mut pending = self.pending();
        let mut failed = None;
        for _ in 0..ATTEMPTS {
            // A merge under way could hand the row on, or hold its segment: let all of them end first.
            self.release_locked(&mut pending)?;
            let holding = self.holding(rows)?;
            if holding.is_empty() {
                return self.sweep(&mut pending);
            }
            for segment in holding {
                failed = self.writer(&mut pending)?.merge(&[segment]).wait().err();
            }
            self.reader.reload()?;
        }
        let gave_up = || IndexError::Io(std::io::Error::other("a segment could not be rewritten"));
        Err(failed.map_or_else(gave_up, IndexError::from))
    }

    /// Segments with a deleted document of one of the rows.
    fn holding(&self, rows: &[u64]) -> IndexResult<Vec<SegmentId>> {
        let searcher = self.reader.searcher();
        let mut out = Vec::new();
        for segment in searcher.segment_readers().iter().filter(|s| s.has_deletes()) {
            let terms = segment.inverted_index(self.fields.row)?;
            for row in rows {
                let term = Term::from_field_u64(self.fields.row, *row);
                let option = tantivy::schema::IndexRecordOption::Basic;
                let Some(mut postings) = terms.read_block_postings(&term, option)? else { continue };
                let mut deleted = false;
                while !postings.docs().is_empty() {
                    deleted |= postings.docs().iter().any(|d| segment.is_deleted(*d));
                    postings.advance();
                }
                if deleted {
                    out.push(segment.segment_id());
                    break;
                }
            }
        }
        Ok(out)
    }

    /// Removes the files of segments that no commit names. Waits for searches under way: they hold files open.
    fn sweep(&self, pending: &mut Pending) -> IndexResult<()> {
        let _alone = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
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
