//! Finds statements that give different favourites of one kind ("favourite colour"), and statements with opposite
//! preferences ("prefers tea to coffee"). The patterns are in `data/names.toml`.
use super::{Prepared, keep_newest, terms};
use crate::{
    fold::{Folded, words},
    subject::subject,
    values::{Difference, Value, compare, value},
    word_lists::{FAVOURITE_PATTERNS, FAVOURITES, PREFERENCE_PATTERNS},
};
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The kind of a favourite, and its owner: a position in the list of relations, and a named person.
type FavouriteKind = (String, Option<usize>, Option<usize>);
/// Two things of which one is preferred to the other, in alphabetical order, and the owner of the preference: a
/// position in the list of relations, and a named person.
type Preference = (String, String, Option<usize>, Option<usize>);
/// Words that introduce one of several favourites.
const ONE_OF_SEVERAL: [&str; 6] = ["one of", "among", "eine ihrer", "eine seiner", "eines", "einer"];
/// If one of these verbs is directly before the name, there are several favourites.
const PLURAL_VERBS: [&str; 2] = [" are ", " sind "];

pub(super) fn find(prepared: &[Prepared<'_>], add: &mut impl FnMut(usize, usize, f32, bool)) {
    let mut favourites: BTreeMap<FavouriteKind, Vec<(usize, Value)>> = BTreeMap::new();
    let mut preferences: BTreeMap<Preference, Vec<(usize, bool)>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate().filter(|(_, statement)| !statement.marks.is_past) {
        if let Some((kind, name)) = favourite(statement) {
            let text = &statement.folded.text;
            favourites.entry((kind, subject(text, text.len()), statement.person)).or_default().push((n, name));
        }
        if let Some((one, other)) = preference(statement) {
            let is_swapped = one > other;
            let (first, second) = if is_swapped { (other, one) } else { (one, other) };
            let text = &statement.folded.text;
            let relation = subject(text, text.len());
            preferences.entry((first, second, relation, statement.person)).or_default().push((n, is_swapped));
        }
    }
    for members in favourites.into_values() {
        for_each_pair(prepared, &members, |(a, one), (b, other)| {
            if compare(one, other) == Difference::Other {
                add(*a, *b, 0.8, true);
            }
        });
    }
    for members in preferences.into_values() {
        for_each_pair(prepared, &members, |(a, one), (b, other)| {
            if one != other {
                add(*a, *b, 0.8, true);
            }
        });
    }
}

/// Calls `compare` for every pair of the newest members, unless one of the two is an addition or they are limited to
/// different occasions.
fn for_each_pair<T>(
    prepared: &[Prepared<'_>],
    members: &[(usize, T)],
    mut compare: impl FnMut(&(usize, T), &(usize, T)),
) {
    let mut newest: Vec<usize> = members.iter().map(|(n, _)| *n).collect();
    keep_newest(prepared, &mut newest);
    let members: Vec<&(usize, T)> = members.iter().filter(|(n, _)| newest.contains(n)).collect();
    for (i, one) in members.iter().enumerate() {
        for other in members.iter().skip(i + 1) {
            let (Some(a), Some(b)) = (prepared.get(one.0), prepared.get(other.0)) else { continue };
            if !a.signs.is_addition && !b.signs.is_addition && a.signs.occasions == b.signs.occasions {
                compare(one, other);
            }
        }
    }
}

/// The kind and the name of the favourite that a statement gives. None if it gives none or several.
fn favourite(statement: &Prepared<'_>) -> Option<(String, Value)> {
    let text = &statement.folded.text;
    if !["favo", "lieblings", "好きな", "お気に入り", "most loved"].iter().any(|word| text.contains(word)) {
        return None;
    }
    let found = favourite_patterns().iter().find_map(|pattern| pattern.captures(text))?;
    let before = text.get(..found.name("v")?.start()).unwrap_or_default();
    let opening = text.get(..found.get(0)?.end()).unwrap_or_default();
    if PLURAL_VERBS.iter().any(|verb| before.ends_with(verb))
        || ONE_OF_SEVERAL.iter().any(|phrase| words(opening).join(" ").contains(phrase))
    {
        return None;
    }
    let kind = found.name("k")?.as_str().trim();
    let listed = FAVOURITES.iter().position(|names| {
        names.iter().any(|name| match name.strip_prefix('*') {
            Some(end) => kind.ends_with(end),
            None => kind == *name || kind.strip_suffix('s') == Some(*name),
        })
    });
    let kind = listed.map_or_else(|| words(kind).into_iter().map(terms::stem).collect(), |n| format!("#{n}"));
    Some((kind, value(found.name("v")?.as_str().trim_matches(['"', '「', '」', '『', '』', ' ', '„', '“']))))
}

/// The preferred thing and the less preferred thing of a statement, as terms.
fn preference(statement: &Prepared<'_>) -> Option<(String, String)> {
    let text = &statement.folded.text;
    if !["prefer", "like", "bevorzugt", "lieber", "より"].iter().any(|word| text.contains(word)) {
        return None;
    }
    let found = preference_patterns().iter().find_map(|pattern| pattern.captures(text))?;
    let name = |group: &str| {
        let terms = terms::terms_in(&Folded::new(found.name(group)?.as_str()));
        // General words such as "short" are skipped, because "short meetings" and "short workouts" are different
        // things.
        terms.into_iter().find(|term| term.starts_with('#') || terms::is_thing(term))
    };
    let (one, other) = (name("a")?, name("b")?);
    (one != other).then_some((one, other))
}

fn favourite_patterns() -> &'static [Regex] {
    static PATTERNS: OnceLock<Vec<Regex>> = OnceLock::new();
    PATTERNS.get_or_init(|| FAVOURITE_PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect())
}

fn preference_patterns() -> &'static [Regex] {
    static PATTERNS: OnceLock<Vec<Regex>> = OnceLock::new();
    PATTERNS.get_or_init(|| PREFERENCE_PATTERNS.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        assert_eq!(
            (favourite_patterns().len(), preference_patterns().len()),
            (FAVOURITE_PATTERNS.len(), PREFERENCE_PATTERNS.len())
        );
    }
}
