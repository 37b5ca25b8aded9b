//! Detects files of Gemini CLI by the members of their objects.
use super::session::METADATA_TYPE;
use super::transcripts::FirstStep;
use super::update::is_update;
use super::{antigravity, qwen, trajectory, transcripts};
use mementory_format::{Catalog, Claim, JsonHead, Member, Part, Role};
use mementory_formats_shared::jsonl_session::{head_lines, may_be_log};
use mementory_formats_shared::object::Object;
use mementory_json::{Keys, keys_of};
use std::sync::Arc;

const MESSAGE_TYPES: [&str; 5] = ["user", "gemini", "info", "error", "warning"];

/// One claim for all files of Gemini CLI in the catalog.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let mut parts: Vec<Part> = Vec::new();
    let mut transcripts: Vec<(&Member, FirstStep)> = Vec::new();
    for member in catalog.members() {
        let Some((role, first_step)) = role_of(catalog, member) else { continue };
        parts.push(Part { member: member.id, role });
        transcripts.extend(first_step.map(|first_step| (member, first_step)));
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let copies = transcripts::shortened_copies(&transcripts);
    for part in parts.iter_mut().filter(|part| copies.contains(&part.member)) {
        part.role = Role::Sidecar;
    }
    vec![Claim {
        version: None,
        confidence: 0.95,
        reason: format!("Found {} files of Gemini CLI", parts.len()),
        parts,
        missing_parts: vec![],
    }]
}

/// The role of a file: `Conversations` for a session, `Projects` for a checkpoint, `Records` for the list of prompts.
/// Also returns the first step of an Antigravity transcript.
fn role_of(catalog: &Catalog, member: &Member) -> Option<(Role, Option<FirstStep>)> {
    if !may_be_log(member) {
        return None;
    }
    let head = JsonHead::of(catalog, member);
    if head.as_ref().is_some_and(trajectory::is_trajectory) {
        return Some((Role::Conversations, None));
    }
    if let Some(lines) = head_lines(catalog, member) {
        return Some((role_of_lines(&lines)?, FirstStep::of_lines(&lines)));
    }
    let head = head.filter(|head| matches!(head.first, b'{' | b'['))?;
    let name = member.file_name().to_ascii_lowercase();
    Some((document_role(head.first == b'{', &|| head.bytes(), &head.keys, &name)?, None))
}

fn role_of_lines(lines: &[String]) -> Option<Role> {
    if qwen::is_log_of_lines(lines) || antigravity::is_transcript_of_lines(lines) {
        return Some(Role::Conversations);
    }
    let mut has_header = false;
    for line in lines {
        let Some(object) = Object::parse(line) else {
            let is_object = line.starts_with('{');
            return document_role(is_object, &|| line.as_bytes().into(), &keys_of(line.as_bytes()), "");
        };
        if object.has("sessionId")
            && object.has("messages")
            && is_bare_session(line.as_bytes(), &keys_of(line.as_bytes()))
        {
            return Some(Role::Conversations);
        }
        let is_session = object.has("sessionId") && (object.has("projectHash") || object.has("startTime"));
        let kind = object.text("type").unwrap_or_default();
        if is_session && (!object.has("type") || kind == METADATA_TYPE) && !object.has("uuid") {
            if object.has("messages") || object.has("projectHash") || object.has("lastUpdated") {
                return Some(Role::Conversations);
            }
            has_header = true;
        }
        let is_message = object.has("id") && object.has("content") && MESSAGE_TYPES.contains(&kind.as_ref());
        let is_change = object.has("$set") || is_update(&object);
        if is_message && (has_header || kind == "gemini") || has_header && is_change {
            return Some(Role::Conversations);
        }
        if is_history(&object) {
            return Some(Role::Projects);
        }
    }
    None
}

/// True for a checkpoint: its `history` is a list of `Content` objects of Google's API.
fn is_history(object: &Object<'_>) -> bool {
    let first = object.list("history").and_then(|items| Object::parse(items.first()?.get()));
    first.is_some_and(|first| first.has("role") && first.has("parts"))
}

/// True for a session without the members that the program writes around its messages. Its answers have the type
/// `gemini` or, in some versions, `model`.
fn is_bare_session(head: &[u8], keys: &Keys) -> bool {
    let has_members = ["sessionId", "messages.type", "messages.content"].iter().all(|key| keys.has(key));
    let answers = ["\"type\":\"gemini\"", "\"type\": \"gemini\"", "\"type\":\"model\"", "\"type\": \"model\""];
    let has_answer = answers.iter().any(|words| memchr::memmem::find(head, words.as_bytes()).is_some());
    let is_foreign = ["messages.role", "messages.uuid", "messages.sessionId"].iter().any(|key| keys.has(key));
    has_members && has_answer && !is_foreign
}

fn document_role(is_object: bool, head: &dyn Fn() -> Arc<[u8]>, keys: &Keys, name: &str) -> Option<Role> {
    let has = |key: &str| keys.has(key);
    if is_object {
        let is_exported = has("messages.uuid") && (has("messages.message") || has("messages.toolCall"));
        let has_messages = has("messages.type") && has("messages.content") || has("messages.id") || is_exported;
        if has("sessionId") && has("projectHash") || has("sessionId") && has("startTime") && has_messages {
            return Some(Role::Conversations);
        }
        // In a long session, the members after the messages are not in the head of the file, so none of them is
        // required.
        let has_gemini = || memchr::memmem::find(&head(), b"\"gemini\"").is_some();
        let has_header = has("lastUpdated") || has("startTime") || has("projectHash");
        if has_header && has("messages.type") && has("messages.id") && has("messages.content") && has_gemini() {
            return Some(Role::Conversations);
        }
        if has("sessionId") && is_bare_session(&head(), keys) {
            return Some(Role::Conversations);
        }
        return (has("history.role") && has("history.parts")).then_some(Role::Projects);
    }
    if has("sessionId") && has("messageId") && has("message") && has("type") {
        return Some(Role::Records);
    }
    // An older checkpoint can only be recognised by its name.
    (has("role") && has("parts") && name.starts_with("checkpoint")).then_some(Role::Projects)
}
