//! Finds different values of the same thing, in any words and languages, by the vectors of a sentence encoder.
//!
//! There are three ways in which two statements become a pair:
//! - By their vectors, both state the same attribute, and their values differ. The values differ in numbers, times or
//!   names, or it is improbable that both state the same value.
//! - They are similar and share a rare term. The words of one say that something is over or is not so, or give another
//!   number or date.
//! - They are very similar, but in different languages, and the newer one says that something is over.
use super::{
    Prepared,
    attributes::{Attribute, Comparison, attribute, dot, stated_attributes},
    persons::Persons,
    reading::{Occasions, PairComparison, Reading, SharedNames, on_other_occasions, same_value},
    terms::Rarity,
};
use crate::fitted::DIMENSIONS;
use std::collections::{BTreeMap, HashSet};

/// Statements of more characters than this are not compared, because a longer text states more than one thing.
const MAX_CHARS: usize = 300;
/// Largest number of statements of one attribute or rare term that are compared with each other. The newest are used.
const MAX_GROUP: usize = 200;
/// Lowest probability with which two statements must state the same attribute if their words also show a difference.
/// The probability is the geometric mean of those of the two statements.
const MIN_PAIR_PROBABILITY: f32 = 0.35;
/// Lowest probability with which each of the two statements must state the attribute.
const MIN_PROBABILITY_OF_EACH: f32 = 0.2;
/// If the probability of an attribute is below this, further evidence for a pair is required.
const MIN_CERTAIN_PROBABILITY: f32 = 0.5;
/// Lowest similarity of two statements whose attribute is uncertain and that share no rare term.
const MIN_SIMILARITY_IF_UNCERTAIN: f32 = 0.6;
/// Like `MIN_SIMILARITY_IF_UNCERTAIN`, but for an attribute that is compared by values.
const MIN_SIMILARITY_IF_CHANGED: f32 = 0.33;
/// Lowest probability with which two statements must state the same attribute if no words show a difference.
const MIN_PROBABILITY_ALONE: f32 = 0.5;
/// Two sentences may name different things only if their similarity is below this.
const MAX_SIMILARITY: f32 = 0.45;
/// Like `MAX_SIMILARITY`, but for two sentences that both contain names, but no name in common. The limit is higher,
/// because the other words of such sentences may be the same.
const MAX_SIMILARITY_WITH_NAMES: f32 = 0.9;
/// If the similarity of two sentences is below this, a denial in one of them may be about something that the other does
/// not mention.
const MAX_SIMILARITY_OF_OTHERS: f32 = 0.3;
/// If two sentences begin with different things, but their similarity is at least this, they say the same about two
/// things.
const MIN_SIMILARITY_OF_PARALLELS: f32 = 0.6;
/// Two sentences are about the same thing if their similarity is at least this, or if they share a rare name.
const MIN_SAME_THING: f32 = 0.4;
/// Like `MIN_SAME_THING`, but for two statements in the same language. The limit is higher, because such statements
/// share a word if they are about the same thing.
const MIN_SAME_THING_IN_ONE_LANGUAGE: f32 = 0.6;
/// Lowest similarity at which a statement that something is over contradicts a statement in another language.
const MIN_SIMILARITY_IN_OTHER_LANGUAGE: f32 = 0.6;
/// Largest number of comparisons between statements in different languages.
const MAX_COMPARISONS: usize = 2_000_000;
/// Two statements that share a rare term are compared only if their similarity is at least this.
const MIN_SIMILARITY: f32 = 0.1;
/// Lowest similarity of a statement that something is expected and a statement that the expected thing has happened.
const MIN_SIMILARITY_IF_FULFILLED: f32 = 0.35;
/// If one statement says that something in the other is over and they share only one thing, this thing must make up at
/// least this share of the terms of the shorter statement.
const MIN_OVERLAP: f32 = 0.34;
/// Two values may be different only if the probability that they are the same is below this.
const MAX_SAME_VALUE: f32 = 0.4;

/// Attributes whose value is a person or pet with a name.
const PERSON_NAME_ATTRIBUTES: [&str; 5] = ["boss", "partner", "pet", "pets", "relationship"];

/// Attributes of work. Statements about shifts or the way to work have vectors similar to those of statements of these
/// attributes.
const WORK_ATTRIBUTES: [&str; 3] = ["employer", "hours", "job"];

/// Attributes for people and animals that somebody has. If a statement begins with a neighbour or a sister, the value
/// belongs to that person and not to the owner of the memories.
const BELONGINGS: [&str; 4] = ["children", "pet", "pets", "team"];

/// Calls `add` for each pair of statements that contradict each other. Returns those pairs in which the newer statement
/// moves the same thing to another date, the smaller position first.
pub(super) fn find(
    prepared: &[Prepared<'_>],
    readings: &[Reading<'_>],
    shared: &SharedNames<'_>,
    rare: &Rarity,
    add: &mut impl FnMut(usize, usize, f32, bool),
) -> HashSet<(usize, usize)> {
    let mut groups: BTreeMap<usize, Vec<&Reading<'_>>> = BTreeMap::new();
    // Statements about the past are used only by the rule `evidence`.
    let current: Vec<&Reading<'_>> = readings.iter().filter(|reading| !reading.marks.is_past).collect();
    for reading in current.iter().copied() {
        reading.stated.iter().for_each(|stated| groups.entry(stated.attribute).or_default().push(reading));
    }
    for (position, mut members) in groups {
        let Some(attribute) = attribute(position).filter(|attribute| !attribute.is_topic) else { continue };
        for_each_pair(&mut members, |one, other| {
            if let Some(probability) = probability(position, one, other)
                && differ_in(attribute, probability, one, other, &PairComparison::new(one, other, shared), shared)
            {
                add(one.statement, other.statement, 0.55 + 0.4 * probability, !attribute.never_changes);
            }
        });
    }
    let by_statement: BTreeMap<usize, &Reading<'_>> =
        current.iter().map(|reading| (reading.statement, *reading)).collect();
    find_ended_in_other_language(&current, shared, add);
    // Two statements that share several rare terms are in several groups, but are compared once.
    let mut compared_pairs: HashSet<(usize, usize)> = HashSet::new();
    let mut moved = HashSet::new();
    for members in rare.groups(prepared).into_values() {
        let mut members: Vec<&Reading<'_>> = members.iter().filter_map(|n| by_statement.get(n).copied()).collect();
        for_each_pair(&mut members, |one, other| {
            let pair = (one.statement.min(other.statement), one.statement.max(other.statement));
            if !compared_pairs.insert(pair) || dot(one.vector, other.vector) < MIN_SIMILARITY {
                return;
            }
            let compared = PairComparison::new(one, other, shared);
            if words_contradict(one, other, &compared, shared) {
                if compared.times_differ && compared.says_changed && compared.same_thing {
                    moved.insert(pair);
                }
                add(
                    one.statement,
                    other.statement,
                    0.5 + 0.4 * compared.similarity,
                    compared.says_changed || compared.says_over,
                );
            }
        });
    }
    moved
}

/// Reads the statements that have a vector and are short enough. Statements about the past are left out, unless they
/// say that something is over.
pub(super) fn read<'p>(prepared: &'p [Prepared<'_>], vectors: &'p [Vec<f32>], persons: &Persons) -> Vec<Reading<'p>> {
    let usable = |statement: &Prepared<'_>, vector: &[f32]| {
        vector.len() == DIMENSIONS
            && (!statement.marks.is_past || statement.marks.was_so_before)
            && statement.folded.text.chars().count() <= MAX_CHARS
    };
    let used: Vec<(usize, &Prepared<'_>, &[f32])> = prepared
        .iter()
        .zip(vectors)
        .enumerate()
        .map(|(n, (statement, vector))| (n, statement, vector.as_slice()))
        .filter(|(_, statement, vector)| usable(statement, vector))
        .collect();
    let stated = stated_attributes(&used.iter().map(|(.., vector)| *vector).collect::<Vec<_>>());
    used.into_iter()
        .zip(stated)
        .map(|((n, statement, vector), stated)| Reading::new(n, statement, vector, stated, persons))
        .collect()
}

/// Adds contradicting pairs of statements in different languages. Because such statements share no words, the newer one
/// must say that something is over and must be very similar to the older one.
fn find_ended_in_other_language(
    readings: &[&Reading<'_>],
    shared: &SharedNames<'_>,
    add: &mut impl FnMut(usize, usize, f32, bool),
) {
    let ending: Vec<&Reading<'_>> =
        readings.iter().copied().filter(|reading| reading.signs.says_over && reading.at.is_some()).collect();
    for newer in ending.into_iter().take(MAX_COMPARISONS / readings.len().max(1)) {
        let is_older = |older: &&Reading<'_>| older.at < newer.at && !older.signs.says_over && !older.signs.is_negated;
        for older in readings.iter().copied().filter(is_older) {
            if older.shares_language(newer) || dot(older.vector, newer.vector) < MIN_SIMILARITY_IN_OTHER_LANGUAGE {
                continue;
            }
            let pair = PairComparison::new(older, newer, shared);
            let both_can_hold =
                on_other_occasions(older, newer, Occasions { places: true, parts_of_day: false, devices: false });
            let closer = shared.compare_closely(older, newer);
            if pair.same_subject
                && pair.same_person
                && !both_can_hold
                && !newer.signs.is_addition
                && !closer.places_differ
            {
                add(older.statement, newer.statement, 0.3 + 0.5 * pair.similarity, true);
            }
        }
    }
}

/// Shortens `members` to the newest ones and calls `compare` for every pair of them.
fn for_each_pair<'r>(members: &mut Vec<&'r Reading<'r>>, mut compare: impl FnMut(&Reading<'r>, &Reading<'r>)) {
    members.sort_by_key(|reading| std::cmp::Reverse(reading.at));
    members.truncate(MAX_GROUP);
    for (i, one) in members.iter().enumerate() {
        members.iter().skip(i + 1).for_each(|other| compare(one, other));
    }
}

/// Probability that both statements state the attribute at `position`. None if it is too low, or if both statements
/// more probably state another attribute.
fn probability(position: usize, one: &Reading<'_>, other: &Reading<'_>) -> Option<f32> {
    let probability_in = |reading: &Reading<'_>, wanted: usize| {
        reading.stated.iter().find(|stated| stated.attribute == wanted).map_or(0.0, |stated| stated.probability)
    };
    let probability_in_both = |wanted: usize| probability_in(one, wanted) * probability_in(other, wanted);
    let squared = probability_in_both(position);
    let is_best = one.stated.iter().all(|stated| probability_in_both(stated.attribute) <= squared);
    let probability = squared.sqrt();
    let is_clear = probability_in(one, position).min(probability_in(other, position)) >= MIN_PROBABILITY_OF_EACH;
    (is_best && is_clear && probability >= MIN_PAIR_PROBABILITY).then_some(probability)
}

/// True if both statements state the attribute of the same subject and give different values.
fn differ_in(
    attribute: &Attribute,
    probability: f32,
    one: &Reading<'_>,
    other: &Reading<'_>,
    pair: &PairComparison,
    shared: &SharedNames<'_>,
) -> bool {
    let occasions =
        Occasions { places: attribute.is_device, parts_of_day: attribute.is_consumed, devices: attribute.is_device };
    // A wish about answers that is limited to a situation does not contradict a wish about other answers: "answers in
    // the field should be short".
    let is_limited = attribute.is_style
        && attribute.name != "style_code"
        && (one.marks.is_situational || other.marks.is_situational);
    let both_can_hold =
        one.signs.is_addition || other.signs.is_addition || on_other_occasions(one, other, occasions) || is_limited;
    // "Son, 8" and "daughter, 11" are about two children and do not contradict each other.
    let are_two_people =
        (attribute.describes_thing || shared.one_has_grandchildren(one, other)) && pair.subjects_differ;
    let is_same_subject = pair.same_subject || attribute.names_people && !are_two_people;
    let min_similarity = if pair.same_language { MIN_SAME_THING_IN_ONE_LANGUAGE } else { MIN_SAME_THING };
    let are_parallel = pair.first_things_differ && pair.similarity >= MIN_SIMILARITY_OF_PARALLELS;
    let is_same_thing =
        !attribute.describes_thing || (pair.similarity >= min_similarity || pair.same_name) && !are_parallel;
    // A statement about the owner's own life may begin with the name of the partner, boss or pet.
    let is_same_person = pair.same_person || one.may_name(other) && PERSON_NAME_ATTRIBUTES.contains(&attribute.name);
    if both_can_hold
        || !is_same_subject
        || !is_same_person
        || !is_same_thing
        || !attribute.includes_wishes && pair.only_one_is_plan && !pair.says_over
    {
        return false;
    }
    if attribute.comparison == Comparison::Numbers && shared.compare_closely(one, other).are_distinguished {
        return false;
    }
    // "Currently reading Moby-Dick" does not name a favourite.
    if attribute.name.starts_with("favourite_") && !(one.marks.likes && other.marks.likes) {
        return false;
    }
    if attribute.name == "relationship" && !pair.says_over && shared.share_listed_value(one, other, attribute.name) {
        return false;
    }
    // Statements that give the same listed value agree: "vegetarian since August" and "vegetarian, undecided about
    // fish".
    let gives_same_value = {
        let (same, differ) = shared.compare_listed_values(one, other);
        same && !differ
    };
    if gives_same_value
        && attribute.comparison == Comparison::Values
        && !pair.says_over
        && !pair.is_negated
        && !pair.opinions_differ
        && !pair.numbers_differ
    {
        return false;
    }
    // What another person has does not contradict what the owner of the memories has: "Her neighbour has four cats".
    if BELONGINGS.contains(&attribute.name) && shared.one_opens_with_third_party(one, other) {
        return false;
    }
    // Statements about two drinks agree unless a word says otherwise: liking wine does not exclude liking sake.
    let is_stated_otherwise = pair.says_over || pair.is_negated || pair.opinions_differ || pair.numbers_differ;
    if attribute.is_consumed && !is_stated_otherwise && !pair.same_name && !shared.share_concept(one, other) {
        return false;
    }
    let numbers_differ = pair.numbers_differ
        && (attribute.units.is_empty()
            || one.amounts.measured_in(attribute.units).numbers_differ(&other.amounts.measured_in(attribute.units)));
    let values_differ = match attribute.comparison {
        _ if attribute.is_time && pair.times_differ => true,
        Comparison::Numbers => numbers_differ || same_value(attribute, one, other) < MAX_SAME_VALUE / 2.0,
        // Statements that name the same place agree, even if many other statements name it too.
        Comparison::Names if shared.share_place(one, other) && !pair.says_over => false,
        Comparison::Names => names_differ(one, other, pair, probability >= MIN_CERTAIN_PROBABILITY),
        Comparison::Values => {
            same_value(attribute, one, other) < MAX_SAME_VALUE || attribute.describes_thing && pair.numbers_differ
        }
    };
    // "Does not believe in God" and "left the church" deny the same thing.
    if attribute.name == "diet" && pair.both_deny && pair.same_name {
        return false;
    }
    if attribute.comparison == Comparison::Values && pair.both_deny && attribute.name != "diet" && !attribute.is_style {
        return false;
    }
    // Not drinking spirits does not contradict drinking wine.
    let only_negated =
        pair.is_negated && !pair.says_changed && !pair.numbers_differ && !pair.times_differ && !pair.opinions_differ;
    let is_other = attribute.is_consumed || pair.similarity < MAX_SIMILARITY_OF_OTHERS;
    if only_negated && is_other && shared.compare_closely(one, other).denies_something_else {
        return false;
    }
    // Disliking sake does not contradict liking wine.
    let is_opinion = pair.opinions_differ && !pair.says_over && attribute.is_consumed;
    if is_opinion && shared.compare_closely(one, other).denies_something_else {
        return false;
    }
    if WORK_ATTRIBUTES.contains(&attribute.name) && shared.are_about_other_parts_of_work(one, other) {
        return false;
    }
    // Two unlike statements about a diet may be about different foods.
    if attribute.name == "diet" && pair.similarity < MAX_SIMILARITY_OF_OTHERS && !pair.says_changed {
        return false;
    }
    // If the attribute is less certain, the words must say that something changed, and the sentences must share a rare
    // term or be similar.
    let min_if_changed = match attribute.comparison {
        Comparison::Numbers => MIN_SIMILARITY_IF_UNCERTAIN,
        Comparison::Values => MIN_SIMILARITY_IF_CHANGED,
        // For names, the sentences need not be similar, because two jobs may be described in quite different words.
        Comparison::Names => f32::NEG_INFINITY,
    };
    let is_certain = probability >= MIN_CERTAIN_PROBABILITY
        || pair.says_changed && (pair.same_thing || pair.same_name || pair.similarity >= min_if_changed);
    if !is_certain {
        return false;
    }
    let holds_for_good = attribute.holds_for_good && probability >= MIN_PROBABILITY_ALONE;
    values_differ && (pair.shows_difference() || pair.says_changed || holds_for_good)
}

fn names_differ(one: &Reading<'_>, other: &Reading<'_>, pair: &PairComparison, is_certain: bool) -> bool {
    let have_names = !one.plain_names.is_empty() && !other.plain_names.is_empty();
    let share_no_name = have_names && !one.plain_names.iter().any(|name| other.plain_names.contains(name));
    let max_similarity = if share_no_name { MAX_SIMILARITY_WITH_NAMES } else { MAX_SIMILARITY };
    // A statement that something is over repeats the old name, so a common name does not show that the statements
    // agree.
    (pair.similarity < max_similarity || pair.numbers_differ) && !pair.same_name || is_certain && pair.says_over
}

/// True if both statements are about the same thing, and the words of one say that the other is not true. The caller
/// must pass only statements that share a rare term.
fn words_contradict(one: &Reading<'_>, other: &Reading<'_>, pair: &PairComparison, shared: &SharedNames<'_>) -> bool {
    let both_can_hold = one.signs.is_addition
        || other.signs.is_addition
        || on_other_occasions(one, other, Occasions { places: true, parts_of_day: false, devices: false });
    let closer = shared.compare_closely(one, other);
    let at_least = |similarity: f32| pair.similarity >= similarity;
    // A single shared term may have two meanings. Two shared terms are better evidence that both statements are about
    // the same thing.
    let share_several_terms = closer.shared_terms >= 2;
    let same_person = pair.same_subject && pair.same_person;
    if pair.is_fulfilled
        && same_person
        && pair.same_thing
        && (share_several_terms || closer.overlap >= 0.5 || closer.has_first_thing && !pair.only_ongoing)
        && at_least(MIN_SIMILARITY_IF_FULFILLED)
    {
        return true;
    }
    let is_moved = pair.times_differ && pair.says_changed && share_several_terms;
    // Statements about the same person or thing with a name need no other term in common: "Gridly costs 9 francs" and
    // "Gridly costs 12 francs".
    let named_thing_differs = pair.same_named_person
        && (pair.says_over && at_least(0.55) || closer.numbers_of_one_unit_differ || pair.times_differ)
        || pair.times_differ && pair.same_name && at_least(0.55);
    if both_can_hold
        || !same_person
        || !(pair.same_thing || named_thing_differs)
        || pair.only_one_is_plan && !pair.says_over && !pair.times_differ
    {
        return false;
    }
    // "A guitar costs 3,200 euros" and "a lute costs 5,100 euros" say the same about two things.
    let are_parallel = pair.first_things_differ && at_least(MIN_SIMILARITY_OF_PARALLELS) || closer.are_distinguished;
    let numbers_differ = closer.numbers_of_one_unit_differ && (pair.says_changed || at_least(0.6))
        || pair.numbers_differ && pair.says_changed && share_several_terms;
    // "No emojis in letters" and "writes to Hana with emojis" are about different letters.
    let is_negated = pair.is_negated && closer.same_people && !one.marks.is_situational && !other.marks.is_situational;
    let same_main_thing = (share_several_terms
        || closer.overlap >= MIN_OVERLAP
        || closer.same_first_thing
        || closer.has_first_thing && at_least(0.5))
        && !closer.places_differ;
    // "Left the rowing club" and "does not row in winter" agree. Somebody who stopped playing may still watch.
    let says_over = pair.says_over && !pair.older_denies && !shared.one_is_onlooker(one, other);
    says_over
        && same_main_thing
        && (at_least(0.45)
            || (share_several_terms || closer.has_first_thing) && at_least(0.3)
            || closer.same_first_thing)
        || (pair.opinions_differ && at_least(0.35) || is_negated && at_least(0.5)) && !closer.denies_something_else
        || pair.numbers_differ
            && pair.same_thing
            && closer.overlap >= 0.5
            && at_least(0.5)
            && !pair.first_things_differ
            && !are_parallel
        || (numbers_differ || closer.levels_differ) && at_least(0.5) && !are_parallel
        || pair.times_differ && at_least(0.55) && !closer.are_distinguished
        || is_moved && at_least(0.4) && !closer.are_distinguished
        || pair.says_changed && (at_least(0.7) || share_several_terms && at_least(0.55)) && !closer.places_differ
}
