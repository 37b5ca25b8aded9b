//! Options of a bundle that answers a connected client.
use super::select::Selector;
use std::collections::HashMap;

/// What a client asked for, and how its entries are numbered.
#[derive(Debug, Clone, Default)]
pub struct AnswerOptions {
    /// Name of the session.
    pub session: String,
    /// The entries of the bundle.
    pub selector: Selector,
    /// If set, the answer contains only those entries of the signed bundle that this selector selects, each with its
    /// proof.
    pub disclose: Option<Selector>,
    /// Number of each record by its vault id. The client's bundle may be a part of a longer list of entries; then its
    /// entries keep their numbers in that list. A record that is not listed here gets a number after the highest number
    /// of the imported entries.
    pub numbers: HashMap<String, u64>,
}
