//! Reads the vault for the writer of a format.
use crate::{
    VaultError, VaultResult,
    audit::AuditTrail,
    context::Context,
    export::{ExportRun, changed::ChangedRows, export_reader::ExportReader},
    reached_states::known_states,
    sensitive::Masker,
};
use mementory_formats::{
    Format, FormatError, PassthroughItem, RecordSource, SourceDescription, StoredRecord, by_id, passthrough_envelope,
};
use mementory_model::{Kind, LossKind, LossReport, Record, Timestamp, Tombstone};
use mementory_store::{Packs, RowView, export_ids};
use rusqlite::OptionalExtension;
use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read,
};

/// Largest passthrough file that is read into memory to mask values in it, in bytes.
const MAX_MASKED_BYTES: u64 = 64 << 20;

pub(crate) struct VaultSource<'v> {
    reader: ExportReader<'v>,
    description: SourceDescription,
    progress: &'v dyn Fn(&str, u64),
    /// The written format, if it can carry passthrough files of other formats.
    carrier: Option<&'static dyn Format>,
    /// Formats from which the records in scope came.
    source_formats: BTreeSet<String>,
    /// Passthrough files in which values could not be masked; they are not exported.
    unmaskable: BTreeSet<String>,
}

impl<'v> VaultSource<'v> {
    pub(crate) fn new(
        context: &'v Context,
        format: Option<&'static dyn Format>,
        run: ExportRun<'v>,
    ) -> VaultResult<Self> {
        let ExportRun { scope, now, cancel, progress } = run;
        let (mut condition, mut values) = scope.query.condition();
        let name = context.dir().file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let description = SourceDescription {
            vault_id: context.header().vault_id,
            name,
            generator: concat!("mementory/", env!("CARGO_PKG_VERSION")).into(),
            now,
        };
        let connection = context.store.new_reader()?;
        // All reads use one snapshot, so that a change between two of them does not affect the export.
        connection.execute_batch("BEGIN")?;
        let packs = Packs::default();
        let has_export_ids = export_ids::any(&connection)?;
        let mut changes = BTreeMap::new();
        if let Some(since) = scope.writing.since {
            let changed = ChangedRows::since(since, &connection, &packs, (&condition, &values))?;
            (condition, values) = changed.condition();
            changes = changed.in_vault;
        }
        let masker = scope.cover.then(|| Masker::new(context, &connection, &packs)).transpose()?;
        // Passthrough files describe a whole source and may name accounts, so only a full export contains them.
        let is_full_export =
            scope.everything && !scope.writing.strip_identifiers && scope.writing.format_options.is_empty();
        let everything = scope.everything;
        Ok(Self {
            reader: ExportReader {
                context,
                connection,
                packs,
                condition,
                values,
                changes,
                everything,
                cancel,
                written_format: format.map(|f| f.capabilities().base_format.unwrap_or(f.id())),
                masker,
                withholds_not_exportable: !format.is_some_and(|f| f.capabilities().withholds_not_exportable),
                withheld: BTreeMap::new(),
                has_export_ids,
                replaces_plain_secrets: scope.writing.passphrase.is_none(),
                without_secrets: BTreeSet::new(),
            },
            description,
            progress,
            // A delta format carries the passthrough files of its base format.
            carrier: format
                .and_then(|f| f.capabilities().base_format.map_or(Some(f), by_id))
                .filter(|f| is_full_export && f.capabilities().carries_passthrough),
            source_formats: BTreeSet::new(),
            unmaskable: BTreeSet::new(),
        })
    }

    fn visit_records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> VaultResult<()> {
        let (mut done, progress, source_formats) = (0, self.progress, &mut self.source_formats);
        self.reader.for_each_record(|stored| {
            if !source_formats.contains(&stored.record.origin.format) {
                source_formats.insert(stored.record.origin.format.clone());
            }
            visit(stored).map_err(mementory_store::unwrap_format)?;
            done += 1;
            if done % 500 == 0 {
                progress("write", done);
            }
            Ok(())
        })?;
        for record in self.embedded_records(&mut LossReport::default())? {
            let id = passthrough_envelope::export_id(&record);
            visit(StoredRecord {
                id,
                edited: false,
                changed: None,
                link_ids: vec![],
                parent_id: None,
                message_parent_id: None,
                attachment_ids: vec![],
                redactions: vec![],
                record,
            })
            .map_err(mementory_store::unwrap_format)?;
        }
        Ok(())
    }

    /// Returns passthrough files and tombstones of formats other than the written one, as records. A passthrough file
    /// is included only if records of its format are exported too. Otherwise it would describe nothing in this export.
    fn embedded_records(&mut self, losses: &mut LossReport) -> VaultResult<Vec<Record>> {
        let Some(carrier) = self.carrier else { return Ok(vec![]) };
        let mut records = Vec::new();
        for format in self.source_formats.clone() {
            if format == carrier.id() || !mementory_formats::carries_passthrough(&format) {
                continue;
            }
            self.visit_passthrough(&format, &mut |item, bytes| {
                let mut all = Vec::new();
                bytes
                    .take(passthrough_envelope::MAX_FILE_BYTES + 1)
                    .read_to_end(&mut all)
                    .map_err(|e| FormatError::io(&item.name, e))?;
                if passthrough_envelope::is_embeddable(item) && all.len() as u64 <= passthrough_envelope::MAX_FILE_BYTES
                {
                    records.push(passthrough_envelope::pack_file(item, &all));
                } else {
                    let note = "a file of another format's source; its bytes stay behind";
                    losses.add(&item.name, "part", LossKind::LeftOut, note);
                }
                Ok(())
            })?;
        }
        if !self.carrier_has_tombstones() {
            records.extend(self.masked_tombstones()?.iter().filter_map(passthrough_envelope::pack_tombstone));
        }
        Ok(records)
    }

    /// Reports secrets and passthrough files that are not exported. A passthrough file is not exported if its format
    /// cannot be embedded in the written format, or if values in it could not be masked. Call it after the records were
    /// visited.
    pub(crate) fn report_unexported(&mut self, losses: &mut LossReport) -> VaultResult<()> {
        if self.reader.has_export_ids {
            // The writer reports losses with export ids. The list of losses contains ids of this vault, so the ids are
            // translated.
            for loss in &mut losses.items {
                if let Some(id) = self.reader.vault_id(&loss.record)? {
                    loss.record = hex::encode(id);
                }
            }
        }
        self.embedded_records(losses)?;
        for id in &self.reader.without_secrets {
            losses.add(id, "secret", LossKind::LeftOut, "in the clear in its source; only an encrypted export has it");
        }
        for name in &self.unmaskable {
            losses.add(name, "part", LossKind::LeftOut, "no text, or too large, so values in it could not be covered");
        }
        Ok(())
    }

    fn masked_tombstones(&mut self) -> VaultResult<Vec<Tombstone>> {
        let mut rows = AuditTrail::new(self.reader.context).tombstones()?;
        for own in rows.iter_mut().filter(|t| t.own && self.reader.has_export_ids) {
            own.target = export_ids::export_id_text(&self.reader.connection, &own.target)?;
        }
        Ok(rows
            .into_iter()
            .map(|t| Tombstone {
                // If the record came from a format with tombstones, the tombstone contains the record's id in that
                // format.
                target_id: if t.scope == "keepsake" { t.target } else { t.origin_id.unwrap_or(t.target) },
                id: t.id,
                op: t.op,
                target_kind: t.kind,
                scope: t.scope,
                at: t.at,
                actor: t.actor,
                reason: t.reason,
                derived: t.derived,
                // The vault's signature covers the tombstone as the vault stores it, not as the format writes it, so
                // the signature is left out. A signature from another program is written unchanged.
                signature: if t.own { None } else { Some(t.signature).filter(|s| !s.is_empty()) },
                verbatim: t.verbatim,
            })
            .map(|mut tombstone| {
                if let Some(masker) = &mut self.reader.masker {
                    masker.mask_tombstone(&mut tombstone);
                }
                tombstone
            })
            .collect())
    }

    /// Returns the export id, in hexadecimal, of the record with this vault id. A text that is not an id is returned
    /// unchanged.
    pub(crate) fn export_id(&self, vault_id: &str) -> VaultResult<String> {
        export_ids::export_id_text(&self.reader.connection, vault_id)
    }

    fn carrier_has_tombstones(&self) -> bool {
        self.carrier.is_some_and(|carrier| carrier.capabilities().tombstones)
    }

    /// Formats that have passthrough files in the vault.
    fn formats_with_passthrough(&mut self) -> VaultResult<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        // Only a full export contains passthrough files, since they describe a whole source.
        if !self.reader.everything {
            return Ok(found);
        }
        for row in self.reader.rows(Kind::Foreign)? {
            let Some(view) = RowView::by_row(&self.reader.connection, row)? else { continue };
            let Some(Some(_)) = self.reader.blob_of_file(row)? else { continue };
            found.insert(self.reader.packs.record(&self.reader.connection, view.pack, view.slot)?.origin.format);
        }
        Ok(found)
    }

    fn visit_passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> VaultResult<()> {
        // Only a full export contains passthrough files, since they describe a whole source.
        if !self.reader.everything {
            return Ok(());
        }
        for row in self.reader.rows(Kind::Foreign)? {
            let Some(view) = RowView::by_row(&self.reader.connection, row)? else { continue };
            let Some(Some(blob)) = self.reader.blob_of_file(row)? else { continue };
            let record = self.reader.packs.record(&self.reader.connection, view.pack, view.slot)?;
            if record.origin.format != format {
                continue;
            }
            let item = PassthroughItem {
                format: record.origin.format,
                group: record.namespace.unwrap_or_default(),
                name: record.title.unwrap_or_default(),
                role: record.record_type.unwrap_or_default(),
                place: record.origin.container,
            };
            let mut bytes = self.reader.context.blobs.open(&blob)?;
            let Some(masker) = &mut self.reader.masker else {
                visit(&item, &mut bytes).map_err(mementory_store::unwrap_format)?;
                continue;
            };
            let mut content = Vec::new();
            (&mut bytes)
                .take(MAX_MASKED_BYTES + 1)
                .read_to_end(&mut content)
                .map_err(|e| VaultError::io(&item.name, e))?;
            let masked_content = if content.len() as u64 > MAX_MASKED_BYTES {
                None
            } else {
                masker.mask_passthrough_file(&item.name, &content).ok()
            };
            match masked_content {
                Some(new) => {
                    visit(&item, &mut new.unwrap_or(content).as_slice()).map_err(mementory_store::unwrap_format)?;
                }
                // A file in which values cannot be masked is not exported. Otherwise it would be mistaken for a masked
                // file.
                None => drop(self.unmaskable.insert(item.name)),
            }
        }
        Ok(())
    }

    /// Adds the numbers of records that were withheld here to the numbers that the writer withheld. Call it after the
    /// records were visited.
    pub(crate) fn add_withheld_counts(&self, all: &mut BTreeMap<String, u64>) {
        for (reason, rows) in &self.reader.withheld {
            *all.entry((*reason).to_owned()).or_default() += rows.len() as u64;
        }
    }

    /// Returns the number of different values that were masked.
    pub(crate) fn masked_count(&self) -> u32 {
        self.reader.masker.as_ref().map_or(0, Masker::count)
    }
}

impl RecordSource for VaultSource<'_> {
    fn description(&self) -> SourceDescription {
        self.description.clone()
    }

    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        self.visit_records(visit).map_err(FormatError::from)
    }

    fn covers(&self) -> bool {
        self.reader.masker.is_some()
    }

    fn reached_state(&mut self, format: &str, group: &str) -> Result<Option<(u64, Option<String>)>, FormatError> {
        let mut known = known_states(&self.reader.connection).map_err(FormatError::from)?;
        Ok(known.remove(&(format.to_owned(), group.to_owned())))
    }

    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        let mut all = self.masked_tombstones().map_err(FormatError::from)?;
        if self.carrier.is_some() && !self.carrier_has_tombstones() {
            all.retain(|t| passthrough_envelope::pack_tombstone(t).is_none());
        }
        Ok(all)
    }

    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError> {
        let formats = self.formats_with_passthrough().map_err(FormatError::from)?;
        Ok(mementory_formats::registry().iter().map(|f| f.id().to_owned()).filter(|id| formats.contains(id)).collect())
    }

    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        // If the written format embeds this format's files in its records, the files are not visited here.
        // `report_unexported` lists the files that are not exported.
        if self.carrier.is_some_and(|c| c.id() != format) && mementory_formats::carries_passthrough(format) {
            return Ok(());
        }
        self.visit_passthrough(format, visit).map_err(FormatError::from)
    }

    fn import_times(&mut self, id: &str) -> Result<Vec<Timestamp>, FormatError> {
        let Some(id) = self.reader.vault_id(id).map_err(FormatError::from)? else { return Ok(Vec::new()) };
        let times = || -> VaultResult<Vec<Timestamp>> {
            let mut all = self.reader.connection.prepare_cached(
                "SELECT since FROM records WHERE id = ?1 UNION ALL SELECT v.since FROM versions v JOIN records r ON r.row = v.row WHERE r.id = ?1 ORDER BY 1",
            )?;
            let times = all.query_map([id], |r| r.get::<_, i64>(0))?.collect::<Result<Vec<_>, _>>()?;
            Ok(times.into_iter().filter_map(Timestamp::from_micros).collect())
        };
        times().map_err(FormatError::from)
    }

    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        let vault_id = self.reader.vault_id(id).map_err(FormatError::from)?;
        let blob: Option<[u8; 32]> = vault_id
            .map(|id| {
                self.reader.connection
                    .prepare_cached("SELECT f.blob FROM files f JOIN records r ON r.row = f.row WHERE r.id = ?1 AND r.trashed IS NULL")
                    .and_then(|mut s| s.query_row([id], |r| r.get(0)).optional())
            })
            .transpose()
            .map_err(|e| FormatError::from(VaultError::from(e)))?
            .flatten()
            .flatten();
        match blob {
            Some(blob) => {
                read(&mut self.reader.context.blobs.open(&blob).map_err(FormatError::from)?)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
