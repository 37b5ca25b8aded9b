//! Record bodies, many to a compressed pack: JSON of chats shrinks five- to tenfold this way, which keeps the database
//! small enough to be read whole by the erasure check. A pack can be rewritten without some of its entries.
use crate::{StoreError, StoreResult};
use mementory_model::{Record, Verbatim};
use rusqlite::{Connection, OptionalExtension, params};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Raw bytes after which a pack is closed.
const TARGET: usize = 256 << 10;
const LEVEL: i32 = 1;
/// Unpacked packs kept for reading.
const CACHED: usize = 48;

/// One record's stored bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The record without its verbatim, as JSON.
    pub body: Vec<u8>,
    /// Media type and text of the verbatim, if there is one.
    pub verbatim: Option<(String, String)>,
}

impl Entry {
    /// Takes a record apart.
    pub fn from_record(record: &mut Record) -> StoreResult<Self> {
        let verbatim = record.verbatim.take().map(|v| (v.media_type, v.text));
        let body =
            serde_json::to_vec(record).map_err(|e| StoreError::Damaged(format!("record cannot be stored: {e}")))?;
        Ok(Self { body, verbatim })
    }

    /// Puts a record together again.
    pub fn to_record(&self) -> StoreResult<Record> {
        let verbatim = self.verbatim.clone().map(|(media_type, text)| Verbatim { media_type, text });
        Ok(Record { verbatim, ..read_body(&self.body)? })
    }

    fn encode(&self, slot: u32, out: &mut Vec<u8>) {
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

/// What stands before an entry: its slot, and the lengths of its parts.
struct Head {
    slot: u32,
    body: usize,
    has_verbatim: bool,
    media: usize,
    text: usize,
}

/// Body, and media type and text of the verbatim, if there is one.
type Parts<'r> = (&'r [u8], Option<(String, String)>);

impl Head {
    const LENGTH: usize = 20;

    fn read(raw: &[u8]) -> Option<Self> {
        let (numbers, _) = raw.get(..Self::LENGTH)?.as_chunks::<4>();
        let [slot, body, has, media, text] = <[[u8; 4]; 5]>::try_from(numbers).ok()?.map(u32::from_le_bytes);
        Some(Self { slot, body: body as usize, has_verbatim: has == 1, media: media as usize, text: text as usize })
    }

    /// Of the entry as a whole, in bytes.
    fn whole(&self) -> usize {
        Self::LENGTH + self.body + self.media + self.text
    }

    /// Body and verbatim of the entry that begins where `raw` does.
    fn parts<'r>(&self, raw: &'r [u8]) -> Option<Parts<'r>> {
        let (body, rest) = raw.get(Self::LENGTH..self.whole())?.split_at_checked(self.body)?;
        let (media, text) = rest.split_at_checked(self.media)?;
        let word = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
        let verbatim = (word(media)?, word(text)?);
        Some((body, self.has_verbatim.then_some(verbatim)))
    }

    fn entry(&self, raw: &[u8]) -> Option<Entry> {
        self.parts(raw).map(|(body, verbatim)| Entry { body: body.to_vec(), verbatim })
    }
}

fn read_body(body: &[u8]) -> StoreResult<Record> {
    serde_json::from_slice(body).map_err(|e| StoreError::Damaged(format!("record body: {e}")))
}

/// Slot and place of each entry, in order.
fn places(raw: &[u8]) -> Option<Vec<(u32, usize)>> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < raw.len() {
        let head = Head::read(&raw[at..])?;
        out.push((head.slot, at));
        at += head.whole();
    }
    (at == raw.len()).then_some(out)
}

fn decode(raw: &[u8]) -> Option<Vec<(u32, Entry)>> {
    let entry = |(slot, at): (u32, usize)| Some((slot, Head::read(&raw[at..])?.entry(&raw[at..])?));
    places(raw)?.into_iter().map(entry).collect()
}

fn compress(raw: &[u8]) -> StoreResult<Vec<u8>> {
    zstd::bulk::compress(raw, LEVEL).map_err(|e| StoreError::io("pack", e))
}

/// A pack's bytes, and where its entries are: most questions are for one of hundreds.
struct Open {
    raw: Vec<u8>,
    places: Vec<(u32, usize)>,
}

impl Open {
    fn parts(&self, slot: u32) -> Option<Parts<'_>> {
        let raw = self.from(slot)?;
        Head::read(raw)?.parts(raw)
    }

    fn body(&self, slot: u32) -> Option<&[u8]> {
        let raw = self.from(slot)?;
        let head = Head::read(raw)?;
        raw.get(Head::LENGTH..Head::LENGTH + head.body)
    }

    /// From where the entry begins.
    fn from(&self, slot: u32) -> Option<&[u8]> {
        let found = self.places.binary_search_by_key(&slot, |(slot, _)| *slot).ok()?;
        Some(&self.raw[self.places[found].1..])
    }
}

type Unpacked = Arc<Open>;

#[derive(Default)]
struct Cache {
    map: HashMap<i64, Unpacked>,
    order: VecDeque<i64>,
    /// Raised whenever everything is forgotten: what was loaded before is not put in after.
    generation: u64,
    /// A transaction under way has rewritten packs. Until it ends, what others load may be the former bytes.
    rewriting: bool,
}

/// Reading and rewriting packs, with a small cache of unpacked ones. The cache holds what is committed: a reader that
/// works on an older snapshot needs `Packs` of its own.
#[derive(Default)]
pub struct Packs {
    cache: Mutex<Cache>,
}

impl Packs {
    /// To be called after each commit: drops what is unpacked when the transaction has rewritten or removed a pack. New
    /// packs change nothing that is known.
    pub fn committed(&self) {
        if self.cache().rewriting {
            self.forget();
        }
    }

    /// Drops everything unpacked from memory. To be called after each rollback: numbers of packs that were not kept are
    /// given again.
    pub fn forget(&self) {
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
        let raw = raw(connection, pack)?;
        let places = places(&raw).ok_or_else(|| StoreError::Damaged(format!("pack {pack}")))?;
        let entries = Arc::new(Open { raw, places });
        let mut cache = self.cache();
        if cache.generation != generation || cache.rewriting {
            return Ok(entries);
        }
        if cache.map.insert(pack, entries.clone()).is_none() {
            cache.order.push_back(pack);
            if cache.order.len() > CACHED
                && let Some(old) = cache.order.pop_front()
            {
                cache.map.remove(&old);
            }
        }
        Ok(entries)
    }

    /// One record.
    pub fn record(&self, connection: &Connection, pack: i64, slot: u32) -> StoreResult<Record> {
        let entries = self.unpacked(connection, pack)?;
        let found = entries.parts(slot);
        let (body, verbatim) = found.ok_or_else(|| StoreError::Damaged(format!("pack {pack} has no slot {slot}")))?;
        let verbatim = verbatim.map(|(media_type, text)| Verbatim { media_type, text });
        Ok(Record { verbatim, ..read_body(body)? })
    }

    /// One record without its verbatim, which is the larger part of it and seldom asked for.
    pub fn content(&self, connection: &Connection, pack: i64, slot: u32) -> StoreResult<Record> {
        let entries = self.unpacked(connection, pack)?;
        let body = entries.body(slot).ok_or_else(|| StoreError::Damaged(format!("pack {pack} has no slot {slot}")))?;
        read_body(body)
    }

    /// Stores one entry in a pack of its own and says where.
    pub fn put(&self, connection: &Connection, entry: &Entry) -> StoreResult<(i64, u32)> {
        let mut raw = Vec::new();
        entry.encode(0, &mut raw);
        connection.prepare_cached("INSERT INTO packs (batch, data) VALUES (NULL, ?1)")?.execute([compress(&raw)?])?;
        Ok((connection.last_insert_rowid(), 0))
    }

    /// Numbers of the entries that a pack holds.
    pub fn slots(&self, connection: &Connection, pack: i64) -> StoreResult<Vec<u32>> {
        Ok(load(connection, pack)?.into_iter().map(|(slot, _)| slot).collect())
    }

    /// How many packs there are, and how many of their entries no record and no version points at: words that an
    /// erasure would not find.
    pub fn strays(&self, connection: &Connection) -> StoreResult<(u32, u32)> {
        let used = Used::all(connection)?;
        let (mut packs, mut strays) = (0, 0);
        let mut statement = connection.prepare("SELECT id FROM packs")?;
        for pack in statement.query_map([], |r| r.get::<_, i64>(0))? {
            let pack = pack?;
            packs += 1;
            strays += self.slots(connection, pack)?.iter().filter(|slot| !used.holds(pack, **slot)).count() as u32;
        }
        Ok((packs, strays))
    }

    /// Removes every entry that no record and no version points at; `seen` gets each changed pack with its old and new
    /// bytes. Returns how many entries went.
    pub fn release_strays(&self, connection: &Connection, mut seen: impl FnMut(i64, &[u8], &[u8])) -> StoreResult<u32> {
        let used = Used::all(connection)?;
        let packs: Vec<i64> = {
            let mut statement = connection.prepare("SELECT id FROM packs")?;
            statement.query_map([], |r| r.get(0))?.collect::<Result<_, _>>()?
        };
        let mut gone = 0;
        for pack in packs {
            let strays = self.slots(connection, pack)?.iter().filter(|slot| !used.holds(pack, **slot)).count();
            if strays > 0 {
                let keep = |slot, entry| Ok(used.holds(pack, slot).then_some(entry));
                let (old, new) = self.rewrite(connection, pack, keep)?;
                seen(pack, &old, &new);
                gone += strays as u32;
            }
        }
        Ok(gone)
    }

    /// Removes what nothing points at any more from these packs.
    pub fn release(&self, connection: &Connection, packs: &BTreeSet<i64>) -> StoreResult<()> {
        if packs.is_empty() {
            return Ok(());
        }
        let used = Used::of(connection, |pack| packs.contains(&pack))?;
        for pack in packs {
            if !used.0.contains_key(pack) {
                self.changing(*pack);
                connection.prepare_cached("DELETE FROM packs WHERE id = ?1")?.execute([pack])?;
            } else if self.slots(connection, *pack)?.iter().any(|slot| !used.holds(*pack, *slot)) {
                self.rewrite(connection, *pack, |slot, entry| Ok(used.holds(*pack, slot).then_some(entry)))?;
            }
        }
        Ok(())
    }

    /// What is known of a pack is about to be true no more.
    fn changing(&self, pack: i64) {
        let mut cache = self.cache();
        cache.map.remove(&pack);
        cache.rewriting = true;
    }

    /// A pack's bytes as they are in the database.
    pub fn stored(&self, connection: &Connection, pack: i64) -> StoreResult<Vec<u8>> {
        stored(connection, pack)
    }

    /// Rewrites a pack: `change` returns the entry to keep under a slot, or None to drop it. The pack goes when nothing
    /// is left. Returns the old and the new stored bytes (new empty when the pack went), for the erasure check.
    pub fn rewrite(
        &self,
        connection: &Connection,
        pack: i64,
        mut change: impl FnMut(u32, Entry) -> StoreResult<Option<Entry>>,
    ) -> StoreResult<(Vec<u8>, Vec<u8>)> {
        self.changing(pack);
        let old = self.stored(connection, pack)?;
        let mut raw = Vec::new();
        for (slot, entry) in load(connection, pack)? {
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

/// Slots that records and versions point at, by pack.
struct Used(HashMap<i64, HashSet<u32>>);

impl Used {
    fn all(connection: &Connection) -> StoreResult<Self> {
        Self::of(connection, |_| true)
    }

    fn of(connection: &Connection, wanted: impl Fn(i64) -> bool) -> StoreResult<Self> {
        let mut used: HashMap<i64, HashSet<u32>> = HashMap::new();
        for sql in ["SELECT pack, slot FROM records", "SELECT pack, slot FROM versions"] {
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (pack, slot) = (row.get(0)?, row.get(1)?);
                if wanted(pack) {
                    used.entry(pack).or_default().insert(slot);
                }
            }
        }
        Ok(Self(used))
    }

    fn holds(&self, pack: i64, slot: u32) -> bool {
        self.0.get(&pack).is_some_and(|slots| slots.contains(&slot))
    }
}

fn stored(connection: &Connection, pack: i64) -> StoreResult<Vec<u8>> {
    let data: Option<Vec<u8>> = connection
        .prepare_cached("SELECT data FROM packs WHERE id = ?1")?
        .query_row([pack], |r| r.get(0))
        .optional()?;
    data.ok_or_else(|| StoreError::Damaged(format!("pack {pack} is not there")))
}

fn raw(connection: &Connection, pack: i64) -> StoreResult<Vec<u8>> {
    let data = stored(connection, pack)?;
    zstd::stream::decode_all(data.as_slice()).map_err(|_| StoreError::Damaged(format!("pack {pack}")))
}

fn load(connection: &Connection, pack: i64) -> StoreResult<Vec<(u32, Entry)>> {
    decode(&raw(connection, pack)?).ok_or_else(|| StoreError::Damaged(format!("pack {pack}")))
}

/// Fills packs during an import.
pub struct PackWriter {
    batch: i64,
    next_pack: i64,
    raw: Vec<u8>,
    slot: u32,
    compressor: zstd::bulk::Compressor<'static>,
}

impl PackWriter {
    /// Packs of `batch`.
    pub fn new(connection: &Connection, batch: i64) -> StoreResult<Self> {
        let last: Option<i64> = connection.query_row("SELECT max(id) FROM packs", [], |r| r.get(0))?;
        let compressor = zstd::bulk::Compressor::new(LEVEL).map_err(|e| StoreError::io("pack", e))?;
        Ok(Self { batch, next_pack: last.unwrap_or(0) + 1, raw: Vec::with_capacity(TARGET * 2), slot: 0, compressor })
    }

    /// Adds an entry and says where it will be. The pack is written when full, or by [`Self::flush`].
    pub fn put(&mut self, connection: &Connection, entry: &Entry) -> StoreResult<(i64, u32)> {
        let place = (self.next_pack, self.slot);
        entry.encode(self.slot, &mut self.raw);
        self.slot += 1;
        if self.raw.len() >= TARGET {
            self.flush(connection)?;
        }
        Ok(place)
    }

    /// Writes what is pending.
    pub fn flush(&mut self, connection: &Connection) -> StoreResult<()> {
        if self.raw.is_empty() {
            return Ok(());
        }
        let data = self.compressor.compress(&self.raw).map_err(|e| StoreError::io("pack", e))?;
        connection.prepare_cached("INSERT INTO packs (id, batch, data) VALUES (?1, ?2, ?3)")?.execute(params![
            self.next_pack,
            self.batch,
            data
        ])?;
        self.next_pack += 1;
        self.slot = 0;
        self.raw.clear();
        Ok(())
    }
    /// An entry that is not written yet.
    pub fn pending(&self, pack: i64, slot: u32) -> Option<Entry> {
        let entries = if pack == self.next_pack { decode(&self.raw)? } else { Vec::new() };
        entries.into_iter().find(|(s, _)| *s == slot).map(|(_, entry)| entry)
    }

    /// Removes entries that nothing points at any more, pending ones and written ones, and writes what is left.
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
