//! The receipt: the result of the check for each place.
use mementory_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Result of the check of one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlaceOutcome {
    /// The erased data was there and is gone.
    Erased,
    /// The words were replaced.
    Redacted,
    /// The erased data was never there.
    NotPresent,
    /// The check could not show that the erased data is gone.
    Failed,
}

/// A place that was checked, as the receipt lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ReceiptPlace {
    pub place: String,
    pub outcome: PlaceOutcome,
    pub detail: String,
}

/// Result of the check for every place. `complete` is true only if no place failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Receipt {
    pub id: String,
    pub at: Timestamp,
    pub complete: bool,
    pub places: Vec<ReceiptPlace>,
    /// Number of other records that still contain the same words. They were left on purpose, so they make no place
    /// fail.
    pub copies_left: u32,
    /// Number of other records that contained the same words and were redacted. None if the number is not known, as in
    /// receipts of earlier program versions and of interrupted deletions.
    #[serde(default)]
    pub copies_redacted: Option<u32>,
}

impl Receipt {
    /// True if a place failed and every failed place may be clean by now. Such places are a WAL that somebody was
    /// reading, a file in the folder, and an attachment that could not be removed.
    pub fn may_be_transient(&self) -> bool {
        let mut failed = self.places.iter().filter(|p| p.outcome == PlaceOutcome::Failed).peekable();
        failed.peek().is_some()
            && failed.all(|p| ["write_ahead_log", "temporary_files", "attachments"].contains(&p.place.as_str()))
    }
}

/// Beginning of the detail of a place that could not be searched.
pub(crate) const NOT_SEARCHED: &str = "not searched";

pub(crate) fn checked_place(name: &str, is_clean: bool, outcome: PlaceOutcome, detail: String) -> ReceiptPlace {
    ReceiptPlace { place: name.into(), outcome: if is_clean { outcome } else { PlaceOutcome::Failed }, detail }
}
