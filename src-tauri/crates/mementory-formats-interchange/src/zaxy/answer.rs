//! Options for a bundle that is the answer to a request of a connected client.
use super::select::Selector;
use std::collections::HashMap;

/// What a client asked for, and the numbers of the entries in the answer.
#[derive(Debug, Clone, Default)]
pub struct AnswerOptions {
    /// Name of the session.
    pub session: String,
    /// The entries of the bundle.
    pub selector: Selector,
    /// If set, the answer contains only those entries of the signed bundle that this selector selects, each with its
    /// proof.
    pub disclose: Option<Selector>,
    /// The entry number of each record, by vault id. If the answer is a part of a longer list of entries, its entries
    /// keep their numbers from that list. A record that is not listed here gets a number after the highest number of
    /// the imported entries.
    pub numbers: HashMap<String, u64>,
}
