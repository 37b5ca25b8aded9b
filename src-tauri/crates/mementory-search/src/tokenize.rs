//! Cutting text into searchable words, for every script.
//!
//! A word is a run of letters, digits and the marks on them, folded (case, accents, compatibility forms). Scripts that
//! do not put spaces between words (Han, kana, Hangul, Thai, Lao, Khmer, Burmese) give overlapping pairs of characters,
//! and the last character of a run alone, so that every character starts some token. Words above 120 bytes are noise
//! (base 64, hashes of hashes) and are left out.
use std::collections::VecDeque;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Longest word kept, in bytes.
const MAX_WORD: usize = 120;
/// A run without spaces is taken in pieces of this many bytes, so that a megabyte of it costs no more memory.
const PIECE: usize = 2048;

/// The folded words of a text as they are in the index, in order.
pub fn tokens(text: &str) -> Vec<String> {
    let mut words = Words::new(text);
    let mut out = Vec::new();
    while let Some(word) = words.next_word() {
        out.push(word.text.to_owned());
    }
    out
}

/// A word with its place in the text.
pub(crate) struct Word<'w> {
    pub(crate) text: &'w str,
    /// Bytes of the source it came from.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) shape: Shape,
}

/// How a token was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A word between spaces.
    Word,
    /// Two neighbours in a run without spaces.
    Pair,
    /// The last character of such a run, which the pair before it holds too.
    Tail,
    /// A run of one character.
    Single,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// White space, punctuation, symbols.
    Gap,
    /// A mark: part of whatever it stands on.
    Mark,
    /// Part of a word.
    Letter,
    /// Of a script without spaces.
    Dense,
}

fn class(c: char) -> Class {
    match c {
        '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{0e00}'..='\u{0eff}'
        | '\u{20000}'..='\u{323af}' => {
            if is_combining_mark(c) {
                Class::Mark
            } else if c.is_alphanumeric() {
                Class::Dense
            } else {
                Class::Gap
            }
        }
        _ if c.is_alphanumeric() => Class::Letter,
        _ if is_combining_mark(c) => Class::Mark,
        _ => Class::Gap,
    }
}

/// Folds as `fold` of mementory-model does, and further where a keyboard has no such letter. Composed again at the end, so
/// that a Hangul syllable is one character.
fn fold_into(text: &str, out: &mut String) {
    let folded = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    let mut plain = String::with_capacity(text.len());
    for c in folded {
        match c {
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' => plain.push('d'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            'ς' => plain.push('σ'),
            // A lower case that decomposes (İ) leaves a mark behind.
            c if is_combining_mark(c) => {}
            c => plain.push(c),
        }
    }
    out.extend(plain.nfc());
}

struct Pending {
    text: String,
    from: usize,
    to: usize,
    shape: Shape,
}

/// The words of a text, one at a time, with no allocation per word while the text is ASCII.
pub(crate) struct Words<'t> {
    text: &'t str,
    at: usize,
    current: String,
    pending: VecDeque<Pending>,
}

impl<'t> Words<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, current: String::with_capacity(64), pending: VecDeque::new() }
    }

    pub(crate) fn next_word(&mut self) -> Option<Word<'_>> {
        loop {
            if let Some(next) = self.pending.pop_front() {
                self.current = next.text;
                return Some(Word { text: &self.current, from: next.from, to: next.to, shape: next.shape });
            }
            let bytes = self.text.as_bytes();
            while bytes.get(self.at).is_some_and(|b| b.is_ascii() && !b.is_ascii_alphanumeric()) {
                self.at += 1;
            }
            let from = self.at;
            while bytes.get(self.at).is_some_and(u8::is_ascii_alphanumeric) {
                self.at += 1;
            }
            match bytes.get(self.at) {
                Some(b) if !b.is_ascii() => self.mixed_run(from),
                next => {
                    if self.at > from && self.at - from <= MAX_WORD {
                        self.current.clear();
                        self.current.push_str(self.text.get(from..self.at).unwrap_or_default());
                        self.current.make_ascii_lowercase();
                        return Some(Word { text: &self.current, from, to: self.at, shape: Shape::Word });
                    }
                    next?;
                }
            }
        }
    }

    /// A run that meets a character outside ASCII, from `from`; at least one character is consumed.
    fn mixed_run(&mut self, from: usize) {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut kind = None;
        let mut end = rest.len();
        let mut more = false;
        for (i, c) in rest.char_indices() {
            let class = if c.is_ascii_alphanumeric() { Class::Letter } else { class(c) };
            match (class, kind) {
                (Class::Gap, None) | (Class::Mark, None) => {
                    self.at = from + i + c.len_utf8();
                    return;
                }
                (Class::Mark, Some(_)) => continue,
                (_, None) => kind = Some(class),
                (Class::Dense, Some(Class::Dense)) if i > PIECE => {
                    // The next piece starts with this character, so that no pair is lost.
                    end = i + c.len_utf8();
                    more = true;
                    break;
                }
                (_, Some(k)) if k == class => {}
                _ => {
                    end = i;
                    break;
                }
            }
        }
        let run = rest.get(..end).unwrap_or_default();
        self.at = from + end;
        if kind == Some(Class::Dense) {
            if more {
                self.at -= run.chars().next_back().map_or(0, char::len_utf8);
            }
            self.dense(run, from, more);
        } else {
            self.letters(run, from);
        }
    }

    fn letters(&mut self, run: &str, from: usize) {
        // No fold makes text a third as long; a run of megabytes is not worth folding to find that out.
        if run.len() > MAX_WORD * 4 {
            return;
        }
        let mut folded = String::with_capacity(run.len());
        if run.is_ascii() {
            // A plain word before a typographic quote or dash.
            folded.push_str(run);
            folded.make_ascii_lowercase();
        } else {
            fold_into(run, &mut folded);
        }
        // A compatibility form can bring a separator along: ½ is 1⁄2.
        for part in folded.split(|c: char| !c.is_alphanumeric()).filter(|p| !p.is_empty() && p.len() <= MAX_WORD) {
            self.pending.push_back(Pending { text: part.to_owned(), from, to: from + run.len(), shape: Shape::Word });
        }
    }

    fn dense(&mut self, run: &str, from: usize, more: bool) {
        let mut folded = String::with_capacity(run.len());
        fold_into(run, &mut folded);
        let chars: Vec<char> = folded.chars().filter(|c| c.is_alphanumeric()).collect();
        // Places in the source, one for each character when folding kept their number.
        let mut starts: Vec<usize> =
            run.char_indices().filter(|(_, c)| !is_combining_mark(*c)).map(|(i, _)| from + i).collect();
        let exact = starts.len() == chars.len();
        starts.push(from + run.len());
        for i in 0..chars.len() {
            let last = i + 1 == chars.len();
            if last && more {
                break;
            }
            let text: String = chars[i..if last { i + 1 } else { i + 2 }].iter().collect();
            let (from, to) =
                if exact { (starts[i], starts[(i + 2).min(chars.len())]) } else { (from, from + run.len()) };
            let shape = match (last, i) {
                (true, 0) => Shape::Single,
                (true, _) => Shape::Tail,
                _ => Shape::Pair,
            };
            self.pending.push_back(Pending { text, from, to, shape });
        }
    }
}

/// The same for tantivy.
#[derive(Clone, Default)]
pub(crate) struct WordTokenizer;

/// The words of one text as tantivy's tokens.
pub(crate) struct WordStream<'t> {
    words: Words<'t>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream { words: Words::new(text), token: Token::default() }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next_word() else { return false };
        self.token.text.clear();
        self.token.text.push_str(word.text);
        self.token.offset_from = word.from;
        self.token.offset_to = word.to;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
