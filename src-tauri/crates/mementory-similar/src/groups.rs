//! Groups of texts that say the same. In a group everyone is near to everyone: no chains.
use crate::{Comparison, Form, Key, Sketch, compare, sketch::ROWS, sketches};
use std::collections::HashMap;

/// Rows that two sketches have to share to meet, and further rows that decide who stands next to whom.
const BAND: usize = 3;
const DEPTH: usize = 6;
/// In each order, a text is compared with so many that follow it.
const WINDOW: usize = 8;
/// A text with so many near ones looks for no more: its group is found by then.
const ENOUGH: usize = 64;
/// A group of more different texts is cut into several, so that time stays within bounds.
const LARGEST: usize = 256;

/// How much the members of a group are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// All equal after folding.
    Same,
    /// Near: every two of them say the same as far as words tell.
    Near,
}

/// Texts that say the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// How much they are alike.
    pub likeness: Likeness,
    /// Their places in the input, ascending; two at least.
    pub members: Vec<usize>,
    /// The lowest share of common words between any two of them.
    pub score: f32,
}

/// The share of common words from which texts are offered as near, unless a caller knows better.
pub const THRESHOLD: f32 = 0.7;

/// Groups of texts. No text is in two groups, and groups come in the order of their first members.
pub fn group_texts<T: AsRef<str>>(key: &Key, texts: &[T], threshold: f32) -> Vec<Group> {
    let forms: Vec<Form> = texts.iter().map(|text| Form::new(text.as_ref())).collect();
    groups(&sketches(key, &forms), &forms, threshold)
}

/// Groups of texts by their sketches, kept or made anew, and their forms; `sketches[i]` and `forms[i]` are of one text.
/// Where one list is longer, its rest is left out. The result depends on the texts only, not on their order.
pub fn groups(sketches: &[Sketch], forms: &[Form], threshold: f32) -> Vec<Group> {
    let nodes = nodes(sketches, forms);
    let edges = edges(&nodes, threshold);
    let clusters = linked(&nodes, edges, threshold);
    let mut out: Vec<Group> = clusters
        .into_iter()
        .filter_map(|(cluster, score)| {
            let mut members: Vec<usize> = cluster.iter().flat_map(|n| &nodes[*n as usize].members).copied().collect();
            members.sort_unstable();
            let first = &sketches[*members.first()?];
            let same = members.iter().all(|i| sketches[*i].same_text(first));
            let likeness = if same { Likeness::Same } else { Likeness::Near };
            (members.len() > 1).then_some(Group { likeness, members, score })
        })
        .collect();
    out.sort_unstable_by_key(|group| group.members.first().copied());
    out
}

/// Texts that differ in light words at most.
struct Node<'s> {
    members: Vec<usize>,
    form: Form,
    rows: &'s [u16; ROWS],
}

/// One node for all texts whose words that say something are the same in the same order. Most duplicates end here, with
/// no comparison. In order of content, so that everything after depends on content only.
fn nodes<'s>(sketches: &'s [Sketch], forms: &[Form]) -> Vec<Node<'s>> {
    let mut by_core: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for (i, (_, form)) in sketches.iter().zip(forms).enumerate().filter(|(_, (_, form))| !form.is_empty()) {
        by_core.entry(form.core()).or_default().push(i);
    }
    let mut nodes: Vec<Node<'s>> = by_core
        .into_values()
        .filter_map(|members| {
            let first = members.iter().copied().min_by_key(|i| forms[*i].canonical())?;
            let mut form = forms[first].clone();
            members.iter().for_each(|i| form.learn(&forms[*i]));
            Some(Node { form, rows: sketches[first].rows(), members })
        })
        .collect();
    nodes.sort_by_cached_key(|node| (node.form.canonical().to_owned(), node.form.core()));
    nodes
}

/// Two nodes that are near, and their score.
type Edge = (f32, u32, u32);

/// Near pairs. The nodes are put in order many times, each time by other rows of their sketches: who shares the first
/// rows may be near, and who shares more stands closer. Only neighbours are compared, so that a hundred thousand texts
/// that begin alike cost no more than others; what is missed in one order is met in another.
fn edges(nodes: &[Node<'_>], threshold: f32) -> Vec<Edge> {
    let mut found: HashMap<(u32, u32), f32> = HashMap::new();
    let mut degree = vec![0_usize; nodes.len()];
    // Refused pairs meet again in other orders: the last ones are remembered.
    let mut refused = vec![(0_u32, 0_u32); (nodes.len() * 16).next_power_of_two().min(1 << 20)];
    let mut order: Vec<(u128, u32)> = Vec::with_capacity(nodes.len());
    for first in (0..ROWS - BAND + 1).step_by(BAND) {
        order.clear();
        order.extend(nodes.iter().zip(0_u32..).map(|(node, n)| {
            // What decides comes before all: texts that differ in it never meet.
            let rows = (0..DEPTH).fold(u128::from(node.form.hard() >> 32), |sum, row| {
                sum << 16 | u128::from(node.rows[(first + row) % ROWS])
            });
            (rows, n)
        }));
        order.sort_unstable();
        for (at, (key, x)) in order.iter().enumerate() {
            for (other, y) in order[at + 1..].iter().take(WINDOW) {
                if key >> (16 * (DEPTH - BAND)) != other >> (16 * (DEPTH - BAND)) {
                    break;
                }
                let pair = (*x.min(y), *x.max(y));
                let slot =
                    (pair.0.wrapping_mul(0x9e37_79b1) ^ pair.1.wrapping_mul(0x85eb_ca77)) as usize % refused.len();
                let full = degree[*x as usize] >= ENOUGH && degree[*y as usize] >= ENOUGH;
                if full || refused[slot] == pair || found.contains_key(&pair) {
                    continue;
                }
                let answer = compare(&nodes[*x as usize].form, &nodes[*y as usize].form);
                if answer.score() >= threshold && answer.score() > 0.0 {
                    // Equal ones come together before all others.
                    found.insert(pair, if answer == Comparison::Same { 2.0 } else { answer.score() });
                    degree[*x as usize] += 1;
                    degree[*y as usize] += 1;
                } else {
                    refused[slot] = pair;
                }
            }
        }
    }
    let mut edges: Vec<Edge> = found.into_iter().map(|((x, y), score)| (score, x, y)).collect();
    edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    edges
}

/// Complete linkage, the nearest first: two groups become one only when every member of one is near to every member of
/// the other. A near to B and B near to C does not bring A and C together.
fn linked(nodes: &[Node<'_>], edges: Vec<Edge>, threshold: f32) -> Vec<(Vec<u32>, f32)> {
    let mut clusters: Vec<(Vec<u32>, f32)> = (0..nodes.len()).map(|n| (vec![n as u32], 1.0)).collect();
    let mut home: Vec<u32> = (0..nodes.len() as u32).collect();
    for (_, x, y) in edges {
        let (to, from) = (home[x as usize] as usize, home[y as usize] as usize);
        if to == from || clusters[to].0.len() + clusters[from].0.len() > LARGEST {
            continue;
        }
        let mut lowest = clusters[to].1.min(clusters[from].1);
        let near = clusters[to].0.iter().all(|a| {
            clusters[from].0.iter().all(|b| {
                let score = compare(&nodes[*a as usize].form, &nodes[*b as usize].form).score();
                lowest = lowest.min(score);
                score >= threshold
            })
        });
        if near {
            let (moved, _) = std::mem::take(&mut clusters[from]);
            moved.iter().for_each(|n| home[*n as usize] = to as u32);
            clusters[to].0.extend(moved);
            clusters[to].1 = lowest;
        }
    }
    clusters
}
