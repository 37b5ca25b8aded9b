//! The Evidence Pack: what was deleted, what was done, what rests on what. No content.
use super::{Scope, source::VaultSource};
use crate::{Vault, VaultResult, error::unwrap_format};
use keepsake_formats::{
    RecordSource,
    mem::evidence::{AuditEntry, EvidencePack, EvidenceReport, provenance, write},
};
use keepsake_model::Timestamp;
use std::{path::Path, sync::atomic::AtomicBool};

impl Vault {
    /// Writes an Evidence Pack of all that is in the vault to the new folder `out`.
    ///
    /// # Errors
    /// The store's, the file system's, the signer's. Nothing is left at `out` after one.
    pub fn evidence(
        &self,
        out: &Path,
        since: Option<Timestamp>,
        sign: bool,
        now: Timestamp,
        cancel: &AtomicBool,
    ) -> VaultResult<EvidenceReport> {
        self.is_no_part_of(out)?;
        let scope = Scope { everything: true, ..Scope::default() };
        let mut source = VaultSource::new(self, "", &scope, now, cancel, &|_, _| ())?;
        let edges = provenance(&mut source).map_err(unwrap_format)?;
        let tombstones = source.tombstones().map_err(unwrap_format)?;
        let audit = self.audit_log()?.into_iter().map(|row| AuditEntry {
            at: Timestamp::from_micros(row.at).unwrap_or(now),
            kind: self.find(&row.target).ok().map(|view| view.kind),
            actor: row.actor,
            op: row.op,
            target: row.target,
            reason: row.detail,
        });
        let pack = EvidencePack {
            generator: source.about().generator,
            created: now,
            since,
            tombstones,
            audit: audit.collect(),
            edges,
        };
        let signer = sign.then(|| self.signer());
        write(&pack, out, signer.as_deref()).map_err(unwrap_format)
    }
}
