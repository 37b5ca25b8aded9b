//! ExportReader the records of an export on a thread of its own, ahead of whoever writes them.
use crate::{
    VaultError, VaultResult,
    context::Context,
    sensitive::{Masker, taken_out},
};
use mementory_formats::StoredRecord;
use mementory_model::{Kind, Record};
use mementory_store::{Flags, Packs, ids::record_id, kind_code};
use rusqlite::{Connection, OptionalExtension, types::Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{atomic::AtomicBool, atomic::Ordering, mpsc::Receiver, mpsc::SyncSender, mpsc::sync_channel},
};

/// Records go over in batches of so many, or of so many bytes if that is less: a message may be as large as a book.
pub(crate) const BATCH: usize = 128;
const BATCH_BYTES: usize = 1 << 20;
/// Rows that are looked up together.
const ROWS: usize = 512;
/// Batches that wait for the writer.
pub(crate) const AHEAD: usize = 2;

/// What of a row is needed to read its record: the rest of it would be read for nothing, 50,000 times.
struct Place {
    row: i64,
    id: [u8; 16],
    flags: i64,
    pack: i64,
    slot: u32,
}

/// One snapshot of the vault, and what of it is asked for.
pub(crate) struct ExportReader<'v> {
    pub context: &'v Context,
    pub connection: Connection,
    /// Its own, since the snapshot may be older than what the vault has by now.
    pub packs: Packs,
    pub condition: String,
    pub values: Vec<Value>,
    pub everything: bool,
    pub cancel: &'v AtomicBool,
    /// Covers sensitive values on the way out.
    pub cover: Option<Masker<'v>>,
    /// Holds back what its source marks as not exportable, and what is about it; false where the writer does.
    pub withholds_not_exportable: bool,
    /// Rows that are withheld, by reason.
    pub withheld: BTreeMap<&'static str, BTreeSet<i64>>,
}

impl ExportReader<'_> {
    /// Every record in scope, in the order of its kind and row, to `take` on this thread, while the next ones are read
    /// on another.
    ///
    /// # Errors
    /// What `take` answers, `Cancelled`, `Damaged`, and those of the database.
    pub(crate) fn each(&mut self, mut take: impl FnMut(StoredRecord) -> VaultResult<()>) -> VaultResult<()> {
        std::thread::scope(|scope| {
            // In here, so that an error of `take` closes it and the reader ends.
            let (send, receive): (_, Receiver<VaultResult<Vec<StoredRecord>>>) = sync_channel(AHEAD);
            scope.spawn(move || {
                if let Err(error) = self.read(&send) {
                    send.send(Err(error)).ok(); // nobody listens: then `take` has failed before
                }
            });
            for batch in receive {
                batch?.into_iter().try_for_each(&mut take)?;
            }
            Ok(())
        })
    }

    fn read(&mut self, send: &SyncSender<VaultResult<Vec<StoredRecord>>>) -> VaultResult<()> {
        let go = |batch| send.send(Ok(batch)).map_err(|_| VaultError::Cancelled);
        let (mut batch, mut bytes) = (Vec::new(), 0);
        // Rows within a kind in the order of the packs, so that each pack is unpacked once.
        for kind in Kind::ALL {
            for rows in self.rows(kind)?.chunks(ROWS) {
                for place in self.places(rows)? {
                    if self.cancel.load(Ordering::Relaxed) {
                        return Err(VaultError::Cancelled);
                    }
                    // Parts of a source travel as such, not as records.
                    if kind == Kind::Foreign && self.file(place.row)?.is_some() {
                        continue;
                    }
                    let Some(stored) = self.going(&place)? else { continue };
                    bytes += stored.record.text.len() + stored.record.verbatim.as_ref().map_or(0, |v| v.text.len());
                    batch.push(stored);
                    if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                        go(std::mem::take(&mut batch))?;
                        bytes = 0;
                    }
                }
            }
        }
        go(batch)
    }

    /// The record, unless it stays behind, which is noted.
    fn going(&mut self, place: &Place) -> VaultResult<Option<StoredRecord>> {
        let (mut stored, mut reason) = (None, Some("not_exportable"));
        if !self.withholds_not_exportable || place.flags & Flags::NOT_EXPORTABLE == 0 {
            let record = self.stored(place)?;
            reason = self.about_withheld(&record.record)?;
            stored = Some(record);
        }
        let Some(reason) = reason else { return Ok(stored) };
        self.withheld.entry(reason).or_default().insert(place.row);
        Ok(None)
    }

    /// Where these rows are, in their order; one that is gone is left out.
    fn places(&self, rows: &[i64]) -> VaultResult<Vec<Place>> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(Vec::new()) };
        // One question for all of them, unless more lies between them than is asked for.
        let near = last - first < 2 * ROWS as i64;
        let pieces = if near { vec![rows] } else { rows.chunks(1).collect() };
        let mut statement = self.connection.prepare_cached(
            "SELECT row, id, flags, pack, slot FROM records WHERE row BETWEEN ?1 AND ?2 ORDER BY row",
        )?;
        let mut out = Vec::with_capacity(rows.len());
        for piece in pieces {
            let bounds = [piece.first(), piece.last()];
            let mut found = statement.query(bounds)?;
            while let Some(r) = found.next()? {
                let row = r.get(0)?;
                if piece.binary_search(&row).is_ok() {
                    out.push(Place { row, id: r.get(1)?, flags: r.get(2)?, pack: r.get(3)?, slot: r.get(4)? });
                }
            }
        }
        Ok(out)
    }

    fn stored(&mut self, place: &Place) -> VaultResult<StoredRecord> {
        let mut record = self.packs.record(&self.connection, place.pack, place.slot)?;
        let covered = self.cover.as_mut().and_then(|cover| cover.record(&mut record));
        let edited = covered.is_some() || place.flags & (Flags::EDITED | Flags::REDACTED) != 0;
        let mut redactions = covered.unwrap_or_default();
        if place.flags & Flags::REDACTED != 0 {
            taken_out(&record.text, &mut redactions);
        }
        let present = |id: [u8; 16]| -> VaultResult<Option<String>> {
            let flags = self.flags(&id)?;
            Ok(flags
                .filter(|f| !self.withholds_not_exportable || f & Flags::NOT_EXPORTABLE == 0)
                .map(|_| hex::encode(id)))
        };
        let keys = &self.context.keys;
        let link_ids = record.links.iter().map(|l| present(record_id(keys, &l.target))).collect::<VaultResult<_>>()?;
        let parent_id = record.parent.as_ref().map(|k| present(record_id(keys, k))).transpose()?.flatten();
        let message_parent_id = record
            .message
            .as_ref()
            .and_then(|m| m.parent.as_ref())
            .map(|k| present(record_id(keys, k)))
            .transpose()?
            .flatten();
        let attachment_ids = record.attachments.iter().map(|a| hex::encode(record_id(keys, &a.key))).collect();
        let id = hex::encode(place.id);
        Ok(StoredRecord { id, edited, link_ids, parent_id, message_parent_id, attachment_ids, redactions, record })
    }

    /// Flags of a record that is there.
    fn flags(&self, id: &[u8; 16]) -> VaultResult<Option<i64>> {
        let mut statement =
            self.connection.prepare_cached("SELECT flags FROM records WHERE id = ?1 AND trashed IS NULL")?;
        Ok(statement.query_row([id], |r| r.get(0)).optional()?)
    }

    /// Why a record stays behind with a memory that does: it was made from it, or says something about it (a relation, a
    /// vector). A message or conversation only names it, and loses the name.
    fn about_withheld(&self, record: &Record) -> VaultResult<Option<&'static str>> {
        if !self.withholds_not_exportable || matches!(record.kind, Kind::Message | Kind::Conversation) {
            return Ok(None);
        }
        for link in record.links.iter().filter(|l| l.kind == Kind::Memory) {
            let reason = match record.kind {
                Kind::Relation | Kind::Foreign => "names_not_exportable",
                _ if link.relation == "derived_from" => "made_from_not_exportable",
                _ => continue,
            };
            let flags = self.flags(&record_id(&self.context.keys, &link.target))?;
            if flags.is_some_and(|f| f & Flags::NOT_EXPORTABLE != 0) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Rows of a kind in scope. What belongs to a record in scope goes with it: the messages of a conversation, the
    /// pieces of a document, and the files that any of them names.
    pub(crate) fn rows(&self, kind: Kind) -> VaultResult<Vec<i64>> {
        let asked = format!("FROM records r WHERE {}", self.condition);
        let code = kind_code(kind);
        let sql = if self.everything {
            format!("SELECT r.row {asked} AND r.kind = {code} ORDER BY r.row")
        } else {
            let members = format!("SELECT m.row FROM records m WHERE m.owner IN (SELECT r.row {asked})");
            let files =
                format!("SELECT f.file FROM file_refs f WHERE f.row IN (SELECT r.row {asked}) OR f.row IN ({members})");
            format!(
                "SELECT row FROM records WHERE kind = {code} AND trashed IS NULL AND \
                 (row IN (SELECT r.row {asked}) OR row IN ({members}) OR row IN ({files})) ORDER BY row"
            )
        };
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(self.values.iter()), |r| r.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The blob of a file or of a part of a source; `Some(None)` = one whose bytes are not here.
    pub(crate) fn file(&self, row: i64) -> VaultResult<Option<Option<[u8; 32]>>> {
        let mut statement = self.connection.prepare_cached("SELECT blob FROM files WHERE row = ?1")?;
        Ok(statement.query_row([row], |r| r.get(0)).optional()?)
    }
}
