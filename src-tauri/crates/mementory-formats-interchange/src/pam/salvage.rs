//! Decides which faults of a store a salvage can ignore. The checksum covers all memories together, so a wrong checksum
//! does not show which memory is changed or missing. A salvage reads the memories that match their content hash and the
//! schema. Relations, conversations and embeddings have no checksum and are read as usual. Truncated or damaged files
//! are skipped.
use super::{
    hash::content_hash,
    schema::MEMORY_RULE,
    schema_check::{Fault, check},
};
use mementory_format::{Catalog, Detected, Role};
use mementory_json::Tree;

/// Code for a memory that does not match its content hash or the schema, in a store with a wrong checksum.
pub(super) const DAMAGED_MEMORY_CODE: &str = "memory_damaged";

/// Codes of the faults that a salvage ignores. The last six are the codes for files that the catalog does not read. An
/// import refuses a source with such a file, so that conversations without their encrypted store are not mistaken for a
/// complete export.
pub(super) const SALVAGEABLE_CODES: [&str; 12] = [
    "truncated_archive",
    "damaged_entry",
    "malformed",
    "checksum_mismatch",
    "count_mismatch",
    DAMAGED_MEMORY_CODE,
    "encrypted",
    "unsupported_compression",
    "link",
    "not_a_regular_file",
    "unsafe_name",
    "duplicate_name",
];

/// True if a salvage ignores a fault with this code at this place. An unreadable store cannot be salvaged, because the
/// store contains the owner and the list of conversations.
pub(super) fn can_salvage(catalog: &Catalog, detected: &Detected, code: &str, place: &str) -> bool {
    let stores = detected.claim.parts.iter().filter(|part| part.role == Role::Memories);
    let is_store = stores.filter_map(|part| catalog.members().get(part.member)).any(|store| store.place == place);
    SALVAGEABLE_CODES.contains(&code) && !(is_store && ["damaged_entry", "malformed"].contains(&code))
}

/// True if a memory matches its content hash and the schema.
pub(super) fn is_intact(tree: &Tree) -> bool {
    matches_content_hash(tree) && fits_schema(&check(&MEMORY_RULE, tree))
}

/// True if a memory has a content and the hash of it.
pub(super) fn matches_content_hash(tree: &Tree) -> bool {
    let text = |name: &str| tree.get(name).and_then(Tree::as_str);
    text("content").zip(text("content_hash")).is_some_and(|(text, hash)| content_hash(text) == hash)
}

/// True if a memory with these faults matches the schema, or may match that of a later version.
pub(super) fn fits_schema(faults: &[Fault]) -> bool {
    faults.iter().all(|fault| fault.is_warning || fault.code == "unknown_field")
}
