//! Erasing: tantivy only marks documents as deleted. The segments that held an erased row are rewritten without it, and
//! the old files removed.
use super::{IndexError, IndexResult, SearchIndex};
use std::sync::PoisonError;
use tantivy::{Term, index::SegmentId};

impl SearchIndex {
    /// Deletes the rows, commits as of change `seq` and leaves no file that holds a word of theirs because of them.
    pub fn erase(&self, rows: &[u64], seq: u64) -> IndexResult<()> {
        for row in rows {
            self.delete_row(*row)?;
        }
        self.commit(seq)?;
        self.purge(rows)
    }

    /// Rewrites every segment that holds a deleted document of these rows, waits, and removes the old files. For a row
    /// that was deleted and added again (redacted), call it after the commit. The commit number stays.
    pub fn purge(&self, rows: &[u64]) -> IndexResult<()> {
        let mut writing = self.writing();
        loop {
            // A merge under way may hand the row on: what it made is looked at again.
            let holding = self.holding(rows)?;
            if holding.is_empty() {
                break;
            }
            let mut gone = false;
            for segment in holding {
                gone |= self.writer(&mut writing)?.merge(&[segment]).wait().is_err();
            }
            if gone {
                // The segment was being merged by the policy: let that end.
                if let Some(writer) = writing.writer.take() {
                    writing.open = 0;
                    writer.wait_merging_threads()?;
                }
            }
            self.reader.reload()?;
        }
        self.sweep(&mut writing)
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
    fn sweep(&self, writing: &mut super::Writing) -> IndexResult<()> {
        let _alone = self.in_use.write().unwrap_or_else(PoisonError::into_inner);
        let writer = self.writer(writing)?;
        let result = writer.garbage_collect_files().wait()?;
        if result.failed_to_delete_files.is_empty() {
            Ok(())
        } else {
            Err(IndexError::Io(std::io::Error::other("an index file could not be removed")))
        }
    }
}
