//! Determines the assistant or the program with which a person chatted, from what a file states about it.
use super::shape::RESULTS;
use mementory_formats_shared::message::{first_text, role_name};
use mementory_formats_shared::object::{Object, list};
use mementory_formats_shared::roles::{self, ASSISTANT};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// Websites of assistants, each with the name of the platform.
const HOSTS: [(&str, &str); 19] = [
    ("chatgpt.com", "chatgpt"),
    ("chat.openai.com", "chatgpt"),
    ("claude.ai", "claude"),
    ("gemini.google.com", "gemini"),
    ("perplexity.ai", "perplexity"),
    ("grok.com", "grok"),
    ("x.com/i/grok", "grok"),
    ("chat.deepseek.com", "deepseek"),
    ("copilot.microsoft.com", "copilot"),
    ("copilot.com", "copilot"),
    ("chat.mistral.ai", "mistral"),
    ("meta.ai", "meta_ai"),
    ("character.ai", "character_ai"),
    ("chat.qwen.ai", "qwen"),
    ("poe.com", "poe"),
    ("kimi.com", "kimi"),
    ("kimi.moonshot.cn", "kimi"),
    ("doubao.com", "doubao"),
    ("yuanbao.tencent.com", "yuanbao"),
];
/// Number of messages at the beginning of a chat whose speakers are examined.
const EXAMINED_MESSAGES: usize = 50;
/// Beginning of the id of a thread of Amp.
const AMP_ID: &str = "T-";
/// Beginning of the states of messages of Kimi.
const KIMI_STATUS: &str = "MESSAGE_STATUS_";
/// Beginning of the id of a session of OpenCode, and number of letters and digits after it.
const OPENCODE_ID: (&str, usize) = ("ses_", 26);

/// Determines the assistant of a chat: from its link, from `powered_by`, or from the name of the only speaker who
/// answers in `messages`. Returns `other` if the assistant is not known.
pub(super) fn of_chat(link: Option<&str>, object: &Object<'_>, messages: &RawValue) -> &'static str {
    let powered_by = object.object("metadata").and_then(|metadata| first_text(&metadata, &["powered_by"]));
    let powered_by = powered_by.unwrap_or_default().to_lowercase();
    let of_words = || HOSTS.iter().find(|(_, name)| powered_by.starts_with(name)).map(|(_, name)| *name);
    let of_link = link.and_then(platform_of_link).or_else(of_words);
    of_link.or_else(|| of_program(object, messages)).or_else(|| of_speaker(messages)).unwrap_or("other")
}

/// The program whose chat an object is, by members that only this program writes.
fn of_program(object: &Object<'_>, messages: &RawValue) -> Option<&'static str> {
    let has_all = |keys: &[&str]| keys.iter().all(|key| object.has(key));
    let is_kimi = || {
        let first = list(messages).and_then(|list| Object::parse(list.first()?.get()));
        first.and_then(|first| first.text("status")).is_some_and(|status| status.starts_with(KIMI_STATUS))
    };
    let marks = [
        (is_goose(object), "goose"),
        (object.has("v") && object.text("id").is_some_and(|id| id.starts_with(AMP_ID)), "amp"),
        (has_all(&["sessionId", "workspaceDirectory", "autonomyMode"]), "kiro"),
        (has_all(&["sessionId", "workspaceDirectory"]), "continue"),
        (has_all(&["chatID", "chatTitle"]), "typingmind"),
        (object.raw_value(RESULTS).is_some_and(|results| results.get() == messages.get()), "copilot"),
    ];
    let marked = marks.into_iter().find(|(has_mark, _)| *has_mark).map(|(_, program)| program);
    marked.or_else(|| is_kimi().then_some("kimi"))
}

/// The assistant whose website a link leads to.
pub(super) fn platform_of_link(link: &str) -> Option<&'static str> {
    let link = link.to_lowercase();
    let address = link.split_once("://").map_or("", |(_, rest)| rest).trim_start_matches("www.");
    HOSTS.iter().find(|(host, _)| address.starts_with(host)).map(|(_, name)| *name)
}

/// The link to a chat that a browser extension captured.
pub(super) fn link_of_capture(object: &Object<'_>) -> Option<String> {
    first_text(&object.object("provenance")?, &["source_url"])
}

/// The assistant whose name the answers have as their speaker. None if several assistants answer.
fn of_speaker(messages: &RawValue) -> Option<&'static str> {
    let first_messages = list(messages)?.into_iter().take(EXAMINED_MESSAGES);
    let names = first_messages.filter_map(|raw| Some(role_name(&Object::parse(raw.get())?)?.to_lowercase()));
    let assistants: HashSet<String> = names.filter(|name| roles::role(name) == Some(ASSISTANT)).collect();
    let is_only = |name: &str| assistants.len() == 1 && assistants.contains(name);
    HOSTS.iter().find(|(_, name)| is_only(name)).map(|(_, name)| *name)
}

/// The program whose session a line describes.
pub(super) fn of_session(header: &Object<'_>) -> Option<&'static str> {
    let (beginning, length) = OPENCODE_ID;
    let is_opencode = |id: &str| {
        id.strip_prefix(beginning)
            .is_some_and(|rest| rest.len() == length && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    if is_goose(header) {
        return Some("goose");
    }
    header.text("session_id").is_some_and(|id| is_opencode(&id)).then_some("opencode")
}

/// True for the first line of a session of Goose.
pub(super) fn is_goose(object: &Object<'_>) -> bool {
    object.has("working_dir") && object.has("message_count")
}
