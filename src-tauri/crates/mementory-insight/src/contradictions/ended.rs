//! Finds pairs in which the newer statement says that something named in the older one is over, or moves a plan in the
//! older one to another date.
use super::{
    Prepared,
    terms::{Rarity, places_differ},
};
use crate::values::dates;

pub(super) fn find(prepared: &[Prepared<'_>], rare: &Rarity, add: &mut impl FnMut(usize, usize, f32, bool)) {
    for members in rare.groups(prepared).into_values() {
        for newer in &members {
            for older in &members {
                let (Some(new), Some(old)) = (prepared.get(*newer), prepared.get(*older)) else { continue };
                if newer == older
                    || old.at >= new.at
                    || old.marks.is_past
                    || old.marks.has_ended
                    || !old.may_share_subject(new)
                {
                    continue;
                }
                if let Some(confidence) = confidence(old, new, rare) {
                    add(*older, *newer, confidence, true);
                }
            }
        }
    }
}

fn confidence(old: &Prepared<'_>, new: &Prepared<'_>, rare: &Rarity) -> Option<f32> {
    // Places are not counted, because a place that both statements name is not what is over.
    let shared = rare.count_shared_things(old, new);
    let (before, after) = (dates(&old.folded.text), dates(&new.folded.text));
    let is_moved =
        old.marks.is_plan && (new.marks.is_plan || new.marks.has_ended) && !before.is_empty() && !after.is_empty();
    if is_moved && before.iter().all(|date| !after.contains(date)) && (shared >= 2 || new.marks.has_ended) {
        return Some(if shared >= 2 { 0.85 } else { 0.7 });
    }
    // A statement that something is over is short and names one thing. A long text names many things.
    let are_short = new.terms.len() <= 12 && old.terms.len() <= 12;
    if !new.marks.has_ended || !are_short || new.marks.is_past || places_differ(old, new) {
        return None;
    }
    let smaller = old.terms.len().min(new.terms.len()).max(1);
    let share = shared as f32 / smaller as f32;
    (share >= 0.5 || shared >= 2 && share >= 0.3).then_some(0.6 + 0.2 * share.min(1.0))
}
