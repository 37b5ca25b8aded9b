//! Recognises statements about a thing rather than a person.
use crate::{
    fold::{fold, words},
    word_lists::RELATIONS,
};

/// True if a statement is about a thing. `before` is the text before a matched pattern. It must contain only an article
/// or possessive and a noun that is not a relation: "His bike weighs 11 kg".
pub(super) fn is_about_thing(before: &str) -> bool {
    const DETERMINERS: [&str; 19] = [
        "the", "his", "her", "my", "our", "their", "each", "every", "a", "an", "der", "die", "das", "mein", "meine",
        "sein", "seine", "ihr", "ihre",
    ];
    const PERSONS: [&str; 5] = ["user", "nutzer", "nutzerin", "nutzers", "person"];
    let before = fold(before);
    let words = words(&before);
    let [first, rest @ ..] = words.as_slice() else { return false };
    let names_person = |word: &&str| PERSONS.contains(word) || RELATIONS.iter().any(|names| names.contains(word));
    // A verb may follow the noun: "The starter is called Gustav and is seven years old" is about a thing too.
    const VERBS: [&str; 8] = ["is", "was", "are", "has", "ist", "war", "sind", "hat"];
    let has_verb = rest.get(1).is_some_and(|word| VERBS.contains(word));
    let rest = if has_verb { &rest[..1] } else { rest };
    matches!(rest.len(), 1 | 2)
        && DETERMINERS.contains(first)
        && (has_verb || !before.contains([',', '.']))
        && !rest.iter().any(names_person)
}
