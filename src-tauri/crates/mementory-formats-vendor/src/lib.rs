//! Formats of assistants and chat programs. Each format has its own folder with a README.
pub mod character_ai;
pub mod chatgpt;
pub mod claude;
pub mod copilot;
pub mod deepseek;
pub mod gemini;
pub mod gemini_aistudio;
pub mod grok;
pub mod jan;
pub mod librechat;
pub mod lm_studio;
pub mod meta_ai;
pub mod mistral;
pub mod open_webui;
pub mod perplexity;
pub mod snapchat;

use mementory_format::Format;

/// Every format of this crate, in the order in which detection tries them.
pub const FORMATS: &[&dyn Format] = &[
    &chatgpt::ChatGpt,
    &claude::Claude,
    &grok::Grok,
    &copilot::Copilot,
    &deepseek::DeepSeek,
    &mistral::Mistral,
    &open_webui::OpenWebui,
    &librechat::Librechat,
    &lm_studio::LmStudio,
    &jan::Jan,
    &perplexity::Perplexity,
    &gemini::Gemini,
    &gemini_aistudio::AiStudio,
    &meta_ai::MetaAi,
    &snapchat::Snapchat,
    &character_ai::CharacterAi,
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
