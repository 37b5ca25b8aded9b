//! Finds statements that give different values of an attribute that can have only one value at a time. The attributes
//! and the patterns that recognise them are in `data/values`.
use super::{
    Persons, Prepared,
    ages::{self, AGE},
    keep_newest, slots,
    terms::{is_closed_class, terms_in},
    things::is_about_thing,
};
use crate::{
    fold::{Folded, fold, words},
    numerals::expand,
    subject::subject,
    values::{Difference, Value, compare, value},
    word_lists::{MONTHS, RELATIONS, VALUES, WEEKDAYS},
};
use regex::Regex;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Attributes that never change. Two different values of such an attribute are a conflict, whichever is newer.
const UNCHANGING_ATTRIBUTES: [&str; 11] = [
    "born_in",
    "birth_year",
    "birthday",
    "native_language",
    "orientation",
    "nationalities",
    "handed",
    "siblings",
    "has_siblings",
    "blood_type",
    "name",
];
/// Attributes of a family. They belong to a relative only if the same clause names this relative: "her sister has two
/// children". A partner does not count as a relative here, because partners have the same family.
const FAMILY_ATTRIBUTES: [&str; 3] = ["children", "siblings", "has_siblings"];

/// Attributes of a body. Such an attribute may also be that of a child or a pet.
const BODY_ATTRIBUTES: [&str; 3] = ["age", "height", "weight"];

/// Verbs between a subject and its age, height or weight.
const BODY_VERBS: [&str; 9] = ["is", "was", "turns", "turned", "weighs", "ist", "wird", "wurde", "wiegt"];

/// First words of a statement about the body of the owner of the memories.
const BODY_OPENINGS: [&str; 10] =
    ["user", "nutzer", "nutzerin", "person", "age", "height", "weight", "alter", "größe", "gewicht"];

/// Attributes whose value is the name of somebody else. A statement of such an attribute may begin with this name or
/// mention other people, but the attribute always belongs to the owner of the memories.
const PERSON_NAME_ATTRIBUTES: [&str; 2] = ["partner_name", "boss_name"];

/// Attributes whose value is a place.
const PLACE_ATTRIBUTES: [&str; 2] = ["lives_in", "born_in"];

/// Words that deny the text before them in a Japanese statement.
const JAPANESE_DENIALS: [&str; 6] = ["ではな", "じゃな", "ではあり", "わけではな", "というわけではな", "とは限らな"];

struct Attribute {
    name: &'static str,
    /// The value that a match of any pattern means. If None, the capture group `v` contains the value.
    value: Option<Value>,
    patterns: Vec<Regex>,
    stop_words: Vec<String>,
    language: &'static str,
}

/// The name of an attribute and its owner: a position in `RELATIONS`, or a named person. Both are None for the owner of
/// the memories.
type OwnedAttribute = (&'static str, Option<usize>, Option<usize>);

/// An attribute with its value.
type Claim = (OwnedAttribute, Value);

/// Calls `add` for each pair of statements that give different values of an attribute. Returns the age of a child for
/// each statement that gives one.
pub(super) fn find(
    prepared: &[Prepared<'_>],
    persons: &Persons,
    add: &mut impl FnMut(usize, usize, f32, bool),
) -> HashMap<usize, Value> {
    let mut ages_of_children: HashMap<usize, Value> = HashMap::new();
    let mut groups: BTreeMap<OwnedAttribute, Vec<(usize, Value)>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        if statement.marks.is_past {
            continue;
        }
        for (owned_attribute, value) in claims(statement, persons) {
            if is_age_of_child(owned_attribute, persons) {
                ages_of_children.insert(n, value.clone());
            }
            groups.entry(owned_attribute).or_default().push((n, value));
        }
    }
    for (owned_attribute, claims) in groups {
        let (name, ..) = owned_attribute;
        let mut members: Vec<usize> = claims.iter().map(|(n, _)| *n).collect();
        members.dedup();
        keep_newest(prepared, &mut members);
        for (i, (a, value)) in claims.iter().enumerate() {
            for (b, other) in claims.iter().skip(i + 1) {
                let are_compared = a != b && members.contains(a) && members.contains(b);
                // A statement that gives both values takes the other statement into account, so the two do not
                // contradict each other.
                let gives_value = |n: &usize, value: &Value| {
                    claims.iter().any(|(m, v)| m == n && compare(v, value) == Difference::Same)
                };
                if !are_compared
                    || compare(value, other) != Difference::Other
                    || gives_value(a, other)
                    || gives_value(b, value)
                {
                    continue;
                }
                let statements = prepared.get(*a).zip(prepared.get(*b));
                let years_explain =
                    name == AGE && statements.is_some_and(|(one, two)| ages::do_years_explain(one, value, two, other));
                if years_explain && is_age_of_child(owned_attribute, persons) {
                    continue;
                }
                let can_change = !UNCHANGING_ATTRIBUTES.contains(&name) && (name != AGE || years_explain);
                add(*a, *b, 0.9, can_change);
            }
        }
    }
    ages_of_children
}

fn is_age_of_child((name, relation, person): OwnedAttribute, persons: &Persons) -> bool {
    name == AGE && (relation.is_some_and(ages::is_child) || person.is_some_and(|person| persons.is_child(person)))
}

fn claims(statement: &Prepared<'_>, persons: &Persons) -> Vec<Claim> {
    let mut out = Vec::new();
    for attribute in attributes() {
        if !statement.folded.languages.may_be(attribute.language)
            || statement.marks.is_situational && attribute.name.starts_with("answer_")
            || attribute.stop_words.iter().any(|word| statement.folded.text.contains(word.as_str()))
        {
            continue;
        }
        let found = attribute.patterns.iter().find_map(|pattern| pattern.captures(statement.written));
        let Some(found) = found else { continue };
        let at = found.get(0).map_or(0, |all| all.start());
        let value = match (&attribute.value, found.name("v")) {
            (Some(value), _) => value.clone(),
            // The value in "moved to Neovim" is a program and not a place.
            (None, Some(written)) if PLACE_ATTRIBUTES.contains(&attribute.name) && is_no_place(written.as_str()) => {
                continue;
            }
            (None, Some(written)) => value(written.as_str()),
            (None, None) => continue,
        };
        let person = statement
            .person
            .filter(|_| !(statement.person_is_close && PERSON_NAME_ATTRIBUTES.contains(&attribute.name)));
        let value = match value {
            // A height in metres is converted to centimetres: 1.78 m is 178 cm.
            Value::Number(number) if attribute.name == "height" && number < 3.0 => Value::Number(number * 100.0),
            value => value,
        };
        if person.is_none() && is_about_somebody_else(&statement.folded.text, persons)
            || BODY_ATTRIBUTES.contains(&attribute.name)
                && !person.is_some_and(|person| persons.is_child(person))
                && opens_with_other_body(sentence_at(statement.written, at), persons)
        {
            continue;
        }
        // A denied match is skipped: 「日本酒が好きではない」 says that sake is not liked.
        let end = found.get(0).map_or(0, |all| all.end());
        let rest = statement.written.get(end..).unwrap_or_default();
        if attribute.language == "ja"
            && attribute.value.is_some()
            && JAPANESE_DENIALS.iter().any(|denial| rest.starts_with(denial))
        {
            continue;
        }
        if statement.signs.affirms && matches!(&value, Value::Text(text) if text == "no") {
            continue;
        }
        if is_calendar_word(&value) || is_about_thing(&statement.written[..at]) {
            continue;
        }
        let owner = match person.is_some() || PERSON_NAME_ATTRIBUTES.contains(&attribute.name) {
            true => None,
            // The text before the match is folded separately, because folding may change its length: `at` is no
            // position in the folded text.
            false => {
                let before = fold(&statement.written[..at]);
                if FAMILY_ATTRIBUTES.contains(&attribute.name) {
                    relative_in(last_clause(&before))
                } else {
                    subject(&before, before.len())
                }
            }
        };
        let (mut owner, mut person) = (owner, person);
        if attribute.name == AGE {
            let written = found.name("v").map_or("", |written| written.as_str());
            let matched = found.get(0).map_or("", |all| all.as_str());
            if !ages::is_certain(written, owner.is_some() || person.is_some(), ages::says_years(matched)) {
                continue;
            }
            // An age of a child belongs to the named child, so that "Her son Mats is four", "has a son, Mats, who is
            // four" and "Mats is four" are about the same child.
            if person.is_none()
                && owner.is_some_and(ages::is_child)
                && let Some(child) = ages::named_child(statement, persons)
            {
                (owner, person) = (None, Some(child));
            }
        }
        out.push(((attribute.name, owner, person), value));
    }
    out
}

/// The part of a folded text after its last comma, full stop or "and".
fn last_clause(folded: &str) -> &str {
    const ENDS: [&str; 8] = [".", ",", ";", ":", " and ", " und ", "。", "、"];
    let start = ENDS.iter().filter_map(|end| folded.rfind(end).map(|at| at + end.len())).max();
    start.and_then(|start| folded.get(start..)).unwrap_or(folded)
}

/// The last relative that a folded clause names. None if it is a partner.
fn relative_in(clause: &str) -> Option<usize> {
    const PARTNERS: [&str; 3] = ["wife", "husband", "partner"];
    let is_partner = |names: &[&str]| names.iter().any(|name| PARTNERS.contains(name));
    subject(clause, clause.len()).filter(|relation| RELATIONS.get(*relation).is_none_or(|names| !is_partner(names)))
}

/// True if a Japanese statement begins with a name in Katakana and a particle, and the name is not the owner's.
fn is_about_somebody_else(text: &str, persons: &Persons) -> bool {
    let Some((topic, _)) = text.split_once(['は', 'が', 'の']) else { return false };
    let is_katakana = |c: char| matches!(u32::from(c), 0x30a1..=0x30ff);
    let length = topic.chars().count();
    (2..=6).contains(&length) && topic.chars().all(is_katakana) && topic != "ユーザー" && !persons.is_own(topic)
}

/// The text from the beginning of the sentence or line that contains the byte `at`.
fn sentence_at(text: &str, at: usize) -> &str {
    const ENDS: [&str; 5] = [". ", "! ", "? ", "\n", "。"];
    let before = text.get(..at).unwrap_or_default();
    let start = ENDS.iter().filter_map(|end| before.rfind(end).map(|found| found + end.len())).max().unwrap_or(0);
    text.get(start..).unwrap_or(text).trim_start()
}

/// True if the subject of a sentence about a body is neither the owner nor a pronoun: "Biscuit is nine years old". The
/// name of the subject need not be known.
fn opens_with_other_body(sentence: &str, persons: &Persons) -> bool {
    let folded = fold(sentence);
    let words = words(&folded);
    let [first, next, ..] = words.as_slice() else { return false };
    let is_owner = is_closed_class(first) || BODY_OPENINGS.contains(first) || persons.is_own(first);
    sentence.starts_with(char::is_uppercase) && BODY_VERBS.contains(next) && !is_owner
}

/// True for the name of a program, a building or another thing, such as "Altbauwohnung" in "lives in a Altbauwohnung".
fn is_no_place(written: &str) -> bool {
    const BUILDINGS: [&str; 6] = ["wohnung", "haus", "gemeinschaft", "zimmer", "bau", "heim"];
    let folded = fold(written);
    slots::is_value(written)
        || BUILDINGS.iter().any(|end| folded.ends_with(end))
        || terms_in(&Folded::new(written)).iter().any(|term| term.starts_with('~'))
}

/// True for a weekday or a month. Such a word is never the value of an attribute in `data/values`: "moved to Thursday".
fn is_calendar_word(value: &Value) -> bool {
    let Value::Text(text) = value else { return false };
    let first = text.split(' ').next().unwrap_or_default();
    MONTHS.iter().chain(WEEKDAYS).flat_map(|names| names.iter()).any(|name| name.trim_end_matches('*') == first)
}

fn attributes() -> &'static [Attribute] {
    static ATTRIBUTES: OnceLock<Vec<Attribute>> = OnceLock::new();
    ATTRIBUTES.get_or_init(|| {
        let of_language = |language: &'static crate::word_lists::Language| {
            language.tables.iter().map(move |table| {
                let (name, option) = match table.name.split_once('=') {
                    Some((name, option)) => (name, Some(Value::Text(option.to_owned()))),
                    None => (table.name, None),
                };
                Attribute {
                    name,
                    value: option,
                    // `ok` drops no pattern, because a test checks that every pattern compiles.
                    patterns: table.list(0).iter().filter_map(|text| Regex::new(&expand(text)).ok()).collect(),
                    stop_words: table.list(1).iter().map(|word| fold(word)).collect(),
                    language: language.code,
                }
            })
        };
        VALUES.iter().flat_map(of_language).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        for table in VALUES.iter().flat_map(|language| language.tables) {
            for pattern in table.list(0) {
                let regex = Regex::new(&expand(pattern));
                assert!(regex.is_ok(), "[{}] {pattern}", table.name);
                let has_value = regex.is_ok_and(|regex| regex.capture_names().flatten().any(|name| name == "v"));
                assert!(has_value != table.name.contains('='), "[{}] {pattern}", table.name);
            }
        }
    }
}
