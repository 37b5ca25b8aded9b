//! Values of a memory's optional members that the schema forbids, such as a confidence of 1.7. The vault keeps them in
//! the record's verbatim and an import reports them. An exported memory has them in `metadata.mementory_forbidden`, by
//! their pointers, and not in the members themselves.
use super::{schema::MEMORY_RULE, schema_check::check};
use mementory_json::Tree;
use std::collections::BTreeSet;

/// Member of `metadata` with the forbidden values.
const FORBIDDEN_VALUES_MEMBER: &str = "mementory_forbidden";

/// Members without which an object is no memory. Their values are not moved.
const REQUIRED_MEMBERS: [&str; 9] = [
    "/id",
    "/type",
    "/custom_type",
    "/content",
    "/content_hash",
    "/temporal",
    "/temporal/created_at",
    "/provenance",
    "/provenance/platform",
];

/// Codes of the faults that mean that a value is present but forbidden.
const VALUE_CODES: [&str; 4] = ["bad_value", "wrong_type", "bad_date", "empty"];

/// Pointers to the members with a forbidden value. A pointer has one part (a member of the memory) or two (a member of
/// one of its objects).
fn forbidden_members(tree: &Tree) -> BTreeSet<String> {
    let faults = check(&MEMORY_RULE, tree);
    let values = faults.iter().filter(|fault| !fault.is_warning && VALUE_CODES.contains(&fault.code));
    let pointers = values.filter_map(|fault| {
        let mut parts = fault.pointer.split('/').skip(1);
        let top = parts.next()?;
        match (tree.get(top), parts.next()) {
            (Some(Tree::Object(_)), Some(name)) => Some(format!("/{top}/{name}")),
            _ => Some(format!("/{top}")),
        }
    });
    pointers.filter(|pointer| !REQUIRED_MEMBERS.contains(&pointer.as_str())).collect()
}

/// Moves forbidden values to `metadata`. Returns their pointers.
pub(super) fn move_forbidden_values(tree: &mut Tree) -> Vec<String> {
    let mut kept = Vec::new();
    for pointer in forbidden_members(tree) {
        let mut parts = pointer.split('/').skip(1);
        let (Some(top), name) = (parts.next(), parts.next()) else { continue };
        let Some(mut block) = tree.get(top).cloned() else { continue };
        let value = match name {
            Some(name) => {
                let value = block.get(name).cloned();
                block.remove(name);
                tree.set(top, block);
                value
            }
            None => {
                tree.remove(top);
                Some(block)
            }
        };
        kept.extend(value.map(|value| (pointer.clone(), value)));
    }
    if kept.is_empty() {
        return Vec::new();
    }
    let mut metadata = match tree.get("metadata") {
        Some(metadata @ Tree::Object(_)) => metadata.clone(),
        _ => Tree::Object(vec![]),
    };
    let pointers = kept.iter().map(|(pointer, _)| pointer.clone()).collect();
    metadata.set(FORBIDDEN_VALUES_MEMBER, Tree::Object(kept));
    tree.set("metadata", metadata);
    pointers
}
