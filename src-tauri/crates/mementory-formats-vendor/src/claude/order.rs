//! Order, parents and active branch of the messages of a conversation (vendors.md §3.2).
use mementory_model::Timestamp;
use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

/// The parent of a message, as in the source.
#[derive(Debug)]
pub(super) enum Parent<'a> {
    /// No such key: older, linear exports.
    Missing,
    /// Null, empty or the zero UUID.
    Root,
    /// An id.
    Id(Cow<'a, str>),
}

/// The fields of a message that decide the order.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub uuid: Cow<'a, str>,
    pub parent: Parent<'a>,
    pub created: Option<Timestamp>,
    pub human: bool,
}

/// The order of the messages. Indices are array positions.
#[derive(Debug, Default)]
pub(super) struct Arranged {
    /// Parents before children, siblings in array order.
    pub sequence: Vec<usize>,
    /// Parent of each message; cycles are cut at their first message.
    pub parent: Vec<Option<usize>>,
    /// On the branch that was last open.
    pub active: Vec<bool>,
    /// Messages whose parent is missing; they are attached to the message before them.
    pub dangling: usize,
    /// Cycles that were cut.
    pub cycles: usize,
}

/// Orders messages by parent links, else by array position with the prompt before an answer of the same time. The active
/// branch is that of `leaf` (set by the API only), else that of the last array element, down to its last leaf.
pub(super) fn arrange(nodes: &[Node<'_>], leaf: Option<&str>) -> Arranged {
    let mut out = Arranged { active: vec![false; nodes.len()], ..Arranged::default() };
    let by_id: HashMap<&str, usize> = nodes.iter().enumerate().map(|(i, n)| (n.uuid.as_ref(), i)).collect();
    if nodes.iter().any(|n| matches!(n.parent, Parent::Id(_))) {
        for (i, node) in nodes.iter().enumerate() {
            out.parent.push(match &node.parent {
                Parent::Root => None,
                Parent::Missing => i.checked_sub(1),
                Parent::Id(id) => by_id.get(id.as_ref()).copied().or_else(|| {
                    out.dangling += 1;
                    i.checked_sub(1)
                }),
            });
        }
        by_links(&mut out);
    } else {
        linear(nodes, &mut out);
    }
    mark_active(&mut out, leaf.and_then(|id| by_id.get(id).copied()));
    out
}

/// Array order; an answer before its prompt of the same time is swapped with it.
fn linear(nodes: &[Node<'_>], out: &mut Arranged) {
    out.sequence = (0..nodes.len()).collect();
    let mut i = 0;
    while i + 1 < nodes.len() {
        let (first, second) = (&nodes[i], &nodes[i + 1]);
        let same_time = first.created.is_some() && first.created == second.created;
        if !first.human && second.human && same_time {
            out.sequence.swap(i, i + 1);
            i += 2;
        } else if first.human && !second.human && same_time {
            i += 2;
        } else {
            i += 1;
        }
    }
    out.parent = vec![None; nodes.len()];
    for pair in out.sequence.windows(2) {
        out.parent[pair[1]] = Some(pair[0]);
    }
}

fn children(parent: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); parent.len()];
    for (i, p) in parent.iter().enumerate() {
        if let Some(p) = p {
            children[*p].push(i);
        }
    }
    children
}

fn by_links(out: &mut Arranged) {
    let below = children(&out.parent);
    let mut done = vec![false; out.parent.len()];
    let mut ready: BinaryHeap<Reverse<usize>> =
        out.parent.iter().enumerate().filter(|(_, p)| p.is_none()).map(|(i, _)| Reverse(i)).collect();
    let mut first_pending = 0;
    loop {
        while let Some(Reverse(i)) = ready.pop() {
            if !std::mem::replace(&mut done[i], true) {
                out.sequence.push(i);
                ready.extend(below[i].iter().filter(|c| !done[**c]).map(|c| Reverse(*c)));
            }
        }
        while done.get(first_pending) == Some(&true) {
            first_pending += 1;
        }
        if first_pending == done.len() {
            return;
        }
        out.parent[first_pending] = None;
        out.cycles += 1;
        ready.push(Reverse(first_pending));
    }
}

fn mark_active(out: &mut Arranged, leaf: Option<usize>) {
    let Some(mut at) = leaf.or(out.parent.len().checked_sub(1)) else { return };
    let below = children(&out.parent);
    // The last array element may be a prompt whose answer comes earlier in the array: go to the end of its branch.
    while let Some(child) = below[at].last() {
        at = *child;
    }
    loop {
        out.active[at] = true;
        match out.parent[at] {
            Some(parent) => at = parent,
            None => return,
        }
    }
}
