//! Batches of the lines of a file, so that all cores can work on lines while their order stays.
use rayon::prelude::*;
use std::ops::Range;

/// Lines of one file that are processed in parallel.
#[derive(Default)]
pub(crate) struct LineBatch {
    bytes: Vec<u8>,
    /// Number of each line and its range in `bytes`.
    lines: Vec<(u64, Range<usize>)>,
}

impl LineBatch {
    /// Size limits of a batch.
    const MAX_LINES: usize = 1024;
    const MAX_BYTES: usize = 4 << 20;

    /// True if the batch is too full for another line of this length.
    pub(crate) fn is_full_with(&self, len: usize) -> bool {
        !self.lines.is_empty() && self.bytes.len() + len > Self::MAX_BYTES
    }

    /// Adds a line with its number.
    pub(crate) fn push(&mut self, number: u64, line: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        self.lines.push((number, start..self.bytes.len()));
    }

    /// Removes all lines. The next ones use the same memory, unless a very long line needed it.
    pub(crate) fn clear(&mut self) {
        if self.bytes.capacity() > 2 * Self::MAX_BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.lines.clear();
    }

    /// True if the batch is to be processed before another line is added.
    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= Self::MAX_LINES || self.bytes.len() >= Self::MAX_BYTES
    }

    /// True if the batch has a single very long line.
    pub(crate) fn is_oversized(&self) -> bool {
        self.bytes.len() > Self::MAX_BYTES
    }

    /// Calls `process` with the number and the bytes of each line, on all cores. Returns the results in the order of
    /// the lines, without those that are None.
    pub(crate) fn process<T: Send>(&self, process: impl Fn(u64, &[u8]) -> Option<T> + Sync) -> Vec<T> {
        let process_one =
            |(number, range): &(u64, Range<usize>)| process(*number, self.bytes.get(range.clone()).unwrap_or_default());
        self.lines.par_iter().filter_map(process_one).collect()
    }
}
