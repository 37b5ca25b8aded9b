//! Recognises from the vector of a sentence which attribute of a person the sentence states, and which of the known
//! values of this attribute it gives. The weights are a linear discriminant that `examples/fit_claims.rs` fitted to the
//! sentences in `data/claims`. The discriminant has rows for the values of each attribute, and rows for sentences that
//! state no attribute.
use super::units::{MASS, MONEY, MONTHS_LONG, YEARS};
use crate::fitted::DIMENSIONS;
use std::sync::OnceLock;

/// Length of a row in bytes: the scale and the bias of the row as `f32`, little endian, then one signed byte for each
/// dimension.
const ROW_BYTES: usize = 8 + DIMENSIONS;
const STORED_WEIGHTS: &[u8] = include_bytes!("../../data/claims.bin");
/// Number of vectors that are multiplied by a row at the same time.
const BATCH: usize = 2;
/// Number of products that the processor can compute at the same time.
const LANES: usize = 16;
/// The attributes in the order of the rows, each with its number of rows.
const NAMES: &str = include_str!("../../data/claims.tsv");
/// An attribute is ignored if its probability is below this.
const MIN_PROBABILITY: f32 = 0.1;

/// Number of rows that are stored for a sentence: the most probable ones.
const NEAREST_ROWS: usize = 6;

/// How the values of an attribute are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// By the numbers in the values.
    Numbers,
    /// By the names in the values, and by how similar the sentences are.
    Names,
    /// By the probability of each value that the sample sentences contain.
    Values,
}

/// An attribute that can have only one value at a time.
#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: &'static str,
    pub(super) comparison: Comparison,
    /// True if the attribute describes a thing or another person, such as a child's age. Statements about two things
    /// may then give different values.
    pub(super) describes_thing: bool,
    /// True if the value says when or how often something takes place.
    pub(super) is_time: bool,
    /// True if the attribute never changes, so that one of two different values must be wrong.
    pub(super) never_changes: bool,
    /// True if a relative named in a statement is part of the value and not the subject of the statement.
    pub(super) names_people: bool,
    /// True if wishes and plans count as statements of the attribute.
    pub(super) includes_wishes: bool,
    /// True if the attribute rarely changes. Two different values of it contradict each other even if no word says that
    /// something changed.
    pub(super) holds_for_good: bool,
    /// True if the value is a device such as a phone or a car. A person may use several of the same kind on different
    /// occasions.
    pub(super) is_device: bool,
    /// True if the value is something that people drink or smoke. A statement about it may be limited to a part of the
    /// day.
    pub(super) is_consumed: bool,
    /// True if the attribute states how answers should be written.
    pub(super) is_style: bool,
    /// True if the attribute has a separate value for each of several things: a key and a passport may be kept in two
    /// places. Only the rule `evidence` uses such an attribute.
    pub(super) is_topic: bool,
    /// True if the attribute can have several values at once, or if the list entry is the one for "no attribute".
    is_excluded: bool,
    /// The classes of units in which the value is measured. Empty if every unit is possible.
    pub(super) units: &'static [usize],
    rows: usize,
}

/// An attribute that a sentence probably states.
#[derive(Debug, Clone)]
pub(super) struct StatedAttribute {
    /// Position in the list of attributes.
    pub(super) attribute: usize,
    pub(super) probability: f32,
    /// Probability of each value, given that the sentence states this attribute.
    values: Vec<f32>,
}

impl StatedAttribute {
    /// Probability that both sentences give the same value.
    pub(super) fn same_value(&self, other: &Self) -> f32 {
        self.values.iter().zip(&other.values).map(|(a, b)| a * b).sum()
    }
}

const COMPARED_BY_NUMBERS: [&str; 26] = [
    "age",
    "birth_year",
    "budget",
    "child_age",
    "children",
    "cholesterol",
    "height",
    "income_side",
    "lab_value",
    "members",
    "mortgage",
    "price",
    "record",
    "rent",
    "running",
    "salary",
    "saving_rate",
    "savings",
    "shoe_size",
    "siblings",
    "sleep",
    "subscribers",
    "team",
    "thermostat",
    "wake_up",
    "weight",
];
const COMPARED_BY_NAMES: [&str; 20] = [
    "address",
    "bank",
    "birthday",
    "birthplace",
    "boss",
    "car",
    "email",
    "employer",
    "favourite_author",
    "favourite_band",
    "favourite_book",
    "favourite_city",
    "favourite_film",
    "insurance",
    "job",
    "lives_in",
    "name",
    "partner",
    "phone_number",
    "team_fan",
];
/// Attributes whose value is measured in units of certain classes. A number with another unit is not a value of the
/// attribute: "35 students" is not an age.
const UNITS_OF_ATTRIBUTES: [(&[&str], &[usize]); 3] = [
    (&["age", "child_age"], &[YEARS, MONTHS_LONG]),
    (&["income_side", "mortgage", "rent", "salary", "savings"], &[MONEY]),
    (&["weight"], &[MASS]),
];
const ATTRIBUTES_OF_THINGS: [&str; 24] = [
    "budget",
    "child_age",
    "child_school",
    "club",
    "income_side",
    "instrument",
    "lab_value",
    "level",
    "lock",
    "medicine",
    "members",
    "pet",
    "plan_exam",
    "plan_exhibition",
    "plan_party",
    "plan_release",
    "plan_trip",
    "plan_wedding",
    "price",
    "progress",
    "record",
    "schedule",
    "studies",
    "subscribers",
];
const TIME_ATTRIBUTES: [&str; 8] =
    ["birthday", "plan_exam", "plan_exhibition", "plan_party", "plan_release", "plan_trip", "plan_wedding", "schedule"];
const UNCHANGING_ATTRIBUTES: [&str; 14] = [
    "allergies",
    "allergy_*",
    "birth_year",
    "birthday",
    "birthplace",
    "blood_type",
    "diagnosis_*",
    "eyes",
    "handed",
    "nationality",
    "native",
    "orientation",
    "siblings",
    "taste_*",
];
const PEOPLE_ATTRIBUTES: [&str; 12] = [
    "boss",
    "child_age",
    "child_school",
    "children",
    "household",
    "partner",
    "pet",
    "pets",
    "position",
    "pregnancy",
    "relationship",
    "team",
];
const ATTRIBUTES_WITH_WISHES: [&str; 7] = ["name", "plan_*", "style_*", "theme", "treatment", "taste_*", "view_*"];
const LASTING_ATTRIBUTES: [&str; 10] =
    ["diet", "handed", "nationality", "native", "orientation", "party", "religion", "style_*", "taste_*", "view_*"];
const CONSUMPTION_ATTRIBUTES: [&str; 6] = ["alcohol", "coffee", "hot_drink", "smoking", "sugar", "tea"];
/// Prefix of the names of attributes for which `is_topic` is true.
const TOPIC_PREFIX: char = '@';
const DEVICE_ATTRIBUTES: [&str; 8] =
    ["bike", "browser", "car", "computer", "editor", "language_main", "notes_app", "phone"];

/// True if the list contains the name. An entry that ends with `*` matches every name that begins with the text before
/// the `*`.
fn contains(list: &[&str], name: &str) -> bool {
    list.iter().any(|entry| entry.strip_suffix('*').map_or(*entry == name, |start| name.starts_with(start)))
}

impl Attribute {
    fn new(name: &'static str, rows: usize) -> Self {
        let comparison = match name {
            _ if contains(&COMPARED_BY_NUMBERS, name) => Comparison::Numbers,
            _ if contains(&COMPARED_BY_NAMES, name) => Comparison::Names,
            _ => Comparison::Values,
        };
        Self {
            name,
            comparison,
            describes_thing: contains(&ATTRIBUTES_OF_THINGS, name),
            is_time: contains(&TIME_ATTRIBUTES, name),
            never_changes: contains(&UNCHANGING_ATTRIBUTES, name),
            names_people: contains(&PEOPLE_ATTRIBUTES, name),
            includes_wishes: contains(&ATTRIBUTES_WITH_WISHES, name),
            holds_for_good: contains(&LASTING_ATTRIBUTES, name) || comparison == Comparison::Names,
            is_device: contains(&DEVICE_ATTRIBUTES, name),
            is_consumed: contains(&CONSUMPTION_ATTRIBUTES, name),
            is_style: name.starts_with("style_"),
            is_topic: name.starts_with(TOPIC_PREFIX),
            is_excluded: name.starts_with('*'),
            units: UNITS_OF_ATTRIBUTES.iter().find(|(names, _)| names.contains(&name)).map_or(&[], |(_, units)| units),
            rows,
        }
    }
}

/// True if a single row of weights covers all values of the attribute, because the values are compared by numbers or
/// names instead. Used by `examples/fit_claims.rs`.
#[doc(hidden)]
pub fn pools_values(attribute: &str) -> bool {
    attribute.starts_with(TOPIC_PREFIX)
        || contains(&COMPARED_BY_NUMBERS, attribute)
        || contains(&COMPARED_BY_NAMES, attribute)
}

struct Weights {
    attributes: Vec<Attribute>,
    /// The weights of all rows, one row after another.
    numbers: Vec<f32>,
    biases: Vec<f32>,
}

fn weights() -> &'static Weights {
    static WEIGHTS: OnceLock<Weights> = OnceLock::new();
    WEIGHTS.get_or_init(|| {
        let attribute = |line: &'static str| {
            let (name, rows) = line.split_once('\t')?;
            Some(Attribute::new(name, rows.parse().ok()?))
        };
        let (mut numbers, mut biases) = (Vec::new(), Vec::new());
        for row in STORED_WEIGHTS.as_chunks::<ROW_BYTES>().0 {
            let ([a, b, c, d, e, f, g, h], stored) = row.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
            let scale = f32::from_le_bytes([*a, *b, *c, *d]);
            biases.push(f32::from_le_bytes([*e, *f, *g, *h]));
            numbers.extend(stored.iter().map(|n| f32::from(n.cast_signed()) * scale));
        }
        Weights { attributes: NAMES.lines().filter_map(attribute).collect(), numbers, biases }
    })
}

pub(super) fn attribute(position: usize) -> Option<&'static Attribute> {
    weights().attributes.get(position)
}

/// The attributes that a sentence probably states, according to the weights.
#[derive(Debug, Clone, Default)]
pub(super) struct SentenceAttributes {
    /// The attributes that the sentence probably states, without those that can have several values at once.
    pub(super) attributes: Vec<StatedAttribute>,
    /// The most probable rows among those of all attributes, each with its probability, in descending order of
    /// probability.
    pub(super) rows: Vec<(usize, f32)>,
}

/// Returns the attributes of each sentence, given by its vector, according to the weights. A vector of the wrong length
/// has no attributes.
pub(super) fn stated_attributes(vectors: &[&[f32]]) -> Vec<SentenceAttributes> {
    let weights = weights();
    let mut out = Vec::with_capacity(vectors.len());
    for batch in vectors.chunks(BATCH) {
        let zero = [0f32; DIMENSIONS];
        let vector = |n: usize| batch.get(n).and_then(|vector| vector.first_chunk()).unwrap_or(&zero);
        let batch_vectors: [&[f32; DIMENSIONS]; BATCH] = std::array::from_fn(vector);
        let rows = weights.numbers.as_chunks::<DIMENSIONS>().0;
        let scores: Vec<[f32; BATCH]> = rows.iter().map(|row| dots(row, batch_vectors)).collect();
        for (n, vector) in batch.iter().enumerate() {
            let row_scores = scores.iter().zip(&weights.biases);
            let row_scores = row_scores.map(|(scores, bias)| scores.get(n).copied().unwrap_or_default() + bias);
            out.push(if vector.len() == DIMENSIONS {
                probable_attributes(row_scores.collect())
            } else {
                SentenceAttributes::default()
            });
        }
    }
    out
}

/// Converts the scores of all rows to probabilities. Returns the probable attributes and the most probable rows.
fn probable_attributes(mut scores: Vec<f32>) -> SentenceAttributes {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
    let total: f32 = scores.iter().sum();
    let rows = best_rows(&scores).into_iter().map(|(row, score)| (row, score / total)).collect();
    let mut out = Vec::new();
    let mut rest = scores.as_slice();
    for (position, attribute) in weights().attributes.iter().enumerate() {
        let (values, after) = rest.split_at(attribute.rows.min(rest.len()));
        rest = after;
        let sum: f32 = values.iter().sum();
        let probability = sum / total;
        if !attribute.is_excluded && probability >= MIN_PROBABILITY {
            let values = values.iter().map(|value| value / sum).collect();
            out.push(StatedAttribute { attribute: position, probability, values });
        }
    }
    SentenceAttributes { attributes: out, rows }
}

/// The rows with the highest scores, in descending order.
fn best_rows(scores: &[f32]) -> Vec<(usize, f32)> {
    let mut best: Vec<(usize, f32)> = Vec::with_capacity(NEAREST_ROWS + 1);
    for (row, score) in scores.iter().copied().enumerate() {
        if best.len() < NEAREST_ROWS || best.last().is_some_and(|(_, last)| score > *last) {
            let at = best.partition_point(|(_, other)| *other >= score);
            best.insert(at, (row, score));
            best.truncate(NEAREST_ROWS);
        }
    }
    best
}

/// The dot products of a row with several vectors. The row is loaded once for all vectors, because loading takes longer
/// than multiplying.
fn dots(row: &[f32; DIMENSIONS], vectors: [&[f32; DIMENSIONS]; BATCH]) -> [f32; BATCH] {
    let [first, second] = vectors.map(|vector| vector.as_chunks::<LANES>().0);
    let (mut one, mut other) = ([0f32; LANES], [0f32; LANES]);
    for ((row, first), second) in row.as_chunks::<LANES>().0.iter().zip(first).zip(second) {
        for n in 0..LANES {
            one[n] += row[n] * first[n];
            other[n] += row[n] * second[n];
        }
    }
    [one.iter().sum(), other.iter().sum()]
}

/// The dot product. It is summed in eight accumulators, so that the compiler can vectorise the loop.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_name_attributes_that_exist_and_all_rows_are_there() {
        let names: Vec<&str> = weights().attributes.iter().map(|attribute| attribute.name).collect();
        let lists: [&[&str]; 9] = [
            &CONSUMPTION_ATTRIBUTES,
            &COMPARED_BY_NUMBERS,
            &COMPARED_BY_NAMES,
            &ATTRIBUTES_OF_THINGS,
            &TIME_ATTRIBUTES,
            &UNCHANGING_ATTRIBUTES,
            &PEOPLE_ATTRIBUTES,
            &DEVICE_ATTRIBUTES,
            &LASTING_ATTRIBUTES,
        ];
        for entry in lists.into_iter().chain([ATTRIBUTES_WITH_WISHES.as_slice()]).flatten() {
            assert!(names.iter().any(|name| contains(&[entry], name)), "{entry}");
        }
        let rows: usize = weights().attributes.iter().map(|attribute| attribute.rows).sum();
        assert_eq!(rows, weights().biases.len());
        assert_eq!(STORED_WEIGHTS.len(), rows * ROW_BYTES);
    }
}
