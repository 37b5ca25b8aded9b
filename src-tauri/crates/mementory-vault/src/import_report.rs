//! The report of an import. Its counts always add up: found = added + updated + unchanged + blocked + skipped + failed.
use mementory_formats::{Catalog, Detection};
use mementory_model::{DroppedAs, Kind, Record, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of listed items of each outcome. Further items are only counted, except the first items of each kind
/// (see `ALWAYS_LISTED_PER_KIND`).
pub(crate) const MAX_LISTED_ITEMS: u32 = 5_000;
/// Number of items of each kind and outcome that are always listed, so that many messages do not hide the memories of
/// an export.
const ALWAYS_LISTED_PER_KIND: u32 = 500;
/// Maximum number of characters in the preview of an item.
const MAX_PREVIEW_CHARS: usize = 160;

/// Outcome of one found item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum ItemOutcome {
    /// The record is new.
    Added,
    /// The record was known and got a new version.
    Updated,
    /// The record is the same as in the vault.
    Unchanged,
    /// The record is blocked by a tombstone, or because its words were deleted.
    Blocked,
    /// The item was left out on purpose.
    Skipped,
    /// The item could not be read.
    Failed,
}

/// Numbers of items of one kind, by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the report's words")]
pub struct KindCounts {
    pub found: u32,
    pub added: u32,
    pub updated: u32,
    pub unchanged: u32,
    pub blocked: u32,
    pub skipped: u32,
    pub failed: u32,
}

impl KindCounts {
    fn counter_of(&mut self, outcome: ItemOutcome) -> &mut u32 {
        match outcome {
            ItemOutcome::Added => &mut self.added,
            ItemOutcome::Updated => &mut self.updated,
            ItemOutcome::Unchanged => &mut self.unchanged,
            ItemOutcome::Blocked => &mut self.blocked,
            ItemOutcome::Skipped => &mut self.skipped,
            ItemOutcome::Failed => &mut self.failed,
        }
    }

    /// Counts one item. Returns the new number of items with this outcome.
    fn add(&mut self, outcome: ItemOutcome) -> u32 {
        self.found += 1;
        let n = self.counter_of(outcome);
        *n += 1;
        *n
    }
}

/// Numbers of distinct items in this input, including those that the vault already had.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the report's words")]
pub struct ImportCounts {
    pub conversations: u32,
    pub messages: u32,
    pub memories: u32,
    pub attachments_referenced: u32,
    pub attachments_present: u32,
    /// Files that the input refers to but does not contain. Reports of earlier program versions do not have this
    /// number.
    #[serde(default)]
    pub attachments_missing: Option<u32>,
    pub tombstones_applied: u32,
}

/// An item whose outcome is not `Added`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the report's words")]
pub struct Item {
    /// The kind, as a key of `by_kind`. Items in reports of earlier program versions have no kind.
    #[serde(default)]
    pub kind: Option<String>,
    pub place: String,
    pub outcome: ItemOutcome,
    pub reason: String,
}

/// A record that would be new, found by a dry run. Not stored, because it contains the beginning of the record's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PlannedRecord {
    pub kind: String,
    pub place: String,
    pub text: String,
}

/// A part of the input that is missing or damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    /// Place of the part in the input.
    pub place: String,
    /// Stable code, then `: ` and details.
    pub reason: String,
}

/// A numbered state of a source that the vault has reached with an import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachedState {
    /// Id of the format of the whole source.
    pub format: String,
    /// Id of the agent that has this state.
    pub group: String,
    /// Number of the state.
    pub sequence: u64,
    /// When the source had this state, as stated in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// An export that states when it was made (PAM §16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatedExport {
    /// Keyed digest of the key scope of the export's records. The scope itself is not stored, because it may contain a
    /// name that is erased later.
    pub group: [u8; 16],
    /// The time that the export states, or the time of the import if the stated time is later.
    pub time: Timestamp,
    /// The rows whose current content in the vault comes from this export, as encoded ranges in hexadecimal.
    #[serde(default)]
    pub rows: String,
}

/// One recognised source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the report's words")]
pub struct DetectedSource {
    pub format: String,
    pub version: Option<String>,
    pub reason: String,
    pub confidence: f64,
    pub places: Vec<String>,
}

/// The report of an import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the report's words")]
pub struct ImportReport {
    pub batch: String,
    pub format: Option<String>,
    pub version: Option<String>,
    pub dry_run: bool,
    pub by_kind: BTreeMap<String, KindCounts>,
    pub counts: ImportCounts,
    pub missing_parts: Vec<String>,
    /// Warnings by code and container. The key is `code container`. The value contains the place of the first warning,
    /// its message, and the number of such warnings.
    pub warnings: BTreeMap<String, (String, String, u32)>,
    pub items: Vec<Item>,
    /// In a dry run: the records that would be new. Not stored with the batch.
    #[serde(skip)]
    pub coming: Vec<PlannedRecord>,
    /// In a dry run: names of files that the input refers to but does not contain. Not stored with the batch, since the
    /// vault lists them.
    #[serde(skip)]
    pub missing_files: Vec<String>,
    pub sources: Vec<DetectedSource>,
    /// The missing or damaged parts of the input, if the person chose to import the remainder.
    #[serde(default)]
    pub missing: Vec<MissingPart>,
    /// The numbered states that the import led to.
    #[serde(default)]
    pub states: Vec<ReachedState>,
    /// The dated exports that the import contained.
    #[serde(default)]
    pub exports: Vec<DatedExport>,
    /// By kind, the number of records that are in earlier exports of the account but not in this import, which is the
    /// newest export. Not stored with the batch.
    #[serde(skip)]
    pub gone: BTreeMap<String, u32>,
}

fn sum_over_kinds(by_kind: &BTreeMap<String, KindCounts>) -> KindCounts {
    by_kind.values().fold(KindCounts::default(), |mut sum, k| {
        sum.found += k.found;
        sum.added += k.added;
        sum.updated += k.updated;
        sum.unchanged += k.unchanged;
        sum.blocked += k.blocked;
        sum.skipped += k.skipped;
        sum.failed += k.failed;
        sum
    })
}

/// Returns a preview of a record in one line: its title, or else the beginning of its text.
fn preview_text(record: &Record) -> String {
    let words = record.title.as_deref().into_iter().chain([record.text.as_str()]).find(|text| !text.trim().is_empty());
    let head: String = words.unwrap_or_default().trim_start().chars().take(MAX_PREVIEW_CHARS).collect();
    head.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the sum over all kinds in a stored report. Does not parse the items of the report.
pub(crate) fn stored_total(report: &str) -> KindCounts {
    #[derive(Deserialize)]
    struct StoredReport {
        by_kind: BTreeMap<String, KindCounts>,
    }
    serde_json::from_str::<StoredReport>(report).map(|stored| sum_over_kinds(&stored.by_kind)).unwrap_or_default()
}

impl ImportReport {
    /// Adds the recognised, ambiguous and unknown files of the input to the report.
    pub(crate) fn start(&mut self, catalog: &Catalog, detection: &Detection) {
        let mut formats: Vec<&str> = detection.sources.iter().map(|s| s.format).collect();
        formats.dedup();
        if let [one] = formats.as_slice() {
            self.format = Some((*one).to_owned());
            self.version = detection.sources.first().and_then(|s| s.claim.version.clone());
        }
        for source in &detection.sources {
            self.missing_parts.extend(source.claim.missing_parts.iter().cloned());
            let places =
                source.claim.parts.iter().filter_map(|p| catalog.members().get(p.member)).map(|m| m.place.clone());
            self.sources.push(DetectedSource {
                format: source.format.into(),
                version: source.claim.version.clone(),
                reason: source.claim.reason.clone(),
                confidence: source.claim.confidence,
                places: places.take(200).collect(),
            });
        }
        for issue in catalog.issues() {
            self.warn(&issue.code, &issue.place, &issue.message);
        }
        for dropped in catalog.dropped() {
            self.note(dropped.kind, &dropped.place, dropped_outcome(dropped.outcome), &dropped.reason);
        }
        for (member, candidates) in &detection.ties {
            let names: Vec<&str> = candidates.iter().map(|c| c.format).collect();
            if let Some(m) = catalog.members().get(*member) {
                self.note(None, &m.place, ItemOutcome::Skipped, &format!("could_be: {}", names.join(" or ")));
            }
        }
        for member in detection.unknown.iter().filter_map(|m| catalog.members().get(*m)) {
            self.note(None, &member.place, ItemOutcome::Skipped, "not_recognised");
        }
    }

    /// Counts one item, and lists it unless its outcome is `Added`.
    pub(crate) fn note(&mut self, kind: Option<Kind>, place: &str, outcome: ItemOutcome, reason: &str) {
        let name = kind.map_or("other", Kind::as_str);
        if self.count(name, outcome) && outcome != ItemOutcome::Added {
            let kind = Some(name.to_owned());
            self.items.push(Item { kind, place: place.to_owned(), outcome, reason: reason.to_owned() });
        }
    }

    /// Counts a new record. A dry run also lists the record, since it is not in the vault yet.
    pub(crate) fn note_new(&mut self, record: &Record, place: impl FnOnce() -> String) {
        let name = record.kind.as_str();
        if self.count(name, ItemOutcome::Added) && self.dry_run {
            self.coming.push(PlannedRecord { kind: name.to_owned(), place: place(), text: preview_text(record) });
        }
    }

    /// Counts one item. Returns true if it is to be listed.
    fn count(&mut self, name: &str, outcome: ItemOutcome) -> bool {
        let items_of_kind = match self.by_kind.get_mut(name) {
            Some(counts) => counts.add(outcome),
            None => self.by_kind.entry(name.to_owned()).or_default().add(outcome),
        };
        items_of_kind <= ALWAYS_LISTED_PER_KIND || *self.total().counter_of(outcome) <= MAX_LISTED_ITEMS
    }

    /// Adds a warning. If the report has a warning with the same code and container, only increases its number.
    pub(crate) fn warn(&mut self, code: &str, place: &str, message: &str) {
        // All warnings with one code and container share an entry. The entry has only the first place, since the
        // pointers differ.
        let container = place.split('#').next().unwrap_or(place);
        let entry =
            self.warnings.entry(format!("{code} {container}")).or_insert_with(|| (place.into(), message.into(), 0));
        entry.2 += 1;
    }

    /// Adds a warning unless the report has a warning with the same code and container.
    pub(crate) fn warn_once(&mut self, code: &str, place: &str, message: &str) {
        let container = place.split('#').next().unwrap_or(place);
        if !self.warnings.contains_key(&format!("{code} {container}")) {
            self.warn(code, place, message);
        }
    }

    /// Returns the counts summed over all kinds.
    pub fn total(&self) -> KindCounts {
        sum_over_kinds(&self.by_kind)
    }

    /// Returns the number of items that are not listed because there were too many items.
    pub fn unlisted_items(&self) -> u32 {
        let all = self.total();
        (all.found - all.added).saturating_sub(u32::try_from(self.items.len()).unwrap_or(u32::MAX))
    }
}

/// Returns the outcome to report for an item that a reader or the catalog dropped.
pub(crate) fn dropped_outcome(outcome: DroppedAs) -> ItemOutcome {
    match outcome {
        DroppedAs::Skipped => ItemOutcome::Skipped,
        DroppedAs::Failed => ItemOutcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use mementory_model::RecordKey;

    #[test]
    fn items_of_a_rare_kind_are_listed_even_if_another_kind_has_many() {
        let mut report = ImportReport::default();
        for (kind, n) in [(Kind::Message, 6_000), (Kind::Memory, 700), (Kind::Conversation, 3)] {
            (0..n).for_each(|n| report.note(Some(kind), &format!("{n}"), ItemOutcome::Unchanged, "same"));
        }
        let count_listed = |kind: &str| report.items.iter().filter(|item| item.kind.as_deref() == Some(kind)).count();
        assert_eq!(["message", "memory", "conversation"].map(count_listed), [5_000, 500, 3]);
        assert_eq!(report.unlisted_items(), 1_200);
    }

    #[test]
    fn new_records_are_listed_while_planning_and_not_stored() {
        let mut record = Record::new(Kind::Memory, RecordKey::new("a", "b"), "");
        record.text = "\n Likes  tea\nwith milk.".into();
        let mut plan = ImportReport { dry_run: true, ..ImportReport::default() };
        let mut imported = ImportReport::default();
        for report in [&mut plan, &mut imported] {
            report.note_new(&record, || "notes.json#/0".into());
        }
        assert_eq!(plan.coming.iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), ["Likes tea with milk."]);
        assert!(imported.coming.is_empty() && !serde_json::to_string(&plan).unwrap().contains("milk"));
        assert_eq!((plan.total().added, plan.unlisted_items(), plan.items.len()), (1, 0, 0));
    }
}
