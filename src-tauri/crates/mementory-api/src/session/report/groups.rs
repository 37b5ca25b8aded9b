//! Joins contradicting pairs into groups that are each about one thing, as the window does
//! (`ui/src/lib/state/contradiction-groups.ts`), so that the report and the window count the same.
use mementory_vault::{ContradictionPair, RowView};
use std::collections::BTreeMap;

/// Most memories in one group, as in the window.
const MAX_MEMBERS: usize = 9;

/// The memories of each group, in the order of the pairs. A pair is in only one group, a memory may be in several.
pub(super) fn groups(pairs: &[ContradictionPair]) -> Vec<Vec<&RowView>> {
    let views: BTreeMap<i64, &RowView> =
        pairs.iter().flat_map(|pair| [&pair.a, &pair.b]).map(|view| (view.row, view)).collect();
    let rows: Vec<(i64, i64)> = pairs.iter().map(|pair| (pair.a.row, pair.b.row)).collect();
    let members = group_rows(&rows).into_iter();
    members.map(|group| group.iter().filter_map(|row| views.get(row).copied()).collect()).collect()
}

fn group_rows(pairs: &[(i64, i64)]) -> Vec<Vec<i64>> {
    let mut opponents: BTreeMap<i64, Vec<(i64, usize)>> = BTreeMap::new();
    for (n, (a, b)) in pairs.iter().enumerate() {
        opponents.entry(*a).or_default().push((*b, n));
        opponents.entry(*b).or_default().push((*a, n));
    }
    let of = |row: i64| opponents.get(&row).map(Vec::as_slice).unwrap_or_default();
    let pair_of = |one: i64, other: i64| of(one).iter().find(|(row, _)| *row == other).map(|(_, n)| *n);
    let mut is_grouped = vec![false; pairs.len()];
    let mut out = Vec::new();
    for (first, (a, b)) in pairs.iter().enumerate() {
        if std::mem::replace(&mut is_grouped[first], true) {
            continue;
        }
        let mut members = vec![*a, *b];
        let mut at = 0;
        // The opponents of members that are added meanwhile are tried too.
        while let Some(member) = members.get(at).copied() {
            for (candidate, _) in of(member) {
                if members.len() == MAX_MEMBERS {
                    break;
                }
                let added = pairs_that_join(*candidate, &members, &pair_of);
                if added.is_empty() || added.iter().any(|pair| is_grouped[*pair]) {
                    continue;
                }
                members.push(*candidate);
                added.into_iter().for_each(|pair| is_grouped[pair] = true);
            }
            at += 1;
        }
        out.push(members);
    }
    out
}

/// The pairs of a candidate with the members of a group, if it is about the same thing: it contradicts all of them except
/// those with which it agrees, and these contradict exactly the same members. Otherwise none.
fn pairs_that_join(candidate: i64, members: &[i64], pair_of: &impl Fn(i64, i64) -> Option<usize>) -> Vec<usize> {
    if members.contains(&candidate) {
        return Vec::new();
    }
    let agrees = |member: i64| pair_of(candidate, member).is_none();
    let is_consistent = members
        .iter()
        .filter(|member| agrees(**member))
        .all(|one| members.iter().all(|other| one == other || pair_of(*one, *other).is_none() == agrees(*other)));
    match is_consistent {
        true => members.iter().filter_map(|member| pair_of(candidate, *member)).collect(),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_about_one_thing_are_one_group() {
        // 1 and 2 agree, and both contradict 3.
        assert_eq!(group_rows(&[(1, 3), (2, 3)]), [vec![1, 3, 2]]);
        // 2 and 4 agree, but only 2 contradicts 3.
        assert_eq!(group_rows(&[(1, 2), (2, 3), (1, 4)]), [vec![1, 2, 4], vec![2, 3]]);
        // All three contradict each other.
        assert_eq!(group_rows(&[(1, 2), (1, 3), (2, 3)]), [vec![1, 2, 3]]);
        assert!(group_rows(&[]).is_empty());
        let many: Vec<(i64, i64)> = (1..=20).map(|n| (0, n)).collect();
        assert_eq!(group_rows(&many).iter().map(Vec::len).max(), Some(MAX_MEMBERS));
    }
}
