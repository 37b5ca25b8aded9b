//! Writes packs during an import. A full pack is compressed on another thread while the next one is filled, because the
//! thread that writes to the database determines how long an import takes.
use crate::packs::{Entry, PACK_BYTES, Packs, ZSTD_LEVEL, decode, entry_in};
use crate::{StoreError, StoreResult};
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Writes packs during an import.
pub struct PackWriter {
    batch: i64,
    next_pack: i64,
    raw: Vec<u8>,
    slot: u32,
    /// The bytes of the pack before `next_pack`, not compressed, until the pack is written to the database.
    compressing: Option<Arc<Vec<u8>>>,
    compressor: Compressor,
}

/// The thread that compresses packs. It ends when the `Compressor` is dropped.
struct Compressor {
    raw: SyncSender<Arc<Vec<u8>>>,
    compressed: Receiver<io::Result<Vec<u8>>>,
}

impl Compressor {
    fn start() -> StoreResult<Self> {
        let mut compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(pack_error)?;
        let (raw, packs) = sync_channel::<Arc<Vec<u8>>>(1);
        let (sender, compressed) = sync_channel(1);
        let work = move || {
            for raw in packs {
                if sender.send(compressor.compress(&raw)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("pack-compressor".into()).spawn(work).map_err(pack_error)?;
        Ok(Self { raw, compressed })
    }
}

fn pack_error(error: io::Error) -> StoreError {
    StoreError::io("pack", error)
}

fn thread_ended<E>(_: E) -> StoreError {
    pack_error(io::Error::other("the thread that compresses packs has ended"))
}

impl PackWriter {
    /// Prepares to write the packs of import number `batch`.
    pub fn new(connection: &Connection, batch: i64) -> StoreResult<Self> {
        let last_pack: Option<i64> = connection.query_row("SELECT max(id) FROM packs", [], |r| r.get(0))?;
        Ok(Self {
            batch,
            next_pack: last_pack.unwrap_or(0) + 1,
            raw: Vec::with_capacity(PACK_BYTES * 2),
            slot: 0,
            compressing: None,
            compressor: Compressor::start()?,
        })
    }

    /// Adds an entry and returns the pack and slot that it will have. The pack is written after it is full, or by
    /// [`Self::flush`].
    pub fn put(&mut self, connection: &Connection, entry: &Entry) -> StoreResult<(i64, u32)> {
        let place = (self.next_pack, self.slot);
        entry.encode(self.slot, &mut self.raw);
        self.slot += 1;
        if self.raw.len() >= PACK_BYTES {
            self.start_next(connection)?;
        }
        Ok(place)
    }

    /// Writes the pack that is being compressed, and then the pack that is being filled.
    pub fn flush(&mut self, connection: &Connection) -> StoreResult<()> {
        self.start_next(connection)?;
        self.write_compressed(connection)
    }

    /// Sends the pack that is being filled to the compressor, and starts an empty pack.
    fn start_next(&mut self, connection: &Connection) -> StoreResult<()> {
        if self.raw.is_empty() {
            return Ok(());
        }
        self.write_compressed(connection)?;
        let raw = Arc::new(std::mem::replace(&mut self.raw, Vec::with_capacity(PACK_BYTES * 2)));
        self.compressor.raw.send(raw.clone()).map_err(thread_ended)?;
        self.compressing = Some(raw);
        self.next_pack += 1;
        self.slot = 0;
        Ok(())
    }

    /// Writes the pack that is being compressed.
    fn write_compressed(&mut self, connection: &Connection) -> StoreResult<()> {
        if self.compressing.take().is_none() {
            return Ok(());
        }
        let data = self.compressor.compressed.recv().map_err(thread_ended)?.map_err(pack_error)?;
        connection.prepare_cached("INSERT INTO packs (id, batch, data) VALUES (?1, ?2, ?3)")?.execute(params![
            self.next_pack - 1,
            self.batch,
            data
        ])?;
        Ok(())
    }

    /// Returns an entry of a pack that is not in the database yet. None for an entry of any other pack.
    pub fn unwritten_entry(&self, pack: i64, slot: u32) -> Option<Entry> {
        if pack == self.next_pack {
            return entry_in(&self.raw, slot);
        }
        let raw = self.compressing.as_ref().filter(|_| pack + 1 == self.next_pack)?;
        entry_in(raw, slot)
    }

    /// Removes the `stale` entries, whether already written or not, and writes the last packs.
    pub fn finish(&mut self, connection: &Connection, packs: &Packs, stale: &[(i64, u32)]) -> StoreResult<()> {
        let mut by_pack: BTreeMap<i64, HashSet<u32>> = BTreeMap::new();
        for (pack, slot) in stale {
            by_pack.entry(*pack).or_default().insert(*slot);
        }
        if let Some(slots) = by_pack.remove(&self.next_pack) {
            let entries = decode(&self.raw).ok_or_else(|| StoreError::Damaged("a pack in memory".into()))?;
            self.raw.clear();
            for (slot, entry) in entries.iter().filter(|(slot, _)| !slots.contains(slot)) {
                entry.encode(*slot, &mut self.raw);
            }
        }
        self.flush(connection)?;
        for (pack, slots) in by_pack {
            packs.rewrite(connection, pack, |slot, entry| Ok((!slots.contains(&slot)).then_some(entry)))?;
        }
        Ok(())
    }
}
