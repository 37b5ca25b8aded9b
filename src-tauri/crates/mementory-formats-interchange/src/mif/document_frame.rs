//! The frame of a document: everything except its records. An import stores the frame, and a later export inserts the
//! records into it.
use super::{
    first_pass::FirstPass,
    sections::SECTIONS,
    wire::{Shape, json, nested_text, text},
};
use mementory_json::Tree;

/// Name of the passthrough file with the frame.
pub(super) const FRAME_FILE: &str = "document.json";

/// A parsed frame.
pub(super) struct DocumentFrame {
    /// The document with empty lists.
    pub document: Tree,
    /// Original number of elements in each list.
    pub counts: [u64; SECTIONS.len()],
    /// Position and JSON of each node that only refers to a record of another list.
    pub reference_nodes: Vec<(u64, String)>,
    /// Shape of the document.
    pub shape: Shape,
}

/// Group of the passthrough file: the id of the export.
pub(super) fn group(first_pass: &FirstPass) -> String {
    nested_text(&first_pass.root, first_pass.shape.header(), "id").unwrap_or("document").to_owned()
}

/// The frame of a document as JSON.
pub(super) fn to_json(first_pass: &FirstPass) -> String {
    let counts = SECTIONS.into_iter().zip(first_pass.counts).filter(|(_, n)| *n > 0);
    let counts = counts.map(|(s, n)| (s.pointer(0), Tree::Number(n.to_string()))).collect();
    let reference_nodes = first_pass.reference_nodes.iter().filter_map(|(index, node)| {
        Some(Tree::Array(vec![Tree::Number(index.to_string()), Tree::parse(node, 512).ok()?]))
    });
    json(&Tree::Object(vec![
        ("v".into(), Tree::Number("1".into())),
        ("version".into(), Tree::Text(first_pass.version_of_records())),
        ("counts".into(), Tree::Object(counts)),
        ("slots".into(), Tree::Array(reference_nodes.collect())),
        ("document".into(), first_pass.root.clone()),
    ]))
}

/// Parses a stored frame. None if the tree is not a frame.
pub(super) fn read(tree: &Tree) -> Option<DocumentFrame> {
    let document = tree.get("document").filter(|d| matches!(d, Tree::Object(_)))?.clone();
    let mut counts = [0; SECTIONS.len()];
    for section in SECTIONS {
        if let Some(Tree::Number(n)) = tree.get("counts").and_then(|c| c.get(&section.pointer(0))) {
            counts[section.table_index()] = n.parse().unwrap_or_default();
        }
    }
    let reference_nodes = match tree.get("slots") {
        Some(Tree::Array(items)) => items.iter().filter_map(reference_node).collect(),
        _ => vec![],
    };
    let shape = if text(tree, "version").is_some_and(|v| v.starts_with('2')) { Shape::V2 } else { Shape::V1 };
    Some(DocumentFrame { document, counts, reference_nodes, shape })
}

fn reference_node(tree: &Tree) -> Option<(u64, String)> {
    match tree {
        Tree::Array(pair) => match pair.as_slice() {
            [Tree::Number(index), node] => Some((index.parse().ok()?, json(node))),
            _ => None,
        },
        _ => None,
    }
}
