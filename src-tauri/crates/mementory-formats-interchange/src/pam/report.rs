//! The result of checking a store, and the ids and references of its records for cross-checks.
use super::{document::Document, schema_check::Fault};
use mementory_format::{Finding, FormatError, Member};
use mementory_json::{Tree, TreeError};
use mementory_model::{Bounds, is_damage};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Largest number of listed errors, and of listed warnings. Further findings are only counted, because a hostile file
/// may cause one for each byte.
const MAX_FINDINGS: usize = 2000;

/// Result of a check.
#[derive(Default)]
pub(super) struct Report {
    pub version: Option<String>,
    pub kind: Option<String>,
    pub records: u64,
    /// The store without its records.
    pub outline: Option<Tree>,
    pub errors: Vec<Finding>,
    pub warnings: Vec<Finding>,
    pub integrity: Integrity,
    /// Checksum of the memories as they are in the file. None if a memory cannot be read or has no canonical form.
    pub memories_checksum: Option<String>,
    /// Place of a member outside the records that is too large to read.
    pub too_large: Option<String>,
    /// Catalog ids of companion files (conversations, embeddings) that cannot be read.
    pub unreadable: HashSet<usize>,
    /// The error of the first damaged companion file.
    pub refusal: Option<FormatError>,
    /// The error for the first name that differs from another only by case or Unicode normalisation. No salvage ignores
    /// it.
    pub similar_names: Option<FormatError>,
    /// Catalog ids of companion files with an unsupported version. An import leaves them out.
    pub other_versions: HashSet<usize>,
    /// The error of the first file with an unsupported version.
    pub version_error: Option<FormatError>,
    pub not_listed: (u64, u64),
    pub minor: u64,
}

/// Result of verifying the stated checksum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Integrity {
    /// There is no checksum.
    #[default]
    None,
    /// The checksum matches the memories as in the file.
    Matches,
    /// The checksum matches only the normalized memories that the Python SDK hashes.
    MatchesSdkForm,
    /// The checksum is wrong.
    Mismatch,
}

impl Report {
    pub fn error(&mut self, code: &str, place: &str, message: impl Into<String>) {
        if self.errors.len() < MAX_FINDINGS {
            self.errors.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        } else {
            self.not_listed.0 += 1;
        }
    }

    pub fn warn(&mut self, code: &str, place: &str, message: impl Into<String>) {
        if self.warnings.len() < MAX_FINDINGS {
            self.warnings.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        } else {
            self.not_listed.1 += 1;
        }
    }

    /// Adds a structural fault. In a document of a later minor version, members and words that this version may have
    /// added are only warnings (§22.3).
    fn add_fault(&mut self, place: &str, fault: Fault) {
        let place = format!("{place}{}", fault.pointer);
        if fault.may_be_newer && self.minor > 0 {
            let code = if fault.code == "unknown_field" { fault.code } else { "unknown_value" };
            self.warn(code, &place, fault.message);
        } else if fault.is_warning {
            self.warn(fault.code, &place, fault.message);
        } else {
            self.error(fault.code, &place, fault.message);
        }
    }

    /// Reports a reference to a record that is not in the file. In an incremental export, this is only a warning,
    /// because the record may be in the base (§16).
    pub fn report_dangling(&mut self, place: &str, message: &str) {
        if self.kind.as_deref() == Some("incremental") {
            self.warn("dangling_reference", place, format!("{message}; the base may have it"));
        } else {
            self.error("dangling_reference", place, message);
        }
    }

    /// Reports a value that cannot be parsed. The grammar was already checked, so a syntax error means text that is not
    /// valid Unicode.
    pub fn report_unreadable(&mut self, place: &str, why: &TreeError) {
        match why {
            TreeError::Size(_) => self.error("too_large", place, why.to_string()),
            TreeError::Depth(_) => self.error("too_deep", place, why.to_string()),
            TreeError::Syntax(_) => self.error("lone_surrogate", place, "not valid Unicode: half of a surrogate pair"),
        }
    }

    /// Reports a companion file that is damaged, not a JSON document, or of an unsupported version. Returns any other
    /// error.
    pub fn report_unreadable_file(&mut self, member: &Member, error: FormatError) -> Result<(), FormatError> {
        let (code, message) = match &error {
            FormatError::Version { .. } | FormatError::Invalid { code: "version_malformed", .. } => {
                match &error {
                    FormatError::Invalid { code, place, message } => self.error(code, place, message.clone()),
                    _ => self.error("unsupported_version", &member.place, "of another major version: 1.x is supported"),
                }
                self.unreadable.insert(member.id);
                self.other_versions.insert(member.id);
                self.version_error.get_or_insert(error);
                return Ok(());
            }
            FormatError::Io { source, .. } if is_damage(source) => ("damaged_entry", source.to_string()),
            FormatError::Invalid { code: "malformed", message, .. } => ("malformed", message.clone()),
            _ => return Err(error),
        };
        self.error(code, &member.place, message);
        self.unreadable.insert(member.id);
        self.refusal.get_or_insert(error);
        Ok(())
    }

    /// Parses a record, and reports it if it cannot be parsed.
    pub fn parse(&mut self, raw: &RawValue, place: &str, bounds: Bounds) -> Option<Tree> {
        match Tree::from_raw(raw, bounds) {
            Ok(tree) => Some(tree),
            Err(why) => {
                self.report_unreadable(place, &why);
                None
            }
        }
    }

    /// A document without its records. A member that cannot be parsed becomes null and is reported. If a member is too
    /// large, [`Self::too_large`] is set.
    pub fn outline_of(&mut self, doc: &Document, place: &str, lists: &[&str], bounds: Bounds) -> Tree {
        for (key, why) in doc.unreadable_members(lists, bounds) {
            let at = format!("{place}/{key}");
            self.report_unreadable(&at, &why);
            if matches!(why, TreeError::Size(_)) {
                self.too_large.get_or_insert(at);
            }
        }
        doc.outline(lists, bounds)
    }

    pub fn add_faults(&mut self, place: &str, faults: Vec<Fault>) {
        faults.into_iter().for_each(|fault| self.add_fault(place, fault));
    }
}

/// Ids of a store's records, and their references.
#[derive(Default)]
pub(super) struct Ids {
    pub memories: HashSet<String>,
    pub conversations: HashMap<String, HashSet<String>>,
    pub relations: HashSet<String>,
    /// Place, memory id and conversation id of each reference.
    pub conversation_refs: Vec<(String, String, String)>,
    pub superseded: Vec<(String, String)>,
    /// Place, memory id and embedding id of each reference.
    pub embedding_refs: Vec<(String, String, String)>,
    /// Place, path and conversation id of each reference to a file of the bundle.
    pub files: Vec<(String, String, String)>,
    /// Ids of the conversations in the files.
    pub conversations_in_files: HashSet<String>,
    /// Id of the conversation in each file, by the catalog id of the file.
    pub conversation_by_file: HashMap<usize, String>,
    /// Ids of embeddings in the file.
    pub embedding_ids: HashSet<String>,
    /// True if an embedding of the file cannot be parsed, so that its id is unknown.
    pub has_unreadable_embeddings: bool,
    /// Id of the embedding of each memory, by memory id.
    pub embeddings: BTreeMap<String, String>,
    /// Index entries by conversation id.
    pub index: HashMap<String, IndexEntry>,
}

/// The description of a conversation in the index of the store.
pub(super) struct IndexEntry {
    pub platform: Option<String>,
    pub title: Option<Tree>,
    pub count: Option<f64>,
    pub place: String,
}

pub(super) fn nested_text<'t>(tree: &'t Tree, block: &str, name: &str) -> Option<&'t str> {
    tree.get(block)?.get(name)?.as_str()
}
