//! Computes the evidence for and against a contradiction of two statements, as numbers for a logistic regression.
use super::{
    attributes::{Attribute, Comparison, attribute, dot},
    reading::{CloserComparison, Occasions, PairComparison, Reading, SharedNames, on_other_occasions, same_value},
};

/// Reasons why both statements may be true that are only evidence against a contradiction. Every other reason excludes
/// a contradiction. In lives to which the weights were not fitted, most pairs with one of these reasons and a high
/// probability contradict each other, because the words that show these reasons often have another meaning.
const WEIGHED_COMPATIBILITY_REASONS: [&str; 6] =
    ["onlooker", "other_opening", "other_situation", "other_occasion", "denied_by_both", SAME_LISTED];
/// The reason that both statements contain the same listed value.
const SAME_LISTED: &str = "same_listed";

/// A number that is evidence, and its name. For a condition, the number is 1 (true) or 0 (false).
pub(super) type Feature = (&'static str, f32);

/// The number of sample rows that both statements are near to is divided by this, so that the feature is between 0 and
/// 1.
const MAX_SHARED_ROWS: f32 = 6.0;
/// If the similarity of the statements' vectors is above this, the difference is additional evidence.
const HIGH_SIMILARITY: f32 = 0.6;
/// If the similarity of the projected vectors is above this, the difference is additional evidence.
const HIGH_PROJECTED: f32 = 0.5;
/// Two statements say the same if their similarity is at least this and nothing in them differs.
const MIN_SIMILARITY_OF_SAME: f32 = 0.7;
/// Largest number of shared terms that counts. More shared terms count as this many.
const MAX_SHARED_TERMS: usize = 4;

/// The comparison of two statements, from which the features are computed.
pub(super) struct Evidence<'r, 'v> {
    older: &'r Reading<'v>,
    newer: &'r Reading<'v>,
    pair: PairComparison,
    /// Cosine of the projected vectors.
    projected_similarity: f32,
    closer: CloserComparison,
    topic: Topic,
    same_listed_value: bool,
    listed_values_differ: bool,
    other_occasions: bool,
    /// True if both statements have names, but no name in common.
    names_differ: bool,
    same_purpose: bool,
    one_has_grandchildren: bool,
    share_place: bool,
    share_concept: bool,
    one_onlooker: bool,
}

/// How probably two statements state the same attribute, according to their vectors.
struct Topic {
    /// The attribute that both statements most probably state.
    best: Option<&'static Attribute>,
    /// The geometric mean of the probabilities with which the two statements state `best`.
    probability: f32,
    /// The geometric mean of the probabilities with which the two statements state an attribute, summed over all
    /// attributes.
    all: f32,
    /// Like `all`, but for the rows of sample sentences that both statements are near to.
    rows: f32,
    shared_rows: usize,
}

impl Topic {
    fn new(one: &Reading<'_>, other: &Reading<'_>) -> Self {
        let mut topic = Self { best: None, probability: 0.0, all: 0.0, rows: 0.0, shared_rows: 0 };
        for stated in &one.stated {
            let Some(same) = other.stated.iter().find(|same| same.attribute == stated.attribute) else { continue };
            let both = (stated.probability * same.probability).sqrt();
            topic.all += both;
            if both > topic.probability {
                topic.probability = both;
                topic.best = attribute(stated.attribute);
            }
        }
        for (row, probability) in &one.rows {
            let Some((_, same)) = other.rows.iter().find(|(same, _)| same == row) else { continue };
            topic.shared_rows += 1;
            topic.rows += (probability * same).sqrt();
        }
        topic
    }

    /// The probability of the most probable attribute if `is_of_kind` is true for this attribute, otherwise 0.
    fn probability_if(&self, is_of_kind: impl Fn(&Attribute) -> bool) -> f32 {
        self.best.filter(|attribute| is_of_kind(attribute)).map_or(0.0, |_| self.probability)
    }
}

fn one_if(condition: bool) -> f32 {
    f32::from(u8::from(condition))
}

impl<'r, 'v> Evidence<'r, 'v> {
    /// Returns None if the statements are about different people, or if one of them is about the past. An exception is
    /// a newer statement about the past that shares a rare name or term with the older one.
    pub(super) fn new(one: &'r Reading<'v>, other: &'r Reading<'v>, shared: &SharedNames<'_>) -> Option<Self> {
        let pair = PairComparison::new(one, other, shared);
        let (older, newer) = if one.at > other.at { (other, one) } else { (one, other) };
        // A newer statement about the past contradicts an older one about the same thing: "used to smoke" contradicts
        // an earlier statement about smoking, but not a later one.
        let says_past = newer.marks.is_past && (older.at < newer.at) && (pair.same_name || pair.same_thing);
        if !pair.same_person || older.marks.is_past || newer.marks.is_past && !says_past {
            return None;
        }
        let (same_listed_value, listed_values_differ) = shared.compare_listed_values(one, other);
        let occasions = Occasions { places: true, parts_of_day: true, devices: true };
        Some(Self {
            older,
            newer,
            pair,
            projected_similarity: dot(&one.projected, &other.projected),
            closer: shared.compare_closely(one, other),
            topic: Topic::new(one, other),
            same_listed_value,
            listed_values_differ,
            other_occasions: on_other_occasions(one, other, occasions),
            names_differ: !one.plain_names.is_empty()
                && !other.plain_names.is_empty()
                && !one.plain_names.iter().any(|name| other.plain_names.contains(name)),
            same_purpose: shared.may_share_purpose(one, other),
            one_has_grandchildren: shared.one_has_grandchildren(one, other),
            share_place: shared.share_place(one, other),
            share_concept: shared.share_concept(one, other),
            one_onlooker: shared.one_is_onlooker(one, other),
        })
    }

    /// True if both statements can be true, whatever else is similar or different.
    pub(super) fn both_can_hold(&self) -> bool {
        self.compatibility_reasons()
            .into_iter()
            .any(|(name, applies)| applies && !WEIGHED_COMPATIBILITY_REASONS.contains(&name))
            || self.agree_on_date()
    }

    /// True if a reason why both statements may be true applies, but does not exclude a contradiction. The same listed
    /// value is no such reason, because only one of several values in a statement may be meant.
    pub(super) fn is_doubtful(&self) -> bool {
        self.compatibility_reasons()
            .into_iter()
            .any(|(name, applies)| applies && name != SAME_LISTED && WEIGHED_COMPATIBILITY_REASONS.contains(&name))
    }

    /// True if both statements name the same date and the same place or listed value, and nothing is over or denied:
    /// "starts at a firm in Lisbon on 13 April 2026" and "lives in Lisbon since April 2026" are about one move.
    fn agree_on_date(&self) -> bool {
        let (pair, closer) = (&self.pair, &self.closer);
        let differs = closer.numbers_of_one_unit_differ || self.listed_values_differ || closer.levels_differ;
        (self.share_place || self.same_listed_value)
            && self.older.amounts.dates_agree(&self.newer.amounts)
            && !(differs || pair.says_over || pair.is_negated || pair.opinions_differ || pair.is_fulfilled)
    }

    /// The possible reasons why both statements may be true: the name of each reason, and whether it applies.
    fn compatibility_reasons(&self) -> [(&'static str, bool); 13] {
        let (older, newer, pair) = (self.older, self.newer, &self.pair);
        let changes = pair.says_over || pair.says_changed;
        let has_situation = older.marks.is_situational || newer.marks.is_situational;
        let has_money = older.amounts.has_money() && newer.amounts.has_money();
        let is_style = self.topic.best.is_some_and(|attribute| attribute.is_style);
        let has_sign_of_difference =
            pair.shows_difference() || pair.says_changed || pair.is_fulfilled || self.closer.levels_differ;
        let anything_differs = has_sign_of_difference || self.listed_values_differ || self.names_differ;
        let people_are_values = self.topic.best.is_some_and(|attribute| attribute.names_people);
        let is_named = self.topic.best.is_some_and(|attribute| attribute.comparison == Comparison::Names);
        let says_ended = pair.says_over || pair.is_fulfilled;
        [
            ("addition", older.signs.is_addition || newer.signs.is_addition),
            ("onlooker", self.one_onlooker),
            ("grandchildren", self.one_has_grandchildren),
            ("other_purpose", has_money && !self.same_purpose),
            ("other_opening", pair.opening_subjects_differ && !people_are_values && !pair.same_named_person),
            // A wish for a situation does not contradict a wish for others: "short answers for recipes" says nothing
            // about other answers.
            (
                "other_situation",
                older.marks.is_situational != newer.marks.is_situational && (is_style || pair.is_negated)
                    || is_style && has_situation,
            ),
            ("other_occasion", self.other_occasions && !changes && !self.closer.numbers_of_one_unit_differ),
            ("opposites", self.closer.have_opposites && !pair.says_over),
            ("other_opinion", pair.opinions_differ && self.closer.denies_something_else && !changes),
            ("denied_by_both", pair.both_deny && !pair.numbers_differ),
            (SAME_LISTED, self.same_listed_value && !self.listed_values_differ && !changes),
            // Statements that name the same place say the same: "lives in Utrecht" and "has lived in Utrecht since
            // 2019".
            ("same_place", is_named && self.share_place && !says_ended),
            (
                "same_number",
                older.amounts.numbers_agree(&newer.amounts) && !changes && !pair.is_negated && !pair.is_fulfilled
                    || !anything_differs && pair.similarity >= MIN_SIMILARITY_OF_SAME,
            ),
        ]
    }

    /// True if the attribute that both statements most probably state never changes.
    pub(super) fn never_changes(&self) -> bool {
        self.topic.best.is_some_and(|attribute| attribute.never_changes)
    }

    /// Cosine of the statements' vectors.
    pub(super) fn similarity(&self) -> f32 {
        self.pair.similarity
    }

    /// Cosine of the projected vectors.
    pub(super) fn projected_similarity(&self) -> f32 {
        self.projected_similarity
    }

    /// All features, always in the same order.
    pub(super) fn features(&self) -> Vec<Feature> {
        let compatibility_reasons =
            self.compatibility_reasons().map(|(name, applies)| (name, one_if(applies))).to_vec();
        [
            self.vector_features(),
            self.value_features(),
            self.word_features(),
            self.thing_features(),
            self.combined_features(),
            compatibility_reasons,
        ]
        .concat()
    }

    /// Features from the vectors: how similar the statements are, and how probably they state the same attribute.
    fn vector_features(&self) -> Vec<Feature> {
        let (pair, topic, similarity) = (&self.pair, &self.topic, self.pair.similarity);
        let projected = self.projected_similarity;
        vec![
            ("likeness", similarity),
            ("likeness_across_languages", similarity * one_if(!pair.same_language)),
            ("high_likeness", (similarity - HIGH_SIMILARITY).max(0.0)),
            ("projected", projected),
            ("projected_across_languages", projected * one_if(!pair.same_language)),
            ("high_projected", (projected - HIGH_PROJECTED).max(0.0)),
            ("attribute", topic.probability),
            ("attributes", topic.all),
            ("row_probability", topic.rows),
            ("shared_rows", topic.shared_rows as f32 / MAX_SHARED_ROWS),
            ("attribute_of_things", topic.probability_if(|attribute| attribute.is_topic)),
            ("attribute_for_good", topic.probability_if(|attribute| attribute.holds_for_good)),
            ("attribute_describes_thing", topic.probability_if(|attribute| attribute.describes_thing)),
            ("attribute_of_style", topic.probability_if(|attribute| attribute.is_style)),
            ("attribute_of_drinks", topic.probability_if(|attribute| attribute.is_consumed)),
            ("attribute_of_device", topic.probability_if(|attribute| attribute.is_device)),
        ]
    }

    /// Features from the values: which numbers, times, names and listed values differ.
    fn value_features(&self) -> Vec<Feature> {
        let (older, newer, pair, topic) = (self.older, self.newer, &self.pair, &self.topic);
        let compared_by = |comparison: Comparison| {
            topic.probability_if(|attribute| attribute.comparison == comparison && !attribute.is_topic)
        };
        let by_number = compared_by(Comparison::Numbers);
        let by_name = compared_by(Comparison::Names);
        let by_value = compared_by(Comparison::Values);
        let difference_probability = topic.best.map_or(0.0, |attribute| 1.0 - same_value(attribute, older, newer));
        let differs_in_unit = topic.best.is_some_and(|attribute| {
            let measured = |reading: &Reading<'_>| reading.amounts.measured_in(attribute.units);
            attribute.units.is_empty() || measured(older).numbers_differ(&measured(newer))
        });
        vec![
            ("attribute_by_number", by_number),
            ("attribute_by_name", by_name),
            ("attribute_by_value", by_value),
            ("unlike_value", by_value * difference_probability),
            ("number_of_attribute_differs", by_number * one_if(pair.numbers_differ && differs_in_unit)),
            ("name_of_attribute_differs", by_name * one_if(self.names_differ)),
            ("numbers_differ", one_if(pair.numbers_differ)),
            ("numbers_of_one_unit_differ", one_if(self.closer.numbers_of_one_unit_differ)),
            ("one_has_numbers", one_if(older.amounts.numbers.is_empty() != newer.amounts.numbers.is_empty())),
            ("times_differ", one_if(pair.times_differ)),
            ("levels_differ", one_if(self.closer.levels_differ)),
            ("same_listed_value", one_if(self.same_listed_value)),
            ("listed_values_differ", one_if(self.listed_values_differ)),
            ("names_differ", one_if(self.names_differ)),
        ]
    }

    /// Features from words about time, change and attitude.
    fn word_features(&self) -> Vec<Feature> {
        let (older, newer, pair) = (self.older, self.newer, &self.pair);
        vec![
            ("over", one_if(pair.says_over)),
            ("changed", one_if(pair.says_changed)),
            ("newer_changed", one_if(newer.signs.says_changed)),
            ("older_changed", one_if(older.signs.says_changed)),
            ("newer_over", one_if(newer.signs.says_over)),
            ("older_over", one_if(older.signs.says_over)),
            ("negated", one_if(pair.is_negated)),
            ("older_negated", one_if(older.signs.is_negated)),
            ("newer_negated", one_if(newer.signs.is_negated)),
            ("opinion", one_if(pair.opinions_differ)),
            ("one_plan", one_if(pair.only_one_is_plan)),
            ("both_plan", one_if(newer.marks.is_plan && older.marks.is_plan)),
            ("fulfilled", one_if(pair.is_fulfilled)),
            ("both_deny", one_if(pair.both_deny)),
            ("adds", one_if(older.signs.is_addition || newer.signs.is_addition)),
            ("other_occasions", one_if(self.other_occasions)),
            ("one_situation", one_if(older.marks.is_situational != newer.marks.is_situational)),
            ("one_onlooker", one_if(self.one_onlooker)),
            ("same_language", one_if(pair.same_language)),
            ("newer_past", one_if(newer.marks.is_past)),
            ("both_dated", one_if(older.at.is_some() && newer.at.is_some() && older.at != newer.at)),
        ]
    }

    /// Features that show whether the words name the same things and people.
    fn thing_features(&self) -> Vec<Feature> {
        let pair = &self.pair;
        vec![
            ("same_name", one_if(pair.same_name)),
            ("same_thing", one_if(pair.same_thing)),
            ("shared_terms", self.closer.shared_terms.min(MAX_SHARED_TERMS) as f32),
            ("overlap", self.closer.overlap.min(1.0)),
            ("same_first_thing", one_if(self.closer.same_first_thing)),
            ("has_first_thing", one_if(self.closer.has_first_thing)),
            ("first_things_differ", one_if(pair.first_things_differ)),
            ("same_subject", one_if(pair.same_subject)),
            ("differing_subjects", one_if(pair.subjects_differ)),
            ("same_people", one_if(self.closer.same_people)),
            ("same_named_person", one_if(pair.same_named_person)),
            ("distinguished", one_if(self.closer.are_distinguished)),
            ("denies_something_else", one_if(self.closer.denies_something_else)),
            ("places_differ", one_if(self.closer.places_differ)),
            ("share_place", one_if(self.share_place)),
            ("share_concept", one_if(self.share_concept)),
        ]
    }

    /// Features that combine two kinds of evidence.
    fn combined_features(&self) -> Vec<Feature> {
        let (pair, topic, similarity) = (&self.pair, &self.topic, self.pair.similarity);
        let probability = topic.probability;
        let has_sign_of_difference =
            pair.shows_difference() || pair.says_changed || pair.is_fulfilled || self.closer.levels_differ;
        vec![
            ("likeness_numbers_of_unit", similarity * one_if(self.closer.numbers_of_one_unit_differ)),
            ("likeness_numbers", similarity * one_if(pair.numbers_differ)),
            ("likeness_over", similarity * one_if(pair.says_over)),
            ("likeness_changed", similarity * one_if(pair.says_changed)),
            ("likeness_times", similarity * one_if(pair.times_differ)),
            ("likeness_without_sign", similarity * one_if(!has_sign_of_difference)),
            ("projected_with_sign", self.projected_similarity * one_if(has_sign_of_difference)),
            ("projected_without_sign", self.projected_similarity * one_if(!has_sign_of_difference)),
            ("without_sign", one_if(!has_sign_of_difference)),
            ("overlap_with_sign", self.closer.overlap.min(1.0) * one_if(has_sign_of_difference)),
            ("attribute_changed", probability * one_if(pair.says_changed)),
            ("attribute_over", probability * one_if(pair.says_over)),
            ("attribute_negated", probability * one_if(pair.is_negated)),
            ("attribute_times", probability * one_if(pair.times_differ)),
            ("attribute_listed", probability * one_if(self.listed_values_differ)),
            ("attribute_fulfilled", probability * one_if(pair.is_fulfilled)),
            ("name_changed", one_if(pair.same_name && pair.says_changed)),
            ("name_over", one_if(pair.same_name && pair.says_over)),
            ("likeness_listed", similarity * one_if(self.listed_values_differ)),
            ("likeness_negated", similarity * one_if(pair.is_negated)),
            ("over_across_languages", one_if(pair.says_over && !pair.same_language)),
            ("changed_across_languages", one_if(pair.says_changed && !pair.same_language)),
        ]
    }
}
