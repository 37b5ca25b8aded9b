//! Finds different values of the same thing, in any words and languages, by the vectors of a sentence encoder.
//!
//! There are two ways in which two statements become a pair:
//! - By their vectors, both state the same attribute, and their values differ. The values differ in numbers, times or
//!   names, or it is improbable that both state the same value.
//! - They are similar and share a rare term. The words of one say that something is over or is not so, or give another
//!   number or date.
use super::{
    Prepared,
    attributes::{Attribute, Comparison, attribute, dot, stated_attributes},
    evidence,
    persons::Persons,
    reading::{Occasions, PairComparison, Reading, SharedNames, on_other_occasions, same_value},
    terms::Rarity,
};
use crate::fitted::DIMENSIONS;
use std::collections::{BTreeMap, HashSet};

/// Statements of more characters than this are not compared, because a longer text states more than one thing.
const MAX_CHARS: usize = 300;
/// Largest number of statements of one attribute that are compared with each other. The newest are used.
const MAX_GROUP: usize = 200;
/// Least probability that two statements state the same attribute, if their words also show a difference. It is
/// compared with the geometric mean of the probabilities in the two statements.
const MIN_ATTRIBUTE: f32 = 0.35;
/// Least probability of the attribute in each of the two statements.
const MIN_ATTRIBUTE_OF_EACH: f32 = 0.2;
/// An attribute that is less probable than this needs more evidence.
const MIN_ATTRIBUTE_CERTAIN: f32 = 0.5;
/// How similar two statements must be if their attribute is not certain and they share no rare term.
const MIN_SIMILARITY_IF_UNCERTAIN: f32 = 0.6;
/// Least similarity of two statements whose attribute is compared by values, if a word says that something changed.
const MIN_SIMILARITY_IF_CHANGED: f32 = 0.33;
/// Least probability that two statements state the same attribute, if no words show a difference.
const MIN_ATTRIBUTE_ALONE: f32 = 0.5;
/// Two sentences count as naming different things only if they are less similar than this.
const MAX_SIMILARITY: f32 = 0.45;
/// Like `MAX_SIMILARITY`, for two sentences that both have names, but none in common. It is higher, because the other
/// words of such sentences may be the same.
const MAX_SIMILARITY_WITH_NAMES: f32 = 0.9;
/// A sentence that denies one thing and a sentence that names another are less similar than this.
const MAX_SIMILARITY_OF_OTHERS: f32 = 0.3;
/// Sentences that begin with different things, but are at least as similar as this, say the same about both things.
const MIN_SIMILARITY_OF_PARALLELS: f32 = 0.6;
/// Sentences are about the same thing if they are at least as similar as this, or share a rare name.
const MIN_SAME_THING: f32 = 0.4;
/// Like `MIN_SAME_THING`, for two statements in the same language. Such statements share a word if they are about the
/// same thing.
const MIN_SAME_THING_IN_ONE_LANGUAGE: f32 = 0.6;
/// A statement that something is over contradicts one in another language only if the two are at least this similar.
const MIN_SIMILARITY_IN_OTHER_LANGUAGE: f32 = 0.6;
/// Largest number of comparisons with statements in other languages.
const MAX_COMPARISONS: usize = 2_000_000;
/// Statements that share a rare term are not compared if they are less similar than this.
const MIN_SIMILARITY: f32 = 0.1;
/// Lowest similarity of a statement that something is expected and a statement that it has happened.
const MIN_SIMILARITY_IF_FULFILLED: f32 = 0.35;
/// If one statement ends another and they share only one thing, this thing must make up at least this share of the
/// terms of the shorter statement.
const MIN_OVERLAP: f32 = 0.34;
/// Two values count as different only if the probability that they are the same is below this.
const MAX_SAME_VALUE: f32 = 0.4;

/// Attributes whose value is somebody with a name.
const PERSON_NAME_ATTRIBUTES: [&str; 5] = ["boss", "partner", "pet", "pets", "relationship"];

/// Attributes of work. Statements about shifts or the way to work resemble statements of these attributes.
const WORK_ATTRIBUTES: [&str; 3] = ["employer", "hours", "job"];

/// Attributes of what somebody has. If a statement begins with a neighbour or a sister, the value is theirs and not the
/// owner's.
const BELONGINGS: [&str; 4] = ["children", "pet", "pets", "team"];

/// Calls `add` for each pair of statements that contradict each other. Returns the pairs that are so improbable that
/// the rules must not suggest them, as positions of the statements.
pub(super) fn find(
    prepared: &[Prepared<'_>],
    vectors: &[Vec<f32>],
    rare: &Rarity,
    persons: &Persons,
    add: &mut impl FnMut(usize, usize, f32, bool),
) -> Vec<(usize, usize)> {
    let readings = read(prepared, vectors, persons);
    let shared = SharedNames::new(prepared, &readings, rare);
    let mut groups: BTreeMap<usize, Vec<&Reading<'_>>> = BTreeMap::new();
    // A statement about the past is used only as evidence that something is over.
    let of_today: Vec<&Reading<'_>> = readings.iter().filter(|reading| !reading.marks.is_past).collect();
    for reading in of_today.iter().copied() {
        reading.stated.iter().for_each(|stated| groups.entry(stated.attribute).or_default().push(reading));
    }
    for (position, mut members) in groups {
        let Some(attribute) = attribute(position).filter(|attribute| !attribute.is_topic) else { continue };
        in_pairs(&mut members, |one, other| {
            if let Some(probability) = probability(position, one, other)
                && differ_in(attribute, probability, one, other, &PairComparison::new(one, other, &shared), &shared)
            {
                add(one.statement, other.statement, 0.55 + 0.4 * probability, !attribute.never_changes);
            }
        });
    }
    let by_statement: BTreeMap<usize, &Reading<'_>> =
        of_today.iter().map(|reading| (reading.statement, *reading)).collect();
    find_ended_in_other_language(&of_today, &shared, add);
    // Two statements that share several rare terms are in several groups, but are compared once.
    let mut compared_pairs: HashSet<(usize, usize)> = HashSet::new();
    for members in rare.groups(prepared).into_values() {
        let mut members: Vec<&Reading<'_>> = members.iter().filter_map(|n| by_statement.get(n).copied()).collect();
        in_pairs(&mut members, |one, other| {
            let pair = (one.statement.min(other.statement), one.statement.max(other.statement));
            if !compared_pairs.insert(pair) || dot(one.vector, other.vector) < MIN_SIMILARITY {
                return;
            }
            let compared = PairComparison::new(one, other, &shared);
            if words_contradict(one, other, &compared, &shared) {
                add(
                    one.statement,
                    other.statement,
                    0.5 + 0.4 * compared.similarity,
                    compared.says_changed || compared.says_over,
                );
            }
        });
    }
    evidence::find(&readings, &shared, add)
}

/// The statements with a vector that are short enough. Those about the past are left out, unless they say that
/// something is over.
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

/// Adds pairs of statements in different languages. Such statements share no words, so the newer one must say that
/// something is over and be very similar to the older one.
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
            let both_hold =
                on_other_occasions(older, newer, Occasions { places: true, parts_of_day: false, devices: false });
            let closer = shared.compare_closely(older, newer);
            if pair.same_subject && pair.same_person && !both_hold && !newer.signs.is_addition && !closer.places_differ
            {
                add(older.statement, newer.statement, 0.3 + 0.5 * pair.similarity, true);
            }
        }
    }
}

/// Calls `compare` for every pair of the newest members.
fn in_pairs<'r>(members: &mut Vec<&'r Reading<'r>>, mut compare: impl FnMut(&Reading<'r>, &Reading<'r>)) {
    members.sort_by_key(|reading| std::cmp::Reverse(reading.at));
    members.truncate(MAX_GROUP);
    for (i, one) in members.iter().enumerate() {
        members.iter().skip(i + 1).for_each(|other| compare(one, other));
    }
}

/// Probability that both statements state this attribute. None if it is too low, or if both more probably state another
/// attribute.
fn probability(position: usize, one: &Reading<'_>, other: &Reading<'_>) -> Option<f32> {
    let probability_in = |reading: &Reading<'_>, wanted: usize| {
        reading.stated.iter().find(|stated| stated.attribute == wanted).map_or(0.0, |stated| stated.probability)
    };
    let probability_in_both = |wanted: usize| probability_in(one, wanted) * probability_in(other, wanted);
    let squared = probability_in_both(position);
    let best = one.stated.iter().all(|stated| probability_in_both(stated.attribute) <= squared);
    let probability = squared.sqrt();
    let clear = probability_in(one, position).min(probability_in(other, position)) >= MIN_ATTRIBUTE_OF_EACH;
    (best && clear && probability >= MIN_ATTRIBUTE).then_some(probability)
}

/// True if both state the attribute of the same subject with different values.
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
    // "Answers in the field should be short" does not contradict a statement about other answers.
    let limited = attribute.is_style
        && attribute.name != "style_code"
        && (one.marks.is_situational || other.marks.is_situational);
    let both_hold =
        one.signs.is_addition || other.signs.is_addition || on_other_occasions(one, other, occasions) || limited;
    // "Son, 8" and "daughter, 11" are about two children and do not contradict each other.
    let two_people = (attribute.describes_thing || shared.one_has_grandchildren(one, other)) && pair.subjects_differ;
    let is_same_subject = pair.same_subject || attribute.names_people && !two_people;
    let min_similarity = if pair.same_language { MIN_SAME_THING_IN_ONE_LANGUAGE } else { MIN_SAME_THING };
    let parallel = pair.first_things_differ && pair.similarity >= MIN_SIMILARITY_OF_PARALLELS;
    let is_same_thing =
        !attribute.describes_thing || (pair.similarity >= min_similarity || pair.same_name) && !parallel;
    // The name of a partner, boss or pet may open a statement about the person's own life.
    let is_same_person = pair.same_person || one.may_name(other) && PERSON_NAME_ATTRIBUTES.contains(&attribute.name);
    if both_hold
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
    // "Vegetarian since August" and "vegetarian, undecided about fish" give the same listed value.
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
    // What another person owns does not contradict what this person owns, as in "Her neighbour has four cats".
    if BELONGINGS.contains(&attribute.name) && shared.one_opens_with_third_party(one, other) {
        return false;
    }
    // Liking wine does not exclude liking sake.
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
        // Statements that name the same place agree, whether or not other statements name it too.
        Comparison::Names if shared.share_place(one, other) && !pair.says_over => false,
        Comparison::Names => names_differ(one, other, pair, probability >= MIN_ATTRIBUTE_CERTAIN),
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
    // A statement about a diet that names none may be about any food.
    if attribute.name == "diet" && pair.similarity < MAX_SIMILARITY_OF_OTHERS && !pair.says_changed {
        return false;
    }
    // If the attribute is less certain, the words must say that something changed, and the sentences must be similar.
    let min_if_changed = match attribute.comparison {
        Comparison::Numbers => MIN_SIMILARITY_IF_UNCERTAIN,
        Comparison::Values => MIN_SIMILARITY_IF_CHANGED,
        // For names, the sentences need not be similar, because two jobs may be described in quite different words.
        Comparison::Names => f32::NEG_INFINITY,
    };
    let certain = probability >= MIN_ATTRIBUTE_CERTAIN
        || pair.says_changed && (pair.same_thing || pair.same_name || pair.similarity >= min_if_changed);
    if !certain {
        return false;
    }
    let holds_for_good = attribute.holds_for_good && probability >= MIN_ATTRIBUTE_ALONE;
    values_differ && (pair.shows_difference() || pair.says_changed || holds_for_good)
}

fn names_differ(one: &Reading<'_>, other: &Reading<'_>, pair: &PairComparison, is_certain: bool) -> bool {
    let have_names = !one.plain_names.is_empty() && !other.plain_names.is_empty();
    let share_no_name = have_names && !one.plain_names.iter().any(|name| other.plain_names.contains(name));
    let limit = if share_no_name { MAX_SIMILARITY_WITH_NAMES } else { MAX_SIMILARITY };
    // A statement that something is over repeats the old name, so the same name does not mean agreement.
    (pair.similarity < limit || pair.numbers_differ) && !pair.same_name || is_certain && pair.says_over
}

/// True if both statements are about the same thing, and the words of one say that the other is not true. The caller
/// passes only statements that share a rare term.
fn words_contradict(one: &Reading<'_>, other: &Reading<'_>, pair: &PairComparison, shared: &SharedNames<'_>) -> bool {
    let both_hold = one.signs.is_addition
        || other.signs.is_addition
        || on_other_occasions(one, other, Occasions { places: true, parts_of_day: false, devices: false });
    let closer = shared.compare_closely(one, other);
    let at_least = |similarity: f32| pair.similarity >= similarity;
    // A single shared word may be used in two meanings. Two shared words are better evidence that both statements are
    // about the same thing.
    let several = closer.shared_terms >= 2;
    let same_person = pair.same_subject && pair.same_person;
    if pair.is_fulfilled
        && same_person
        && pair.same_thing
        && (several || closer.overlap >= 0.5 || closer.has_first_thing && !pair.only_ongoing)
        && at_least(MIN_SIMILARITY_IF_FULFILLED)
    {
        return true;
    }
    let moved = pair.times_differ && pair.says_changed && several;
    // "Gridly costs 9 francs" and "Gridly costs 12 francs" are about a thing with a name.
    let named = pair.same_named_person
        && (pair.says_over && at_least(0.55) || closer.numbers_of_one_unit_differ || pair.times_differ)
        || pair.times_differ && pair.same_name && at_least(0.55);
    if both_hold
        || !same_person
        || !(pair.same_thing || named)
        || pair.only_one_is_plan && !pair.says_over && !pair.times_differ
    {
        return false;
    }
    // "A guitar costs 3,200 euros" and "a lute costs 5,100 euros" say the same about two things.
    let parallel = pair.first_things_differ && at_least(MIN_SIMILARITY_OF_PARALLELS) || closer.are_distinguished;
    let numbers_differ = closer.numbers_of_one_unit_differ && (pair.says_changed || at_least(0.6))
        || pair.numbers_differ && pair.says_changed && several;
    // "No emojis in letters" and "writes to Hana with emojis" are about different letters.
    let is_negated = pair.is_negated && closer.same_people && !one.marks.is_situational && !other.marks.is_situational;
    let same_main_thing = (several
        || closer.overlap >= MIN_OVERLAP
        || closer.same_first_thing
        || closer.has_first_thing && at_least(0.5))
        && !closer.places_differ;
    // "Left the rowing club" and "does not row in winter" agree. Somebody who stopped playing may still watch.
    let says_over = pair.says_over && !pair.older_denies && !shared.one_is_onlooker(one, other);
    says_over
        && same_main_thing
        && (at_least(0.45) || (several || closer.has_first_thing) && at_least(0.3) || closer.same_first_thing)
        || (pair.opinions_differ && at_least(0.35) || is_negated && at_least(0.5)) && !closer.denies_something_else
        || pair.numbers_differ
            && pair.same_thing
            && closer.overlap >= 0.5
            && at_least(0.5)
            && !pair.first_things_differ
            && !parallel
        || (numbers_differ || closer.levels_differ) && at_least(0.5) && !parallel
        || pair.times_differ && at_least(0.55) && !closer.are_distinguished
        || moved && at_least(0.4) && !closer.are_distinguished
        || pair.says_changed && (at_least(0.7) || several && at_least(0.55)) && !closer.places_differ
}
