//! Reads and writes memories in the form that mem0's API returns. See README.md.
mod history;
mod markdown;
mod read;
mod record;
mod table;
#[cfg(test)]
mod tests;
mod write;
#[cfg(test)]
mod write_tests;

use mementory_format::{
    Capabilities, Catalog, Claim, Detected, Format, FormatError, JsonHead, Member, Part, ReadContext, RecordSource,
    Role, Sink, Validation, WriteOptions, WriteReport,
};
use mementory_formats_shared::memory_heads::Head;
use mementory_formats_shared::sqlite_rows;
use mementory_model::{Limits, RecordKey};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Id of the format. It is also the scope of the record keys and the name of the platform.
const ID: &str = "mem0";

/// Memories of mem0.
pub struct Mem0;

impl Format for Mem0 {
    fn id(&self) -> &'static str {
        ID
    }
    fn name(&self) -> &'static str {
        "mem0 memories"
    }
    fn capabilities(&self) -> Capabilities {
        Capabilities { read: true, write: true, validate: true, ending: ".json", ..Capabilities::default() }
    }
    fn detect(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        claims(catalog, false)
    }
    fn detect_selected(&self, catalog: &Catalog, _limits: &Limits) -> Result<Vec<Claim>, FormatError> {
        claims(catalog, true)
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
    fn write(
        &self,
        source: &mut dyn RecordSource,
        out: &Path,
        options: &WriteOptions,
    ) -> Result<WriteReport, FormatError> {
        write::write(source, Some(out), options)
    }
    fn plan(&self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<WriteReport, FormatError> {
        write::write(source, None, options)
    }
    fn validate(
        &self,
        catalog: &Catalog,
        detected: &Detected,
        limits: &Limits,
        _trust: &[String],
    ) -> Result<Validation, FormatError> {
        mementory_formats_shared::check::validate(self, catalog, detected, limits)
    }
}

/// Returns one claim for each file and database. `is_selected` is true if the user selected this format.
fn claims(catalog: &Catalog, is_selected: bool) -> Result<Vec<Claim>, FormatError> {
    let claim = |member: &Member| {
        let is_markdown = markdown::is_export(catalog, member);
        let is_certain = is_mem0(catalog, member, false);
        let is_likely = !is_markdown && !is_certain && is_likely_mem0(catalog, member);
        (is_markdown || is_certain || is_likely || is_selected && is_mem0(catalog, member, true)).then(|| Claim {
            version: None,
            confidence: match (is_markdown, is_certain) {
                (true, _) => 0.9,
                (false, true) => 0.8,
                // The confidence is low, so that other formats whose files have the same members take precedence.
                (false, false) if is_likely => 0.45,
                (false, false) => 0.2,
            },
            reason: if is_markdown { "an export of mem0's plugin" } else { "memories in mem0's format" }.into(),
            parts: vec![Part { member: member.id, role: Role::Memories }],
            missing_parts: vec![],
        })
    };
    let mut out: Vec<Claim> = catalog.members().iter().filter_map(claim).collect();
    let tables = catalog.members().iter().filter(|member| table::is_table(catalog, member));
    out.extend(tables.map(|member| Claim {
        version: None,
        confidence: 0.8,
        reason: "a table of memories with mem0's columns".into(),
        parts: vec![Part { member: member.id, role: Role::Records }],
        missing_parts: vec![],
    }));
    out.extend(sqlite_rows::claims(catalog, 0.9, "the history of memories that mem0 keeps", |schema| {
        schema.has_table("history", &["memory_id", "old_memory", "new_memory", "event"])
    }));
    Ok(out)
}

/// Members that, besides the text, only mem0's memories have. `memory`, `id`, `user_id` and the times are not enough,
/// because the reference program of MIF writes them too.
const MEM0_KEYS: [&str; 10] = [
    "hash",
    "categories",
    "run_id",
    "actor_id",
    "app_id",
    "expiration_date",
    "structured_attributes",
    "score",
    "attributed_to",
    "event",
];

/// Prefixes of the paths of points of a vector store. A file is a list of points, the `result` of a response of Qdrant,
/// or the whole response.
const POINT_LISTS: [&str; 4] = ["", "points.", "result.points.", "result."];

/// True for points of mem0's vector store, whose payload contains the text of the memory as `data`, and its owner or
/// time.
fn has_points_at(keys: &mementory_json::Keys, list: &str) -> bool {
    let has = |key: &str| keys.has(&format!("{list}payload.{key}"));
    has("data") && ["hash", "user_id", "agent_id", "run_id", "created_at"].iter().any(|key| has(key))
}

fn is_mem0(catalog: &Catalog, member: &Member, is_selected: bool) -> bool {
    let Some(JsonHead { first, keys, .. }) = JsonHead::of(catalog, member) else { return false };
    let has_needed_key = ["memory", "payload", "relations"].iter().any(|key| keys.has_name(key));
    if !matches!(first, b'[' | b'{') || !has_needed_key && !is_selected {
        return false;
    }
    let has_memories_at = |at: &str| {
        let has = |key: &str| keys.has(&if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") });
        let has_text = has("memory") || is_selected && (has("text") || has("data"));
        let has_mem0_key =
            MEM0_KEYS.iter().any(|key| has(key)) || has("user_id") && (has("metadata") || !at.is_empty());
        // In files of other programs, `memory` is an object that contains the text as `content`.
        has_text && !has("memory.content") && (has_mem0_key || is_selected)
    };
    // The file contains relations but no memories, as the writer of this format produces it for a vault without
    // memories.
    let has_relations = ["source", "relationship", "target"].iter().all(|key| keys.has(&format!("relations.{key}")));
    has_relations && keys.has("results")
        || POINT_LISTS.iter().any(|list| has_points_at(&keys, list))
        || has_memories_at("")
        || first == b'{' && ["results", "memories", "data"].into_iter().any(has_memories_at)
}

/// True for an object that contains memories of an account, even if it has no member of [`MEM0_KEYS`]. Also true for a
/// response without memories.
fn is_likely_mem0(catalog: &Catalog, member: &Member) -> bool {
    let Some(head) = Head::candidate(catalog, member) else { return false };
    let is_row = |list: &str| head.has_all(list, &["id", "memory"]) && head.has_any(list, &["user_id", "agent_id"]);
    let is_text = || head.has_text_value("memory");
    // The reference program of MIF writes such rows in a list at the top level, so such a list is not enough.
    if !head.is_list && ["", "results"].into_iter().any(is_row) && is_text() {
        return true;
    }
    // The head may be the whole response for an account without memories.
    if !head.has("results") {
        return false;
    }
    let response: Option<serde_json::Map<String, serde_json::Value>> = serde_json::from_slice(&head.bytes()).ok();
    response.is_some_and(|response| {
        let is_known = |(key, value): (&String, &serde_json::Value)| match key.as_str() {
            "results" | "relations" => value.as_array().is_some_and(Vec::is_empty),
            "count" | "next" | "previous" | "total" => true,
            _ => false,
        };
        response.contains_key("results") && response.iter().all(is_known)
    })
}

/// Returns the key of a memory or relation: its id, or else the SHA-256 of its text.
fn record_key(id: Option<&str>, content: &str) -> RecordKey {
    let content_hash = || format!("sha256:{}", hex::encode(Sha256::digest(content)));
    RecordKey::new(ID, id.map_or_else(content_hash, str::to_owned))
}
