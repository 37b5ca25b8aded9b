//! Groups of texts that say the same. Every two texts of a group are near, so there are no chains.
use crate::{Comparison, Form, Key, Sketch, compare, sketch::ROWS, sketches};
use std::collections::HashMap;

/// Rows that two sketches must share to be compared.
const BAND: usize = 3;
/// Rows by which sketches are ordered.
const DEPTH: usize = 6;
/// In each order, a text is compared with this many following ones.
const WINDOW: usize = 8;
/// Two texts with this many near texts each are not compared: their groups are found already.
const MAX_DEGREE: usize = 64;
/// The most different texts in a group, to limit the time. More are divided into several groups.
const MAX_GROUP: usize = 256;

/// How similar the members of a group are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// All equal after folding.
    Same,
    /// Every two of them say the same, as far as a comparison of words can tell.
    Near,
}

/// Texts that say the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// How similar they are.
    pub likeness: Likeness,
    /// Their indices in the input, ascending; at least two.
    pub members: Vec<usize>,
    /// The lowest share of common words between any two of them.
    pub score: f32,
}

/// The default for the share of common words that makes two texts near.
pub const THRESHOLD: f32 = 0.7;

/// Groups of texts. No text is in two groups. The groups are in the order of their first members.
pub fn group_texts<T: AsRef<str>>(key: &Key, texts: &[T], threshold: f32) -> Vec<Group> {
    let forms: Vec<Form> = texts.iter().map(|text| Form::new(text.as_ref())).collect();
    groups(&sketches(key, &forms), &forms, threshold)
}

/// Groups of texts by their sketches, stored or new, and their forms; `sketches[i]` and `forms[i]` belong to one text.
/// If one list is longer, its remainder is ignored. The result depends on the texts only, not on their order.
pub fn groups(sketches: &[Sketch], forms: &[Form], threshold: f32) -> Vec<Group> {
    let nodes = nodes(sketches, forms);
    let edges = near_pairs(&nodes, threshold);
    let clusters = complete_linkage(&nodes, edges, threshold);
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

/// Texts that differ in filler words at most.
struct Node<'s> {
    members: Vec<usize>,
    form: Form,
    rows: &'s [u16; ROWS],
}

/// One node for all texts with the same meaningful words in the same order: most duplicates are found here, without a
/// comparison. The nodes are ordered by content, so that the result depends on content only.
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
            members.iter().for_each(|i| form.adopt_stricter_kinds(&forms[*i]));
            Some(Node { form, rows: sketches[first].rows(), members })
        })
        .collect();
    nodes.sort_by_cached_key(|node| (node.form.canonical().to_owned(), node.form.core()));
    nodes
}

/// Two nodes that are near, and their score.
type Edge = (f32, u32, u32);

/// Near pairs. The nodes are sorted many times, each time by other rows of their sketches: nodes that share the first
/// rows may be near, and those that share more rows are closer together. Only neighbours are compared, so that a
/// hundred thousand similar texts take no longer than others; a pair missed in one order is found in another.
fn near_pairs(nodes: &[Node<'_>], threshold: f32) -> Vec<Edge> {
    let mut found: HashMap<(u32, u32), f32> = HashMap::new();
    let mut degree = vec![0_usize; nodes.len()];
    // Rejected pairs are neighbours in other orders again, so the latest are remembered.
    let mut rejected = vec![(0_u32, 0_u32); (nodes.len() * 16).next_power_of_two().min(1 << 20)];
    let mut order: Vec<(u128, u32)> = Vec::with_capacity(nodes.len());
    for first in (0..ROWS - BAND + 1).step_by(BAND) {
        order.clear();
        order.extend(nodes.iter().zip(0_u32..).map(|(node, n)| {
            // Decisive words come first in the order: texts with different ones are never neighbours.
            let rows = (0..DEPTH).fold(u128::from(node.form.decisive() >> 32), |sum, row| {
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
                    (pair.0.wrapping_mul(0x9e37_79b1) ^ pair.1.wrapping_mul(0x85eb_ca77)) as usize % rejected.len();
                let full = degree[*x as usize] >= MAX_DEGREE && degree[*y as usize] >= MAX_DEGREE;
                if full || rejected[slot] == pair || found.contains_key(&pair) {
                    continue;
                }
                let answer = compare(&nodes[*x as usize].form, &nodes[*y as usize].form);
                if answer.score() >= threshold && answer.score() > 0.0 {
                    // Equal texts are merged before all others.
                    found.insert(pair, if answer == Comparison::Same { 2.0 } else { answer.score() });
                    degree[*x as usize] += 1;
                    degree[*y as usize] += 1;
                } else {
                    rejected[slot] = pair;
                }
            }
        }
    }
    let mut edges: Vec<Edge> = found.into_iter().map(|((x, y), score)| (score, x, y)).collect();
    edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    edges
}

/// Complete linkage, nearest pairs first: two groups are merged only if every member of one is near to every member of
/// the other. If A is near to B and B to C, A and C need not be in one group.
fn complete_linkage(nodes: &[Node<'_>], edges: Vec<Edge>, threshold: f32) -> Vec<(Vec<u32>, f32)> {
    let mut clusters: Vec<(Vec<u32>, f32)> = (0..nodes.len()).map(|n| (vec![n as u32], 1.0)).collect();
    let mut cluster_of: Vec<u32> = (0..nodes.len() as u32).collect();
    for (_, x, y) in edges {
        let (to, from) = (cluster_of[x as usize] as usize, cluster_of[y as usize] as usize);
        if to == from || clusters[to].0.len() + clusters[from].0.len() > MAX_GROUP {
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
            moved.iter().for_each(|n| cluster_of[*n as usize] = to as u32);
            clusters[to].0.extend(moved);
            clusters[to].1 = lowest;
        }
    }
    clusters
}
