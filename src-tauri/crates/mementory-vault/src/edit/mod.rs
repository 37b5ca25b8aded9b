//! Writes, edits and tags records.
mod tag;

use crate::{VaultError, VaultResult, applied::Applied, context::Context, failed_step::FailedStep};
use mementory_model::{Kind, Origin, Record, RecordKey, Timestamp};
use mementory_store::{
    Cause, Entry, Flags, RecordColumns, RowView, Store, details,
    ids::{content_digest, record_id},
    kind_code, next_row, platform_id, write_columns, write_tags,
};
use rusqlite::{Connection, OptionalExtension, params};

/// New values for the fields of a record. None leaves a field unchanged.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct EditFields {
    pub text: Option<String>,
    pub title: Option<String>,
    pub tags: Option<Vec<String>>,
    pub record_type: Option<String>,
}

/// Additional work that is done in the transaction of a change.
pub(crate) type ExtraWork<'a> = &'a dyn Fn(&Connection) -> VaultResult<()>;

/// A memory to add. `method` and `container` say who wrote it.
pub(crate) struct NewMemory<'a> {
    pub(crate) text: &'a str,
    pub(crate) record_type: Option<String>,
    pub(crate) tags: Vec<String>,
    /// Time of creation of the memory. None means now.
    pub(crate) created: Option<Timestamp>,
    pub(crate) method: &'a str,
    pub(crate) container: &'a str,
}

/// Writes, edits and tags records.
#[derive(Clone, Copy)]
pub struct Editor<'v> {
    pub(crate) context: &'v Context,
}

impl<'v> Editor<'v> {
    pub(crate) fn new(context: &'v Context) -> Self {
        Self { context }
    }
}

impl Editor<'_> {
    /// Adds a memory that the person wrote, and returns its id.
    pub fn add(
        &self,
        text: &str,
        record_type: Option<String>,
        tags: Vec<String>,
        now: Timestamp,
    ) -> VaultResult<Applied<String>> {
        let (method, container) = ("written", "written in Mementory");
        let memory = NewMemory { text, record_type, tags, created: None, method, container };
        self.add_memory(memory, now, &|_| Ok(()))
    }

    /// Adds a memory, and does `extra_work` in the same transaction. Returns the id of the memory.
    pub(crate) fn add_memory(
        &self,
        memory: NewMemory<'_>,
        now: Timestamp,
        extra_work: ExtraWork<'_>,
    ) -> VaultResult<Applied<String>> {
        let NewMemory { text, record_type, tags, created, method, container } = memory;
        if text.trim().is_empty() {
            return Err(VaultError::Usage("A memory needs some text.".into()));
        }
        let origin_id_text = mementory_store::ids::random_hex_id()?;
        let mut record = Record::new(Kind::Memory, RecordKey::new("me", origin_id_text.clone()), text);
        record.origin_id = Some(origin_id_text);
        record.record_type = record_type;
        record.tags = clean_tags(tags);
        record.times.created = Some(created.unwrap_or(now));
        record.source.platform = "me".into();
        record.source.method = Some(method.into());
        record.origin = Origin { format: "keepsake".into(), container: container.into(), ..Origin::default() };
        let id = record_id(&self.context.keys, &record.key);
        let digest = content_digest(&self.context.keys, &record);
        let details = details::digest(&self.context.keys, &record);
        let added = self.context.commit(|tx| {
            let platform = platform_id(tx, "me")?;
            let columns = RecordColumns::from_record(&record, 0, now.as_micros());
            let row = next_row(tx)?;
            let (pack, slot) = self.context.store.packs.put(tx, &Entry::from_record(&mut record.clone())?)?;
            tx.execute(
                "INSERT INTO records (row, id, kind, platform, sort, flags, pack, slot, since, cause, digest, type, title, preview, details) \
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15)",
                params![row, id, kind_code(record.kind), platform, columns.sort, columns.flags, pack, slot, now.as_micros(), Cause::Written as i64, digest, record.record_type, columns.title, columns.preview, details],
            )?;
            write_tags(tx, row, &record.tags)?;
            tx.execute("INSERT INTO changes (op, target) VALUES (1, ?1)", [row])?;
            mementory_store::audit::append(tx, &self.context.keys, now, "add", &hex::encode(id), "")?;
            extra_work(tx)?;
            Ok((Store::last_change(tx)?, row))
        })?;
        let indexed = added.then(FailedStep::Index, |(seq, row)| {
            self.context.update_index(*seq, || self.context.index_add(*row, None, &record))
        });
        Ok(indexed.map(|_| hex::encode(id)))
    }

    /// Writes a new version of a record. The current version stays in the history. Returns the new version number.
    pub fn edit(&self, id: &str, fields: EditFields, now: Timestamp) -> VaultResult<Applied<u32>> {
        self.edit_with_extra_work(id, fields, now, &|_| Ok(()))
    }

    /// Like [`edit`](Self::edit), but also does `extra_work` in the same transaction.
    pub(crate) fn edit_with_extra_work(
        &self,
        id: &str,
        fields: EditFields,
        now: Timestamp,
        extra_work: ExtraWork<'_>,
    ) -> VaultResult<Applied<u32>> {
        self.supersede(id, Cause::Edit, now, extra_work, |record| {
            if let Some(text) = fields.text {
                if text.trim().is_empty() {
                    return Err(VaultError::Usage(
                        "The text cannot be empty. To remove it, move the memory to the Trash.".into(),
                    ));
                }
                record.text = text;
            }
            if let Some(title) = fields.title {
                record.title = (!title.trim().is_empty()).then_some(title);
            }
            if let Some(tags) = fields.tags {
                record.tags = clean_tags(tags);
            }
            if let Some(kind) = fields.record_type {
                record.record_type = (!kind.trim().is_empty()).then_some(kind);
            }
            Ok(())
        })
    }

    /// Writes a new version with the text, title, tags and type of an old version. Returns the number of the new
    /// version.
    pub fn restore_version(&self, id: &str, version: u32, now: Timestamp) -> VaultResult<Applied<u32>> {
        let view = self.context.find(id)?;
        let old: Record = self.context.store.read(|c| {
            let place: Option<(i64, u32)> = c
                .query_row(
                    "SELECT pack, slot FROM versions WHERE row = ?1 AND version = ?2",
                    params![view.row, version],
                    |r| Ok((r.get(0)?, r.get(1)?)),
                )
                .optional()?;
            let (pack, slot) =
                place.ok_or_else(|| VaultError::Usage(format!("There is no version {version} to restore.")))?;
            self.context.store.packs.record(c, pack, slot)
        })?;
        self.supersede(id, Cause::Restore, now, &|_| Ok(()), |record| {
            record.text = old.text;
            record.title = old.title;
            record.tags = old.tags;
            record.record_type = old.record_type;
            Ok(())
        })
    }

    fn supersede(
        &self,
        id: &str,
        cause: Cause,
        now: Timestamp,
        extra_work: ExtraWork<'_>,
        change: impl FnOnce(&mut Record) -> VaultResult<()>,
    ) -> VaultResult<Applied<u32>> {
        let view = self.context.find(id)?;
        refuse_trashed(&view)?;
        let edited = self.context.commit(|tx| {
            let mut record = self.context.store.packs.record(tx, view.pack, view.slot)?;
            let former_record = record.clone();
            change(&mut record)?;
            if record == former_record {
                return Err(VaultError::Usage("Nothing was changed.".into()));
            }
            let version = self.next_version(tx, &view, record, cause, now)?;
            extra_work(tx)?;
            Ok((Store::last_change(tx)?, version))
        })?;
        let indexed = edited
            .then(FailedStep::Index, |(seq, _)| self.context.update_index(*seq, || self.context.reindex(view.row)));
        Ok(indexed.map(|(_, version)| version))
    }

    /// Writes the next version of a record and moves the current version to the history.
    pub(crate) fn next_version(
        &self,
        tx: &Connection,
        view: &RowView,
        mut record: Record,
        cause: Cause,
        now: Timestamp,
    ) -> VaultResult<u32> {
        record.times.updated = Some(now);
        tx.prepare_cached(
            "INSERT INTO versions (row, version, pack, slot, since, until, cause, batch, flags, digest, sort, position, \
             details, updated) \
             SELECT row, version, pack, slot, since, ?2, cause, version_batch, flags, digest, sort, position, details, updated \
             FROM records WHERE row = ?1",
        )?
        .execute(params![view.row, now.as_micros()])?;
        let (pack, slot) = self.context.store.packs.put(tx, &Entry::from_record(&mut record.clone())?)?;
        let version = view.version + 1;
        tx.prepare_cached(
            "UPDATE records SET version = ?2, pack = ?3, slot = ?4, since = ?5, cause = ?6, flags = flags | ?7, version_batch = NULL, updated = ?5 WHERE row = ?1",
        )?
        .execute(params![view.row, version, pack, slot, now.as_micros(), cause as i64, Flags::EDITED])?;
        write_columns(tx, view.row, &record)?;
        tx.prepare_cached("INSERT INTO changes (op, target) VALUES (1, ?1)")?.execute([view.row])?;
        let op = if cause == Cause::Restore { "restore_version" } else { "edit" };
        mementory_store::audit::append(
            tx,
            &self.context.keys,
            now,
            op,
            &view.id_text(),
            &format!("version {version}"),
        )?;
        Ok(version)
    }
}

pub(crate) fn refuse_trashed(view: &RowView) -> VaultResult<()> {
    match view.trashed {
        Some(_) => Err(VaultError::Usage("This is in the Trash. Restore it first.".into())),
        None => Ok(()),
    }
}

pub(crate) fn clean_tags(tags: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for tag in tags {
        let tag = tag.trim().trim_start_matches('#').to_owned();
        if !tag.is_empty() && !out.contains(&tag) {
            out.push(tag);
        }
    }
    out
}
