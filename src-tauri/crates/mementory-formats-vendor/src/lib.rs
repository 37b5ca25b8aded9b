//! Formats of assistants, agent runtimes, memory engines and chat programs. Each has its own folder with a README.
pub mod character_ai;
pub mod chatgpt;
pub mod claude;
pub mod copilot;
pub mod deepseek;
pub mod grok;
pub mod mem0;
pub mod mistral;
pub mod openclaw;
pub mod perplexity;
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
    &grok::Grok,
    &copilot::Copilot,
    &deepseek::DeepSeek,
    &mistral::Mistral,
    &perplexity::Perplexity,
    &character_ai::CharacterAi,
    &transfer_text::TransferText,
];

#[cfg(test)]
mod cases;
#[cfg(test)]
mod testing;
#[cfg(test)]
use testing::{by_id, detect};
