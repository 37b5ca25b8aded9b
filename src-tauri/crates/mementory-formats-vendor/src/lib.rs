//! Formats of assistants, agent runtimes, memory engines and chat programs. Each has its own folder with a README.
pub mod agent_rules;
pub mod chatgpt;
pub mod claude;
pub mod claude_code;
pub mod codex;
pub mod cursor_editor;
pub mod gemini_cli;
pub mod grok_build;
pub mod mem0;
pub mod openclaw;
pub mod opencode;
mod shared;
pub mod transfer_text;
pub mod zeroclaw;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection asks them.
pub const FORMATS: &[&dyn Format] = &[
    &openclaw::OpenClaw,
    &zeroclaw::ZeroClaw,
    &chatgpt::ChatGpt,
    &claude::Claude,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &cursor_editor::CursorEditor,
    &gemini_cli::GeminiCli,
    &opencode::OpenCode,
    &grok_build::GrokBuild,
    &agent_rules::AgentRules,
    &mem0::Mem0,
    &transfer_text::TransferText,
];

#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::{by_id, detect};
