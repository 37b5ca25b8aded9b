//! Detects answers of Hindsight's API and archives of its banks by the members of memories, documents and directives.
use mementory_format::{Catalog, Claim, Member, Part, Role};
use mementory_formats_shared::memory_heads::{self, Head};

/// Keys under which an answer contains its entries: `results` for an answer to a question, else `items`.
pub(super) const LIST_KEYS: [&str; 2] = ["items", "results"];

/// Returns one claim for the files of each archive or selected folder.
pub(super) fn claims(catalog: &Catalog) -> Vec<Claim> {
    let test = |member: &Member| {
        let head = Head::of(catalog, member)?;
        if head.has_all("", &["schema_version", "source_bank_id", "fact_count"]) {
            return Some(("", Role::Sidecar));
        }
        if is_observation(&head) {
            return Some(("", Role::Records));
        }
        (is_document(&head, member) || has_memories(&head)).then_some(("", Role::Memories))
    };
    let mut out = memory_heads::claims_with_roles(catalog, 0.9, "a memory bank of Hindsight", test);
    out.retain(|claim| claim.parts.iter().any(|part| part.role != Role::Sidecar));
    let has_document = |part: &Part| {
        let member = catalog.members().get(part.member);
        member.is_some_and(|member| Head::of(catalog, member).is_some_and(|head| is_document(&head, member)))
    };
    // Memories refer to documents, and observations to the facts in documents, so documents are read first and
    // observations last.
    let rank = |part: &Part| (part.role == Role::Records, !has_document(part));
    out.iter_mut().for_each(|claim| claim.parts.sort_by_cached_key(rank));
    out
}

fn has_memories(head: &Head) -> bool {
    let is_row = |list: &str| is_memory(head, list) || is_bank_row(head, list);
    std::iter::once("").chain(LIST_KEYS).any(is_row)
}

/// True for a memory in an answer. Many programs write an id with a text, so the times of an event or of a mention and
/// the place at which the memory was found are required as well.
fn is_memory(head: &Head, list: &str) -> bool {
    head.has_all(list, &["id", "text"])
        && head.has_any(list, &["fact_type", "type"])
        && head.has_any(list, &["occurred_start", "mentioned_at"])
        && head.has_any(list, &["context", "chunk_id", "document_id"])
}

/// True for a mental model or a directive of a bank.
fn is_bank_row(head: &Head, list: &str) -> bool {
    let is_model = head.has_any(list, &["source_query", "last_refreshed_at"]);
    head.has_all(list, &["id", "bank_id", "name", "content"])
        && (is_model || head.has_all(list, &["priority", "is_active"]))
}

/// True for a document, in an archive or in an answer. A long text may fill the whole head, so a document in an archive
/// is also known by its name.
fn is_document(head: &Head, member: &Member) -> bool {
    let has_others = || head.has_any("", &["retain_params", "facts", "memory_unit_count", "content_hash"]);
    head.has_all("", &["id", "original_text"]) && (is_numbered(member) || has_others())
}

/// True for a name as archives give it to documents, such as `documents/000007.json`.
pub(super) fn is_numbered(member: &Member) -> bool {
    let mut folders = member.name.rsplit('/');
    let number = folders.next().and_then(|name| name.strip_suffix(".json")).unwrap_or_default();
    number.len() == 6 && number.bytes().all(|byte| byte.is_ascii_digit()) && folders.next() == Some("documents")
}

/// True for the list of observations in an archive.
fn is_observation(head: &Head) -> bool {
    head.has_all("", &["text", "proof_count", "sources"]) && head.has_any("", &["mentioned_at", "observation_scopes"])
}
