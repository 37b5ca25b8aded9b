//! Values of a memory line that the specification forbids (schema of a memory record, §3.1), such as a confidence of
//! 1.7, an id that is not a UUID, empty content, or a vector whose length differs from its dimensions. The vault keeps
//! such a value in the record's verbatim, and an import reports it. An export moves it to
//! `raw_source_format.mementory_forbidden`, under its JSON pointer. In its place, the export writes a valid value or
//! leaves the field out.
use super::manifest::parse_whole_number;
use super::partitions::stable_v7;
use super::schema;
use super::vocabulary::EMPTY_CONTENT;
use super::wire::FORBIDDEN_VALUES_MEMBER;
use mementory_json::{
    Tree,
    schema::{RepeatedKeys, Violation, check},
};
use mementory_model::Timestamp;
use std::collections::BTreeSet;

/// JSON pointers to the forbidden values. Other values that violate the schema (a date without a time, an entity
/// without a type) still have a meaning and are written unchanged.
pub(super) fn find_forbidden_values(tree: &Tree) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    check(tree, &schema::MEMORY_RULE, RepeatedKeys::Accept, &mut |at, violation| {
        let at = at.to_string();
        let forbidden = match at.split('/').nth(1) {
            Some("id" | "content" | "confidence") => violation != Violation::MissingField,
            Some("embeddings") => true,
            _ => false,
        };
        if forbidden && !schema::code_of(&violation).1 {
            out.insert(at);
        }
    });
    if let Some(Tree::Array(all)) = tree.get("embeddings") {
        for (i, embedding) in all.iter().enumerate() {
            let stated_dimensions = match embedding.get("dimensions") {
                Some(Tree::Number(n)) => parse_whole_number(n).and_then(|n| usize::try_from(n).ok()),
                _ => None,
            };
            if matches!(embedding.get("vector"), Some(Tree::Array(vector)) if stated_dimensions != Some(vector.len())) {
                out.insert(format!("/embeddings/{i}/dimensions"));
            }
        }
    }
    out
}

/// The line with its forbidden values moved to `raw_source_format`. None if the line has no forbidden values.
pub(super) fn move_forbidden_values(line: &str, agent: &str) -> Option<String> {
    let mut tree = Tree::parse(line, 512).ok()?;
    let pointers = find_forbidden_values(&tree);
    if pointers.is_empty() {
        return None;
    }
    let mut moved_values = Tree::Object(vec![]);
    let mut vectors: BTreeSet<usize> = BTreeSet::new();
    for pointer in &pointers {
        let mut parts = pointer.split('/').skip(1);
        let (Some(top), below) = (parts.next(), parts.next()) else { continue };
        if let (Some(index), Some(Tree::Array(_))) = (below.and_then(|i| i.parse().ok()), tree.get(top)) {
            vectors.insert(index);
            continue;
        }
        let old_value = tree.get(top).cloned().unwrap_or(Tree::Null);
        match (top, old_value.as_str()) {
            ("id", Some(id)) => {
                let id = stable_v7(created_of(&tree), &format!("{agent}\n{id}")).hyphenated().to_string();
                tree.set(top, Tree::Text(id));
            }
            ("content", Some(_)) => tree.set(top, Tree::Text(EMPTY_CONTENT.to_owned())),
            _ => tree.remove(top),
        }
        moved_values.set(&format!("/{top}"), old_value);
    }
    if let Some(Tree::Array(all)) = tree.get("embeddings").cloned() {
        let (bad, good): (Vec<_>, Vec<_>) = all.into_iter().enumerate().partition(|(i, _)| vectors.contains(i));
        if !bad.is_empty() {
            moved_values.set("/embeddings", Tree::Array(bad.into_iter().map(|(_, vector)| vector).collect()));
            tree.set("embeddings", Tree::Array(good.into_iter().map(|(_, vector)| vector).collect()));
        }
    }
    let mut raw = match tree.get("raw_source_format") {
        Some(raw @ Tree::Object(_)) => raw.clone(),
        _ => Tree::Object(vec![]),
    };
    raw.set(FORBIDDEN_VALUES_MEMBER, moved_values);
    tree.set("raw_source_format", raw);
    let mut out = String::new();
    tree.write(&mut out);
    Some(out)
}

fn created_of(tree: &Tree) -> Timestamp {
    let stated_time = tree.get("temporal").and_then(|t| t.get("created_at")).and_then(Tree::as_str);
    let valid_time = stated_time.and_then(Timestamp::parse).or_else(|| Timestamp::from_micros(0));
    valid_time.unwrap_or_else(Timestamp::now)
}
