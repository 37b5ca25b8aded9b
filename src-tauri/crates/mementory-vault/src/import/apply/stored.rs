//! Reads records that the vault has or that this batch wrote.
use super::{ImportRun, KnownRecord};
use crate::VaultResult;
use mementory_model::Record;
use mementory_store::Packs;
use rusqlite::{Connection, OptionalExtension};

impl ImportRun<'_> {
    /// Returns the current record of a row, even if this batch wrote it.
    pub(super) fn stored_record(&self, row: i64) -> VaultResult<Record> {
        self.read_stored(row, Packs::record)
    }

    /// Like [`Self::stored_record`], but the verbatim may be missing. It is not read from the database, because it is
    /// the larger part of a record.
    pub(super) fn stored_content(&self, row: i64) -> VaultResult<Record> {
        self.read_stored(row, Packs::content)
    }

    fn read_stored(
        &self,
        row: i64,
        read: impl Fn(&Packs, &Connection, i64, u32) -> VaultResult<Record>,
    ) -> VaultResult<Record> {
        let (pack, slot): (i64, u32) = self
            .connection
            .prepare_cached("SELECT pack, slot FROM records WHERE row = ?1")?
            .query_row([row], |r| Ok((r.get(0)?, r.get(1)?)))?;
        match self.staging.as_ref().and_then(|s| s.packs.unwritten_entry(pack, slot)) {
            Some(entry) => entry.to_record(),
            None => read(&self.context.store.packs, self.connection, pack, slot),
        }
    }

    pub(super) fn known_record(&self, id: &[u8; 16]) -> VaultResult<Option<KnownRecord>> {
        let sql = "SELECT row, digest, trashed IS NOT NULL, version, flags, sort, position, details, updated \
                   FROM records WHERE id = ?1";
        let read = |r: &rusqlite::Row<'_>| {
            Ok(KnownRecord {
                row: r.get(0)?,
                digest: r.get(1)?,
                trashed: r.get(2)?,
                version: r.get(3)?,
                flags: r.get(4)?,
                sort: r.get(5)?,
                position: r.get(6)?,
                details: r.get(7)?,
                updated: r.get(8)?,
            })
        };
        Ok(self.connection.prepare_cached(sql)?.query_row([id], read).optional()?)
    }
}
