//! Access to the members of trees, the two shapes of a document, the notation of ids, and the schema rule of each list.
pub(super) use super::version::{is_supported, version_parts};
use super::{
    schema,
    sections::{SECTIONS, Section},
};
use mementory_json::{Tree, schema::Rule};
use mementory_model::Timestamp;

/// Id of the format. It is also the id space of the record keys.
pub(super) const KEY_SCOPE: &str = "mif";

/// The two shapes of a document. The name of the header (`export` or `export_meta`) determines the shape, because the
/// declared version may be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Shape {
    /// Version 1, defined by the specification.
    #[default]
    V1,
    /// Version 2, defined by the output of the reference program.
    V2,
}

impl Shape {
    /// Version that is written in this shape.
    pub fn version(self) -> &'static str {
        match self {
            Shape::V1 => "1.0",
            Shape::V2 => "2.0",
        }
    }

    /// Name of the header object.
    pub fn header(self) -> &'static str {
        match self {
            Shape::V1 => "export",
            Shape::V2 => "export_meta",
        }
    }

    /// Schema rule for the document without its lists.
    pub fn document_rule(self) -> &'static Rule {
        match self {
            Shape::V1 => &schema::DOCUMENT_RULE_1,
            Shape::V2 => &schema::DOCUMENT_RULE_2,
        }
    }

    /// Schema rule for the elements of a list.
    pub fn element_rule(self, section: &Section) -> &'static Rule {
        match (section.key, self) {
            ("memory", Shape::V1) => &schema::MEMORY_RULE_1,
            ("memory", Shape::V2) => &schema::MEMORY_RULE_2,
            ("todo", Shape::V1) => &schema::TASK_RULE_1,
            ("todo", Shape::V2) => &schema::TASK_RULE_2,
            ("project", _) => &schema::PROJECT_RULE,
            ("reminder", _) => &schema::REMINDER_RULE,
            ("node", _) => &schema::NODE_RULE,
            ("edge", _) => &schema::EDGE_RULE,
            ("entity", _) => &schema::ENTITY_RULE,
            ("relationship", _) => &schema::RELATIONSHIP_RULE,
            _ => &schema::EPISODE_RULE,
        }
    }

    /// Determines the shape of a document from its header or, without a header, from its declared version.
    pub fn of_document(root: &Tree) -> Shape {
        match (root.get("export_meta"), root.get("export"), version_of(root)) {
            (Some(_), ..) => Shape::V2,
            (None, None, Some(version)) if version.starts_with('2') => Shape::V2,
            _ => Shape::V1,
        }
    }
}

/// The version that a document declares. A number is accepted too, because `1.0` without quotes is a number in YAML.
pub(super) fn version_of(root: &Tree) -> Option<String> {
    match root.get("mif_version") {
        Some(Tree::Text(text) | Tree::Number(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Converts YAML scalars back to text where the format requires text, such as a version `1.0`.
pub(super) fn restore_text(mut root: Tree) -> Tree {
    let shape = Shape::of_document(&root);
    schema::restore_text_scalars(&mut root, shape.document_rule());
    for section in SECTIONS {
        if let Some(Tree::Array(items)) = list_mut(&mut root, section) {
            items.iter_mut().for_each(|item| schema::restore_text_scalars(item, shape.element_rule(section)));
        }
    }
    root
}

pub(super) fn list_mut<'t>(root: &'t mut Tree, section: &Section) -> Option<&'t mut Tree> {
    let object = match (root, section.parent) {
        (root, "") => root,
        (Tree::Object(members), parent) => members.iter_mut().rev().find(|(k, _)| k == parent).map(|(_, v)| v)?,
        _ => return None,
    };
    match object {
        Tree::Object(members) => members.iter_mut().rev().find(|(k, _)| k == section.name).map(|(_, v)| v),
        _ => None,
    }
}

/// Text of the member `name`. None if the member is not a text.
pub(super) fn text<'t>(tree: &'t Tree, name: &str) -> Option<&'t str> {
    tree.get(name).and_then(Tree::as_str)
}

/// Text of the member `name` of the member `object`. None if it is empty.
pub(super) fn nested_text<'t>(tree: &'t Tree, object: &str, name: &str) -> Option<&'t str> {
    text(tree.get(object)?, name).filter(|t| !t.is_empty())
}

/// Time of the member `name`. None if the member is not a text with a valid time.
pub(super) fn time(tree: &Tree, name: &str) -> Option<Timestamp> {
    text(tree, name).and_then(Timestamp::parse)
}

/// Number of the member `name`. None if the member is not a finite number.
pub(super) fn number(tree: &Tree, name: &str) -> Option<f64> {
    tree.get(name).and_then(Tree::as_f64).filter(|n| n.is_finite())
}

/// Strings of the member `name`, which may be a list or a single string.
pub(super) fn list(tree: &Tree, name: &str) -> Vec<String> {
    match tree.get(name) {
        Some(Tree::Array(items)) => items.iter().filter_map(Tree::as_str).map(str::to_owned).collect(),
        Some(Tree::Text(one)) => vec![one.clone()],
        _ => vec![],
    }
}

/// A list of strings as a tree.
pub(super) fn texts<S: AsRef<str>>(items: &[S]) -> Tree {
    Tree::Array(items.iter().map(|s| Tree::Text(s.as_ref().to_owned())).collect())
}

/// Removes the prefix of version 1 from an id and writes a UUID in its usual notation, so that both versions yield the
/// same key.
pub(super) fn bare_id(id: &str) -> String {
    let without_prefix = id.strip_prefix("mem_").or_else(|| id.strip_prefix("todo_")).unwrap_or(id);
    match uuid::Uuid::try_parse(without_prefix) {
        Ok(uuid) => uuid.hyphenated().to_string(),
        Err(_) => id.to_owned(),
    }
}

/// An id in its usual notation: if it contains a UUID, in lower case and with hyphens. Two notations of a UUID name the
/// same element.
pub(super) fn normalized_id(id: &str) -> String {
    let prefix = ["mem_", "todo_"].into_iter().find(|prefix| id.starts_with(prefix)).unwrap_or_default();
    match uuid::Uuid::try_parse(&id[prefix.len()..]) {
        Ok(uuid) => format!("{prefix}{}", uuid.hyphenated()),
        Err(_) => id.to_owned(),
    }
}

/// Writes a tree as compact JSON.
pub(super) fn json(tree: &Tree) -> String {
    let mut out = String::new();
    tree.write(&mut out);
    out
}
