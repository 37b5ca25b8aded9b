//! Lists of messages whose newest message comes first, as the APIs of websites return them.
use mementory_formats_shared::chat::{Turn, TurnParent, put_oldest_first};
use mementory_formats_shared::roles::{ASSISTANT, USER};
use std::collections::HashMap;

/// Smallest number of decreasing times that shows that a list begins with its newest message, if the list begins with a
/// prompt and ends with an answer.
const MIN_FALLS: usize = 3;

/// Reverses a list that begins with its newest message.
pub(super) fn reverse_if_newest_first(turns: &mut [Turn]) {
    if links_point_down(turns).unwrap_or_else(|| has_falling_times(turns)) {
        put_oldest_first(turns);
    }
}

/// True if more messages are above their parents than below them. None if no message has a parent in the list. False if
/// a message states the index of its parent.
fn links_point_down(turns: &[Turn]) -> Option<bool> {
    let numbered_turns = || turns.iter().enumerate();
    let positions: HashMap<&str, usize> =
        numbered_turns().filter_map(|(n, turn)| Some((turn.id.as_deref()?, n))).collect();
    let (mut above_parent_count, mut below_parent_count) = (0_usize, 0_usize);
    for (position, turn) in numbered_turns() {
        match &turn.parent {
            TurnParent::Id(id) => match positions.get(id.as_str()) {
                Some(parent) if *parent > position => above_parent_count += 1,
                Some(_) => below_parent_count += 1,
                None => {}
            },
            // A list with indexes of parents is not reversed, because its indexes would then refer to other messages.
            TurnParent::At(_) => return Some(false),
            TurnParent::Root | TurnParent::Previous => {}
        }
    }
    (above_parent_count + below_parent_count > 0).then_some(above_parent_count > below_parent_count)
}

/// True if all messages of a list have a time, the times never increase, and no message links to a parent. In addition,
/// a list that begins with a prompt and ends with an answer must have at least [`MIN_FALLS`] times that are earlier
/// than the time above them, because an answer may have an earlier time than its prompt. A list that begins with an
/// answer and ends with a prompt needs no such time, and any other list needs one.
fn has_falling_times(turns: &[Turn]) -> bool {
    let Some((first, last)) = turns.first().zip(turns.last()) else { return false };
    let fall_count =
        turns.windows(2).filter(|pair| matches!(pair, [a, b] if a.times.created > b.times.created)).count();
    let is_reversed = match (first.role.as_str(), last.role.as_str()) {
        (ASSISTANT, USER) => true,
        (USER, ASSISTANT) => fall_count >= MIN_FALLS,
        _ => fall_count > 0,
    };
    is_reversed
        && turns.iter().all(|turn| turn.parent == TurnParent::Previous && turn.times.created.is_some())
        && turns.windows(2).all(|pair| matches!(pair, [a, b] if a.times.created >= b.times.created))
}
