//! The sending end of the import's channel. Records are sent over a bounded channel, and the bytes of files are written
//! directly into encrypted blobs.
use crate::{
    VaultError,
    import::{ImportOptions, sequence::Recency},
};
use mementory_formats::{
    AttachmentFile, FormatError, PassthroughItem, ReplacedList, SignatureRemover, Sink, by_id, passthrough_envelope,
};
use mementory_model::{Dropped, Issue, Record, RecordKey, Tombstone, Unit};
use mementory_store::{
    blobs::{BlobInfo, Blobs},
    ids::parse_id,
};
use std::{
    io::Read,
    sync::{atomic::AtomicBool, atomic::Ordering, mpsc::SyncSender},
};

/// Messages from the reader's thread to the thread that writes to the store.
pub(super) enum Message {
    /// One or more units, in order.
    Units(Vec<Unit>),
    /// Export ids of the records that follow in the channel, by key.
    ExportIds(Vec<(RecordKey, [u8; 16])>),
    /// The keys of records that follow in the channel, each with its alternative value. An alternative value is used if
    /// the vault has a record of another kind with the key.
    AlternativeKeys(Vec<(RecordKey, String)>),
    File(AttachmentFile, BlobInfo),
    Passthrough(PassthroughItem, BlobInfo),
    Tombstone(Box<Tombstone>),
    ReplacedList(Box<ReplacedList>),
    Note(Issue),
    /// One or more records that could not be read, in order.
    Dropped(Vec<Dropped>),
    Progress(u64),
    /// The messages after this one come from a source with this recency and format.
    Source(Recency, &'static str),
}

pub(super) struct ChannelSink<'a> {
    sender: &'a SyncSender<Message>,
    blobs: &'a Blobs,
    store_blobs: bool,
    cancel: &'a AtomicBool,
    dropped_signatures: &'a [String],
    side_file_bytes: u64,
    offset: u64,
    reported: u64,
    waiting: Vec<Unit>,
    /// Export ids of waiting records and of the next record, to be sent before the waiting units.
    waiting_ids: Vec<(RecordKey, [u8; 16])>,
    /// Alternative keys of waiting records and of the next record, to be sent before the waiting units.
    waiting_keys: Vec<(RecordKey, String)>,
    /// Number of text bytes of the waiting units.
    waiting_bytes: usize,
    /// Records that could not be read, to be sent after the waiting units.
    waiting_dropped: Vec<Dropped>,
}

/// Smallest number of bytes between two progress messages.
const PROGRESS_STEP_BYTES: u64 = 1 << 20;

/// Capacity of the channel, in messages.
pub(super) const CHANNEL_MESSAGES: usize = 8;

/// After sending a unit with more bytes than this, the sender waits until the receiver has taken the unit.
const LARGE_UNIT_BYTES: usize = 4 << 20;

/// Units and dropped records are sent in batches, limited by number and by bytes, because waking the other thread for
/// each of them would cost more than processing it.
const MAX_BATCH_UNITS: usize = 64;
const MAX_BATCH_DROPPED: usize = 256;
const MAX_BATCH_BYTES: usize = 256 << 10;

fn record_bytes(record: &Record) -> usize {
    record.text.len() + record.verbatim.as_ref().map_or(0, |v| v.text.len())
}

impl<'a> ChannelSink<'a> {
    pub(super) fn new(sender: &'a SyncSender<Message>, blobs: &'a Blobs, options: &'a ImportOptions<'a>) -> Self {
        Self {
            sender,
            blobs,
            store_blobs: !options.dry_run,
            cancel: options.cancel,
            dropped_signatures: &options.dropped_signatures,
            side_file_bytes: options.limits.side_file_bytes,
            offset: 0,
            reported: 0,
            waiting: Vec::new(),
            waiting_ids: Vec::new(),
            waiting_keys: Vec::new(),
            waiting_bytes: 0,
            waiting_dropped: Vec::new(),
        }
    }

    /// Announces the next source: its byte offset, whether it is older or newer than the vault's data, and its format.
    pub(super) fn begin_source(
        &mut self,
        offset: u64,
        recency: Recency,
        format: &'static str,
    ) -> Result<(), FormatError> {
        self.offset = offset;
        self.reported = 0;
        self.send(Message::Source(recency, format))
    }

    /// Sends everything that is waiting. Call it when everything was read.
    pub(super) fn flush(&mut self) -> Result<(), FormatError> {
        self.flush_units()?;
        match std::mem::take(&mut self.waiting_dropped) {
            dropped if dropped.is_empty() => Ok(()),
            dropped => self.sender.send(Message::Dropped(dropped)).map_err(receiver_stopped),
        }
    }

    fn flush_units(&mut self) -> Result<(), FormatError> {
        self.waiting_bytes = 0;
        if !self.waiting_ids.is_empty() {
            let ids = std::mem::take(&mut self.waiting_ids);
            self.sender.send(Message::ExportIds(ids)).map_err(receiver_stopped)?;
        }
        if !self.waiting_keys.is_empty() {
            let keys = std::mem::take(&mut self.waiting_keys);
            self.sender.send(Message::AlternativeKeys(keys)).map_err(receiver_stopped)?;
        }
        match std::mem::take(&mut self.waiting) {
            units if units.is_empty() => Ok(()),
            units => self.sender.send(Message::Units(units)).map_err(receiver_stopped),
        }
    }

    /// Sends a message after all waiting units and dropped records.
    fn send(&mut self, message: Message) -> Result<(), FormatError> {
        self.flush()?;
        self.sender.send(message).map_err(receiver_stopped)
    }

    /// Sends a unit. A large unit is followed by `CHANNEL_MESSAGES` messages without effect. Once all of these fit into
    /// the channel, the receiver has taken the unit. Without this wait, eight large units could be in memory at once.
    fn send_unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        let bytes = unit.records.iter().map(record_bytes).sum::<usize>();
        if bytes > LARGE_UNIT_BYTES {
            self.send(Message::Units(vec![unit]))?;
            for _ in 0..CHANNEL_MESSAGES {
                self.send(Message::Progress(self.offset + self.reported))?;
            }
            return Ok(());
        }
        // A record without `verbatim` may need much more memory than its text shows, so its unit is sent alone.
        if unit.records.iter().any(|record| record.verbatim.is_none()) {
            return self.send(Message::Units(vec![unit]));
        }
        if !self.waiting_dropped.is_empty() {
            self.flush()?;
        }
        self.waiting.push(unit);
        self.waiting_bytes += bytes;
        if self.waiting.len() >= MAX_BATCH_UNITS || self.waiting_bytes >= MAX_BATCH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Returns a function that removes the invalid signature from a passthrough file. Returns None if the file has no
    /// invalid signature.
    fn signature_remover(&self, item: &PassthroughItem) -> Option<SignatureRemover> {
        let is_in_item =
            |place: &String| place.strip_prefix(&item.place).is_some_and(|at| matches!(at.as_bytes(), [] | [b'/', ..]));
        if !self.dropped_signatures.iter().any(is_in_item) {
            return None;
        }
        by_id(&item.format)?.signature_remover(item)
    }

    fn store_blob(&self, bytes: &mut dyn Read) -> Result<BlobInfo, FormatError> {
        self.blobs.put(bytes, self.store_blobs).map_err(|e| match e {
            // An I/O error without a system error code comes from the source, not from the store. The reader decides
            // how to continue.
            VaultError::Io { place, source } if source.raw_os_error().is_none() => FormatError::Io { place, source },
            other => FormatError::Store(Box::new(other)),
        })
    }
}

/// Returns the error for the reader after the receiver has stopped. The import itself fails with the receiver's error.
fn receiver_stopped<T>(_: T) -> FormatError {
    FormatError::Cancelled
}

impl Sink for ChannelSink<'_> {
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError> {
        // Unpacks passthrough files that an export embedded in records of another format.
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
    fn export_id(&mut self, key: &RecordKey, id: &str) {
        self.waiting_ids.extend(parse_id(id).map(|id| (key.clone(), id)));
    }
    fn alternative_key(&mut self, key: &RecordKey, value: &str) {
        self.waiting_keys.push((key.clone(), value.to_owned()));
    }
    fn replaced_list(&mut self, list: ReplacedList) -> Result<(), FormatError> {
        self.send(Message::ReplacedList(Box::new(list)))
    }
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError> {
        let info = self.store_blob(bytes)?;
        self.send(Message::File(file, info))
    }
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError> {
        if let Some(without_signature) = self.signature_remover(&item) {
            let mut text = String::new();
            // The invalid signature cannot be removed from a file that is not text, so the file is dropped.
            if bytes.take(self.side_file_bytes).read_to_string(&mut text).is_err() {
                return Ok(());
            }
            return match without_signature(&text) {
                Some(rest) => {
                    let info = self.store_blob(&mut rest.as_bytes())?;
                    self.send(Message::Passthrough(item, info))
                }
                None => Ok(()),
            };
        }
        let info = self.store_blob(bytes)?;
        self.send(Message::Passthrough(item, info))
    }
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError> {
        self.send(Message::Tombstone(Box::new(tombstone)))
    }
    fn note(&mut self, issue: Issue) {
        // An error is ignored, because sending the next record then fails too and reports the error.
        let _ = self.send(Message::Note(issue));
    }
    fn dropped(&mut self, dropped: Dropped) {
        self.waiting_dropped.push(dropped);
        if self.waiting_dropped.len() >= MAX_BATCH_DROPPED {
            let _ = self.flush();
        }
    }
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(FormatError::Cancelled);
        }
        if bytes >= self.reported + PROGRESS_STEP_BYTES {
            self.reported = bytes;
            self.send(Message::Progress(self.offset + bytes))?;
        }
        Ok(())
    }
}
