//! Reading what a person typed. There is no wrong query: what is not understood is words.
use crate::tokenize::{Shape, Words};

/// Words, phrases, and what must or must not be there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// Any of these; the more, the better.
    pub(crate) words: Vec<Part>,
    /// All of these.
    pub(crate) must: Vec<Vec<Part>>,
    /// None of these.
    pub(crate) not: Vec<Vec<Part>>,
}

/// A token at its place in its phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) token: String,
    /// Words that start with it count too.
    pub(crate) prefix: bool,
    /// Place in the phrase.
    pub(crate) place: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Must,
    Not,
}

/// Longest query looked at, in bytes, and most words taken.
const MAX_QUERY: usize = 4096;
const MAX_WORDS: usize = 64;

impl Parsed {
    /// `typing`: the last word may be unfinished.
    pub(crate) fn read(query: &str, typing: bool) -> Self {
        let query = query.get(..query.floor_char_boundary(MAX_QUERY)).unwrap_or_default();
        let mut out = Self::default();
        let mut rest = query.trim_start();
        let unfinished = typing && query.chars().next_back().is_some_and(char::is_alphanumeric);
        while !rest.is_empty() {
            let (sign, after) = match rest.strip_prefix('+') {
                Some(after) => (Sign::Must, after),
                None => rest.strip_prefix('-').map_or((Sign::None, rest), |after| (Sign::Not, after)),
            };
            // A sign counts only right before a word or a phrase: "a - b" and "--x" are words.
            let signed = after.starts_with(is_quote) || after.starts_with(char::is_alphanumeric);
            let (sign, body) = if signed { (sign, after) } else { (Sign::None, rest) };
            let (text, phrase, next) = match body.strip_prefix(is_quote).and_then(closed) {
                Some((inside, next)) => (inside, true, next),
                None => {
                    let end = body.find(char::is_whitespace).unwrap_or(body.len());
                    let (word, next) = body.split_at(end);
                    (word, false, next)
                }
            };
            let last = unfinished && !phrase && next.is_empty();
            out.push(sign, phrase, parts(text, last));
            rest = next.trim_start();
        }
        out.words.truncate(MAX_WORDS);
        out.must.truncate(MAX_WORDS);
        out.not.truncate(MAX_WORDS);
        out
    }

    fn push(&mut self, sign: Sign, phrase: bool, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        match sign {
            Sign::Not => self.not.push(parts),
            Sign::None if !phrase => self.words.extend(parts),
            _ => self.must.push(parts),
        }
    }
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '«' | '»')
}

/// Splits at the closing quote; `None` when there is none.
fn closed(text: &str) -> Option<(&str, &str)> {
    let end = text.find(is_quote)?;
    let (inside, rest) = text.split_at(end);
    Some((inside, rest.strip_prefix(is_quote).unwrap_or(rest)))
}

/// Tokens of a piece of query. The lone last character of a run without spaces is left out where a pair has it: in a
/// text the run may go on. Alone it stands for every pair that starts with it.
pub(crate) fn parts(text: &str, unfinished: bool) -> Vec<Part> {
    let mut words = Words::new(text);
    let mut out: Vec<Part> = Vec::new();
    let mut place = 0;
    while let Some(word) = words.next_word() {
        if word.shape != Shape::Tail {
            out.push(Part { token: word.text.to_owned(), prefix: word.shape == Shape::Single, place });
        }
        place += 1;
    }
    if let Some(last) = out.last_mut().filter(|_| unfinished) {
        last.prefix = true;
    }
    out.truncate(MAX_WORDS);
    out
}
