//! Decides for each record of an import whether it is added, updated, unchanged or blocked, and writes it unless the
//! import is only planned.
mod alternative_keys;
mod blocklist;
mod closing;
mod detail_set;
mod details;
mod duplicates;
mod early_messages;
mod export_ids;
mod exported;
mod files;
mod last_owner;
mod merge;
mod other_evidence;
mod replaced_lists;
mod seen_record;
mod stored;
mod superseded;
mod tombstone_cascade;
mod tombstones;
mod verdict;
mod write;

pub use merge::Merge;

use crate::{
    VaultResult,
    context::Context,
    export_diff::{PlannedRows, count_gone_if_newest},
    import::{ImportOptions, sequence::Recency, sequence::SourceTime, sink::Message},
    import_report::{ImportReport, ItemOutcome, MissingPart, dropped_outcome},
    message_order::unit_with_parents_first,
    row_ranges::RowRanges,
};
use alternative_keys::{AlternativeKeys, replace_taken_key};
use blocklist::Blocklist;
use closing::Closing;
use detail_set::DetailSet;
use details::{Details, grows, note_planned_details};
use duplicates::DuplicateImport;
use early_messages::{EarlyMessages, import_waiting, wait_for_conversation};
use export_ids::{StatedExportIds, store_export_id};
pub(super) use exported::scope_digest;
use exported::{DatedExports, EARLIER_EXPORT};
use files::FileImport;
use last_owner::LastOwner;
use mementory_model::{Kind, Record, RecordKey, Timestamp};
use mementory_store::{
    Flags, PackWriter, RecordColumns,
    ids::{content_digest, record_id},
    is_branched, platform_id,
};
use merge::KnownTexts;
pub(super) use merge::Renames;
use other_evidence::{CascadedEntities, OtherEvidence};
use rusqlite::{Connection, OptionalExtension, params};
use seen_record::SeenRecord;
use std::collections::{BTreeMap, HashMap, HashSet};
use superseded::SupersededStatements;
use tombstone_cascade::TombstoneImport;
use verdict::{Comparison, Verdict};

/// Reason for blocking a record because its sources were deleted or redacted.
const SOURCE_BLOCKED: &str = "what it was taken from was deleted or redacted before";

/// Reason for skipping a record or file with exactly the content of another occurrence.
const DUPLICATE: &str = "duplicate: it occurs twice in this input";

/// Reason for a new version of a record.
const CHANGED: &str = "changed at the source";

/// A record that the vault has.
#[derive(Clone, Copy)]
struct KnownRecord {
    row: i64,
    digest: [u8; 16],
    trashed: bool,
    version: u32,
    flags: i64,
    sort: i64,
    position: i64,
    /// Digest of the record's details (links, entities, vectors, original text), as in the column `records.details`.
    details: Option<i64>,
    /// When the source last changed the record, as in the column `records.updated`.
    updated: Option<i64>,
}

struct Staging {
    batch: i64,
    packs: PackWriter,
    next_row: i64,
    /// The lowest row number that a record added by this batch can have.
    first_row: i64,
    /// Pack and slot of entries of this batch that a newer version in the batch replaced.
    stale: Vec<(i64, u32)>,
    /// Rows of the vault that this input contained unchanged.
    unchanged_rows: RowRanges,
    /// Rows of which this input contained an older or a blocked version. Also the unchanged rows of units from older
    /// exports.
    older: RowRanges,
    /// Blobs that this input contained.
    blobs: HashSet<[u8; 32]>,
}

pub(super) struct ImportRun<'i> {
    context: &'i Context,
    connection: &'i Connection,
    options: &'i ImportOptions<'i>,
    report: &'i mut ImportReport,
    staging: Option<Staging>,
    /// The records of this input, by id. A tree, because a hash map needs up to three times as much memory while it
    /// grows, and an input may have millions of records.
    seen: BTreeMap<[u8; 16], SeenRecord>,
    blocklist: Blocklist,
    /// Ids that tombstones of this input delete.
    deleted_ids: Vec<[u8; 16]>,
    /// Ids that tombstones of this input redact.
    redacted_ids: Vec<[u8; 16]>,
    /// Ends of edges that were blocked because the record with the evidence for the edge was deleted. Only entities are
    /// listed.
    orphaned_edge_ends: Vec<[u8; 16]>,
    /// Entities that an earlier deletion moved to the Trash without listing them. This input may restore them.
    cascaded: CascadedEntities,
    /// Records that this input marked as superseded, although it does not contain them.
    superseded: HashSet<[u8; 16]>,
    /// Texts to compare with when duplicates are skipped.
    texts: KnownTexts,
    pub(super) renames: Renames,
    /// True if the vault had no records, so that no look-ups are needed.
    vault_was_empty: bool,
    /// True if the current unit comes from an older export than the vault's copy of the same conversation.
    older_unit: bool,
    /// When the source last changed the first record of the current unit.
    unit_updated: Option<Timestamp>,
    /// Whether the current source is older or newer than the data in the vault.
    recency: Recency,
    /// The recency of each source up to the current one. Empty if the input has no sources.
    sources: Vec<Recency>,
    /// Index of the current source in `sources`. 0 if the input has no sources.
    source_index: u32,
    /// The format of the current source. Empty if the input has no sources.
    source_format: &'static str,
    exports: DatedExports,
    /// The time of the current source for the current record, see [`DatedExports::own_export`].
    own_export: Option<SourceTime>,
    platforms: HashMap<String, i64>,
    /// The rows of the vault that this input contains. They show which rows of the vault are not in the input. Filled
    /// only while planning.
    planned: PlannedRows,
    /// The details of the records that this input would write. Filled only while planning.
    planned_details: HashMap<[u8; 16], DetailSet>,
    /// Files to which records of this input refer. The value is the file's name while planning, otherwise empty.
    referenced: HashMap<[u8; 16], String>,
    /// The files of this input, with the digest of their bytes.
    present: HashMap<[u8; 16], [u8; 32]>,
    export_ids: StatedExportIds,
    alternative_keys: AlternativeKeys,
    early_messages: EarlyMessages,
    last_owner: LastOwner,
}

impl<'i> ImportRun<'i> {
    pub(super) fn plan(
        context: &'i Context,
        connection: &'i Connection,
        options: &'i ImportOptions<'i>,
        report: &'i mut ImportReport,
    ) -> VaultResult<Self> {
        let vault_was_empty = connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM records)", [], |r| r.get(0))?;
        Ok(Self {
            context,
            connection,
            options,
            report,
            staging: None,
            seen: BTreeMap::new(),
            blocklist: Blocklist::load(connection, options.include_blocked)?,
            deleted_ids: Vec::new(),
            redacted_ids: Vec::new(),
            orphaned_edge_ends: Vec::new(),
            cascaded: CascadedEntities::default(),
            superseded: HashSet::new(),
            texts: KnownTexts::new(),
            renames: Renames::default(),
            vault_was_empty,
            older_unit: false,
            unit_updated: None,
            recency: Recency::default(),
            sources: Vec::new(),
            source_index: 0,
            source_format: "",
            exports: DatedExports::default(),
            own_export: None,
            platforms: HashMap::new(),
            planned: PlannedRows::default(),
            planned_details: HashMap::new(),
            referenced: HashMap::new(),
            present: HashMap::new(),
            export_ids: StatedExportIds::new(connection)?,
            alternative_keys: AlternativeKeys::default(),
            early_messages: EarlyMessages::default(),
            last_owner: LastOwner::default(),
        })
    }

    pub(super) fn stage(
        context: &'i Context,
        connection: &'i Connection,
        options: &'i ImportOptions<'i>,
        report: &'i mut ImportReport,
        batch: i64,
        packs: PackWriter,
    ) -> VaultResult<Self> {
        let last_row: Option<i64> = connection.query_row("SELECT max(row) FROM records", [], |r| r.get(0))?;
        // Row numbers are never reused, not even the highest one after its record was erased, because the index
        // identifies records by row number.
        let last_used_row: Option<i64> =
            connection.query_row("SELECT value FROM meta WHERE key = 'last_row'", [], |r| r.get(0)).optional()?;
        let mut importer = Self::plan(context, connection, options, report)?;
        let first_row = last_row.unwrap_or(0).max(last_used_row.unwrap_or(0)) + 1;
        importer.staging = Some(Staging {
            batch,
            packs,
            next_row: first_row,
            first_row,
            stale: Vec::new(),
            unchanged_rows: RowRanges::default(),
            older: RowRanges::default(),
            blobs: HashSet::new(),
        });
        Ok(importer)
    }

    pub(super) fn found_count(&self) -> u64 {
        self.seen.len() as u64
    }

    pub(super) fn drop_source(&mut self, format: &str, part: MissingPart, is_salvage: bool) {
        self.report.note(None, format, ItemOutcome::Failed, &part.reason);
        if is_salvage {
            self.report.missing.push(part);
        }
    }

    pub(super) fn process_message(&mut self, message: Message) -> VaultResult<()> {
        match message {
            Message::Units(units) => {
                units.into_iter().try_for_each(|unit| match wait_for_conversation(self, unit.records)? {
                    Some(records) => self.import_unit(records),
                    None => Ok(()),
                })
            }
            Message::ExportIds(ids) => {
                self.export_ids.add(&self.context.keys, ids);
                Ok(())
            }
            Message::AlternativeKeys(keys) => {
                self.alternative_keys.add(&self.context.keys, keys);
                Ok(())
            }
            Message::File(file, blob) => FileImport::new(self).import_file(file, blob),
            Message::Passthrough(item, blob) => FileImport::new(self).import_passthrough_file(item, blob),
            Message::Tombstone(tombstone) => {
                import_waiting(self)?;
                TombstoneImport::new(self).apply_tombstone(&tombstone)
            }
            Message::ReplacedList(list) => {
                import_waiting(self)?;
                TombstoneImport::new(self).delete_missing_elements(&list)
            }
            Message::Note(issue) => {
                self.report.warn(&issue.code, &issue.place, &issue.message);
                Ok(())
            }
            Message::Dropped(all) => {
                for dropped in all {
                    self.report.note(dropped.kind, &dropped.place, dropped_outcome(dropped.outcome), &dropped.reason);
                }
                Ok(())
            }
            Message::Source(recency, format) => {
                import_waiting(self)?;
                self.recency = recency;
                self.source_index = self.sources.len() as u32;
                self.sources.push(recency);
                self.source_format = format;
                Ok(())
            }
            Message::Progress(_) => Ok(()),
        }
    }

    /// Trashes the targets of tombstones, writes the last pack and completes the report. Returns all blobs of the
    /// input, including those that no record refers to.
    pub(super) fn finish(&mut self) -> VaultResult<HashSet<[u8; 32]>> {
        import_waiting(self)?;
        OtherEvidence::new(self).drop_orphaned_entities();
        TombstoneImport::new(self).trash_targets()?;
        OtherEvidence::new(self).restore_entities()?;
        let mut blobs = HashSet::new();
        if let Some(staging) = &mut self.staging {
            staging.packs.finish(self.connection, &self.context.store.packs, &staging.stale)?;
            self.connection
                .execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('last_row', ?1)", [staging.next_row - 1])?;
            let (same, older) = (std::mem::take(&mut staging.unchanged_rows), std::mem::take(&mut staging.older));
            self.connection.execute(
                "UPDATE batches SET same = ?2, older = ?3 WHERE id = ?1",
                params![staging.batch, same.encode(), older.encode()],
            )?;
            blobs = std::mem::take(&mut staging.blobs);
        }
        self.exports.add_rows_to(&mut self.report.exports);
        for finding in self.options.findings {
            self.report.warn_once(&finding.code, &finding.place, &finding.message);
        }
        self.report.gone = self.gone_if_newest()?;
        self.report.counts.attachments_referenced = self.referenced.len() as u32;
        self.report.counts.attachments_present = self.present.len() as u32;
        FileImport::new(self).report_missing_files();
        if self.report.unlisted_items() > 0 {
            let n = self.report.unlisted_items();
            self.report.warn("items_not_listed", "report", &format!("{n} more items are counted but not listed"));
        }
        Ok(blobs)
    }

    fn import_unit(&mut self, records: Vec<Record>) -> VaultResult<()> {
        // A message is stored with the row of its parent, so the parent has to be stored first.
        let mut records = unit_with_parents_first(records);
        let is_branched = is_branched(&records);
        self.older_unit = false;
        self.unit_updated = records.first().and_then(|head| head.times.updated);
        let mut ids = Vec::with_capacity(records.len());
        for (index, record) in records.iter_mut().enumerate() {
            let extra_flags = if index == 0 && is_branched { Flags::BRANCHED } else { 0 };
            ids.push(self.import_record(record, extra_flags)?);
        }
        SupersededStatements::new(self).supersede_dropped(&records, &ids)?;
        SupersededStatements::new(self).supersede_replaced(&records, &ids)
    }

    /// Imports a record, and returns its id.
    fn import_record(&mut self, record: &mut Record, extra_flags: i64) -> VaultResult<[u8; 16]> {
        replace_taken_key(self, record)?;
        let keys = &self.context.keys;
        let mut id = record_id(keys, &record.key);
        let export_id = self.export_ids.take(&id);
        if self.renames.apply(keys, record) {
            id = record_id(keys, &record.key);
        }
        Details::new(self).add_files_of_known(&id, record)?;
        let digest = content_digest(keys, record);
        self.own_export = self.exports.own_export(self.recency, keys, record);
        match self.seen.get(&id) {
            None => self.count_kind(record.kind),
            // The earlier occurrence was not imported, for example because its words were deleted. This occurrence may
            // have other words, so it is checked separately.
            Some(seen) if seen.may_have_other_outcome(record, &digest) => {}
            Some(_) => {
                DuplicateImport::new(self).merge(&id, record, &digest, extra_flags)?;
                store_export_id(self, &id, export_id)?;
                return Ok(id);
            }
        }
        let seen = self.import_occurrence(&id, record, &digest, export_id, extra_flags)?;
        self.seen.insert(id, seen);
        store_export_id(self, &id, export_id)?;
        Ok(id)
    }

    /// Imports a record of which this input has written no version yet.
    fn import_occurrence(
        &mut self,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        export_id: Option<[u8; 16]>,
        extra_flags: i64,
    ) -> VaultResult<SeenRecord> {
        let keys = &self.context.keys;
        let mut seen = self.occurrence(record, digest);
        // The vault that wrote the input may have deleted the record. Its tombstone then names the record by the export
        // id.
        if self.blocklist.blocks(keys, id, record) || export_id.is_some_and(|id| self.blocklist.is_named(&id)) {
            if self.blocklist.is_cascaded(id) {
                TombstoneImport::new(self).note_orphaned_edge(record);
            }
            self.block(*id, record, "deleted before");
        } else if [Some(*id), export_id].iter().flatten().any(|id| self.blocklist.has_redacted_words(id, record)) {
            self.block(*id, record, "redacted elsewhere");
        } else if let Some(known) = OtherEvidence::new(self).find_known(id, record)? {
            seen.row = known.row;
            seen.trashed = known.trashed;
            seen.redacted = known.flags & Flags::REDACTED != 0;
            self.note_planned(record, Some(&known));
            seen.written = self.update_known(&known, id, record, digest, extra_flags)?;
            if seen.written {
                note_planned_details(self, id, record);
            }
        } else if let Some(reason) = self.block_reason(id, record)? {
            if reason == SOURCE_BLOCKED {
                TombstoneImport::new(self).note_orphaned_edge(record);
            }
            self.block(*id, record, reason);
        } else if self.is_duplicate(record)? {
            self.report.note(
                Some(record.kind),
                &record_place(record),
                ItemOutcome::Unchanged,
                "the vault says the same already",
            );
        } else {
            self.report.note_new(record, || record_place(record));
            self.note_planned(record, None);
            note_planned_details(self, id, record);
            seen.written = true;
            (seen.row, seen.trashed) = self.insert(id, record, digest, extra_flags)?;
            self.note_exported(self.own_export, seen.row);
        }
        Ok(seen)
    }

    fn note_planned(&mut self, record: &Record, known: Option<&KnownRecord>) {
        if self.staging.is_none() {
            let now = self.options.now.as_micros();
            let sort = || RecordColumns::from_record(record, 0, now).sort;
            self.planned.add(record.kind, known.map(|known| (known.row, known.sort)), sort);
        }
    }

    /// While planning: counts the records of each kind that would be gone if this input were the newest export.
    fn gone_if_newest(&self) -> VaultResult<BTreeMap<String, u32>> {
        match self.staging {
            None => count_gone_if_newest(self.connection, self.report, &self.planned),
            Some(_) => Ok(BTreeMap::new()),
        }
    }

    /// Returns the time at which the source last changed the record, in microseconds since 1970. For a message without
    /// such a time, the time of its conversation is used. `i64::MIN` if neither is known.
    fn updated_micros(&self, record: &Record) -> i64 {
        let unit = self.unit_updated.filter(|_| record.kind == Kind::Message);
        record.times.updated.or(unit).map_or(i64::MIN, Timestamp::as_micros)
    }

    /// Returns what this input states about the record, without a row in the vault.
    fn occurrence(&self, record: &Record, digest: &[u8; 16]) -> SeenRecord {
        SeenRecord {
            updated: self.updated_micros(record),
            source: self.source_index,
            is_of_dated_export: self.own_export.is_some(),
            ..SeenRecord::new(record, digest)
        }
    }

    fn block(&mut self, id: [u8; 16], record: &Record, reason: &str) {
        self.blocklist.add_blocked(id);
        self.report.note(Some(record.kind), &record_place(record), ItemOutcome::Blocked, reason);
    }

    /// Returns the reason for blocking a record that is not in the vault. Returns None if the record is not blocked.
    fn block_reason(&self, id: &[u8; 16], record: &Record) -> VaultResult<Option<&'static str>> {
        if self.blocklist.is_redacted(id) {
            return Ok(Some("redacted before"));
        }
        if self.blocklist.has_blocked_text(&self.context.keys, record) {
            return Ok(Some("same words deleted before"));
        }
        Ok(self.source_is_blocked(record)?.then_some(SOURCE_BLOCKED))
    }

    /// True if the record is a statement, a chunk or an edge that was derived only from blocked records. Also true for
    /// a statement or chunk that was derived from a redacted record.
    fn source_is_blocked(&self, record: &Record) -> VaultResult<bool> {
        let (mut any, mut all) = (false, true);
        for (key, blocked) in self.blocklist.sources(&self.context.keys, record) {
            any = true;
            if !blocked {
                all = false;
                if record.kind != Kind::Relation && self.is_redacted(key)? {
                    return Ok(true);
                }
            }
        }
        Ok(any && all)
    }

    fn is_redacted(&self, key: &RecordKey) -> VaultResult<bool> {
        let id = record_id(&self.context.keys, key);
        if let Some(seen) = self.seen.get(&id) {
            return Ok(seen.redacted);
        }
        let known = if self.vault_was_empty { None } else { self.known_record(&id)? };
        Ok(known.map_or_else(|| self.blocklist.is_redacted(&id), |known| known.flags & Flags::REDACTED != 0))
    }

    /// Merges a record that the vault already has. Returns true if the record got a new version.
    fn update_known(
        &mut self,
        known: &KnownRecord,
        id: &[u8; 16],
        record: &mut Record,
        digest: &[u8; 16],
        extra_flags: i64,
    ) -> VaultResult<bool> {
        if known.digest != *digest && self.blocklist.was_redacted_elsewhere(id) {
            self.block(*id, record, "redacted elsewhere");
            return Ok(false);
        }
        let known = &Details::new(self).complete(known, record)?;
        let place = record_place(record);
        if record.kind == Kind::Conversation {
            self.older_unit = record.times.updated.is_some_and(|updated| updated.as_micros() < known.sort);
        }
        let verdict = Comparison::new(self).decide(known, record, digest)?;
        if matches!(verdict, Verdict::Changed | Verdict::KeepExisting(_)) {
            self.renames.collect(*id, record, digest);
        }
        if matches!(verdict, Verdict::KeepExisting(EARLIER_EXPORT)) {
            let message = "the vault has these records from an export that was made later, and keeps that version";
            self.report.warn("earlier_export", &place, message);
        }
        let (outcome, reason) = match &verdict {
            Verdict::Same => (ItemOutcome::Unchanged, "same"),
            Verdict::KeepExisting(reason) => (ItemOutcome::Unchanged, *reason),
            Verdict::Blocked(reason) => (ItemOutcome::Blocked, *reason),
            Verdict::Changed => (ItemOutcome::Updated, CHANGED),
        };
        self.report.note(Some(record.kind), &place, outcome, reason);
        if matches!(verdict, Verdict::Same | Verdict::Changed) {
            self.note_exported(self.own_export, known.row);
        }
        if let Some(staging) = &mut self.staging {
            if matches!(verdict, Verdict::Same) {
                staging.unchanged_rows.add(known.row);
            }
            // `older` contains the rows whose list position or time this input does not determine: rows of a unit from
            // an older export, and rows for which the vault has a newer version or time.
            let is_older = match verdict {
                Verdict::Same => !grows(record) && record.times.updated.map(Timestamp::as_micros) < known.updated,
                Verdict::Changed => false,
                Verdict::KeepExisting(_) | Verdict::Blocked(_) => true,
            };
            if self.older_unit || is_older {
                staging.older.add(known.row);
            }
        }
        match verdict {
            Verdict::Same => {
                self.reposition(known, record, extra_flags, self.older_unit)?;
                FileImport::new(self).add_attachments(id, record)?;
            }
            Verdict::KeepExisting(_) => {
                FileImport::new(self).add_attachments(id, record)?;
            }
            Verdict::Blocked(_) => {}
            Verdict::Changed => self.new_version(known, id, record, digest, extra_flags)?,
        }
        Ok(matches!(verdict, Verdict::Changed))
    }

    fn count_kind(&mut self, kind: Kind) {
        let counts = &mut self.report.counts;
        match kind {
            Kind::Conversation => counts.conversations += 1,
            Kind::Message => counts.messages += 1,
            Kind::Memory => counts.memories += 1,
            _ => {}
        }
    }

    fn platform(&mut self, name: &str) -> VaultResult<i64> {
        if let Some(id) = self.platforms.get(name) {
            return Ok(*id);
        }
        let id = platform_id(self.connection, name)?;
        self.platforms.insert(name.to_owned(), id);
        Ok(id)
    }
}

fn record_place(record: &Record) -> String {
    format!("{}#{}", record.origin.container, record.origin.pointer)
}

fn short_digest(digest: &[u8; 16]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}
