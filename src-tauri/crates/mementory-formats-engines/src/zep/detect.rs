//! Detects API responses of Zep and graphs of Graphiti by the JSON members of facts, nodes, episodes and messages.
use super::context;
use mementory_format::{Catalog, Claim, Member, Role};
use mementory_formats_shared::memory_heads::{self, Head};
use mementory_formats_shared::text_head::text_head;

/// Keys under which a file may contain facts, nodes, episodes, sessions or threads.
pub(super) const LIST_KEYS: [&str; 16] = [
    "facts",
    "relevant_facts",
    "edges",
    "entity_edges",
    "episodic_edges",
    "relationships",
    "rels",
    "nodes",
    "entity_nodes",
    "entities",
    "episodes",
    "episodic_nodes",
    "communities",
    "sessions",
    "threads",
    "results",
];

/// Number of bytes of a text that are examined.
const TEXT_BYTES: usize = 16 << 10;
/// Layout of a Context Block, as a text or in the answer of the API.
pub(super) const CONTEXT: &str = "context";
/// Role of a Context Block that is a text.
pub(super) const TEXT_ROLE: Role = Role::Records;

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let test = |member: &Member| match Head::of(catalog, member) {
        Some(head) => Some((layout(&head)?, Role::Memories)),
        None => is_block(catalog, member).then_some((CONTEXT, TEXT_ROLE)),
    };
    memory_heads::claims_with_roles(catalog, 0.9, "facts, entities or sessions of Zep or Graphiti", test)
}

fn is_block(catalog: &Catalog, member: &Member) -> bool {
    text_head(catalog, member, TEXT_BYTES).is_some_and(|text| context::is_block(&text))
}

/// True for the answer of the API with a Context Block. Some servers escape the brackets of its sections.
fn is_answer_with_block(head: &Head) -> bool {
    let has_context = !head.is_list && head.has_text_value(CONTEXT) && head.has_all("", &[CONTEXT]);
    has_context && {
        let bytes = head.bytes();
        let has = |text: &str| memchr::memmem::find(&bytes, text.as_bytes()).is_some();
        let has_section = ["USER_SUMMARY", "FACTS"].iter().any(|name| {
            has(&format!("<{name}>")) || has(&format!("\\u003c{name}\\u003e")) || has(&format!("\\u003C{name}\\u003E"))
        });
        has_section && (has("(Date range: from - to)") || has("USER_SUMMARY"))
    }
}

/// Determines the layout of a file: `session` for a response about a session, `rows` for facts, entities or episodes at
/// the top level, `messages` for messages at the top level, `graph` for an object with lists of facts, entities,
/// episodes or sessions, `context` for an object with a Context Block and no messages. None for any other file.
pub(super) fn layout(head: &Head) -> Option<&'static str> {
    if !head.has_name(&["uuid", "fact", "role_type", "source_node_uuid"]) {
        return is_answer_with_block(head).then_some(CONTEXT);
    }
    // A response about a session contains a list of facts beside the messages. The facts may be plain strings, so their
    // members are not checked.
    let has_messages = head.has_all("messages", &["role_type", "content"]);
    let has_session = head.has_any("", &["session_id", "summary", "facts", "relevant_facts", "context"]);
    let is_session = has_messages && (has_session || head.has_any("messages", &["uuid", "token_count"]));
    // Newer versions write the role as `role`, as most programs do, so the other members must be those of Zep.
    let is_thread = head.has_any("", &["session_id", "thread_id"])
        && head.has_all("messages", &["uuid", "role", "content"])
        && head.has_any("messages", &["token_count", "processed", "role_type"]);
    // The memory of a session may not state the id of the session, but its summary is an object with an id.
    let is_summed_up =
        head.has_all("messages", &["uuid", "role", "content"]) && head.has_all("summary", &["uuid", "content"]);
    if (is_session || is_thread || is_summed_up) && !head.is_list {
        return Some("session");
    }
    let is_row = |list: &str| is_fact(head, list) || is_node(head, list) || is_episode(head, list);
    let in_properties = |list: &str| {
        let node = format!("{list}.properties");
        is_fact(head, &node) || is_node(head, &node) || is_episode(head, &node)
    };
    // In an export of Neo4j, each line is a node or a relationship.
    let is_exported = head.has_any("", &["labels", "label"]) && head.has_any("", &["type"]);
    if is_row("") || is_exported && is_row("properties") {
        return Some("rows");
    }
    let has_session_members = head.has_any("", &["uuid", "token_count", "session_id"]) && !head.has("source");
    if head.has_all("", &["role_type", "content"]) && has_session_members {
        return Some("messages");
    }
    let has_sessions =
        head.has_all("sessions", &["session_id", "uuid"]) || head.has_all("sessions.messages", &["role_type"]);
    let has_rows = LIST_KEYS.into_iter().any(|list| is_row(list) || in_properties(list)) || has_sessions;
    has_rows.then_some("graph")
}

/// True for the members of facts and edges. The member `fact` alone is not enough: there must also be a time at which
/// the fact becomes valid or invalid, an id and a time, or members that only Zep and Graphiti write.
fn is_fact(head: &Head, list: &str) -> bool {
    let fact_keys = ["source_node_uuid", "target_node_uuid", "fact_embedding"];
    head.has_any(list, &["fact"]) && head.has_any(list, &["valid_at", "invalid_at", "expired_at"])
        || head.has_any(list, &["fact"]) && head.has_any(list, &["uuid", "uuid_"]) && head.has_any(list, &fact_keys)
        || head.has_all(list, &["fact", "uuid", "created_at"])
        || head.has_all(list, &["source_node_uuid", "target_node_uuid", "group_id"])
}

fn is_node(head: &Head, list: &str) -> bool {
    head.has_all(list, &["uuid", "name"])
        && (head.has_any(list, &["name_embedding"])
            || head.has_all(list, &["group_id"])
            || head.has_all(list, &["labels", "summary"]))
}

fn is_episode(head: &Head, list: &str) -> bool {
    let is_described = head.has_any(list, &["source_description", "entity_edges", "valid_at"]);
    let is_listed_episode = list == "episodes" && head.has_all(list, &["uuid", "content", "created_at"]);
    head.has_all(list, &["uuid", "content", "source"]) && is_described
        || is_listed_episode && head.has_any(list, &["source", "role_type", "processed"])
}
