//! The message graph of one conversation: parents of messages, and the active branch. No function is recursive, because
//! a conversation can have a chain of thousands of nodes, and can have cycles.
use mementory_model::Timestamp;
use std::collections::HashMap;

#[derive(Debug)]
pub(super) struct GraphNode<'a> {
    pub(super) id: &'a str,
    pub(super) parent: Option<&'a str>,
    pub(super) has_message: bool,
    pub(super) created: Option<Timestamp>,
}

/// The graph of a conversation. The elements of each list are in the order of the nodes.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// For each node, the position of its nearest ancestor with a message.
    pub(super) parent: Vec<Option<usize>>,
    /// For each node, true if it is on the active branch, which is the branch that the user saw last.
    pub(super) active: Vec<bool>,
    /// Number of nodes whose parent is not in the conversation.
    pub(super) orphans: u32,
    /// Number of cycles. Each cycle was cut at its first node.
    pub(super) cycles: u32,
    /// True if there are messages and the active branch is a guess, because `current_node` is absent or unknown.
    pub(super) guessed_leaf: bool,
}

/// Links the nodes if no node states its parent. The parent of a node is then the node that lists it as a child. If no
/// node lists children either, the parent of each message is the message before it, in the order of time or, if a time
/// is missing, in the order of the nodes. Only in this last case the function returns true. `children` returns the
/// positions of the children of each node.
pub(super) fn link_nodes<'a>(nodes: &mut [GraphNode<'a>], children: impl FnOnce() -> Vec<Vec<usize>>) -> bool {
    let message_count = nodes.iter().filter(|node| node.has_message).count();
    if message_count < 2 || nodes.iter().any(|node| node.parent.is_some()) {
        return false;
    }
    let mut has_lists = false;
    for (parent, children) in children().into_iter().enumerate() {
        let id = nodes.get(parent).map(|node| node.id);
        for child in children.into_iter().filter(|child| *child != parent) {
            if let Some(node) = nodes.get_mut(child) {
                node.parent = node.parent.or(id);
                has_lists = true;
            }
        }
    }
    if has_lists {
        return false;
    }
    let mut order: Vec<usize> = (0..nodes.len()).filter(|i| nodes[*i].has_message).collect();
    if order.iter().all(|i| nodes[*i].created.is_some()) {
        order.sort_by_key(|i| nodes[*i].created);
    }
    let mut previous_id: Option<&'a str> = None;
    for i in order {
        nodes[i].parent = previous_id;
        previous_id = Some(nodes[i].id);
    }
    true
}

/// Builds the graph. The nodes must have unique ids and be in the order of the source.
pub(super) fn build_graph(nodes: &[GraphNode<'_>], current: Option<&str>) -> Graph {
    let by_id: HashMap<&str, usize> = nodes.iter().enumerate().map(|(i, n)| (n.id, i)).collect();
    let mut out = Graph::default();
    let mut direct_parents: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let parent = node.parent.and_then(|p| by_id.get(p).copied());
        out.orphans += u32::from(node.parent.is_some() && parent.is_none());
        direct_parents.push(parent);
    }
    out.cycles = cut_cycles(&mut direct_parents);
    out.parent = message_parents(nodes, &direct_parents);
    let start = current.and_then(|id| by_id.get(id).copied());
    out.guessed_leaf = start.is_none() && nodes.iter().any(|n| n.has_message);
    out.active = vec![false; nodes.len()];
    let mut at = start.or_else(|| newest_leaf(nodes, &out.parent));
    while let Some(i) = at {
        out.active[i] = true;
        at = direct_parents[i];
    }
    out
}

/// Cuts every cycle by making its first node a root, and returns the number of cycles.
fn cut_cycles(parent: &mut [Option<usize>]) -> u32 {
    // For each node: 0 if it was not visited, else 1 plus the position of the node at which the visit started.
    let mut visited_by = vec![0_usize; parent.len()];
    let mut cycles = 0;
    for start in 0..parent.len() {
        let mut at = start;
        while visited_by[at] == 0 {
            visited_by[at] = start + 1;
            match parent[at] {
                Some(next) if visited_by[next] == start + 1 => {
                    let mut first = next;
                    let mut i = next;
                    while let Some(p) = parent[i].filter(|p| *p != next) {
                        first = first.min(p);
                        i = p;
                    }
                    parent[first] = None;
                    cycles += 1;
                    break;
                }
                Some(next) => at = next,
                None => break,
            }
        }
    }
    cycles
}

/// Returns the position of the nearest ancestor with a message, for each node. Each search stores its result for all
/// nodes that it passed, so that long chains take linear time.
fn message_parents(nodes: &[GraphNode<'_>], direct_parents: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut known: Vec<Option<Option<usize>>> = vec![None; nodes.len()];
    for start in 0..nodes.len() {
        let mut run = vec![];
        let mut at = start;
        let ancestor = loop {
            if let Some(ancestor) = known[at] {
                break ancestor;
            }
            run.push(at);
            match direct_parents[at] {
                Some(p) if nodes[p].has_message => break Some(p),
                Some(p) => at = p,
                None => break None,
            }
        };
        for i in run {
            known[i] = Some(ancestor);
        }
    }
    known.into_iter().map(Option::flatten).collect()
}

/// Returns the newest message that has no children. Of several such messages with the same time, the last is returned.
fn newest_leaf(nodes: &[GraphNode<'_>], parent: &[Option<usize>]) -> Option<usize> {
    let mut has_child = vec![false; nodes.len()];
    for (i, p) in parent.iter().enumerate() {
        if let Some(p) = p.filter(|_| nodes[i].has_message) {
            has_child[p] = true;
        }
    }
    (0..nodes.len()).filter(|i| nodes[*i].has_message && !has_child[*i]).max_by_key(|i| (nodes[*i].created, *i))
}
