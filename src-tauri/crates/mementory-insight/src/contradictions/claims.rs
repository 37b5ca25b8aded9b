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
    placeholders::expand,
    spelling::{same_name, sound_unlike},
    subject::{is_title, subject},
    values::{Difference, Value, calendar_day, compare, value},
    word_lists::{CAR_MAKES, MONTHS, RELATIONS, VALUES, WEEKDAYS},
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
const FAMILY_ATTRIBUTES: [&str; 4] = ["children", "siblings", "has_siblings", "partner_name"];
/// Name of the attribute for the boss. It belongs to a relative, also to a partner, if the same clause names this
/// relative: "his wife reports to Anna".
const BOSS_NAME: &str = "boss_name";

/// Attributes that a sentence may give of somebody whose name opens it: those of a body, and the birth ("Mozart was born
/// on 27 January 1756").
const ATTRIBUTES_OF_ANYBODY: [&str; 5] = ["age", "height", "weight", "birthday", "birth_year"];

/// Verbs between a subject and its age, height, weight or birth.
const BODY_VERBS: [&str; 11] =
    ["is", "was", "has", "turns", "turned", "weighs", "ist", "hat", "wird", "wurde", "wiegt"];

/// First words of a statement about the body of the owner of the memories.
const BODY_OPENINGS: [&str; 12] = [
    "user",
    "nutzer",
    "nutzerin",
    "person",
    "age",
    "height",
    "weight",
    "birthday",
    "alter",
    "größe",
    "gewicht",
    "geburtstag",
];

/// Attributes whose value is the name of somebody else. A statement of such an attribute may begin with this name.
const PERSON_NAME_ATTRIBUTES: [&str; 2] = ["partner_name", BOSS_NAME];

/// Attributes whose value is a place.
const PLACE_ATTRIBUTES: [&str; 2] = ["lives_in", "born_in"];

/// Attributes whose value is an amount of money. Amounts for two purposes do not contradict each other.
const MONEY_ATTRIBUTES: [&str; 2] = ["rent", "salary"];

/// Attributes that may have any number of values. Only a value and its denial contradict each other: "has never been to
/// Japan" and "flew to Japan".
/// The names must be equal, because a part of the name of a group or place may name another one: "member of the London
/// Library" and "left London".
const ATTRIBUTES_WITH_SEVERAL_VALUES: [&str; 2] = [BEEN_TO, "member_of"];
/// Name of the attribute for the places that somebody has visited. What is past counts too.
const BEEN_TO: &str = "been_to";

/// Name of the attribute for the make of a car. Somebody who "also drives a Fiat" has two cars.
const CAR_MAKE: &str = "car_make";
/// Prefix of the names of the attributes for a car.
const CAR: &str = "car_";

/// The characters before a genitive S.
const APOSTROPHES: [char; 2] = ['\'', '’'];

/// Words that deny the text before them in a Japanese statement.
const JAPANESE_DENIALS: [&str; 6] = ["ではな", "じゃな", "ではあり", "わけではな", "というわけではな", "とは限らな"];

struct Attribute {
    name: &'static str,
    /// The value that a match of any pattern means. If None, the capture group `v` contains the value.
    value: Option<Value>,
    patterns: Vec<Regex>,
    stop_words: Vec<String>,
    /// Patterns of statements that deny the value in the group `v`: "no longer works at Fenwick".
    denials: Vec<Regex>,
    language: &'static str,
}

/// The name of an attribute and its owner: a position in `RELATIONS`, or a named person. Both are None for the owner of
/// the memories.
type OwnedAttribute = (&'static str, Option<usize>, Option<usize>);

/// A value that a statement gives or denies.
#[derive(Debug, Clone)]
struct ClaimedValue {
    value: Value,
    is_denied: bool,
}

impl ClaimedValue {
    /// True if both cannot hold: two different values, or a value and its denial.
    fn contradicts(&self, other: &Self, attribute: &str) -> bool {
        let has_several_values = ATTRIBUTES_WITH_SEVERAL_VALUES.contains(&attribute);
        let (denied, given) = match (self.is_denied, other.is_denied) {
            (false, false) => {
                let difference = difference(attribute, &self.value, &other.value);
                return difference == Difference::Other && !has_several_values;
            }
            (true, true) => return false,
            (true, false) => (&self.value, &other.value),
            (false, true) => (&other.value, &self.value),
        };
        match has_several_values {
            true => denied == given,
            false => denies(denied, given),
        }
    }
}

/// An attribute with its value.
type Claim = (OwnedAttribute, ClaimedValue);

/// Calls `add` for each pair of statements that give different values of an attribute. Returns the age of a child for
/// each statement that gives one.
pub(super) fn find(
    prepared: &[Prepared<'_>],
    persons: &Persons,
    add: &mut impl FnMut(usize, usize, f32, bool),
) -> HashMap<usize, Value> {
    let mut ages_of_children: HashMap<usize, Value> = HashMap::new();
    let mut groups: BTreeMap<OwnedAttribute, Vec<(usize, ClaimedValue)>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        for (owned_attribute, claimed) in claims(statement, persons) {
            if statement.marks.is_past && owned_attribute.0 != BEEN_TO {
                continue;
            }
            if is_age_of_child(owned_attribute, persons) {
                ages_of_children.insert(n, claimed.value.clone());
            }
            groups.entry(owned_attribute).or_default().push((n, claimed));
        }
    }
    for (owned_attribute, mut claims) in groups {
        let (name, ..) = owned_attribute;
        if ATTRIBUTES_WITH_SEVERAL_VALUES.contains(&name) {
            keep_denied_values(&mut claims, name);
        }
        let mut members: Vec<usize> = claims.iter().map(|(n, _)| *n).collect();
        members.dedup();
        keep_newest(prepared, &mut members);
        claims.retain(|(n, _)| members.contains(n));
        for (i, (a, claimed)) in claims.iter().enumerate() {
            for (b, other) in claims.iter().skip(i + 1) {
                let Some((one, two)) = prepared.get(*a).zip(prepared.get(*b)) else { continue };
                // A statement that gives both values takes the other statement into account, so the two do not
                // contradict each other.
                let gives_value = |n: &usize, wanted: &ClaimedValue| {
                    claims.iter().any(|(m, given)| {
                        m == n && !given.is_denied && compare(&given.value, &wanted.value) == Difference::Same
                    })
                };
                let are_both_given = !claimed.is_denied && !other.is_denied;
                if a == b
                    || !claimed.contradicts(other, name)
                    || are_both_given && (gives_value(a, other) || gives_value(b, claimed))
                    || MONEY_ATTRIBUTES.contains(&name) && !one.may_share_purpose(two)
                {
                    continue;
                }
                let years_explain = name == AGE && ages::do_years_explain(one, &claimed.value, two, &other.value);
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

/// Removes the values that no statement denies, and the denials of values that no statement gives, so that they do not
/// take the places of those that are compared.
fn keep_denied_values(claims: &mut Vec<(usize, ClaimedValue)>, attribute: &str) {
    let values = claims.iter().map(|(_, claimed)| claimed.clone());
    let (denied, given): (Vec<ClaimedValue>, Vec<ClaimedValue>) = values.partition(|claimed| claimed.is_denied);
    claims.retain(|(_, claimed)| {
        let others = if claimed.is_denied { &given } else { &denied };
        others.iter().any(|other| claimed.contradicts(other, attribute))
    });
}

fn is_age_of_child((name, relation, person): OwnedAttribute, persons: &Persons) -> bool {
    name == AGE && (relation.is_some_and(ages::is_child) || person.is_some_and(|person| persons.is_child(person)))
}

fn claims(statement: &Prepared<'_>, persons: &Persons) -> Vec<Claim> {
    let mut out = Vec::new();
    for attribute in attributes().iter().filter(|one| statement.folded.languages.may_be(one.language)) {
        let denied = denied_claim(attribute, statement, persons);
        let given = given_claim(attribute, statement, persons);
        // The pattern for a value also matches in its denial: "no longer works at Fenwick".
        let given = given.filter(|(_, given)| {
            denied.as_ref().is_none_or(|(_, denied)| compare(&given.value, &denied.value) != Difference::Same)
        });
        out.extend(given);
        out.extend(denied);
    }
    out
}

/// The value of an attribute that a statement denies, and its owner. None if it denies none.
fn denied_claim(attribute: &Attribute, statement: &Prepared<'_>, persons: &Persons) -> Option<Claim> {
    let found = attribute.denials.iter().find_map(|pattern| pattern.captures(statement.written))?;
    let before = statement.written.get(..found.get(0)?.start())?;
    let written = found.name("v")?;
    // "Moved out of Anna's flat" and "the office moved from Leeds" deny nothing of the person.
    let is_genitive = statement.written.get(written.end()..)?.starts_with(APOSTROPHES);
    if is_genitive || !PERSON_NAME_ATTRIBUTES.contains(&attribute.name) && is_about_thing(before) {
        return None;
    }
    let value = read_value(attribute.name, written.as_str())?;
    let person = person_of(attribute, statement);
    if person.is_none() && is_about_somebody_else(&statement.folded.text, persons) {
        return None;
    }
    let owner = if person.is_some() { None } else { owner_before(attribute.name, before) };
    Some(((attribute.name, owner, person), ClaimedValue { value, is_denied: true }))
}

/// The value of an attribute that a statement gives, and its owner. None if it gives none.
fn given_claim(attribute: &Attribute, statement: &Prepared<'_>, persons: &Persons) -> Option<Claim> {
    if statement.marks.is_situational && attribute.name.starts_with("answer_")
        || attribute.name == CAR_MAKE && statement.signs.is_addition
        || attribute.name == BEEN_TO && statement.marks.is_plan
        || attribute.stop_words.iter().any(|word| statement.folded.text.contains(word.as_str()))
    {
        return None;
    }
    let found = attribute.patterns.iter().find_map(|pattern| pattern.captures(statement.written))?;
    let whole = found.get(0)?;
    let (before, rest) = (statement.written.get(..whole.start())?, statement.written.get(whole.end()..)?);
    // "Went to Rome's" names no place.
    if attribute.name == BEEN_TO && rest.starts_with(APOSTROPHES) {
        return None;
    }
    let value = match &attribute.value {
        Some(value) => value.clone(),
        None => read_value(attribute.name, found.name("v")?.as_str())?,
    };
    let person = person_of(attribute, statement);
    // A Japanese statement about a home or a car may begin with its name: 「トヨタの車に乗っている」.
    let begins_with_name =
        (PLACE_ATTRIBUTES.contains(&attribute.name) || attribute.name.starts_with(CAR)) && whole.start() == 0;
    if person.is_none() && !begins_with_name && is_about_somebody_else(&statement.folded.text, persons)
        || ATTRIBUTES_OF_ANYBODY.contains(&attribute.name)
            && !person.is_some_and(|person| persons.is_child(person))
            && opens_with_other_body(sentence_at(statement.written, whole.start()), persons)
    {
        return None;
    }
    // A denied match is skipped: 「日本酒が好きではない」 says that sake is not liked.
    if attribute.language == "ja"
        && attribute.value.is_some()
        && JAPANESE_DENIALS.iter().any(|denial| rest.starts_with(denial))
    {
        return None;
    }
    if statement.signs.affirms && value == Value::Listed("no") {
        return None;
    }
    // In "lessons with Frau Tanaka", "Frau" is a title and no wife.
    let is_title_of_name = attribute.name == "partner_name" && {
        let until_name = fold(&format!("{before}{}", whole.as_str().split(' ').next().unwrap_or_default()));
        is_title(&until_name, until_name.len())
    };
    // "The new boss is Anna" is about no thing, because the pattern names the person.
    let is_of_thing = !PERSON_NAME_ATTRIBUTES.contains(&attribute.name) && is_about_thing(before);
    if is_title_of_name || is_calendar_word(&value) || is_of_thing {
        return None;
    }
    let mut owner = if person.is_some() { None } else { owner_before(attribute.name, before) };
    let mut person = person;
    if attribute.name == AGE {
        let written = found.name("v").map_or("", |written| written.as_str());
        if !ages::is_certain(written, owner.is_some() || person.is_some(), ages::says_years(whole.as_str())) {
            return None;
        }
        // An age of a child belongs to the named child, so that "Her son Mats is four", "has a son, Mats, who is four"
        // and "Mats is four" are about the same child.
        if person.is_none()
            && owner.is_some_and(ages::is_child)
            && let Some(child) = ages::named_child(statement, persons)
        {
            (owner, person) = (None, Some(child));
        }
    }
    Some(((attribute.name, owner, person), ClaimedValue { value, is_denied: false }))
}

/// The named person to whom the attribute belongs. None for the owner of the memories and for a relative.
fn person_of(attribute: &Attribute, statement: &Prepared<'_>) -> Option<usize> {
    let is_value = statement.person_is_close && PERSON_NAME_ATTRIBUTES.contains(&attribute.name);
    statement.person.filter(|_| !is_value)
}

/// The relative to whom an attribute belongs, as a position in `RELATIONS`, by the text before the matched pattern.
/// None for the owner of the memories.
fn owner_before(attribute: &str, before: &str) -> Option<usize> {
    // The text before the match is folded separately, because folding may change its length: the end of `before` is no
    // position in the folded text of the statement.
    let before = fold(before);
    let clause = last_clause(&before);
    match attribute {
        BOSS_NAME => relative_in(clause, &["team"]),
        _ if FAMILY_ATTRIBUTES.contains(&attribute) => relative_in(clause, &["wife", "husband", "partner", "team"]),
        _ => subject(&before, before.len()),
    }
}

/// The value of an attribute that is written as `written`. None if it is no value of this attribute.
fn read_value(attribute: &str, written: &str) -> Option<Value> {
    // The value in "moved to Neovim" is a program and not a place.
    if PLACE_ATTRIBUTES.contains(&attribute) && is_no_place(written) {
        return None;
    }
    // "Separated from her husband" names nobody.
    if PERSON_NAME_ATTRIBUTES.contains(&attribute) && is_relation(&fold(written)) {
        return None;
    }
    match (attribute, value(written)) {
        // The same day is written in many ways: "14 March", "March 14th", "14.3.", 「3月14日」.
        ("birthday", _) => calendar_day(written).map(|day| Value::Number(f64::from(day))),
        (CAR_MAKE, _) => {
            let folded = fold(written);
            let names = CAR_MAKES.iter().find(|names| names.contains(&folded.as_str()))?;
            names.first().copied().map(Value::Listed)
        }
        // A boss is a person: "reports to London" names none.
        (BOSS_NAME, Value::Name(_)) => None,
        // A height in metres is converted to centimetres: 1.78 m is 178 cm.
        ("height", Value::Number(number)) if number < 3.0 => Some(Value::Number(number * 100.0)),
        (_, value) => Some(value),
    }
}

/// Compares two values of an attribute.
fn difference(attribute: &str, one: &Value, other: &Value) -> Difference {
    let (Value::Text(first), Value::Text(second)) = (one, other) else { return compare(one, other) };
    let is_name = PERSON_NAME_ATTRIBUTES.contains(&attribute) || PLACE_ATTRIBUTES.contains(&attribute);
    match compare(one, other) {
        Difference::Unknown if attribute == "name" && has_other_family_name(first, second) => Difference::Other,
        // Whether a name in Latin letters and one in Katakana are the same is known only if they sound quite different.
        Difference::Unknown if is_name && sound_unlike(first, second) => Difference::Other,
        difference => difference,
    }
}

/// True if two full names have the same given name, but the family name of one is in no part of the other.
fn has_other_family_name(one: &str, other: &str) -> bool {
    let (first, second) = (words(one), words(other));
    let ([given, .., family], [other_given, .., other_family]) = (first.as_slice(), second.as_slice()) else {
        return false;
    };
    given == other_given && !second.contains(family) && !first.contains(other_family)
}

/// True if a denied value is the given one: if they are the same, if the denied name is the beginning of the given one
/// ("Fenwick" and "Fenwick Instruments"), or if they sound alike in two scripts. A longer denied name may name something
/// else: "retired from Fenwick Rugby Club".
fn denies(denied: &Value, given: &Value) -> bool {
    let (Value::Text(denied_name), Value::Text(given_name)) = (denied, given) else {
        return compare(denied, given) == Difference::Same;
    };
    let denied_words = words(denied_name);
    denied == given
        || same_name(denied_name, given_name)
        || !denied_words.is_empty() && words(given_name).starts_with(&denied_words)
}

/// The part of a folded text after its last comma, full stop or "and".
fn last_clause(folded: &str) -> &str {
    const ENDS: [&str; 8] = [".", ",", ";", ":", " and ", " und ", "。", "、"];
    let start = ENDS.iter().filter_map(|end| folded.rfind(end).map(|at| at + end.len())).max();
    start.and_then(|start| folded.get(start..)).unwrap_or(folded)
}

/// The last relative that a folded clause names. None if it is one of `no_relatives`, given by their English names.
fn relative_in(clause: &str, no_relatives: &[&str]) -> Option<usize> {
    let is_no_relative = |names: &[&str]| names.iter().any(|name| no_relatives.contains(name));
    subject(clause, clause.len()).filter(|relation| RELATIONS.get(*relation).is_none_or(|names| !is_no_relative(names)))
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

/// True for a word for a relation, such as "husband".
fn is_relation(folded: &str) -> bool {
    RELATIONS.iter().any(|names| names.contains(&folded))
}

/// True for the name of a program, a building, a person, a state or another thing, such as "Altbauwohnung" in "lives in
/// a Altbauwohnung", 「両親」 in 「両親の家に住んでいる」 or "Trennung" in "lebt in Trennung".
fn is_no_place(written: &str) -> bool {
    const BUILDINGS: [&str; 26] = [
        "wohnung",
        "haus",
        "gemeinschaft",
        "zimmer",
        "bau",
        "heim",
        "実家",
        "自宅",
        "部屋",
        "寮",
        "団地",
        "住宅",
        "一軒家",
        "アパート",
        "マンション",
        "ハウス",
        "社宅",
        "平屋",
        "借家",
        "賃貸",
        "郊外",
        "都心",
        "田舎",
        "ワンルーム",
        "オートロック",
        "エレベーター",
    ];
    const STATES: [&str; 10] = [
        "scheidung",
        "trennung",
        "beziehung",
        "partnerschaft",
        "ehe",
        "rente",
        "armut",
        "miete",
        "untermiete",
        "frieden",
    ];
    let folded = fold(written);
    slots::is_value(written)
        || BUILDINGS.iter().any(|end| folded.ends_with(end))
        || STATES.contains(&folded.as_str())
        || is_relation(&folded)
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
                    Some((name, option)) => (name, Some(Value::Listed(option))),
                    None => (table.name, None),
                };
                Attribute {
                    name,
                    value: option,
                    // `ok` drops no pattern, because a test checks that every pattern compiles.
                    patterns: table.list(0).iter().filter_map(|text| Regex::new(&expand(text)).ok()).collect(),
                    stop_words: table.list(1).iter().map(|word| fold(word)).collect(),
                    denials: table.list(2).iter().filter_map(|text| Regex::new(&expand(text)).ok()).collect(),
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
            for denial in table.list(2) {
                let regex = Regex::new(&expand(denial));
                assert!(regex.is_ok(), "[{}] {denial}", table.name);
                let has_value = regex.is_ok_and(|regex| regex.capture_names().flatten().any(|name| name == "v"));
                assert!(has_value && !table.name.contains('='), "[{}] {denial}", table.name);
            }
        }
    }
}
