//! Integers below 0 and empty ids, which the schemas of all kinds forbid. The vault keeps such a value in the record's
//! verbatim, and an import reports it. An export sets the field to 0 or a new id and adds the original value under
//! `mementory_forbidden`.
use super::{
    kinds::{KindSpec, Type},
    wire::{integer, text},
};
use mementory_json::Tree;

/// Member of a line that contains its invalid values.
pub(super) const INVALID_VALUES_MEMBER: &str = "mementory_forbidden";

/// True for an integer below 0.
pub(super) fn is_below_zero(value: Option<&Tree>) -> bool {
    match value {
        Some(Tree::Number(token)) => integer(token).is_some_and(|digits| digits.starts_with('-') && digits != "-0"),
        _ => false,
    }
}

/// Names of the integer fields whose value is invalid.
pub(super) fn negative_fields(spec: &KindSpec, tree: &Tree) -> Vec<&'static str> {
    let integers = spec.fields.iter().filter(|field| field.ty == Type::Int);
    integers.map(|field| field.name).filter(|name| is_below_zero(tree.get(name))).collect()
}

/// True if one of the fields that make up the id is empty.
pub(super) fn has_empty_id(spec: &KindSpec, tree: &Tree) -> bool {
    spec.id.iter().any(|name| text(tree, name) == Some(""))
}

/// Moves invalid values to [`INVALID_VALUES_MEMBER`]. An invalid integer is replaced with 0, and an invalid id,
/// if it is a single field, with `new_id`. Returns the names of the changed fields.
pub(super) fn move_invalid_values(spec: &KindSpec, tree: &mut Tree, new_id: &str) -> Vec<&'static str> {
    let mut names = negative_fields(spec, tree);
    let empty_id = spec.id.first().copied().filter(|_| spec.id.len() == 1 && has_empty_id(spec, tree));
    names.extend(empty_id);
    if names.is_empty() {
        return names;
    }
    let mut moved_values = match tree.get(INVALID_VALUES_MEMBER) {
        Some(moved_values @ Tree::Object(_)) => moved_values.clone(),
        _ => Tree::Object(vec![]),
    };
    for name in &names {
        moved_values.set(name, tree.get(name).cloned().unwrap_or(Tree::Null));
        let allowed_value = if Some(*name) == empty_id { Tree::Text(new_id.into()) } else { Tree::Number("0".into()) };
        tree.set(name, allowed_value);
    }
    tree.set(INVALID_VALUES_MEMBER, moved_values);
    names
}
