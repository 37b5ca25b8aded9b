//! The tree that the messages of a conversation form by naming their parents (§25.3).
use super::to_record::id;
use mementory_json::Tree;
use std::collections::HashMap;

/// Indexes of messages that are their own ancestors, one for each cycle of parents. An unreadable message is None.
pub(super) fn parent_cycles(messages: &[Option<&Tree>]) -> Vec<usize> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (i, message) in messages.iter().enumerate() {
        if let Some(id) = message.and_then(|tree| id(tree, "id")).filter(|id| !id.is_empty()) {
            by_id.entry(id).or_insert(i);
        }
    }
    let parent_of = |message: &Option<&Tree>| by_id.get(id((*message)?, "parent_id")?).copied();
    let parents: Vec<Option<usize>> = messages.iter().map(parent_of).collect();
    // For each message, the number of the walk that visited it first, or 0.
    let mut walks = vec![0; messages.len()];
    let mut cycles = Vec::new();
    for start in 0..messages.len() {
        let (walk, mut at) = (start + 1, Some(start));
        while let Some(i) = at {
            if walks[i] != 0 {
                // A message that an earlier walk visited leads to no new cycle.
                cycles.extend((walks[i] == walk).then_some(i));
                break;
            }
            walks[i] = walk;
            at = parents[i];
        }
    }
    cycles
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_cycle_of_parents_is_found_once() {
        let cycles_of = |parents: &[(&str, &str)]| {
            let message = |(id, parent): &(&str, &str)| {
                Tree::parse(&format!(r#"{{"id":"{id}","parent_id":"{parent}"}}"#), 8).unwrap()
            };
            let trees: Vec<Tree> = parents.iter().map(message).collect();
            parent_cycles(&trees.iter().map(Some).collect::<Vec<_>>())
        };
        assert!(cycles_of(&[("a", ""), ("b", "a"), ("c", "b"), ("d", "b"), ("e", "gone")]).is_empty());
        assert_eq!(cycles_of(&[("a", "a")]), [0]);
        assert_eq!(cycles_of(&[("x", "a"), ("a", "b"), ("b", "a"), ("c", "b")]), [1]);
        assert_eq!(cycles_of(&[("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("", "")]), [0, 2]);
    }
}
