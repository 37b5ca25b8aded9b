//! Joins contradicting pairs into groups that are each about one thing.
//!
//! In a group, two statements either contradict each other, or agree: they contradict the same other statements. Pairs
//! that merely share a statement are not joined: "finished work in Leeds" may contradict "works in Leeds" and "is
//! training for a race", but the latter two have nothing to do with each other. A statement that contradicts at least two
//! and at least half of the others is in the group too, because not every pair of a group is found. A statement may
//! therefore be in several groups, but a pair is in only one.
use std::collections::BTreeMap;

/// Largest number of statements in a group. People cannot compare more at a glance, and the window has only the keys 1
/// to 9 for choosing one.
const MAX_MEMBERS: usize = 9;

/// Two or more statements about the same thing that cannot all be true.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContradictionGroup {
    /// The statements: first the two of the first pair, then the others in the order in which they were added.
    pub members: Vec<usize>,
    /// Positions of the group's pairs in the input.
    pub pairs: Vec<usize>,
}

/// Joins contradicting pairs of statements into groups that are each about one thing. The groups are in the order of
/// their first pairs.
pub fn contradiction_groups(pairs: &[(usize, usize)]) -> Vec<ContradictionGroup> {
    let mut opponents: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (n, (a, b)) in pairs.iter().enumerate() {
        opponents.entry(*a).or_default().push((*b, n));
        opponents.entry(*b).or_default().push((*a, n));
    }
    let opponents_of = |one: usize| opponents.get(&one).map(Vec::as_slice).unwrap_or_default();
    let pair_of = |one: usize, other: usize| opponents_of(one).iter().find(|(n, _)| *n == other).map(|(_, pair)| *pair);
    let mut is_grouped = vec![false; pairs.len()];
    let mut out = Vec::new();
    for (first, (a, b)) in pairs.iter().enumerate() {
        if std::mem::replace(&mut is_grouped[first], true) {
            continue;
        }
        let mut group = ContradictionGroup { members: vec![*a, *b], pairs: vec![first] };
        let mut at = 0;
        // Members that are added in this loop are visited too, with the statements that contradict them.
        while let Some(member) = group.members.get(at).copied() {
            for (candidate, _) in opponents_of(member) {
                if group.members.len() == MAX_MEMBERS {
                    break;
                }
                let added = pairs_that_join(*candidate, &group.members, &pair_of);
                if added.is_empty() || added.iter().any(|pair| is_grouped[*pair]) {
                    continue;
                }
                group.members.push(*candidate);
                added.iter().for_each(|pair| is_grouped[*pair] = true);
                group.pairs.extend(added);
            }
            at += 1;
        }
        out.push(group);
    }
    out
}

/// The positions of the pairs that a candidate forms with the members of a group. Empty if the candidate does not fit:
/// for each member, it must either contradict the member or agree with it, or it must contradict at least two and at
/// least half of the members. It agrees with a member if both contradict the same other members.
fn pairs_that_join(
    candidate: usize,
    members: &[usize],
    pair_of: &impl Fn(usize, usize) -> Option<usize>,
) -> Vec<usize> {
    if members.contains(&candidate) {
        return Vec::new();
    }
    let agrees = |member: usize| pair_of(candidate, member).is_none();
    let is_consistent = members
        .iter()
        .filter(|member| agrees(**member))
        .all(|one| members.iter().all(|other| one == other || pair_of(*one, *other).is_none() == agrees(*other)));
    let pairs: Vec<usize> = members.iter().filter_map(|member| pair_of(candidate, *member)).collect();
    let contradicts_most = pairs.len() >= 2 && pairs.len() * 2 >= members.len();
    if is_consistent || contradicts_most { pairs } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses pairs such as `a-b b-c` and returns their groups, each as its members in alphabetical order.
    fn groups_of(pairs: &str) -> Vec<String> {
        let pairs: Vec<(usize, usize)> =
            pairs.split(' ').filter_map(|pair| pair.split_once('-')).map(|(a, b)| (number(a), number(b))).collect();
        let mut groups = Vec::new();
        for mut group in contradiction_groups(&pairs) {
            group.members.sort_unstable();
            groups.push(group.members.iter().map(|n| char::from(u8::try_from(*n).unwrap_or_default())).collect());
        }
        groups
    }

    fn number(name: &str) -> usize {
        usize::from(name.as_bytes()[0])
    }

    #[test]
    fn pairs_are_one_group_if_their_statements_contradict_each_other_or_agree_and_contradict_the_same_ones() {
        assert_eq!(groups_of("a-b b-c a-c"), ["abc"]);
        assert_eq!(groups_of("a-b e-f b-c"), ["abc", "ef"]);
        assert_eq!(groups_of("a-c b-c a-d b-d"), ["abcd"]);
        assert!(groups_of("").is_empty());
        let group = ContradictionGroup { members: vec![1, 3, 2], pairs: vec![0, 2] };
        let other = ContradictionGroup { members: vec![8, 9], pairs: vec![1] };
        assert_eq!(contradiction_groups(&[(1, 3), (8, 9), (2, 3)]), [group, other]);
    }

    #[test]
    fn pairs_that_only_form_a_chain_are_several_groups() {
        assert_eq!(groups_of("a-b c-d b-d"), ["abd", "cd"]);
        assert_eq!(groups_of("a-b b-c c-a c-d"), ["abc", "cd"]);
        assert_eq!(groups_of("a-b a-c a-f b-c b-f c-f e-a"), ["abcf", "ae"]);
    }

    #[test]
    fn a_statement_that_contradicts_half_of_a_group_is_in_it() {
        assert_eq!(groups_of("a-b a-c a-f b-c b-f c-f e-a e-b"), ["abcef"]);
    }

    #[test]
    fn a_pair_is_in_exactly_one_group_and_a_group_has_at_most_nine_members() {
        let pairs: Vec<(usize, usize)> = (1..=13).map(|n| (0, n)).collect();
        let groups = contradiction_groups(&pairs);
        assert_eq!(groups.iter().map(|group| group.members.len()).collect::<Vec<_>>(), [9, 6]);
        let mut grouped: Vec<usize> = groups.into_iter().flat_map(|group| group.pairs).collect();
        grouped.sort_unstable();
        assert_eq!(grouped, (0..pairs.len()).collect::<Vec<_>>());
    }
}
