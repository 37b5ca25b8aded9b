//! What the rows of a graph or an archive have in common while they are read.
use mementory_formats_shared::memory_rows::RowSender;
use mementory_model::Kind;
use std::collections::HashMap;

/// Largest number of node names in memory. Edges use these names in their sentences.
const MAX_NAMES: usize = 200_000;

/// Sends the records of the rows, and knows the names of the nodes before them.
pub(super) struct Graph {
    pub(super) rows: RowSender,
    /// Name and kind of nodes by their id.
    names: HashMap<String, (String, Kind)>,
}

impl Graph {
    pub(super) fn new(rows: RowSender) -> Self {
        Self { rows, names: HashMap::new() }
    }

    /// Notes the name of a node for the sentences of edges.
    pub(super) fn note_name(&mut self, id: String, name: String, kind: Kind) {
        if self.names.len() < MAX_NAMES {
            self.names.insert(id, (name, kind));
        }
    }

    /// The name and kind of a node; for an unknown one its id, as an entity.
    pub(super) fn name(&self, id: &str) -> (String, Kind) {
        self.names.get(id).cloned().unwrap_or_else(|| (id.to_owned(), Kind::Entity))
    }
}
