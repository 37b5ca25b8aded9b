//! Which faults of an export leave something whole in it. The checksum covers all memories together, so a wrong one says
//! that a memory was changed or is missing, but not which. The memories that match their own hash and the schema are
//! taken; relations, conversations and embeddings have no checksum and are read as always. Nothing is taken from a file
//! that cannot be read to its end.
use super::{hash::content_hash, schema::MEMORY_RULE, schema_check::check};
use mementory_format::{Catalog, Detected, Role};
use mementory_json::Tree;

/// Code for a memory that does not match its own hash or the schema, in a store with a wrong checksum.
pub(super) const DAMAGED_MEMORY_CODE: &str = "memory_damaged";

/// Codes of the faults that a salvage passes over.
pub(super) const PASSED_OVER_CODES: [&str; 6] =
    ["truncated_archive", "damaged_entry", "malformed", "checksum_mismatch", "count_mismatch", DAMAGED_MEMORY_CODE];

/// True if a salvage passes over this fault at this place. A store that cannot be read leaves nothing, because it names
/// the owner and the conversations.
pub(super) fn can_salvage(catalog: &Catalog, detected: &Detected, code: &str, place: &str) -> bool {
    let stores = detected.claim.parts.iter().filter(|part| part.role == Role::Memories);
    let is_store = stores.filter_map(|part| catalog.members().get(part.member)).any(|store| store.place == place);
    PASSED_OVER_CODES.contains(&code) && !(is_store && ["damaged_entry", "malformed"].contains(&code))
}

/// True if a memory matches its own hash and the schema.
pub(super) fn is_whole(tree: &Tree) -> bool {
    let text = |name: &str| tree.get(name).and_then(Tree::as_str);
    let hashed = text("content").zip(text("content_hash")).is_some_and(|(text, hash)| content_hash(text) == hash);
    hashed && check(&MEMORY_RULE, tree).iter().all(|fault| fault.is_warning || fault.code == "unknown_field")
}
