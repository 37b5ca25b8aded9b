//! The state while the rows of a graph or an archive are read.
use mementory_formats_shared::memory_rows::RowSender;
use mementory_model::Kind;
use std::collections::HashMap;

/// Largest number of node names in memory. The sentence of an edge contains the names of its nodes. If there are more
/// nodes, it contains the ids of the others.
const MAX_NAMES: usize = 200_000;

/// Sends the records of rows, and stores the names of the nodes that were read before.
pub(super) struct Graph {
    pub(super) rows: RowSender,
    /// Name and kind of each node, by node id.
    names: HashMap<String, (String, Kind)>,
}

impl Graph {
    pub(super) fn new(rows: RowSender) -> Self {
        Self { rows, names: HashMap::new() }
    }

    /// Stores the name of a node for the sentences of edges. Ignores the name if [`MAX_NAMES`] names are stored.
    pub(super) fn note_name(&mut self, id: String, name: String, kind: Kind) {
        if self.names.len() < MAX_NAMES {
            self.names.insert(id, (name, kind));
        }
    }

    /// Returns the name and kind of a node. For an unknown node, returns its id and the kind `Entity`.
    pub(super) fn name(&self, id: &str) -> (String, Kind) {
        self.names.get(id).cloned().unwrap_or_else(|| (id.to_owned(), Kind::Entity))
    }
}
