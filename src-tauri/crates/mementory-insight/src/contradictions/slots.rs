//! Finds pairs of statements that give different listed values of an attribute, and pairs in which one statement denies
//! the value that the other gives. The attributes and the words for their values in all languages are in `data/slots`,
//! so statements in different languages can be compared.
use super::{Prepared, keep_newest, terms::is_closed_class, things::is_about_thing};
use crate::{
    fold::{Folded, fold, words},
    patterns::WordSet,
    subject::subject,
    word_lists::{DENYING_AFTER, DENYING_BEFORE, LANGUAGE_NAMES, SLOTS, STYLE_CONTEXT},
};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Statements of more characters than this are skipped, because they state more than one thing, and a value in them may
/// belong to something else.
const MAX_CHARS: usize = 300;
/// Largest distance in bytes between the two parts of a pattern with a gap.
const MAX_GAP: usize = 45;
/// Largest distance in bytes between a denying word and the value after it.
const MAX_BEFORE: usize = 24;
/// Largest distance in bytes between a value and the denying word after it. It is larger than `MAX_BEFORE`, because
/// German and Japanese verbs come last.
const MAX_AFTER: usize = 48;
/// Characters that end a clause.
const CLAUSE_ENDS: [char; 8] = ['.', ',', ';', ':', '。', '、', '(', '!'];
/// Attributes for things of which a person may use several at once. Two values of such an attribute contradict each
/// other only if the newer statement says that something changed.
const SEVERAL_AT_ONCE: [&str; 24] = [
    "bank",
    "browser",
    "cloud",
    "commute",
    "database",
    "driving_fuel",
    "dwelling",
    "editor",
    "email_service",
    "frontend",
    "git_host",
    "heat",
    "hours",
    "job_status",
    "language_main",
    "messenger",
    "music_service",
    "notes",
    "os",
    "phone",
    "read_format",
    "school_stage",
    "tenure",
    "theme",
];
/// Attributes that are compared even if the statements name different occasions, because the words for their values
/// ("office hours") look like an occasion.
const ATTRIBUTES_IN_ANY_CONTEXT: [&str; 4] = ["commute", "hours", "shift", "workplace"];
/// Attributes of which a denial denies only what it names: "not allergic to penicillin" says nothing about pollen.
/// Each has the first letters of the words that name the attribute and nothing else.
const ATTRIBUTES_OF_SOMETHING: [(&str, &[&str]); 1] = [("allergy_any", &["allerg", "アレルギー"])];
/// Name of the attribute for the level of a language skill. A statement gives its value only if the statement names
/// exactly one language.
const LANGUAGE_SKILL: &str = "lang_skill";

/// Pairs of classes of values that can be true together although they differ: somebody who is divorced can have a new
/// partner.
const COMPATIBLE_CLASSES: [[&str; 2]; 3] = [["unmarried", "free"], ["unmarried", "dating"], ["unmarried", "engaged"]];
/// Words that deny the value after them only if the statement says that something is over: "switched from Windows".
const DENIALS_IF_OVER: [&str; 2] = ["from", "von"];
/// Words that end a denial: a value after them is not denied.
const CONTRAST_WORDS: [&str; 3] = ["but", "aber", "sondern"];

/// A value of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SlotValue {
    attribute: &'static str,
    /// Two values of the same class can be true together.
    class: &'static str,
}

/// The meaning of a pattern in the lists.
#[derive(Debug, Clone, Copy)]
enum Pattern {
    Value(SlotValue, &'static str),
    /// One part of a pattern with a gap: the number of the pattern, whether this is the first part (or else the last
    /// one), the value, and the language.
    Part(usize, bool, SlotValue, &'static str),
    DeniesBefore,
    DeniesAfter,
}

/// The classes of values that a statement gives or denies for one attribute.
#[derive(Debug, Clone)]
struct Claim {
    statement: usize,
    given: Vec<&'static str>,
    denied: Vec<&'static str>,
}

/// The name of an attribute, its owner as a position in the list of relations, and the language that a language skill
/// is about.
type AttributeKey = (&'static str, Option<usize>, Option<usize>);

pub(super) fn find(prepared: &[Prepared<'_>], add: &mut impl FnMut(usize, usize, f32, bool)) {
    let mut groups: BTreeMap<AttributeKey, Vec<Claim>> = BTreeMap::new();
    for (n, statement) in prepared.iter().enumerate() {
        for (key, claim) in claims(n, statement) {
            groups.entry(key).or_default().push(claim);
        }
    }
    for ((attribute, ..), claims) in groups {
        let mut members: Vec<usize> = claims.iter().map(|claim| claim.statement).collect();
        members.dedup();
        keep_newest(prepared, &mut members);
        let claims: Vec<&Claim> = claims.iter().filter(|claim| members.contains(&claim.statement)).collect();
        for (i, one) in claims.iter().enumerate() {
            for other in claims.iter().skip(i + 1) {
                let (Some(a), Some(b)) = (prepared.get(one.statement), prepared.get(other.statement)) else { continue };
                if may_differ(attribute, a, b) && differ(attribute, (one, a), (other, b)) {
                    add(one.statement, other.statement, 0.8, true);
                }
            }
        }
    }
}

/// True for an attribute that may have several values at once.
pub(super) fn may_have_several(attribute: &str) -> bool {
    SEVERAL_AT_ONCE.contains(&attribute)
}

/// False if both statements can be true, whatever values they give.
fn may_differ(attribute: &str, a: &Prepared<'_>, b: &Prepared<'_>) -> bool {
    let is_style = attribute.starts_with("style_");
    let is_limited = is_style && (a.marks.is_situational || b.marks.is_situational);
    let is_plan = !is_style && (a.marks.is_plan || b.marks.is_plan);
    let is_addition = a.signs.is_addition || b.signs.is_addition;
    let same_occasions = ATTRIBUTES_IN_ANY_CONTEXT.contains(&attribute) || a.signs.occasions == b.signs.occasions;
    let is_own = |statement: &Prepared<'_>| statement.person.is_none() || statement.person_is_close;
    let same_person = a.person == b.person || is_own(a) && is_own(b) && a.may_share_subject(b);
    !is_limited && !is_plan && !is_addition && same_occasions && same_person
}

fn differ(attribute: &str, (one, a): (&Claim, &Prepared<'_>), (other, b): (&Claim, &Prepared<'_>)) -> bool {
    let share = |x: &[&str], y: &[&str]| x.iter().any(|value| y.contains(value));
    if share(&one.given, &other.given) {
        return false;
    }
    if share(&one.given, &other.denied) || share(&one.denied, &other.given) {
        let own_words = ATTRIBUTES_OF_SOMETHING.iter().find(|(name, _)| *name == attribute);
        return own_words.is_none_or(|(_, own_words)| name_same_thing(a, b, own_words));
    }
    let newer = if a.at > b.at { a } else { b };
    let says_changed = newer.signs.says_changed
        || newer.signs.says_over
        || a.at == b.at && (a.signs.says_changed || b.signs.says_changed);
    let is_exclusive = !SEVERAL_AT_ONCE.contains(&attribute) || says_changed;
    let are_compatible = COMPATIBLE_CLASSES.iter().any(|[x, y]| {
        one.given.contains(x) && other.given.contains(y) || one.given.contains(y) && other.given.contains(x)
    });
    is_exclusive && !are_compatible && !one.given.is_empty() && !other.given.is_empty()
}

/// True if both statements name the same thing, such as penicillin, in any of the languages. Terms that begin with a
/// word in `own_words` do not count.
fn name_same_thing(a: &Prepared<'_>, b: &Prepared<'_>, own_words: &[&str]) -> bool {
    let is_own = |term: &str| own_words.iter().any(|word| term.starts_with(word));
    a.things.iter().any(|term| b.things.contains(term) && !is_own(term))
}

fn claims(position: usize, statement: &Prepared<'_>) -> Vec<(AttributeKey, Claim)> {
    let text = &statement.folded.text;
    if statement.marks.is_past || text.chars().count() > MAX_CHARS {
        return Vec::new();
    }
    let mut values: Vec<(usize, usize, SlotValue)> = Vec::new();
    let mut denials_before: Vec<(usize, usize)> = Vec::new();
    let mut denials_after: Vec<(usize, usize)> = Vec::new();
    let mut first_parts: Vec<(usize, usize, usize)> = Vec::new();
    let mut hits = patterns().hits(text);
    hits.sort_by_key(|hit| hit.start);
    for hit in hits {
        let may_be_in = |code: &str| statement.folded.languages.may_be(code);
        match *hit.value {
            Pattern::Value(value, code) if may_be_in(code) => values.push((hit.start, hit.end, value)),
            Pattern::Part(number, true, _, code) if may_be_in(code) => first_parts.push((number, hit.start, hit.end)),
            Pattern::Part(number, false, value, code) if may_be_in(code) => {
                let first = first_parts.iter().rev().find(|(n, _, end)| {
                    *n == number
                        && *end <= hit.start
                        && hit.start - *end <= MAX_GAP
                        && !ends_clause(text, *end, hit.start)
                });
                first.iter().for_each(|(_, start, _)| values.push((*start, hit.end, value)));
            }
            Pattern::DeniesBefore
                if !statement.signs.says_over
                    && text.get(hit.start..hit.end).is_some_and(|word| DENIALS_IF_OVER.contains(&word)) => {}
            Pattern::DeniesBefore => denials_before.push((hit.start, hit.end)),
            Pattern::DeniesAfter => denials_after.push((hit.start, hit.end)),
            _ => {}
        }
    }
    // A value inside a longer value of the same attribute is dropped: "no bullet points" contains "bullet points", but
    // means something else.
    let all = values.clone();
    values.retain(|(start, end, value)| {
        !all.iter()
            .any(|(s, e, other)| other.attribute == value.attribute && s <= start && end <= e && e - s > end - start)
    });
    let mut out: BTreeMap<AttributeKey, Claim> = BTreeMap::new();
    for (start, end, value) in values {
        let is_denied = denials_before.iter().any(|(s, e)| {
            *e <= start
                && start - *e <= MAX_BEFORE
                && !ends_clause(text, *e, start)
                && !values_between(&all, value, *s, start)
        }) || denials_after.iter().any(|(s, _)| {
            *s >= end && *s - end <= MAX_AFTER && !ends_clause(text, end, *s) && !values_between(&all, value, end, *s)
        });
        let is_style = value.attribute.starts_with("style_");
        if is_about_thing(&text[..start])
            || is_about_past(text, start)
            || is_purpose(text, start)
            || is_concession(text, start)
            || is_part_of_compound(text, start, end)
            || is_style && style_context().hits(text).is_empty()
        {
            continue;
        }
        let thing = (value.attribute == LANGUAGE_SKILL).then(|| language_in(statement)).flatten();
        if value.attribute == LANGUAGE_SKILL && thing.is_none() {
            continue;
        }
        let relation = if statement.person.is_some() { None } else { subject(text, start) };
        let claim = out.entry((value.attribute, relation, thing)).or_insert_with(|| Claim {
            statement: position,
            given: Vec::new(),
            denied: Vec::new(),
        });
        if is_denied && !statement.signs.affirms {
            claim.denied.push(value.class)
        } else {
            claim.given.push(value.class)
        }
    }
    out.into_iter().collect()
}

/// True if another value of the attribute is between a denying word and a value: "no Windows but Linux".
fn values_between(all: &[(usize, usize, SlotValue)], value: SlotValue, from: usize, to: usize) -> bool {
    all.iter().any(|(start, end, other)| other.attribute == value.attribute && *start >= from && *end <= to)
}

/// True if the value that starts at `start` is in a concession, which states no value: "auch wenn auf Englisch gefragt
/// wird".
fn is_concession(text: &str, start: usize) -> bool {
    const CONCESSIONS: [&str; 5] = ["even if ", "even when ", "even though ", "auch wenn ", "selbst wenn "];
    let before = text.get(..start).unwrap_or_default();
    let sentence = before.rfind(['.', ';', '!']).map_or(before, |end| &before[end..]);
    CONCESSIONS.iter().any(|phrase| sentence.contains(phrase))
}

/// True if the clause before the byte `start` says that the value was true in the past: "was married to Ruben".
fn is_about_past(text: &str, start: usize) -> bool {
    const PAST: [&str; 6] = ["was", "were", "had", "war", "waren", "hatte"];
    let before = text.get(..start).unwrap_or_default();
    let clause = before.rfind(CLAUSE_ENDS).map_or(before, |end| &before[end..]);
    words(clause).iter().any(|word| PAST.contains(word))
}

/// True if the value is an English gerund that only describes the noun after it: "hates cooking shows".
fn is_part_of_compound(text: &str, start: usize, end: usize) -> bool {
    let is_gerund = text.get(start..end).is_some_and(|value| value.ends_with("ing"));
    let next = text.get(end..).filter(|rest| rest.starts_with(' ')).and_then(|rest| words(rest).into_iter().next());
    is_gerund && next.is_some_and(|next| !is_closed_class(next) && !next.ends_with("ly") && next.len() > 2)
}

/// True if the value is only the purpose or the subject of something else: "bought a phone for the self-employment".
fn is_purpose(text: &str, start: usize) -> bool {
    const PREPOSITIONS: [&str; 8] = ["for", "about", "because of", "during", "für", "über", "wegen", "während"];
    const DETERMINERS: [&str; 16] = [
        "the", "her", "his", "my", "their", "a", "an", "die", "den", "das", "der", "seine", "ihre", "meine", "eine",
        "einen",
    ];
    let before = words(text.get(..start).unwrap_or_default());
    let before = match before.as_slice() {
        [rest @ .., last] if DETERMINERS.contains(last) => rest,
        all => all,
    };
    before.last().is_some_and(|last| PREPOSITIONS.contains(last))
}

fn ends_clause(text: &str, from: usize, to: usize) -> bool {
    text.get(from..to).is_none_or(|between| {
        between.contains(CLAUSE_ENDS) || words(between).iter().any(|word| CONTRAST_WORDS.contains(word))
    })
}

/// The language that a statement names, as its position in the list of names. None if the statement names several
/// languages or none.
fn language_in(statement: &Prepared<'_>) -> Option<usize> {
    let mut found: Vec<usize> = languages().hits(&statement.folded.text).iter().map(|hit| *hit.value).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The listed values in a text, each with its attribute.
pub(super) fn values_in(folded: &Folded) -> Vec<(&'static str, &'static str)> {
    let mut out: Vec<(&'static str, &'static str)> = Vec::new();
    for hit in patterns().hits(&folded.text) {
        if let Pattern::Value(value, code) = *hit.value
            && folded.languages.may_be(code)
            && !out.contains(&(value.attribute, value.class))
        {
            out.push((value.attribute, value.class));
        }
    }
    out
}

/// True if the whole text is a listed value of an attribute.
pub(super) fn is_value(text: &str) -> bool {
    let folded = fold(text);
    let hits = patterns().hits(&folded);
    hits.iter().any(|hit| matches!(hit.value, Pattern::Value(..)) && hit.start == 0 && hit.end == folded.len())
}

fn style_context() -> &'static WordSet<()> {
    static WORDS: OnceLock<WordSet<()>> = OnceLock::new();
    WORDS.get_or_init(|| WordSet::new(STYLE_CONTEXT.iter().map(|word| (*word, ()))))
}

fn languages() -> &'static WordSet<usize> {
    static WORDS: OnceLock<WordSet<usize>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let named = LANGUAGE_NAMES.iter().enumerate();
        WordSet::new(named.flat_map(|(n, names)| names.iter().map(move |name| (*name, n))))
    })
}

fn patterns() -> &'static WordSet<Pattern> {
    static WORDS: OnceLock<WordSet<Pattern>> = OnceLock::new();
    WORDS.get_or_init(|| {
        let mut out: Vec<(&'static str, Pattern)> = Vec::new();
        let mut number = 0;
        for language in SLOTS {
            for table in language.tables {
                let Some((attribute, name)) = table.name.split_once('=') else { continue };
                let class = name.split('/').next().unwrap_or(name);
                let value = SlotValue { attribute, class };
                for word in table.list(0) {
                    match word.split_once(" … ") {
                        Some((first, last)) => {
                            number += 1;
                            out.push((first, Pattern::Part(number, true, value, language.code)));
                            out.push((last, Pattern::Part(number, false, value, language.code)));
                        }
                        None => out.push((word, Pattern::Value(value, language.code))),
                    }
                }
            }
        }
        out.extend(DENYING_BEFORE.iter().map(|word| (*word, Pattern::DeniesBefore)));
        out.extend(DENYING_AFTER.iter().map(|word| (*word, Pattern::DeniesAfter)));
        WordSet::new(out)
    })
}
