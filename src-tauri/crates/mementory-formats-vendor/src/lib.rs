//! Formats of assistants, agent runtimes, memory engines and chat programs. Each has its own folder with a README.
pub mod agentcore;
pub mod aieos;
pub mod aimem;
pub mod chatgpt;
pub mod claude;
pub mod cognee;
pub mod langmem;
pub mod letta;
pub mod mcp_memory;
pub mod mcp_memory_service;
pub mod mem0;
pub mod openclaw;
pub mod openmemory;
pub mod portable_agent_memory;
mod shared;
pub mod transfer_text;
pub mod zep;
pub mod zeroclaw;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection asks them.
pub const FORMATS: &[&dyn Format] = &[
    &openclaw::OpenClaw,
    &zeroclaw::ZeroClaw,
    &chatgpt::ChatGpt,
    &claude::Claude,
    &mem0::Mem0,
    &mcp_memory::McpMemory,
    &letta::Letta,
    &zep::Zep,
    &openmemory::OpenMemory,
    &langmem::LangMem,
    &agentcore::AgentCore,
    &mcp_memory_service::McpMemoryService,
    &cognee::Cognee,
    &aieos::Aieos,
    &aimem::Aimem,
    &portable_agent_memory::PortableAgentMemory,
    &transfer_text::TransferText,
];

#[cfg(test)]
mod row_cases;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::{by_id, detect};
