//! The [`Format`] trait, its capabilities, and the types that readers and writers receive and return.
use crate::{
    BaseFindings, Catalog, Claim, DeltaFile, Detected, DiscloseParts, EditArchives, ExportIdentity, FolderKeys,
    FormatError, FormatOptions, IdentifyExports, Passphrase, SignFiles, Signed, Signer, SourceDate, SourceState,
    Validation, Verifier,
};
use mementory_model::{
    AttachmentRef, Derived, Dropped, Issue, Kind, Limits, LossKind, LossReport, Record, RecordKey, Timestamp,
    Tombstone, Unit,
};
use std::{
    collections::BTreeMap,
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The capabilities that a format declares. They determine its conformance tests, its row in the documentation and its
/// controls in the window.
#[derive(Debug, Clone, Copy, Default)]
pub struct Capabilities {
    /// File name extension of exports that are encrypted as a whole. Such exports are recognised by their extension,
    /// because their content cannot be examined.
    pub encrypted_extension: Option<&'static str>,
    /// Reads files.
    pub read: bool,
    /// Writes files.
    pub write: bool,
    /// Checks files.
    pub validate: bool,
    /// Can contain tombstones.
    pub tombstones: bool,
    /// Can contain the bytes of attachments.
    pub attachments: bool,
    /// A record that was not changed is written back byte for byte.
    pub byte_exact: bool,
    /// Writes a folder rather than a file.
    pub folder: bool,
    /// Written files can be signed.
    pub signs: bool,
    /// Written files can be encrypted under a passphrase.
    pub encrypts: bool,
    /// Written files are always encrypted, so an export needs a passphrase. Each export has new keys, so two exports of
    /// the same records have different bytes.
    pub needs_passphrase: bool,
    /// Can be pasted as text by the user.
    pub text: bool,
    /// Writes passthrough files of this format back unchanged, and passthrough files of other formats in envelopes.
    pub carries_passthrough: bool,
    /// A file of this format contains the whole account, so a record that is missing in a newer file was deleted there.
    pub complete_account_export: bool,
    /// The writer leaves out records that their source marks as not exportable, with the records that depend on them.
    pub withholds_not_exportable: bool,
    /// For a format of deltas, the id of the format that the deltas change.
    pub base_format: Option<&'static str>,
    /// File name extension of a written file or folder, including the dot. Empty if the format has none.
    pub ending: &'static str,
    /// Every export in this format continues an earlier export, its base. The user must name the base when exporting.
    /// An import reads the base first.
    pub needs_base: bool,
    /// The user may name an earlier export as the base of an export.
    pub accepts_base: bool,
    /// Writes several encodings. The user may choose one.
    pub encodings: bool,
    /// The user may select the entries of an export by criteria of the format.
    pub selects_entries: bool,
    /// The format is specified for exchange between programs, as opposed to the export of a single program.
    pub interchange: bool,
    /// Never detected automatically. The format reads only files for which the user chose it, because no other format
    /// recognises them.
    pub only_if_chosen: bool,
    /// Shown first in the list of export formats.
    pub recommended: bool,
    /// Made for people to read, not for other programs.
    pub for_reading: bool,
    /// Name of the tool by which connected clients export documents of this format, as its specification defines it.
    pub export_tool: Option<&'static str>,
    /// Name of the tool by which connected clients import documents of this format.
    pub import_tool: Option<&'static str>,
}

/// One format. Implementations are unit structs and have no state.
pub trait Format: Sync {
    /// Stable id, used on the command line.
    fn id(&self) -> &'static str;
    /// Other names of the format on the command line.
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }
    /// Name for the user.
    fn name(&self) -> &'static str;
    /// A note for the user that applies to every export in this format.
    fn export_note(&self) -> Option<&'static str> {
        None
    }
    /// The capabilities of the format.
    fn capabilities(&self) -> Capabilities;
    /// Media type of a file of this format when it is sent to a server.
    fn media_type(&self) -> &'static str {
        "application/json"
    }
    /// The operations that sign a finished file, if the format supports it.
    fn file_signing(&self) -> Option<&dyn SignFiles> {
        None
    }
    /// The operations that disclose a part of a file, if the format supports it.
    fn disclosure(&self) -> Option<&dyn DiscloseParts> {
        None
    }
    /// The operations that read the ids of exports, if the format has such ids.
    fn export_identities(&self) -> Option<&dyn IdentifyExports> {
        None
    }
    /// The operations that edit archives without a vault, if the format supports it.
    fn archive_editing(&self) -> Option<&dyn EditArchives> {
        None
    }
    /// Checks whether a delta builds on the export at `base`. None if the file is not a delta.
    fn check_base(&self, delta: &DeltaFile<'_>, base: &Path) -> Result<Option<BaseFindings>, FormatError> {
        let _ = (delta, base);
        Ok(None)
    }
    /// The numbered state of a source: the state of an archive, or the state to which a delta leads. None for formats
    /// without numbered states.
    ///
    /// # Errors
    /// A manifest that cannot be read.
    fn state_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceState>, FormatError> {
        let _ = (catalog, detected, limits);
        Ok(None)
    }
    /// The date of a source as a whole. None if the source does not state when it was made, or if its records never
    /// change.
    ///
    /// # Errors
    /// A source that cannot be read.
    fn date_of(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
    ) -> Result<Option<SourceDate>, FormatError> {
        let Some(identified) = self.export_identities() else { return Ok(None) };
        let identity = identified.export_of(catalog, detected, limits)?;
        let date = |export: ExportIdentity| {
            Some(SourceDate { scope: export.group, time: export.time?, overrides_records: true })
        };
        Ok(identity.and_then(date))
    }
    /// Where the record keys of a source contain the name of its folder, so that an import recognises the records of a
    /// folder that was renamed. None if the keys do not depend on that name.
    fn folder_keys(&self, catalog: &Catalog, detected: &Detected) -> Option<FolderKeys> {
        let _ = (catalog, detected);
        None
    }
    /// Error codes of [`Format::validate`] for content that differs from the digests which a signature covers. With such
    /// an error, a signature proves nothing about the content, even if it is valid for the digests.
    fn digest_error_codes(&self) -> &'static [&'static str] {
        &[]
    }
    /// Error codes of [`Format::validate`] that stop an import, unless the user asks for the records that can still be
    /// read. None if an import does not validate first, because reading finds the same errors.
    fn import_refuses(&self) -> Option<&'static [&'static str]> {
        None
    }
    /// Whether [`Format::salvage`] can read a source despite this fault, which the format's validator or the container
    /// reported. Always false if the format cannot distinguish undamaged records.
    fn can_salvage(&self, catalog: &Catalog, detected: &Detected, code: &str, place: &str) -> bool {
        let _ = (catalog, detected, code, place);
        false
    }
    /// Codes of the faults that make [`Format::read`] refuse a source and that [`Format::salvage`] ignores. The
    /// validator reports all of these faults. Empty if reading ignores them too, or if the format has no salvage.
    fn salvage_codes(&self) -> &'static [&'static str] {
        &[]
    }
    /// Reads the undamaged records of a source that does not match its own inventory, such as a list of checksums.
    ///
    /// # Errors
    /// The errors of [`Format::read`], and every fault for which [`Format::can_salvage`] returns false.
    fn salvage(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        self.read(catalog, detected, context, sink)
    }
    /// True if an archive of this format is one source as a whole, so that no other format may claim a part of it, such
    /// as an export of another program among the files of an agent. Otherwise a damaged archive would be validated and
    /// imported as that export.
    fn owns_archive(&self) -> bool {
        false
    }
    /// Claims the members of the catalog whose content is in this format. Must be fast, so it reads only the start of
    /// files, and small files as a whole.
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError>;
    /// Detection after the user selected this format. May also claim plausible text without a marker of the format.
    fn detect_selected(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        self.detect(catalog, limits)
    }
    /// Sends everything that was detected to the sink. A record that cannot be read is reported as dropped, and reading
    /// continues.
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError>;
    /// Like [`Format::read`], but ignores our extension slots: an element that was written for a record of another
    /// format is read as an element of this format. Used by a conversion to the same format, which writes untouched
    /// elements back unchanged.
    fn read_elements(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        self.read(catalog, detected, context, sink)
    }
    /// Writes all records of `source` to `out`, a new file, or a new folder if `capabilities().folder`. Not atomic: the
    /// caller passes a temporary name, validates the result and renames it.
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        let _ = (source, options);
        Err(FormatError::invalid("not_supported", out.display().to_string(), "this format cannot be written"))
    }
    /// Writes all records of `source` as one document into memory, for the answer to a connected client, so that no file
    /// is made. Only for formats with `capabilities().export_tool`.
    fn write_answer(
        &self,
        source: &mut dyn RecordSource,
        out: &mut Vec<u8>,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        let _ = (source, out, options);
        Err(FormatError::invalid("not_supported", self.id(), "this format is not written for clients"))
    }
    /// The report that [`Format::write`] would return, without writing anything. The default implementation only counts
    /// the records by kind.
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        let _ = options;
        let mut report = WriteReport::default();
        source.records(&mut |stored| {
            *report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            Ok(())
        })?;
        Ok(report)
    }
    /// The export as a text for pasting, and its report. Only for formats that are meant for pasting.
    fn text(&self, source: &mut dyn RecordSource) -> Result<(String, WriteReport), FormatError> {
        let _ = source;
        Err(FormatError::invalid("not_supported", self.id(), "this format cannot be pasted as text"))
    }
    /// Kind and id by which a tombstone in this format refers to this record. None if the record was read from another
    /// format.
    fn tombstone_target(&self, record: &Record) -> Option<(String, String)> {
        let _ = record;
        None
    }
    /// Adds an erased record to the ids that a tombstone lists as deleted together with its target. The id is that of
    /// the record in this format, or `export_id` if the record was read from another format.
    fn add_derived(&self, derived: &mut Derived, record: &Record, export_id: &str) {
        let _ = (derived, record, export_id);
    }
    /// Visits every signature in a file together with the signed bytes: first the signature of the file, then those of
    /// its tombstones. The caller verifies them, because formats have no access to cryptography.
    fn signatures(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        visit: &mut dyn FnMut(Signed) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let _ = (catalog, detected, limits, visit);
        Ok(())
    }
    /// The function that removes the signature from a passthrough file, for imports that drop an invalid signature.
    /// None if the file has no signature.
    fn signature_remover(&self, part: &PassthroughItem) -> Option<SignatureRemover> {
        let _ = part;
        None
    }
    /// Checks a file or folder by the specification and reports all findings, but does not verify signatures (see
    /// [`Format::signatures`]). If `trust` is not empty, some formats report a file without a signature as an error.
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        trust: &[String],
    ) -> Result<Validation, FormatError> {
        let _ = (catalog, limits, trust);
        Err(FormatError::invalid("not_supported", detected.format, "this format has no validator"))
    }
    /// [`Format::validate`] with a passphrase for content that the format itself encrypts.
    fn validate_with(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        trust: &[String],
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<Validation, FormatError> {
        let _ = passphrase;
        self.validate(catalog, detected, limits, trust)
    }
}

/// Returns the text of a passthrough file without its signature. None if it contains only the signature.
pub type SignatureRemover = fn(&str) -> Option<String>;

/// Everything that a reader receives besides the input itself.
#[derive(Debug, Clone)]
pub struct ReadContext {
    /// Limits for reading.
    pub limits: Limits,
    /// The current time, for formats whose specification uses it in place of a missing time. Never used for ids.
    pub now: Timestamp,
    /// Passphrase that opens encrypted input.
    pub passphrase: Option<Arc<dyn Passphrase>>,
}

/// A file that came with an export.
#[derive(Debug, Clone)]
pub struct AttachmentFile {
    /// The key by which [`mementory_model::AttachmentRef`]s refer to the file.
    pub key: RecordKey,
    /// The source's own id.
    pub origin_id: Option<String>,
    /// The original name.
    pub name: String,
    /// Media type, from the first bytes of the file or its name.
    pub media_type: Option<String>,
    /// Path in the input.
    pub place: String,
}

impl AttachmentFile {
    /// Describes a file whose bytes are inside the record that refers to it. `place` is the path of the record's file.
    pub fn inside(place: &str, reference: &AttachmentRef) -> Self {
        Self {
            key: reference.key.clone(),
            origin_id: None,
            name: reference.name.clone(),
            media_type: reference.media_type.clone(),
            place: place.to_owned(),
        }
    }
}

/// A file of an export that is not a record: additional files, `raw/`, unknown entries, extra data of the manifest.
#[derive(Debug, Clone)]
pub struct PassthroughItem {
    /// Format id.
    pub format: String,
    /// Id of the export or agent from which the file comes (agent id, bundle digest, account …).
    pub group: String,
    /// Path inside the source, with `/` as separator.
    pub name: String,
    /// `sidecar`, `raw`, `entry`, `layer`, `manifest`, `artifact` …
    pub role: String,
    /// Path in the input.
    pub place: String,
}

/// A list that the input replaces as a whole. Its elements are separate records. An element of the former list that is
/// missing in the new one was deleted at the source.
#[derive(Debug, Clone)]
pub struct ReplacedList {
    /// Kind of the elements.
    pub kind: Kind,
    /// Format id in the origins of the elements.
    pub format: &'static str,
    /// Id space of the elements.
    pub scope: String,
    /// Prefix of the JSON pointers in the origins of the elements.
    pub pointer: String,
    /// Values of the record keys that the elements of the new list can have.
    pub keys: Vec<String>,
    /// When the list was replaced.
    pub at: Timestamp,
    /// Who replaced the list.
    pub actor: String,
}

/// Receives the records and files that a reader finds. If a method returns an error, the reader stops and returns this
/// error.
pub trait Sink {
    /// Receives a conversation with its messages, or one record.
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError>;
    /// Receives the export id ([`StoredRecord::id`]) that the record with this key had in the vault that wrote the
    /// file. Sent before the record. A record that is new to the vault keeps the id in its exports.
    fn export_id(&mut self, key: &RecordKey, id: &str) {
        let _ = (key, id);
    }
    /// Receives an alternative value for the key of a record. The alternative is used if the vault has a record of
    /// another kind with this key. Sent before the record. Needed by a format whose deltas do not show the keys of the
    /// records that did not change.
    fn alternative_key(&mut self, key: &RecordKey, value: &str) {
        let _ = (key, value);
    }
    /// Receives a list that is sent as a whole. Sent after its elements.
    fn replaced_list(&mut self, list: ReplacedList) -> Result<(), FormatError> {
        let _ = list;
        Ok(())
    }
    /// Receives an attachment and its bytes.
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError>;
    /// Receives a passthrough file and its bytes.
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError>;
    /// Receives a deletion that the vault applies. Readers send all deletions before the first record.
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError>;
    /// Receives a problem in the input that does not cause the loss of a record.
    fn note(&mut self, issue: Issue);
    /// Receives a part of the input that is not imported, with the reason.
    fn dropped(&mut self, dropped: Dropped);
    /// Receives the number of source bytes processed so far, in the same measure as `Detected::total_bytes`. Returns an
    /// error if the user cancelled.
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError>;
}

/// A record that the vault passes to a writer.
#[derive(Debug, Clone)]
pub struct StoredRecord {
    /// The record's export id, in 32 lowercase hex digits: its id in this vault or, for a record from another vault,
    /// its id in the vault that exported it first. Elements that a writer composes get their ids from the export id.
    pub id: String,
    /// True if the record was edited or redacted, so that its text, title, tags, type or status differ from the
    /// verbatim.
    pub edited: bool,
    /// Time at which the record was last edited, redacted or restored from the Trash in the vault. Set only if the
    /// export is limited to changes since a given time. If None, the record's own times state when it changed.
    pub changed: Option<Timestamp>,
    /// Export ids of the targets of `record.links`, in the same order; None = not in the vault.
    pub link_ids: Vec<Option<String>>,
    /// Export id of `record.parent`.
    pub parent_id: Option<String>,
    /// Export id of the message's parent message.
    pub message_parent_id: Option<String>,
    /// Export ids of the attachments, in the order of `record.attachments`.
    pub attachment_ids: Vec<String>,
    /// Marks in `record.text`, in order. Each mark replaces a value that is masked in the export or that the user
    /// redacted.
    pub redactions: Vec<Redaction>,
    /// The record, including its verbatim.
    pub record: Record,
}

/// A mark (`[REDACTED:class]`) that replaces a value in a record's text. The value itself is not included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// Class of the value, as written in the mark.
    pub class: String,
    /// Position of the mark in the text, in bytes.
    pub mark: Range<usize>,
    /// Position of the value in the text that the vault stores, in bytes. None if the value was redacted, because the
    /// vault then has neither the value nor its length.
    pub value: Option<Range<usize>>,
}

/// Describes where the records of an export come from. Some formats write these values.
#[derive(Debug, Clone)]
pub struct SourceDescription {
    /// Vault id (UUID text).
    pub vault_id: String,
    /// Name of the vault.
    pub name: String,
    /// Name and version of this program.
    pub generator: String,
    /// Time of the export. A writer uses no other clock.
    pub now: Timestamp,
}

/// The source of the records and files of an export. Each method can be called repeatedly and visits the same items in
/// the same order; within a kind, records are ordered by vault id.
pub trait RecordSource {
    /// Id and name of the vault, the name of this program, and the time of the export.
    fn description(&self) -> SourceDescription;
    /// Visits all records to export, grouped by kind in the order of `Kind::ALL`.
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError>;
    /// True if the export masks sensitive values. Every sensitive value that was found is then replaced with a mark.
    fn covers(&self) -> bool {
        false
    }
    /// Tombstones. The target of an imported tombstone is the id in the imported file. The target of a tombstone that
    /// this vault made is the export id.
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError>;
    /// Ids of the formats that have passthrough files in the vault.
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError>;
    /// Visits the passthrough files that were imported with `format`.
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError>;
    /// The newest numbered state of a source of `format` that has been imported: its number, and its time if known.
    /// `group` is the id of the source in lower case.
    fn reached_state(&mut self, format: &str, group: &str) -> Result<Option<(u64, Option<String>)>, FormatError> {
        let _ = (format, group);
        Ok(None)
    }
    /// Import times of the versions of the record with this export id, oldest first. Empty if they are not known.
    fn import_times(&mut self, id: &str) -> Result<Vec<Timestamp>, FormatError> {
        let _ = id;
        Ok(Vec::new())
    }
    /// Passes the bytes of the attachment with this export id to `read`. Returns false if the vault does not have them.
    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError>;
}

/// Options of a writer.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// True if everything in the vault is exported. Some manifests state this.
    pub everything: bool,
    /// Exports only records that changed since this time, as an incremental export if the format has such exports.
    pub since: Option<Timestamp>,
    /// The export on which an incremental export or a delta builds.
    pub base: Option<PathBuf>,
    /// Signs the export, if the format can be signed.
    pub signer: Option<Arc<dyn Signer>>,
    /// Verifies a signature before it is written again. If None, signatures are not verified.
    pub verifier: Option<Arc<dyn Verifier>>,
    /// Encrypts the export, if the format supports it.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// `json`, `yaml` or `jsonl`, if the format has several encodings; for MIF also `mem0`, `generic` and `markdown`.
    pub encoding: Option<String>,
    /// Version of the format, if several can be written.
    pub version: Option<String>,
    /// In a conversion to the same format, the version of the input. It is used if it can be written and `version` is
    /// None.
    pub source_version: Option<String>,
    /// Leaves out identifiers of platforms and accounts, if the format supports it.
    pub strip_identifiers: bool,
    /// Only workspace files smaller than this many bytes are embedded in an `.alf`; larger ones are only listed. None
    /// means 102,400.
    pub artifact_threshold: Option<u64>,
    /// Options of a single format, in its own type.
    pub format_options: FormatOptions,
}

/// Loss note for an attachment in a format that cannot contain files.
pub const NO_BYTES_NOTE: &str = "the file itself is not exported, only its name and text";

/// Reports the files that a format cannot contain. `ids` are the vault ids of attachments. A file whose bytes were never
/// in the vault is no loss of the export.
///
/// # Errors
/// I/O of the source.
pub fn note_files_left_out(
    source: &mut dyn RecordSource,
    ids: &[String],
    losses: &mut LossReport,
) -> Result<(), FormatError> {
    for id in ids {
        if source.attachment(id, &mut |_| Ok(()))? {
            losses.add(id, "bytes", LossKind::LeftOut, NO_BYTES_NOTE);
        }
    }
    Ok(())
}

/// Report on an export.
#[derive(Debug, Clone, Default)]
pub struct WriteReport {
    /// Version of the format that was written.
    pub version: String,
    /// Number of records written, by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// The digest that the format itself defines, such as a bundle digest. If empty, the caller uses the SHA-256 of the
    /// file.
    pub digest: String,
    /// The values that other programs cannot read in the export.
    pub losses: LossReport,
    /// Number of records that were not exported, by reason.
    pub withheld: BTreeMap<String, u64>,
}
