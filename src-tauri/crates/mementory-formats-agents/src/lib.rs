//! Formats of agents: their workspaces, sessions, memory folders and rules files. Each has its own folder with a
//! README.
pub mod agent_rules;
pub mod agent_sessions;
pub mod aieos;
pub mod claude_code;
pub mod codex;
pub mod cursor_editor;
pub mod gemini_cli;
pub mod grok_build;
pub mod letta;
pub mod openclaw;
pub mod opencode;
mod prompt_history;
pub mod vscode_chat;
pub mod zeroclaw;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[
    &openclaw::OpenClaw,
    &zeroclaw::ZeroClaw,
    &claude_code::ClaudeCode,
    &codex::Codex,
    &cursor_editor::CursorEditor,
    &gemini_cli::GeminiCli,
    &opencode::OpenCode,
    &grok_build::GrokBuild,
    &vscode_chat::VsCodeChat,
    &agent_sessions::AgentSessions,
    &letta::Letta,
    &agent_rules::AgentRules,
    &aieos::Aieos,
];

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::detect;
