//! Finds special categories of personal data in a text. Recall matters more than precision, because people look for
//! data that should not be in the text, and a missed memory harms them more than a false alarm.
use crate::{
    Special,
    fold::{Folded, words},
    patterns::WordSet,
    subject::subject,
    word_lists::SPECIAL,
};
use regex::Regex;
use std::sync::OnceLock;

/// What a listed word shows about a category.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The word certainly shows the category.
    Sure,
    /// The word shows the category, unless a word with the role `Unless` is in the same text.
    Hit,
    Unless,
    /// The word contains another word of the list but has a different meaning.
    Not,
}

const ROLES: [Role; 4] = [Role::Sure, Role::Hit, Role::Unless, Role::Not];
/// Position of the list of regular expressions in a table of `data/special`.
const PATTERNS: usize = 4;
/// Position of the list of regular expressions for figures of speech, such as "allergic to meetings". They are matched
/// against the folded text.
const FIGURATIVE: usize = 5;

/// How strongly the words of a text show a category, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evidence {
    /// The only words that show the category are in a figure of speech: "allergic to meetings".
    Figurative,
    /// No word shows the category.
    None,
    /// A word shows the category, but another word in the text suggests a different meaning.
    Doubtful,
    /// A word shows the category, but may also mean something else.
    Likely,
    Sure,
}

/// The categories that a text shows, each once, in the order of [`Special::ALL`].
pub fn special(text: &str) -> Vec<Special> {
    shown_categories(&evidence_of(&Folded::new(text)))
}

/// The categories that are shown by more than figures of speech and doubtful words.
pub(crate) fn shown_categories(evidence: &[Evidence; Special::ALL.len()]) -> Vec<Special> {
    Special::ALL
        .into_iter()
        .zip(evidence)
        .filter(|(_, how)| **how >= Evidence::Likely)
        .map(|(class, _)| class)
        .collect()
}

/// How strongly the words of a text show each category, in the order of [`Special::ALL`].
pub(crate) fn evidence_of(folded: &Folded) -> [Evidence; Special::ALL.len()] {
    let lists = lists();
    let hits: Vec<_> =
        lists.words.hits(&folded.text).into_iter().filter(|hit| folded.languages.may_be(hit.value.2)).collect();
    let figures: Vec<(Special, usize, usize)> = lists
        .figures
        .iter()
        .flat_map(|(class, regex)| regex.find_iter(&folded.text).map(move |found| (*class, found.start(), found.end())))
        .collect();
    Special::ALL.map(|class| {
        let is_figurative = |start: usize, end: usize| {
            figures.iter().any(|(of_class, from, to)| *of_class == class && *from <= start && end <= *to)
        };
        let hits_of = |role: Role| hits.iter().filter(move |hit| hit.value.0 == class && hit.value.1 == role);
        let has_hit = |role: Role| {
            hits_of(role).any(|hit| {
                let is_excluded = hits_of(Role::Not).any(|not| not.start <= hit.start && hit.end <= not.end);
                let is_of_thing = class == Special::Health && weighs_a_thing(&folded.text, hit.start, hit.end);
                !is_excluded && !is_of_thing && !is_figurative(hit.start, hit.end)
            })
        };
        let pattern =
            || lists.patterns.iter().any(|(of_class, regex)| *of_class == class && regex.is_match(&folded.written));
        if has_hit(Role::Sure) || pattern() {
            Evidence::Sure
        } else if !has_hit(Role::Hit) {
            match figures.iter().any(|(of_class, ..)| *of_class == class) {
                true => Evidence::Figurative,
                false => Evidence::None,
            }
        } else if hits_of(Role::Unless).next().is_some() {
            Evidence::Doubtful
        } else {
            Evidence::Likely
        }
    })
}

/// True if the word from `start` to `end` is a verb such as "weighs" whose subject is a thing: the sentence begins with
/// an article, and names neither a person nor a pet before the verb. An example is "her accordion has 48 basses and
/// weighs six kilos".
fn weighs_a_thing(folded: &str, start: usize, end: usize) -> bool {
    const ARTICLES: [&str; 24] = [
        "a", "an", "das", "der", "die", "ein", "eine", "her", "his", "ihr", "ihre", "its", "mein", "meine", "my",
        "our", "sein", "seine", "that", "the", "their", "this", "unser", "unsere",
    ];
    const PERSONS: [&str; 10] =
        ["user", "user's", "nutzer", "nutzerin", "patient", "patientin", "newborn", "infant", "säugling", "baby"];
    if !matches!(folded.get(start..end), Some("weighs" | "weighed" | "wiegt" | "wog")) {
        return false;
    }
    let before = folded.get(..start).unwrap_or_default();
    let from = before.rfind(['.', '!', '?', ';']).map_or(0, |at| at + 1);
    let sentence = before.get(from..).unwrap_or_default();
    let words = words(sentence);
    words.first().is_some_and(|first| ARTICLES.contains(first))
        && words.len() > 1
        && !words.iter().any(|word| PERSONS.contains(word))
        && subject(sentence, sentence.len()).is_none()
}

struct Lists {
    words: WordSet<(Special, Role, &'static str)>,
    patterns: Vec<(Special, Regex)>,
    figures: Vec<(Special, Regex)>,
}

fn lists() -> &'static Lists {
    static LISTS: OnceLock<Lists> = OnceLock::new();
    LISTS.get_or_init(|| {
        let (mut words, mut patterns, mut figures) = (Vec::new(), Vec::new(), Vec::new());
        for language in SPECIAL {
            for table in language.tables {
                let Some(class) = Special::parse(table.name) else { continue };
                for (position, role) in ROLES.into_iter().enumerate() {
                    let list = table.list(position).iter();
                    words.extend(list.map(|word| (*word, (class, role, language.code))));
                }
                // `ok` drops no pattern, because a test checks that every pattern compiles.
                let compiled = |position: usize| {
                    table.list(position).iter().filter_map(move |text| Some((class, Regex::new(text).ok()?)))
                };
                patterns.extend(compiled(PATTERNS));
                figures.extend(compiled(FIGURATIVE));
            }
        }
        Lists { words: WordSet::new(words), patterns, figures }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_and_name_is_valid() {
        for table in SPECIAL.iter().flat_map(|language| language.tables) {
            assert!(Special::parse(table.name).is_some(), "{}", table.name);
            for pattern in table.list(PATTERNS).iter().chain(table.list(FIGURATIVE)) {
                assert!(Regex::new(pattern).is_ok(), "{pattern}");
            }
        }
    }
}
