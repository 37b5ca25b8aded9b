//! Integers below 0 and empty ids, which the schemas of all kinds forbid. The vault keeps such a value in the record's
//! verbatim, and an import reports it. An export sets the field to 0 or a new id and adds the original value under
//! `mementory_forbidden`.
use super::{
    kinds::{KindSpec, Type},
    wire::{integer, text},
};
use mementory_json::Tree;

/// Member of a line that contains its forbidden values.
pub(super) const FORBIDDEN_VALUES_MEMBER: &str = "mementory_forbidden";

/// True for an integer below 0.
pub(super) fn is_below_zero(value: Option<&Tree>) -> bool {
    match value {
        Some(Tree::Number(token)) => integer(token).is_some_and(|digits| digits.starts_with('-') && digits != "-0"),
        _ => false,
    }
}

/// Names of the integer fields whose value is forbidden.
pub(super) fn forbidden_fields(spec: &KindSpec, tree: &Tree) -> Vec<&'static str> {
    let integers = spec.fields.iter().filter(|field| field.ty == Type::Int);
    integers.map(|field| field.name).filter(|name| is_below_zero(tree.get(name))).collect()
}

/// True if one of the fields that make up the id is empty.
pub(super) fn has_empty_id(spec: &KindSpec, tree: &Tree) -> bool {
    spec.id.iter().any(|name| text(tree, name) == Some(""))
}

/// Moves forbidden values to [`FORBIDDEN_VALUES_MEMBER`]. A forbidden integer is replaced with 0, and a forbidden id,
/// if it is a single field, with `new_id`. Returns the names of the changed fields.
pub(super) fn move_forbidden_values(spec: &KindSpec, tree: &mut Tree, new_id: &str) -> Vec<&'static str> {
    let mut names = forbidden_fields(spec, tree);
    let empty_id = spec.id.first().copied().filter(|_| spec.id.len() == 1 && has_empty_id(spec, tree));
    names.extend(empty_id);
    if names.is_empty() {
        return names;
    }
    let mut moved_values = match tree.get(FORBIDDEN_VALUES_MEMBER) {
        Some(moved_values @ Tree::Object(_)) => moved_values.clone(),
        _ => Tree::Object(vec![]),
    };
    for name in &names {
        moved_values.set(name, tree.get(name).cloned().unwrap_or(Tree::Null));
        let allowed_value = if Some(*name) == empty_id { Tree::Text(new_id.into()) } else { Tree::Number("0".into()) };
        tree.set(name, allowed_value);
    }
    tree.set(FORBIDDEN_VALUES_MEMBER, moved_values);
    names
}
