//! A document without its records, as the importer keeps it and an export finds it again.
use super::{
    sections::SECTIONS,
    survey::Survey,
    wire::{Shape, inner, json, text},
};
use mementory_json::Tree;

/// Name of the kept part.
pub(super) const NAME: &str = "document.json";

/// A kept document.
pub(super) struct Kept {
    /// The document, its lists empty.
    pub document: Tree,
    /// Elements that each list had.
    pub counts: [u64; SECTIONS.len()],
    /// Nodes that are no records: position and JSON.
    pub slots: Vec<(u64, String)>,
    /// Shape of it.
    pub shape: Shape,
}

/// Group of the part: the export's own id.
pub(super) fn group(survey: &Survey) -> String {
    inner(&survey.root, survey.shape.header(), "id").unwrap_or("document").to_owned()
}

/// The part of a document.
pub(super) fn part(survey: &Survey) -> String {
    let counts = SECTIONS.into_iter().zip(survey.counts).filter(|(_, n)| *n > 0);
    let counts = counts.map(|(s, n)| (s.pointer(0), Tree::Number(n.to_string()))).collect();
    let slots = survey.slots.iter().filter_map(|(index, node)| {
        Some(Tree::Array(vec![Tree::Number(index.to_string()), Tree::parse(node, 512).ok()?]))
    });
    json(&Tree::Object(vec![
        ("v".into(), Tree::Number("1".into())),
        ("version".into(), Tree::Text(survey.version_of_records())),
        ("counts".into(), Tree::Object(counts)),
        ("slots".into(), Tree::Array(slots.collect())),
        ("document".into(), survey.root.clone()),
    ]))
}

/// A kept part; None when it is none.
pub(super) fn read(tree: &Tree) -> Option<Kept> {
    let document = tree.get("document").filter(|d| matches!(d, Tree::Object(_)))?.clone();
    let mut counts = [0; SECTIONS.len()];
    for section in SECTIONS {
        if let Some(Tree::Number(n)) = tree.get("counts").and_then(|c| c.get(&section.pointer(0))) {
            counts[section.number()] = n.parse().unwrap_or_default();
        }
    }
    let slots = match tree.get("slots") {
        Some(Tree::Array(items)) => items.iter().filter_map(slot).collect(),
        _ => vec![],
    };
    let shape = if text(tree, "version").is_some_and(|v| v.starts_with('2')) { Shape::V2 } else { Shape::V1 };
    Some(Kept { document, counts, slots, shape })
}

fn slot(tree: &Tree) -> Option<(u64, String)> {
    match tree {
        Tree::Array(pair) => match pair.as_slice() {
            [Tree::Number(index), node] => Some((index.parse().ok()?, json(node))),
            _ => None,
        },
        _ => None,
    }
}
