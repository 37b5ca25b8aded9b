//! A text cut down to what a comparison looks at: words that say something, in order, with what each is.
use crate::{
    script::{Script, Sign, makes_a_letter, script, sign},
    word_lists::{GERMAN_ONLY, Known, LONGEST, WORDS},
};
use std::hash::{DefaultHasher, Hash, Hasher};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Endings of Japanese verbs and adjectives; they count only right after a stem.
const KANA_ENDINGS: [char; 9] = ['る', 'た', 'て', 'い', 'う', 'く', 'む', 'す', 'っ'];

/// What a word is to a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A word of a script with spaces.
    Word,
    /// The first word of a sentence: whom or what it is about, or the verb.
    Start,
    /// Written with a capital inside a sentence.
    Name,
    /// One character of a script without spaces.
    Char,
    /// An emoji: one more or less is no difference, another one is.
    Picture,
    /// A number, a negation, a relation, a month: it has to be the same in both.
    Hard,
}

/// One word of a form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    /// Hash of what it is compared by, in memory only.
    pub(crate) hash: u64,
    at: u32,
    len: u32,
    pub(crate) what: What,
    /// A comma, an "and" or the end of a sentence stands between it and the word before.
    pub(crate) joined: bool,
}

/// A text as the comparison sees it. It holds the text's words: as secret as the text.
#[derive(Clone)]
pub struct Form {
    canonical: String,
    tokens: Box<[Token]>,
    /// Places of `tokens`, by hash.
    sorted: Box<[u32]>,
    /// Their hashes in that order, side by side: most pairs are told apart by these alone.
    hashes: Box<[u64]>,
    hard: u64,
    /// It says "I" or "my" in Spanish, where the first person hides in the verb.
    i: bool,
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Form({} words)", self.tokens.len())
    }
}

impl Form {
    /// The form of a text of any length in any script.
    pub fn new(text: &str) -> Self {
        let mut cutter = Cutter::new(text, false);
        cutter.cut(text);
        if cutter.tokens.is_empty() {
            // Nothing but light words: they are all there is to compare.
            cutter = Cutter::new(text, true);
            cutter.cut(text);
        }
        cutter.form()
    }

    /// True for a text without a letter, a digit or a sign that says something.
    pub fn is_empty(&self) -> bool {
        self.canonical.is_empty()
    }

    /// Folded words with single spaces between them. Equal = the same text.
    pub(crate) fn canonical(&self) -> &str {
        &self.canonical
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    pub(crate) fn sorted(&self) -> &[u32] {
        &self.sorted
    }

    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Hash of all hard words, in any order. Different = not alike.
    pub(crate) fn hard(&self) -> u64 {
        self.hard
    }

    /// What a word looks like.
    pub(crate) fn word(&self, token: &Token) -> &str {
        self.canonical.get(token.at as usize..(token.at + token.len) as usize).unwrap_or_default()
    }

    /// The first person speaks, and hides in Spanish verbs.
    pub(crate) fn is_i(&self) -> bool {
        self.i
    }

    /// The hashes of the words in order: equal = told apart by light words only.
    pub(crate) fn core(&self) -> Vec<u64> {
        self.tokens.iter().map(|t| t.hash).collect()
    }

    /// Takes over what another form with the same core knows better: that a word is a name.
    pub(crate) fn learn(&mut self, other: &Form) {
        if self.tokens.len() == other.tokens.len() {
            for (mine, theirs) in self.tokens.iter_mut().zip(&other.tokens) {
                mine.what = stricter(mine.what, theirs.what);
                mine.joined |= theirs.joined;
            }
            self.i |= other.i;
        }
    }
}

fn stricter(a: What, b: What) -> What {
    match (a, b) {
        (What::Name, What::Word | What::Start) | (What::Word | What::Start, What::Name) => What::Name,
        (What::Start, What::Word) | (What::Word, What::Start) => What::Start,
        _ => a,
    }
}

/// A word as it is kept in lists: folded as texts are.
pub(crate) fn fold_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.nfkd() {
        fold_char(c, !out.is_empty(), |c| out.push(c));
    }
    out
}

/// The rule of `mementory_model::fold` for one decomposed character, but marks that make another letter stay.
fn fold_char(c: char, after_letter: bool, mut out: impl FnMut(char)) {
    if is_combining_mark(c) {
        if after_letter && makes_a_letter(c) {
            out(c);
        }
        return;
    }
    for lower in c.to_lowercase() {
        if lower == 'ß' {
            out('s');
            out('s');
        } else if !is_combining_mark(lower) {
            out(lower);
        }
    }
}

pub(crate) fn hash(parts: impl Hash) -> u64 {
    // Fixed keys: the same on every machine.
    let mut h = DefaultHasher::new();
    parts.hash(&mut h);
    h.finish()
}

struct Cutter {
    canonical: String,
    tokens: Vec<Token>,
    keep_light: bool,
    /// Letters are all capitals or none is: capitals say nothing.
    flat: bool,
    german: bool,
    joined: bool,
    at_start: bool,
    i: bool,
    /// Where the run of letters begins, and what its raw letters were.
    run: Option<Run>,
    /// The end of the run before, when nothing but an apostrophe follows it.
    glued: Option<usize>,
}

#[derive(Clone, Copy)]
struct Run {
    at: usize,
    capital: bool,
    all_capitals: bool,
    letters: u32,
    tokens_before: usize,
}

impl Cutter {
    fn new(text: &str, keep_light: bool) -> Self {
        Self {
            canonical: String::with_capacity(text.len()),
            tokens: Vec::new(),
            keep_light,
            flat: !(text.contains(char::is_uppercase)
                && text.contains(|c: char| c.is_alphabetic() && !c.is_uppercase())),
            german: text.split(|c: char| !c.is_alphanumeric()).any(|w| GERMAN_ONLY.contains(&w)),
            joined: false,
            at_start: true,
            i: false,
            run: None,
            glued: None,
        }
    }

    fn cut(&mut self, text: &str) {
        let mut chars = text.nfkd().peekable();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            let next = chars.peek().copied().unwrap_or(' ');
            if is_combining_mark(c) {
                if self.run.is_some() && makes_a_letter(c) {
                    self.canonical.push(c);
                }
                continue;
            }
            if c.is_alphanumeric() {
                self.letter(c);
            } else if self.attaches(c, next) {
                self.canonical.push(c);
            } else {
                self.gap(c, before, next);
            }
            before = c;
        }
        self.end_run(false);
    }

    fn letter(&mut self, c: char) {
        let capital = c.is_uppercase();
        if self.run.is_none() {
            if !self.canonical.is_empty() {
                self.canonical.push(' ');
            }
            self.run = Some(Run {
                at: self.canonical.len(),
                capital,
                all_capitals: true,
                letters: 0,
                tokens_before: self.tokens.len(),
            });
        }
        if let Some(run) = &mut self.run {
            run.all_capitals &= capital;
            run.letters += 1;
        }
        let canonical = &mut self.canonical;
        fold_char(c, true, |c| canonical.push(c));
    }

    /// C++, C#, F#, A+, A-: the sign is part of the name.
    fn attaches(&self, c: char, next: char) -> bool {
        match (&self.run, c) {
            (Some(_), '+' | '#') => true,
            (Some(run), '-') => run.letters <= 2 && run.all_capitals && !next.is_alphanumeric() && !self.flat,
            _ => false,
        }
    }

    fn gap(&mut self, c: char, before: char, next: char) {
        let sign = sign(c);
        self.end_run(sign == Sign::Apostrophe);
        match sign {
            Sign::End => {
                self.at_start = true;
                self.joined = true;
            }
            Sign::Join => self.joined = true,
            Sign::Hard => self.sign(c, What::Hard, &[c, '\u{0}']),
            Sign::Cross => self.sign(c, What::Hard, &['n', 'o', 't']),
            Sign::Picture => self.sign(c, What::Picture, &[c]),
            // A minus before a number that nothing stands before.
            Sign::Nothing if matches!(c, '-' | '\u{2212}') && before == ' ' && next.is_numeric() => {
                self.sign('-', What::Hard, &['-']);
            }
            Sign::Nothing | Sign::Apostrophe => {}
        }
    }

    fn sign(&mut self, c: char, what: What, compared: &[char]) {
        if !self.canonical.is_empty() {
            self.canonical.push(' ');
        }
        let at = self.canonical.len();
        self.canonical.push(c);
        let compared: String = compared.iter().filter(|c| **c != '\u{0}').collect();
        self.push(at, self.canonical.len(), what, hash(compared.as_str()));
    }

    /// A run of letters is over; it is one word, or several of scripts without spaces.
    fn end_run(&mut self, apostrophe: bool) {
        let Some(run) = self.run.take() else {
            if !apostrophe {
                self.glued = None;
            }
            return;
        };
        let end = self.canonical.len();
        let glued = self.glued.take();
        if apostrophe {
            self.glued = Some(end);
        }
        let text = self.canonical[run.at..].to_owned();
        if let Some(before) = glued {
            // don't, isn't: the verb before is part of the negation.
            if text == "t" && self.canonical[..before].ends_with('n') {
                if self.tokens.last().is_some_and(|t| (t.at + t.len) as usize == before) {
                    self.tokens.pop();
                }
                self.push(run.at, end, What::Hard, hash("not"));
                return;
            }
            if matches!(text.as_str(), "s" | "d" | "m" | "ll" | "re" | "ve") {
                return;
            }
        }
        // l'eau, j'aime: what was left out is an article or a pronoun.
        if apostrophe && matches!(text.as_str(), "l" | "d" | "j" | "qu" | "n" | "s" | "c" | "m" | "t") {
            return;
        }
        let mut at = run.at;
        let mut stem = None;
        for (script, piece) in pieces(&text) {
            match script {
                Script::Spaced | Script::Katakana => self.word(run, at, piece),
                Script::Hiragana => self.kana(at, piece, stem),
                Script::Han | Script::Other => self.dense(at, piece),
            }
            stem = Some(script);
            at += piece.len();
        }
        if self.tokens.len() > run.tokens_before {
            self.at_start = false;
        }
    }

    fn word(&mut self, run: Run, at: usize, piece: &str) {
        let end = at + piece.len();
        let first = self.tokens.is_empty();
        self.i |= matches!(piece, "yo" | "mi" | "mis");
        if piece.chars().any(char::is_numeric) {
            return self.push(at, end, What::Hard, hash(piece));
        }
        let inside = !self.at_start && !self.flat;
        let letters = run.letters;
        // Blood group A, the US, IT: no article, no pronoun.
        let shouted = inside && run.all_capitals && !piece.eq("i") && letters < 6;
        match WORDS.get(piece) {
            Some(Known::Hard(value)) => self.push(at, end, What::Hard, hash(&**value)),
            Some(Known::Join) if !shouted && !self.keep_light => self.joined = true,
            Some(Known::Light) if !shouted && !self.keep_light => self.at_start = false,
            known => {
                let compared = if let Some(Known::Equal(value)) = known { value } else { piece };
                let what = match () {
                    () if first => What::Start,
                    () if run.capital && inside && !self.german => What::Name,
                    () if run.capital && !self.flat && !self.german => What::Start,
                    () => What::Word,
                };
                self.push(at, end, what, hash(compared));
            }
        }
    }

    /// Chinese characters and letters without spaces: known words first, then one by one.
    fn dense(&mut self, mut at: usize, mut rest: &str) {
        while let Some(next) = letter_len(rest) {
            let len = match known(rest) {
                Some((len, Known::Hard(value))) => {
                    self.push(at, at + len, What::Hard, hash(&**value));
                    len
                }
                Some((len, known)) if !self.keep_light => {
                    self.joined |= known == &Known::Join;
                    len
                }
                _ => {
                    self.push(at, at + next, What::Char, hash(&rest[..next]));
                    next
                }
            };
            at += len;
            rest = &rest[len..];
        }
    }

    /// Hiragana: after a stem it is an ending, and known words of grammar count nothing.
    fn kana(&mut self, mut at: usize, mut rest: &str, stem: Option<Script>) {
        let mut ending = matches!(stem, Some(Script::Han));
        let mut after = stem.is_some();
        while let Some(next) = letter_len(rest) {
            let len = match known(rest) {
                Some((len, Known::Hard(value))) => {
                    self.push(at, at + len, What::Hard, hash(&**value));
                    len
                }
                Some((len, known)) if !self.keep_light && (after || len > next) => {
                    self.joined |= known == &Known::Join;
                    len
                }
                _ if ending => next,
                _ if stem.is_some() && rest.starts_with(KANA_ENDINGS) && next == 'る'.len_utf8() => next,
                _ => {
                    self.push(at, at + next, What::Char, hash(&rest[..next]));
                    next
                }
            };
            ending = false;
            after = true;
            at += len;
            rest = &rest[len..];
        }
    }

    fn push(&mut self, at: usize, end: usize, what: What, hash: u64) {
        let len = u32::try_from(end - at).unwrap_or(u32::MAX);
        // Beyond 4 GiB nothing is looked at as a word any more; the sketch's digest still covers it.
        if let Ok(at) = u32::try_from(at) {
            self.tokens.push(Token { hash, at, len, what, joined: self.joined });
        }
        self.joined = false;
        self.at_start = false;
    }

    fn form(self) -> Form {
        let mut sorted: Vec<u32> = (0..u32::try_from(self.tokens.len()).unwrap_or(u32::MAX)).collect();
        sorted.sort_by_key(|i| (self.tokens[*i as usize].hash, *i));
        let hard = sorted
            .iter()
            .map(|i| &self.tokens[*i as usize])
            .filter(|t| t.what == What::Hard)
            .fold(0, |h, t| hash((h, t.hash)));
        Form {
            canonical: self.canonical,
            hashes: sorted.iter().map(|i| self.tokens[*i as usize].hash).collect(),
            sorted: sorted.into_boxed_slice(),
            tokens: self.tokens.into_boxed_slice(),
            hard,
            i: self.i,
        }
    }
}

/// A run of letters cut where the script changes. A mark belongs to the letter before it; a long-vowel sign does too.
fn pieces(text: &str) -> impl Iterator<Item = (Script, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = script(rest.chars().next()?);
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                let other = script(*c);
                other != first && !is_combining_mark(*c) && !(*c == 'ー' && first == Script::Hiragana)
            })
            .map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((first, piece))
    })
}

/// Bytes of the first letter with its marks.
fn letter_len(text: &str) -> Option<usize> {
    text.chars().next()?;
    Some(text.char_indices().skip(1).find(|(_, c)| !is_combining_mark(*c)).map_or(text.len(), |(at, _)| at))
}

/// The longest known word that a text of a dense script begins with.
fn known(text: &str) -> Option<(usize, &'static Known)> {
    let mut ends = [0; 24];
    let mut count = 0;
    for (at, c) in text.char_indices().skip(1).map(|(at, c)| (at, Some(c))).chain([(text.len(), None)]) {
        if c.is_none_or(|c| !is_combining_mark(c)) {
            ends[count] = at;
            count += 1;
        }
        if count == ends.len().min(*LONGEST) {
            break;
        }
    }
    ends[..count].iter().rev().find_map(|end| Some((*end, WORDS.get(&text[..*end])?)))
}
