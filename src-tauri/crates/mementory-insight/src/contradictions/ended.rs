//! Finds pairs in which the newer statement says that something named in the older statement is over, or moves a plan
//! of the older statement to another date.
use super::{
    Prepared,
    terms::{Rarity, places_differ, stem},
};
use crate::{values::dates, word_lists::RELATIONS};

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

/// True if the newer statement says that a person or pet has died whom the older statement introduces by name: "has a
/// dog called Bosse", "Bosse died in spring".
fn has_died(old: &Prepared<'_>, new: &Prepared<'_>, rare: &Rarity) -> bool {
    const DEATHS: [&str; 10] = [
        "died",
        "passed away",
        "put to sleep",
        "gestorben",
        "verstorben",
        "eingeschläfert",
        " starb",
        "verstarb",
        "亡くな",
        "死ん",
    ];
    const INTRODUCTIONS: [&str; 8] = ["has ", "have ", "owns ", "hat ", "habe ", "飼", "がいる", "を持"];
    let says = |statement: &Prepared<'_>, words: &[&str]| words.iter().any(|word| statement.folded.text.contains(word));
    // The newer statement must begin with the name, as in "Bosse died". "Her brother's dog died" names nobody.
    let name = new.terms.first();
    says(new, &DEATHS)
        && says(old, &INTRODUCTIONS)
        && name.is_some_and(|name| {
            old.terms.contains(name) && rare.is_rare(name) && !name.starts_with(['#', '~']) && !is_relation(name)
        })
}

/// True for a term that is a word for a relation, such as "brother".
fn is_relation(term: &str) -> bool {
    RELATIONS.iter().flat_map(|names| names.iter()).any(|word| stem(word) == term)
}

fn confidence(old: &Prepared<'_>, new: &Prepared<'_>, rare: &Rarity) -> Option<f32> {
    if has_died(old, new, rare) {
        return Some(0.85);
    }
    // Places are not counted, because a place in both statements is not the thing that is over.
    let shared = rare.count_shared_things(old, new);
    let (before, after) = (dates(&old.folded.text), dates(&new.folded.text));
    let is_moved =
        old.marks.is_plan && (new.marks.is_plan || new.marks.has_ended) && !before.is_empty() && !after.is_empty();
    if is_moved && before.iter().all(|date| !after.contains(date)) && (shared >= 2 || new.marks.has_ended) {
        return Some(if shared >= 2 { 0.85 } else { 0.7 });
    }
    // A statement that something is over usually is short and names one thing. Long texts are skipped, because they
    // name many things.
    let are_short = new.terms.len() <= 12 && old.terms.len() <= 12;
    if !new.marks.has_ended || !are_short || new.marks.is_past || places_differ(old, new) {
        return None;
    }
    let fewer_terms = old.terms.len().min(new.terms.len()).max(1);
    let share = shared as f32 / fewer_terms as f32;
    (share >= 0.5 || shared >= 2 && share >= 0.3).then_some(0.6 + 0.2 * share.min(1.0))
}
