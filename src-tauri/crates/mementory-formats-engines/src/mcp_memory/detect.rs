//! Detects the lines of the memory server's file, and the graph that its tool returns, by the members of entities and
//! relations.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// Returns one claim for the files of each archive or selected folder.
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

/// True if the rows of `list` have a name and observations, which every entity has. The name of the entity's type
/// differs between servers, so it is not checked.
fn has_observations(head: &Head, list: &str) -> bool {
    head.has_all(list, &["name", "observations"]) && (list == "entities" || head.says("entity"))
}
