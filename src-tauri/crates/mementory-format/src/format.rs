//! What a format can do, and what it is handed.
use crate::{
    BaseFindings, Catalog, Claim, DeltaFile, Detected, DiscloseParts, EditArchives, FormatError, FormatOptions,
    IdentifyExports, Passphrase, SignFiles, Signed, Signer, Validation,
};
use mementory_model::{Derived, Dropped, Issue, Limits, LossReport, Record, RecordKey, Timestamp, Tombstone, Unit};
use std::{
    collections::BTreeMap,
    io::Read,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What a format declares; conformance tests, the documentation's table and the window are driven by it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Capabilities {
    /// An import with an invalid signature gives a warning and is not refused: the format's specification asks for that.
    pub warns_on_invalid_signature: bool,
    /// File name extension of exports that are encrypted as a whole: their content cannot be detected.
    pub encrypted_extension: Option<&'static str>,
    /// Reads files.
    pub read: bool,
    /// Writes files.
    pub write: bool,
    /// Checks files.
    pub validate: bool,
    /// Carries tombstones.
    pub tombstones: bool,
    /// Carries attachment bytes.
    pub attachments: bool,
    /// An untouched record is written back byte for byte.
    pub byte_exact: bool,
    /// Writes a folder rather than a file.
    pub folder: bool,
    /// What is written can carry a signature.
    pub signs: bool,
    /// What is written can be encrypted under a passphrase.
    pub encrypts: bool,
    /// Pasted text may be in it.
    pub text: bool,
    /// Writes its files that are no records back out, and carries those of other formats in envelopes.
    pub carries_passthrough: bool,
    /// A file of it is everything that an assistant has of an account, so a newer one shows what is gone there.
    pub complete_account_export: bool,
    /// The writer itself leaves out records that their source marks as not exportable, with what depends on them.
    pub withholds_not_exportable: bool,
    /// The format that this one is a delta of.
    pub base_format: Option<&'static str>,
    /// How the name of a written file or folder ends, dot included; empty if the format has no ending.
    pub ending: &'static str,
    /// What is written continues an earlier export, which has to be named; read after the export that it continues.
    pub needs_base: bool,
    /// Defined by a specification, for exchange between programs; others are what one program exports.
    pub interchange: bool,
    /// Offered first, as the formats that hold the most.
    pub recommended: bool,
}

/// One format. Implementations are unit structs; all state is in the arguments.
pub trait Format: Sync {
    /// Id as in cli.md.
    fn id(&self) -> &'static str;
    /// Name for people.
    fn name(&self) -> &'static str;
    /// What it can do.
    fn capabilities(&self) -> Capabilities;
    /// Media type of a file of this format when it is sent to a server.
    fn media_type(&self) -> &'static str {
        "application/json"
    }
    /// False if no file of this format carries deletions.
    fn may_carry_deletions(&self) -> bool {
        true
    }
    /// Signing of finished files, for formats that have it.
    fn file_signing(&self) -> Option<&dyn SignFiles> {
        None
    }
    /// Disclosure of a part of a file, for formats that have it.
    fn disclosure(&self) -> Option<&dyn DiscloseParts> {
        None
    }
    /// Ids of exports, for formats that have them.
    fn export_identities(&self) -> Option<&dyn IdentifyExports> {
        None
    }
    /// Changes of archives without a vault, for formats that have archives.
    fn archive_editing(&self) -> Option<&dyn EditArchives> {
        None
    }
    /// Checks whether a delta builds on this base. None: the file is not a delta.
    fn check_base(&self, delta: &DeltaFile<'_>, base: &Path) -> Result<Option<BaseFindings>, FormatError> {
        let _ = (delta, base);
        Ok(None)
    }
    /// Which members of the catalog are this format's? By content. Cheap: reads heads, small side files.
    fn detect(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError>;
    /// The same when the person named this format: plausible text that shows no mark of its own may be claimed too.
    fn detect_asked(&self, catalog: &Catalog, limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        self.detect(catalog, limits)
    }
    /// Reads everything that was detected into the sink. One bad record is dropped with its place, and reading goes on.
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError>;
    /// Writes all records of `source` to `out`, which does not exist yet (a file, or a folder when
    /// `capabilities().folder`). Not atomic: the caller hands in a partial name, validates, and renames.
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        let _ = (source, options);
        Err(FormatError::invalid("not_supported", out.display().to_string(), "this format cannot be written"))
    }
    /// What [`Format::write`] would hold and lose, without writing anything.
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        let _ = options;
        let mut report = WriteReport::default();
        source.records(&mut |stored| {
            *report.by_kind.entry(stored.record.kind.as_str().to_owned()).or_default() += 1;
            Ok(())
        })?;
        Ok(report)
    }
    /// The whole as a text to paste somewhere, and what it does not say; for formats that are such a text.
    fn text(&self, source: &mut dyn RecordSource) -> Result<(String, WriteReport), FormatError> {
        let _ = source;
        Err(FormatError::invalid("not_supported", self.id(), "this format is no text to paste"))
    }
    /// Kind and id of a record in the files of this format that it came from; None if it came from another format.
    fn tombstone_target(&self, record: &Record) -> Option<(String, String)> {
        let _ = record;
        None
    }
    /// Adds an erased record to the ids that a tombstone lists as deleted with its target: by its id in files of this
    /// format, or by `vault_id` if it came from another.
    fn add_derived(&self, derived: &mut Derived, record: &Record, vault_id: &str) {
        let _ = (derived, record, vault_id);
    }
    /// Every signature in a file with the bytes that it is over: the file's own first, then those of its tombstones.
    /// Formats have no key library: the caller judges.
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
    /// Checks a file or folder by the specification and reports everything found, signatures apart
    /// ([`Format::signatures`]). With `trust` a file that is not signed is an error.
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
    /// The same, with a passphrase for content that the format itself encrypts.
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

/// What a reader is handed besides the bytes.
#[derive(Debug, Clone)]
pub struct ReadContext {
    /// Bounds.
    pub limits: Limits,
    /// The clock, for formats whose spec says "now" for a missing time. Never used for ids.
    pub now: Timestamp,
    /// Opens encrypted input.
    pub passphrase: Option<Arc<dyn Passphrase>>,
}

/// A file that came with an export.
#[derive(Debug, Clone)]
pub struct AttachmentFile {
    /// Same key as in the [`mementory_model::AttachmentRef`]s that name it.
    pub key: RecordKey,
    /// The source's own id.
    pub origin_id: Option<String>,
    /// Original name.
    pub name: String,
    /// By magic bytes or name.
    pub media_type: Option<String>,
    /// Where it lies in the input.
    pub place: String,
}

/// A part of a source that is not a record: side files, `raw/`, unknown entries, manifest extras.
#[derive(Debug, Clone)]
pub struct PassthroughItem {
    /// Format id.
    pub format: String,
    /// Id of the unit it belongs to when it goes back out (agent id, bundle digest, account …).
    pub group: String,
    /// Name inside the source, `/`-separated.
    pub name: String,
    /// `sidecar`, `raw`, `entry`, `layer`, `manifest`, `artifact` …
    pub role: String,
    /// Where it lies in the input.
    pub place: String,
}

/// Where a reader puts what it finds. Any error means stop and hand the error up.
pub trait Sink {
    /// A conversation with its messages, or one record.
    fn unit(&mut self, unit: Unit) -> Result<(), FormatError>;
    /// Bytes of an attachment.
    fn attachment(&mut self, file: AttachmentFile, bytes: &mut dyn Read) -> Result<(), FormatError>;
    /// A part that is not a record.
    fn passthrough(&mut self, item: PassthroughItem, bytes: &mut dyn Read) -> Result<(), FormatError>;
    /// A deletion to apply. Sent before any record.
    fn tombstone(&mut self, tombstone: Tombstone) -> Result<(), FormatError>;
    /// Worth knowing; costs no record.
    fn note(&mut self, issue: Issue);
    /// Found and not taken in.
    fn dropped(&mut self, dropped: Dropped);
    /// Source bytes dealt with so far (compressed or not, whichever `Detected::total_bytes` counts). Also the place
    /// where cancellation is noticed.
    fn progress(&mut self, bytes: u64) -> Result<(), FormatError>;
}

/// A record as the vault hands it to a writer.
#[derive(Debug, Clone)]
pub struct StoredRecord {
    /// The vault's record id, 32 lowercase hex digits.
    pub id: String,
    /// True when text, title, tags, type or status differ from what the verbatim says (edited or redacted since).
    pub edited: bool,
    /// Vault ids of the targets of `record.links`, in the same order; None = not in the vault.
    pub link_ids: Vec<Option<String>>,
    /// Vault id of `record.parent` and of the message's parent.
    pub parent_id: Option<String>,
    /// Vault id of the parent message.
    pub message_parent_id: Option<String>,
    /// Vault ids of the attachments, in the order of `record.attachments`.
    pub attachment_ids: Vec<String>,
    /// Marks that stand for values in `record.text`, in order: those covered on the way out, and those that the person
    /// redacted.
    pub redactions: Vec<Redaction>,
    /// The record, verbatim included.
    pub record: Record,
}

/// How a mark begins; its class and `]` follow.
pub const REDACTED: &str = "[REDACTED:";

/// A mark (`[REDACTED:class]`) that stands for a value in a record's text. The value itself is nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// What the value was, as the mark says.
    pub class: String,
    /// Where the mark stands in the text, in bytes.
    pub mark: Range<usize>,
    /// Where the value stands in the text that the vault has, in bytes. None: the vault has not got it any more, nor
    /// knows how long it was.
    pub value: Option<Range<usize>>,
}

/// Facts about the vault that some formats want.
#[derive(Debug, Clone)]
pub struct SourceAbout {
    /// Vault id (UUID text).
    pub vault_id: String,
    /// Name of the vault.
    pub name: String,
    /// Version of Mementory.
    pub generator: String,
    /// Time of the export; the only clock a writer has.
    pub now: Timestamp,
}

/// What a writer may ask for. Visits can be repeated; order is the same each time (by vault id within a kind).
pub trait RecordSource {
    /// About the vault.
    fn about(&self) -> SourceAbout;
    /// All records in scope, one kind after the other in the order of `Kind::ALL`.
    fn records(&mut self, visit: &mut dyn FnMut(StoredRecord) -> Result<(), FormatError>) -> Result<(), FormatError>;
    /// True when sensitive values are looked for and covered on the way out: no mark then means that none was found.
    fn covers(&self) -> bool {
        false
    }
    /// Tombstones, in the target's id space where they came from it; own ones by vault id.
    fn tombstones(&mut self) -> Result<Vec<Tombstone>, FormatError>;
    /// Ids of the formats of which there are passthrough files.
    fn passthrough_formats(&mut self) -> Result<Vec<String>, FormatError>;
    /// Passthrough parts that came in as `format`.
    fn passthrough(
        &mut self,
        format: &str,
        visit: &mut dyn FnMut(&PassthroughItem, &mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<(), FormatError>;
    /// When each version of a record was taken in, oldest first; empty where nobody remembers.
    fn taken_in(&mut self, id: &str) -> Result<Vec<Timestamp>, FormatError> {
        let _ = id;
        Ok(Vec::new())
    }
    /// Bytes of an attachment by its vault id; None = not in the vault.
    fn attachment(
        &mut self,
        id: &str,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), FormatError>,
    ) -> Result<bool, FormatError>;
}

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// True when the export is of everything in the vault (scope matters to some manifests).
    pub everything: bool,
    /// Only what changed since then; makes an incremental export where the format knows one.
    pub since: Option<Timestamp>,
    /// The export that an incremental one or a delta builds on.
    pub base: Option<PathBuf>,
    /// Signs what is written, where the format has a place for it.
    pub signer: Option<Arc<dyn Signer>>,
    /// Encrypts what is written, where the format has a way to.
    pub passphrase: Option<Arc<dyn Passphrase>>,
    /// `json`, `yaml` or `jsonl`, where the format has several; of MIF also `mem0`, `generic` and `markdown`.
    pub encoding: Option<String>,
    /// Version of the format, where several are written.
    pub version: Option<String>,
    /// Leaves identifiers of platforms and accounts out, where the format knows how.
    pub strip_identifiers: bool,
    /// Files of a workspace below this many bytes travel inside an `.alf`, others are only named; None = 102,400.
    pub artifact_threshold: Option<u64>,
    /// Options that only the format itself knows, in its own type.
    pub format_options: FormatOptions,
}

/// What is said of a file in a format that holds none.
pub const NO_BYTES: &str = "the file itself stays behind; its name and text go along";

/// What was written.
#[derive(Debug, Clone, Default)]
pub struct WriteReport {
    /// Format version written.
    pub version: String,
    /// Records written, by model kind.
    pub by_kind: BTreeMap<String, u64>,
    /// The format's own digest (bundle digest), or empty: the caller then takes SHA-256 of the file.
    pub digest: String,
    /// What another program would not see.
    pub losses: LossReport,
    /// Records that stayed behind, by reason.
    pub withheld: BTreeMap<String, u64>,
}
