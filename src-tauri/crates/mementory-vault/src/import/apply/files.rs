//! Imports files: their records, their bytes, and passthrough files.
use super::{
    DUPLICATE,
    export_ids::store_export_id,
    exported::{EARLIER_EXPORT, EARLIER_STATE},
};
use crate::{
    VaultResult,
    import::{apply::ImportRun, apply::SeenRecord, apply::record_place, sequence::StateOrder},
    import_report::{ItemOutcome, MAX_LISTED_ITEMS},
};
use mementory_formats::{AttachmentFile, PassthroughItem};
use mementory_model::{AttachmentRef, Kind, Origin, Record, RecordKey};
use mementory_store::{
    Flags,
    blobs::BlobInfo,
    ids::{content_digest, record_id},
};
use rusqlite::{OptionalExtension, params};
use std::cmp::Ordering;

/// Reason for skipping a file whose id another file of the input already has. Unlike records, files have no versions.
const OTHER_BYTES: &str = "other bytes: another file of this input has the same id, and is kept";
/// Reason for leaving a file in the vault unchanged.
const SAME: &str = "same";

/// Imports the files of an input.
pub(super) struct FileImport<'a, 'i> {
    pub(super) run: &'a mut ImportRun<'i>,
}

impl<'a, 'i> FileImport<'a, 'i> {
    pub(super) fn new(run: &'a mut ImportRun<'i>) -> Self {
        Self { run }
    }
}

impl FileImport<'_, '_> {
    /// Adds the records of files to which `record` refers and which the vault does not have. Returns the rows of all
    /// files to which `record` refers.
    pub(super) fn add_attachments(&mut self, own_id: &[u8; 16], record: &Record) -> VaultResult<Vec<i64>> {
        let mut rows = Vec::with_capacity(record.attachments.len());
        for named in &record.attachments {
            let id = record_id(&self.run.context.keys, &named.key);
            let name = if self.run.staging.is_none() { named.name.as_str() } else { "" };
            self.run.referenced.entry(id).or_insert_with(|| name.to_owned());
            // A record that was read from an attachment index refers to itself.
            if id == *own_id {
                continue;
            }
            if let Some(row) = self.add_attachment(&id, named, record)? {
                rows.push(row);
            }
        }
        Ok(rows)
    }

    /// Counts the files that this input names without containing them. While planning, also lists their names.
    pub(super) fn report_missing_files(&mut self) {
        let missing_files = self.run.referenced.iter().filter(|(id, _)| !self.run.present.contains_key(*id));
        let mut names: Vec<&String> = missing_files.map(|(_, name)| name).collect();
        self.run.report.counts.attachments_missing = Some(names.len() as u32);
        if self.run.staging.is_none() {
            names.sort_unstable();
            self.run.report.missing_files = names.into_iter().take(MAX_LISTED_ITEMS as usize).cloned().collect();
        }
    }

    fn add_attachment(&mut self, id: &[u8; 16], named: &AttachmentRef, owner: &Record) -> VaultResult<Option<i64>> {
        if let Some(seen) = self.run.seen.get(id) {
            return Ok((seen.row > 0).then_some(seen.row));
        }
        let mut record = Record::new(Kind::Attachment, named.key.clone(), named.text.clone().unwrap_or_default());
        record.origin_id.clone_from(&named.origin_id);
        record.title = Some(named.name.clone());
        record.record_type.clone_from(&named.media_type);
        record.times.created = owner.times.created;
        record.source = owner.source.clone();
        record.origin = owner.origin.clone();
        self.file_record(id, &mut record, named.size, None).map(|row| (row > 0).then_some(row))
    }

    /// Adds or updates the record of a file and its bytes, and returns its row. If the file had no bytes before, adding
    /// them counts as an update.
    fn file_record(
        &mut self,
        id: &[u8; 16],
        record: &mut Record,
        size: Option<u64>,
        blob: Option<BlobInfo>,
    ) -> VaultResult<i64> {
        let digest = content_digest(&self.run.context.keys, record);
        if let Some(SeenRecord { row, redacted, .. }) = self.run.seen.get(id) {
            let (row, redacted) = (*row, *redacted);
            if row > 0 && !redacted && self.reason_to_keep_bytes(row, blob)?.is_none() {
                self.set_file(row, size, blob, record.record_type.as_deref())?;
                self.note_exported(row, blob);
            }
            return Ok(row);
        }
        let mut seen = SeenRecord { source: self.run.source_index, ..SeenRecord::new(record, &digest) };
        let known = if self.run.vault_was_empty { None } else { self.run.known_record(id)? };
        let export_id = self.run.export_ids.get(id);
        let is_named = export_id.is_some_and(|id| self.run.blocklist.is_named(&id));
        let (outcome, reason) = if is_named || self.run.blocklist.is_deleted(id) {
            (ItemOutcome::Blocked, "deleted before")
        } else if let Some(known) = known {
            seen.row = known.row;
            seen.trashed = known.trashed;
            seen.redacted = known.flags & Flags::REDACTED != 0;
            self.update_file(&seen, record.kind, size, blob, record.record_type.as_deref())?
        } else if self.run.blocklist.is_redacted(id) {
            (ItemOutcome::Blocked, "redacted before")
        } else {
            seen.written = true;
            (seen.row, seen.trashed) = self.run.insert(id, record, &digest, 0)?;
            if seen.row > 0 {
                self.set_file(seen.row, size, blob, record.record_type.as_deref())?;
            }
            (ItemOutcome::Added, "")
        };
        match outcome {
            ItemOutcome::Added => self.run.report.note_new(record, || record_place(record)),
            _ => self.run.report.note(Some(record.kind), &record_place(record), outcome, reason),
        }
        let row = seen.row;
        if matches!(outcome, ItemOutcome::Added | ItemOutcome::Updated) || reason == SAME {
            self.note_exported(row, blob);
        }
        self.run.seen.insert(*id, seen);
        store_export_id(self.run, id, export_id)?;
        Ok(row)
    }

    /// Updates the bytes of a file that is in the vault. A redacted file keeps its bytes, since the source's bytes
    /// still contain the words.
    fn update_file(
        &mut self,
        seen: &SeenRecord,
        kind: Kind,
        size: Option<u64>,
        blob: Option<BlobInfo>,
        media_type: Option<&str>,
    ) -> VaultResult<(ItemOutcome, &'static str)> {
        let former_blob = self.stored_blob(seen.row)?;
        let changed = blob.is_some_and(|b| former_blob.as_deref() != Some(&b.digest[..]));
        // Mementory's own exports omit the secrets in settings; importing such an export must not remove the secrets
        // from the vault.
        let changed = changed && !(kind == Kind::Foreign && self.differs_only_by_secrets(former_blob.as_deref(), blob));
        let reason_to_keep = if changed { self.reason_to_keep_bytes(seen.row, blob)? } else { None };
        if let Some(staging) = &mut self.run.staging {
            if changed && (seen.redacted || reason_to_keep.is_some()) {
                staging.older.add(seen.row)
            } else {
                staging.unchanged_rows.add(seen.row)
            }
        }
        if let Some(reason) = reason_to_keep {
            return Ok((ItemOutcome::Unchanged, reason));
        }
        Ok(match (changed, seen.redacted) {
            (false, _) => (ItemOutcome::Unchanged, SAME),
            (true, true) => (ItemOutcome::Blocked, "redacted before"),
            (true, false) => {
                self.set_file(seen.row, size, blob, media_type)?;
                (ItemOutcome::Updated, "bytes arrived or changed")
            }
        })
    }

    fn stored_blob(&self, row: i64) -> VaultResult<Option<Vec<u8>>> {
        let sql = "SELECT blob FROM files WHERE row = ?1";
        Ok(self.run.connection.prepare_cached(sql)?.query_row([row], |r| r.get(0)).optional()?.flatten())
    }

    /// Returns the reason for keeping the stored bytes of a file, or None if the current source may replace them.
    fn reason_to_keep_bytes(&self, row: i64, blob: Option<BlobInfo>) -> VaultResult<Option<&'static str>> {
        let recency = self.run.recency;
        let may_be_older = recency.made_at.is_some() || recency.state == StateOrder::Earlier;
        if !may_be_older || blob.is_none() || self.stored_blob(row)?.is_none() {
            return Ok(None);
        }
        if recency.state == StateOrder::Earlier {
            return Ok(Some(EARLIER_STATE));
        }
        let order = self.run.exports.compare(self.run.connection, row, recency.made_at, recency.state)?;
        Ok((order == Some(Ordering::Less)).then_some(EARLIER_EXPORT))
    }

    /// Records that the vault's bytes of a file come from the current source.
    fn note_exported(&mut self, row: i64, blob: Option<BlobInfo>) {
        if blob.is_some() {
            self.run.note_exported(self.run.recency.made_at, row);
        }
    }

    fn differs_only_by_secrets(&self, before: Option<&[u8]>, now: Option<BlobInfo>) -> bool {
        const SETTINGS_BYTES: u64 = 1 << 20;
        let read = |digest: &[u8]| -> Option<Vec<u8>> {
            let digest: [u8; 32] = digest.try_into().ok()?;
            let mut bytes = Vec::new();
            let blob = self.run.context.blobs.open(&digest).ok()?;
            std::io::Read::read_to_end(&mut std::io::Read::take(blob, SETTINGS_BYTES + 1), &mut bytes).ok()?;
            (bytes.len() as u64 <= SETTINGS_BYTES).then_some(bytes)
        };
        let small_blob = now.filter(|b| b.size <= SETTINGS_BYTES);
        let old_and_new_bytes = before.and_then(read).zip(small_blob.and_then(|b| read(&b.digest)));
        old_and_new_bytes.is_some_and(|(before, now)| mementory_formats::differs_only_by_secrets(&before, &now))
    }

    pub(super) fn set_file(
        &self,
        row: i64,
        size: Option<u64>,
        blob: Option<BlobInfo>,
        media_type: Option<&str>,
    ) -> VaultResult<()> {
        let Some(staging) = &self.run.staging else { return Ok(()) };
        // Undoing this import restores the earlier bytes of a file that was in the vault before.
        if let Some(blob) = blob.filter(|_| row < staging.first_row) {
            self.run
                .connection
                .prepare_cached(
                    "INSERT OR IGNORE INTO file_versions (row, batch, blob, size, media_type) \
                     SELECT row, ?2, blob, size, media_type FROM files WHERE row = ?1 AND blob IS NOT ?3",
                )?
                .execute(params![row, staging.batch, blob.digest])?;
        }
        let size = blob.map(|b| b.size).or(size).and_then(|s| i64::try_from(s).ok());
        self.run.connection
            .prepare_cached(
                "INSERT INTO files (row, blob, size, media_type) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (row) DO UPDATE SET \
                 blob = coalesce(excluded.blob, blob), size = coalesce(excluded.size, size), media_type = coalesce(excluded.media_type, media_type)",
            )?
            .execute(params![row, blob.map(|b| b.digest), size, media_type])?;
        Ok(())
    }

    fn note_blob(&mut self, blob: BlobInfo) {
        if let Some(staging) = &mut self.run.staging {
            staging.blobs.insert(blob.digest);
        }
    }

    pub(super) fn import_file(&mut self, file: AttachmentFile, blob: BlobInfo) -> VaultResult<()> {
        self.note_blob(blob);
        let id = record_id(&self.run.context.keys, &file.key);
        if let Some(first) = self.run.present.get(&id) {
            let reason = if *first == blob.digest { DUPLICATE } else { OTHER_BYTES };
            self.run.report.note(Some(Kind::Attachment), &file.place, ItemOutcome::Skipped, reason);
            return Ok(());
        }
        self.run.present.insert(id, blob.digest);
        let mut record = Record::new(Kind::Attachment, file.key, "");
        record.origin_id = file.origin_id;
        record.title = Some(file.name);
        record.record_type = file.media_type;
        record.source.platform.clone_from(&record.key.scope);
        record.origin = Origin { container: file.place, ..Origin::default() };
        self.file_record(&id, &mut record, None, Some(blob)).map(|_| ())
    }

    pub(super) fn import_passthrough_file(&mut self, item: PassthroughItem, blob: BlobInfo) -> VaultResult<()> {
        self.note_blob(blob);
        let key = RecordKey::new(format!("{}/part", item.format), format!("{}/{}", item.group, item.name));
        let id = record_id(&self.run.context.keys, &key);
        let mut record = Record::new(Kind::Foreign, key, "");
        record.title = Some(item.name.clone());
        record.record_type = Some(item.role);
        record.namespace = Some(item.group);
        record.source.platform.clone_from(&item.format);
        record.origin = Origin { format: item.format, version: None, container: item.place, pointer: item.name };
        self.file_record(&id, &mut record, None, Some(blob)).map(|_| ())
    }
}
