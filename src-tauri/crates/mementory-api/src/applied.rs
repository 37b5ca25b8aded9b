//! Converts the warnings of a change that was made although a step failed.
use crate::types::Warning;
use mementory_vault::{Applied, FailedStep};

/// The warnings of a change, one for each step that failed or that could not be done completely.
pub fn warnings_of<T>(change: &Applied<T>) -> Vec<Warning> {
    change.warnings.iter().map(warning_of).collect()
}

fn warning_of(step: &FailedStep) -> Warning {
    let (code, place, message) = match step {
        FailedStep::ClientConfiguration { path, reason } => {
            return Warning {
                code: "configuration_not_changed".into(),
                place: path.clone(),
                message: format!(
                    "the client's grant has ended, but Mementory's entry is still in its configuration: {reason} \
                     Disconnect again to remove the entry, or remove it by hand."
                ),
                count: 1,
            };
        }
        FailedStep::OtherVersionNotStored { records } => {
            return Warning {
                code: "other_version_not_stored".into(),
                place: "history".into(),
                message: "later imports contain only other versions of these records, which are not stored, so the \
                          records keep their text although the import was undone"
                    .into(),
                count: *records,
            };
        }
        FailedStep::Index => {
            ("index_behind", "index", "the search index is behind; it catches up at the next change or opening")
        }
        FailedStep::AuditLog => {
            ("audit_not_written", "audit", "the change was made, but its entry in the log could not be written")
        }
        FailedStep::Cleaning => (
            "cleaning_unfinished",
            "cleaning",
            "the words are gone from the records, but not yet from every place; open the vault again to finish",
        ),
        FailedStep::ErasureList => (
            "erasure_list_not_written",
            "erasures",
            "the list of erasures in the program's folder could not be written; the vault's own has the erasure",
        ),
        FailedStep::Sync => (
            "not_synced",
            "disk",
            "the change was made, but the system did not confirm it; a power failure now could undo it",
        ),
        FailedStep::OtherSuggestions => (
            "suggestions_left",
            "suggestions",
            "a suggestion could not be accepted or refused, and the ones after it were not tried; they still wait",
        ),
        FailedStep::ReadBack => {
            ("not_read_back", "file", "the file was written, but it could not be read again to check it")
        }
    };
    Warning { code: code.into(), place: place.into(), message: message.into(), count: 1 }
}
