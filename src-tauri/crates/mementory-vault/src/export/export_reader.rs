//! Reads the records of an export on a thread of its own, ahead of the thread that writes them.
use crate::{
    VaultError, VaultResult,
    context::Context,
    sensitive::{Masker, add_earlier_marks},
};
use mementory_formats::{NOT_EXPORTED, StoredRecord, replace_plain_secrets};
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{
    Flags, Packs, RenewedValues, export_ids,
    ids::{parse_id, record_id},
    kind_code,
};
use rusqlite::{Connection, OptionalExtension, types::Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{atomic::AtomicBool, atomic::Ordering, mpsc::Receiver, mpsc::SyncSender, mpsc::sync_channel},
};

/// Number of records after which a batch is sent to the writing thread.
pub(crate) const BATCH_RECORDS: usize = 128;
/// Number of bytes of text after which a batch is sent. The number of records alone would not limit the memory, since a
/// message may be as large as a book.
const BATCH_BYTES: usize = 1 << 20;
/// Maximum number of rows that one query looks up.
const ROWS_PER_QUERY: usize = 512;
/// Number of batches that can wait for the writing thread.
pub(crate) const MAX_WAITING_BATCHES: usize = 2;

/// The columns of a row that are needed to read its record.
struct RecordPlace {
    row: i64,
    id: [u8; 16],
    pack: i64,
    slot: u32,
    renewed: RenewedValues,
}

/// Reads the records to export from a snapshot of the vault.
pub(crate) struct ExportReader<'v> {
    pub context: &'v Context,
    pub connection: Connection,
    /// A pack cache for this export alone, since the snapshot may be older than the vault.
    pub packs: Packs,
    pub condition: String,
    pub values: Vec<Value>,
    /// When rows were changed in the vault. Filled only for an incremental export.
    pub changes: BTreeMap<i64, Timestamp>,
    /// True if all records are exported.
    pub everything: bool,
    pub cancel: &'v AtomicBool,
    /// Id of the written format, or of the base format of a delta.
    pub written_format: Option<&'static str>,
    /// Masks sensitive values in the records.
    pub masker: Option<Masker<'v>>,
    /// True if plaintext secrets are replaced, because the export is not encrypted as a whole.
    pub replaces_plain_secrets: bool,
    /// True if any record has an export id from another vault.
    pub has_export_ids: bool,
    /// Ids of the records that are exported without their secrets.
    pub without_secrets: BTreeSet<String>,
    /// True if this reader withholds the records that their source marks as not exportable, and the records about them.
    /// False if the writer withholds them.
    pub withholds_not_exportable: bool,
    /// Rows that are withheld, by reason.
    pub withheld: BTreeMap<&'static str, BTreeSet<i64>>,
}

impl ExportReader<'_> {
    /// Passes every record in scope to `take`, ordered by kind and row. `take` runs on this thread, while another
    /// thread reads the next records.
    ///
    /// # Errors
    /// Errors of `take`, `Cancelled`, `Damaged`, and errors of the database.
    pub(crate) fn for_each_record(&mut self, mut take: impl FnMut(StoredRecord) -> VaultResult<()>) -> VaultResult<()> {
        std::thread::scope(|scope| {
            // The channel is created in this scope, so that an error of `take` closes it and the reading thread ends.
            let (send, receive): (_, Receiver<VaultResult<Vec<StoredRecord>>>) = sync_channel(MAX_WAITING_BATCHES);
            scope.spawn(move || {
                if let Err(error) = self.send_batches(&send) {
                    send.send(Err(error)).ok(); // fails only if `take` has failed before
                }
            });
            for batch in receive {
                batch?.into_iter().try_for_each(&mut take)?;
            }
            Ok(())
        })
    }

    fn send_batches(&mut self, send: &SyncSender<VaultResult<Vec<StoredRecord>>>) -> VaultResult<()> {
        let send_batch = |batch| send.send(Ok(batch)).map_err(|_| VaultError::Cancelled);
        let (mut batch, mut bytes) = (Vec::new(), 0);
        // The rows of a kind come in the order of the packs, so that each pack is decompressed once.
        for kind in Kind::ALL {
            for rows in self.rows(kind)?.chunks(ROWS_PER_QUERY) {
                for place in self.places(rows)? {
                    if self.cancel.load(Ordering::Relaxed) {
                        return Err(VaultError::Cancelled);
                    }
                    // Passthrough files are exported as files, not as records.
                    if kind == Kind::Foreign && self.blob_of_file(place.row)?.is_some() {
                        continue;
                    }
                    let Some(stored) = self.record_unless_withheld(&place)? else { continue };
                    bytes += stored.record.text.len() + stored.record.verbatim.as_ref().map_or(0, |v| v.text.len());
                    batch.push(stored);
                    if batch.len() >= BATCH_RECORDS || bytes >= BATCH_BYTES {
                        send_batch(std::mem::take(&mut batch))?;
                        bytes = 0;
                    }
                }
            }
        }
        send_batch(batch)
    }

    /// Reads the record at this place. If the record is withheld, adds its row to `withheld` and returns None.
    fn record_unless_withheld(&mut self, place: &RecordPlace) -> VaultResult<Option<StoredRecord>> {
        let (mut stored, mut reason) = (None, Some("not_exportable"));
        if !self.withholds_not_exportable || place.renewed.flags & Flags::NOT_EXPORTABLE == 0 {
            let record = self.read_stored(place)?;
            reason = self.withholding_reason(&record.record)?;
            stored = Some(record);
        }
        let Some(reason) = reason else { return Ok(stored) };
        self.withheld.entry(reason).or_default().insert(place.row);
        Ok(None)
    }

    /// Returns the [`RecordPlace`] of each row, in the order of `rows`. Rows that do not exist are left out.
    fn places(&self, rows: &[i64]) -> VaultResult<Vec<RecordPlace>> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(Vec::new()) };
        // All rows are looked up with one query, unless too many other rows lie between them.
        let rows_are_close = last - first < 2 * ROWS_PER_QUERY as i64;
        let pieces = if rows_are_close { vec![rows] } else { rows.chunks(1).collect() };
        let mut statement = self.connection.prepare_cached(
            "SELECT row, id, pack, slot, sort, position, flags, updated FROM records WHERE row BETWEEN ?1 AND ?2 ORDER BY row",
        )?;
        let mut out = Vec::with_capacity(rows.len());
        for piece in pieces {
            let first_and_last = [piece.first(), piece.last()];
            let mut rows = statement.query(first_and_last)?;
            while let Some(r) = rows.next()? {
                let row = r.get(0)?;
                if piece.binary_search(&row).is_ok() {
                    let (sort, position, flags, updated) = (r.get(4)?, r.get(5)?, r.get(6)?, r.get(7)?);
                    let renewed = RenewedValues { sort, position, flags, updated };
                    out.push(RecordPlace { row, id: r.get(1)?, pack: r.get(2)?, slot: r.get(3)?, renewed });
                }
            }
        }
        Ok(out)
    }

    fn read_stored(&mut self, place: &RecordPlace) -> VaultResult<StoredRecord> {
        let mut record = self.packs.record(&self.connection, place.pack, place.slot)?;
        place.renewed.apply_to(&mut record);
        if self.replaces_plain_secrets && replace_plain_secrets(&mut record, NOT_EXPORTED) {
            self.without_secrets.insert(hex::encode(place.id));
        }
        let covered = self.masker.as_mut().and_then(|masker| masker.mask_record(&mut record));
        let was_edited = place.renewed.flags & Flags::EDITED != 0 || record.edited;
        let edited = covered.is_some() || was_edited || place.renewed.flags & Flags::REDACTED != 0;
        // An export in another format still contains the verbatim, which lacks the person's edit. `edited` prevents a
        // later export in the verbatim's format from using the verbatim as the current text.
        let is_foreign = self.written_format.is_none_or(|format| format != record.origin.format);
        record.edited = was_edited && is_foreign && record.verbatim.is_some();
        let mut redactions = covered.unwrap_or_default();
        if place.renewed.flags & Flags::REDACTED != 0 {
            add_earlier_marks(&record.text, &mut redactions);
        }
        let exported_id = |id: [u8; 16]| -> VaultResult<Option<String>> {
            let flags = self.live_flags(&id)?;
            let is_exported = |f: &i64| !self.withholds_not_exportable || f & Flags::NOT_EXPORTABLE == 0;
            flags.filter(is_exported).map(|_| self.export_id(id)).transpose()
        };
        let keys = &self.context.keys;
        let link_ids =
            record.links.iter().map(|l| exported_id(record_id(keys, &l.target))).collect::<VaultResult<_>>()?;
        let parent_id = record.parent.as_ref().map(|k| exported_id(record_id(keys, k))).transpose()?.flatten();
        let message_parent_id = record
            .message
            .as_ref()
            .and_then(|m| m.parent.as_ref())
            .map(|k| exported_id(record_id(keys, k)))
            .transpose()?
            .flatten();
        let attachment_ids =
            record.attachments.iter().map(|a| self.export_id(record_id(keys, &a.key))).collect::<VaultResult<_>>()?;
        let id = self.export_id(place.id)?;
        let changed = self.changes.get(&place.row).copied();
        Ok(StoredRecord {
            id,
            edited,
            changed,
            link_ids,
            parent_id,
            message_parent_id,
            attachment_ids,
            redactions,
            record,
        })
    }

    /// Returns the export id of the record with this vault id.
    fn export_id(&self, id: [u8; 16]) -> VaultResult<String> {
        let id = if self.has_export_ids { export_ids::export_id(&self.connection, id)? } else { id };
        Ok(hex::encode(id))
    }

    /// Returns the vault id of the record with this export id. Returns None if the text is not an id.
    pub(crate) fn vault_id(&self, export_id: &str) -> VaultResult<Option<[u8; 16]>> {
        let Some(id) = parse_id(export_id) else { return Ok(None) };
        let record = if self.has_export_ids { export_ids::record_with(&self.connection, &id)? } else { None };
        Ok(Some(record.unwrap_or(id)))
    }

    /// Returns the flags of a record, or None if the record does not exist or is in the Trash.
    fn live_flags(&self, id: &[u8; 16]) -> VaultResult<Option<i64>> {
        let mut statement =
            self.connection.prepare_cached("SELECT flags FROM records WHERE id = ?1 AND trashed IS NULL")?;
        Ok(statement.query_row([id], |r| r.get(0)).optional()?)
    }

    /// Returns the reason to withhold a record if it depends on a withheld memory. Such a record was derived from that
    /// memory, or describes it, such as a relation or a vector. A message or conversation that links to the memory is
    /// exported without the link.
    fn withholding_reason(&self, record: &Record) -> VaultResult<Option<&'static str>> {
        if !self.withholds_not_exportable || matches!(record.kind, Kind::Message | Kind::Conversation) {
            return Ok(None);
        }
        for link in record.links.iter().filter(|l| l.kind == Kind::Memory) {
            let reason = match record.kind {
                Kind::Relation | Kind::Foreign => "names_not_exportable",
                _ if link.relation == "derived_from" => "made_from_not_exportable",
                _ => continue,
            };
            let flags = self.live_flags(&record_id(&self.context.keys, &link.target))?;
            if flags.is_some_and(|f| f & Flags::NOT_EXPORTABLE != 0) {
                return Ok(Some(reason));
            }
        }
        Ok(None)
    }

    /// Returns the rows of a kind in scope. Also returns rows that belong to a record in scope: the messages of a
    /// conversation, the chunks of a document, and the files to which any of these records refers.
    pub(crate) fn rows(&self, kind: Kind) -> VaultResult<Vec<i64>> {
        let scope = format!("FROM records r WHERE {}", self.condition);
        let code = kind_code(kind);
        let sql = if self.everything {
            format!("SELECT r.row {scope} AND r.kind = {code} ORDER BY r.row")
        } else {
            let members = format!("SELECT m.row FROM records m WHERE m.owner IN (SELECT r.row {scope})");
            let files =
                format!("SELECT f.file FROM file_refs f WHERE f.row IN (SELECT r.row {scope}) OR f.row IN ({members})");
            format!(
                "SELECT row FROM records WHERE kind = {code} AND trashed IS NULL AND \
                 (row IN (SELECT r.row {scope}) OR row IN ({members}) OR row IN ({files})) ORDER BY row"
            )
        };
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(self.values.iter()), |r| r.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the blob of an attachment or passthrough file. Returns `Some(None)` if the vault does not have the bytes
    /// of the file, and None for rows of other kinds.
    pub(crate) fn blob_of_file(&self, row: i64) -> VaultResult<Option<Option<[u8; 32]>>> {
        let mut statement = self.connection.prepare_cached("SELECT blob FROM files WHERE row = ?1")?;
        Ok(statement.query_row([row], |r| r.get(0)).optional()?)
    }
}
