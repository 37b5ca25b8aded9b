//! What a check of a store found, and the ids that its records and references have to agree on.
use super::{check::Fault, document::Document};
use mementory_format::Finding;
use mementory_json::{Tree, TreeError};
use mementory_model::Bounds;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Findings beyond this are counted only: a hostile file may have a fault per byte.
const LISTED: usize = 2000;

/// What was found.
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
    /// Where something around the records is too large to be held.
    pub too_large: Option<String>,
    pub more: (u64, u64),
    pub minor: u64,
}

/// What the checksum says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Integrity {
    /// No checksum.
    #[default]
    None,
    /// Fits the memories as they are in the file.
    Fits,
    /// Fits them in the form of the Python SDK only.
    FitsSdk,
    /// Does not fit.
    Broken,
}

impl Report {
    pub fn error(&mut self, code: &str, place: &str, message: impl Into<String>) {
        if self.errors.len() < LISTED {
            self.errors.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        } else {
            self.more.0 += 1;
        }
    }

    pub fn warn(&mut self, code: &str, place: &str, message: impl Into<String>) {
        if self.warnings.len() < LISTED {
            self.warnings.push(Finding { code: code.into(), place: place.into(), message: message.into() });
        } else {
            self.more.1 += 1;
        }
    }

    /// A structural fault. What a later minor version added is not known here, and no error (§22.3).
    fn fault(&mut self, place: &str, fault: Fault) {
        let place = format!("{place}{}", fault.pointer);
        if fault.mild || fault.code == "duplicate_key" || (fault.code == "unknown_field" && self.minor > 0) {
            self.warn(fault.code, &place, fault.message);
        } else {
            self.error(fault.code, &place, fault.message);
        }
    }

    /// A reference to what is not in the file; in a delta it may be in the base (§16).
    pub fn dangling(&mut self, place: &str, message: &str) {
        if self.kind.as_deref() == Some("incremental") {
            self.warn("dangling_reference", place, format!("{message}; the base may have it"));
        } else {
            self.error("dangling_reference", place, message);
        }
    }

    /// A value that cannot be taken apart.
    pub fn unheld(&mut self, place: &str, why: &TreeError) {
        match why {
            TreeError::Size(_) => self.error("too_large", place, why.to_string()),
            _ => self.error("too_deep", place, "nested too deep, or a text that is no Unicode"),
        }
    }

    /// A record taken apart. What else is wrong with one that cannot be is told where it is read.
    pub fn held(&mut self, raw: &RawValue, place: &str, bounds: Bounds) -> Option<Tree> {
        match Tree::of(raw, bounds) {
            Ok(tree) => Some(tree),
            Err(why) => {
                if matches!(why, TreeError::Size(_)) {
                    self.unheld(place, &why);
                }
                None
            }
        }
    }

    /// A document without its records. What is around them has to be held as a whole.
    pub fn outline_of(&mut self, doc: &Document, place: &str, lists: &[&str], bounds: Bounds) -> Tree {
        for (key, why) in doc.unheld(lists, bounds) {
            if matches!(why, TreeError::Size(_)) {
                let at = format!("{place}/{key}");
                self.unheld(&at, &why);
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
    /// Place, memory, conversation.
    pub conversation_refs: Vec<(String, String, String)>,
    pub superseded: Vec<(String, String)>,
    pub embedding_refs: Vec<(String, String)>,
    /// Ids of embeddings that are there.
    pub embedding_ids: HashSet<String>,
    /// Memory, embedding.
    pub embeddings: BTreeMap<String, String>,
    /// Id of a conversation → what the index says: platform, title, message count, place.
    pub index: HashMap<String, Said>,
}

/// A conversation as the index of the store describes it.
pub(super) struct Said {
    pub platform: Option<String>,
    pub title: Option<Tree>,
    pub count: Option<f64>,
    pub place: String,
}

pub(super) fn word<'t>(tree: &'t Tree, block: &str, name: &str) -> Option<&'t str> {
    tree.get(block)?.get(name)?.as_str()
}
