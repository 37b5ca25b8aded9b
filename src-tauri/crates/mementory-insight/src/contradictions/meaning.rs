//! Two values of one attribute, whatever the words and the language: the attribute by the vector of a sentence encoder,
//! the difference of the values by numbers, times, names, or by how probable it is that both state the same value.
use super::{
    Prepared,
    amounts::{Amounts, amounts},
    attributes::{Attribute, Comparison, Stated, attribute, dot, stated},
    spelling::{names, plain_names},
    terms::Rarity,
};
use crate::{
    patterns::WordSet,
    subject::subject,
    word_lists::OCCASIONS,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// A longer text states more than one thing.
const MAX_CHARS: usize = 300;
/// Statements of an attribute that are compared with each other; the newest are.
const MAX_GROUP: usize = 200;
/// Root of the product of both probabilities of the attribute.
const MIN_ATTRIBUTE: f32 = 0.35;
/// Sentences with different names are less alike than this.
const MAX_LIKENESS: f32 = 0.45;
/// Sentences of one language whose names differ may be more alike, because the rest of their words is the same.
const MAX_LIKENESS_WITH_NAMES: f32 = 0.9;
/// Sentences about the same thing are as alike as this, or share a rare name.
const MIN_SAME_THING: f32 = 0.4;
/// Probability of the same value from which on two values are not called different.
const MAX_SAME_VALUE: f32 = 0.4;
/// The first relations of the list (mother, father, parents, wife, husband, partner) are one person each.
const ONE_PERSON: usize = 6;

/// What is read from a statement for this rule.
struct Reading<'v> {
    statement: usize,
    vector: &'v [f32],
    stated: Vec<Stated>,
    amounts: Amounts,
    /// In a form for all scripts.
    names: Vec<String>,
    plain_names: Vec<String>,
    subject: Option<usize>,
    occasions: Vec<usize>,
}

pub(super) fn find(
    prepared: &[Prepared<'_>],
    vectors: &[Vec<f32>],
    rare: &Rarity,
    add: &mut impl FnMut(usize, usize, f32, bool),
) {
    let readings: Vec<Reading<'_>> = prepared
        .iter()
        .zip(vectors)
        .enumerate()
        .filter(|(_, (statement, _))| !statement.marks.past && statement.folded.text.chars().count() <= MAX_CHARS)
        .map(|(n, (statement, vector))| read(n, statement, vector))
        .filter(|reading| !reading.stated.is_empty())
        .collect();
    let shared = SharedNames::new(prepared, &readings, rare);
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (n, reading) in readings.iter().enumerate() {
        reading.stated.iter().for_each(|stated| groups.entry(stated.attribute).or_default().push(n));
    }
    for (position, mut members) in groups {
        let Some(attribute) = attribute(position) else { continue };
        members.sort_by_key(|n| std::cmp::Reverse(readings.get(*n).and_then(|r| prepared.get(r.statement)?.at)));
        members.truncate(MAX_GROUP);
        for (i, a) in members.iter().enumerate() {
            for b in members.iter().skip(i + 1) {
                let (Some(one), Some(other)) = (readings.get(*a), readings.get(*b)) else { continue };
                if let Some(probability) = probability(position, one, other)
                    && differ(attribute, one, other, &shared, prepared)
                {
                    add(one.statement, other.statement, 0.55 + 0.4 * probability, !attribute.fixed);
                }
            }
        }
    }
}

fn read<'v>(statement: usize, prepared: &Prepared<'_>, vector: &'v [f32]) -> Reading<'v> {
    let stated = stated(vector);
    let folded = &prepared.folded;
    if stated.is_empty() {
        // Nothing else is needed.
        let (names, plain_names, occasions) = (Vec::new(), Vec::new(), Vec::new());
        return Reading { statement, vector, stated, amounts: Amounts::default(), names, plain_names, subject: None, occasions };
    }
    Reading {
        statement,
        vector,
        stated,
        amounts: amounts(&folded.text),
        names: names(folded),
        plain_names: plain_names(folded),
        subject: subject(&folded.text, folded.text.len()),
        occasions: occasions().hits(&folded.text).iter().map(|hit| *hit.value).collect(),
    }
}

/// How probable it is that both state this attribute, if they share no other that is more probable.
fn probability(position: usize, one: &Reading<'_>, other: &Reading<'_>) -> Option<f32> {
    let of = |reading: &Reading<'_>, wanted: usize| {
        reading.stated.iter().find(|stated| stated.attribute == wanted).map_or(0.0, |stated| stated.probability)
    };
    let both = |wanted: usize| of(one, wanted) * of(other, wanted);
    let here = both(position);
    let best = one.stated.iter().all(|stated| both(stated.attribute) <= here);
    let probability = here.sqrt();
    (best && probability >= MIN_ATTRIBUTE).then_some(probability)
}

/// True if both are about the same subject and give different values.
fn differ(
    attribute: &Attribute,
    one: &Reading<'_>,
    other: &Reading<'_>,
    shared: &SharedNames<'_>,
    prepared: &[Prepared<'_>],
) -> bool {
    let plan = |reading: &Reading<'_>| prepared.get(reading.statement).is_some_and(|statement| statement.marks.plan);
    if !attribute.wished && plan(one) != plan(other) || limited(attribute, one) != limited(attribute, other) {
        return false;
    }
    let likeness = dot(one.vector, other.vector);
    let same_name = shared.any(one, other);
    if !attribute.names_people {
        let one_person = one.subject.is_none_or(|relation| relation < ONE_PERSON);
        if one.subject != other.subject || !one_person && !same_name {
            return false;
        }
    }
    if attribute.of_thing && likeness < MIN_SAME_THING && !same_name {
        return false;
    }
    let (a, b) = (&one.amounts, &other.amounts);
    if attribute.in_time && a.other_times(b) {
        return true;
    }
    let same_value = || {
        let find = |reading: &Reading<'_>| reading.stated.iter().find(|s| is(s, attribute)).cloned();
        find(one).zip(find(other)).map_or(1.0, |(one, other)| one.same_value(&other))
    };
    match attribute.comparison {
        Comparison::Numbers => a.other_numbers(b) || same_value() < MAX_SAME_VALUE / 2.0,
        Comparison::Names => {
            let named = !one.plain_names.is_empty() && !other.plain_names.is_empty();
            let names_differ = named && !one.plain_names.iter().any(|name| other.plain_names.contains(name));
            let limit = if names_differ { MAX_LIKENESS_WITH_NAMES } else { MAX_LIKENESS };
            (likeness < limit || a.other_numbers(b)) && !same_name
        }
        Comparison::Values => same_value() < MAX_SAME_VALUE || attribute.of_thing && a.other_numbers(b),
    }
}

fn is(stated: &Stated, wanted: &Attribute) -> bool {
    attribute(stated.attribute).is_some_and(|attribute| attribute.name == wanted.name)
}

/// The occasions to which a statement is limited. Work and home are occasions for the use of a device only.
fn limited<'r>(attribute: &Attribute, reading: &'r Reading<'_>) -> &'r [usize] {
    if attribute.is_device || reading.occasions.iter().all(|occasion| *occasion >= 2) {
        return &reading.occasions;
    }
    &[]
}

fn occasions() -> &'static WordSet<usize> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let all = OCCASIONS.iter().enumerate();
        WordSet::new(all.flat_map(|(n, names)| names.iter().map(move |name| (*name, n))))
    })
}

/// Names that few statements have. The person's own name is in many.
struct SharedNames<'p> {
    prepared: &'p [Prepared<'p>],
    rare: &'p Rarity,
    counts: HashMap<String, usize>,
    limit: usize,
}

impl<'p> SharedNames<'p> {
    fn new(prepared: &'p [Prepared<'p>], readings: &[Reading<'_>], rare: &'p Rarity) -> Self {
        let mut counts = HashMap::new();
        for name in readings.iter().flat_map(|reading| &reading.names) {
            *counts.entry(name.clone()).or_default() += 1;
        }
        Self { prepared, rare, counts, limit: rare.limit() as usize }
    }

    /// True if both have the same rare name or term.
    fn any(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let rare = |name: &String| self.counts.get(name).is_some_and(|count| *count <= self.limit);
        if one.names.iter().any(|name| other.names.contains(name) && rare(name)) {
            return true;
        }
        let statement = |reading: &Reading<'_>| self.prepared.get(reading.statement);
        statement(one).zip(statement(other)).is_some_and(|(a, b)| self.rare.shared(a, b) > 0)
    }
}
