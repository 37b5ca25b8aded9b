//! Reads a statement for the rule `meaning`, and compares two readings.
use super::{
    Marks, Prepared,
    amounts::{Amounts, amounts},
    attributes::{StatedAttribute, dot, stated_attributes},
    terms::Rarity,
};
use crate::{
    patterns::WordSet,
    spelling::{names, plain_names},
    subject::subject,
    word_lists::{ADDITIONS, CHANGED, NEGATIONS, OCCASIONS, OVER},
};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Number of relations that a person can have to only one person or couple at a time: mother, father, parents, wife,
/// husband, partner. They come first in the list of relations.
const ONE_PERSON_RELATIONS: usize = 6;
/// Number of occasions that are places: work and home. They come first in the list of occasions.
const PLACE_OCCASIONS: usize = 2;

/// Terms for amounts and frequencies, which do not show the subject of a statement.
const UNITS: [&str; 18] = [
    "euro", "euros", "dollar", "pound", "month", "monat", "monatl", "week", "weeks", "woche", "hours", "stunde",
    "days", "tage", "毎月", "毎週", "毎日", "時間",
];

/// The parts of a statement that are compared with those of another one.
pub(super) struct Reading<'v> {
    /// Position of the statement.
    pub(super) statement: usize,
    pub(super) at: Option<i64>,
    pub(super) vector: &'v [f32],
    pub(super) stated: Vec<StatedAttribute>,
    pub(super) amounts: Amounts,
    /// Names, in a form that is the same in all scripts.
    names: Vec<String>,
    pub(super) plain_names: Vec<String>,
    subject: Option<usize>,
    occasions: Vec<usize>,
    pub(super) marks: Marks,
    over: bool,
    changed: bool,
    negated: bool,
    pub(super) adds: bool,
}

#[derive(Debug, Clone, Copy)]
enum Sign {
    Over,
    Changed,
    Negated,
    Adds,
    Limited(usize),
}

impl<'v> Reading<'v> {
    pub(super) fn new(statement: usize, prepared: &Prepared<'_>, vector: &'v [f32]) -> Self {
        let folded = &prepared.folded;
        let mut reading = Self {
            statement,
            at: prepared.at,
            vector,
            stated: stated_attributes(vector),
            amounts: amounts(&folded.text),
            names: names(folded),
            plain_names: plain_names(folded),
            subject: subject(&folded.text, folded.text.len()),
            occasions: Vec::new(),
            marks: prepared.marks,
            over: false,
            changed: false,
            negated: false,
            adds: false,
        };
        for hit in sign_words().hits(&folded.text) {
            match hit.value {
                Sign::Over => reading.over = true,
                Sign::Changed => reading.changed = true,
                Sign::Negated => reading.negated = true,
                Sign::Adds => reading.adds = true,
                Sign::Limited(n) => reading.occasions.push(*n),
            }
        }
        reading
    }

    /// The occasions to which the statement is limited. Work and home count only if the statement is about a device.
    fn limiting_occasions(&self, of_device: bool) -> Vec<usize> {
        self.occasions.iter().copied().filter(|n| of_device || *n >= PLACE_OCCASIONS).collect()
    }
}

fn sign_words() -> &'static WordSet<Sign> {
    static WORDS: OnceLock<WordSet<Sign>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let lists = [(OVER, Sign::Over), (CHANGED, Sign::Changed), (NEGATIONS, Sign::Negated), (ADDITIONS, Sign::Adds)];
        let signs = lists.into_iter().flat_map(|(words, sign)| words.iter().map(move |word| (*word, sign)));
        let occasions = OCCASIONS.iter().enumerate();
        WordSet::new(
            signs.chain(occasions.flat_map(|(n, names)| names.iter().map(move |name| (*name, Sign::Limited(n))))),
        )
    })
}

/// The result of comparing two statements.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairComparison {
    /// Cosine of their vectors.
    pub(super) likeness: f32,
    /// True if they share a rare name or term.
    pub(super) same_name: bool,
    /// True if they share a rare term. Units and listed names (such as cities) do not count.
    pub(super) same_thing: bool,
    /// True if both are about the same person.
    pub(super) same_subject: bool,
    /// True if one is about one relative and the other about another.
    pub(super) differing_subjects: bool,
    pub(super) numbers_differ: bool,
    pub(super) times_differ: bool,
    /// True if the newer statement says that something is over. If both are equally old, either of them may say so.
    pub(super) over: bool,
    /// True if the newer statement says that something has changed or is over. If both are equally old, either of them
    /// may say so.
    pub(super) changed: bool,
    /// True if exactly one of the two is negated.
    pub(super) negated: bool,
    /// True if one likes something and the other dislikes something.
    pub(super) opinion: bool,
    /// True if exactly one of the two is a plan.
    pub(super) one_plan: bool,
}

impl PairComparison {
    pub(super) fn new(a: &Reading<'_>, b: &Reading<'_>, shared: &SharedNames<'_>) -> Self {
        let (older, newer) = if a.at > b.at { (b, a) } else { (a, b) };
        let dated = a.at != b.at;
        let same_name = shared.share_name(a, b);
        let one_person = a.subject.is_none_or(|relation| relation < ONE_PERSON_RELATIONS);
        let likes_what_other_dislikes = |one: Marks, other: Marks| one.likes && !one.dislikes && other.dislikes;
        Self {
            likeness: dot(a.vector, b.vector),
            same_name,
            same_thing: shared.share_thing(a, b),
            same_subject: a.subject == b.subject && (one_person || same_name),
            differing_subjects: a.subject.is_some() && b.subject.is_some() && a.subject != b.subject && !same_name,
            numbers_differ: a.amounts.numbers_differ(&b.amounts),
            times_differ: a.amounts.times_differ(&b.amounts),
            over: newer.over && !older.over || !dated && older.over && !newer.over,
            changed: newer.over || newer.changed || !dated && (older.over || older.changed),
            negated: a.negated != b.negated,
            opinion: likes_what_other_dislikes(a.marks, b.marks) || likes_what_other_dislikes(b.marks, a.marks),
            one_plan: a.marks.plan != b.marks.plan,
        }
    }

    /// True if something in the words says that the statements differ.
    pub(super) fn shows_difference(&self) -> bool {
        self.over || self.negated || self.numbers_differ || self.times_differ || self.opinion
    }
}

/// True if both statements hold on the same occasions.
pub(super) fn same_occasions(a: &Reading<'_>, b: &Reading<'_>, of_device: bool) -> bool {
    a.limiting_occasions(of_device) == b.limiting_occasions(of_device)
}

/// Names and terms that two statements share and that few statements have. The person's own name does not count,
/// because many statements have it.
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

    /// True if both have the same rare name or term.
    fn share_name(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let limit = self.rare.max_statements() as usize;
        let rare = |name: &String| self.counts.get(name).is_some_and(|count| *count <= limit);
        if one.names.iter().any(|name| other.names.contains(name) && rare(name)) {
            return true;
        }
        self.prepared_of(one).zip(self.prepared_of(other)).is_some_and(|(a, b)| self.rare.count_shared(a, b) > 0)
    }

    /// True if both have the same rare term. Units and listed names do not count.
    fn share_thing(&self, one: &Reading<'_>, other: &Reading<'_>) -> bool {
        let is_thing = |term: &str| !term.starts_with('#') && !UNITS.contains(&term) && self.rare.is_rare(term);
        let terms = self.prepared_of(one).zip(self.prepared_of(other));
        terms.is_some_and(|(a, b)| a.terms.iter().any(|term| is_thing(term) && b.terms.contains(term)))
    }

    fn prepared_of(&self, reading: &Reading<'_>) -> Option<&'p Prepared<'p>> {
        self.prepared.get(reading.statement)
    }
}
