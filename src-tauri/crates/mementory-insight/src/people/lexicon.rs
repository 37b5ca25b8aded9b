//! The word lists of `data/people`, prepared for fast lookup.
use crate::{
    fold::fold,
    word_lists::{COUNTRIES, GROUPS, PEOPLE},
};
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Positions of the lists in a table: words for one person, and words for several people. The order is that of
/// `build.rs`.
const ONE_LIST: usize = 0;
const MANY_LIST: usize = 1;

/// A word for a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Relation {
    pub(super) id: &'static str,
    /// True if the word means several people, as "children" does.
    pub(super) is_plural: bool,
}

/// The role of a word in a sentence about people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// Possessives: "my", "her", "ihre".
    Possessive = 2,
    /// Words for the owner of the memories: "user", "ich".
    ThePerson = 3,
    /// Words before a name: "named", "heißt".
    Called = 4,
    /// Forms of "to be": "is".
    Is = 5,
    /// Words before a relation without an owner: "has", "with", "a".
    Has = 6,
    /// Words that join names: "and".
    Joins = 7,
    /// Titles: "Mrs", "さん".
    Title = 8,
    /// Capitalised words that are not names.
    NotName = 9,
}

const ROLES: [Role; 8] =
    [Role::Possessive, Role::ThePerson, Role::Called, Role::Is, Role::Has, Role::Joins, Role::Title, Role::NotName];

/// The words of one language.
pub(super) struct Lexicon {
    pub(super) code: &'static str,
    relations: HashMap<String, Relation>,
    /// The words of `relations`, the longest first.
    relations_by_length: Vec<String>,
    roles: HashMap<Role, HashSet<String>>,
    /// The words of `roles`, the longest first.
    roles_by_length: HashMap<Role, Vec<String>>,
    given_names: HashSet<String>,
}

impl Lexicon {
    pub(super) fn relation(&self, folded: &str) -> Option<Relation> {
        self.relations.get(folded).copied()
    }

    pub(super) fn has_role(&self, role: Role, folded: &str) -> bool {
        self.roles.get(&role).is_some_and(|words| words.contains(folded))
    }

    /// True if the name is in the list of given names of this language.
    pub(super) fn is_given(&self, folded: &str) -> bool {
        self.given_names.contains(folded)
    }

    /// All words for relations, the longest first.
    pub(super) fn relation_words(&self) -> impl Iterator<Item = (&str, Relation)> {
        self.relations_by_length.iter().filter_map(|word| Some((word.as_str(), self.relation(word)?)))
    }

    /// All words of a role, the longest first.
    pub(super) fn words(&self, role: Role) -> impl Iterator<Item = &str> {
        self.roles_by_length.get(&role).into_iter().flatten().map(String::as_str)
    }
}

fn by_length<'w>(words: impl IntoIterator<Item = &'w String>) -> Vec<String> {
    let mut words: Vec<String> = words.into_iter().cloned().collect();
    words.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    words
}

/// The words of the language with this code.
pub(super) fn lexicon(code: &str) -> Option<&'static Lexicon> {
    static ALL: OnceLock<Vec<Lexicon>> = OnceLock::new();
    ALL.get_or_init(|| PEOPLE.iter().map(read_lexicon).collect()).iter().find(|lexicon| lexicon.code == code)
}

/// True if the name is in the list of given names of any language.
pub(super) fn is_given(folded: &str) -> bool {
    ["en", "de", "ja"].iter().filter_map(|code| lexicon(code)).any(|lexicon| lexicon.is_given(folded))
}

/// True for the name of a place, language or thing, in any language.
pub(super) fn is_no_person(folded: &str) -> bool {
    static ALL: OnceLock<HashSet<&str>> = OnceLock::new();
    let names = ALL.get_or_init(|| COUNTRIES.iter().chain(GROUPS).flat_map(|group| group.iter().copied()).collect());
    let is_listed = |code: &str| lexicon(code).is_some_and(|lexicon| lexicon.has_role(Role::NotName, folded));
    names.contains(folded) || ["en", "de"].iter().any(|code| is_listed(code))
}

fn read_lexicon(language: &crate::word_lists::Language) -> Lexicon {
    let mut lexicon = Lexicon {
        code: language.code,
        relations: HashMap::new(),
        relations_by_length: Vec::new(),
        roles: HashMap::new(),
        roles_by_length: HashMap::new(),
        given_names: HashSet::new(),
    };
    for table in language.tables {
        match table.name {
            "words" => {
                for role in ROLES {
                    lexicon
                        .roles
                        .entry(role)
                        .or_default()
                        .extend(table.list(role as usize).iter().map(|word| fold(word)));
                }
            }
            "names" => lexicon.given_names.extend(table.list(ONE_LIST).iter().map(|name| fold(name))),
            id => {
                for (position, is_plural) in [(ONE_LIST, false), (MANY_LIST, true)] {
                    let words = table.list(position).iter();
                    lexicon.relations.extend(words.map(|word| (fold(word), Relation { id, is_plural })));
                }
            }
        }
    }
    lexicon.relations_by_length = by_length(lexicon.relations.keys());
    lexicon.roles_by_length = lexicon.roles.iter().map(|(role, words)| (*role, by_length(words))).collect();
    lexicon
}
