//! Formats of assistants, agent runtimes, memory engines and chat programs. Each has its own folder with a README.
pub mod ai_studio;
pub mod chatgpt;
pub mod claude;
pub mod gemini;
pub mod mem0;
pub mod meta_ai;
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
    &gemini::Gemini,
    &ai_studio::AiStudio,
    &meta_ai::MetaAi,
    &transfer_text::TransferText,
];

#[cfg(test)]
mod fixture_cases;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::{by_id, detect};
