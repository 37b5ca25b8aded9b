//! Reads the features of a statement that the rules `meaning` and `evidence` compare, and compares two statements by
//! them.
use super::{
    Marks, Persons, Prepared, Signs,
    amounts::{Amounts, Time, amounts},
    attributes::{Attribute, SentenceAttributes, StatedAttribute, attribute, dot},
    projection::project,
    slots::may_have_several,
    terms::{Rarity, is_general_concept, places_differ, share_place},
};
use crate::{
    fold::{Folded, Languages},
    patterns::WordSet,
    spelling::{consonants, names, plain_names},
    subject::{is_title, relations},
    word_lists::{MONTHS, OCCASIONS, OPPOSITES, RELATIONS, WEEKDAYS},
};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Number of relations that a person can have to only one person or couple at a time: mother, father, parents, wife,
/// husband, partner. These relations come first in `RELATIONS`.
const ONE_PERSON_RELATIONS: usize = 6;
/// Number of occasions that are places: work and home. The places come first in `OCCASIONS`.
const PLACE_OCCASIONS: usize = 2;
/// Number of occasions that are parts of the day. The parts of the day come last in `OCCASIONS`.
const PARTS_OF_DAY: usize = 4;

/// A relation that ends within this many characters counts as the beginning of the statement.
const OPENING_CHARS: usize = 32;

/// The features of a statement that are compared with those of another statement.
pub(super) struct Reading<'v> {
    /// Position of the statement in the input.
    pub(super) statement: usize,
    pub(super) at: Option<i64>,
    pub(super) vector: &'v [f32],
    /// The vector in fewer dimensions, see `projection`.
    pub(super) projected: Vec<f32>,
    pub(super) stated: Vec<StatedAttribute>,
    /// The rows of sample sentences that are nearest to the statement, each with its probability.
    pub(super) rows: Vec<(usize, f32)>,
    pub(super) amounts: Amounts,
    /// The names in the statement without those of the owner of the memories, in a form that is the same in all
    /// scripts.
    names: Vec<String>,
    pub(super) plain_names: Vec<String>,
    subject: Option<usize>,
    /// The person or relation that the statement begins with.
    opening_subject: Option<usize>,
    languages: Languages,
    /// True if the statement is about a named person who is not the partner, the boss or a pet of the owner of the
    /// memories.
    is_about_other: bool,
    pub(super) marks: Marks,
    pub(super) signs: &'v Signs,
}

impl<'v> Reading<'v> {
    pub(super) fn new(
        statement: usize,
        prepared: &'v Prepared<'_>,
        vector: &'v [f32],
        stated: SentenceAttributes,
        persons: &Persons,
    ) -> Self {
        let folded = &prepared.folded;
        let mut relations = relations(&folded.text);
        relations.retain(|(end, _)| !is_title(&folded.text, *end));
        let opening_end = folded.text.char_indices().nth(OPENING_CHARS).map_or(folded.text.len(), |(at, _)| at);
        let last_relation_before = |until: usize| {
            let before = relations.iter().filter(|(end, _)| *end <= until);
            before.max_by_key(|(end, _)| *end).map(|(_, relation)| *relation)
        };
        Self {
            statement,
            at: prepared.at,
            vector,
            projected: project(vector),
            stated: stated.attributes,
            rows: stated.rows,
            amounts: amounts(&folded.text),
            names: names_of_others(folded, persons),
            plain_names: plain_names(folded).into_iter().filter(|name| !persons.is_own(name)).collect(),
            languages: folded.languages,
            is_about_other: prepared.person.is_some() && !prepared.person_is_close,
            subject: last_relation_before(folded.text.len()),
            opening_subject: last_relation_before(opening_end),
            signs: &prepared.signs,
            marks: prepared.marks,
        }
    }

    /// True if both statements may be in the same language.
    pub(super) fn shares_language(&self, other: &Self) -> bool {
        self.languages.may_share(other.languages)
    }

    /// True if neither statement is about a named person, except the partner, boss or pet of the owner of the memories.
    pub(super) fn may_name(&self, other: &Self) -> bool {
        [self, other].into_iter().all(|reading| !reading.is_about_other)
    }

    /// The occasions to which the statement is limited, in ascending order. Places and parts of the day are left out
    /// unless `counting` includes them.
    fn limiting_occasions(&self, counting: Occasions) -> Vec<usize> {
        let first_part_of_day = OCCASIONS.len() - PARTS_OF_DAY;
        let counts =
            |n: usize| (counting.places || n >= PLACE_OCCASIONS) && (counting.parts_of_day || n < first_part_of_day);
        let mut out: Vec<usize> = self.signs.occasions.iter().copied().filter(|n| counts(*n)).collect();
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// The names in a text without those of the owner of the memories, each reduced to its consonants.
fn names_of_others(folded: &Folded, persons: &Persons) -> Vec<String> {
    let own: Vec<String> = persons.owner_names().iter().flat_map(|name| consonants(name)).collect();
    names(folded).into_iter().filter(|name| !own.contains(name)).collect()
}

/// The result of comparing the terms, names and numbers of two statements. This takes longer than the comparisons in
/// [`PairComparison`].
#[derive(Debug, Clone, Copy)]
pub(super) struct CloserComparison {
    /// Number of rare terms that both statements contain.
    pub(super) shared_terms: usize,
    /// Number of rare terms (including places) that both statements contain, divided by the number of terms of the
    /// shorter statement.
    pub(super) overlap: f32,
    /// True if both statements mention places, but no place in common.
    pub(super) places_differ: bool,
    /// True if each statement contains the first thing that the other statement mentions.
    pub(super) same_first_thing: bool,
    /// True if at least one statement contains the first thing that the other statement mentions.
    pub(super) has_first_thing: bool,
    /// True if names, or words such as "old" and "new", show that the statements are about two different things of the
    /// same kind.
    pub(super) are_distinguished: bool,
    /// True if words such as "old" and "new" show that the statements are about two different things of the same kind.
    pub(super) have_opposites: bool,
    /// True if a negation or a dislike names a thing that the other statement does not name, so that it may deny
    /// something else. Statements in different languages are compared only by their listed things.
    pub(super) denies_something_else: bool,
    /// True if both statements have numbers with the same unit, but no such number in common.
    pub(super) numbers_of_one_unit_differ: bool,
    pub(super) levels_differ: bool,
    /// True if both statements mention the same named people, or none.
    pub(super) same_people: bool,
}

/// The result of comparing two statements by their vectors, dates and marks.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairComparison {
    /// Cosine of the vectors of the statements.
    pub(super) similarity: f32,
    /// True if the statements share a rare name or term.
    pub(super) same_name: bool,
    /// True if the statements share a rare term. Units and listed names (such as cities) do not count.
    pub(super) same_thing: bool,
    /// True if both statements may be in the same language, and the first things that they mention differ.
    pub(super) first_things_differ: bool,
    /// True if each statement says that something is over or is not so.
    pub(super) both_deny: bool,
    /// True if both statements are about the same person.
    pub(super) same_subject: bool,
    pub(super) same_language: bool,
    /// False if one statement is about a named person whom the other statement does not mention.
    pub(super) same_person: bool,
    /// True if the two statements are about different relatives.
    pub(super) subjects_differ: bool,
    pub(super) numbers_differ: bool,
    pub(super) times_differ: bool,
    /// True if both statements are about the same person or thing with a name.
    pub(super) same_named_person: bool,
    /// True if the newer statement says that something is over, and the older one does not. If both are equally old,
    /// true if exactly one of them says so.
    pub(super) says_over: bool,
    /// True if the newer statement says that something has changed or is over. If both are equally old, either of them
    /// may say so.
    pub(super) says_changed: bool,
    /// True if exactly one statement is negated, and the negation applies to something in the other statement.
    pub(super) is_negated: bool,
    /// True if one statement expresses a like and the other a dislike.
    pub(super) opinions_differ: bool,
    /// True if the statements begin with different relatives, or only one begins with a relative, and they are about
    /// different relatives.
    pub(super) opening_subjects_differ: bool,
    /// True if exactly one statement is a plan.
    pub(super) only_one_is_plan: bool,
    /// True if the older statement denies something.
    pub(super) older_denies: bool,
    /// True if the older statement is about something that is being done, and is not about a plan or an expectation.
    pub(super) only_ongoing: bool,
    /// True if the older statement is about something expected, and the newer one says that the expected thing has
    /// happened.
    pub(super) is_fulfilled: bool,
}

impl PairComparison {
    pub(super) fn new(a: &Reading<'_>, b: &Reading<'_>, shared: &SharedNames<'_>) -> Self {
        let (older, newer) = if a.at > b.at { (b, a) } else { (a, b) };
        let dates_differ = a.at != b.at;
        let same_name = shared.share_name(a, b);
        let one_person = a.subject.is_none_or(|relation| relation < ONE_PERSON_RELATIONS);
        let money = a.amounts.has_money() || b.amounts.has_money();
        let same_purpose = !money || shared.may_share_purpose(a, b);
        let likes_what_other_dislikes = |one: Marks, other: Marks| one.likes && !one.dislikes && other.dislikes;
        Self {
            similarity: dot(a.vector, b.vector),
            same_name,
            same_thing: shared.share_thing(a, b),
            first_things_differ: shared.first_things_differ(a, b),
            both_deny: (a.signs.is_negated || a.signs.says_over) && (b.signs.is_negated || b.signs.says_over),
            same_language: a.languages.may_share(b.languages),
            same_person: shared.may_share_subject(a, b),
            // "His wife Selin" and "Selin" are the same person.
            same_subject: shared.have_same_person(a, b) || a.subject == b.subject && (one_person || same_name),
            subjects_differ: a.subject.is_some() && b.subject.is_some() && a.subject != b.subject && !same_name,
            numbers_differ: same_purpose && a.amounts.numbers_differ(&b.amounts),
            same_named_person: shared.have_same_person(a, b),
            // Times are compared only if both statements or neither of them has an amount of money, because "retired
            // since January" and "the pension is 1,805 euros since July" give times of different things.
            times_differ: a.amounts.has_money() == b.amounts.has_money() && a.amounts.times_differ(&b.amounts),
            says_over: newer.signs.says_over && !older.signs.says_over
                || !dates_differ && older.signs.says_over && !newer.signs.says_over,
            says_changed: newer.signs.says_over
                || newer.signs.says_changed
                || !dates_differ && (older.signs.says_over || older.signs.says_changed),
            is_negated: a.signs.is_negated != b.signs.is_negated && shared.negation_concerns(a, b),
            opinions_differ: likes_what_other_dislikes(a.marks, b.marks) || likes_what_other_dislikes(b.marks, a.marks),
            opening_subjects_differ: a.opening_subject != b.opening_subject && a.subject != b.subject,
            only_one_is_plan: a.marks.is_plan != b.marks.is_plan,
            older_denies: dates_differ && older.signs.is_negated,
            only_ongoing: older.marks.is_ongoing && !older.marks.is_plan && !older.marks.is_pending,
            is_fulfilled: dates_differ
                && is_open(older)
                && (newer.marks.is_done || newer.signs.says_over)
                && !is_open(newer)
                && !is_about_earlier_year(newer, older),
        }
    }

    /// True if a word, number or time shows that the statements differ.
    pub(super) fn shows_difference(&self) -> bool {
        self.says_over || self.is_negated || self.numbers_differ || self.times_differ || self.opinions_differ
    }
}

/// True if `other` contains the first thing that `one` names.
fn names_first_thing(one: &Prepared<'_>, other: &Prepared<'_>) -> bool {
    one.subjects.first().is_some_and(|term| other.subjects.contains(term))
}

/// True if both statements have names, but no name in common. Always false for statements in German, because German
/// nouns look like names and are therefore not collected.
fn have_other_names(one: &Reading<'_>, other: &Reading<'_>) -> bool {
    let names = |reading: &Reading<'_>| -> Vec<String> {
        let is_calendar = |name: &String| {
            let lists = MONTHS.iter().chain(WEEKDAYS).flat_map(|names| names.iter());
            lists.into_iter().any(|word| word.trim_end_matches('*') == name)
        };
        reading.plain_names.iter().filter(|name| !is_calendar(name)).cloned().collect()
    };
    let (first, second) = (names(one), names(other));
    let have_names = !first.is_empty() && !second.is_empty() && one.languages.ja == other.languages.ja;
    have_names && !first.iter().any(|name| second.contains(name))
}

/// True if one text has a word such as "old" and the other text has its opposite. The texts are then about two
/// different things of the same kind.
pub(super) fn are_opposites(one: &str, other: &str) -> bool {
    let poles = |text: &str| opposites().hits(text).iter().map(|hit| *hit.value).collect::<Vec<usize>>();
    let (one, other) = (poles(one), poles(other));
    // The list contains pairs of opposites: the opposite of an even position is at the next position.
    one.iter().any(|pole| other.contains(&(pole ^ 1)) && !one.contains(&(pole ^ 1)) && !other.contains(pole))
}

fn opposites() -> &'static WordSet<usize> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let poles = OPPOSITES.iter().enumerate();
        WordSet::new(poles.flat_map(|(n, names)| names.iter().map(move |name| (*name, n))))
    })
}

/// True if a statement is about something planned, expected or being done.
fn is_open(reading: &Reading<'_>) -> bool {
    reading.marks.is_plan || reading.marks.is_pending || reading.marks.is_ongoing
}

/// True if a statement contains years, and all of them are before the year in which the other statement was made.
fn is_about_earlier_year(statement: &Reading<'_>, other: &Reading<'_>) -> bool {
    const MICROSECONDS_OF_YEAR: i64 = 31_556_952_000_000;
    let year_made = other.at.map_or(0, |at| 1970 + at / MICROSECONDS_OF_YEAR);
    let years = || {
        statement.amounts.times.iter().filter_map(|time| match time {
            Time::Year(year) => Some(i64::from(*year)),
            _ => None,
        })
    };
    years().next().is_some() && years().all(|year| year < year_made)
}

/// Which kinds of occasions limit a statement, besides the kinds that always limit it (those that are neither places
/// nor parts of the day).
#[derive(Debug, Clone, Copy)]
pub(super) struct Occasions {
    /// True if "at work" and "at home" limit a statement.
    pub(super) places: bool,
    pub(super) parts_of_day: bool,
    /// True if the statements are about devices. Somebody may have one device at work and another at home.
    pub(super) devices: bool,
}

/// True if both statements can be true because they are about different occasions. A statement without an occasion
/// applies to all occasions if it says that something is over or is not so.
pub(super) fn on_other_occasions(a: &Reading<'_>, b: &Reading<'_>, counting: Occasions) -> bool {
    if a.signs.occasions.is_empty() && b.signs.occasions.is_empty() {
        return false;
    }
    let (one, other) = (a.limiting_occasions(counting), b.limiting_occasions(counting));
    if one == other {
        return false;
    }
    // A statement about devices does not apply to all occasions: "switched from Pixel to iPhone" does not say which
    // phone is used for work.
    let denies_all = |reading: &Reading<'_>, occasions: &[usize]| {
        occasions.is_empty() && (reading.signs.is_negated || reading.signs.says_over) && !counting.devices
    };
    !denies_all(a, &one) && !denies_all(b, &other)
}

/// Finds the names and terms that two statements share and that few other statements contain. The owner's name is not
/// among them, because many statements contain it.
pub(super) struct SharedNames<'p> {
    prepared: &'p [Prepared<'p>],
    rare: &'p Rarity,
    counts: HashMap<String, usize>,
}

impl<'p> SharedNames<'p> {
    pub(super) fn new(prepared: &'p [Prepared<'p>], readings: &[Reading<'_>], rare: &'p Rarity) -> Self {
        let mut counts = HashMap::new();
        for name in readings.iter().flat_map(|reading| &reading.names) {
            *counts.entry(name.clone()).or_default() += 1;
        }
        Self { prepared, rare, counts }
    }

    /// True if both statements contain the same rare name or term.
    fn share_name(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let limit = self.rare.max_statements() as usize;
        let rare = |name: &String| self.counts.get(name).is_some_and(|count| *count <= limit);
        if one.names.iter().any(|name| other.names.contains(name) && rare(name)) {
            return true;
        }
        self.prepared_pair(one, other).is_some_and(|(a, b)| self.rare.count_shared(a, b) > 0)
    }

    /// The names in a statement that at least one other statement contains, but only few statements contain, in a form
    /// that is the same in all scripts.
    pub(super) fn rare_names<'r>(&self, reading: &'r Reading<'_>) -> impl Iterator<Item = &'r str> {
        let limit = self.rare.max_statements() as usize;
        let is_rare = move |name: &&String| self.counts.get(*name).is_some_and(|count| (2..=limit).contains(count));
        reading.names.iter().filter(is_rare).map(String::as_str)
    }

    /// The attributes for which a statement contains a listed value.
    pub(super) fn listed_attributes(&self, reading: &Reading<'_>) -> impl Iterator<Item = &'p str> {
        let statement: Option<&'p Prepared<'p>> = self.prepared.get(reading.statement);
        statement.into_iter().flat_map(|statement| statement.slots.iter().map(|(attribute, _)| *attribute))
    }

    /// True if both statements contain the same rare term. Units and listed names (such as cities) do not count.
    fn share_thing(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let prepared_pair = self.prepared_pair(one, other);
        prepared_pair
            .is_some_and(|(a, b)| a.subjects.iter().any(|term| b.terms.contains(term) && self.rare.is_rare(term)))
    }

    /// Compares the terms, names and numbers of two statements. This takes longer than comparing their marks.
    pub(super) fn compare_closely(&self, one: &Reading<'_>, other: &Reading<'_>) -> CloserComparison {
        let prepared_pair = self.prepared_pair(one, other);
        let same_purpose = !one.amounts.has_money() && !other.amounts.has_money() || self.may_share_purpose(one, other);
        let have_opposites = prepared_pair.is_some_and(|(a, b)| are_opposites(&a.folded.text, &b.folded.text));
        CloserComparison {
            shared_terms: prepared_pair.map_or(0, |(a, b)| self.rare.count_shared(a, b)),
            overlap: prepared_pair.map_or(0.0, |(a, b)| self.rare.overlap(a, b)),
            places_differ: prepared_pair.is_some_and(|(a, b)| places_differ(a, b)),
            same_first_thing: prepared_pair.is_some_and(|(a, b)| names_first_thing(a, b) && names_first_thing(b, a)),
            has_first_thing: prepared_pair.is_some_and(|(a, b)| names_first_thing(a, b) || names_first_thing(b, a)),
            are_distinguished: have_other_names(one, other) || have_opposites,
            have_opposites,
            denies_something_else: one.languages.may_share(other.languages)
                && (self.denies_more(one, other) || self.denies_more(other, one))
                || self.denies_other_concept(one, other)
                || self.denies_other_concept(other, one),
            numbers_of_one_unit_differ: same_purpose
                && one.signs.counts_remaining == other.signs.counts_remaining
                && one.amounts.numbers_of_one_unit_differ(&other.amounts),
            // A plan to reach another level does not contradict the level of today.
            levels_differ: one.marks.is_plan == other.marks.is_plan && one.amounts.levels_differ(&other.amounts),
            same_people: prepared_pair.is_some_and(|(a, b)| a.mentioned == b.mentioned),
        }
    }

    /// True if both statements name the same thing or activity of the list of concepts.
    pub(super) fn share_concept(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let prepared_pair = self.prepared_pair(one, other);
        prepared_pair.is_some_and(|(a, b)| a.things.iter().any(|term| term.starts_with('~') && b.things.contains(term)))
    }

    /// True if both statements contain the same listed value of an attribute.
    pub(super) fn share_listed_value(&self, one: &Reading<'_>, other: &Reading<'_>, attribute: &str) -> bool {
        let prepared_pair = self.prepared_pair(one, other);
        prepared_pair.is_some_and(|(a, b)| a.slots.iter().any(|slot| slot.0 == attribute && b.slots.contains(slot)))
    }

    /// True if exactly one statement says that something is only watched, read or heard about.
    pub(super) fn one_is_onlooker(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        one.signs.is_onlooker != other.signs.is_onlooker
    }

    /// Returns whether both statements contain the same listed value of any attribute, and, if they do not, whether
    /// they contain different listed values of one attribute.
    pub(super) fn compare_listed_values(&self, one: &Reading<'_>, other: &Reading<'_>) -> (bool, bool) {
        let Some((a, b)) = self.prepared_pair(one, other) else { return (false, false) };
        let shares = |(name, value): &(&str, &str)| b.slots.iter().any(|(n, v)| n == name && v == value);
        let changes =
            one.signs.says_changed || one.signs.says_over || other.signs.says_changed || other.signs.says_over;
        let counts = |name: &str| changes || !may_have_several(name);
        let same = a.slots.iter().any(shares);
        let differ = a
            .slots
            .iter()
            .any(|slot| counts(slot.0) && !shares(slot) && b.slots.iter().any(|(name, _)| *name == slot.0));
        (same, differ && !same)
    }

    /// True if both statements mention the same city or country, even if many other statements mention it too.
    pub(super) fn share_place(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        self.prepared_pair(one, other).is_some_and(|(a, b)| share_place(a, b))
    }

    /// True if the statements begin with different relations, and at least one of them is in `THIRD_PARTIES`: people
    /// with a life of their own, such as a neighbour, a parent or a sister.
    pub(super) fn one_opens_with_third_party(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        const THIRD_PARTIES: [&str; 14] = [
            "mother",
            "father",
            "parents",
            "brother",
            "sister",
            "uncle",
            "aunt",
            "cousin",
            "friend",
            "colleague",
            "neighbour",
            "grandmother",
            "grandfather",
            "flatmate",
        ];
        let is_third_party = |reading: &Reading<'_>| {
            let names = reading.opening_subject.and_then(|n| RELATIONS.get(n));
            names.is_some_and(|names| names.iter().any(|name| THIRD_PARTIES.contains(name)))
        };
        one.opening_subject != other.opening_subject && (is_third_party(one) || is_third_party(other))
    }

    /// True if exactly one statement is about grandchildren, who are not counted as children.
    pub(super) fn one_has_grandchildren(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let is_grandchild = |reading: &Reading<'_>| {
            reading.subject.and_then(|n| RELATIONS.get(n)).is_some_and(|names| names.contains(&"grandson"))
        };
        is_grandchild(one) != is_grandchild(other)
    }

    /// False if only some clauses of the negated statement are negated, and the negated clauses name nothing from the
    /// other statement.
    fn negation_concerns(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let Some((a, b)) = self.prepared_pair(one, other) else { return true };
        let concerns = |negated: &Prepared<'_>, other: &Prepared<'_>| {
            negated.negated_terms.as_ref().is_none_or(|terms| terms.iter().any(|term| other.terms.contains(term)))
        };
        concerns(a, b) && concerns(b, a)
    }

    fn first_things_differ(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        self.prepared_pair(one, other).is_some_and(|(a, b)| a.first_things_differ(b))
    }

    /// True if `one` is negated or expresses a dislike, and contains a term that `other` does not contain. Words for
    /// likes and dislikes do not count as terms.
    fn denies_more(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let denies = one.signs.is_negated || one.marks.dislikes;
        let prepared_pair = self.prepared_pair(one, other);
        denies && prepared_pair.is_some_and(|(a, b)| a.things.iter().any(|term| !b.terms.contains(term)))
    }

    /// True if `one` is negated or expresses a dislike, and the statements name only different listed things: sake is
    /// not wine. False if one of the things is a general one such as "alcohol", which includes the others.
    fn denies_other_concept(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let Some((a, b)) = self.prepared_pair(one, other) else { return false };
        let concepts = |statement: &'p Prepared<'p>| statement.things.iter().filter(|term| term.starts_with('~'));
        (one.signs.is_negated || one.marks.dislikes)
            && concepts(a).next().is_some()
            && concepts(b).next().is_some()
            && concepts(a).chain(concepts(b)).all(|term| !is_general_concept(term))
            && !concepts(a).any(|term| b.things.contains(term))
    }

    /// True if the statements are about different aspects of work, for example one about shifts and the other about the
    /// workplace, or if only one of them names such an aspect.
    pub(super) fn are_about_other_parts_of_work(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        const PARTS: [&str; 4] = ["commute", "hours", "shift", "workplace"];
        let parts = |statement: &Prepared<'_>| -> Vec<&str> {
            statement.slots.iter().map(|(slot, _)| *slot).filter(|slot| PARTS.contains(slot)).collect()
        };
        self.prepared_pair(one, other).is_some_and(|(a, b)| {
            let (one, other) = (parts(a), parts(b));
            one.is_empty() != other.is_empty() || !one.is_empty() && !one.iter().any(|part| other.contains(part))
        })
    }

    fn have_same_person(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        self.prepared_pair(one, other).is_some_and(|(a, b)| a.person.is_some() && a.person == b.person)
    }

    pub(super) fn may_share_purpose(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        self.prepared_pair(one, other).is_none_or(|(a, b)| a.may_share_purpose(b))
    }

    fn may_share_subject(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        self.prepared_pair(one, other).is_none_or(|(a, b)| a.may_share_subject(b))
    }

    /// The two statements in the prepared form that all rules use.
    fn prepared_pair(&self, one: &Reading<'_>, other: &Reading<'_>) -> Option<(&'p Prepared<'p>, &'p Prepared<'p>)> {
        self.prepared.get(one.statement).zip(self.prepared.get(other.statement))
    }
}

/// Probability that both statements give the same value of the attribute `wanted`. 1 if one of them probably does not
/// state the attribute.
pub(super) fn same_value(wanted: &Attribute, one: &Reading<'_>, other: &Reading<'_>) -> f32 {
    let is_wanted =
        |stated: &&StatedAttribute| attribute(stated.attribute).is_some_and(|attribute| attribute.name == wanted.name);
    let stated_in = |reading: &'_ Reading<'_>| reading.stated.iter().find(is_wanted).cloned();
    stated_in(one).zip(stated_in(other)).map_or(1.0, |(one, other)| one.same_value(&other))
}
