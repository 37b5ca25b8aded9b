//! Memories inside conversations (vendors.md §2.4): no export has the saved memories as a file of their own.
use super::wire::{Content, Message};
use mementory_model::{RecordKey, Timestamp};
use sha2::{Digest, Sha256};

/// One memory found in a message.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) text: String,
    pub(super) method: &'static str,
    /// The date that the snapshot gives it.
    pub(super) dated: Option<Timestamp>,
    /// Custom instructions: about the person, about the answers.
    pub(super) halves: Option<(String, String)>,
}

/// Key of a memory: the same text is the same memory, whichever way it was found.
pub(super) fn key(text: &str) -> RecordKey {
    RecordKey::new("chatgpt", format!("memory/{}", hex::encode(Sha256::digest(text.trim().as_bytes()))))
}

/// Memories that a message carries.
pub(super) fn find(message: &Message<'_>, content: &Content<'_>, text: &str) -> Vec<Found> {
    let mut out = Vec::new();
    match content.content_type.get() {
        Some("model_editable_context") => {
            for (dated, text) in snapshot(content.model_set_context.get().unwrap_or_default()) {
                out.push(Found { text, method: "model_set_context", dated, halves: None });
            }
        }
        Some("user_editable_context") => out.extend(instructions(message, content)),
        _ => {
            let context = &message.metadata.context;
            if context.about_user.get().is_some() || context.about_model.get().is_some() {
                out.extend(instructions(message, content));
            }
        }
    }
    // What a person writes has no recipient; the assistant writes to its memory tool.
    if message.recipient.get() == Some("bio") && message.author.role.get() != Some("user") && !text.trim().is_empty() {
        out.push(Found { text: text.trim().to_owned(), method: "bio_write", dated: None, halves: None });
    }
    out
}

fn instructions(message: &Message<'_>, content: &Content<'_>) -> Option<Found> {
    let context = &message.metadata.context;
    let half = |clean: &super::wire::Text<'_>, wrapped: &super::wire::Text<'_>| {
        clean.get().or_else(|| wrapped.get().map(unwrap)).unwrap_or_default().trim().to_owned()
    };
    let user = half(&context.about_user, &content.user_profile);
    let model = half(&context.about_model, &content.user_instructions);
    let text = match (user.is_empty(), model.is_empty()) {
        (true, true) => return None,
        (true, false) => model.clone(),
        (false, true) => user.clone(),
        (false, false) => format!("{user}\n\n{model}"),
    };
    Some(Found { text, method: "custom_instructions", dated: None, halves: Some((user, model)) })
}

/// The prompt puts a sentence and a code fence around what the person wrote.
fn unwrap(text: &str) -> &str {
    let inside = || {
        let (lead, rest) = text.split_once("```")?;
        let (inside, tail) = rest.rsplit_once("```")?;
        (lead.trim_start().starts_with("The user provided") && tail.trim().is_empty()).then_some(inside)
    };
    inside().unwrap_or(text)
}

/// Entries of `1. [2024-05-06]. text` blocks; a text of another shape is one entry.
fn snapshot(text: &str) -> Vec<(Option<Timestamp>, String)> {
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
