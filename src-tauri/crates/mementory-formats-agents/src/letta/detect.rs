//! Detects agent files of both generations, and server responses with blocks, passages or messages.
use mementory_format::{Catalog, Claim};
use mementory_formats_shared::memory_heads::{self, Head};

/// The lists of an agent file of the second generation.
pub(super) const LIST_KEYS: [&str; 9] =
    ["agents", "blocks", "files", "sources", "tools", "mcp_servers", "groups", "skills", "passages"];

/// Members of an entry in a list of messages. Each entry has at least one of these members besides its type.
const MESSAGE_MEMBERS: [&str; 11] = [
    "date",
    "otid",
    "step_id",
    "run_id",
    "content",
    "reasoning",
    "hidden_reasoning",
    "tool_call",
    "tool_calls",
    "tool_return",
    "assistant_message",
];

/// One claim for the files of each folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    memory_heads::claims(catalog, 0.95, "an agent of Letta with its memory blocks", layout)
}

/// Layout of a file: `2` for an agent file with lists, `1` for an agent file with a single agent, `rows` for blocks or
/// passages in a server response, `messages` for messages in a server response.
pub(super) fn layout(head: &Head) -> Option<&'static str> {
    let agent_members =
        ["block_ids", "memory_blocks", "in_context_message_ids", "tool_ids", "agent_type", "llm_config", "core_memory"];
    // In an export without agents, all lists are present but empty.
    let has_lists = head.has_all("", &["agents", "groups", "blocks", "files", "sources", "tools"]);
    if head.has_any("agents", &agent_members) || has_lists {
        return Some("2");
    }
    let is_agent = head.has("core_memory")
        && (head.has_any("", &["agent_type", "llm_config", "message_buffer_autoclear"])
            || head.has_all("core_memory", &["label", "value"]));
    // In a server response with an agent, the blocks are in `memory`.
    if is_agent || head.has_all("", &["agent_type", "llm_config"]) && head.has_any("memory", &["blocks", "file_blocks"])
    {
        return Some("1");
    }
    // The ids and the times that the server gives are not required, because a list that a program saved may lack them.
    let is_message = |list: &str| head.has_all(list, &["message_type"]) && head.has_any(list, &MESSAGE_MEMBERS);
    if (is_message("") || is_message("messages")) && head.has_text_value("message_type") && has_known_type(head) {
        return Some("messages");
    }
    let is_block = head.has_all("", &["label", "value", "limit"])
        && (head.has_any("", &["read_only", "is_template"])
            || head.has("id") && head.has_value_starting_with("block-"));
    let is_passage = head.has("text")
        && head.has_any("", &["archive_id", "agent_id", "source_id"])
        && (head.has("embedding_config") || head.has("id") && head.has_value_starting_with("passage-"));
    (is_block || is_passage).then_some("rows")
}

fn has_known_type(head: &Head) -> bool {
    ["user", "assistant", "reasoning", "tool_call", "tool_return", "system"]
        .iter()
        .any(|kind| head.says(&format!("{kind}_message")))
}
