//! Decodes the lines of a file in parallel, while more lines are read.
use super::{
    bundle::line_text,
    kinds::KindSpec,
    wire::{decode, line},
};
use mementory_format::TextBatch;
use mementory_json::Tree;
use mementory_model::Bounds;
use std::{
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

/// A decoded line: the record, and true if the line is canonical. The error explains why the line is not a record.
pub(super) type Decoded = Result<(Tree, bool), String>;

/// Decodes the lines in order; blank lines are skipped.
fn decode_batch(batch: &TextBatch, spec: &KindSpec, depth: CheckDepth, bounds: Bounds) -> Vec<(u64, Decoded)> {
    batch.process(|number, bytes| {
        let tree = line_text(bytes)?.map_err(|()| "not UTF-8".to_owned()).and_then(|l| decode(spec, l, bounds));
        let decoded = tree.map(|tree| {
            let canonical = depth != CheckDepth::Full || is_canonical(spec, &tree, bytes);
            (tree, canonical)
        });
        Some((number, decoded))
    })
}

/// Decodes batches of one file in a thread while the next lines are read and hashed.
pub(super) struct Decoder {
    batches: Sender<TextBatch>,
    results: Receiver<Vec<(u64, Decoded)>>,
    in_flight: usize,
}

impl Decoder {
    /// Largest number of batches that may be in memory at the same time.
    const MAX_IN_FLIGHT: usize = 2;

    pub fn start<'s>(scope: &'s Scope<'s, '_>, spec: &'static KindSpec, depth: CheckDepth, bounds: Bounds) -> Self {
        let (batches, incoming) = channel::<TextBatch>();
        let (result_sender, results) = channel();
        scope.spawn(move || {
            for batch in incoming {
                if result_sender.send(decode_batch(&batch, spec, depth, bounds)).is_err() {
                    return;
                }
            }
        });
        Self { batches, results, in_flight: 0 }
    }

    /// Sends a batch to the thread; `record_batch` receives earlier results in line order.
    pub fn push(&mut self, batch: TextBatch, record_batch: &mut dyn FnMut(Vec<(u64, Decoded)>)) {
        // A batch with a very long line is decoded alone, because it needs much memory.
        let is_oversized = batch.is_oversized();
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
