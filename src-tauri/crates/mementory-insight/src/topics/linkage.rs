//! Groups texts by average linkage: repeatedly joins the two most similar groups, as long as the mean similarity of
//! their members is high enough.
use super::Edges;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

/// Lowest mean similarity of the members at which two groups are joined.
const MIN_MEAN_SIMILARITY: f32 = 0.04;
/// Assumed similarity of two texts that are not in the list of pairs.
const UNKNOWN_SIMILARITY: f32 = -0.3;

#[derive(Debug, Default)]
struct Group {
    members: Vec<usize>,
    /// Incremented whenever the group changes.
    version: u32,
    /// For each other group, the sum and the number of the similarities that are known between its members and the
    /// members of this group.
    similarities: BTreeMap<usize, (f32, u32)>,
}

/// Two groups that may be joined, and the mean similarity of their members. The candidate is outdated once the version
/// of one of the groups has changed.
struct JoinCandidate {
    mean: f32,
    groups: [usize; 2],
    versions: [u32; 2],
}

/// Divides `count` texts into groups and returns the positions of the texts in each group. Every text is in exactly one
/// group. The same input always produces the same groups.
pub(super) fn groups(count: usize, edges: &Edges) -> Vec<Vec<usize>> {
    let mut groups: Vec<Group> = (0..count).map(|n| Group { members: vec![n], ..Group::default() }).collect();
    for ((a, b), similarity) in edges {
        groups[*a].similarities.insert(*b, (*similarity, 1));
        groups[*b].similarities.insert(*a, (*similarity, 1));
    }
    let mut heap = BinaryHeap::new();
    for a in 0..count {
        push_join_candidates(&groups, a, &mut heap, |b| b > a);
    }
    while let Some(join) = heap.pop() {
        let [a, b] = join.groups;
        if join.versions != [groups[a].version, groups[b].version] {
            continue;
        }
        merge_groups(&mut groups, a, b);
        push_join_candidates(&groups, a, &mut heap, |_| true);
    }
    groups.into_iter().map(|group| group.members).filter(|members| !members.is_empty()).collect()
}

/// Adds a candidate for each group that group `a` may be joined with.
fn push_join_candidates(
    groups: &[Group],
    a: usize,
    heap: &mut BinaryHeap<JoinCandidate>,
    admits: impl Fn(usize) -> bool,
) {
    let group = &groups[a];
    for (b, (sum, known)) in group.similarities.iter().filter(|(b, _)| admits(**b)) {
        let other = &groups[*b];
        let pairs = (group.members.len() * other.members.len()) as f32;
        let mean = (sum + UNKNOWN_SIMILARITY * (pairs - *known as f32)) / pairs;
        if mean >= MIN_MEAN_SIMILARITY {
            heap.push(JoinCandidate { mean, groups: [a, *b], versions: [group.version, other.version] });
        }
    }
}

/// Moves the members of `b` to `a`.
fn merge_groups(groups: &mut [Group], a: usize, b: usize) {
    let removed = std::mem::take(&mut groups[b]);
    groups[b].version = removed.version + 1;
    groups[a].version += 1;
    groups[a].members.extend(removed.members);
    groups[a].members.sort_unstable();
    groups[a].similarities.remove(&b);
    for (other, (sum, known)) in removed.similarities.into_iter().filter(|(other, _)| *other != a) {
        let entry = groups[a].similarities.entry(other).or_default();
        *entry = (entry.0 + sum, entry.1 + known);
        let total = *entry;
        groups[other].similarities.remove(&b);
        groups[other].similarities.insert(a, total);
    }
}

impl Ord for JoinCandidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.mean.total_cmp(&other.mean).then_with(|| other.groups.cmp(&self.groups))
    }
}

impl PartialOrd for JoinCandidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for JoinCandidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for JoinCandidate {}
