//! Batches of the lines or elements of a file, so that all cores can work on them while their order stays.
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::mpsc::{Receiver, Sender, channel},
    thread::Scope,
};

/// Lines or elements of one file that are processed in parallel.
#[derive(Debug, Default)]
pub struct TextBatch {
    bytes: Vec<u8>,
    /// Number of each text and its range in `bytes`.
    texts: Vec<(u64, Range<usize>)>,
}

impl TextBatch {
    /// Largest number of texts in a batch.
    const MAX_TEXTS: usize = 1024;
    /// Size of a full batch in bytes. Only a batch of a single text is larger.
    pub const MAX_BYTES: usize = 1 << 20;

    /// True if the batch is too full for another text of this length in bytes.
    pub fn is_full_with(&self, len: usize) -> bool {
        !self.texts.is_empty() && self.bytes.len() + len > Self::MAX_BYTES
    }

    /// Adds a text with its number.
    pub fn push(&mut self, number: u64, text: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.texts.push((number, start..self.bytes.len()));
    }

    /// Removes all texts. The next texts reuse the memory, unless a very long text made it too large.
    pub fn clear(&mut self) {
        if self.bytes.capacity() > 2 * Self::MAX_BYTES {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.texts.clear();
    }

    /// True if the batch is to be processed before another text is added.
    pub fn is_full(&self) -> bool {
        self.texts.len() >= Self::MAX_TEXTS || self.bytes.len() >= Self::MAX_BYTES
    }

    /// True if the batch has a single very long text.
    pub fn is_oversized(&self) -> bool {
        self.bytes.len() > Self::MAX_BYTES
    }

    /// Calls `process` with the number and the bytes of each text, on all cores. Returns the results in the order of
    /// the texts, without those that are None.
    pub fn process<T: Send>(&self, process: impl Fn(u64, &[u8]) -> Option<T> + Sync) -> Vec<T> {
        let process_one =
            |(number, range): &(u64, Range<usize>)| process(*number, self.bytes.get(range.clone()).unwrap_or_default());
        self.texts.par_iter().filter_map(process_one).collect()
    }
}

/// Processes the batches of one file on another thread while the next batches are read. Returns the results in the
/// order of the batches.
#[derive(Debug)]
pub struct BatchPipeline<T> {
    batches: Sender<TextBatch>,
    /// Batches that were processed, each with its results.
    results: Receiver<(TextBatch, Vec<T>)>,
    in_flight: usize,
    /// Processed batches without their texts. The next texts reuse their memory, because getting new memory from the
    /// system takes longer than copying a text into it.
    spare_batches: Vec<TextBatch>,
}

impl<T: Send> BatchPipeline<T> {
    /// Largest number of batches that may be in memory at the same time.
    const MAX_IN_FLIGHT: usize = 2;

    /// Starts the thread. It ends when the pipeline is dropped.
    pub fn start<'s>(scope: &'s Scope<'s, '_>, process: impl Fn(&TextBatch) -> Vec<T> + Send + 's) -> Self
    where
        T: 's,
    {
        let (batches, incoming_batches) = channel::<TextBatch>();
        let (result_sender, results) = channel();
        scope.spawn(move || {
            for batch in incoming_batches {
                let results = process(&batch);
                if result_sender.send((batch, results)).is_err() {
                    return;
                }
            }
        });
        Self { batches, results, in_flight: 0, spare_batches: Vec::new() }
    }

    /// Sends a batch to the thread and leaves an empty batch in its place. `receive` is called with the results of
    /// earlier batches.
    pub fn push(&mut self, batch: &mut TextBatch, receive: &mut dyn FnMut(Vec<T>)) {
        let batch = std::mem::replace(batch, self.spare_batches.pop().unwrap_or_default());
        // A batch with a very long text is processed alone, because it needs much memory.
        let is_oversized = batch.is_oversized();
        self.wait(if is_oversized { 0 } else { Self::MAX_IN_FLIGHT - 1 }, receive);
        // Sending fails only if the thread has panicked; the scope then passes the panic on.
        if self.batches.send(batch).is_ok() {
            self.in_flight += 1;
        }
        self.wait(if is_oversized { 0 } else { Self::MAX_IN_FLIGHT }, receive);
    }

    /// Sends the last batch as [`push`](Self::push) does, and waits until all batches are processed.
    pub fn finish(&mut self, batch: &mut TextBatch, receive: &mut dyn FnMut(Vec<T>)) {
        self.push(batch, receive);
        self.wait(0, receive);
    }

    /// Waits until at most `limit` batches are in flight.
    fn wait(&mut self, limit: usize, receive: &mut dyn FnMut(Vec<T>)) {
        while self.in_flight > limit {
            self.in_flight -= 1;
            let (mut batch, results) = self.results.recv().unwrap_or_default();
            batch.clear();
            self.spare_batches.push(batch);
            receive(results);
        }
    }
}
