//! The list of tools that clients get. Names, texts and schemas are fixed when the program is built.
use serde::Deserialize;
use serde_json::Value;

const TOOLS: &str = include_str!("tools.json");

#[derive(Deserialize)]
struct Entry {
    right: String,
    tool: Value,
}

/// The tools for a token, as JSON for `tools/list`. An invalid token gets no tools. The rights are read from the token
/// itself, because the list must be available while the vault is locked. They only affect the list: when a tool is
/// called, the grant's rights decide.
pub fn list_json(token: &str) -> Vec<Value> {
    let mut parts = token.trim().split('_');
    let rights = match (parts.next(), parts.next()) {
        (Some("mementory"), Some(rights)) => rights,
        _ => return Vec::new(),
    };
    let (read, suggest, export) = (rights.contains('r'), rights.contains('s'), rights.contains('e'));
    let entries: Vec<Entry> = serde_json::from_str(TOOLS).unwrap_or_default();
    let is_granted = |entry: &Entry| match entry.right.as_str() {
        "read" => read,
        "suggest" => suggest,
        "export" => export,
        // A client without the right to read cannot find out record ids, so it cannot suggest changes.
        "change" => read && suggest,
        _ => true,
    };
    entries.into_iter().filter(is_granted).map(|entry| entry.tool).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn names(token: &str) -> Vec<String> {
        list_json(token).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn tools_that_are_not_granted_are_absent() {
        assert_eq!(names("mementory_r_1_2"), ["search", "fetch", "list_memories", "about"]);
        assert_eq!(names("mementory_s_1_2"), ["about", "suggest_memory", "import_memory"]);
        assert_eq!(names("mementory_e_1_2"), ["about", "export_memory", "memory_export"]);
        assert_eq!(names("mementory_rs_1_2").len(), 8);
        assert_eq!(names("mementory_rse_1_2").len(), 10);
        assert!(names("").is_empty() && names("other_rs_1_2").is_empty());
    }

    #[test]
    fn the_list_is_small_and_each_tool_is_described_completely() {
        let all = list_json("mementory_rse_1_2");
        assert!(serde_json::to_string(&all).unwrap().len() < 6 * 1024);
        for tool in all {
            for member in ["name", "title", "description"] {
                assert!(tool[member].as_str().is_some_and(|text| !text.is_empty()), "{tool}");
            }
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{tool}");
            }
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[schema]["type"], "object", "{tool}");
            }
        }
    }
}
