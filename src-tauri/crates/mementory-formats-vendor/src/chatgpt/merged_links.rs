//! Completes the links between nodes that were read from several exports of the same conversation. A node that did not
//! change since the first export is written as its original text, which does not list the answers that only a later
//! export contains.
use super::wire::Node;
use mementory_formats_shared::{export_files::json::with_member, object::Object};
use std::collections::{HashMap, HashSet};

/// A node of the mapping that is about to be written.
pub(super) struct LinkedNode<'n> {
    pub id: &'n str,
    pub json: &'n mut String,
    /// True if `json` is the unchanged text of the source.
    pub is_original: bool,
}

/// Adds to the `children` of each node all nodes that state this node as their parent. An original node without
/// `children` stays unchanged. Some exports leave all `children` empty, and then all original nodes stay unchanged.
pub(super) fn add_missing_children(nodes: &mut [LinkedNode<'_>]) {
    let mut missing: HashMap<String, Vec<String>> = HashMap::new();
    {
        let links: HashMap<&str, (Option<String>, Option<Vec<String>>)> =
            nodes.iter().map(|node| (node.id, links_of(node.json))).collect();
        let names_node = |list: &Vec<String>| list.iter().any(|child| links.contains_key(child.as_str()));
        let originals: HashSet<&str> = nodes.iter().filter(|node| node.is_original).map(|node| node.id).collect();
        let are_lists_kept = originals.iter().any(|id| links[id].1.as_ref().is_some_and(names_node));
        for node in nodes.iter() {
            let Some(parent) = links[node.id].0.as_deref().filter(|parent| *parent != node.id) else { continue };
            let Some((_, Some(children))) = links.get(parent) else { continue };
            let may_change = are_lists_kept || !originals.contains(parent);
            if may_change && !children.iter().any(|child| child == node.id) {
                missing.entry(parent.to_owned()).or_insert_with(|| children.clone()).push(node.id.to_owned());
            }
        }
    }
    for node in nodes {
        if let Some(children) = missing.get(node.id) {
            *node.json = with_member(node.json, "children", &serde_json::Value::from(children.clone()).to_string());
        }
    }
}

/// Returns the original object of a conversation with `leaf` as its current node. None if the object needs no change,
/// because its current node is `leaf` or a node that is not in `ids`.
pub(super) fn with_current_node(frame: &str, leaf: &str, ids: &HashSet<&str>) -> Option<String> {
    let object = Object::parse(frame)?;
    let current = object.text("current_node")?;
    let is_outdated = current != leaf && ids.contains(current.as_ref());
    is_outdated.then(|| with_member(frame, "current_node", &serde_json::Value::from(leaf).to_string()))
}

/// Returns the ids that a node lists as its children.
pub(super) fn listed_children(json: &str) -> Vec<String> {
    links_of(json).1.unwrap_or_default()
}

fn links_of(json: &str) -> (Option<String>, Option<Vec<String>>) {
    let node = serde_json::from_str::<Node<'_>>(json).unwrap_or_default();
    let children = node.children.and_then(|raw| serde_json::from_str(raw.get()).ok());
    (node.parent.to_owned_text(), children)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(texts: &[(&str, &str, bool)]) -> Vec<String> {
        let mut jsons: Vec<String> = texts.iter().map(|(_, json, _)| (*json).to_owned()).collect();
        let mut nodes: Vec<LinkedNode<'_>> = texts
            .iter()
            .zip(&mut jsons)
            .map(|((id, _, is_original), json)| LinkedNode { id, json, is_original: *is_original })
            .collect();
        add_missing_children(&mut nodes);
        jsons
    }

    #[test]
    fn a_node_lists_answers_of_a_later_export() {
        let jsons = add(&[
            ("a", r#"{"id":"a","parent":null,"children":["b"]}"#, true),
            ("b", r#"{"id":"b","children":[],"parent":"a"}"#, true),
            ("c", r#"{"id":"c","parent":"b","children":[]}"#, true),
            ("d", r#"{"id":"d","parent":"a"}"#, true),
        ]);
        assert_eq!(jsons[0], r#"{"id":"a","parent":null,"children":["b","d"]}"#);
        assert_eq!(jsons[1], r#"{"id":"b","children":["c"],"parent":"a"}"#);
        assert_eq!(jsons[3], r#"{"id":"d","parent":"a"}"#);
    }

    #[test]
    fn lists_that_are_always_empty_stay_empty() {
        let texts = [
            ("a", r#"{"id":"a","parent":"r","children":[]}"#, true),
            ("b", r#"{"id":"b","parent":"a","children":[]}"#, true),
            ("r", r#"{"id":"r","children":["x"]}"#, false),
        ];
        let jsons = add(&texts);
        assert_eq!((jsons[0].as_str(), jsons[1].as_str()), (texts[0].1, texts[1].1));
        assert_eq!(jsons[2], r#"{"id":"r","children":["x","a"]}"#);
    }

    #[test]
    fn the_current_node_changes_only_if_it_is_known() {
        let ids = HashSet::from(["a", "b"]);
        let changed = with_current_node(r#"{"current_node":"a","n":1}"#, "b", &ids);
        assert_eq!(changed.as_deref(), Some(r#"{"current_node":"b","n":1}"#));
        for frame in [r#"{"current_node":"b"}"#, r#"{"current_node":"lost"}"#, r#"{"current_node":null}"#, "{}"] {
            assert_eq!(with_current_node(frame, "b", &ids), None, "{frame}");
        }
    }
}
