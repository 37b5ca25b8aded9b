//! Finds for each statement those that are most like it. The other half of a contradiction is mostly among them. That
//! no other statement is as similar is evidence too. Only statements that are near the same sample sentences are
//! compared, because comparing all takes too long.
use super::{attributes::dot, features::Feature, reading::Reading};
use std::collections::BTreeMap;

/// Largest number of statements near one sample sentence that are compared with each other. The newest are used.
const MAX_GROUP: usize = 24;
/// Number of neighbours of each statement that are kept.
const MAX_NEIGHBOURS: usize = 4;
/// Used instead of `MAX_NEIGHBOURS` for more than `MANY_STATEMENTS` statements, to limit the running time.
const MAX_NEIGHBOURS_OF_MANY: usize = 2;
const MANY_STATEMENTS: usize = 5000;
/// Lowest similarity at which two statements count as neighbours.
const MIN_SIMILARITY: f32 = 0.15;
/// Among fewer statements than this, being the nearest one means nothing.
const MIN_STATEMENTS: usize = 8;

/// The nearest neighbours of each statement: similarity and position, the nearest one first.
pub(super) struct Neighbours {
    /// Number of neighbours that are kept of each.
    limit: usize,
    of: Vec<Vec<(f32, usize)>>,
}

impl Neighbours {
    pub(super) fn new(readings: &[Reading<'_>]) -> Self {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (n, reading) in readings.iter().enumerate() {
            reading.rows.iter().for_each(|(row, _)| groups.entry(*row).or_default().push(n));
        }
        let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); readings.len()];
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        let mut kept: Vec<Vec<usize>> = Vec::with_capacity(groups.len());
        for (number, mut members) in groups.into_iter().enumerate() {
            members.sort_by_key(|n| std::cmp::Reverse(readings.get(*n).and_then(|reading| reading.at)));
            members.truncate(MAX_GROUP);
            for member in &members {
                if let Some(groups) = groups_of.get_mut(*member) {
                    groups.push(number);
                }
            }
            kept.push(members);
        }
        let limit = if readings.len() > MANY_STATEMENTS { MAX_NEIGHBOURS_OF_MANY } else { MAX_NEIGHBOURS };
        let mut neighbours = Self { limit, of: vec![Vec::new(); readings.len()] };
        // For each statement, the last one that it was compared with, so that a pair in several groups counts once.
        let mut compared_with = vec![usize::MAX; readings.len()];
        for (a, one) in readings.iter().enumerate() {
            let groups = groups_of.get(a).into_iter().flatten();
            for b in groups.filter_map(|group| kept.get(*group)).flatten().copied().filter(|b| *b > a) {
                let Some((other, last)) = readings.get(b).zip(compared_with.get_mut(b)) else { continue };
                if *last == a {
                    continue;
                }
                *last = a;
                let similarity = dot(one.vector, other.vector);
                if similarity >= MIN_SIMILARITY {
                    neighbours.add(a, b, similarity);
                    neighbours.add(b, a, similarity);
                }
            }
        }
        neighbours
    }

    fn add(&mut self, of: usize, neighbour: usize, similarity: f32) {
        let limit = self.limit;
        let Some(nearest) = self.of.get_mut(of) else { return };
        let at = nearest.partition_point(|(other, _)| *other >= similarity);
        if at < limit {
            nearest.insert(at, (similarity, neighbour));
            nearest.truncate(limit);
        }
    }

    /// The positions of all pairs in which one statement is a neighbour of the other. Each pair is listed once.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let pairs = self.of.iter().enumerate();
        let mut out: Vec<(usize, usize)> =
            pairs.flat_map(|(a, nearest)| nearest.iter().map(move |(_, b)| (a.min(*b), a.max(*b)))).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// True if there are enough statements to say that one is nearest.
    pub(super) fn are_many(&self) -> bool {
        self.of.len() >= MIN_STATEMENTS
    }

    /// Whether one statement is the nearest neighbour of the other, and by how much it is nearer than any third
    /// statement.
    pub(super) fn features(&self, a: usize, b: usize, similarity: f32) -> Vec<Feature> {
        let of = |n: usize| self.of.get(n).map_or(&[][..], Vec::as_slice);
        let is_nearest = |n: usize, other: usize| of(n).first().is_some_and(|(_, nearest)| *nearest == other);
        let next = |n: usize, other: usize| {
            of(n)
                .iter()
                .find(|(_, neighbour)| *neighbour != other)
                .map_or(MIN_SIMILARITY, |(similarity, _)| *similarity)
        };
        let (first, second) = (next(a, b), next(b, a));
        let (one, both) = (is_nearest(a, b) || is_nearest(b, a), is_nearest(a, b) && is_nearest(b, a));
        let is_neighbour = of(a).iter().any(|(_, n)| *n == b) || of(b).iter().any(|(_, n)| *n == a);
        let numbers = [
            ("neighbour", f32::from(u8::from(is_neighbour))),
            ("nearest", f32::from(u8::from(one))),
            ("nearest_of_both", f32::from(u8::from(both))),
            ("nearer_than_all", similarity - first.max(second)),
            ("nearer_than_some", similarity - first.min(second)),
        ];
        numbers.map(|(name, number)| (name, if self.are_many() { number } else { 0.0 })).to_vec()
    }
}
