//! Options for a bundle that answers the request of a connected client.
use super::select::Selector;
use std::collections::HashMap;

/// The request of a client, and the numbers of the entries in the answer.
#[derive(Debug, Clone, Default)]
pub struct AnswerOptions {
    /// Name of the session.
    pub session: String,
    /// Selects the entries of the bundle.
    pub selector: Selector,
    /// If set, the answer contains only the entries of the signed bundle that match this selector, each with its proof.
    pub disclose: Option<Selector>,
    /// Entry numbers by vault id of the record, so that an entry has the same number in all parts of a longer answer.
    /// All other records get numbers after the highest number of the imported entries.
    pub numbers: HashMap<String, u64>,
}
