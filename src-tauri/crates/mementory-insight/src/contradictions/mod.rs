//! Finds pairs of statements that cannot both be true now. Precision matters more than recall, because a false pair
//! costs the person's trust in all the others. Eight rules find pairs independently:
//!
//! | module | rule |
//! |---|---|
//! | `claims` | two values of an attribute that can have only one: lives in, works at, age, diet … |
//! | `slots` | two listed values of such an attribute, or a value and its denial: Windows or Linux … |
//! | `ended` | a newer statement says that something named in an older one is over, or moves its date |
//! | `counts` | the same thing counted or measured with different results |
//! | `favourites` | two favourites of one kind, or a reversed preference |
//! | `taste` | the same thing liked in one statement and disliked in the other |
//! | `meaning` | two values of an attribute in any words and languages, by the vectors of a sentence encoder |
//! | `evidence` | two statements of which all evidence together says that they contradict each other |
mod ages;
mod amounts;
mod attributes;
mod claims;
mod counts;
mod ended;
mod evidence;
mod favourites;
mod features;
mod groups;
mod meaning;
mod neighbours;
mod persons;
mod plans;
mod projection;
mod reading;
mod signs;
mod slots;
mod taste;
mod terms;
mod things;
mod units;

#[doc(hidden)]
pub use attributes::pools_values;
pub use groups::{ContradictionGroup, contradiction_groups};
pub use plans::past_plans;

use attributes::dot;
use persons::Persons;
use signs::Signs;

use crate::{
    fitted::DIMENSIONS,
    fold::{Folded, is_function_word, words},
    patterns::WordSet,
    word_lists as lists,
};
use regex::Regex;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Largest number of pairs that are returned: those with the highest confidence.
const MAX_PAIRS: usize = 2000;
/// Largest number of statements of one group that are compared with each other. The newest are used.
const MAX_GROUP: usize = 40;

/// If the similarity of their vectors is below this, two statements are about different things even if they share
/// words.
const MIN_SIMILARITY: f32 = 0.45;

/// A statement with fewer words (without function words) than this is never a repetition of another statement.
const MIN_REPEATED_WORDS: usize = 3;

/// The text of a memory and its date.
#[derive(Debug, Clone, Copy)]
pub struct Statement<'t> {
    /// The text of a memory.
    pub text: &'t str,
    /// When the memory was made, in microseconds since 1970.
    pub at: Option<i64>,
}

/// Whether the newer statement of a contradiction replaces the older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Something has changed, so the newer statement is true and replaces the older one.
    Replaced,
    /// One of the two statements is wrong.
    Conflict,
}

impl Sort {
    /// Stable name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Conflict => "conflict",
        }
    }
}

/// Two statements that cannot both be true now, by their positions in the input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contradiction {
    /// Position of the older statement. If the dates are unknown or equal, position of either statement.
    pub a: usize,
    /// Position of the other statement.
    pub b: usize,
    /// Whether the newer statement replaces the older one.
    pub sort: Sort,
    /// Position of the newer statement. None if the dates are unknown or equal.
    pub newer: Option<usize>,
    /// Confidence, from 0 to 1.
    pub confidence: f32,
}

/// A statement prepared for the rules.
struct Prepared<'t> {
    at: Option<i64>,
    /// The first 1,000 characters of the text as written, because some patterns depend on capital letters.
    written: &'t str,
    folded: Folded,
    marks: Marks,
    signs: Signs,
    /// The listed values in the statement, each with its attribute.
    slots: Vec<(&'static str, &'static str)>,
    /// The nouns and names of the statement without the name of the owner of the memories, see `terms`.
    terms: Vec<String>,
    /// The purposes of amounts of money, as positions in `MONEY_PURPOSES`.
    money_purposes: Vec<usize>,
    /// The rented or paid rooms and buildings that the statement names, as positions in `PREMISES`.
    premises: Vec<usize>,
    /// The nouns and names of the negated clauses and phrases. None unless a contrasting clause is not negated, or only
    /// phrases with "without" or "ohne" are.
    negated_terms: Option<Vec<String>>,
    /// The named person whom the statement is about, as a position in the list of people. None if the statement is
    /// about the owner of the memories.
    person: Option<usize>,
    /// True if `person` may be the partner, boss or pet of the owner of the memories.
    person_is_close: bool,
    /// The people whom the statement mentions by name, as positions in the list of people.
    mentioned: Vec<usize>,
    /// The terms that name a thing, without general words and without words for likes and dislikes.
    things: Vec<String>,
    /// The things that show what the statement is about: `things` without units and without names of people.
    subjects: Vec<String>,
}

impl Prepared<'_> {
    /// False if the amounts of money in the two statements are for different purposes. The purposes differ if the
    /// statements name different purposes, different premises, or a different thing each, or if one amount is before
    /// deductions and the other after.
    fn may_share_purpose(&self, other: &Self) -> bool {
        let (one, two) = (&self.money_purposes, &other.money_purposes);
        // If each statement names a thing that the other does not name, they are about two amounts: "rent for the
        // studio" and "rent for the flat".
        let has_own_concept = |one: &Self, other: &Self| {
            one.terms.iter().any(|term| term.starts_with('~') && !other.terms.contains(term))
        };
        if has_own_concept(self, other) && has_own_concept(other, self) {
            return false;
        }
        // If the premises differ, the statements are about two amounts: "the rent of the workshop" is not "the rent".
        if self.premises != other.premises {
            return false;
        }
        if let (Some(one), Some(two)) = (is_net(&self.folded.text), is_net(&other.folded.text))
            && one != two
        {
            return false;
        }
        one.is_empty() || two.is_empty() || one.iter().any(|purpose| two.contains(purpose))
    }

    /// True if both statements may be in the same language, and the first things that they mention differ.
    fn first_things_differ(&self, other: &Self) -> bool {
        self.folded.languages.may_share(other.folded.languages)
            && self.things.first().zip(other.things.first()).is_some_and(|(one, two)| one != two)
    }

    /// True if `other` contains all words of this statement, no further numbers, and the same marks: "is vegetarian
    /// since August" and "vegetarian since August, undecided about fish".
    fn repeats(&self, other: &Self) -> bool {
        let marks_and_signs = |statement: &Self| {
            let Marks { is_past, was_so_before, is_plan, has_ended, is_pending, likes, dislikes, .. } = statement.marks;
            let Signs { says_over, says_changed, is_negated, counts_remaining, .. } = statement.signs;
            [is_past, was_so_before, is_plan, has_ended, is_pending, likes, dislikes]
                .into_iter()
                .chain([says_over, says_changed, is_negated, counts_remaining])
                .collect::<Vec<bool>>()
        };
        let words_of = |statement: &Self| -> Vec<String> {
            let all = words(&statement.folded.text).into_iter();
            all.filter(|word| !is_function_word(word)).map(terms::stem).collect()
        };
        let (own_words, other_words) = (words_of(self), words_of(other));
        let is_number = |word: &&String| word.starts_with(|c: char| c.is_ascii_digit());
        own_words.len() >= MIN_REPEATED_WORDS
            && own_words.iter().all(|word| other_words.contains(word))
            && other_words.iter().filter(is_number).all(|number| own_words.contains(number))
            && marks_and_signs(self) == marks_and_signs(other)
    }

    /// False if one statement is about a named person whom the other statement does not mention.
    fn may_share_subject(&self, other: &Self) -> bool {
        match (self.person, other.person) {
            (Some(one), Some(two)) => one == two,
            (Some(one), None) => other.mentioned.contains(&one),
            (None, Some(two)) => self.mentioned.contains(&two),
            (None, None) => true,
        }
    }
}

/// What the words of a statement show about its time and attitude.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    is_past: bool,
    /// True if something was true for a long time and is over: "used to smoke".
    was_so_before: bool,
    is_plan: bool,
    has_ended: bool,
    is_progress: bool,
    /// True if something is expected that has not happened yet.
    is_pending: bool,
    /// True if something is being done at the moment.
    is_ongoing: bool,
    /// True if something expected has happened.
    is_done: bool,
    likes: bool,
    dislikes: bool,
    /// True if a wish applies only to one kind of question or conversation.
    is_situational: bool,
}

/// Returns the pairs of statements that cannot both be true now, in descending order of confidence. `vectors` contains
/// the encoder's vector for each statement, in the same order and normalised to length 1. A vector whose number of
/// dimensions differs from the encoder's is ignored. Without vectors, only the words are compared.
pub fn contradictions(statements: &[Statement<'_>], vectors: &[Vec<f32>]) -> Vec<Contradiction> {
    let texts: Vec<&str> = statements.iter().map(|statement| statement.text).collect();
    let persons = Persons::new(&texts);
    let prepared: Vec<Prepared<'_>> =
        statements.iter().enumerate().map(|(n, statement)| prepare(n, statement, &persons)).collect();
    let rare = terms::Rarity::new(&prepared);
    let mut pairs: Pairs = HashMap::new();
    let mut add = |a: usize, b: usize, confidence: f32, can_change: bool| {
        add_pair(&mut pairs, a, b, confidence, can_change);
    };
    let mut claimed_pairs: HashSet<(usize, usize)> = HashSet::new();
    let ages_of_children =
        claims::find(&prepared, &persons, &mut |a: usize, b: usize, confidence: f32, can_change: bool| {
            claimed_pairs.insert((a.min(b), a.max(b)));
            add(a, b, confidence, can_change);
        });
    slots::find(&prepared, &mut add);
    ended::find_deaths(&prepared, &rare, &mut add);
    let mut add_if_alike = |a: usize, b: usize, confidence: f32, can_change: bool| {
        if are_alike(vectors, a, b) {
            add(a, b, confidence, can_change);
        }
    };
    ended::find(&prepared, &rare, &mut add_if_alike);
    counts::find(&prepared, &rare, &mut add_if_alike);
    counts::find_money(&prepared, &mut add_if_alike);
    taste::find(&prepared, &mut add);
    favourites::find(&prepared, &mut add);
    let mut found_by_words: HashSet<(usize, usize)> = pairs.keys().copied().collect();
    let readings = meaning::read(&prepared, vectors, &persons);
    let shared = reading::SharedNames::new(&prepared, &readings, &rare);
    let mut add = |a: usize, b: usize, confidence: f32, can_change: bool| {
        add_pair(&mut pairs, a, b, confidence, can_change);
    };
    // Two dates of the same thing are read from the words.
    found_by_words.extend(meaning::find(&prepared, &readings, &shared, &rare, &mut add));
    let mut found_by_evidence: HashSet<(usize, usize)> = HashSet::new();
    let probabilities =
        evidence::find(&readings, &shared, &mut |a: usize, b: usize, confidence: f32, can_change: bool| {
            found_by_evidence.insert((a.min(b), a.max(b)));
            add(a, b, confidence, can_change);
        });
    let is_improbable = |pair: &(usize, usize)| {
        let min_probability = match found_by_words.contains(pair) {
            true => evidence::MIN_PROBABILITY_OF_WORDS,
            false => evidence::MIN_PROBABILITY_OF_MEANING,
        };
        !found_by_evidence.contains(pair) && probabilities.get(pair).is_some_and(|p| *p < min_probability)
    };
    // The evidence does not overrule a pair that `claims` found, because a pattern of `claims` identifies the attribute
    // and both values. The evidence often does not show that two statements state the same attribute if they are worded
    // differently or in different languages.
    let years_explain = |(a, b): &(usize, usize)| {
        let statements = prepared.get(*a).zip(prepared.get(*b));
        let ages = ages_of_children.get(a).zip(ages_of_children.get(b));
        statements.zip(ages).is_some_and(|((one, other), (age, later))| ages::do_years_explain(one, age, other, later))
    };
    let repeats = |(a, b): &(usize, usize)| {
        prepared.get(*a).zip(prepared.get(*b)).is_some_and(|(one, other)| one.repeats(other) || other.repeats(one))
    };
    pairs.retain(|pair, _| !repeats(pair));
    pairs.retain(|pair, _| claimed_pairs.contains(pair) || !is_improbable(pair) && !years_explain(pair));
    let mut found: Vec<Contradiction> = pairs
        .into_iter()
        .map(|((a, b), (confidence, changes))| contradiction_of(&prepared, a, b, confidence, changes))
        .collect();
    found.sort_by(|x, y| y.confidence.total_cmp(&x.confidence).then((x.a, x.b).cmp(&(y.a, y.b))));
    found.truncate(MAX_PAIRS);
    found
}

/// The found pairs, the smaller position first, each with its confidence and whether the newer statement may replace
/// the older one.
type Pairs = HashMap<(usize, usize), (f32, bool)>;

fn add_pair(pairs: &mut Pairs, a: usize, b: usize, confidence: f32, can_change: bool) {
    let pair = pairs.entry((a.min(b), a.max(b))).or_insert((confidence, can_change));
    if confidence > pair.0 {
        *pair = (confidence, can_change);
    }
}

/// The positions of two statements, whether both can be true whatever else differs, and the named numbers that are
/// evidence for or against a contradiction.
#[doc(hidden)]
pub type PairEvidence = (usize, usize, bool, Vec<(&'static str, f32)>);

/// The evidence for the pairs of statements that the rule `evidence` compares. Used by `examples/fit_pairs.rs`.
#[doc(hidden)]
pub fn evidence_of(statements: &[Statement<'_>], vectors: &[Vec<f32>]) -> Vec<PairEvidence> {
    let texts: Vec<&str> = statements.iter().map(|statement| statement.text).collect();
    let persons = Persons::new(&texts);
    let prepared: Vec<Prepared<'_>> =
        statements.iter().enumerate().map(|(n, statement)| prepare(n, statement, &persons)).collect();
    let rare = terms::Rarity::new(&prepared);
    let readings = meaning::read(&prepared, vectors, &persons);
    let shared = reading::SharedNames::new(&prepared, &readings, &rare);
    let mut out = Vec::new();
    evidence::compare(&readings, &shared, |one, other, evidence, features, _| {
        out.push((one.min(other), one.max(other), evidence.both_can_hold(), features.to_vec()));
    });
    out
}

/// Whether a folded text says that an amount is after deductions. None if it says neither this nor the contrary.
fn is_net(folded: &str) -> Option<bool> {
    const NET: [&str; 5] = [" net ", " net.", "netto", "take-home", "手取り"];
    const GROSS: [&str; 4] = [" gross", "brutto", "before tax", "額面"];
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| folded.contains(phrase));
    let (net, gross) = (says(&NET), says(&GROSS));
    (net != gross).then_some(net)
}

/// False if the vectors show that two statements are about different things, although they share words.
fn are_alike(vectors: &[Vec<f32>], a: usize, b: usize) -> bool {
    match (vectors.get(a), vectors.get(b)) {
        (Some(one), Some(other)) if one.len() == DIMENSIONS && other.len() == DIMENSIONS => {
            dot(one, other) >= MIN_SIMILARITY
        }
        _ => true,
    }
}

fn contradiction_of(prepared: &[Prepared<'_>], a: usize, b: usize, confidence: f32, changes: bool) -> Contradiction {
    let time = |n: usize| prepared.get(n).and_then(|statement| statement.at);
    let (a, b) = if time(a) > time(b) { (b, a) } else { (a, b) };
    let newer = match (time(a), time(b)) {
        (Some(first), Some(second)) if first != second => Some(b),
        _ => None,
    };
    let sort = if changes && newer.is_some() { Sort::Replaced } else { Sort::Conflict };
    Contradiction { a, b, sort, newer, confidence }
}

fn prepare<'t>(position: usize, statement: &Statement<'t>, persons: &Persons) -> Prepared<'t> {
    let folded = Folded::new(statement.text);
    let marks = marks_of(&folded);
    let mut terms = terms::terms_in(&folded);
    terms.retain(|term| !persons.is_own(term));
    let things: Vec<String> =
        terms.iter().filter(|term| terms::is_thing(term) && !taste::is_opinion(term)).cloned().collect();
    let people = persons.terms(position);
    let subjects = things.iter().filter(|term| !units::is_unit(term) && !people.contains(term)).cloned().collect();
    let money_purposes: Vec<usize> = money_words().hits(&folded.text).iter().map(|hit| *hit.value).collect();
    let premises = match money_purposes.as_slice() {
        [purpose, ..] if !lists::MONEY_PURPOSES.get(*purpose).is_some_and(|names| names.contains(&"rent")) => {
            Vec::new()
        }
        _ => premises_in(&folded.text),
    };
    let end = statement.text.char_indices().nth(1000).map_or(statement.text.len(), |(at, _)| at);
    let mut signs = Signs::new(&folded.text);
    signs.says_over |= marks.was_so_before;
    let slots = slots::values_in(&folded);
    let negated_terms = signs.negated_clauses.as_ref().map(|clauses| {
        let clauses = clauses.iter().filter_map(|(start, end)| folded.text.get(*start..*end));
        let terms = clauses.flat_map(|clause| terms::terms_in(&Folded { text: clause.to_owned(), ..folded.clone() }));
        terms.filter(|term| term.starts_with('#') || terms::is_thing(term)).collect()
    });
    Prepared {
        at: statement.at,
        written: &statement.text[..end],
        folded,
        marks,
        signs,
        slots,
        terms,
        money_purposes,
        premises,
        negated_terms,
        person: persons.subject(position),
        person_is_close: persons.is_close(position),
        mentioned: persons.mentioned(position),
        things,
        subjects,
    }
}

fn marks_of(folded: &Folded) -> Marks {
    let mut marks = Marks::default();
    let mut is_present = false;
    for hit in mark_words().hits(&folded.text) {
        match hit.value {
            Mark::Past => marks.is_past = true,
            Mark::Former => marks.was_so_before = true,
            Mark::Present => is_present = true,
            Mark::Plan => {
                marks.is_plan |= !follows_fact(&folded.text, hit.start) && !is_no_plan(folded, hit.start, hit.end);
            }
            Mark::Ended => marks.has_ended = true,
            Mark::Progress => marks.is_progress = true,
            Mark::Pending => marks.is_pending = true,
            Mark::Done => marks.is_done = true,
            Mark::Ongoing => marks.is_ongoing = true,
            Mark::Likes => marks.likes = true,
            Mark::Dislikes => marks.dislikes = true,
            Mark::Situation => marks.is_situational |= !follows_even(&folded.text, hit.start),
        }
    }
    marks.has_ended |= signs::ends_with_gap(&folded.text);
    marks.is_past |= is_about_past_state(folded) || is_before_a_change(&folded.text);
    // A statement such as "used to smoke, now vapes" is also about the present.
    marks.is_past &= !is_present;
    marks.was_so_before &= marks.is_past;
    marks
}

/// True if a word that announces a plan has another meaning: "may" is the month in "since May 2025", and "plant" is a
/// plan only in German.
fn is_no_plan(folded: &Folded, start: usize, end: usize) -> bool {
    /// Words before the name of a month that the verb "may" does not follow. "This" is none of them: "this may be
    /// postponed".
    const WORDS_BEFORE_MONTH: [&str; 21] = [
        "in", "since", "until", "till", "by", "from", "of", "on", "for", "last", "next", "early", "mid", "late",
        "before", "after", "during", "every", "each", "between", "to",
    ];
    let (before, after) = (folded.text.get(..start).unwrap_or_default(), folded.text.get(end..).unwrap_or_default());
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match folded.text.get(start..end) {
        Some("may") => {
            let last = words(before).last().copied().unwrap_or_default();
            WORDS_BEFORE_MONTH.contains(&last)
                || last.starts_with(|c: char| c.is_ascii_digit())
                || is_digit(after.trim_start().chars().next())
        }
        Some("plant") => !folded.languages.de || after.starts_with('-'),
        _ => false,
    }
}

/// True if the "if" at the byte `at` follows "even". Such a condition limits nothing to a situation.
fn follows_even(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    ["even ", "auch ", "selbst "].iter().any(|word| before.ends_with(word))
}

/// True if the first verb is "was" or "war" and describes a past state: "was in Izmir", "the boat was 14 metres long".
/// False for an event whose result may still be true, such as "was promoted".
fn is_about_past_state(folded: &Folded) -> bool {
    const ENGLISH: [&str; 2] = ["was", "were"];
    const GERMAN: [&str; 2] = ["war", "waren"];
    /// Words after "was" that begin the description of a past state. A number after "was" also begins one.
    const WORDS_AFTER_WAS: [&str; 24] = [
        "a", "an", "the", "in", "on", "at", "my", "her", "his", "their", "our", "very", "so", "too", "quite", "really",
        "only", "just", "about", "like", "with", "found", "packed", "from",
    ];
    /// The first verb must be among this many words from the start.
    const MAX_WORDS: usize = 7;
    let words = words(&folded.text);
    let verb_position = words.iter().take(MAX_WORDS).position(|word| ENGLISH.contains(word) || GERMAN.contains(word));
    let Some(at) = verb_position else { return false };
    let Some((verb, next)) = words.get(at).zip(words.get(at + 1)) else { return false };
    let is_subordinate =
        words.iter().take(at).any(|word| ["that", "which", "who", "when", "dass", "als", "wo"].contains(word));
    let describes_state = if ENGLISH.contains(verb) {
        WORDS_AFTER_WAS.contains(next) || next.starts_with(|c: char| c.is_ascii_digit())
    } else {
        folded.languages.de
    };
    let signs = Signs::new(&folded.text);
    describes_state
        && !is_subordinate
        && (at == 0 || !signs.says_over && !signs.says_changed && !folded.text.contains("worden"))
}

/// True for a text that begins like "Before Lisbon she planned timetables", which says what was true until a change.
fn is_before_a_change(folded: &str) -> bool {
    const FORMS: [&str; 3] = [
        r"^before (?:\S+ ){1,6}?(?:he|she|they|i|we|(?:the )?user) (?:had|was|were|\w+ed|ran|taught|drove|sold|made|kept|led) ",
        r"^(?:zuvor|davor|vorher) (?:war|hatte|hat|arbeitete|lebte|wohnte) ",
        r"^(?:その前は|以前は|[^、。]{2,12}の前は、?).*(?:ていた|だった|でした)",
    ];
    static REGEXES: OnceLock<Vec<Regex>> = OnceLock::new();
    let regexes = REGEXES.get_or_init(|| FORMS.iter().filter_map(|form| Regex::new(form).ok()).collect());
    regexes.iter().any(|regex| regex.is_match(folded))
}

/// True if a clause precedes the plan at the byte `at`. The statement is then about a fact and mentions the plan only
/// in addition: "weighs 84 kg and wants to lose weight".
fn follows_fact(text: &str, at: usize) -> bool {
    const CLAUSE_SEPARATORS: [&str; 10] =
        [" and ", " und ", " but ", " aber ", "; ", ". ", "で、", "が、", "おり、", "。"];
    let before = text.get(..at).unwrap_or_default();
    CLAUSE_SEPARATORS
        .iter()
        .filter_map(|joint| before.rfind(joint))
        .any(|end| before.get(..end).is_some_and(|clause| clause.chars().count() >= 6 && !clause.contains(':')))
}

#[derive(Debug, Clone, Copy)]
enum Mark {
    Past,
    Former,
    Present,
    Plan,
    Ended,
    Progress,
    Pending,
    Done,
    Ongoing,
    Likes,
    Dislikes,
    Situation,
}

fn money_words() -> &'static WordSet<usize> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let purposes = lists::MONEY_PURPOSES.iter().enumerate();
        WordSet::new(purposes.flat_map(|(n, names)| names.iter().map(move |name| (*name, n))))
    })
}

fn premises_in(text: &str) -> Vec<usize> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    let words = WORDS.get_or_init(|| {
        let premises = lists::PREMISES.iter().enumerate();
        WordSet::new(premises.flat_map(|(n, names)| names.iter().map(move |name| (*name, n))))
    });
    let mut out: Vec<usize> = words.hits(text).iter().map(|hit| *hit.value).collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn mark_words() -> &'static WordSet<Mark> {
    static WORDS: OnceLock<WordSet<Mark>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let lists = [
            (lists::PAST, Mark::Past),
            (lists::FORMER, Mark::Former),
            (lists::PRESENT, Mark::Present),
            (lists::PLAN, Mark::Plan),
            (lists::ENDED, Mark::Ended),
            (lists::PROGRESS, Mark::Progress),
            (lists::PENDING, Mark::Pending),
            (lists::DONE, Mark::Done),
            (lists::ONGOING, Mark::Ongoing),
            (lists::LIKES, Mark::Likes),
            (lists::DISLIKES, Mark::Dislikes),
            (lists::SITUATIONS, Mark::Situation),
        ];
        WordSet::new(lists.into_iter().flat_map(|(words, mark)| words.iter().map(move |word| (*word, mark))))
    })
}

/// Shortens a group to its newest members, because comparing all pairs of a huge group takes too long.
fn keep_newest(prepared: &[Prepared<'_>], group: &mut Vec<usize>) {
    group.sort_by_key(|n| std::cmp::Reverse(prepared.get(*n).and_then(|statement| statement.at)));
    group.truncate(MAX_GROUP);
}
