//! Values that the schema forbids, such as a confidence of 1.7. The vault keeps such a value in the record's verbatim,
//! and an import reports it. An export removes it from its member. Memories, messages and conversations have one member
//! that may contain anything; there the value is written under its JSON pointer. Relations and entries of the index
//! have no such member. A required member gets the closest value that the schema allows.
use super::{
    schema::{CONVERSATION_RULE, INDEX_RULE, MEMORY_RULE, MEMORY_TYPES, MESSAGE_RULE, RELATION_RULE},
    schema_check::check,
};
use mementory_json::{Tree, schema::Rule};
use std::collections::BTreeSet;

/// Member of `metadata` or `raw_metadata` with the forbidden values.
const FORBIDDEN_VALUES_MEMBER: &str = "mementory_forbidden";

/// Content that is written for a memory whose content is empty.
pub(super) const EMPTY_CONTENT: &str = "(empty)";

/// Codes of the faults of a value that is present but forbidden.
const VALUE_CODES: [&str; 4] = ["bad_value", "wrong_type", "bad_date", "empty"];

/// A kind of object, and where its forbidden values go.
pub(super) struct ObjectKind {
    rule: &'static Rule,
    /// The member that may contain anything.
    holder: Option<&'static str>,
    /// Pointers to the members without which the object is invalid.
    required: &'static [&'static str],
    /// Pointers to optional objects that are invalid if one of their members is missing.
    blocks: &'static [&'static str],
}

impl ObjectKind {
    /// True if the object has a member that may contain anything.
    pub fn has_holder(&self) -> bool {
        self.holder.is_some()
    }
}

/// A memory (§4).
pub(super) static MEMORY: ObjectKind = ObjectKind {
    rule: &MEMORY_RULE,
    holder: Some("metadata"),
    required: &[
        "/id",
        "/type",
        "/content",
        "/content_hash",
        "/temporal",
        "/temporal/created_at",
        "/provenance",
        "/provenance/platform",
    ],
    blocks: &[],
};
/// A relation (§13).
pub(super) static RELATION: ObjectKind = ObjectKind {
    rule: &RELATION_RULE,
    holder: None,
    required: &["/id", "/from", "/to", "/type", "/created_at"],
    blocks: &[],
};
/// An entry of the index (§14).
pub(super) static INDEX_ENTRY: ObjectKind = ObjectKind {
    rule: &INDEX_RULE,
    holder: None,
    required: &["/id", "/platform", "/temporal", "/temporal/created_at"],
    blocks: &["/storage"],
};
/// A conversation without its messages (§25).
pub(super) static CONVERSATION: ObjectKind = ObjectKind {
    rule: &CONVERSATION_RULE,
    holder: Some("raw_metadata"),
    required: &[
        "/schema",
        "/schema_version",
        "/id",
        "/provider",
        "/provider/name",
        "/temporal",
        "/temporal/created_at",
        "/messages",
    ],
    blocks: &[],
};
/// A message (§25.3).
pub(super) static MESSAGE: ObjectKind = ObjectKind {
    rule: &MESSAGE_RULE,
    holder: Some("raw_metadata"),
    required: &["/id", "/role", "/content/type", "/created_at"],
    blocks: &[],
};

/// Pointers to the members with a forbidden value. A pointer has one part (a member of the object) or two (a member of
/// one of its objects).
fn forbidden_members(tree: &Tree, kind: &ObjectKind) -> BTreeSet<String> {
    let faults = check(kind.rule, tree);
    let values = faults.iter().filter(|fault| !fault.is_warning && VALUE_CODES.contains(&fault.code));
    let pointers = values.filter_map(|fault| {
        let mut parts = fault.pointer.split('/').skip(1);
        let top = parts.next()?;
        match (tree.get(top), parts.next()) {
            (Some(Tree::Object(_)), Some(name)) if !kind.blocks.contains(&format!("/{top}").as_str()) => {
                Some(format!("/{top}/{name}"))
            }
            _ => Some(format!("/{top}")),
        }
    });
    let mut out: BTreeSet<String> = pointers.collect();
    // Only the type `custom` has a custom type.
    let is_known = tree.get("type").and_then(Tree::as_str).is_some_and(|t| t != "custom" && MEMORY_TYPES.contains(&t));
    if kind.holder == Some("metadata") && is_known && tree.get("custom_type").is_some_and(|v| *v != Tree::Null) {
        out.insert("/custom_type".into());
    }
    out
}

fn value_at<'t>(tree: &'t Tree, pointer: &str) -> Option<&'t Tree> {
    pointer.split('/').skip(1).try_fold(tree, |at, name| at.get(name))
}

/// Sets or removes the value at a pointer of one or two parts.
fn set_at(tree: &mut Tree, pointer: &str, value: Option<Tree>) {
    let change = |tree: &mut Tree, name: &str, value: Option<Tree>| match value {
        Some(value) => tree.set(name, value),
        None => tree.remove(name),
    };
    let mut parts = pointer.split('/').skip(1);
    match (parts.next(), parts.next()) {
        (Some(top), Some(name)) => {
            let Some(mut block) = tree.get(top).cloned() else { return };
            change(&mut block, name, value);
            tree.set(top, block);
        }
        (Some(top), None) => change(tree, top, value),
        _ => {}
    }
}

/// Moves forbidden values out of their members. `replacement` returns the new value of a required member. If it returns
/// None, the member is not changed. Returns the pointers of the moved values.
pub(super) fn move_forbidden_values(
    tree: &mut Tree,
    kind: &ObjectKind,
    replacement: &dyn Fn(&Tree, &str) -> Option<Tree>,
) -> Vec<String> {
    let mut moved: Vec<(String, Tree)> = Vec::new();
    for pointer in forbidden_members(tree, kind) {
        let Some(value) = value_at(tree, &pointer).cloned() else { continue };
        let new_value = match kind.required.contains(&pointer.as_str()) {
            true => match replacement(tree, &pointer) {
                Some(new_value) => Some(new_value),
                None => continue,
            },
            false => None,
        };
        set_at(tree, &pointer, new_value);
        moved.push((pointer, value));
    }
    let pointers: Vec<String> = moved.iter().map(|(pointer, _)| pointer.clone()).collect();
    if let Some(holder) = kind.holder.filter(|_| !moved.is_empty()) {
        let mut data = match tree.get(holder) {
            Some(data @ Tree::Object(_)) => data.clone(),
            _ => Tree::Object(vec![]),
        };
        let mut moved_values = match data.get(FORBIDDEN_VALUES_MEMBER) {
            Some(moved_values @ Tree::Object(_)) => moved_values.clone(),
            _ => Tree::Object(vec![]),
        };
        moved.into_iter().for_each(|(pointer, value)| moved_values.set(&pointer, value));
        data.set(FORBIDDEN_VALUES_MEMBER, moved_values);
        tree.set(holder, data);
    }
    pointers
}

/// True if [`EMPTY_CONTENT`] was written because the content of the memory was empty.
pub(super) fn had_empty_content(tree: &Tree) -> bool {
    let moved_values = tree.get("metadata").and_then(|data| data.get(FORBIDDEN_VALUES_MEMBER));
    moved_values.and_then(|moved_values| moved_values.get("/content")).and_then(Tree::as_str) == Some("")
        && tree.get("content").and_then(Tree::as_str) == Some(EMPTY_CONTENT)
}
