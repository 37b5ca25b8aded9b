//! Formats of assistants, memory engines and chat programs. Each has its own folder with a README.
pub mod agentcore;
pub mod aimem;
pub mod amem;
pub mod basic_memory;
pub mod character_ai;
pub mod chatgpt;
pub mod claude;
pub mod cognee;
pub mod copilot;
pub mod csv_table;
pub mod deepseek;
pub mod gemini;
pub mod gemini_aistudio;
pub mod generic_chat;
pub mod generic_memories;
pub mod grok;
pub mod html_page;
pub mod jan;
pub mod kept_file;
pub mod langmem;
pub mod librechat;
pub mod lm_studio;
pub mod markdown_folder;
pub mod mcp_memory;
pub mod mcp_memory_service;
pub mod mem0;
pub mod meta_ai;
pub mod mistral;
pub mod obsidian;
pub mod okf;
pub mod open_webui;
pub mod openmemory;
pub mod perplexity;
pub mod portable_agent_memory;
pub mod transfer_text;
pub mod zep;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[
    &amem::Amem,
    &chatgpt::ChatGpt,
    &claude::Claude,
    &mem0::Mem0,
    &grok::Grok,
    &copilot::Copilot,
    &deepseek::DeepSeek,
    &mistral::Mistral,
    &basic_memory::BasicMemory,
    &obsidian::Obsidian,
    &okf::Okf,
    &open_webui::OpenWebui,
    &librechat::Librechat,
    &lm_studio::LmStudio,
    &jan::Jan,
    &markdown_folder::MarkdownFolder,
    &html_page::HtmlPage,
    &csv_table::CsvTable,
    &perplexity::Perplexity,
    &gemini::Gemini,
    &gemini_aistudio::AiStudio,
    &meta_ai::MetaAi,
    &mcp_memory::McpMemory,
    &zep::Zep,
    &openmemory::OpenMemory,
    &langmem::LangMem,
    &agentcore::AgentCore,
    &mcp_memory_service::McpMemoryService,
    &cognee::Cognee,
    &aimem::Aimem,
    &portable_agent_memory::PortableAgentMemory,
    &character_ai::CharacterAi,
    &transfer_text::TransferText,
    &generic_chat::GenericChat,
    &generic_memories::GenericMemories,
    &kept_file::KeptFile,
];

#[cfg(test)]
mod cases;
#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod sample_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::{by_id, detect};
