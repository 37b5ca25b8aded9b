//! Writes records: new ones, new versions of known ones, and newer versions of records from the same batch.
use super::{
    details::{Details, grows},
    files::FileImport,
};
use crate::{
    VaultResult,
    import::{apply::ImportRun, apply::KnownRecord, apply::SeenRecord},
};
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::{Cause, Entry, Flags, ListPosition, RecordColumns, ids::record_id, kind_code};
use rusqlite::{OptionalExtension, params};

/// Time, root row and batch of a record in the Trash.
type TrashState = (i64, Option<i64>, Option<i64>);

impl ImportRun<'_> {
    /// Adds a new record. Returns its row (0 while planning), and whether the record went to the Trash because its
    /// owner, such as its conversation, is in the Trash.
    pub(super) fn insert(
        &mut self,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<(i64, bool)> {
        let attachments = FileImport::new(self).add_attachments(id, record)?;
        if self.staging.is_none() {
            return Ok((0, false));
        }
        let platform = self.platform(&record.source.platform)?;
        let owner = record.parent.as_ref().map(|k| self.last_owner.id_of(&self.context.keys, k));
        let owner = owner.map(|id| self.row_of_id(&id)).transpose()?.flatten();
        let parent = record.message.as_ref().and_then(|m| m.parent.as_ref());
        let parent = parent
            .map(|k| self.row_of_id(&record_id(&self.context.keys, k)))
            .transpose()?
            .flatten()
            .map(|(row, _)| row);
        let trash = match owner {
            Some((row, true)) => self.trash_state(row)?,
            _ => None,
        };
        let owner = owner.map(|(row, _)| row);
        let now = self.options.now.as_micros();
        let columns = RecordColumns::from_record(record, extra_flags, now);
        let details = Details::new(self).digest(record);
        self.export_ids.release(self.connection, id)?;
        let Some(staging) = &mut self.staging else { return Ok((0, false)) };
        let row = staging.next_row;
        staging.next_row += 1;
        let entry = Entry::from_record(record)?;
        let (pack, slot) = staging.packs.put(self.connection, &entry)?;
        let batch = staging.batch;
        self.connection
            .prepare_cached(
                "INSERT INTO records (row, id, kind, platform, sort, owner, parent, position, flags, pack, slot, since, digest, batch, version_batch, type, status, title, preview, trashed, trash_root, trash_batch, details, updated) \
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?14,?15,?16,?17,?18,?19,?20,?21,?22,?23)",
            )?
            .execute(params![
                row, id, kind_code(record.kind), platform, columns.sort, owner, parent, columns.position, columns.flags, pack,
                slot, now, digest, batch, record.record_type, record.status, columns.title, columns.preview,
                trash.map(|t| t.0), trash.map(|t| t.1), trash.and_then(|t| t.2), details,
                record.times.updated.map(Timestamp::as_micros)
            ])?;
        self.write_side_tables(row, record, &attachments)?;
        if record.kind == Kind::Attachment {
            let own_file = record.attachments.iter().find(|a| a.key == record.key);
            FileImport::new(self).set_file(
                row,
                own_file.and_then(|a| a.size),
                None,
                own_file.and_then(|a| a.media_type.as_deref()),
            )?;
        }
        if trash.is_none() {
            self.context.index_add(row, owner, record)?;
        }
        Ok((row, trash.is_some()))
    }

    /// Returns the time, root row and batch with which a row was moved to the Trash. None if the row is not in the
    /// Trash.
    fn trash_state(&self, row: i64) -> VaultResult<Option<TrashState>> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT trashed, trash_root, trash_batch FROM records WHERE row = ?1 AND trashed IS NOT NULL",
            )?
            .query_row([row], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
            .optional()?)
    }

    fn write_side_tables(&self, row: i64, record: &Record, attachments: &[i64]) -> VaultResult<()> {
        for tag in &record.tags {
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO tags (row, tag) VALUES (?1, ?2)")?
                .execute(params![row, tag])?;
        }
        for file in attachments {
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO file_refs (row, file) VALUES (?1, ?2)")?
                .execute([row, *file])?;
        }
        self.write_links(row, record)
    }

    pub(super) fn write_links(&self, row: i64, record: &Record) -> VaultResult<()> {
        if self.staging.is_none() {
            return Ok(());
        }
        for link in &record.links {
            let target = record_id(&self.context.keys, &link.target);
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO links (row, relation, target) VALUES (?1, ?2, ?3)")?
                .execute(params![row, link.relation, target])?;
        }
        Ok(())
    }

    /// Writes a new version of a record in the vault. The version that was current moves to the history.
    pub(super) fn new_version(
        &mut self,
        known: &KnownRecord,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let attachments = FileImport::new(self).add_attachments(id, record)?;
        if self.staging.is_none() {
            return Ok(());
        }
        self.supersede_current(known.row)?;
        self.update_record(known.row, known.version + 1, known.flags & Flags::REDACTED, record, digest, extra_flags)?;
        self.rewrite_side_tables(known.row, record, &attachments)?;
        self.reindex(known.row, known.trashed, record)
    }

    /// Moves the current version of a row to the history. If this batch has already changed the position or time of
    /// that version, first restores the former values: the batch's values belong to the new version, and undoing the
    /// batch removes both.
    fn supersede_current(&self, row: i64) -> VaultResult<()> {
        let Some(staging) = &self.staging else { return Ok(()) };
        self.connection
            .prepare_cached(
                "INSERT INTO versions (row, version, pack, slot, since, until, cause, batch, flags, digest, sort, position, details, updated) \
                 SELECT r.row, r.version, r.pack, r.slot, r.since, ?2, r.cause, r.version_batch, coalesce(m.flags, r.flags), \
                 r.digest, coalesce(m.sort, r.sort), coalesce(m.position, r.position), r.details, \
                 CASE WHEN m.row IS NULL THEN r.updated ELSE m.updated END \
                 FROM records r LEFT JOIN moved m ON m.row = r.row AND m.batch = ?3 WHERE r.row = ?1",
            )?
            .execute(params![row, self.options.now.as_micros(), staging.batch])?;
        self.connection
            .prepare_cached("DELETE FROM moved WHERE row = ?1 AND batch = ?2")?
            .execute([row, staging.batch])?;
        Ok(())
    }

    /// Replaces a record that this batch wrote, for example because it was only a part of the record or had another
    /// status. The replaced version is also removed from the pack: it is not in the history, so an erasure would not
    /// find it there.
    pub(super) fn replace_in_batch(
        &mut self,
        row: i64,
        id: &[u8; 16],
        trashed: bool,
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let attachments = FileImport::new(self).add_attachments(id, record)?;
        if self.staging.is_none() {
            return Ok(());
        }
        let (version, pack, slot) = self
            .connection
            .prepare_cached("SELECT version, pack, slot FROM records WHERE row = ?1")?
            .query_row([row], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
        self.update_record(row, version, 0, record, digest, extra_flags)?;
        if let Some(staging) = &mut self.staging {
            staging.stale.push((pack, slot));
        }
        self.rewrite_side_tables(row, record, &attachments)?;
        self.reindex(row, trashed, record)
    }

    pub(super) fn reindex(&self, row: i64, trashed: bool, record: &Record) -> VaultResult<()> {
        self.context.index_delete(row)?;
        if trashed {
            return Ok(());
        }
        let owner = record.parent.as_ref().map(|k| record_id(&self.context.keys, k));
        let owner = owner.map(|id| self.row_of_id(&id)).transpose()?.flatten();
        self.context.index_add(row, owner.map(|(row, _)| row), record)
    }

    fn rewrite_side_tables(&self, row: i64, record: &Record, attachments: &[i64]) -> VaultResult<()> {
        for table in ["tags", "links", "file_refs"] {
            // A repeated record keeps its links, since they come from all its occurrences, while `record` contains only
            // the links of one occurrence.
            if table != "links" || !record.repeats {
                self.connection.prepare_cached(&format!("DELETE FROM {table} WHERE row = ?1"))?.execute([row])?;
            }
        }
        self.write_side_tables(row, record, attachments)
    }

    fn update_record(
        &mut self,
        row: i64,
        version: u32,
        keep_flags: i64,
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let now = self.options.now.as_micros();
        let columns = RecordColumns::from_record(record, extra_flags | keep_flags, now);
        let details = Details::new(self).digest(record);
        let Some(staging) = &mut self.staging else { return Ok(()) };
        let entry = Entry::from_record(record)?;
        let (pack, slot) = staging.packs.put(self.connection, &entry)?;
        self.connection
            .prepare_cached(
                "UPDATE records SET version = ?2, flags = ?3, pack = ?4, slot = ?5, since = ?6, cause = ?7, digest = ?8, version_batch = ?9, \
                 type = ?10, status = ?11, title = ?12, preview = ?13, sort = ?14, position = ?15, details = ?16, updated = ?17 WHERE row = ?1",
            )?
            .execute(params![
                row, version, columns.flags, pack, slot, now, Cause::Import as i64, digest, staging.batch, record.record_type,
                record.status, columns.title, columns.preview, columns.sort, columns.position,
                details, record.times.updated.map(Timestamp::as_micros)
            ])?;
        Ok(())
    }

    /// Updates the list position of an unchanged record, and the time at which its source last changed it. The position
    /// changes if the conversation was continued or now shows another branch. `older` is true if the record's unit
    /// comes from an older export.
    pub(super) fn reposition(
        &self,
        known: &KnownRecord,
        record: &Record,
        extra_flags: i64,
        older: bool,
    ) -> VaultResult<()> {
        let Some(staging) = &self.staging else { return Ok(()) };
        if older {
            return Ok(());
        }
        let known = &Details::new(self).complete(known, record)?;
        let (sort, position, flags) = match grows(record) {
            true => {
                let ListPosition { time, position, flags } = ListPosition::from_record(record, extra_flags);
                (time.unwrap_or(known.sort), position, known.flags & !ListPosition::FLAGS | flags)
            }
            false => (known.sort, known.position, known.flags),
        };
        // A conversation has no separate time of change, because its list position contains the time.
        let stated_time = record.times.updated.filter(|_| record.kind != Kind::Conversation && !record.repeats);
        let updated = known.updated.max(stated_time.map(Timestamp::as_micros));
        let former = (known.sort, known.position, known.flags, known.updated);
        if (sort, position, flags, updated) == former {
            return Ok(());
        }
        self.connection
            .prepare_cached(
                "INSERT OR IGNORE INTO moved (row, batch, sort, position, flags, updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![known.row, staging.batch, former.0, former.1, former.2, former.3])?;
        self.connection
            .prepare_cached("UPDATE records SET sort = ?2, position = ?3, flags = ?4, updated = ?5 WHERE row = ?1")?
            .execute(params![known.row, sort, position, flags, updated])?;
        // A search filters and sorts conversations by the time in their row, so the conversation is indexed again. Its
        // text comes from the vault, where it may have been redacted.
        if record.kind == Kind::Conversation && sort != known.sort {
            let mut stored = self.stored_content(known.row)?;
            stored.times.updated = record.times.updated;
            self.reindex(known.row, known.trashed, &stored)?;
        }
        Ok(())
    }

    /// Returns the row of the record with this id, and whether the record is in the Trash. This batch or an earlier one
    /// added the record.
    pub(super) fn row_of_id(&self, id: &[u8; 16]) -> VaultResult<Option<(i64, bool)>> {
        if let Some(SeenRecord { row, trashed, .. }) = self.seen.get(id) {
            return Ok((*row > 0).then_some((*row, *trashed)));
        }
        if self.vault_was_empty { Ok(None) } else { Ok(self.known_record(id)?.map(|k| (k.row, k.trashed))) }
    }
}
