//! Integers below 0, which the schemas of all kinds forbid. The vault keeps such a value in the record's verbatim, and
//! an import reports it. An export sets the field to 0 and adds the original value under `mementory_forbidden`.
use super::{
    kinds::{KindSpec, Type},
    wire::integer,
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

/// Names of the fields whose value is forbidden.
pub(super) fn forbidden_fields(spec: &KindSpec, tree: &Tree) -> Vec<&'static str> {
    let integers = spec.fields.iter().filter(|field| field.ty == Type::Int);
    integers.map(|field| field.name).filter(|name| is_below_zero(tree.get(name))).collect()
}

/// Moves forbidden values to [`FORBIDDEN_VALUES_MEMBER`] and sets their fields to 0. Returns the names of the fields.
pub(super) fn move_forbidden_values(spec: &KindSpec, tree: &mut Tree) -> Vec<&'static str> {
    let names = forbidden_fields(spec, tree);
    if names.is_empty() {
        return names;
    }
    let mut moved_values = match tree.get(FORBIDDEN_VALUES_MEMBER) {
        Some(moved_values @ Tree::Object(_)) => moved_values.clone(),
        _ => Tree::Object(vec![]),
    };
    for name in &names {
        moved_values.set(name, tree.get(name).cloned().unwrap_or(Tree::Null));
        tree.set(name, Tree::Number("0".into()));
    }
    tree.set(FORBIDDEN_VALUES_MEMBER, moved_values);
    names
}
