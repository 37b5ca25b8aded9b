//! Packs, each of which contains the bodies of many records and is compressed as a whole. This shrinks chats to between
//! a fifth and a tenth of their JSON size, so the database stays small enough for the erasure check to read all of it.
//! A pack can be rewritten without some of its entries.
use crate::{StoreError, StoreResult};
use mementory_model::{Record, Verbatim};
use rusqlite::{Connection, OptionalExtension, params};
use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A pack is full when its entries have at least this many bytes, before compression.
pub(crate) const PACK_BYTES: usize = 256 << 10;
pub(crate) const ZSTD_LEVEL: i32 = 1;
/// Largest size in bytes for which memory is reserved because a pack states this size. A pack that states a larger size
/// is unpacked as a stream. That is slower, but a damaged or forged size then reserves no memory.
const MAX_RESERVED_BYTES: usize = 16 << 20;
/// Maximum number of unpacked packs in the cache.
const MAX_CACHED_PACKS: usize = 48;

/// The stored bytes of one record.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The record without its verbatim, as JSON.
    pub body: Vec<u8>,
    /// Media type and text of the verbatim, if there is one.
    pub verbatim: Option<(String, String)>,
}

impl Entry {
    /// Splits a record into body and verbatim.
    pub fn from_record(record: &mut Record) -> StoreResult<Self> {
        let verbatim = record.verbatim.take().map(|v| (v.media_type, v.text));
        let body =
            serde_json::to_vec(record).map_err(|e| StoreError::Damaged(format!("record cannot be stored: {e}")))?;
        Ok(Self { body, verbatim })
    }

    /// Joins body and verbatim to a record again.
    pub fn to_record(&self) -> StoreResult<Record> {
        let verbatim = self.verbatim.clone().map(|(media_type, text)| Verbatim { media_type, text });
        Ok(Record { verbatim, ..read_body(&self.body)? })
    }

    pub(crate) fn encode(&self, slot: u32, out: &mut Vec<u8>) {
        let (media, text) = self.verbatim.as_ref().map_or(("", ""), |(m, t)| (m.as_str(), t.as_str()));
        for n in
            [slot, self.body.len() as u32, u32::from(self.verbatim.is_some()), media.len() as u32, text.len() as u32]
        {
            out.extend_from_slice(&n.to_le_bytes());
        }
        out.extend_from_slice(&self.body);
        out.extend_from_slice(media.as_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}

/// Header of each entry in a pack: the entry's slot, and the lengths of its parts in bytes.
struct EntryHeader {
    slot: u32,
    body: usize,
    has_verbatim: bool,
    media: usize,
    text: usize,
}

/// The body of an entry, and the media type and text of its verbatim, if it has one.
type EntryParts<'r> = (&'r [u8], Option<(String, String)>);

impl EntryHeader {
    const LENGTH_BYTES: usize = 20;

    fn read(raw: &[u8]) -> Option<Self> {
        let (numbers, _) = raw.get(..Self::LENGTH_BYTES)?.as_chunks::<4>();
        let [slot, body, has, media, text] = <[[u8; 4]; 5]>::try_from(numbers).ok()?.map(u32::from_le_bytes);
        Some(Self { slot, body: body as usize, has_verbatim: has == 1, media: media as usize, text: text as usize })
    }

    /// Length of the entry including this header, in bytes.
    fn entry_length(&self) -> usize {
        Self::LENGTH_BYTES + self.body + self.media + self.text
    }

    /// Body and verbatim of the entry at the start of `raw`.
    fn parts<'r>(&self, raw: &'r [u8]) -> Option<EntryParts<'r>> {
        let (body, rest) = raw.get(Self::LENGTH_BYTES..self.entry_length())?.split_at_checked(self.body)?;
        let (media, text) = rest.split_at_checked(self.media)?;
        let utf8_text = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
        let verbatim = (utf8_text(media)?, utf8_text(text)?);
        Some((body, self.has_verbatim.then_some(verbatim)))
    }

    fn entry(&self, raw: &[u8]) -> Option<Entry> {
        self.parts(raw).map(|(body, verbatim)| Entry { body: body.to_vec(), verbatim })
    }
}

fn read_body(body: &[u8]) -> StoreResult<Record> {
    Record::from_json(body).map_err(|e| StoreError::Damaged(format!("record body: {e}")))
}

/// The entry of a slot in an unpacked pack.
pub(crate) fn entry_in(raw: &[u8], slot: u32) -> Option<Entry> {
    let (_, position) = entry_offsets(raw)?.into_iter().find(|(s, _)| *s == slot)?;
    let raw = raw.get(position..)?;
    EntryHeader::read(raw)?.entry(raw)
}

/// Slot and byte offset of each entry, in order. None if the entries do not end exactly at the end of `raw`.
fn entry_offsets(raw: &[u8]) -> Option<Vec<(u32, usize)>> {
    let (mut out, mut position) = (Vec::new(), 0);
    while position < raw.len() {
        let head = EntryHeader::read(&raw[position..])?;
        out.push((head.slot, position));
        position += head.entry_length();
    }
    (position == raw.len()).then_some(out)
}

/// All entries of an unpacked pack with their slots. None if it is damaged.
pub(crate) fn decode(raw: &[u8]) -> Option<Vec<(u32, Entry)>> {
    let entry =
        |(slot, position): (u32, usize)| Some((slot, EntryHeader::read(&raw[position..])?.entry(&raw[position..])?));
    entry_offsets(raw)?.into_iter().map(entry).collect()
}

fn compress(raw: &[u8]) -> StoreResult<Vec<u8>> {
    zstd::bulk::compress(raw, ZSTD_LEVEL).map_err(|e| StoreError::io("pack", e))
}

/// An unpacked pack with the offsets of its entries, so that one entry can be read without decoding the others.
struct UnpackedPack {
    raw: Vec<u8>,
    entry_offsets: Vec<(u32, usize)>,
}

impl UnpackedPack {
    fn entry_parts(&self, slot: u32) -> Option<EntryParts<'_>> {
        let raw = self.entry_bytes(slot)?;
        EntryHeader::read(raw)?.parts(raw)
    }

    fn entry_body(&self, slot: u32) -> Option<&[u8]> {
        let raw = self.entry_bytes(slot)?;
        let head = EntryHeader::read(raw)?;
        raw.get(EntryHeader::LENGTH_BYTES..EntryHeader::LENGTH_BYTES + head.body)
    }

    /// The pack's bytes from the start of the entry in `slot`.
    fn entry_bytes(&self, slot: u32) -> Option<&[u8]> {
        let position = self.entry_offsets.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
        Some(&self.raw[self.entry_offsets[position].1..])
    }
}

type Unpacked = Arc<UnpackedPack>;

#[derive(Default)]
struct Cache {
    map: HashMap<i64, Unpacked>,
    order: VecDeque<i64>,
    /// Incremented when the cache is cleared. A pack that began to load before the increment is then not added to the
    /// cache.
    generation: u64,
    /// True if an open transaction has rewritten packs. Until it ends, other connections may still load the old bytes,
    /// so nothing is cached.
    is_rewriting: bool,
}

/// Reads and rewrites packs, with a small cache of unpacked packs. The cache reflects the last committed state, so a
/// reader of an older snapshot needs a separate `Packs`.
#[derive(Default)]
pub struct Packs {
    cache: Mutex<Cache>,
}

impl Packs {
    /// Must be called after each commit. Clears the cache if the transaction rewrote or removed a pack. If it only
    /// added packs, the cached ones stay valid.
    pub fn after_commit(&self) {
        if self.cache().is_rewriting {
            self.clear_cache();
        }
    }

    /// Clears the cache. Must be called after each rollback, because the pack numbers that were rolled back are used
    /// again.
    pub fn clear_cache(&self) {
        let mut cache = self.cache();
        *cache = Cache { generation: cache.generation + 1, ..Cache::default() };
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unpacked(&self, connection: &Connection, pack: i64) -> StoreResult<Unpacked> {
        let cache = self.cache();
        if let Some(found) = cache.map.get(&pack) {
            return Ok(found.clone());
        }
        let generation = cache.generation;
        drop(cache);
        let raw = unpack(connection, pack)?;
        let entry_offsets = entry_offsets(&raw).ok_or_else(|| StoreError::Damaged(format!("pack {pack}")))?;
        let entries = Arc::new(UnpackedPack { raw, entry_offsets });
        let mut cache = self.cache();
        if cache.generation != generation || cache.is_rewriting {
            return Ok(entries);
        }
        if cache.map.insert(pack, entries.clone()).is_none() {
            cache.order.push_back(pack);
            if cache.order.len() > MAX_CACHED_PACKS
                && let Some(old) = cache.order.pop_front()
            {
                cache.map.remove(&old);
            }
        }
        Ok(entries)
    }

    /// Reads one record with its verbatim.
    pub fn record(&self, connection: &Connection, pack: i64, slot: u32) -> StoreResult<Record> {
        let entries = self.unpacked(connection, pack)?;
        let parts = entries.entry_parts(slot);
        let (body, verbatim) = parts.ok_or_else(|| StoreError::Damaged(format!("pack {pack} has no slot {slot}")))?;
        let verbatim = verbatim.map(|(media_type, text)| Verbatim { media_type, text });
        Ok(Record { verbatim, ..read_body(body)? })
    }

    /// Reads one record without its verbatim, which is usually larger than all other fields together and rarely needed.
    pub fn content(&self, connection: &Connection, pack: i64, slot: u32) -> StoreResult<Record> {
        let entries = self.unpacked(connection, pack)?;
        let body =
            entries.entry_body(slot).ok_or_else(|| StoreError::Damaged(format!("pack {pack} has no slot {slot}")))?;
        read_body(body)
    }

    /// Stores an entry in a new pack of its own. Returns the pack and the slot.
    pub fn put(&self, connection: &Connection, entry: &Entry) -> StoreResult<(i64, u32)> {
        let mut raw = Vec::new();
        entry.encode(0, &mut raw);
        connection.prepare_cached("INSERT INTO packs (batch, data) VALUES (NULL, ?1)")?.execute([compress(&raw)?])?;
        Ok((connection.last_insert_rowid(), 0))
    }

    /// Slots of all entries in a pack.
    pub fn slots(&self, connection: &Connection, pack: i64) -> StoreResult<Vec<u32>> {
        Ok(load_entries(connection, pack)?.into_iter().map(|(slot, _)| slot).collect())
    }

    /// Number of packs, and number of entries that no record or version refers to. Such an entry may contain words that
    /// an erasure would not find.
    pub fn count_strays(&self, connection: &Connection) -> StoreResult<(u32, u32)> {
        let used = UsedSlots::in_all_packs(connection)?;
        let (mut packs, mut strays) = (0, 0);
        let mut statement = connection.prepare("SELECT id FROM packs")?;
        for pack in statement.query_map([], |r| r.get::<_, i64>(0))? {
            let pack = pack?;
            packs += 1;
            strays += self.slots(connection, pack)?.iter().filter(|slot| !used.contains(pack, **slot)).count() as u32;
        }
        Ok((packs, strays))
    }

    /// Removes every entry that no record or version refers to, and returns how many were removed. For each changed
    /// pack, calls `on_change` with its number and its stored bytes before and after the change.
    pub fn remove_strays(
        &self,
        connection: &Connection,
        mut on_change: impl FnMut(i64, &[u8], &[u8]),
    ) -> StoreResult<u32> {
        let used = UsedSlots::in_all_packs(connection)?;
        let packs: Vec<i64> = {
            let mut statement = connection.prepare("SELECT id FROM packs")?;
            statement.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?
        };
        let mut removed = 0;
        for pack in packs {
            let stray_count = self.slots(connection, pack)?.iter().filter(|slot| !used.contains(pack, **slot)).count();
            if stray_count > 0 {
                let if_used = |slot, entry| Ok(used.contains(pack, slot).then_some(entry));
                let (old, new) = self.rewrite(connection, pack, if_used)?;
                on_change(pack, &old, &new);
                removed += stray_count as u32;
            }
        }
        Ok(removed)
    }

    /// Removes every entry of the given packs that no record or version refers to.
    pub fn remove_strays_in(&self, connection: &Connection, packs: &BTreeSet<i64>) -> StoreResult<()> {
        if packs.is_empty() {
            return Ok(());
        }
        let used = UsedSlots::in_packs(connection, |pack| packs.contains(&pack))?;
        for pack in packs {
            if !used.0.contains_key(pack) {
                self.mark_rewritten(*pack);
                connection.prepare_cached("DELETE FROM packs WHERE id = ?1")?.execute([pack])?;
            } else if self.slots(connection, *pack)?.iter().any(|slot| !used.contains(*pack, *slot)) {
                self.rewrite(connection, *pack, |slot, entry| Ok(used.contains(*pack, slot).then_some(entry)))?;
            }
        }
        Ok(())
    }

    /// Removes a pack from the cache, and stops all caching until the transaction ends. Must be called before the pack
    /// changes.
    fn mark_rewritten(&self, pack: i64) {
        let mut cache = self.cache();
        cache.map.remove(&pack);
        cache.is_rewriting = true;
    }

    /// The compressed bytes of a pack, as stored in the database.
    pub fn stored(&self, connection: &Connection, pack: i64) -> StoreResult<Vec<u8>> {
        stored_bytes(connection, pack)
    }

    /// Rewrites a pack. `change` receives each entry, and returns the entry to keep in its slot, or None to drop it. If
    /// no entries are left, the pack is deleted. Returns the old and the new stored bytes for the erasure check. The
    /// new bytes are empty if the pack was deleted.
    pub fn rewrite(
        &self,
        connection: &Connection,
        pack: i64,
        mut change: impl FnMut(u32, Entry) -> StoreResult<Option<Entry>>,
    ) -> StoreResult<(Vec<u8>, Vec<u8>)> {
        self.mark_rewritten(pack);
        let old = self.stored(connection, pack)?;
        let mut raw = Vec::new();
        for (slot, entry) in load_entries(connection, pack)? {
            if let Some(entry) = change(slot, entry)? {
                entry.encode(slot, &mut raw);
            }
        }
        if raw.is_empty() {
            connection.execute("DELETE FROM packs WHERE id = ?1", [pack])?;
            return Ok((old, Vec::new()));
        }
        let new = compress(&raw)?;
        connection.execute("UPDATE packs SET data = ?2 WHERE id = ?1", params![pack, new])?;
        Ok((old, new))
    }
}

/// For each pack, the slots that records and versions refer to.
struct UsedSlots(HashMap<i64, HashSet<u32>>);

impl UsedSlots {
    fn in_all_packs(connection: &Connection) -> StoreResult<Self> {
        Self::in_packs(connection, |_| true)
    }

    fn in_packs(connection: &Connection, is_wanted: impl Fn(i64) -> bool) -> StoreResult<Self> {
        let mut used: HashMap<i64, HashSet<u32>> = HashMap::new();
        for sql in ["SELECT pack, slot FROM records", "SELECT pack, slot FROM versions"] {
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (pack, slot) = (row.get(0)?, row.get(1)?);
                if is_wanted(pack) {
                    used.entry(pack).or_default().insert(slot);
                }
            }
        }
        Ok(Self(used))
    }

    fn contains(&self, pack: i64, slot: u32) -> bool {
        self.0.get(&pack).is_some_and(|slots| slots.contains(&slot))
    }
}

fn stored_bytes(connection: &Connection, pack: i64) -> StoreResult<Vec<u8>> {
    let data: Option<Vec<u8>> = connection
        .prepare_cached("SELECT data FROM packs WHERE id = ?1")?
        .query_row([pack], |r| r.get(0))
        .optional()?;
    data.ok_or_else(|| StoreError::Damaged(format!("pack {pack} is not there")))
}

fn unpack(connection: &Connection, pack: i64) -> StoreResult<Vec<u8>> {
    let data = stored_bytes(connection, pack)?;
    let stated_size = zstd::bulk::Decompressor::upper_bound(&data).filter(|size| *size <= MAX_RESERVED_BYTES);
    let raw = match stated_size {
        Some(size) => zstd::bulk::decompress(&data, size),
        None => zstd::stream::decode_all(data.as_slice()),
    };
    raw.map_err(|_| StoreError::Damaged(format!("pack {pack}")))
}

fn load_entries(connection: &Connection, pack: i64) -> StoreResult<Vec<(u32, Entry)>> {
    decode(&unpack(connection, pack)?).ok_or_else(|| StoreError::Damaged(format!("pack {pack}")))
}
