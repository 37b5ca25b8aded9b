//! Finds pairs in which the newer statement says that something named in the older statement is over, or moves a plan
//! of the older statement to another date.
use super::{
    Prepared, keep_newest,
    terms::{Rarity, places_differ, stem},
};
use crate::{subject::relations, values::dates, word_lists::RELATIONS};
use std::collections::HashMap;

/// Words that say that somebody has died. A space before a word keeps it from matching within another one ("studied").
const DEATHS: [&str; 10] = [
    " died",
    " passed away",
    " put to sleep",
    " gestorben",
    " verstorben",
    " eingeschläfert",
    " starb",
    " verstarb",
    "亡くな",
    "死ん",
];
/// Words that introduce a person or pet who is alive: "has a dog called Bosse".
const INTRODUCTIONS: [&str; 8] = ["has ", "have ", "owns ", "hat ", "habe ", "飼", "がいる", "を持"];

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

fn says(statement: &Prepared<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| statement.folded.text.contains(word))
}

/// Finds statements that introduce somebody of whom a newer one says that they have died. The two need not be alike, and
/// they need not share a term, because a name may be written in two scripts.
pub(super) fn find_deaths(prepared: &[Prepared<'_>], rare: &Rarity, add: &mut impl FnMut(usize, usize, f32, bool)) {
    let by_term = rare.groups(prepared);
    let mut by_person: HashMap<usize, Vec<usize>> = HashMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        statement.mentioned.iter().for_each(|person| by_person.entry(*person).or_default().push(n));
    }
    by_person.values_mut().for_each(|members| keep_newest(prepared, members));
    for (newer, new) in prepared.iter().enumerate().filter(|(_, statement)| says(statement, &DEATHS)) {
        let first_term = new.terms.first().filter(|name| is_dead(new, name));
        // Names of people are among the things of a statement, but not among its subjects.
        let name = new.things.iter().find(|term| !new.subjects.contains(term)).filter(|name| is_dead(new, name));
        let with_term = first_term.and_then(|name| by_term.get(name.as_str()));
        let with_person = match new.mentioned.as_slice() {
            [person] if name.is_some() => by_person.get(person),
            _ => None,
        };
        for older in with_term.into_iter().chain(with_person).flatten().copied() {
            let Some(old) = prepared.get(older) else { continue };
            let names_both = name.is_some() && new.mentioned.len() == 1 && old.mentioned == new.mentioned;
            if old.at < new.at
                && !old.marks.is_past
                && !old.marks.has_ended
                && old.may_share_subject(new)
                && says(old, &INTRODUCTIONS)
                && (names_both || first_term.is_some_and(|name| introduces(old, name, rare)))
            {
                add(older, newer, 0.85, true);
            }
        }
    }
}

/// True if the one with this name has died according to a statement about a death: if the clause of the name says so. In
/// "Tom's dog died", a relation follows the name: the dog has died and not Tom. In "Tom sang when the mayor died",
/// another clause begins after the name.
fn is_dead(statement: &Prepared<'_>, name: &str) -> bool {
    const ENDS: [char; 6] = ['.', ',', ';', ':', '。', '、'];
    const OTHER_CLAUSES: [&str; 15] = [
        " when ",
        " after ",
        " before ",
        " where ",
        " because ",
        " that ",
        " whose ",
        " who ",
        " and ",
        " als ",
        " nachdem ",
        " wo ",
        " weil ",
        " dass ",
        " und ",
    ];
    let Some((_, rest)) = statement.folded.text.split_once(name) else { return false };
    let clause = rest.split(ENDS).next().unwrap_or_default();
    !rest.starts_with(['の', '\'', '’'])
        && !OTHER_CLAUSES.iter().any(|word| clause.contains(word))
        && DEATHS.iter().any(|word| clause.contains(word))
        && relations(rest).is_empty()
}

/// True if a statement contains a term that is the name of somebody: "has a dog called Bosse".
fn introduces(statement: &Prepared<'_>, name: &str, rare: &Rarity) -> bool {
    statement.terms.iter().any(|term| term == name)
        && rare.is_rare(name)
        && !name.starts_with(['#', '~'])
        && !is_relation(name)
}

/// True for a term that is a word for a relation, such as "brother".
fn is_relation(term: &str) -> bool {
    RELATIONS.iter().flat_map(|names| names.iter()).any(|word| stem(word) == term)
}

fn confidence(old: &Prepared<'_>, new: &Prepared<'_>, rare: &Rarity) -> Option<f32> {
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
