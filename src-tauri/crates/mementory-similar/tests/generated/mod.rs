//! Made-up memories with labels: which of them say the same. The same seed gives the same list everywhere.
#![allow(dead_code, clippy::expect_used)] // each test binary uses a part; a missing slot is a fault of the table
mod languages;

use languages::{LANGUAGES, Language};
use std::collections::{BTreeSet, HashSet};

/// A text, which statement it makes, and how it was changed from the way it was first said.
pub struct Memory {
    pub text: String,
    pub statement: usize,
    pub edits: Vec<&'static str>,
    pub language: &'static str,
}

/// SplitMix64.
pub struct Dice(u64);

impl Dice {
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

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// One clause of a statement: which template, what fills its slot, whether it is denied.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Clause {
    template: usize,
    slot: String,
    denied: bool,
}

/// How a statement is said.
#[derive(Clone, Copy)]
struct Voice {
    first_person: bool,
    past: bool,
    swapped: bool,
}

const PLAIN: Voice = Voice { first_person: false, past: false, swapped: false };

/// `count` memories in six languages. About half of them stand alone, many beside others that differ in one slot, in a
/// number, or in a negation; the rest are said two to five times in other ways.
pub fn memories(count: usize, seed: u64) -> Vec<Memory> {
    let mut dice = Dice::new(seed);
    let mut out: Vec<Memory> = Vec::with_capacity(count);
    let mut seen: HashSet<(usize, BTreeSet<Clause>)> = HashSet::new();
    let mut statement = 0;
    let mut last: Option<(usize, Vec<Clause>)> = None;
    while out.len() < count {
        let (number, clauses) = match last.take() {
            // A hard one: the statement before with one thing changed.
            Some((number, clauses)) if dice.chance(35) => (number, sibling(&LANGUAGES[number], clauses, &mut dice)),
            _ => {
                let number = dice.below(LANGUAGES.len());
                (number, fresh(&LANGUAGES[number], &mut dice))
            }
        };
        if !seen.insert((number, clauses.iter().cloned().collect())) {
            continue;
        }
        let language = &LANGUAGES[number];
        let first = say(language, &clauses, PLAIN, dice.one(language.subjects));
        let copies = if dice.chance(30) { 1 + dice.below(4) } else { 0 };
        for _ in 0..copies {
            let (text, edits) = again(language, &clauses, &first, &mut dice);
            out.push(Memory { text, statement, edits, language: language.name });
        }
        out.push(Memory { text: first, statement, edits: Vec::new(), language: language.name });
        last = Some((number, clauses));
        statement += 1;
    }
    out.truncate(count);
    // Copies do not stand together in a vault.
    for i in (1..out.len()).rev() {
        out.swap(i, dice.below(i + 1));
    }
    out
}

fn clause(language: &Language, dice: &mut Dice) -> Clause {
    let template = dice.below(language.clauses.len());
    Clause { template, slot: slot(language, template, dice), denied: false }
}

fn slot(language: &Language, template: usize, dice: &mut Dice) -> String {
    match language.clauses[template].slot {
        "number" => (2 + dice.below(90)).to_string(),
        "year" => (1960 + dice.below(65)).to_string(),
        name => {
            let words = language.slots.iter().find(|(slot, _)| *slot == name).expect("a slot of the table").1;
            let all: Vec<&str> = words.split('|').collect();
            dice.one(&all).to_owned()
        }
    }
}

fn fresh(language: &Language, dice: &mut Dice) -> Vec<Clause> {
    let wanted = match dice.below(100) {
        0..15 => 1,
        15..60 => 2,
        60..85 => 3,
        85..97 => 4 + dice.below(3),
        _ => 8 + dice.below(5),
    };
    let mut clauses: Vec<Clause> = Vec::new();
    while clauses.len() < wanted.min(language.clauses.len()) {
        let one = clause(language, dice);
        if clauses.iter().all(|c| c.template != one.template) {
            clauses.push(one);
        }
    }
    clauses
}

fn sibling(language: &Language, mut clauses: Vec<Clause>, dice: &mut Dice) -> Vec<Clause> {
    let at = dice.below(clauses.len());
    if dice.chance(25) {
        clauses[at].denied ^= true;
    } else {
        clauses[at].slot = slot(language, clauses[at].template, dice);
    }
    clauses
}

fn say(language: &Language, clauses: &[Clause], voice: Voice, subject: &str) -> String {
    let mut said: Vec<String> = clauses
        .iter()
        .map(|c| {
            let t = &language.clauses[c.template];
            let form = match (voice.first_person, voice.past, c.denied) {
                (_, _, true) if voice.first_person => t.i_deny,
                (_, _, true) => t.deny,
                (true, _, _) => t.i,
                (_, true, _) => t.past,
                _ => t.now,
            };
            form.replace("{}", &c.slot)
        })
        .collect();
    if voice.swapped {
        let half = said.len() / 2;
        said.rotate_left(half);
    }
    // Two clauses to a sentence.
    let sentences: Vec<String> = said
        .chunks(2)
        .map(|pair| {
            let subject = if voice.first_person { language.i } else { subject };
            let glue = if voice.first_person { language.and_i } else { language.and };
            let text = format!("{subject}{}", pair.join(glue));
            let mut chars = text.chars();
            let head: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
            format!("{head}{}{}", chars.as_str(), language.stop)
        })
        .collect();
    sentences.join(language.space)
}

/// The same statement in another way, and what was changed.
fn again(language: &Language, clauses: &[Clause], first: &str, dice: &mut Dice) -> (String, Vec<&'static str>) {
    let mut edits = Vec::new();
    let mut voice = PLAIN;
    let mut text = first.to_owned();
    let mut subject = None;
    for _ in 0..if dice.chance(30) { 2 } else { 1 } {
        match dice.below(6) {
            0 => {
                subject = Some(dice.one(language.subjects));
                edits.push("filler");
            }
            1 => {
                voice.first_person = true;
                edits.push("person");
            }
            2 if clauses.len() > 1 => {
                voice.swapped = true;
                edits.push("order");
            }
            3 => {
                voice.past = true;
                edits.push("tense");
            }
            _ => {}
        }
    }
    if !edits.is_empty() {
        text = say(language, clauses, voice, subject.unwrap_or(language.subjects[0]));
    }
    if edits.is_empty() || dice.chance(25) {
        match dice.below(6) {
            0 => {
                text = if dice.chance(50) { text.to_lowercase() } else { text.to_uppercase() };
                edits.push("case");
            }
            1 => {
                text = text.replace(['.', '。', ',', '、', '，'], if dice.chance(50) { "" } else { "!" });
                edits.push("punctuation");
            }
            2 => {
                text = format!("{}{text}", dice.one(language.openings));
                edits.push("opening");
            }
            3 if clauses.len() > 1 => {
                text =
                    format!("{}{}{}", text.trim_end_matches(language.stop), dice.one(language.details), language.stop);
                edits.push("detail");
            }
            4 if language.spaced => {
                text = typo(&text, dice);
                edits.push("typo");
            }
            _ => {
                text = if language.spaced { text.replace(' ', "  ") } else { format!(" {text} ") };
                edits.push("spaces");
            }
        }
    }
    (text, edits)
}

/// One slip in a word of five letters or more, any of them, names too.
fn typo(text: &str, dice: &mut Dice) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let long: Vec<usize> = (0..words.len())
        .filter(|i| words[*i].chars().count() >= 5 && words[*i].chars().all(char::is_alphabetic))
        .collect();
    if long.is_empty() {
        return text.to_owned();
    }
    let word = &mut words[dice.one(&long)];
    let mut letters: Vec<char> = word.chars().collect();
    // People rarely miss the first letter.
    let at = if dice.chance(4) { 0 } else { 1 + dice.below(letters.len() - 2) };
    match dice.below(4) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = dice.one(&['a', 'e', 'i', 'n', 'r', 's', 't', 'o']),
    }
    *word = letters.into_iter().collect();
    words.join(" ")
}
