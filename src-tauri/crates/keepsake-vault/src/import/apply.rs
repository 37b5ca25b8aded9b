//! Planning and staging: what becomes of each record, and (when staging) writing it.
mod files;
mod retire;

use super::{
    ImportOptions, ItemOutcome, dropped_outcome,
    facts::{Facts, is_branched},
    sink::Message,
};
use crate::{
    Vault, VaultResult,
    ids::{content_digest, fingerprint, record_id},
    import::ImportReport,
    store::{Cause, Entry, Flags, PackWriter, kind_code, platform_id},
};
use keepsake_model::{Kind, Record, RecordKey, Tombstone};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{HashMap, HashSet};

/// Seen in this input: where it is in the store (0 while planning), and what it said.
struct Seen {
    row: i64,
    digest: u64,
    updated: i64,
    /// This batch wrote its present version, so a newer telling may replace it without a trace.
    written: bool,
}

/// In the vault before this import.
struct Known {
    row: i64,
    digest: [u8; 16],
    trashed: bool,
    version: u32,
    flags: i64,
}

struct Staging {
    batch: i64,
    packs: PackWriter,
    next_row: i64,
}

pub(super) struct Importer<'i> {
    vault: &'i Vault,
    connection: &'i Connection,
    options: &'i ImportOptions<'i>,
    report: &'i mut ImportReport,
    staging: Option<Staging>,
    seen: HashMap<[u8; 16], Seen>,
    blocked: HashSet<[u8; 16]>,
    fingerprints: HashSet<[u8; 16]>,
    /// Nothing was in the vault: no look-ups needed.
    empty: bool,
    platforms: HashMap<String, i64>,
    referenced: HashSet<[u8; 16]>,
    present: HashSet<[u8; 16]>,
}

impl<'i> Importer<'i> {
    pub(super) fn plan(
        vault: &'i Vault,
        connection: &'i Connection,
        options: &'i ImportOptions<'i>,
        report: &'i mut ImportReport,
    ) -> VaultResult<Self> {
        let set = |sql: &str| -> VaultResult<HashSet<[u8; 16]>> {
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |r| r.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        let empty = connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM records)", [], |r| r.get(0))?;
        Ok(Self {
            vault,
            connection,
            options,
            report,
            staging: None,
            seen: HashMap::new(),
            blocked: set("SELECT record FROM blocked")?,
            fingerprints: if options.let_in { HashSet::new() } else { set("SELECT fingerprint FROM fingerprints")? },
            empty,
            platforms: HashMap::new(),
            referenced: HashSet::new(),
            present: HashSet::new(),
        })
    }

    pub(super) fn stage(
        vault: &'i Vault,
        connection: &'i Connection,
        options: &'i ImportOptions<'i>,
        report: &'i mut ImportReport,
        batch: i64,
        packs: PackWriter,
    ) -> VaultResult<Self> {
        let last: Option<i64> = connection.query_row("SELECT max(row) FROM records", [], |r| r.get(0))?;
        // Row numbers are never used again, not even those of an erased last record: the index knows rows by number.
        let used: Option<i64> =
            connection.query_row("SELECT value FROM meta WHERE key = 'last_row'", [], |r| r.get(0)).optional()?;
        let mut importer = Self::plan(vault, connection, options, report)?;
        importer.staging = Some(Staging { batch, packs, next_row: last.unwrap_or(0).max(used.unwrap_or(0)) + 1 });
        Ok(importer)
    }

    pub(super) fn found(&self) -> u64 {
        self.seen.len() as u64
    }

    pub(super) fn drop_source(&mut self, format: &str, reason: &str) {
        self.report.note(None, format, ItemOutcome::Failed, reason);
    }

    pub(super) fn take(&mut self, message: Message) -> VaultResult<()> {
        match message {
            Message::Unit(unit) => self.unit(unit.records),
            Message::File(file, blob) => self.file(file, blob),
            Message::Part(item, blob) => self.part(item, blob),
            Message::Tombstone(tombstone) => self.tombstone(*tombstone),
            Message::Note(issue) => {
                self.report.warn(&issue.code, &issue.place, &issue.message);
                Ok(())
            }
            Message::Dropped(dropped) => {
                self.report.note(dropped.kind, &dropped.place, dropped_outcome(dropped.outcome), &dropped.reason);
                Ok(())
            }
            Message::Progress(_) => Ok(()),
        }
    }

    pub(super) fn finish(&mut self) -> VaultResult<()> {
        if let Some(staging) = &mut self.staging {
            staging.packs.flush(self.connection)?;
            self.connection
                .execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_row', ?1)", [staging.next_row - 1])?;
        }
        self.report.counts.attachments_referenced = self.referenced.len() as u32;
        self.report.counts.attachments_present = self.present.len() as u32;
        if self.report.unlisted_items() > 0 {
            let n = self.report.unlisted_items();
            self.report.warn("items_not_listed", "report", &format!("{n} more items are counted but not listed"));
        }
        Ok(())
    }

    fn unit(&mut self, mut records: Vec<Record>) -> VaultResult<()> {
        let branched = is_branched(&records);
        for (index, record) in records.iter_mut().enumerate() {
            let extra = if index == 0 && branched { Flags::BRANCHED } else { 0 };
            self.record(record, extra)?;
        }
        self.retire(&records)
    }

    fn record(&mut self, record: &mut Record, extra_flags: i64) -> VaultResult<()> {
        let keys = &self.vault.keys;
        let id = record_id(keys, &record.key);
        let digest = content_digest(keys, record);
        let short = short(&digest);
        let updated = record.times.updated.map_or(i64::MIN, keepsake_model::Timestamp::as_micros);
        let place = format!("{}#{}", record.origin.container, record.origin.pointer);

        if let Some(seen) = self.seen.get(&id) {
            let (row, same, newer) = (seen.row, seen.digest == short, updated > seen.updated);
            // A file that a record named is now told of in full; the record's row is there already.
            if record.kind == Kind::Attachment && seen.written {
                return if row > 0 { self.replace_in_batch(row, record, &digest, extra_flags) } else { Ok(()) };
            }
            if record.kind == Kind::Attachment {
                return Ok(());
            }
            if record.repeats {
                if same && row > 0 {
                    self.write_links(row, record)?;
                }
                return Ok(());
            }
            // A second telling inside one input: the newer one stays, the other is a duplicate.
            if newer && !same {
                let written = seen.written;
                if let Some(seen) = self.seen.get_mut(&id) {
                    seen.digest = short;
                    seen.updated = updated;
                }
                if written && row > 0 {
                    self.replace_in_batch(row, record, &digest, extra_flags)?;
                } else if let Some(known) =
                    self.known(&id)?.filter(|k| row > 0 && k.digest != digest && k.flags & Flags::REDACTED == 0)
                {
                    self.report.note(Some(record.kind), &place, ItemOutcome::Updated, "changed at the source");
                    self.new_version(&known, record, &digest, extra_flags)?;
                    if let Some(seen) = self.seen.get_mut(&id) {
                        seen.written = true;
                    }
                    return Ok(());
                }
            }
            self.report.note(Some(record.kind), &place, ItemOutcome::Skipped, "duplicate: told twice in this input");
            return Ok(());
        }
        self.count(record.kind);
        let parent_blocked = record
            .parent
            .as_ref()
            .is_some_and(|p| !self.blocked.is_empty() && self.blocked.contains(&record_id(keys, p)));
        if self.blocked.contains(&id) || parent_blocked {
            self.blocked.insert(id);
            self.seen.insert(id, Seen { row: 0, digest: short, updated, written: false });
            self.report.note(Some(record.kind), &place, ItemOutcome::Blocked, "deleted before");
            return Ok(());
        }
        if !self.fingerprints.is_empty()
            && fingerprint(keys, record.kind, &record.text).is_some_and(|f| self.fingerprints.contains(&f))
        {
            self.seen.insert(id, Seen { row: 0, digest: short, updated, written: false });
            self.report.note(Some(record.kind), &place, ItemOutcome::Blocked, "same words deleted before");
            return Ok(());
        }
        let known = if self.empty { None } else { self.known(&id)? };
        let (row, written) = match known {
            Some(known) if known.digest == digest || self.is_older(&known, record)? => {
                let reason = if known.digest == digest { "same" } else { "older than what the vault has" };
                self.report.note(Some(record.kind), &place, ItemOutcome::Unchanged, reason);
                self.attachments(&id, record)?;
                (known.row, false)
            }
            // A newer telling would bring redacted words back.
            Some(known) if known.flags & Flags::REDACTED != 0 => {
                self.report.note(Some(record.kind), &place, ItemOutcome::Blocked, "redacted before");
                (known.row, false)
            }
            Some(known) => {
                self.report.note(Some(record.kind), &place, ItemOutcome::Updated, "changed at the source");
                self.new_version(&known, record, &digest, extra_flags)?;
                (known.row, true)
            }
            None => {
                self.report.note(Some(record.kind), &place, ItemOutcome::Added, "");
                (self.insert(&id, record, &digest, extra_flags)?, true)
            }
        };
        self.seen.insert(id, Seen { row, digest: short, updated, written });
        Ok(())
    }

    /// True when the source's own change time says that the vault has the newer telling.
    fn is_older(&self, known: &Known, record: &Record) -> VaultResult<bool> {
        let Some(updated) = record.times.updated else { return Ok(false) };
        let (pack, slot): (i64, u32) = self
            .connection
            .prepare_cached("SELECT pack, slot FROM records WHERE row = ?1")?
            .query_row([known.row], |r| Ok((r.get(0)?, r.get(1)?)))?;
        let stored = self.vault.store.packs.record(self.connection, pack, slot)?;
        Ok(stored.times.updated.is_some_and(|s| s > updated))
    }

    fn count(&mut self, kind: Kind) {
        let counts = &mut self.report.counts;
        match kind {
            Kind::Conversation => counts.conversations += 1,
            Kind::Message => counts.messages += 1,
            Kind::Memory => counts.memories += 1,
            _ => {}
        }
    }

    fn known(&self, id: &[u8; 16]) -> VaultResult<Option<Known>> {
        let sql = "SELECT row, digest, trashed IS NOT NULL, version, flags FROM records WHERE id = ?1";
        let read = |r: &rusqlite::Row<'_>| {
            Ok(Known { row: r.get(0)?, digest: r.get(1)?, trashed: r.get(2)?, version: r.get(3)?, flags: r.get(4)? })
        };
        Ok(self.connection.prepare_cached(sql)?.query_row([id], read).optional()?)
    }

    /// Row of a key, in this batch or before it.
    fn row_of(&self, key: &RecordKey) -> VaultResult<Option<i64>> {
        let id = record_id(&self.vault.keys, key);
        if let Some(seen) = self.seen.get(&id) {
            return Ok((seen.row > 0).then_some(seen.row));
        }
        if self.empty { Ok(None) } else { Ok(self.known(&id)?.map(|k| k.row)) }
    }

    fn platform(&mut self, name: &str) -> VaultResult<i64> {
        if let Some(id) = self.platforms.get(name) {
            return Ok(*id);
        }
        let id = platform_id(self.connection, name)?;
        self.platforms.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Adds a new record; returns its row (0 while planning).
    fn insert(&mut self, id: &[u8; 16], record: &mut Record, digest: &[u8; 16], extra_flags: i64) -> VaultResult<i64> {
        let attachments = self.attachments(id, record)?;
        if self.staging.is_none() {
            return Ok(0);
        }
        let platform = self.platform(&record.source.platform)?;
        let owner = record.parent.as_ref().map(|k| self.row_of(k)).transpose()?.flatten();
        let parent =
            record.message.as_ref().and_then(|m| m.parent.as_ref()).map(|k| self.row_of(k)).transpose()?.flatten();
        let now = self.options.now.as_micros();
        let facts = Facts::of(record, extra_flags, now);
        let Some(staging) = &mut self.staging else { return Ok(0) };
        let row = staging.next_row;
        staging.next_row += 1;
        let entry = Entry::from_record(record)?;
        let (pack, slot) = staging.packs.put(self.connection, &entry)?;
        let batch = staging.batch;
        self.connection
            .prepare_cached(
                "INSERT INTO records (row, id, kind, platform, sort, owner, parent, position, flags, pack, slot, since, digest, batch, version_batch, type, status, title, preview) \
                 VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?14,?15,?16,?17,?18)",
            )?
            .execute(params![
                row, id, kind_code(record.kind), platform, facts.sort, owner, parent, facts.position, facts.flags, pack,
                slot, now, digest, batch, record.record_type, record.status, facts.title, facts.preview
            ])?;
        self.write_side(row, record, &attachments)?;
        if record.kind == Kind::Attachment {
            let own = record.attachments.iter().find(|a| a.key == record.key);
            self.set_file(row, own.and_then(|a| a.size), None, own.and_then(|a| a.media_type.as_deref()))?;
        }
        self.vault.index_add(row, owner, record)?;
        Ok(row)
    }

    fn write_side(&self, row: i64, record: &Record, attachments: &[i64]) -> VaultResult<()> {
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

    fn write_links(&self, row: i64, record: &Record) -> VaultResult<()> {
        if self.staging.is_none() {
            return Ok(());
        }
        for link in &record.links {
            let target = record_id(&self.vault.keys, &link.target);
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO links (row, relation, target) VALUES (?1, ?2, ?3)")?
                .execute(params![row, link.relation, target])?;
        }
        Ok(())
    }

    /// The source tells a known record anew: the old telling becomes history.
    fn new_version(
        &mut self,
        known: &Known,
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let id = record_id(&self.vault.keys, &record.key);
        let attachments = self.attachments(&id, record)?;
        if self.staging.is_none() {
            return Ok(());
        }
        let now = self.options.now.as_micros();
        self.connection
            .prepare_cached(
                "INSERT INTO versions (row, version, pack, slot, since, until, cause, batch, flags, digest) \
                 SELECT row, version, pack, slot, since, ?2, cause, version_batch, flags, digest FROM records WHERE row = ?1",
            )?
            .execute(params![known.row, now])?;
        self.overwrite(known.row, known.version + 1, known.flags & Flags::REDACTED, record, digest, extra_flags)?;
        self.clear_side(known.row)?;
        self.write_side(known.row, record, &attachments)?;
        if !known.trashed {
            let owner = record.parent.as_ref().map(|k| self.row_of(k)).transpose()?.flatten();
            self.vault.index_delete(known.row)?;
            self.vault.index_add(known.row, owner, record)?;
        }
        Ok(())
    }

    /// A newer telling of a record that this same batch has written.
    fn replace_in_batch(
        &mut self,
        row: i64,
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let id = record_id(&self.vault.keys, &record.key);
        let attachments = self.attachments(&id, record)?;
        let version: u32 =
            self.connection.query_row("SELECT version FROM records WHERE row = ?1", [row], |r| r.get(0))?;
        self.overwrite(row, version, 0, record, digest, extra_flags)?;
        self.clear_side(row)?;
        self.write_side(row, record, &attachments)?;
        let owner = record.parent.as_ref().map(|k| self.row_of(k)).transpose()?.flatten();
        self.vault.index_delete(row)?;
        self.vault.index_add(row, owner, record)
    }

    fn clear_side(&self, row: i64) -> VaultResult<()> {
        for table in ["tags", "links", "file_refs"] {
            self.connection.prepare_cached(&format!("DELETE FROM {table} WHERE row = ?1"))?.execute([row])?;
        }
        Ok(())
    }

    fn overwrite(
        &mut self,
        row: i64,
        version: u32,
        keep_flags: i64,
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<()> {
        let now = self.options.now.as_micros();
        let facts = Facts::of(record, extra_flags | keep_flags, now);
        let Some(staging) = &mut self.staging else { return Ok(()) };
        let entry = Entry::from_record(record)?;
        let (pack, slot) = staging.packs.put(self.connection, &entry)?;
        self.connection
            .prepare_cached(
                "UPDATE records SET version = ?2, flags = ?3, pack = ?4, slot = ?5, since = ?6, cause = ?7, digest = ?8, version_batch = ?9, \
                 type = ?10, status = ?11, title = ?12, preview = ?13, sort = ?14, position = ?15 WHERE row = ?1",
            )?
            .execute(params![
                row, version, facts.flags, pack, slot, now, Cause::Import as i64, digest, staging.batch, record.record_type,
                record.status, facts.title, facts.preview, facts.sort, facts.position
            ])?;
        Ok(())
    }

    fn tombstone(&mut self, tombstone: Tombstone) -> VaultResult<()> {
        let ids = crate::tombstones::targets(&self.vault.keys, &tombstone);
        self.report.counts.tombstones_applied += 1;
        if self.staging.is_some() {
            crate::tombstones::store_foreign(self.connection, &tombstone, &ids)?;
        }
        // A tombstone of a redaction blocks nothing: the skeleton may come again.
        if tombstone.op == keepsake_model::TombstoneOp::Delete {
            self.blocked.extend(ids);
        }
        self.report.foreign_tombstones.push(tombstone);
        Ok(())
    }
}

fn short(digest: &[u8; 16]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}
