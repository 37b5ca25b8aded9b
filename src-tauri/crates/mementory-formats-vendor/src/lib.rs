//! Formats of assistants, agent runtimes, memory engines and chat programs. Each has its own folder with a README.
pub mod basic_memory;
pub mod chatgpt;
pub mod claude;
pub mod generic_chat;
pub mod generic_memories;
pub mod jan;
pub mod librechat;
pub mod lm_studio;
pub mod mem0;
pub mod obsidian;
pub mod okf;
pub mod open_webui;
pub mod openclaw;
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
    &mem0::Mem0,
    &basic_memory::BasicMemory,
    &obsidian::Obsidian,
    &okf::Okf,
    &open_webui::OpenWebui,
    &librechat::Librechat,
    &lm_studio::LmStudio,
    &jan::Jan,
    &generic_chat::GenericChat,
    &generic_memories::GenericMemories,
    &transfer_text::TransferText,
];

#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::{by_id, detect};
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod case_runner;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod sample_tests;
