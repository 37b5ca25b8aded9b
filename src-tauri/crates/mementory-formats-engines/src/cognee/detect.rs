//! Detects a graph by members that only Cognee's nodes and edges have, or by its types of nodes.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Members of a node that only Cognee has.
const NODE_MEMBERS: [&str; 6] =
    ["topological_rank", "ontology_valid", "belongs_to_set", "source_pipeline", "metadata.index_fields", "is_part_of"];
/// Types of nodes that only Cognee has.
const NODE_TYPES: [&str; 5] = ["DocumentChunk", "TextSummary", "TextDocument", "EntityType", "CogneeUserInteraction"];

/// One claim for the files of each folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.9, "nodes and edges of a graph of Cognee", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let has_own_members =
        ["nodes", "nodes.properties", "nodes.attributes"].into_iter().any(|list| head.has_any(list, &NODE_MEMBERS));
    let has_own_types = || NODE_TYPES.into_iter().any(|name| head.says(name));
    let is_graph = head.has("nodes") && (head.has("edges") || head.has_any("nodes", &["id", "type"]));
    let is_list_of_nodes = head.is_list && head.has_any("", &NODE_MEMBERS) && has_own_types();
    let is_cognee = is_graph && (has_own_members || has_own_types())
        || head.has_all("edges", &["relationship_name"])
        || is_list_of_nodes;
    is_cognee.then_some("graph")
}
