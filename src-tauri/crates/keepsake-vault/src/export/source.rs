//! The vault as a writer sees it.
use super::Scope;
use crate::{
    Vault, VaultError, VaultResult,
    ids::record_id,
    sensitive::Cover,
    store::{Flags, Packs, RowView, kind_code},
};
use keepsake_formats::{FormatError, PassthroughItem, RecordSource, SourceAbout, StoredRecord, carry};
use keepsake_model::{Kind, LossKind, LossReport, Record, Timestamp, Tombstone};
use rusqlite::OptionalExtension;
use std::{
    cell::RefCell,
    collections::BTreeSet,
    io::Read,
    sync::atomic::{AtomicBool, Ordering},
};

/// Largest part that is read whole to be covered, in bytes.
const PART: u64 = 64 << 20;

pub(super) struct VaultSource<'v> {
    vault: &'v Vault,
    connection: rusqlite::Connection,
    /// Its own, since the snapshot may be older than what the vault has by now.
    packs: Packs,
    condition: String,
    values: Vec<rusqlite::types::Value>,
    about: SourceAbout,
    cancel: &'v AtomicBool,
    progress: &'v dyn Fn(&str, u64),
    everything: bool,
    /// The format that is written, if it carries what is no record of the others.
    carrier: Option<&'static str>,
    /// Formats that records in scope came from.
    came_from: BTreeSet<String>,
    /// Covers sensitive values on the way out.
    cover: Option<RefCell<Cover<'v>>>,
    /// Parts that could not be covered and stay behind.
    closed: BTreeSet<String>,
}

impl<'v> VaultSource<'v> {
    pub(super) fn new(
        vault: &'v Vault,
        format: &'static str,
        scope: &Scope,
        now: Timestamp,
        cancel: &'v AtomicBool,
        progress: &'v dyn Fn(&str, u64),
    ) -> VaultResult<Self> {
        let (condition, values) = scope.query.condition();
        let name = vault.dir().file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let about = SourceAbout {
            vault_id: vault.header().vault_id,
            name,
            generator: concat!("keepsake/", env!("CARGO_PKG_VERSION")).into(),
            now,
        };
        let connection = vault.store.extra_reader()?;
        // One snapshot for all visits: a write in between does not change what is exported.
        connection.execute_batch("BEGIN")?;
        let packs = Packs::new();
        let cover = scope.cover.then(|| Cover::new(vault, &connection, &packs).map(RefCell::new)).transpose()?;
        // Parts belong to a whole source, and may name accounts.
        let whole = scope.everything && !scope.writing.strip_identifiers && scope.writing.zaxy.is_none();
        Ok(Self {
            vault,
            connection,
            packs,
            condition,
            values,
            about,
            cancel,
            progress,
            everything: scope.everything,
            // A delta is lines of an archive.
            carrier: Some(if format == "alf_delta" { "alf" } else { format })
                .filter(|f| whole && carry::FORMATS.contains(f)),
            came_from: BTreeSet::new(),
            cover,
            closed: BTreeSet::new(),
        })
    }

    fn stored(&self, view: &RowView) -> VaultResult<StoredRecord> {
        let mut record = self.packs.record(&self.connection, view.pack, view.slot)?;
        let covered = self.cover.as_ref().is_some_and(|cover| cover.borrow_mut().record(&mut record));
        let present = |id: [u8; 16]| -> VaultResult<Option<String>> {
            let found: Option<i64> = self
                .connection
                .prepare_cached("SELECT 1 FROM records WHERE id = ?1 AND trashed IS NULL")?
                .query_row([id], |r| r.get(0))
                .optional()?;
            Ok(found.map(|_| hex::encode(id)))
        };
        let keys = &self.vault.keys;
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
        let edited = covered || view.flags & (Flags::EDITED | Flags::REDACTED) != 0;
        Ok(StoredRecord { id: view.id_text(), edited, link_ids, parent_id, message_parent_id, attachment_ids, record })
    }

    fn visit(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> VaultResult<()> {
        let mut done = 0;
        for kind in Kind::ALL {
            // Ids within a kind, in row order of the packs, so that each pack is unpacked once.
            let rows = self.rows(kind)?;
            for row in rows {
                if self.cancel.load(Ordering::Relaxed) {
                    return Err(VaultError::Cancelled);
                }
                let Some(view) = RowView::by_row(&self.connection, row)? else { continue };
                // Passthrough parts travel through `passthrough`, not as records.
                if kind == Kind::Foreign && self.is_part(row)? {
                    continue;
                }
                let stored = self.stored(&view)?;
                self.came_from.insert(stored.record.origin.format.clone());
                visit(stored).map_err(crate::error::unwrap_format)?;
                done += 1;
                if done % 500 == 0 {
                    (self.progress)("write", done);
                }
            }
        }
        for record in self.carried(&mut LossReport::default())? {
            let id = hex::encode(record_id(&self.vault.keys, &record.key));
            visit(StoredRecord {
                id,
                edited: false,
                link_ids: vec![],
                parent_id: None,
                message_parent_id: None,
                attachment_ids: vec![],
                record,
            })
            .map_err(crate::error::unwrap_format)?;
        }
        Ok(())
    }

    /// What is no record and came from another format than the one that is written: parts, as long as records of their
    /// format go too (of a file that only brought records of other formats they say nothing), and deletions.
    fn carried(&mut self, losses: &mut LossReport) -> VaultResult<Vec<Record>> {
        let Some(carrier) = self.carrier else { return Ok(vec![]) };
        let mut records = Vec::new();
        for format in self.came_from.clone() {
            if format == carrier || !carry::FORMATS.contains(&format.as_str()) {
                continue;
            }
            self.parts(&format, &mut |item, bytes| {
                let mut all = Vec::new();
                bytes.take(carry::PART_BYTES + 1).read_to_end(&mut all).map_err(|e| FormatError::io(&item.name, e))?;
                if carry::may_ride(item) && all.len() as u64 <= carry::PART_BYTES {
                    records.push(carry::part(item, &all));
                } else {
                    let note = "a file of another format's source; its bytes stay behind";
                    losses.add(&item.name, "part", LossKind::LeftOut, note);
                }
                Ok(())
            })?;
        }
        if !self.knows_deletions() {
            records.extend(self.deletions()?.iter().filter_map(carry::tombstone));
        }
        Ok(records)
    }

    /// What stays behind of other formats' parts. After the records were visited.
    pub(super) fn left_behind(&mut self, losses: &mut LossReport) -> VaultResult<()> {
        self.carried(losses)?;
        for name in &self.closed {
            losses.add(name, "part", LossKind::LeftOut, "no text, or too large, so values in it could not be covered");
        }
        Ok(())
    }

    fn deletions(&self) -> VaultResult<Vec<Tombstone>> {
        let rows = self.vault.tombstones()?;
        Ok(rows
            .into_iter()
            .map(|t| Tombstone {
                // A record that came from a `.mem` is known there under its own id.
                target_id: if t.scope == "keepsake" { t.target } else { t.origin_id.unwrap_or(t.target) },
                id: t.id,
                op: t.op,
                target_kind: t.kind,
                scope: t.scope,
                at: t.at,
                actor: t.actor,
                reason: t.reason,
                derived: t.derived,
                // Our signature covers our own form, not this format's; a foreign one travels as it came.
                signature: if t.own { None } else { Some(t.signature).filter(|s| !s.is_empty()) },
                verbatim: t.verbatim,
            })
            .map(|mut tombstone| {
                if let Some(cover) = &self.cover {
                    cover.borrow_mut().tombstone(&mut tombstone);
                }
                tombstone
            })
            .collect())
    }

    fn knows_deletions(&self) -> bool {
        self.carrier == Some("mem")
    }

    /// Rows of a kind in scope. What belongs to a record in scope goes with it: the messages of a conversation, the
    /// pieces of a document, and the files that any of them names.
    fn rows(&self, kind: Kind) -> VaultResult<Vec<i64>> {
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

    fn is_part(&self, row: i64) -> VaultResult<bool> {
        let found: Option<i64> = self
            .connection
            .prepare_cached("SELECT 1 FROM files WHERE row = ?1")?
            .query_row([row], |r| r.get(0))
            .optional()?;
        Ok(found.is_some())
    }

    fn parts(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> VaultResult<()> {
        // Parts belong to a whole source; an export of a selection leaves them where they are.
        if !self.everything {
            return Ok(());
        }
        for row in self.rows(Kind::Foreign)? {
            let Some(view) = RowView::by_row(&self.connection, row)? else { continue };
            let blob: Option<[u8; 32]> = self
                .connection
                .prepare_cached("SELECT blob FROM files WHERE row = ?1")?
                .query_row([row], |r| r.get(0))
                .optional()?
                .flatten();
            let Some(blob) = blob else { continue };
            let record = self.packs.record(&self.connection, view.pack, view.slot)?;
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
            let mut bytes = self.vault.blobs.open(&blob)?;
            let Some(cover) = &self.cover else {
                visit(&item, &mut bytes).map_err(crate::error::unwrap_format)?;
                continue;
            };
            let mut whole = Vec::new();
            (&mut bytes).take(PART + 1).read_to_end(&mut whole).map_err(|e| VaultError::io(&item.name, e))?;
            let covered =
                if whole.len() as u64 > PART { None } else { cover.borrow_mut().part(&item.name, &whole).ok() };
            match covered {
                Some(new) => {
                    visit(&item, &mut new.unwrap_or(whole).as_slice()).map_err(crate::error::unwrap_format)?;
                }
                // What nobody can look into does not go out as if it were covered.
                None => drop(self.closed.insert(item.name)),
            }
        }
        Ok(())
    }

    /// Different values that were covered.
    pub(super) fn covered(&self) -> u32 {
        self.cover.as_ref().map_or(0, |cover| cover.borrow().count())
    }
}

impl RecordSource for VaultSource<'_> {
    fn about(&self) -> SourceAbout {
        self.about.clone()
    }

    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError> {
        self.visit(visit).map_err(FormatError::from)
    }

    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError> {
        let mut all = self.deletions().map_err(FormatError::from)?;
        if self.carrier.is_some() && !self.knows_deletions() {
            all.retain(|t| carry::tombstone(t).is_none());
        }
        Ok(all)
    }

    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        // What rides as records is nothing to speak of here; what stays behind is in `left_behind`.
        if self.carrier.is_some_and(|c| c != format) && carry::FORMATS.contains(&format) {
            return Ok(());
        }
        self.parts(format, visit).map_err(FormatError::from)
    }

    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError> {
        let blob: Option<[u8; 32]> = crate::ids::parse_id(id)
            .map(|id| {
                self.connection
                    .prepare_cached("SELECT f.blob FROM files f JOIN records r ON r.row = f.row WHERE r.id = ?1 AND r.trashed IS NULL")
                    .and_then(|mut s| s.query_row([id], |r| r.get(0)).optional())
            })
            .transpose()
            .map_err(|e| FormatError::from(VaultError::from(e)))?
            .flatten()
            .flatten();
        match blob {
            Some(blob) => {
                read(&mut self.vault.blobs.open(&blob).map_err(FormatError::from)?)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}
