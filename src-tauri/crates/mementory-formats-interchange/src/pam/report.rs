//! What a check of a store found, and the ids that its records and references have to agree on.
use super::{document::Document, schema_check::Fault};
use mementory_format::Finding;
use mementory_json::{Tree, TreeError};
use mementory_model::Bounds;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Findings beyond this are only counted: a hostile file may have a fault per byte.
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
    /// Place of a member outside the records that is too large to read.
    pub too_large: Option<String>,
    pub not_listed: (u64, u64),
    pub minor: u64,
}

/// Whether the checksum fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Integrity {
    /// No checksum.
    #[default]
    None,
    /// It fits the memories as they are in the file.
    Fits,
    /// It only fits the form in which the Python SDK hashes them.
    FitsSdk,
    /// It does not fit.
    Broken,
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

    /// Adds a structural fault. Unknown members of a later minor version are no error (§22.3).
    fn fault(&mut self, place: &str, fault: Fault) {
        let place = format!("{place}{}", fault.pointer);
        if fault.mild || fault.code == "duplicate_key" || (fault.code == "unknown_field" && self.minor > 0) {
            self.warn(fault.code, &place, fault.message);
        } else {
            self.error(fault.code, &place, fault.message);
        }
    }

    /// Adds a reference to a record that is not in the file. For an increment it may be in the base (§16).
    pub fn dangling(&mut self, place: &str, message: &str) {
        if self.kind.as_deref() == Some("incremental") {
            self.warn("dangling_reference", place, format!("{message}; the base may have it"));
        } else {
            self.error("dangling_reference", place, message);
        }
    }

    /// Adds a value that is too large or nested too deep.
    pub fn unreadable(&mut self, place: &str, why: &TreeError) {
        match why {
            TreeError::Size(_) => self.error("too_large", place, why.to_string()),
            _ => self.error("too_deep", place, "nested too deep, or a text that is no Unicode"),
        }
    }

    /// Parses a record, and reports one that is too large. The reader reports other faults of a record that does not parse.
    pub fn parse(&mut self, raw: &RawValue, place: &str, bounds: Bounds) -> Option<Tree> {
        match Tree::of(raw, bounds) {
            Ok(tree) => Some(tree),
            Err(why) => {
                if matches!(why, TreeError::Size(_)) {
                    self.unreadable(place, &why);
                }
                None
            }
        }
    }

    /// A document without its records. Everything else has to fit into memory, else [`Self::too_large`] is set.
    pub fn outline_of(&mut self, doc: &Document, place: &str, lists: &[&str], bounds: Bounds) -> Tree {
        for (key, why) in doc.oversized_members(lists, bounds) {
            if matches!(why, TreeError::Size(_)) {
                let at = format!("{place}/{key}");
                self.unreadable(&at, &why);
                self.too_large.get_or_insert(at);
            }
        }
        doc.outline(lists, bounds)
    }

    pub fn faults(&mut self, place: &str, faults: Vec<Fault>) {
        faults.into_iter().for_each(|fault| self.fault(place, fault));
    }
}

/// Ids of a store's records and what they refer to.
#[derive(Default)]
pub(super) struct Ids {
    pub memories: HashSet<String>,
    pub conversations: HashMap<String, HashSet<String>>,
    pub relations: HashSet<String>,
    /// Place, memory id, conversation id.
    pub conversation_refs: Vec<(String, String, String)>,
    pub superseded: Vec<(String, String)>,
    pub embedding_refs: Vec<(String, String)>,
    /// Ids of embeddings in the file.
    pub embedding_ids: HashSet<String>,
    /// Embedding id by memory id.
    pub embeddings: BTreeMap<String, String>,
    /// Entries of the index by conversation id.
    pub index: HashMap<String, IndexEntry>,
}

/// A conversation as the index of the store describes it.
pub(super) struct IndexEntry {
    pub platform: Option<String>,
    pub title: Option<Tree>,
    pub count: Option<f64>,
    pub place: String,
}

pub(super) fn word<'t>(tree: &'t Tree, block: &str, name: &str) -> Option<&'t str> {
    tree.get(block)?.get(name)?.as_str()
}
