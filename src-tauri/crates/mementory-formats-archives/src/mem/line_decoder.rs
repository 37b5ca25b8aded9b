//! Decodes the lines of a file in parallel, while more lines are read.
use super::{
    bundle::line_text,
    kinds::KindSpec,
    wire::{decode, line},
};
use mementory_json::Tree;
use mementory_model::Bounds;
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::mpsc::{Receiver, Sender, channel},
    thread::Scope,
};

/// Extent of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckDepth {
    /// Only rules whose violation prevents an import.
    Import,
    /// All rules, including those about canonical form, conformance level and other claims of the manifest.
    Full,
}

/// A batch of lines of one file, which are decoded in parallel.
#[derive(Default)]
pub(super) struct LineBatch {
    bytes: Vec<u8>,
    /// Number of each line and its range in `bytes`.
    lines: Vec<(u64, Range<usize>)>,
}

/// A decoded line: the record, and true if the line is canonical. The error explains why the line is not a record.
pub(super) type Decoded = Result<(Tree, bool), String>;

impl LineBatch {
    /// Size limits of a batch.
    const MAX_LINES: usize = 1024;
    const MAX_BYTES: usize = 4 << 20;

    /// True if the batch is too full for another line of this length.
    pub fn is_full_with(&self, len: usize) -> bool {
        !self.lines.is_empty() && self.bytes.len() + len > Self::MAX_BYTES
    }

    pub fn push(&mut self, number: u64, line: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(line);
        self.lines.push((number, start..self.bytes.len()));
    }

    pub fn is_full(&self) -> bool {
        self.lines.len() >= Self::MAX_LINES || self.bytes.len() >= Self::MAX_BYTES
    }

    /// Decodes the lines in order; blank lines are skipped.
    fn decode(self, spec: &KindSpec, depth: CheckDepth, bounds: Bounds) -> Vec<(u64, Decoded)> {
        let decode_one = |(number, range): &(u64, Range<usize>)| {
            let bytes = &self.bytes[range.clone()];
            let tree = line_text(bytes)?.map_err(|()| "not UTF-8".to_owned()).and_then(|l| decode(spec, l, bounds));
            Some((
                *number,
                tree.map(|tree| {
                    let canonical = depth != CheckDepth::Full || is_canonical(spec, &tree, bytes);
                    (tree, canonical)
                }),
            ))
        };
        self.lines.par_iter().filter_map(decode_one).collect()
    }
}

/// Decodes batches of one file in a thread while the next lines are read and hashed.
pub(super) struct Decoder {
    batches: Sender<LineBatch>,
    results: Receiver<Vec<(u64, Decoded)>>,
    in_flight: usize,
}

impl Decoder {
    /// Largest number of batches that may be in memory at the same time.
    const MAX_IN_FLIGHT: usize = 2;

    pub fn start<'s>(scope: &'s Scope<'s, '_>, spec: &'static KindSpec, depth: CheckDepth, bounds: Bounds) -> Self {
        let (batches, incoming) = channel::<LineBatch>();
        let (result_sender, results) = channel();
        scope.spawn(move || {
            for batch in incoming {
                if result_sender.send(batch.decode(spec, depth, bounds)).is_err() {
                    return;
                }
            }
        });
        Self { batches, results, in_flight: 0 }
    }

    /// Sends a batch to the thread; `record_batch` receives earlier results in line order.
    pub fn push(&mut self, batch: LineBatch, record_batch: &mut dyn FnMut(Vec<(u64, Decoded)>)) {
        // A batch with a very long line is decoded alone, because it needs much memory.
        let is_oversized = batch.bytes.len() > LineBatch::MAX_BYTES;
        self.wait_for_batches(if is_oversized { 0 } else { Self::MAX_IN_FLIGHT - 1 }, record_batch);
        // Sending fails only if the thread has panicked; the scope then passes the panic on.
        if self.batches.send(batch).is_ok() {
            self.in_flight += 1;
        }
        self.wait_for_batches(if is_oversized { 0 } else { Self::MAX_IN_FLIGHT }, record_batch);
    }

    /// Waits until at most `limit` batches are in flight.
    pub fn wait_for_batches(&mut self, limit: usize, record_batch: &mut dyn FnMut(Vec<(u64, Decoded)>)) {
        while self.in_flight > limit {
            self.in_flight -= 1;
            record_batch(self.results.recv().unwrap_or_default());
        }
    }
}

/// True if the line is in canonical form.
fn is_canonical(spec: &KindSpec, tree: &Tree, bytes: &[u8]) -> bool {
    line(spec, tree).is_ok_and(|line| line.as_bytes() == bytes)
}
