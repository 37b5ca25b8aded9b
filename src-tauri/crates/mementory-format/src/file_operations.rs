//! Operations on finished files that only some formats have. Each is a separate trait, so that a format without the
//! operation has nothing to implement.
use crate::{Catalog, Detected, Finding, FormatError, FormatOptions, Passphrase, Signer};
use mementory_model::{Limits, Timestamp};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A format whose finished files can be signed.
pub trait SignFiles {
    /// True if `out` of [`SignFiles::sign`] may be the file itself, so that only the signature is written.
    fn signs_in_place(&self) -> bool;
    /// Writes the file at `path` with a signature to `out`. An existing signature is replaced.
    ///
    /// # Errors
    /// The file is invalid, the format cannot use the key, or an I/O error.
    fn sign(
        &self,
        path: &Path,
        signer: &dyn Signer,
        out: &Path,
        now: Timestamp,
        limits: &Limits,
    ) -> Result<(), FormatError>;
}

/// A format that can prove that entries are part of a signed file without revealing the other entries.
pub trait DiscloseParts {
    /// Writes the entries that `selection` matches, each with its proof, to the new file `out`. `selection` has its
    /// options in the format's own type. An empty selection matches all entries. The caller must verify the signature
    /// first ([`crate::Format::signatures`]).
    ///
    /// # Errors
    /// The file is not signed or does not match its own root hash, or an I/O error.
    fn disclose(
        &self,
        path: &Path,
        selection: &FormatOptions,
        out: &Path,
        limits: &Limits,
    ) -> Result<Disclosure, FormatError>;
}

/// Result of a disclosure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disclosure {
    /// Number of disclosed entries.
    pub disclosed: u64,
    /// Number of entries in the file.
    pub total: u64,
}

/// A format whose files state their own id. An incremental export also states the id of its base.
pub trait IdentifyExports {
    /// The identity that the source states. None if the source states no identity.
    ///
    /// # Errors
    /// The source cannot be read.
    fn export_of(
        &self,
        catalog: &Catalog,
        source: &Detected,
        limits: &Limits,
    ) -> Result<Option<ExportIdentity>, FormatError>;
    /// Name of the passthrough file in which an imported export's id is stored.
    fn passthrough_name(&self) -> &'static str;
    /// The id of the imported export from which a passthrough file with this text comes.
    fn id_in_passthrough(&self, text: &str) -> Option<String>;
}

/// Identity of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportIdentity {
    /// Path in the input.
    pub place: String,
    /// Id of the export.
    pub id: Option<String>,
    /// True if the export contains only the changes since another export, which is its base.
    pub incremental: bool,
    /// Id of the base.
    pub base: Option<String>,
    /// Key scope of the records in the export.
    pub group: String,
    /// When the export was made, as the file states it.
    pub time: Option<Timestamp>,
}

/// The date of a source as a whole. Of two sources, the one with the later date is newer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDate {
    /// Key scope of the records for which the date is valid. The date says nothing about records of other sources that
    /// the source may also contain.
    pub scope: String,
    /// The time that the source states.
    pub time: Timestamp,
    /// True if the date also decides between two versions of a record that state when they changed (PAM §16).
    pub overrides_records: bool,
}

/// A delta that was opened and detected.
#[derive(Clone, Copy)]
pub struct DeltaFile<'a> {
    /// The file.
    pub path: &'a Path,
    /// The opened input.
    pub catalog: &'a Catalog,
    /// The source that was detected in the input.
    pub detected: &'a Detected,
    /// Limits for reading.
    pub limits: &'a Limits,
    /// Passphrase that opens encrypted files.
    pub passphrase: Option<&'a dyn Passphrase>,
}

/// Differences between a delta and its base. Both lists are empty if the delta matches the base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseFindings {
    /// Reasons why the delta cannot be applied.
    pub errors: Vec<Finding>,
    /// Differences that do not prevent the delta from being applied.
    pub warnings: Vec<Finding>,
}

/// A format whose archives can be changed without a vault.
pub trait EditArchives {
    /// Applies deltas to an archive in order and writes the result to the new file `out`. If a delta cannot be
    /// applied, no delta is applied. The result is encrypted under `passphrase` if the archive was encrypted.
    ///
    /// # Errors
    /// A delta does not match, a file is invalid, or an I/O error. After an error, nothing was written.
    fn apply_deltas(
        &self,
        archive: &Path,
        deltas: &[PathBuf],
        out: &Path,
        limits: &Limits,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<AppliedDeltas, FormatError>;
    /// Deletes records permanently from an archive and its deltas.
    ///
    /// # Errors
    /// `not_found` if no record has any of the ids, an invalid file, or an I/O error.
    fn purge(&self, archive: &Path, ids: &[String], options: &PurgeOptions) -> Result<PurgeReport, FormatError>;
    /// Deletes an archive and its deltas.
    ///
    /// # Errors
    /// Fails if a delta belongs to another archive, if a file is invalid, or on I/O errors.
    fn purge_everything(&self, archive: &Path, options: &PurgeOptions) -> Result<PurgeReport, FormatError>;
}

/// The result of applying deltas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppliedDeltas {
    /// Sequence number of the new archive.
    pub sequence: u64,
    /// Number of added records.
    pub created: u64,
    /// Number of changed records.
    pub updated: u64,
    /// Number of deleted records, with or without a tombstone.
    pub deleted: u64,
    /// Layers whose document was replaced.
    pub documents: Vec<String>,
    /// Lines that were not applied, and changes that did not match the archive, with place and reason.
    pub findings: Vec<Finding>,
}

/// Options of a permanent deletion.
#[derive(Debug, Clone)]
pub struct PurgeOptions {
    /// Path of the new archive; the old archive stays unchanged. If None, the new archive replaces the old one.
    pub out: Option<PathBuf>,
    /// `gdpr_article_17`, `ccpa_deletion`, `user_request` or `security_incident`; any other text is written unchanged.
    pub reason: String,
    /// Id of the principal who requested the deletion, never a name.
    pub requested_by: Option<String>,
    /// Removes links to the deleted records as well, which changes other records. Off by default, because the
    /// specification tolerates dangling links (ALF §3.1.12).
    pub strip_links: bool,
    /// True to report what would be deleted without writing anything.
    pub dry_run: bool,
    /// Deltas of the same archive, which are rewritten in place without the records (ALF §10.14, 5).
    pub deltas: Vec<PathBuf>,
    /// Passphrase that opens encrypted files and encrypts the files that replace them.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// Time of the request.
    pub now: Timestamp,
    /// Limits for reading.
    pub limits: Limits,
}

/// The result of a permanent deletion.
#[derive(Debug, Clone, Default)]
pub struct PurgeReport {
    /// The written audit record. It does not contain the content of the deleted records.
    pub audit: serde_json::Value,
    /// Path of the audit record; None in a dry run.
    pub audit_path: Option<PathBuf>,
    /// Partitions of the archive that changed.
    pub partitions_affected: Vec<String>,
    /// Number of records removed from the archive's partitions.
    pub removed: u64,
    /// Number of removed records by partition or delta.
    pub removed_from: BTreeMap<String, u64>,
    /// Deleted files, or in a dry run the files that would be deleted.
    pub files_removed: Vec<PathBuf>,
    /// Ids for which no record was found.
    pub not_found: Vec<String>,
    /// Places that still contain text or the id of a deleted record, or that cannot be searched.
    pub leftovers: Vec<Leftover>,
}

/// A place that still contains text or the id of a deleted record, or that cannot be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Entry of the archive, with `#line N` for a line.
    pub place: String,
    /// `holds_text`, `holds_part_of_text`, `names_record`, `cannot_be_searched`.
    pub reason: String,
}
