//! Makes a tree follow its rule.
use super::{Place, RepeatedKeys, Rule, Violation, check, place::PathStep};
use crate::Tree;
use std::collections::BTreeSet;

/// Largest number of values that are changed in one round. A hostile file may have a million invalid values.
const MAX_PLACES: usize = 2000;
/// Largest number of rounds. A removed value may leave its object without a required member, which the next round
/// finds. The deepest rule has fewer levels than this.
const MAX_ROUNDS: usize = 16;

/// Changes a tree until it has no violation for which `is_forbidden` is true. A value with such a violation is replaced
/// with the value of `fallback` at the same place. If `fallback` has no value there, the invalid value is removed, and
/// if it was required, its object is also removed. If an item of a list is invalid, the whole list is replaced or
/// removed, because the length of a vector has a meaning. A value inside an object in a list is treated like any other.
///
/// Returns the names of the changed top-level members. Returns None, with the tree partly changed, if the tree cannot
/// be made to follow its rule, for example because `fallback` also lacks a required member.
pub fn make_valid(
    tree: &mut Tree,
    rule: &Rule,
    fallback: &Tree,
    is_forbidden: &dyn Fn(&Violation) -> bool,
) -> Option<BTreeSet<String>> {
    let mut changed = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let mut places = BTreeSet::new();
        check(tree, rule, RepeatedKeys::Accept, &mut |at, violation| {
            if is_forbidden(&violation) {
                places.insert(place_to_change(at, violation == Violation::MissingField, fallback));
            }
        });
        if places.is_empty() {
            return Some(changed);
        }
        // Each change is slow, because it searches an object or moves the items of a list, so the number of changes is
        // limited.
        if places.len() > MAX_PLACES {
            return None;
        }
        // The order is reversed, so that the removal of an item does not move the items that are still to be removed.
        for path in places.iter().rev() {
            let Some(PathStep::Member(name)) = path.first() else { return None };
            changed.insert(name.clone());
            let new_value = value_at(fallback, path).filter(|new| value_at(tree, path) != Some(*new)).cloned();
            change(tree, path, new_value);
        }
    }
    None
}

/// Path of the value that must change because of a violation at this place.
fn place_to_change(at: &Place<'_>, is_missing: bool, fallback: &Tree) -> Vec<PathStep> {
    let mut path = at.path();
    if let [.., PathStep::Item(_)] = path.as_slice() {
        path.pop();
    } else if is_missing && value_at(fallback, &path).is_none() {
        path.pop();
    }
    path
}

fn value_at<'t>(tree: &'t Tree, path: &[PathStep]) -> Option<&'t Tree> {
    path.iter().try_fold(tree, |tree, step| match (step, tree) {
        (PathStep::Member(name), tree) => tree.get(name),
        // The items of the two lists may not correspond, so no single item is copied.
        (PathStep::Item(_), _) => None,
    })
}

/// Sets or removes the value at this path.
fn change(tree: &mut Tree, path: &[PathStep], new_value: Option<Tree>) {
    match (path, tree) {
        ([PathStep::Member(name)], object) => match new_value {
            Some(value) => object.set(name, value),
            None => object.remove(name),
        },
        ([PathStep::Item(index)], Tree::Array(items)) if *index < items.len() => drop(items.remove(*index)),
        ([PathStep::Member(name), deeper @ ..], Tree::Object(members)) => {
            if let Some((_, value)) = members.iter_mut().rev().find(|(key, _)| key == name) {
                change(value, deeper, new_value);
            }
        }
        ([PathStep::Item(index), deeper @ ..], Tree::Array(items)) => {
            if let Some(item) = items.get_mut(*index) {
                change(item, deeper, new_value);
            }
        }
        _ => {}
    }
}
