//! Detects graphs by the members or the types of Cognee's nodes and edges, and archives by the members of their
//! entries.
use super::cogx::{self, COGX};
use mementory_format::{Catalog, Claim, Role};
use mementory_formats_shared::memory_heads::{self, Head};
use std::collections::HashSet;

/// Members that only Cognee's nodes have.
const NODE_MEMBERS: [&str; 6] =
    ["topological_rank", "ontology_valid", "belongs_to_set", "source_pipeline", "metadata.index_fields", "is_part_of"];
/// Types that only Cognee's nodes have.
const NODE_TYPES: [&str; 5] = ["DocumentChunk", "TextSummary", "TextDocument", "EntityType", "CogneeUserInteraction"];

/// Returns, for each archive file or selected folder, one claim for its COGX files and one claim for its graphs.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut out = memory_heads::claims_with_roles(catalog, 0.9, "records of an archive of Cognee (COGX)", |member| {
        Some((COGX, cogx::role_of(catalog, member)?))
    });
    let archive_members: HashSet<usize> = out.iter().flat_map(|claim| &claim.parts).map(|part| part.member).collect();
    let graphs = memory_heads::claims_with_roles(catalog, 0.9, "nodes and edges of a graph of Cognee", |member| {
        let version = layout(&Head::of(catalog, member)?).filter(|_| !archive_members.contains(&member.id))?;
        Some((version, Role::Memories))
    });
    // A claim without records is removed, because files of other programs may have a member `cogx_version` too.
    out.retain(|claim| claim.parts.iter().any(|part| part.role == Role::Memories));
    out.extend(graphs);
    out
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
