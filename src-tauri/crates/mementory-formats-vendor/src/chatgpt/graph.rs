//! The message graph of one conversation: parents through empty nodes, the branch last seen. Iterative throughout:
//! chains have thousands of nodes, and cycles occur.
use mementory_model::Timestamp;
use std::collections::HashMap;

/// One node as read.
#[derive(Debug)]
pub(super) struct GraphNode<'a> {
    pub(super) id: &'a str,
    pub(super) parent: Option<&'a str>,
    pub(super) has_message: bool,
    pub(super) created: Option<Timestamp>,
}

/// What was found, by node position.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Position of the nearest ancestor with a message.
    pub(super) parent: Vec<Option<usize>>,
    /// On the branch the person last saw.
    pub(super) active: Vec<bool>,
    /// Nodes whose parent is not there.
    pub(super) orphans: u32,
    /// Cycles, each cut at its first node.
    pub(super) cycles: u32,
    /// `current_node` was absent or dangling, and there were messages.
    pub(super) guessed_leaf: bool,
}

/// Works out the graph; nodes in source order, ids unique.
pub(super) fn graph(nodes: &[GraphNode<'_>], current: Option<&str>) -> Graph {
    let by_id: HashMap<&str, usize> = nodes.iter().enumerate().map(|(i, n)| (n.id, i)).collect();
    let mut out = Graph::default();
    let mut direct: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let parent = node.parent.and_then(|p| by_id.get(p).copied());
        out.orphans += u32::from(node.parent.is_some() && parent.is_none());
        direct.push(parent);
    }
    out.cycles = cut_cycles(&mut direct);
    out.parent = through_empty(nodes, &direct);
    let start = current.and_then(|id| by_id.get(id).copied());
    out.guessed_leaf = start.is_none() && nodes.iter().any(|n| n.has_message);
    out.active = vec![false; nodes.len()];
    let mut at = start.or_else(|| newest_leaf(nodes, &out.parent));
    while let Some(i) = at {
        out.active[i] = true;
        at = direct[i];
    }
    out
}

/// Makes the first node of every cycle a root.
fn cut_cycles(parent: &mut [Option<usize>]) -> u32 {
    let mut walk = vec![0_usize; parent.len()]; // 0: not visited; else number of the walk
    let mut cycles = 0;
    for start in 0..parent.len() {
        let mut at = start;
        while walk[at] == 0 {
            walk[at] = start + 1;
            match parent[at] {
                Some(next) if walk[next] == start + 1 => {
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

/// Nearest ancestor with a message, remembered along runs of empty nodes.
fn through_empty(nodes: &[GraphNode<'_>], direct: &[Option<usize>]) -> Vec<Option<usize>> {
    let mut known: Vec<Option<Option<usize>>> = vec![None; nodes.len()];
    for start in 0..nodes.len() {
        let mut run = vec![];
        let mut at = start;
        let found = loop {
            if let Some(found) = known[at] {
                break found;
            }
            run.push(at);
            match direct[at] {
                Some(p) if nodes[p].has_message => break Some(p),
                Some(p) => at = p,
                None => break None,
            }
        };
        for i in run {
            known[i] = Some(found);
        }
    }
    known.into_iter().map(Option::flatten).collect()
}

/// The leaf with the newest time, the last one of equals.
fn newest_leaf(nodes: &[GraphNode<'_>], parent: &[Option<usize>]) -> Option<usize> {
    let mut has_child = vec![false; nodes.len()];
    for (i, p) in parent.iter().enumerate() {
        if let Some(p) = p.filter(|_| nodes[i].has_message) {
            has_child[p] = true;
        }
    }
    (0..nodes.len()).filter(|i| nodes[*i].has_message && !has_child[*i]).max_by_key(|i| (nodes[*i].created, *i))
}
