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
    /// If set, only the entries of the signed bundle that this selects, each with its proof.
    pub disclose: Option<Selector>,
    /// Numbers of the records by vault id, since the bundle is a part of a longer list. A record without a number gets
    /// the one after the highest.
    pub numbers: HashMap<String, u64>,
}
