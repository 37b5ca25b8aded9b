//! Finds pairs of statements in which one says that a thing is liked and the other that it is disliked.
use super::{Prepared, keep_newest};
use crate::subject::subject;
use crate::word_lists::{COUNTRIES, DISLIKES, LIKES};
use std::collections::BTreeMap;

/// A statement with more terms than this is not treated as an opinion about one thing.
const MAX_TERMS: usize = 5;

pub(super) fn find(prepared: &[Prepared<'_>], add: &mut impl FnMut(usize, usize, f32, bool)) {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        let marks = statement.marks;
        let is_own =
            statement.person.is_none() && subject(&statement.folded.text, statement.folded.text.len()).is_none();
        if is_own && !marks.is_past && (marks.likes || marks.dislikes) {
            let objects: Vec<&String> = statement.terms.iter().filter(|term| !is_opinion(term)).collect();
            // The object of the opinion is the only term of the statement, or the only listed thing in a short
            // statement with several terms.
            let listed: Vec<&&String> = objects.iter().filter(|term| is_listed(term)).collect();
            let is_english = statement.folded.languages.en && !statement.folded.languages.de;
            let object = match (objects.as_slice(), listed.as_slice()) {
                ([one], _) => Some(*one),
                // In English, the listed thing must come last: "hates cooking shows" is about shows.
                (several, [one]) if several.len() <= MAX_TERMS && !(is_english && several.last() != Some(*one)) => {
                    Some(**one)
                }
                _ => None,
            };
            if let Some(object) = object {
                groups.entry(object).or_default().push(n);
            }
        }
    }
    for members in groups.values_mut() {
        keep_newest(prepared, members);
        for (i, a) in members.iter().enumerate() {
            for b in members.iter().skip(i + 1) {
                let (Some(one), Some(other)) = (prepared.get(*a), prepared.get(*b)) else { continue };
                // "Likes swimming in rivers" and "dislikes swimming pools" are about two things.
                let says_more = |one: &Prepared<'_>, other: &Prepared<'_>| {
                    one.things.iter().any(|term| !other.terms.contains(term))
                };
                let two_things = says_more(one, other) && says_more(other, one);
                if one.marks.dislikes != other.marks.dislikes && !two_things {
                    add(*a, *b, 0.75, false);
                }
            }
        }
    }
}

/// True for a word such as "likes", which expresses the opinion itself.
pub(super) fn is_opinion(term: &str) -> bool {
    LIKES.iter().chain(DISLIKES).flat_map(|phrase| phrase.split(' ')).any(|word| word.starts_with(term) || word == term)
}

/// True for a thing in the lists of names, except countries: an opinion about a country can be about anything in it.
fn is_listed(term: &str) -> bool {
    term.starts_with('~')
        || term.strip_prefix('#').and_then(|n| n.parse::<usize>().ok()).is_some_and(|n| n >= COUNTRIES.len())
}
