//! Determines the role of a speaker from the names that chat programs use for it.

/// Role of the person.
pub const USER: &str = "user";
/// Role of the model.
pub const ASSISTANT: &str = "assistant";
/// Role of instructions and other text that the program adds.
pub const SYSTEM: &str = "system";
/// Role of a tool result.
pub const TOOL: &str = "tool";
/// Role of one of several people, if it is unknown whose export this is.
pub const PARTICIPANT: &str = "participant";

const USER_NAMES: [&str; 16] = [
    "user",
    "human",
    "you",
    "me",
    "person",
    "customer",
    "client",
    "prompt",
    "prompter",
    "question",
    "input",
    "request",
    "usr",
    "end-user",
    "end_user",
    "usermessage",
];
const ASSISTANT_NAMES: [&str; 27] = [
    "assistant",
    "ai",
    "bot",
    "model",
    "gpt",
    "chatgpt",
    "claude",
    "gemini",
    "bard",
    "copilot",
    "grok",
    "deepseek",
    "mistral",
    "llama",
    "perplexity",
    "meta ai",
    "agent",
    "llm",
    "response",
    "answer",
    "output",
    "reply",
    "ai_response",
    "ai assistant",
    "chatbot",
    "character",
    "apimessage",
];
const SYSTEM_NAMES: [&str; 6] = ["system", "developer", "instructions", "system_prompt", "system prompt", "context"];
const TOOL_NAMES: [&str; 9] =
    ["tool", "function", "tool_result", "tool_use", "tool_call", "tool_response", "observation", "ipython", "plugin"];

/// The role for a name in any spelling: `user`, `assistant`, `system` or `tool`. None for an unknown name.
pub fn role(name: &str) -> Option<&'static str> {
    let name = name.trim().trim_end_matches([':', '：']).trim().to_lowercase();
    let name = name.as_str();
    if USER_NAMES.contains(&name) {
        Some(USER)
    } else if ASSISTANT_NAMES.contains(&name) {
        Some(ASSISTANT)
    } else if SYSTEM_NAMES.contains(&name) {
        Some(SYSTEM)
    } else if TOOL_NAMES.contains(&name) {
        Some(TOOL)
    } else {
        None
    }
}

/// The role for a name. For an unknown name, its first 40 characters; for an empty name, `unknown`.
pub fn role_or_name(name: &str) -> String {
    let word = || name.trim().chars().take(40).collect::<String>();
    match role(name) {
        Some(role) => role.to_owned(),
        None if name.trim().is_empty() => "unknown".to_owned(),
        None => word(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_roles_are_known_in_all_spellings() {
        for (name, expected) in [
            ("Human", Some(USER)),
            ("MODEL", Some(ASSISTANT)),
            ("developer", Some(SYSTEM)),
            (" Assistant: ", Some(ASSISTANT)),
            ("function", Some(TOOL)),
            ("narrator", None),
            ("", None),
        ] {
            assert_eq!(role(name), expected, "{name}");
        }
        assert_eq!(role_or_name("narrator"), "narrator");
        assert_eq!(role_or_name(" "), "unknown");
    }
}
