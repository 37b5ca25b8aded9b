//! Finds the owner's names, and statements about somebody else who is named, such as "Ilse is 36" or 玲子は58歳. The
//! owner's name may be in nearly every statement, so it does not show that two statements are about the same thing.
use super::terms::{is_closed_class, stem};
use crate::{
    fold::{Folded, fold, is_east_asian, is_function_word, noun_runs, words},
    people::{Person, own_names, people_besides},
    spelling::same_name,
    values::name_list_index,
    word_lists::{ABOUT, GENERAL_WORDS, MONTHS, NUMBERS, RELATIONS, WEEKDAYS},
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

/// Only this many characters from the start of a text are searched for people.
const MAX_CHARS: usize = 400;
/// Largest number of words before the name in a phrase such as "her much older brother Tomas".
const MAX_WORDS_BEFORE: usize = 4;
/// First words of a phrase for somebody else, as in "my brother Obi".
const POSSESSIVES: [&str; 30] = [
    "my", "our", "her", "his", "their", "the", "user", "users", "user's", "mein", "meine", "meiner", "unser", "unsere",
    "unserer", "ihr", "ihre", "ihrer", "sein", "seine", "seiner", "der", "die", "das", "s", "nutzers", "nutzerin",
    "dessen", "deren", "dr",
];
/// Relations of people whose names are the values of attributes, such as the name of the boss.
const CLOSE_RELATIONS: [&str; 5] = ["boss", "ex_partner", "husband", "partner", "wife"];
/// Relations of people who may be children. The age of a child is recorded again as it changes.
const CHILD_RELATIONS: [&str; 7] = ["child", "daughter", "godchild", "grandchild", "nephew", "niece", "son"];
/// Verbs for actions of people, but not of things.
const ACTIONS: [&str; 35] = [
    "lives",
    "works",
    "likes",
    "prefers",
    "wants",
    "plays",
    "drinks",
    "eats",
    "speaks",
    "loves",
    "moved",
    "enjoys",
    "hates",
    "dislikes",
    "married",
    "studies",
    "sleeps",
    "reads",
    "plans",
    "wears",
    "wohnt",
    "lebt",
    "arbeitet",
    "mag",
    "möchte",
    "trinkt",
    "isst",
    "spricht",
    "liebt",
    "spielt",
    "liest",
    "schläft",
    "heiratet",
    "studiert",
    "bevorzugt",
];
/// Words that join two names. A joined name is not the only subject of the statement, so it does not count as the
/// subject.
const CONJUNCTIONS: [&str; 4] = ["and", "und", "or", "oder"];

/// Somebody whom statements mention, except the owner of the memories.
struct OtherPerson {
    /// The folded name. Empty if only the relation is known.
    name: String,
    /// True if this person may be the partner, boss or pet of the owner of the memories.
    is_close: bool,
    is_child: bool,
}

/// The subject of a statement and the people whom it mentions, as positions in `Persons::people`.
#[derive(Clone, Default)]
struct Mentions {
    subject: Option<usize>,
    people: Vec<usize>,
    /// The names that the statement writes in Katakana, for people whose name is also known in Latin letters.
    in_katakana: Vec<String>,
    /// True if the statement opens with the genitive of the subject: "Martin's wife".
    opens_with_genitive: bool,
}

/// The owner's names, the other people, and the people whom each statement is about and mentions.
pub(super) struct Persons {
    owner_names: Vec<String>,
    people: Vec<OtherPerson>,
    statements: Vec<Mentions>,
}

impl Persons {
    pub(super) fn new(texts: &[&str]) -> Self {
        let starts: Vec<&str> = texts.iter().map(|text| start(text)).collect();
        let folded: Vec<Folded> = starts.iter().map(|text| Folded::new(text)).collect();
        let mut own = own_names(&starts);
        let mut found = people_besides(&own, &starts);
        if own.is_empty()
            && let Some(name) = most_frequent_opening(&folded, &found)
        {
            own.push(name);
            found = people_besides(&own, &starts);
        }
        let mut persons =
            Self { owner_names: own, people: Vec::new(), statements: vec![Mentions::default(); texts.len()] };
        for (n, person) in found.into_iter().enumerate() {
            let is_close =
                person.of.is_none() && person.relation.is_none_or(|relation| CLOSE_RELATIONS.contains(&relation));
            let is_child = person.relation.is_some_and(|relation| CHILD_RELATIONS.contains(&relation));
            let name = person.name.as_deref().map(fold);
            persons.people.push(OtherPerson { name: name.clone().unwrap_or_default(), is_close, is_child });
            for at in person.texts.into_iter().filter(|_| name.is_some()) {
                if let Some(text) = folded.get(at) {
                    persons.add_mention(at, text, n);
                }
            }
        }
        persons.add_unlisted(&folded);
        persons.add_in_katakana(&folded);
        persons
    }

    /// Adds a person whom a statement mentions. The first added person whose mention begins the statement becomes its
    /// subject.
    fn add_mention(&mut self, statement: usize, text: &Folded, person: usize) {
        let (Some(mentions), Some(OtherPerson { name, .. })) =
            (self.statements.get_mut(statement), self.people.get(person))
        else {
            return;
        };
        if !mentions.people.contains(&person) {
            mentions.people.push(person);
        }
        if mentions.subject.is_none() && opens_with(&text.text, name, &self.owner_names) {
            mentions.subject = Some(person);
            mentions.opens_with_genitive = is_genitive(&text.text, name);
        }
    }

    /// Adds people whose names are in no list and have no relation next to them, but are the subject of an English
    /// sentence: "Femke earns 3,400 euros". German nouns look like names, so in German only the subject of a verb in
    /// `ACTIONS` counts: "Femke arbeitet halbtags".
    fn add_unlisted(&mut self, texts: &[Folded]) {
        let mut candidates: BTreeMap<&str, usize> = BTreeMap::new();
        for text in texts.iter().filter(|text| text.languages.en || text.languages.de) {
            let opening = if text.languages.de { acting_subject(text) } else { opening_subject(text) };
            let opening =
                opening.filter(|name| !self.is_own(name) && !self.people.iter().any(|person| person.name == *name));
            opening.into_iter().for_each(|name| *candidates.entry(name).or_default() += 1);
        }
        let written_words: HashSet<&str> = texts.iter().flat_map(|text| words(&text.written)).collect();
        // If the owner's name is not known, the most frequent candidate is most likely the owner's name and is
        // therefore removed.
        let highest_count = if self.owner_names.is_empty() { candidates.values().copied().max() } else { None };
        candidates.retain(|name, count| !written_words.contains(name) && Some(*count) != highest_count);
        let mut positions: HashMap<&str, usize> = HashMap::new();
        for name in candidates.into_keys() {
            positions.insert(name, self.people.len());
            self.people.push(OtherPerson { name: name.to_owned(), is_close: true, is_child: false });
        }
        for (n, text) in texts.iter().enumerate() {
            for word in words(&text.text) {
                if let Some(person) = positions.get(word).or_else(|| positions.get(word.strip_suffix('s')?)) {
                    self.add_mention(n, text, *person);
                }
            }
        }
    }

    /// Adds mentions in Katakana of people whose names are known in Latin letters: 「アルマ」 is Alma.
    fn add_in_katakana(&mut self, texts: &[Folded]) {
        // Words in the list of relations are left out, because some of them are titles: "Frau Miho" is also called
        // "Miho".
        let is_name =
            |word: &&str| word.len() >= 3 && word.is_ascii() && !RELATIONS.iter().any(|names| names.contains(word));
        let people = self.people.iter().enumerate();
        let latin_names: Vec<(usize, String)> = people
            .flat_map(|(n, person)| person.name.split([' ', '.']).filter(is_name).map(move |word| (n, word.to_owned())))
            .collect();
        let mut person_by_run: HashMap<String, Option<usize>> = HashMap::new();
        for (n, text) in texts.iter().enumerate().filter(|(_, text)| text.languages.ja) {
            for run in words(&text.text).into_iter().flat_map(|word| noun_runs(word, 2, usize::MAX)) {
                let find_person =
                    || latin_names.iter().find(|(_, name)| same_name(name, run)).map(|(person, _)| *person);
                let Some(person) = *person_by_run.entry(run.to_owned()).or_insert_with(find_person) else { continue };
                let Some(mentions) = self.statements.get_mut(n) else { continue };
                if !mentions.people.contains(&person) {
                    mentions.people.push(person);
                }
                mentions.in_katakana.push(run.to_owned());
                if mentions.subject.is_none() && opens_asian(&text.text, run) {
                    mentions.subject = Some(person);
                }
            }
        }
    }

    /// The named person whom the statement is about. None if it is not about a named person.
    pub(super) fn subject(&self, statement: usize) -> Option<usize> {
        self.statements.get(statement)?.subject
    }

    /// The names of the people whom the statement mentions, in the form of a statement's terms: only the first letters
    /// of a name in Latin letters, but a whole name in Katakana.
    pub(super) fn terms(&self, statement: usize) -> Vec<String> {
        let Some(mentions) = self.statements.get(statement) else { return Vec::new() };
        let people = mentions.people.iter().filter_map(|person| self.people.get(*person));
        let written = people.flat_map(|person| words(&person.name));
        let term = |word: &str| if word.chars().any(is_east_asian) { word.to_owned() } else { stem(word) };
        written.map(term).chain(mentions.in_katakana.iter().cloned()).collect()
    }

    /// True if the named person whom the statement is about may be the partner, boss or pet of the owner of the
    /// memories.
    pub(super) fn is_close(&self, statement: usize) -> bool {
        let mentions = self.statements.get(statement).filter(|mentions| !mentions.opens_with_genitive);
        let subject = mentions.and_then(|mentions| self.people.get(mentions.subject?));
        subject.is_some_and(|person| person.is_close)
    }

    /// True if this person is a child, godchild, grandchild, nephew or niece of somebody.
    pub(super) fn is_child(&self, person: usize) -> bool {
        self.people.get(person).is_some_and(|person| person.is_child)
    }

    /// The people whom the statement mentions by name.
    pub(super) fn mentioned(&self, statement: usize) -> Vec<usize> {
        self.statements.get(statement).map(|mentions| mentions.people.clone()).unwrap_or_default()
    }

    /// True for a name of the owner of the memories, for the genitive of such a name, and for its first letters if
    /// there are at least five.
    pub(super) fn is_own(&self, folded: &str) -> bool {
        let is_long = folded.chars().count() >= 5;
        is_own(folded, &self.owner_names) || is_long && self.owner_names.iter().any(|name| name.starts_with(folded))
    }

    /// The names of the owner of the memories.
    pub(super) fn owner_names(&self) -> &[String] {
        &self.owner_names
    }
}

/// Returns the name that begins the most texts, among the names of people for whom no text states a relation (as in
/// "her sister Anna"). It is most likely the name of the owner of the memories, even if other texts say "the user".
/// None if few texts begin with the name, or if another name is nearly as frequent.
fn most_frequent_opening(texts: &[Folded], people: &[Person]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in texts.iter().filter_map(opening_name) {
        *counts.entry(name).or_default() += 1;
    }
    // For each word of a name: true if no relation is known for the first person with this name.
    let mut has_no_relation_by_name: HashMap<String, bool> = HashMap::new();
    for person in people {
        for word in words(&fold(person.name.as_deref().unwrap_or_default())) {
            has_no_relation_by_name.entry(word.to_owned()).or_insert(person.relation.is_none());
        }
    }
    let has_no_relation = |name: &str| has_no_relation_by_name.get(name).copied().unwrap_or_default();
    // A given name also counts if it is not followed directly by a verb: "Samira now lives in Lyon".
    for name in texts.iter().filter_map(|text| words(&text.text).first().copied()) {
        if counts.contains_key(name) || has_no_relation(name) {
            *counts.entry(name).or_default() += 1;
        }
    }
    // Only people live, eat or prefer something, so a name without such a verb may be the name of a thing and is left
    // out.
    let acting_names: HashSet<&str> = texts.iter().filter_map(opening_of_action).collect();
    counts.retain(|name, _| has_no_relation_by_name.contains_key(*name) || acting_names.contains(name));
    let has_given_name = counts.keys().any(|name| has_no_relation(name));
    counts.retain(|name, _| match has_no_relation_by_name.get(*name) {
        Some(without_relation) => *without_relation,
        None => !has_given_name,
    });
    let written_words: HashSet<&str> = texts.iter().flat_map(|text| words(&text.written)).collect();
    counts.retain(|name, _| !written_words.contains(name));
    let partners: HashSet<&str> = texts.iter().filter_map(name_of_partner).collect();
    counts.retain(|name, _| !partners.contains(name));
    let mut sorted: Vec<(&str, usize)> = counts.into_iter().collect();
    sorted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let second_count = sorted.get(1).map_or(0, |(_, count)| *count);
    let (name, count) = sorted.first()?;
    (*count >= (texts.len() / 40).max(3) && *count * 2 >= second_count * 3).then(|| (*name).to_owned())
}

/// The partner, as a folded word, whom a text names that begins with the marriage of the owner of the memories: "Married
/// to Stefan".
fn name_of_partner(text: &Folded) -> Option<&str> {
    const OPENINGS: [&str; 4] = ["the ", "user ", "is ", "ist "];
    const PHRASES: [&str; 7] = [
        "married to ",
        "engaged to ",
        "divorced from ",
        "separated from ",
        "verheiratet mit ",
        "verlobt mit ",
        "geschieden von ",
    ];
    let phrase = OPENINGS.iter().fold(text.text.as_str(), |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    let name = PHRASES.iter().find_map(|opening| phrase.strip_prefix(opening))?;
    words(name).first().copied()
}

/// The first word of a text, if it is in no word list and a verb in `ACTIONS` follows.
fn acting_subject(text: &Folded) -> Option<&str> {
    let words = words(&text.text);
    let [first, next, ..] = words.as_slice() else { return None };
    let is_name = text.written.starts_with(char::is_uppercase) && first.chars().count() >= 2;
    let is_listed = is_closed_class(first) || name_list_index(first).is_some() || is_listed_word(first);
    (is_name && ACTIONS.contains(next) && !is_listed && !["nutzer", "nutzerin"].contains(first)).then_some(*first)
}

/// The first word of a text, if one of the next two words is a verb in `ACTIONS`.
fn opening_of_action(text: &Folded) -> Option<&str> {
    let words = words(&text.text);
    let is_acting = words.iter().skip(1).take(2).any(|word| ACTIONS.contains(word));
    words.first().copied().filter(|_| is_acting)
}

/// The first word of a text, if it is in no word list and a verb, a genitive or "and" follows, in English or German.
fn opening_name(text: &Folded) -> Option<&str> {
    const VERBS: [&str; 12] =
        ["ist", "hat", "wohnt", "lebt", "arbeitet", "mag", "isst", "trinkt", "fährt", "nutzt", "and", "und"];
    opening_subject(text).or_else(|| {
        let words = words(&text.text);
        let [first, next, ..] = words.as_slice() else { return None };
        let is_name = text.written.starts_with(char::is_uppercase) && VERBS.contains(next);
        (is_name && !is_function_word(first) && name_list_index(first).is_none() && !is_listed_word(first))
            .then_some(*first)
    })
}

fn is_own(folded: &str, own: &[String]) -> bool {
    own.iter().any(|name| {
        let rest = folded.strip_prefix(name.as_str());
        rest.is_some_and(|rest| ["", "s", "'s", "'"].contains(&rest)) || same_name(name, folded)
    })
}

/// The first word of a text, if it is in no word list and is the subject of a verb or a genitive.
fn opening_subject(text: &Folded) -> Option<&str> {
    const OPENERS: [&str; 6] = ["is", "was", "has", "had", "s", "can't"];
    if !text.written.starts_with(char::is_uppercase) {
        return None;
    }
    let words = words(&text.text);
    let [first, next, ..] = words.as_slice() else { return None };
    let is_verb = OPENERS.contains(next) || next.len() > 3 && next.ends_with('s') && !next.ends_with("ss");
    let is_listed = is_function_word(first)
        || name_list_index(first).is_some()
        || is_listed_word(first)
        || MONTHS.iter().chain(WEEKDAYS).chain(NUMBERS).any(|names| names.contains(first));
    (is_verb && !is_listed && first.chars().count() >= 2).then_some(*first)
}

/// True for a word in the lists of words for kinds of memories and relations, and in the list of general words.
fn is_listed_word(word: &str) -> bool {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let tables = ABOUT.iter().flat_map(|language| language.tables);
        let cues = tables.flat_map(|table| table.list(0).iter().chain(table.list(1)));
        let relations = RELATIONS.iter().flat_map(|names| names.iter());
        let words = cues.chain(relations).chain(GENERAL_WORDS);
        words
            .flat_map(|phrase| phrase.split(' '))
            .chain(["user", "nobody", "everyone", "everybody", "someone"])
            .collect()
    });
    let singular = word.strip_suffix('s').unwrap_or(word);
    words.contains(word) || words.contains(singular)
}

fn start(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// True if `text` begins with `name`, or with a phrase such as "her brother" and then `name`. Both must be folded.
fn opens_with(text: &str, name: &str, own: &[String]) -> bool {
    if text.chars().next().is_some_and(is_east_asian) { opens_asian(text, name) } else { opens_spaced(text, name, own) }
}

/// True if a folded text begins with the genitive of the name.
fn is_genitive(text: &str, name: &str) -> bool {
    let rest = text.strip_prefix(name.split(' ').next().unwrap_or(name));
    rest.is_some_and(|rest| ["'s ", "' ", "s ", "の", "さんの"].iter().any(|end| rest.starts_with(end)))
}

fn opens_spaced(text: &str, name: &str, own: &[String]) -> bool {
    let words = words(text);
    let parts: Vec<&str> = name.split([' ', '.', '・']).filter(|part| !part.is_empty()).collect();
    let is_name = |word: &&str| {
        parts.iter().any(|part| {
            word.strip_prefix(*part).is_some_and(|rest| rest.is_empty() || rest == "s") || same_name(part, word)
        })
    };
    let Some(at) = words.iter().take(MAX_WORDS_BEFORE + 1).position(&is_name) else { return false };
    let before = words.get(..at).unwrap_or_default();
    let is_relation = |word: &&str| RELATIONS.iter().any(|names| names.contains(word));
    let is_phrase = match before.first() {
        None => true,
        Some(first) => {
            (POSSESSIVES.contains(first) || is_own(first, own) || is_relation(first)) && before.iter().any(is_relation)
        }
    };
    let end = words.iter().skip(at).take_while(|word| is_name(word)).count() + at;
    is_phrase && words.get(end).is_none_or(|next| !CONJUNCTIONS.contains(next))
}

fn opens_asian(text: &str, name: &str) -> bool {
    let topic = text.split(['は', 'が', 'も', '、', '。']).next().unwrap_or(text);
    let Some((before, after)) = topic.split_once(name) else { return false };
    let after = ["さん", "くん", "君", "ちゃん", "先生", "氏"]
        .iter()
        .find_map(|title| after.strip_prefix(title))
        .unwrap_or(after);
    let is_phrase = before.is_empty() || before.ends_with('の') && !before.contains(['を', 'に', 'で', 'と']);
    is_phrase && (after.is_empty() || after == "に" || after.starts_with('の'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_no_list_is_found_as_the_subject_of_a_german_sentence() {
        let texts = [
            "User's name is Mira.",
            "Zorvella arbeitet 28 Stunden in der Woche.",
            "Arbeitet 35 Stunden in der Woche.",
            "Die Nutzerin arbeitet im Garten.",
            "Nutzerin liebt Brettspiele.",
            "Fährt und arbeitet in Zorvella.",
        ];
        let persons = Persons::new(&texts);
        assert!(persons.subject(1).is_some());
        assert_eq!((2..6).filter_map(|n| persons.subject(n)).count(), 0);
    }

    #[test]
    fn a_name_in_katakana_is_not_a_thing_that_two_statements_share() {
        let texts = ["User's name is Mira.", "Her brother Elouan is eleven.", "エルアンは柔道をやめた。"];
        let persons = Persons::new(&texts);
        assert_eq!(persons.subject(2), persons.subject(1));
        assert!(persons.subject(2).is_some());
        assert!(persons.terms(2).contains(&"エルアン".to_owned()), "{:?}", persons.terms(2));
    }

    #[test]
    fn a_name_in_no_list_is_found_as_the_subject_of_a_sentence() {
        let texts = [
            "User's name is Mira.",
            "Zorvella earns 3,400 euros.",
            "Zorvella's mother is 70.",
            "Rent is 900 euros.",
            "Mira married Zorvella in May.",
        ];
        let persons = Persons::new(&texts);
        let subject = persons.subject(1);
        assert!(subject.is_some());
        assert_eq!(persons.subject(2), subject);
        assert!(!persons.is_close(2), "her mother is not the person's own");
        assert_eq!((persons.subject(0), persons.subject(3), persons.subject(4)), (None, None, None));
        assert!(persons.mentioned(4).iter().any(|person| Some(*person) == subject));
    }

    #[test]
    fn a_statement_that_opens_with_somebody_elses_name_is_about_them() {
        let own = ["mira".to_owned()];
        for (text, name) in [
            ("tomas is 36 and works as a baker", "tomas"),
            ("miras jüngere schwester hana wohnt in graz", "hana"),
            ("my younger son leo is nine", "leo"),
            ("tomas' birthday is in may", "tomas"),
            ("叔母の玲子は58歳", "玲子"),
            ("玲子さんの誕生日は五月", "玲子"),
        ] {
            assert!(opens_with(text, name, &own), "{text}");
        }
        for (text, name) in [
            ("mira is married to tomas", "tomas"),
            ("has a son, leo, who is nine", "leo"),
            ("tomas and mira live in graz", "tomas"),
            ("美良は玲子と住んでいる", "玲子"),
        ] {
            assert!(!opens_with(text, name, &own), "{text}");
        }
    }
}
