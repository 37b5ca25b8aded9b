//! Writes Evidence Packs. A pack lists deletions, entries of the audit log, and which records were derived from which
//! other records, all without content.
use crate::{
    VaultError, VaultResult,
    applied::Applied,
    audit::AuditTrail,
    erasure::Receipts,
    export::{
        ExportRun, Exporter, Scope,
        partial_output::{PartialOutput, fsync_folder, rename_to_final_name, sync_tree},
        source::VaultSource,
    },
    failed_step::FailedStep,
    file_locations::FileLocations,
    query::Batches,
};
use mementory_formats::{
    RecordSource,
    evidence::{
        AUDIT_CHAIN_FILE, AuditEntry, EvidencePack, EvidenceReport, RECEIPTS_FILE, SelectedParts, TRANSFERS_FILE,
        provenance, write,
    },
};
use mementory_model::Timestamp;
use mementory_store::unwrap_format;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool};

/// Request for an Evidence Pack: period, signature and parts.
#[derive(Debug, Clone, Default)]
pub struct EvidencePackOptions {
    /// Only deletions and events from this time on.
    pub since: Option<Timestamp>,
    /// Only deletions and events up to this time.
    pub until: Option<Timestamp>,
    /// True if the pack is signed with the vault's own key.
    pub sign: bool,
    /// Chosen parts. None means tombstones, log and provenance, which are the parts of a pack in the specification.
    pub parts: Option<EvidenceParts>,
}

/// The parts of a pack that were chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceParts {
    /// Tombstones with their receipts, and the provenance (which records were derived from which).
    pub tombstones: bool,
    /// The audit log with its signatures.
    pub log: bool,
    /// The public key, and a guide to checking the pack.
    pub key: bool,
    /// Imports and exports, with the names of their files.
    pub transfers: bool,
}

/// Result of writing an Evidence Pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenEvidencePack {
    /// Report on those parts of the pack that the specification defines.
    pub report: EvidenceReport,
    /// Number of receipts in the pack.
    pub receipts: u64,
    /// Number of imports and exports in the pack.
    pub transfers: u64,
}

impl EvidencePackOptions {
    fn includes(&self, at: Timestamp) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at <= until)
    }

    fn includes_micros(&self, at: i64) -> bool {
        Timestamp::from_micros(at).is_none_or(|at| self.includes(at))
    }
}

impl Exporter<'_> {
    /// Writes an Evidence Pack of the vault to the new folder `out`, or to an archive if its name ends in `.zip`.
    ///
    /// # Errors
    /// `Exists`; errors of the store, the file system and the signer. After an error, nothing is at `out`.
    pub fn evidence_pack(
        &self,
        out: &Path,
        options: &EvidencePackOptions,
        now: Timestamp,
        cancel: &AtomicBool,
    ) -> VaultResult<Applied<WrittenEvidencePack>> {
        self.context.check_outside(out)?;
        if out.symlink_metadata().is_ok() {
            return Err(VaultError::Exists(out.display().to_string()));
        }
        let scope = Scope { everything: true, ..Scope::default() };
        let mut source =
            VaultSource::new(self.context, None, ExportRun { scope: &scope, now, cancel, progress: &|_, _| () })?;
        let edges = provenance(&mut source).map_err(unwrap_format)?;
        let tombstones = source.tombstones().map_err(unwrap_format)?;
        let audit = AuditTrail::new(self.context).entries()?.into_iter().map(|row| {
            Ok(AuditEntry {
                at: Timestamp::from_micros(row.at).unwrap_or(now),
                kind: self.context.find(&row.target).ok().map(|view| view.kind),
                actor: row.actor,
                op: row.op,
                target: source.export_id(&row.target)?,
                reason: row.detail,
            })
        });
        let audit = audit.collect::<VaultResult<_>>()?;
        let parts = options.parts.unwrap_or_default();
        let mut other_files = BTreeMap::new();
        if parts.tombstones {
            other_files.insert(RECEIPTS_FILE, self.receipt_lines(options)?);
        }
        if parts.log {
            other_files.insert(AUDIT_CHAIN_FILE, self.chain_lines(options)?);
        }
        if parts.transfers {
            other_files.insert(TRANSFERS_FILE, self.transfer_lines(options)?);
        }
        let count = |path: &str| other_files.get(path).map_or(0, |lines| lines.len() as u64);
        let (receipts, transfers) = (count(RECEIPTS_FILE), count(TRANSFERS_FILE));
        let chosen =
            options.parts.map(|p| SelectedParts { tombstones: p.tombstones, audit_trail: p.log, howto: p.key });
        let pack = EvidencePack {
            selected: chosen.unwrap_or_default(),
            generator: source.description().generator,
            created: now,
            since: options.since,
            until: options.until,
            tombstones,
            audit,
            edges,
            extra_files: other_files,
        };
        let signer = options.sign.then(|| self.signer());
        let partial = PartialOutput::for_output(out)?;
        let report = write(&pack, &partial.path, signer.as_deref()).map_err(unwrap_format)?;
        sync_tree(&partial.path)
            .and_then(|_| rename_to_final_name(&partial.path, out, partial.folder.path()))
            .map_err(|e| VaultError::io(out.display().to_string(), e))?;
        let is_synced = fsync_folder(&partial.parent);
        Ok(Applied::new(WrittenEvidencePack { report, receipts, transfers }).warn_if(!is_synced, FailedStep::Sync))
    }

    /// Returns one line for each receipt. A line contains the outcomes but not the details, which may name files on
    /// this computer.
    fn receipt_lines(&self, options: &EvidencePackOptions) -> VaultResult<Vec<String>> {
        let mut tombstones: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tombstone in
            AuditTrail::new(self.context).tombstones()?.into_iter().filter(|tombstone| options.includes(tombstone.at))
        {
            if let Some(receipt) = tombstone.receipt {
                tombstones.entry(receipt).or_default().push(tombstone.id);
            }
        }
        let mut lines = Vec::with_capacity(tombstones.len());
        for (id, mut tombstones) in tombstones {
            // A receipt that is pending or cannot be read is left out.
            let Ok(receipt) = Receipts::new(self.context).get(&id) else { continue };
            tombstones.sort();
            let place = |p: &crate::ReceiptPlace| json!({"place": p.place, "outcome": p.outcome});
            let line = json!({
                "id": id,
                "ts": receipt.at.to_rfc3339(),
                "complete": receipt.complete,
                "places": receipt.places.iter().map(place).collect::<Vec<_>>(),
                "copiesLeft": receipt.copies_left,
                "copiesRedacted": receipt.copies_redacted,
                "tombstoneIDs": tombstones,
            });
            lines.push(line.to_string());
        }
        Ok(lines)
    }

    fn chain_lines(&self, options: &EvidencePackOptions) -> VaultResult<Vec<String>> {
        let key = hex::encode(self.context.keys.signing().public());
        let links = AuditTrail::new(self.context).chain()?.into_iter().filter(|link| options.includes_micros(link.at));
        let line = |link: mementory_store::audit::ChainLink| {
            let signature = format!("ed25519:{key}:{}", hex::encode(link.signature));
            json!({"seq": link.seq, "ts": rfc3339(link.at), "hash": hex::encode(link.hash), "signature": signature})
        };
        Ok(links.map(|link| line(link).to_string()).collect())
    }

    fn transfer_lines(&self, options: &EvidencePackOptions) -> VaultResult<Vec<String>> {
        let mut lines: Vec<(i64, Value)> = Vec::new();
        for batch in Batches::new(self.context).batches()? {
            let t = &batch.total;
            let line = json!({
                "op": "import", "ts": rfc3339(batch.at), "format": batch.format, "names": batch.names,
                "added": batch.added, "updated": batch.updated, "unchanged": t.unchanged, "blocked": t.blocked,
                "skipped": t.skipped, "failed": t.failed, "undone": batch.undone,
            });
            lines.push((batch.at, line));
        }
        let places = FileLocations::new(self.context).all()?;
        for row in AuditTrail::new(self.context).entries()? {
            let names: Vec<String> = match row.op.as_str() {
                "export" => places.exports.get(&row.seq).into_iter().filter_map(|path| name_of(path)).collect(),
                "import_failed" => places
                    .failed
                    .get(&row.seq)
                    .into_iter()
                    .flat_map(|f| &f.paths)
                    .filter_map(|path| name_of(path))
                    .collect(),
                _ => continue,
            };
            let line = json!({
                "op": row.op, "ts": rfc3339(row.at), "format": row.target, "names": names, "detail": row.detail,
            });
            lines.push((row.at, line));
        }
        lines.retain(|(at, _)| options.includes_micros(*at));
        lines.sort_by_key(|(at, _)| *at);
        Ok(lines.into_iter().map(|(_, line)| line.to_string()).collect())
    }
}

fn rfc3339(micros: i64) -> String {
    Timestamp::from_micros(micros).map(Timestamp::to_rfc3339).unwrap_or_default()
}

fn name_of(path: &str) -> Option<String> {
    Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned())
}
