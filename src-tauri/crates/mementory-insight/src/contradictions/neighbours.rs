//! Finds the most similar statements for each statement, because a contradicting statement is usually among them. If no
//! third statement is as similar, that is further evidence. Only statements near the same sample sentences are
//! compared, because comparing all pairs takes too long. Among few statements, however, the projected vectors of all
//! pairs are compared.
use super::{attributes::dot, features::Feature, reading::Reading};
use std::collections::BTreeMap;

/// Largest number of statements near one sample sentence that are compared with each other. The newest are used.
const MAX_GROUP: usize = 24;
/// Largest number of neighbours that are stored for each statement.
const MAX_NEIGHBOURS: usize = 4;
/// Like `MAX_NEIGHBOURS`, but for more than `MANY_STATEMENTS` statements. The limit is lower, so that the running time
/// is limited.
const MAX_NEIGHBOURS_OF_MANY: usize = 2;
const MANY_STATEMENTS: usize = 5000;
/// Lowest similarity at which two statements count as neighbours.
const MIN_SIMILARITY: f32 = 0.15;
/// If there are fewer statements than this, the nearest neighbour of a statement is no evidence.
const MIN_STATEMENTS: usize = 8;
/// Up to this number of statements, the projected vectors of all pairs are compared.
const MAX_ALL: usize = 600;

/// The vectors by which statements are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// The vectors of the sentence encoder.
    Encoder,
    /// The projected vectors. They are similar for statements of the same attribute, see `projection`.
    Projection,
}

impl Space {
    /// Cosine of the two vectors.
    fn similarity(self, one: &Reading<'_>, other: &Reading<'_>) -> f32 {
        match self {
            Self::Encoder => dot(one.vector, other.vector),
            Self::Projection => dot(&one.projected, &other.projected),
        }
    }

    /// Names of the features that `Neighbours::features` returns.
    const fn names(self) -> [&'static str; 5] {
        match self {
            Self::Encoder => ["neighbour", "nearest", "nearest_of_both", "nearer_than_all", "nearer_than_some"],
            Self::Projection => [
                "projected_neighbour",
                "projected_nearest",
                "projected_nearest_of_both",
                "projected_nearer_than_all",
                "projected_nearer_than_some",
            ],
        }
    }
}

/// The neighbours of each statement: similarity and position, the nearest neighbour first.
pub(super) struct Neighbours {
    /// Largest number of neighbours that are stored for each statement.
    limit: usize,
    /// Number of nearest neighbours with which each statement forms pairs.
    paired_count: usize,
    space: Space,
    by_statement: Vec<Vec<(f32, usize)>>,
}

impl Neighbours {
    pub(super) fn new(readings: &[Reading<'_>], space: Space) -> Self {
        let compared_groups = match space {
            Space::Projection if readings.len() <= MAX_ALL => vec![(0..readings.len()).collect()],
            _ => near_same_samples(readings),
        };
        let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); readings.len()];
        for (number, members) in compared_groups.iter().enumerate() {
            for member in members {
                if let Some(groups) = groups_of.get_mut(*member) {
                    groups.push(number);
                }
            }
        }
        let (limit, paired_count) = match space {
            _ if readings.len() <= MANY_STATEMENTS => (MAX_NEIGHBOURS, MAX_NEIGHBOURS),
            Space::Encoder => (MAX_NEIGHBOURS_OF_MANY, MAX_NEIGHBOURS_OF_MANY),
            // The second neighbour is stored only to compute how much nearer the first one is.
            Space::Projection => (MAX_NEIGHBOURS_OF_MANY, 1),
        };
        let mut neighbours = Self { limit, paired_count, space, by_statement: vec![Vec::new(); readings.len()] };
        // For each statement, the last statement with which it was compared, so that a pair in several groups is
        // compared once.
        let mut compared_with = vec![usize::MAX; readings.len()];
        for (a, one) in readings.iter().enumerate() {
            let groups = groups_of.get(a).into_iter().flatten();
            for b in groups.filter_map(|group| compared_groups.get(*group)).flatten().copied().filter(|b| *b > a) {
                let Some((other, last)) = readings.get(b).zip(compared_with.get_mut(b)) else { continue };
                if *last == a {
                    continue;
                }
                *last = a;
                let similarity = space.similarity(one, other);
                if similarity >= MIN_SIMILARITY {
                    neighbours.add(a, b, similarity);
                    neighbours.add(b, a, similarity);
                }
            }
        }
        neighbours
    }

    fn add(&mut self, statement: usize, neighbour: usize, similarity: f32) {
        let limit = self.limit;
        let Some(nearest) = self.by_statement.get_mut(statement) else { return };
        let at = nearest.partition_point(|(other, _)| *other >= similarity);
        if at < limit {
            nearest.insert(at, (similarity, neighbour));
            nearest.truncate(limit);
        }
    }

    /// The positions of all pairs in which one statement is among the `paired_count` nearest neighbours of the other.
    /// Each pair is listed once.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let pairs_of = |(a, nearest): (usize, &Vec<(f32, usize)>)| -> Vec<(usize, usize)> {
            nearest.iter().take(self.paired_count).map(|(_, b)| (a.min(*b), a.max(*b))).collect()
        };
        let mut out: Vec<(usize, usize)> = self.by_statement.iter().enumerate().flat_map(pairs_of).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// True if there are enough statements for the nearest neighbour to be evidence.
    pub(super) fn are_many(&self) -> bool {
        self.by_statement.len() >= MIN_STATEMENTS
    }

    /// Returns as features whether one statement is the nearest neighbour of the other, and how much nearer it is than
    /// any third statement. `similarity` is the similarity of `a` and `b`.
    pub(super) fn features(&self, a: usize, b: usize, similarity: f32) -> Vec<Feature> {
        let neighbours_of = |n: usize| self.by_statement.get(n).map_or(&[][..], Vec::as_slice);
        let is_nearest =
            |n: usize, other: usize| neighbours_of(n).first().is_some_and(|(_, nearest)| *nearest == other);
        let next_similarity = |n: usize, other: usize| {
            neighbours_of(n)
                .iter()
                .find(|(_, neighbour)| *neighbour != other)
                .map_or(MIN_SIMILARITY, |(similarity, _)| *similarity)
        };
        let (first, second) = (next_similarity(a, b), next_similarity(b, a));
        let (one, both) = (is_nearest(a, b) || is_nearest(b, a), is_nearest(a, b) && is_nearest(b, a));
        let is_neighbour =
            neighbours_of(a).iter().any(|(_, n)| *n == b) || neighbours_of(b).iter().any(|(_, n)| *n == a);
        let numbers = [
            f32::from(u8::from(is_neighbour)),
            f32::from(u8::from(one)),
            f32::from(u8::from(both)),
            similarity - first.max(second),
            similarity - first.min(second),
        ];
        let if_many = |n: f32| if self.are_many() { n } else { 0.0 };
        self.space.names().into_iter().zip(numbers.map(if_many)).collect()
    }
}

/// For each row of sample sentences, the newest statements that are near it.
fn near_same_samples(readings: &[Reading<'_>]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, reading) in readings.iter().enumerate() {
        reading.rows.iter().for_each(|(row, _)| groups.entry(*row).or_default().push(n));
    }
    let newest = |mut members: Vec<usize>| {
        members.sort_by_key(|n| std::cmp::Reverse(readings.get(*n).and_then(|reading| reading.at)));
        members.truncate(MAX_GROUP);
        members
    };
    groups.into_values().map(newest).collect()
}
