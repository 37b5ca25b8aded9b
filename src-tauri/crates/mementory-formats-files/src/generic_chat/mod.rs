//! Chats in a common JSON shape. See README.md.
mod adk;
mod agentscope;
mod amazon_q;
mod amazon_q_tabs;
mod anything_llm;
mod api;
mod branches;
mod chainlit;
mod chat_databases;
mod chat_store;
mod chatbox_page;
mod cherry_studio;
mod cline;
mod compliance;
mod conversation;
mod detect;
mod distant_parts;
mod doubao;
mod envelope;
mod goose;
mod head_values;
mod hugging_chat;
mod kiro;
mod kobold;
mod listed;
mod llm_json;
mod llm_logs;
mod llm_parts;
mod llm_row;
mod llm_threads;
mod marked_page;
mod newest_first;
mod ollama;
mod openrouter;
mod page_answer;
mod pairs;
mod platform;
mod poe;
mod pydantic_ai;
mod read;
mod role_play;
mod shape;
#[cfg(test)]
mod shape_tests;
mod stores;
mod superjson;
mod tables;
#[cfg(test)]
mod tests;
mod threads;
mod tongyi;
mod tree;
mod void;
mod yuanbao;
mod zed;

use mementory_format::{Capabilities, Catalog, Claim, Detected, Format, FormatError, ReadContext, Sink};
use mementory_model::Limits;

/// Id of the format. It is also the scope of the record keys.
const FORMAT_ID: &str = "generic_chat";

/// Chats in a common JSON shape.
pub struct GenericChat;

impl Format for GenericChat {
    fn id(&self) -> &'static str {
        FORMAT_ID
    }
    fn name(&self) -> &'static str {
        "Chats in a common JSON shape"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, false))
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        Ok(detect::claims(catalog, true))
    }
    fn read(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        context: &ReadContext,
        sink: &mut dyn Sink,
    ) -> Result<(), FormatError> {
        read::read(catalog, detected, context, sink)
    }
}
