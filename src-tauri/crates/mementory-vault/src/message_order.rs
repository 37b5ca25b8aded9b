//! The order of the messages of a conversation: each after the message that it answers.
use mementory_model::{Record, RecordKey};
use mementory_store::RowView;
use std::collections::HashMap;

/// Fills in parents that were stored after their child, as in exports that list the newest message first. Puts each
/// message after its parent and otherwise keeps the order. `id_of` makes the id of a record from its key.
pub(crate) fn order(
    mut messages: Vec<(RowView, Record)>,
    id_of: impl Fn(&RecordKey) -> [u8; 16],
) -> Vec<(RowView, Record)> {
    let by_row: HashMap<i64, usize> = messages.iter().enumerate().map(|(i, (view, _))| (view.row, i)).collect();
    let mut by_id: Option<HashMap<[u8; 16], i64>> = None;
    for i in 0..messages.len() {
        let (view, record) = &messages[i];
        let parent_key = record.message.as_ref().and_then(|message| message.parent.as_ref());
        let (None, Some(parent_key)) = (view.parent, parent_key) else { continue };
        let by_id = by_id.get_or_insert_with(|| messages.iter().map(|(view, _)| (view.id, view.row)).collect());
        let parent = by_id.get(&id_of(parent_key)).copied().filter(|parent| *parent != view.row);
        messages[i].0.parent = parent;
    }
    let parents: Vec<Option<usize>> =
        messages.iter().map(|(view, _)| view.parent.and_then(|row| by_row.get(&row).copied())).collect();
    with_parents_first(messages, &parents)
}

/// Puts each item after its parent. `parents` has the position of each item's parent.
fn with_parents_first<T>(items: Vec<T>, parents: &[Option<usize>]) -> Vec<T> {
    if parents.iter().enumerate().all(|(i, parent)| parent.is_none_or(|parent| parent < i)) {
        return items;
    }
    let mut optional_items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    parents_first(parents).into_iter().filter_map(|i| optional_items[i].take()).collect()
}

/// Returns the positions `0..parents.len()` in ascending order, except that each position comes after the position of
/// its parent. A cycle is cut at one of its positions.
fn parents_first(parents: &[Option<usize>]) -> Vec<usize> {
    let mut is_placed = vec![false; parents.len()];
    let mut out = Vec::with_capacity(parents.len());
    let mut ancestors = Vec::new();
    for start in 0..parents.len() {
        let mut next = Some(start);
        while let Some(i) = next.filter(|i| *i < parents.len() && !is_placed[*i]) {
            is_placed[i] = true;
            ancestors.push(i);
            next = parents[i];
        }
        out.extend(ancestors.drain(..).rev());
    }
    out
}

/// Puts each message of a unit after its parent and otherwise keeps the order.
pub(crate) fn unit_with_parents_first(records: Vec<Record>) -> Vec<Record> {
    let by_key: HashMap<&RecordKey, usize> =
        records.iter().enumerate().filter(|(_, r)| r.message.is_some()).map(|(i, r)| (&r.key, i)).collect();
    let parent_of = |record: &Record| by_key.get(record.message.as_ref()?.parent.as_ref()?).copied();
    let parents: Vec<Option<usize>> = records.iter().map(parent_of).collect();
    with_parents_first(records, &parents)
}

#[cfg(test)]
mod tests {
    use super::parents_first;

    #[test]
    fn each_message_comes_after_its_parent() {
        assert_eq!(parents_first(&[None, Some(0), Some(1)]), [0, 1, 2]);
        assert_eq!(parents_first(&[Some(1), Some(2), None]), [2, 1, 0]);
        assert_eq!(parents_first(&[None, Some(3), Some(0), None]), [0, 3, 1, 2]);
        assert_eq!(parents_first(&[Some(1), Some(0), None]), [1, 0, 2], "a cycle");
        assert_eq!(parents_first(&[Some(9)]), [0], "a parent that is not there");
    }
}
