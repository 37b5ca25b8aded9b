//! Finds memories in the messages of conversations, because an export has no file with the saved memories.
use super::wire::{Content, Message};
use mementory_model::{RecordKey, Timestamp};
use sha2::{Digest, Sha256};

/// One memory found in a message.
#[derive(Debug, PartialEq)]
pub(super) struct FoundMemory {
    pub(super) text: String,
    pub(super) method: &'static str,
    /// Date that a list of memories states for the entry.
    pub(super) date: Option<Timestamp>,
    /// The two texts of custom instructions: the text about the user and the text about the answers. None for any other
    /// memory.
    pub(super) instructions: Option<(String, String)>,
}

/// Returns the key of a memory. Memories with the same text have the same key, even if they come from different
/// messages.
pub(super) fn memory_key(text: &str) -> RecordKey {
    RecordKey::new("chatgpt", format!("memory/{}", hex::encode(Sha256::digest(text.trim().as_bytes()))))
}

/// True if the record has the key of a memory that was found in a message.
pub(super) fn is_found_memory(record: &mementory_model::Record) -> bool {
    record.key.scope == "chatgpt" && record.key.value.starts_with("memory/")
}

pub(super) fn find_memories(message: &Message<'_>, content: &Content<'_>, text: &str) -> Vec<FoundMemory> {
    let mut out = Vec::new();
    match content.content_type.get() {
        Some("model_editable_context") => {
            for (date, text) in memory_list_entries(content.model_set_context.get().unwrap_or_default()) {
                out.push(FoundMemory { text, method: "model_set_context", date, instructions: None });
            }
        }
        Some("user_editable_context") => out.extend(custom_instructions(message, content)),
        _ => {
            let context = &message.metadata.context;
            if context.about_user.get().is_some() || context.about_model.get().is_some() {
                out.extend(custom_instructions(message, content));
            }
        }
    }
    // The assistant saves a memory by sending a message to its tool `bio`. A message of the user to `bio` is not a
    // memory.
    if message.recipient.get() == Some("bio") && message.author.role.get() != Some("user") && !text.trim().is_empty() {
        out.push(FoundMemory { text: text.trim().to_owned(), method: "bio_write", date: None, instructions: None });
    }
    out
}

fn custom_instructions(message: &Message<'_>, content: &Content<'_>) -> Option<FoundMemory> {
    let context = &message.metadata.context;
    let instruction_text = |clean: &super::wire::Text<'_>, wrapped: &super::wire::Text<'_>| {
        clean.get().or_else(|| wrapped.get().map(without_prompt)).unwrap_or_default().trim().to_owned()
    };
    let user = instruction_text(&context.about_user, &content.user_profile);
    let model = instruction_text(&context.about_model, &content.user_instructions);
    let text = match (user.is_empty(), model.is_empty()) {
        (true, true) => return None,
        (true, false) => model.clone(),
        (false, true) => user.clone(),
        (false, false) => format!("{user}\n\n{model}"),
    };
    Some(FoundMemory { text, method: "custom_instructions", date: None, instructions: Some((user, model)) })
}

/// Returns the user's text without the sentence and the code fence that the prompt adds around it.
fn without_prompt(text: &str) -> &str {
    let text_in_fence = || {
        let (lead, fenced) = text.split_once("```")?;
        let (inside, tail) = fenced.rsplit_once("```")?;
        (lead.trim_start().starts_with("The user provided") && tail.trim().is_empty()).then_some(inside)
    };
    text_in_fence().unwrap_or(text)
}

/// Returns the entries of a list with lines such as `1. [2024-05-06]. text`. A text without such lines is a single
/// entry.
fn memory_list_entries(text: &str) -> Vec<(Option<Timestamp>, String)> {
    let mut out: Vec<(Option<Timestamp>, String)> = Vec::new();
    for line in text.lines() {
        match entry_start(line) {
            Some((date, rest)) => {
                out.push((Timestamp::parse(date), rest.to_owned()));
            }
            None => match out.last_mut() {
                Some((_, entry)) => {
                    entry.push('\n');
                    entry.push_str(line);
                }
                None => out.push((None, line.to_owned())),
            },
        }
    }
    out.into_iter().map(|(d, t)| (d, t.trim().to_owned())).filter(|(_, t)| !t.is_empty()).collect()
}

fn entry_start(line: &str) -> Option<(&str, &str)> {
    let digits = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    if digits.len() == line.trim_start().len() {
        return None;
    }
    let (date, rest) = digits.strip_prefix('.')?.trim_start().strip_prefix('[')?.split_once(']')?;
    (date.len() <= 32).then(|| (date, rest.strip_prefix('.').unwrap_or(rest).trim_start()))
}
