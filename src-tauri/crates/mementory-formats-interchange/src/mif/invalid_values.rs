//! Values that the format forbids, such as an importance of 1.7. The vault keeps such a value in the record's verbatim,
//! and an import reports it. An export replaces or removes it, and adds the verbatim to the extension slot.
use super::{
    redaction::has_valid_position,
    schema::code_of,
    sections::{MEMORIES_SECTION, Section},
    wire::{Shape, text, version_of},
};
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Violation, check, make_valid},
};
use std::collections::{BTreeSet, HashMap};

/// New ids, by list key and original id, for elements whose original id cannot be written.
pub(super) type RenamedIds = HashMap<(&'static str, String), String>;

/// Result of checking an element for invalid values.
pub(super) struct Faults {
    /// True if the element contains an invalid value.
    pub has_invalid_value: bool,
    /// True if the element's id is invalid, or missing although it is required.
    pub has_invalid_id: bool,
}

fn is_invalid(violation: &Violation) -> bool {
    !code_of(violation).1
}

/// Checks an element of a list.
pub(super) fn find_faults(tree: &Tree, section: &Section, shape: Shape) -> Faults {
    let mut out = Faults { has_invalid_value: valid_redactions(tree, section).is_some(), has_invalid_id: false };
    check(tree, shape.element_rule(section), RepeatedKeys::Accept, &mut |at, violation| {
        if is_invalid(&violation) {
            out.has_invalid_value = true;
            out.has_invalid_id |= at.to_string() == "/id";
        }
    });
    out
}

/// The redactions of a memory, except redactions with invalid positions. None if all positions are valid.
fn valid_redactions(tree: &Tree, section: &Section) -> Option<Tree> {
    let Some(Tree::Array(items)) = tree.get("redactions").filter(|_| *section == MEMORIES_SECTION) else { return None };
    let valid: Vec<Tree> = items.iter().filter(|item| has_valid_position(item)).cloned().collect();
    (valid.len() < items.len()).then_some(Tree::Array(valid))
}

/// Replaces the invalid values of an element with the values of `composed`, a new element made from the same record.
/// Values that are not in `composed` are removed. Returns the names of the changed members, or None if the element
/// still has invalid values.
pub(super) fn replace_invalid_values(
    tree: &mut Tree,
    section: &Section,
    shape: Shape,
    composed: &Tree,
) -> Option<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    if let Some(redactions) = valid_redactions(tree, section) {
        tree.set("redactions", redactions);
        names.insert("redactions".to_owned());
    }
    names.extend(make_valid(tree, shape.element_rule(section), composed, &is_invalid)?);
    Some(names)
}

/// Like [`replace_invalid_values`], for a document without its records. Replacements come from `new`.
pub(super) fn repair_document(root: &mut Tree, shape: Shape, new: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut take = |root: &mut Tree, name: &str| {
        root.set(name, new.get(name).cloned().unwrap_or(Tree::Null));
        names.insert(name.to_owned());
    };
    if version_of(root).is_some_and(|version| !version.starts_with(&shape.version()[..1])) {
        take(root, "mif_version");
    }
    // Name and version are replaced together, because they must describe the same program.
    let generator = root.get("generator");
    if generator.is_some_and(|program| ["name", "version"].iter().any(|name| text(program, name).is_none())) {
        take(root, "generator");
    }
    match make_valid(root, shape.document_rule(), new, &is_invalid) {
        Some(replaced_names) => names.extend(replaced_names),
        None => {
            root.clone_from(new);
            names.insert("document".to_owned());
        }
    }
    names
}

/// The lists whose ids a member of an element can contain.
fn referenced_lists(section: &Section, member: &str) -> &'static [&'static str] {
    match (section.key, member) {
        ("memory" | "todo", "related_memories" | "related_memory_ids") | ("memory", "parent_id") => &["memory"],
        ("memory" | "todo", "related_todos" | "related_todo_ids")
        | ("todo", "parent_id" | "subtask_ids" | "blocked_by" | "blocked_on") => &["todo"],
        ("todo", "project_id") => &["project"],
        ("edge", "source" | "target") => &["memory", "todo", "node"],
        ("relationship", "source_entity_id" | "target_entity_id") => &["entity"],
        _ => &[],
    }
}

/// Updates references to elements that get a new id. Returns true if a reference was updated.
pub(super) fn rename_references(tree: &mut Tree, section: &Section, ids: &RenamedIds) -> bool {
    let Tree::Object(members) = tree else { return false };
    if ids.is_empty() {
        return false;
    }
    let mut is_changed = false;
    for (name, value) in members {
        if (section.key, name.as_str()) == ("memory", "relations") {
            is_changed |= rename_references(value, section, ids);
            continue;
        }
        let lists = referenced_lists(section, name);
        let items = match value {
            Tree::Array(items) => items.as_mut_slice(),
            one => std::slice::from_mut(one),
        };
        for item in items {
            let Tree::Text(id) = item else { continue };
            if let Some(new) = lists.iter().find_map(|list| ids.get(&(*list, id.clone()))) {
                id.clone_from(new);
                is_changed = true;
            }
        }
    }
    is_changed
}
