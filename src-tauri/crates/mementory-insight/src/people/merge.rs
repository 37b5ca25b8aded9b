//! Merges mentions of the same person, and finds more texts that contain the names found so far.
use super::{Mention, Owner, Person, lexicon::Role, lexicon::lexicon, spaced::MAX_NAME_WORDS, tokens::tokens};
use crate::{
    fold::{MAX_CHARS, fold},
    spelling::same_name,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Relations that a person can have to only one person at a time. If the name of the mother is known, "her mother" is
/// therefore assumed to mean the person with this name.
const SINGLE_PERSON_RELATIONS: [&str; 5] = ["mother", "father", "wife", "husband", "partner"];

/// The occurrences and relations of one name.
#[derive(Default)]
struct KnownName {
    texts: BTreeSet<usize>,
    /// The number of occurrences of each spelling of the name.
    written: BTreeMap<String, usize>,
    /// Weight of the evidence for each relation and its owner. The owner is None unless it is a named person.
    relations: BTreeMap<(&'static str, Option<String>), usize>,
}

pub(super) fn merge(texts: &[&str], mentions: Vec<Mention>) -> Vec<Person> {
    let (named, unnamed): (Vec<_>, Vec<_>) = mentions.into_iter().partition(|mention| mention.name.is_some());
    let full_names = full_names(&named);
    let mut known: BTreeMap<String, KnownName> = BTreeMap::new();
    for mention in named {
        let Some(name) = &mention.name else { continue };
        let key = full_names.get(&key_of(name)).cloned().unwrap_or_else(|| key_of(name));
        let entry = known.entry(key).or_default();
        entry.texts.insert(mention.text_index);
        *entry.written.entry(name.clone()).or_default() += 1;
        if let Some(relation) = mention.relation {
            *entry.relations.entry((relation, owner_name(&mention.owner))).or_default() += weight(&mention.owner);
        }
    }
    find_known(texts, &full_names, &mut known);
    join_scripts(&mut known);
    let mut people: Vec<Person> = known.into_values().map(KnownName::into_person).collect();
    add_unnamed(unnamed, &mut people);
    people.sort_by(|a, b| {
        let by_count = b.texts.len().cmp(&a.texts.len());
        by_count.then_with(|| a.name.is_none().cmp(&b.name.is_none())).then_with(|| a.name.cmp(&b.name))
    });
    people
}

/// The folded name without titles, so that "Frau Weber" and "Weber" have the same key.
fn key_of(name: &str) -> String {
    let folded = fold(name);
    let is_title =
        |word: &str| ["en", "de"].iter().filter_map(|code| lexicon(code)).any(|list| list.has_role(Role::Title, word));
    let words: Vec<&str> = folded.split(' ').filter(|word| !is_title(word)).collect();
    words.join(" ")
}

/// Maps each first name to the full name, if exactly one longer name in the mentions begins with it.
fn full_names(named: &[Mention]) -> HashMap<String, String> {
    let keys: BTreeSet<String> = named.iter().filter_map(|mention| mention.name.as_deref()).map(key_of).collect();
    let mut out = HashMap::new();
    for key in keys.iter().filter(|key| !key.contains([' ', '・'])) {
        let mut longer = keys
            .iter()
            .filter(|other| other.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with([' ', '・'])));
        if let (Some(only), None) = (longer.next(), longer.next()) {
            out.insert(key.clone(), only.clone());
        }
    }
    out
}

/// Merges a name in Latin letters with the same name in Katakana, if no other names sound like them and one person can
/// have the relations of both names.
fn join_scripts(known: &mut BTreeMap<String, KnownName>) {
    let first_name = |key: &str| key.split([' ', '・']).next().unwrap_or_default().to_owned();
    let sound_alike = |a: &str, b: &str| same_name(&first_name(a), &first_name(b));
    let only_match = |key: &str| {
        let mut others = known.keys().filter(|other| sound_alike(key, other));
        others.next().filter(|_| others.next().is_none())
    };
    let pairs: Vec<(String, String)> = known
        .keys()
        .filter(|key| key.chars().any(crate::fold::is_east_asian))
        .filter_map(|key| Some((key.clone(), only_match(key).filter(|latin| only_match(latin) == Some(key))?.clone())))
        .collect();
    for (katakana, latin) in pairs {
        let may_be_one_person = match (known.get(&katakana), known.get(&latin)) {
            (Some(one), Some(other)) => may_be_same(one.relation(), other.relation()),
            _ => false,
        };
        if may_be_one_person && let Some(joined) = known.remove(&katakana) {
            let entry = known.entry(latin).or_default();
            entry.texts.extend(joined.texts);
            joined.written.into_iter().for_each(|(name, count)| *entry.written.entry(name).or_default() += count);
            joined.relations.into_iter().for_each(|(of, weight)| *entry.relations.entry(of).or_default() += weight);
        }
    }
}

/// True if one person may have both relations, or if one of them is unknown.
fn may_be_same(one: Option<&str>, other: Option<&str>) -> bool {
    const COMPATIBLE_RELATIONS: [&[&str]; 2] = [&["child", "son", "daughter"], &["partner", "wife", "husband"]];
    let (Some(one), Some(other)) = (one, other) else { return true };
    one == other || COMPATIBLE_RELATIONS.iter().any(|group| group.contains(&one) && group.contains(&other))
}

fn owner_name(owner: &Owner) -> Option<String> {
    match owner {
        Owner::Named(name) => Some(name.clone()),
        _ => None,
    }
}

/// Weight of a mention as evidence for a relation. A pronoun may refer to somebody else, so it weighs less than a name
/// or a word for the owner of the memories.
const fn weight(owner: &Owner) -> usize {
    match owner {
        Owner::Own => 4,
        Owner::Named(_) => 3,
        Owner::Pronoun => 2,
        Owner::Unstated => 1,
    }
}

/// Searches all texts for the known names and adds the texts that contain them, even if nothing in a text shows that
/// the word is a name.
fn find_known(texts: &[&str], full_names: &HashMap<String, String>, known: &mut BTreeMap<String, KnownName>) {
    let asian_names: Vec<String> =
        known.keys().filter(|key| !key.is_ascii() && key.chars().any(crate::fold::is_east_asian)).cloned().collect();
    for (n, text) in texts.iter().enumerate() {
        let start: String = text.chars().take(MAX_CHARS).collect();
        let tokens = tokens(&start);
        for at in 0..tokens.len() {
            if !tokens[at].may_be_name() {
                continue;
            }
            let mut key = String::new();
            for token in tokens[at..].iter().take(MAX_NAME_WORDS) {
                key.push_str(if key.is_empty() { "" } else { " " });
                key.push_str(&token.folded);
                let stem =
                    key.strip_suffix('s').filter(|stem| known.contains_key(*stem) || full_names.contains_key(*stem));
                let found = stem.unwrap_or(&key);
                let found = full_names.get(found).map_or(found, String::as_str);
                if let Some(entry) = known.get_mut(found) {
                    entry.texts.insert(n);
                }
            }
        }
        for key in &asian_names {
            // Names of one character are skipped, because they occur in too many other words.
            if key.chars().count() > 1
                && start.contains(key.as_str())
                && let Some(entry) = known.get_mut(key)
            {
                entry.texts.insert(n);
            }
        }
    }
}

impl KnownName {
    /// The relation for which there is the most evidence.
    fn relation(&self) -> Option<&'static str> {
        self.relations.iter().max_by_key(|(_, weight)| **weight).map(|((relation, _), _)| *relation)
    }

    fn into_person(self) -> Person {
        let relation = self.relations.into_iter().max_by_key(|(_, weight)| *weight).map(|(relation, _)| relation);
        // The name is written in the spelling with the most words, or, among several such spellings, in the most
        // frequent one.
        let name = self.written.into_iter().max_by_key(|(name, count)| (name.split(' ').count(), *count));
        let (relation, of) = relation.map_or((None, None), |(relation, of)| (Some(relation), of));
        Person { name: name.map(|(name, _)| name), relation, of, texts: self.texts.into_iter().collect() }
    }
}

/// Adds the mentions that have a relation but no name. If the relation is one that only one person can have and the
/// name of this person is known, adds the texts to this person. Otherwise, adds a person without a name.
fn add_unnamed(unnamed: Vec<Mention>, people: &mut Vec<Person>) {
    let mut by_relation: BTreeMap<&'static str, BTreeSet<usize>> = BTreeMap::new();
    for mention in unnamed {
        if let (Some(relation), None) = (mention.relation, owner_name(&mention.owner)) {
            by_relation.entry(relation).or_default().insert(mention.text_index);
        }
    }
    for (relation, texts) in by_relation {
        let mut named_people =
            people.iter_mut().filter(|person| person.relation == Some(relation) && person.of.is_none());
        let first_named = if SINGLE_PERSON_RELATIONS.contains(&relation) { named_people.next() } else { None };
        if let (Some(person), None) = (first_named, named_people.next()) {
            let all: BTreeSet<usize> = person.texts.iter().copied().chain(texts).collect();
            person.texts = all.into_iter().collect();
            continue;
        }
        // If a text also mentions somebody with this relation and a name, the mention without a name is assumed to mean
        // the same person.
        let texts_with_name: BTreeSet<usize> = people
            .iter()
            .filter(|person| person.relation == Some(relation) && person.of.is_none())
            .flat_map(|person| person.texts.iter().copied())
            .collect();
        let texts: Vec<usize> = texts.into_iter().filter(|text| !texts_with_name.contains(text)).collect();
        if !texts.is_empty() {
            people.push(Person { name: None, relation: Some(relation), of: None, texts });
        }
    }
}
