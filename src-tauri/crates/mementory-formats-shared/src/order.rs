//! Determines the order, the parents and the active branch of the messages of a conversation.
use mementory_model::Timestamp;
use std::{
    borrow::Cow,
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
};

/// The parent of a message, as the source states it.
#[derive(Debug)]
pub enum Parent<'a> {
    /// The message has no member for its parent, as in older exports without branches.
    Missing,
    /// The value is null, empty or the zero UUID.
    Root,
    /// Id of the parent in the source. The message with this id may be missing.
    Id(Cow<'a, str>),
}

/// The values of a message that determine its order.
#[derive(Debug)]
pub struct Node<'a> {
    /// Id of the message.
    pub uuid: Cow<'a, str>,
    /// Parent of the message, as the source states it.
    pub parent: Parent<'a>,
    /// Time at which the message was written.
    pub created: Option<Timestamp>,
    /// True if the user wrote the message.
    pub is_human: bool,
}

/// The order of the messages. Indexes are positions in the source's array.
#[derive(Debug, Default)]
pub struct MessageOrder {
    /// Indexes of the messages, parents before their children. Siblings are in the order of the array.
    pub sequence: Vec<usize>,
    /// Parent of each message. A cycle is cut at its first message, which gets no parent.
    pub parent: Vec<Option<usize>>,
    /// True for each message on the branch that the user last had open.
    pub active: Vec<bool>,
    /// Number of messages whose parent is missing. Each such message is attached to the message before it.
    pub missing_parents: usize,
    /// Number of cycles that were cut.
    pub cycles: usize,
}

/// Orders messages by their parent links. Without links, uses the order of the array, but puts a prompt before an
/// answer with the same time. If no message has a parent, the same side (the person or the assistant) wrote all
/// messages, and the source states a leaf, the messages are alternatives to each other. The active branch leads to the
/// message with the id `leaf` if the source states one, otherwise to the last element of the array. From that message
/// on, the branch follows each message's last child.
pub fn order_messages(nodes: &[Node<'_>], leaf: Option<&str>) -> MessageOrder {
    let mut out = MessageOrder { active: vec![false; nodes.len()], ..MessageOrder::default() };
    let by_id: HashMap<&str, usize> = nodes.iter().enumerate().map(|(i, n)| (n.uuid.as_ref(), i)).collect();
    // A prompt and an answer without parents are no alternatives: their source merely does not state parents.
    let are_alternatives = leaf.is_some_and(|id| by_id.contains_key(id))
        && nodes.iter().all(|n| matches!(n.parent, Parent::Root))
        && nodes.iter().all(|n| nodes.first().is_some_and(|first| first.is_human == n.is_human));
    if are_alternatives || nodes.iter().any(|n| matches!(n.parent, Parent::Id(_))) {
        let stated_parent = |node: &Node<'_>| match &node.parent {
            Parent::Id(id) => by_id.get(id.as_ref()).copied(),
            Parent::Root | Parent::Missing => None,
        };
        let stated_parents: Vec<Option<usize>> = nodes.iter().map(stated_parent).collect();
        let tops = tops_of(&stated_parents);
        for (i, node) in nodes.iter().enumerate() {
            // The entry before a message cannot be its parent if this entry is an answer to the message, as in a list
            // that begins with the newest message.
            let previous_message = i.checked_sub(1).filter(|previous_message| tops.get(*previous_message) != Some(&i));
            out.parent.push(match (&node.parent, stated_parents.get(i).copied().flatten()) {
                (Parent::Root, _) => None,
                (Parent::Missing, _) => previous_message,
                (Parent::Id(_), Some(parent)) => Some(parent),
                (Parent::Id(_), None) => {
                    out.missing_parents += 1;
                    previous_message
                }
            });
        }
        order_by_links(&mut out);
    } else {
        order_by_array(nodes, &mut out);
    }
    mark_active(&mut out, leaf.and_then(|id| by_id.get(id).copied()));
    out
}

/// Uses the order of the array. An answer that precedes its prompt and has the same time is swapped with it.
fn order_by_array(nodes: &[Node<'_>], out: &mut MessageOrder) {
    out.sequence = (0..nodes.len()).collect();
    let mut i = 0;
    while i + 1 < nodes.len() {
        let (first, second) = (&nodes[i], &nodes[i + 1]);
        let has_same_time = first.created.is_some() && first.created == second.created;
        if !first.is_human && second.is_human && has_same_time {
            out.sequence.swap(i, i + 1);
            i += 2;
        } else if first.is_human && !second.is_human && has_same_time {
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

/// For each message, the last message that is reached by following the parents that the source states. In a cycle, this
/// is one of the messages of the cycle.
fn tops_of(parents: &[Option<usize>]) -> Vec<usize> {
    let mut tops: Vec<Option<usize>> = vec![None; parents.len()];
    let mut is_on_path = vec![false; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut at = start;
        let top_message = loop {
            if let Some(top_message) = tops[at] {
                break top_message;
            }
            path.push(at);
            is_on_path[at] = true;
            match parents[at] {
                Some(parent) if !is_on_path[parent] => at = parent,
                _ => break at,
            }
        };
        for message in path {
            tops[message] = Some(top_message);
            is_on_path[message] = false;
        }
    }
    tops.into_iter().enumerate().map(|(index, top_message)| top_message.unwrap_or(index)).collect()
}

fn children_by_parent(parent: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); parent.len()];
    for (i, parent_index) in parent.iter().enumerate() {
        if let Some(parent_index) = parent_index {
            children[*parent_index].push(i);
        }
    }
    children
}

fn order_by_links(out: &mut MessageOrder) {
    let children_of = children_by_parent(&out.parent);
    let mut is_done = vec![false; out.parent.len()];
    let mut ready_nodes: BinaryHeap<Reverse<usize>> =
        out.parent.iter().enumerate().filter(|(_, p)| p.is_none()).map(|(i, _)| Reverse(i)).collect();
    let mut first_pending = 0;
    loop {
        while let Some(Reverse(i)) = ready_nodes.pop() {
            if !std::mem::replace(&mut is_done[i], true) {
                out.sequence.push(i);
                ready_nodes.extend(children_of[i].iter().filter(|c| !is_done[**c]).map(|c| Reverse(*c)));
            }
        }
        while is_done.get(first_pending) == Some(&true) {
            first_pending += 1;
        }
        if first_pending == is_done.len() {
            return;
        }
        out.parent[first_pending] = None;
        out.cycles += 1;
        ready_nodes.push(Reverse(first_pending));
    }
}

fn mark_active(out: &mut MessageOrder, leaf: Option<usize>) {
    let Some(mut at) = leaf.or(out.parent.len().checked_sub(1)) else { return };
    let children_of = children_by_parent(&out.parent);
    // The last element of the array may be a prompt whose answer comes before it, so the branch is followed to its end.
    while let Some(child) = children_of[at].last() {
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
