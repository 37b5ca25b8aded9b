//! Generates memories, with labels that show which of them say the same. The same seed produces the same list on every
//! computer.
#![allow(dead_code, clippy::expect_used)] // Each test binary only uses a part of this module.
mod languages;

use languages::{LANGUAGES, Language};
use std::collections::{BTreeSet, HashSet};

/// A text, the number of its statement, and the edits by which it differs from the statement's first wording.
pub struct Memory {
    pub text: String,
    pub statement: usize,
    pub edits: Vec<&'static str>,
    pub language: &'static str,
}

/// A small random number generator (SplitMix64).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// One clause of a statement: its template, the word in its slot, and whether it is negated.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Clause {
    template: usize,
    slot: String,
    is_negated: bool,
}

/// The wording of a statement.
#[derive(Clone, Copy)]
struct Wording {
    is_first_person: bool,
    is_past: bool,
    has_swapped_clauses: bool,
}

const FIRST_WORDING: Wording = Wording { is_first_person: false, is_past: false, has_swapped_clauses: false };

/// Generates `count` memories in six languages. About two fifths of them are the only wording of their statement; many
/// of these differ from another memory only in a slot, a number or a negation. All other statements have two to five
/// wordings each.
pub fn memories(count: usize, seed: u64) -> Vec<Memory> {
    let mut rng = Rng::new(seed);
    let mut out: Vec<Memory> = Vec::with_capacity(count);
    let mut known_statements: HashSet<(usize, BTreeSet<Clause>)> = HashSet::new();
    let mut statement = 0;
    let mut last_statement: Option<(usize, Vec<Clause>)> = None;
    while out.len() < count {
        let (number, clauses) = match last_statement.take() {
            // A difficult case: the previous statement with one change.
            Some((number, clauses)) if rng.chance(35) => {
                (number, with_one_change(&LANGUAGES[number], clauses, &mut rng))
            }
            _ => {
                let number = rng.below(LANGUAGES.len());
                (number, random_clauses(&LANGUAGES[number], &mut rng))
            }
        };
        if !known_statements.insert((number, clauses.iter().cloned().collect())) {
            continue;
        }
        let language = &LANGUAGES[number];
        let first = compose_text(language, &clauses, FIRST_WORDING, rng.pick(language.subjects));
        let copies = if rng.chance(30) { 1 + rng.below(4) } else { 0 };
        for _ in 0..copies {
            let (text, edits) = reword(language, &clauses, &first, &mut rng);
            out.push(Memory { text, statement, edits, language: language.name });
        }
        out.push(Memory { text: first, statement, edits: Vec::new(), language: language.name });
        last_statement = Some((number, clauses));
        statement += 1;
    }
    out.truncate(count);
    // The list is shuffled, because copies of a memory are usually not adjacent in a vault.
    for i in (1..out.len()).rev() {
        out.swap(i, rng.below(i + 1));
    }
    out
}

fn random_clause(language: &Language, rng: &mut Rng) -> Clause {
    let template = rng.below(language.clauses.len());
    Clause { template, slot: random_slot_word(language, template, rng), is_negated: false }
}

fn random_slot_word(language: &Language, template: usize, rng: &mut Rng) -> String {
    match language.clauses[template].slot {
        "number" => (2 + rng.below(90)).to_string(),
        "year" => (1960 + rng.below(65)).to_string(),
        name => {
            let words = language.slots.iter().find(|(slot, _)| *slot == name).expect("a slot of the table").1;
            let choices: Vec<&str> = words.split('|').collect();
            rng.pick(&choices).to_owned()
        }
    }
}

fn random_clauses(language: &Language, rng: &mut Rng) -> Vec<Clause> {
    let clause_count = match rng.below(100) {
        0..15 => 1,
        15..60 => 2,
        60..85 => 3,
        85..97 => 4 + rng.below(3),
        _ => 8 + rng.below(5),
    };
    let mut clauses: Vec<Clause> = Vec::new();
    while clauses.len() < clause_count.min(language.clauses.len()) {
        let one = random_clause(language, rng);
        if clauses.iter().all(|c| c.template != one.template) {
            clauses.push(one);
        }
    }
    clauses
}

fn with_one_change(language: &Language, mut clauses: Vec<Clause>, rng: &mut Rng) -> Vec<Clause> {
    let position = rng.below(clauses.len());
    if rng.chance(25) {
        clauses[position].is_negated ^= true;
    } else {
        clauses[position].slot = random_slot_word(language, clauses[position].template, rng);
    }
    clauses
}

fn compose_text(language: &Language, clauses: &[Clause], wording: Wording, subject: &str) -> String {
    let mut clause_texts: Vec<String> = clauses
        .iter()
        .map(|c| {
            let t = &language.clauses[c.template];
            let form = match (wording.is_first_person, wording.is_past, c.is_negated) {
                (_, _, true) if wording.is_first_person => t.i_negated,
                (_, _, true) => t.negated,
                (true, _, _) => t.i,
                (_, true, _) => t.past,
                _ => t.now,
            };
            form.replace("{}", &c.slot)
        })
        .collect();
    if wording.has_swapped_clauses {
        let half = clause_texts.len() / 2;
        clause_texts.rotate_left(half);
    }
    // Each sentence has two clauses.
    let sentences: Vec<String> = clause_texts
        .chunks(2)
        .map(|pair| {
            let subject = if wording.is_first_person { language.i } else { subject };
            let conjunction = if wording.is_first_person { language.and_i } else { language.and };
            let text = format!("{subject}{}", pair.join(conjunction));
            let mut chars = text.chars();
            let head: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
            format!("{head}{}{}", chars.as_str(), language.stop)
        })
        .collect();
    sentences.join(language.space)
}

/// Another wording of a statement, and the names of the edits that turned the first wording into it.
fn reword(language: &Language, clauses: &[Clause], first: &str, rng: &mut Rng) -> (String, Vec<&'static str>) {
    let mut edits = Vec::new();
    let mut wording = FIRST_WORDING;
    let mut text = first.to_owned();
    let mut subject = None;
    for _ in 0..if rng.chance(30) { 2 } else { 1 } {
        match rng.below(6) {
            0 => {
                subject = Some(rng.pick(language.subjects));
                edits.push("filler");
            }
            1 => {
                wording.is_first_person = true;
                edits.push("person");
            }
            2 if clauses.len() > 1 => {
                wording.has_swapped_clauses = true;
                edits.push("order");
            }
            3 => {
                wording.is_past = true;
                edits.push("tense");
            }
            _ => {}
        }
    }
    if !edits.is_empty() {
        text = compose_text(language, clauses, wording, subject.unwrap_or(language.subjects[0]));
    }
    if edits.is_empty() || rng.chance(25) {
        match rng.below(6) {
            0 => {
                text = if rng.chance(50) { text.to_lowercase() } else { text.to_uppercase() };
                edits.push("case");
            }
            1 => {
                text = text.replace(['.', '。', ',', '、', '，'], if rng.chance(50) { "" } else { "!" });
                edits.push("punctuation");
            }
            2 => {
                text = format!("{}{text}", rng.pick(language.openings));
                edits.push("opening");
            }
            3 if clauses.len() > 1 => {
                text =
                    format!("{}{}{}", text.trim_end_matches(language.stop), rng.pick(language.details), language.stop);
                edits.push("detail");
            }
            4 if language.has_spaces => {
                text = with_typo(&text, rng);
                edits.push("typo");
            }
            _ => {
                text = if language.has_spaces { text.replace(' ', "  ") } else { format!(" {text} ") };
                edits.push("spaces");
            }
        }
    }
    (text, edits)
}

/// Makes a typo in a random word of at least five letters, which may be a name.
fn with_typo(text: &str, rng: &mut Rng) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let long_word_indices: Vec<usize> = (0..words.len())
        .filter(|i| words[*i].chars().count() >= 5 && words[*i].chars().all(char::is_alphabetic))
        .collect();
    if long_word_indices.is_empty() {
        return text.to_owned();
    }
    let word = &mut words[rng.pick(&long_word_indices)];
    let mut letters: Vec<char> = word.chars().collect();
    // Typos rarely affect the first letter.
    let position = if rng.chance(4) { 0 } else { 1 + rng.below(letters.len() - 2) };
    match rng.below(4) {
        0 => letters.swap(position, position + 1),
        1 => drop(letters.remove(position)),
        2 => letters.insert(position, letters[position]),
        _ => letters[position] = rng.pick(&['a', 'e', 'i', 'n', 'r', 's', 't', 'o']),
    }
    *word = letters.into_iter().collect();
    words.join(" ")
}
