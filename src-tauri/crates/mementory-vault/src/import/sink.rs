//! The reader's end of the import: records go over a bounded channel, file bytes straight into encrypted blobs.
use crate::VaultError;
use mementory_formats::{AttachmentFile, FormatError, PassthroughItem, Sink, passthrough_envelope};
use mementory_model::{Dropped, Issue, Record, Tombstone, Unit};
use mementory_store::blobs::{BlobInfo, Blobs};
use std::{
    io::Read,
    sync::{atomic::AtomicBool, atomic::Ordering, mpsc::SyncSender},
};

/// Messages from the reader's thread to the store's.
pub(super) enum Message {
    /// In order, at least one.
    Units(Vec<Unit>),
    File(AttachmentFile, BlobInfo),
    Part(PassthroughItem, BlobInfo),
    Tombstone(Box<Tombstone>),
    Note(Issue),
    Dropped(Dropped),
    Progress(u64),
}

pub(super) struct ChannelSink<'a> {
    sender: &'a SyncSender<Message>,
    blobs: &'a Blobs,
    keep: bool,
    cancel: &'a AtomicBool,
    offset: u64,
    reported: u64,
    waiting: Vec<Unit>,
    /// Bytes of the pending units.
    weight: usize,
}

/// Progress messages are at least this many bytes apart.
const PROGRESS_STEP: u64 = 1 << 20;

/// Capacity of the channel, in messages.
pub(super) const CHANNEL: usize = 8;

/// A unit with more bytes than this is sent with backpressure.
const LARGE: usize = 4 << 20;

/// Units are sent in batches, limited by number and by bytes: waking the other thread for each one would cost more than
/// handling it.
const BATCH: usize = 64;
const BATCH_BYTES: usize = 256 << 10;

fn weight(record: &Record) -> usize {
    record.text.len() + record.verbatim.as_ref().map_or(0, |v| v.text.len())
}

impl<'a> ChannelSink<'a> {
    pub(super) fn new(sender: &'a SyncSender<Message>, blobs: &'a Blobs, keep: bool, cancel: &'a AtomicBool) -> Self {
        Self { sender, blobs, keep, cancel, offset: 0, reported: 0, waiting: Vec::new(), weight: 0 }
    }

    /// Sets the byte offset of the next source.
    pub(super) fn starts_at(&mut self, offset: u64) {
        self.offset = offset;
        self.reported = 0;
    }

    /// Sends the pending units. Call it when everything was read.
    pub(super) fn flush(&mut self) -> Result<(), FormatError> {
        self.weight = 0;
        match std::mem::take(&mut self.waiting) {
            none if none.is_empty() => Ok(()),
            units => self.sender.send(Message::Units(units)).map_err(hung_up),
        }
    }

    /// Sends a message after the pending units.
    fn send(&mut self, message: Message) -> Result<(), FormatError> {
        self.flush()?;
        self.sender.send(message).map_err(hung_up)
    }

    /// Sends records. Backpressure for large units: push `CHANNEL` no-op messages after one; once they fit, the consumer has
    /// taken it. Otherwise eight large units could be in memory.
    fn send_unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        let bytes = unit.records.iter().map(weight).sum::<usize>();
        if bytes > LARGE {
            self.send(Message::Units(vec![unit]))?;
            for _ in 0..CHANNEL {
                self.send(Message::Progress(self.offset + self.reported))?;
            }
            return Ok(());
        }
        // The text of a record without verbatim does not show how much memory it needs: its unit is sent alone.
        if unit.records.iter().any(|record| record.verbatim.is_none()) {
            return self.send(Message::Units(vec![unit]));
        }
        self.waiting.push(unit);
        self.weight += bytes;
        if self.waiting.len() >= BATCH || self.weight >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn store(&self, bytes: &mut dyn Read) -> Result<BlobInfo, FormatError> {
        self.blobs.put(bytes, self.keep).map_err(|e| match e {
            // The source failed, not the store: the reader decides how to continue.
            VaultError::Io { place, source } if source.raw_os_error().is_none() => FormatError::Io { place, source },
            other => FormatError::Store(Box::new(other)),
        })
    }
}

/// The receiver stopped; it has the real error.
fn hung_up<T>(_: T) -> FormatError {
    FormatError::Cancelled
}

impl Sink for ChannelSink<'_> {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        // Passthrough files that another format carried are unpacked again.
        match unit.records.as_slice() {
            [record] => match passthrough_envelope::unpack(record, mementory_formats::carries_passthrough) {
                Some(passthrough_envelope::Unpacked::File(item, bytes)) => {
                    self.passthrough(item, &mut bytes.as_slice())
                }
                Some(passthrough_envelope::Unpacked::Tombstone(tombstone)) => self.send(Message::Tombstone(tombstone)),
                None => self.send_unit(unit),
            },
            _ => self.send_unit(unit),
        }
    }
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let info = self.store(bytes)?;
        self.send(Message::File(file, info))
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let info = self.store(bytes)?;
        self.send(Message::Part(item, info))
    }
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError> {
        self.send(Message::Tombstone(Box::new(tombstone)))
    }
    fn note(&mut self, issue: Issue) {
        // A failed send is noticed at the next record.
        let _ = self.send(Message::Note(issue));
    }
    fn dropped(&mut self, dropped: Dropped) {
        let _ = self.send(Message::Dropped(dropped));
    }
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(FormatError::Cancelled);
        }
        if bytes >= self.reported + PROGRESS_STEP {
            self.reported = bytes;
            self.send(Message::Progress(self.offset + bytes))?;
        }
        Ok(())
    }
}
