//! Divides a text into the tokens of a [`Form`].
use crate::{
    fold::fold_char,
    form::{Form, Token, TokenKind},
    script::{Script, Sign, makes_another_letter, meaning_of_sign, script_of},
    word_lists::{GERMAN_ONLY_WORDS, MAX_KNOWN_WORD_CHARS, WORD_RULES, WordRule},
};
use std::hash::{DefaultHasher, Hash, Hasher};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Endings of Japanese verbs and adjectives. They count as endings only in a run of Hiragana that follows a word in
/// another script.
const KANA_ENDINGS: [char; 9] = ['る', 'た', 'て', 'い', 'う', 'く', 'む', 'す', 'っ'];

pub(crate) fn hash(parts: impl Hash) -> u64 {
    // This hasher has fixed keys, so the hashes are the same on every computer.
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

struct Tokenizer {
    canonical: String,
    tokens: Vec<Token>,
    keep_fillers: bool,
    /// True if all letters are capitals, or none is, so that capitals do not show which words are names.
    is_single_case: bool,
    is_german: bool,
    follows_separator: bool,
    is_at_sentence_start: bool,
    spanish_first_person: bool,
    /// The current run of letters.
    run: Option<Run>,
    /// End of the previous run of letters, if it is followed only by an apostrophe so far.
    before_apostrophe: Option<usize>,
}

#[derive(Clone, Copy)]
struct Run {
    at: usize,
    starts_with_capital: bool,
    has_only_capitals: bool,
    letter_count: u32,
    tokens_before: usize,
}

impl Form {
    /// The form of a text, which may have any length and be in any script.
    pub fn new(text: &str) -> Self {
        let form = Tokenizer::new(text, false).into_form(text);
        // Filler words become tokens only if the text has no other words.
        if form.tokens.is_empty() { Tokenizer::new(text, true).into_form(text) } else { form }
    }
}

impl Tokenizer {
    fn new(text: &str, keep_fillers: bool) -> Self {
        Self {
            canonical: String::with_capacity(text.len()),
            tokens: Vec::new(),
            keep_fillers,
            is_single_case: !(text.contains(char::is_uppercase)
                && text.contains(|c: char| c.is_alphabetic() && !c.is_uppercase())),
            is_german: text.split(|c: char| !c.is_alphanumeric()).any(|w| GERMAN_ONLY_WORDS.contains(&w)),
            follows_separator: false,
            is_at_sentence_start: true,
            spanish_first_person: false,
            run: None,
            before_apostrophe: None,
        }
    }

    /// Reads the text and returns its form.
    fn into_form(mut self, text: &str) -> Form {
        self.read_text(text);
        self.build_form()
    }

    fn read_text(&mut self, text: &str) {
        let mut chars = text.nfkd().peekable();
        let mut previous_char = ' ';
        while let Some(c) = chars.next() {
            let next_char = chars.peek().copied().unwrap_or(' ');
            if is_combining_mark(c) {
                if self.run.is_some() && makes_another_letter(c) {
                    self.canonical.push(c);
                }
                continue;
            }
            if c.is_alphanumeric() {
                self.add_letter(c);
            } else if self.belongs_to_word(c, next_char) {
                self.canonical.push(c);
            } else {
                self.read_sign(c, previous_char, next_char);
            }
            previous_char = c;
        }
        self.end_run(false);
    }

    fn add_letter(&mut self, c: char) {
        let is_capital = c.is_uppercase();
        if self.run.is_none() {
            if !self.canonical.is_empty() {
                self.canonical.push(' ');
            }
            self.run = Some(Run {
                at: self.canonical.len(),
                starts_with_capital: is_capital,
                has_only_capitals: true,
                letter_count: 0,
                tokens_before: self.tokens.len(),
            });
        }
        if let Some(run) = &mut self.run {
            run.has_only_capitals &= is_capital;
            run.letter_count += 1;
        }
        let canonical = &mut self.canonical;
        fold_char(c, true, |c| canonical.push(c));
    }

    /// Whether a sign is part of a name, as in C++, C#, F#, A+ and A-.
    fn belongs_to_word(&self, c: char, next_char: char) -> bool {
        match (&self.run, c) {
            (Some(_), '+' | '#') => true,
            (Some(run), '-') => {
                run.letter_count <= 2 && run.has_only_capitals && !next_char.is_alphanumeric() && !self.is_single_case
            }
            _ => false,
        }
    }

    fn read_sign(&mut self, c: char, previous_char: char, next_char: char) {
        let sign = meaning_of_sign(c);
        self.end_run(sign == Sign::Apostrophe);
        match sign {
            Sign::SentenceEnd => {
                self.is_at_sentence_start = true;
                self.follows_separator = true;
            }
            Sign::Separator => self.follows_separator = true,
            Sign::Decisive => self.add_sign(c, TokenKind::Decisive, &[c, '\u{0}']),
            Sign::Negation => self.add_sign(c, TokenKind::Decisive, &['n', 'o', 't']),
            Sign::Emoji => self.add_sign(c, TokenKind::Emoji, &[c]),
            // A minus sign has a space before it and a number after it.
            Sign::Ignored if matches!(c, '-' | '\u{2212}') && previous_char == ' ' && next_char.is_numeric() => {
                self.add_sign('-', TokenKind::Decisive, &['-']);
            }
            Sign::Ignored | Sign::Apostrophe => {}
        }
    }

    fn add_sign(&mut self, c: char, kind: TokenKind, compared_chars: &[char]) {
        if !self.canonical.is_empty() {
            self.canonical.push(' ');
        }
        let position = self.canonical.len();
        self.canonical.push(c);
        let compared_chars: String = compared_chars.iter().filter(|c| **c != '\u{0}').collect();
        self.push_token(position, self.canonical.len(), kind, hash(compared_chars.as_str()));
    }

    /// Ends a run of letters, which is one word, or in scripts without spaces possibly several.
    fn end_run(&mut self, ends_at_apostrophe: bool) {
        let Some(run) = self.run.take() else {
            if !ends_at_apostrophe {
                self.before_apostrophe = None;
            }
            return;
        };
        let end = self.canonical.len();
        let before_apostrophe = self.before_apostrophe.take();
        if ends_at_apostrophe {
            self.before_apostrophe = Some(end);
        }
        let text = self.canonical[run.at..].to_owned();
        if let Some(before) = before_apostrophe {
            // In "don't" and "isn't", the verb is removed, because the contraction counts as one negation.
            if text == "t" && self.canonical[..before].ends_with('n') {
                if self.tokens.last().is_some_and(|t| (t.at + t.len) as usize == before) {
                    self.tokens.pop();
                }
                self.push_token(run.at, end, TokenKind::Decisive, hash("not"));
                return;
            }
            if matches!(text.as_str(), "s" | "d" | "m" | "ll" | "re" | "ve") {
                return;
            }
        }
        // A contracted article or pronoun, as in "l'eau" and "j'aime", is not a separate word.
        if ends_at_apostrophe && matches!(text.as_str(), "l" | "d" | "j" | "qu" | "n" | "s" | "c" | "m" | "t") {
            return;
        }
        let mut position = run.at;
        let mut stem = None;
        for (script, piece) in script_runs(&text) {
            match script {
                Script::Spaced | Script::Katakana => self.add_word(run, position, piece),
                Script::Hiragana => self.add_hiragana(position, piece, stem),
                Script::Han | Script::Other => self.add_unspaced(position, piece),
            }
            stem = Some(script);
            position += piece.len();
        }
        if self.tokens.len() > run.tokens_before {
            self.is_at_sentence_start = false;
        }
    }

    fn add_word(&mut self, run: Run, position: usize, piece: &str) {
        let end = position + piece.len();
        let is_first = self.tokens.is_empty();
        self.spanish_first_person |= matches!(piece, "yo" | "mi" | "mis");
        if piece.chars().any(char::is_numeric) {
            return self.push_token(position, end, TokenKind::Decisive, hash(piece));
        }
        let is_inside_sentence = !self.is_at_sentence_start && !self.is_single_case;
        let letter_count = run.letter_count;
        // In "blood group A", "the US" and "IT", the capitalised word is not an article or a pronoun.
        let is_acronym = is_inside_sentence && run.has_only_capitals && !piece.eq("i") && letter_count < 6;
        match WORD_RULES.get(piece) {
            Some(WordRule::Decisive(value)) => self.push_token(position, end, TokenKind::Decisive, hash(&**value)),
            Some(WordRule::Conjunction) if !is_acronym && !self.keep_fillers => self.follows_separator = true,
            Some(WordRule::Filler) if !is_acronym && !self.keep_fillers => self.is_at_sentence_start = false,
            rule => {
                let compared_word = if let Some(WordRule::SameAs(value)) = rule { value } else { piece };
                let kind = match () {
                    () if is_first => TokenKind::SentenceStart,
                    () if run.starts_with_capital && is_inside_sentence && !self.is_german => TokenKind::Name,
                    () if run.starts_with_capital && !self.is_single_case && !self.is_german => {
                        TokenKind::SentenceStart
                    }
                    () => TokenKind::Word,
                };
                self.push_token(position, end, kind, hash(compared_word));
            }
        }
    }

    /// Reads text in a script without spaces. Known words are recognised first; everything else is read character by
    /// character.
    fn add_unspaced(&mut self, mut position: usize, mut rest: &str) {
        while let Some(next) = letter_len(rest) {
            let len = match known_word(rest) {
                Some((len, WordRule::Decisive(value))) => {
                    self.push_token(position, position + len, TokenKind::Decisive, hash(&**value));
                    len
                }
                Some((len, rule)) if !self.keep_fillers => {
                    self.follows_separator |= rule == &WordRule::Conjunction;
                    len
                }
                _ => {
                    self.push_token(position, position + next, TokenKind::Char, hash(&rest[..next]));
                    next
                }
            };
            position += len;
            rest = &rest[len..];
        }
    }

    /// Reads Hiragana. The first character after a Chinese character is an ending. Known grammatical words are ignored.
    fn add_hiragana(&mut self, mut position: usize, mut rest: &str, stem: Option<Script>) {
        let mut is_ending = matches!(stem, Some(Script::Han));
        let mut is_after_letter = stem.is_some();
        while let Some(next) = letter_len(rest) {
            let len = match known_word(rest) {
                Some((len, WordRule::Decisive(value))) => {
                    self.push_token(position, position + len, TokenKind::Decisive, hash(&**value));
                    len
                }
                Some((len, rule)) if !self.keep_fillers && (is_after_letter || len > next) => {
                    self.follows_separator |= rule == &WordRule::Conjunction;
                    len
                }
                _ if is_ending => next,
                _ if stem.is_some() && rest.starts_with(KANA_ENDINGS) && next == 'る'.len_utf8() => next,
                _ => {
                    self.push_token(position, position + next, TokenKind::Char, hash(&rest[..next]));
                    next
                }
            };
            is_ending = false;
            is_after_letter = true;
            position += len;
            rest = &rest[len..];
        }
    }

    fn push_token(&mut self, at: usize, end: usize, kind: TokenKind, hash: u64) {
        let len = u32::try_from(end - at).unwrap_or(u32::MAX);
        // Words beyond the first 4 GiB are not compared, but the digest in the sketch includes them.
        if let Ok(at) = u32::try_from(at) {
            self.tokens.push(Token { hash, at, len, kind, follows_separator: self.follows_separator });
        }
        self.follows_separator = false;
        self.is_at_sentence_start = false;
    }

    fn build_form(self) -> Form {
        let mut sorted_indices: Vec<u32> = (0..u32::try_from(self.tokens.len()).unwrap_or(u32::MAX)).collect();
        sorted_indices.sort_by_key(|i| (self.tokens[*i as usize].hash, *i));
        let decisive = sorted_indices
            .iter()
            .map(|i| &self.tokens[*i as usize])
            .filter(|t| t.kind == TokenKind::Decisive)
            .fold(0, |h, t| hash((h, t.hash)));
        Form {
            canonical: self.canonical,
            hashes: sorted_indices.iter().map(|i| self.tokens[*i as usize].hash).collect(),
            indices_by_hash: sorted_indices.into_boxed_slice(),
            tokens: self.tokens.into_boxed_slice(),
            decisive_hash: decisive,
            spanish_first_person: self.spanish_first_person,
        }
    }
}

/// Divides a run of letters where the script changes. Combining marks and long-vowel signs belong to the letter before
/// them.
fn script_runs(text: &str) -> impl Iterator<Item = (Script, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = script_of(rest.chars().next()?);
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                let script = script_of(*c);
                script != first && !is_combining_mark(*c) && !(*c == 'ー' && first == Script::Hiragana)
            })
            .map_or(rest.len(), |(position, _)| position);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some((first, piece))
    })
}

/// Length in bytes of the first letter, including its marks.
fn letter_len(text: &str) -> Option<usize> {
    text.chars().next()?;
    Some(text.char_indices().skip(1).find(|(_, c)| !is_combining_mark(*c)).map_or(text.len(), |(position, _)| position))
}

/// The longest known word at the start of a text in a script without spaces, with its length in bytes.
fn known_word(text: &str) -> Option<(usize, &'static WordRule)> {
    let mut char_ends = [0; 24];
    let mut count = 0;
    for (position, c) in
        text.char_indices().skip(1).map(|(position, c)| (position, Some(c))).chain([(text.len(), None)])
    {
        if c.is_none_or(|c| !is_combining_mark(c)) {
            char_ends[count] = position;
            count += 1;
        }
        if count == char_ends.len().min(*MAX_KNOWN_WORD_CHARS) {
            break;
        }
    }
    char_ends[..count].iter().rev().find_map(|end| Some((*end, WORD_RULES.get(&text[..*end])?)))
}
