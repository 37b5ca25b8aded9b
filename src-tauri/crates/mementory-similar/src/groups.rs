//! Finds groups of texts that say the same. Any two texts of a group are near.
use crate::{Comparison, Form, Key, Sketch, compare, sketch::ROW_COUNT, sketches};
use std::collections::HashMap;

/// Two texts are compared only if at least this many rows of their sketches are equal.
const MIN_COMMON_ROWS: usize = 3;
/// Number of rows by which each sort order compares sketches.
const SORT_ROW_COUNT: usize = 6;
/// In each sort order, a text is compared with this many of the texts that follow it.
const COMPARED_NEIGHBOUR_COUNT: usize = 8;
/// Two texts that both have this many near texts are not compared, because their groups have already been found.
const MAX_NEAR_TEXTS: usize = 64;
/// Largest number of different texts in a group, which limits the time. Larger groups are divided.
const MAX_GROUP_TEXTS: usize = 256;

/// Similarity of the members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Similarity {
    /// All texts are equal after folding.
    Same,
    /// Any two texts say the same, as far as a comparison of words can tell.
    Near,
}

/// A group of texts that say the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// `Same` if all texts are equal after folding, otherwise `Near`.
    pub similarity: Similarity,
    /// Indexes of at least two of the input texts, in ascending order.
    pub members: Vec<usize>,
    /// The smallest share of common words between any two of the texts.
    pub score: f32,
}

/// Default threshold: the smallest share of common words at which two texts are similar.
pub const THRESHOLD: f32 = 0.7;

/// Finds groups of texts. Every text is in at most one group. The groups are sorted by their first members.
pub fn group_texts<T: AsRef<str>>(key: &Key, texts: &[T], threshold: f32) -> Vec<Group> {
    let forms: Vec<Form> = texts.iter().map(|text| Form::new(text.as_ref())).collect();
    groups(&sketches(key, &forms), &forms, threshold)
}

/// Finds groups of texts, given their forms and their sketches, which may have been stored. `sketches[i]` and
/// `forms[i]` must belong to the same text. If one list is longer, the excess is ignored. The groups do not depend on
/// the order of the texts.
pub fn groups(sketches: &[Sketch], forms: &[Form], threshold: f32) -> Vec<Group> {
    let nodes = create_nodes(sketches, forms);
    let edges = find_near_pairs(&nodes, threshold);
    let clusters = merge_by_complete_linkage(&nodes, edges, threshold);
    let mut out: Vec<Group> = clusters
        .into_iter()
        .filter_map(|(cluster, score)| {
            let mut members: Vec<usize> = cluster.iter().flat_map(|n| &nodes[*n as usize].members).copied().collect();
            members.sort_unstable();
            let first_sketch = &sketches[*members.first()?];
            let are_all_same = members.iter().all(|i| sketches[*i].same_text(first_sketch));
            let similarity = if are_all_same { Similarity::Same } else { Similarity::Near };
            (members.len() > 1).then_some(Group { similarity, members, score })
        })
        .collect();
    out.sort_unstable_by_key(|group| group.members.first().copied());
    out
}

/// Texts that differ only in filler words, with a single form for all of them.
struct Node<'s> {
    members: Vec<usize>,
    form: Form,
    rows: &'s [u16; ROW_COUNT],
}

/// Creates one node for all texts with the same meaningful words in the same order. This finds most duplicates without
/// a comparison. The nodes are sorted by content, so that the result does not depend on the order of the texts.
fn create_nodes<'s>(sketches: &'s [Sketch], forms: &[Form]) -> Vec<Node<'s>> {
    let mut by_word_hashes: HashMap<Vec<u64>, Vec<usize>> = HashMap::new();
    for (i, (_, form)) in sketches.iter().zip(forms).enumerate().filter(|(_, (_, form))| !form.is_empty()) {
        by_word_hashes.entry(form.word_hashes()).or_default().push(i);
    }
    let mut nodes: Vec<Node<'s>> = by_word_hashes
        .into_values()
        .filter_map(|members| {
            let first_member = members.iter().copied().min_by_key(|i| forms[*i].canonical())?;
            let mut form = forms[first_member].clone();
            members.iter().for_each(|i| form.adopt_stricter_kinds(&forms[*i]));
            Some(Node { form, rows: sketches[first_member].rows(), members })
        })
        .collect();
    nodes.sort_by_cached_key(|node| (node.form.canonical().to_owned(), node.form.word_hashes()));
    nodes
}

/// Two nodes that are near, as (score, index, index).
type Edge = (f32, u32, u32);

/// Finds pairs of nodes that are near. The nodes are sorted many times, each time by other rows of their sketches. The
/// more of these rows are equal, the closer two nodes are in that sort order. Only neighbours are compared, so a
/// hundred thousand similar texts take no longer than other texts. A pair that is missed in one order can be found in
/// another.
fn find_near_pairs(nodes: &[Node<'_>], threshold: f32) -> Vec<Edge> {
    let mut score_by_pair: HashMap<(u32, u32), f32> = HashMap::new();
    let mut near_text_counts = vec![0_usize; nodes.len()];
    // The same pair may be adjacent in several orders, so recently rejected pairs are remembered.
    let mut rejected = vec![(0_u32, 0_u32); (nodes.len() * 16).next_power_of_two().min(1 << 20)];
    let mut order: Vec<(u128, u32)> = Vec::with_capacity(nodes.len());
    for first_row in (0..ROW_COUNT - MIN_COMMON_ROWS + 1).step_by(MIN_COMMON_ROWS) {
        order.clear();
        order.extend(nodes.iter().zip(0_u32..).map(|(node, n)| {
            // The sort key begins with the hash of the decisive words, so texts with different decisive words are never
            // compared.
            let rows = (0..SORT_ROW_COUNT).fold(u128::from(node.form.decisive_hash() >> 32), |sum, row| {
                sum << 16 | u128::from(node.rows[(first_row + row) % ROW_COUNT])
            });
            (rows, n)
        }));
        order.sort_unstable();
        for (position, (key, x)) in order.iter().enumerate() {
            for (other, y) in order[position + 1..].iter().take(COMPARED_NEIGHBOUR_COUNT) {
                if key >> (16 * (SORT_ROW_COUNT - MIN_COMMON_ROWS))
                    != other >> (16 * (SORT_ROW_COUNT - MIN_COMMON_ROWS))
                {
                    break;
                }
                let pair = (*x.min(y), *x.max(y));
                let slot =
                    (pair.0.wrapping_mul(0x9e37_79b1) ^ pair.1.wrapping_mul(0x85eb_ca77)) as usize % rejected.len();
                let have_enough_near_texts =
                    near_text_counts[*x as usize] >= MAX_NEAR_TEXTS && near_text_counts[*y as usize] >= MAX_NEAR_TEXTS;
                if have_enough_near_texts || rejected[slot] == pair || score_by_pair.contains_key(&pair) {
                    continue;
                }
                let comparison = compare(&nodes[*x as usize].form, &nodes[*y as usize].form);
                if comparison.score() >= threshold && comparison.score() > 0.0 {
                    // Equal texts get a higher score than all others, so that they are merged first.
                    score_by_pair.insert(pair, if comparison == Comparison::Same { 2.0 } else { comparison.score() });
                    near_text_counts[*x as usize] += 1;
                    near_text_counts[*y as usize] += 1;
                } else {
                    rejected[slot] = pair;
                }
            }
        }
    }
    let mut edges: Vec<Edge> = score_by_pair.into_iter().map(|((x, y), score)| (score, x, y)).collect();
    edges.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    edges
}

/// Merges nodes into groups by complete linkage, nearest pairs first. Two groups are merged only if every member of one
/// is near every member of the other. If A is near B, and B is near C, A and C need not end up in the same group.
fn merge_by_complete_linkage(nodes: &[Node<'_>], edges: Vec<Edge>, threshold: f32) -> Vec<(Vec<u32>, f32)> {
    let mut clusters: Vec<(Vec<u32>, f32)> = (0..nodes.len()).map(|n| (vec![n as u32], 1.0)).collect();
    let mut cluster_of: Vec<u32> = (0..nodes.len() as u32).collect();
    for (_, x, y) in edges {
        let (to, from) = (cluster_of[x as usize] as usize, cluster_of[y as usize] as usize);
        if to == from || clusters[to].0.len() + clusters[from].0.len() > MAX_GROUP_TEXTS {
            continue;
        }
        let mut lowest = clusters[to].1.min(clusters[from].1);
        let are_all_near = clusters[to].0.iter().all(|a| {
            clusters[from].0.iter().all(|b| {
                let score = compare(&nodes[*a as usize].form, &nodes[*b as usize].form).score();
                lowest = lowest.min(score);
                score >= threshold
            })
        });
        if are_all_near {
            let (moved, _) = std::mem::take(&mut clusters[from]);
            moved.iter().for_each(|n| cluster_of[*n as usize] = to as u32);
            clusters[to].0.extend(moved);
            clusters[to].1 = lowest;
        }
    }
    clusters
}
