//! Detects the lines of the memory server, or the graph that its tool returns, by the members of entities and
//! relations.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// One claim for the files of each folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.95, "entities and relations of an MCP memory server", layout)
}

fn layout(head: &Head) -> Option<&'static str> {
    let is_entity =
        |list: &str| head.has_all(list, &["name", "entityType", "observations"]) || has_observations(head, list);
    let is_relation = |list: &str| head.has_all(list, &["from", "to", "relationType"]);
    let has_graph = is_entity("entities") || is_relation("relations");
    let has_rows = is_entity("") || is_relation("");
    match (has_graph, has_rows) {
        (true, _) => Some("graph"),
        (_, true) => Some("lines"),
        _ => None,
    }
}

/// True if the rows of `list` have a name and observations. Some servers name the type of an entity differently, but
/// every entity has these two members.
fn has_observations(head: &Head, list: &str) -> bool {
    head.has_all(list, &["name", "observations"]) && (list == "entities" || head.says("entity"))
}
