//! The lines of a file that is written, until they are sorted.
use std::ops::Range;

/// The lines of one file with their sort keys. The lines take up most of an export's memory, so they are stored in
/// large blocks.
#[derive(Default)]
pub(super) struct Stream {
    blocks: Vec<String>,
    /// Sort key of each line, its block and its range in that block.
    pub lines: Vec<(String, usize, Range<usize>)>,
    /// Size of the file so far, also in a dry run, which stores no lines.
    pub bytes: u64,
}

impl Stream {
    const BLOCK_BYTES: usize = 1 << 20;

    pub fn add(&mut self, order: String, line: &str) {
        if self.blocks.last().is_none_or(|block| block.capacity() - block.len() < line.len()) {
            // Most files have few lines, so the first block is only as large as its first line.
            let capacity = if self.blocks.is_empty() { line.len() } else { Self::BLOCK_BYTES.max(line.len()) };
            self.blocks.push(String::with_capacity(capacity));
        }
        let at = self.blocks.len() - 1;
        let Some(block) = self.blocks.last_mut() else { return };
        let start = block.len();
        block.push_str(line);
        self.lines.push((order, at, start..block.len()));
    }

    /// The lines in output order: episodes by id, vendor lines in their original order, everything else by the
    /// whole line.
    pub fn sorted_lines(&mut self) -> impl Iterator<Item = &str> {
        let Self { blocks, lines, .. } = self;
        let text = |(_, block, range): &(String, usize, Range<usize>)| &blocks[*block][range.clone()];
        lines.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a).cmp(text(b))));
        lines.iter().map(text)
    }
}
