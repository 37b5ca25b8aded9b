//! Formats of memory engines, which are programs and services that store memories for agents. Each format has its own
//! folder with a README.
pub mod agentcore;
pub mod aimem;
pub mod amem;
pub mod basic_memory;
pub mod cognee;
pub mod hindsight;
pub mod langmem;
pub mod mcp_memory;
pub mod mcp_memory_service;
pub mod mem0;
pub mod memobase;
pub mod okf;
pub mod openmemory;
pub mod portable_agent_memory;
pub mod supermemory;
pub mod zep;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[
    &amem::Amem,
    &mem0::Mem0,
    &basic_memory::BasicMemory,
    &okf::Okf,
    &mcp_memory::McpMemory,
    &zep::Zep,
    &openmemory::OpenMemory,
    &langmem::LangMem,
    &agentcore::AgentCore,
    &mcp_memory_service::McpMemoryService,
    &cognee::Cognee,
    &memobase::Memobase,
    &supermemory::Supermemory,
    &aimem::Aimem,
    &portable_agent_memory::PortableAgentMemory,
    &hindsight::Hindsight,
];

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::detect;
