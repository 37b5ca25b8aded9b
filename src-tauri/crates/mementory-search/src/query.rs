//! Parses a typed query. Every query is valid: text without a special meaning is searched as words.
use crate::tokenize::{TokenShape, Words};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedQuery {
    /// Optional words. A document ranks higher the more of them it contains.
    pub(crate) words: Vec<QueryToken>,
    /// Phrases that must all occur.
    pub(crate) required: Vec<Vec<QueryToken>>,
    /// Phrases that must not occur.
    pub(crate) forbidden: Vec<Vec<QueryToken>>,
}

/// A token at a position in a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueryToken {
    pub(crate) token: String,
    /// True if words that start with the token match too.
    pub(crate) is_prefix: bool,
    /// Position in the phrase, in words.
    pub(crate) position: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Required,
    Forbidden,
}

/// Maximum length of a query in bytes. The remaining bytes of a longer query are ignored.
const MAX_QUERY_BYTES: usize = 4096;
/// Maximum number of entries in each list of [`ParsedQuery`], and of tokens in each part of a query.
const MAX_WORDS: usize = 64;

impl ParsedQuery {
    /// Parses a query. If `is_typing` is true, the last word may be unfinished.
    pub(crate) fn parse(query: &str, is_typing: bool) -> Self {
        let query = query.get(..query.floor_char_boundary(MAX_QUERY_BYTES)).unwrap_or_default();
        let mut out = Self::default();
        let mut rest = query.trim_start();
        let is_unfinished = is_typing && query.chars().next_back().is_some_and(char::is_alphanumeric);
        while !rest.is_empty() {
            let (sign, after_sign) = match rest.strip_prefix('+') {
                Some(after_sign) => (Sign::Required, after_sign),
                None => rest.strip_prefix('-').map_or((Sign::None, rest), |after_sign| (Sign::Forbidden, after_sign)),
            };
            // A sign counts only directly before a word or phrase. In "a - b" and "--x", it is ignored.
            let has_sign = after_sign.starts_with(is_quote) || after_sign.starts_with(char::is_alphanumeric);
            let (sign, body) = if has_sign { (sign, after_sign) } else { (Sign::None, rest) };
            let (text, is_phrase, next) = match body.strip_prefix(is_quote).and_then(split_at_closing_quote) {
                Some((inside, next)) => (inside, true, next),
                None => {
                    let end = body.find(char::is_whitespace).unwrap_or(body.len());
                    let (word, next) = body.split_at(end);
                    (word, false, next)
                }
            };
            let is_last = is_unfinished && !is_phrase && next.is_empty();
            out.push(sign, is_phrase, query_tokens(text, is_last));
            rest = next.trim_start();
        }
        out.words.truncate(MAX_WORDS);
        out.required.truncate(MAX_WORDS);
        out.forbidden.truncate(MAX_WORDS);
        out
    }

    fn push(&mut self, sign: Sign, is_phrase: bool, parts: Vec<QueryToken>) {
        if parts.is_empty() {
            return;
        }
        match sign {
            Sign::Forbidden => self.forbidden.push(parts),
            Sign::None if !is_phrase => self.words.extend(parts),
            _ => self.required.push(parts),
        }
    }
}

pub(crate) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '«' | '»')
}

/// Splits the text at the closing quote. `None` if there is none.
fn split_at_closing_quote(text: &str) -> Option<(&str, &str)> {
    let end = text.find(is_quote)?;
    let (quoted_text, rest) = text.split_at(end);
    Some((quoted_text, rest.strip_prefix(is_quote).unwrap_or(rest)))
}

/// The words of a query, folded as in the index. Operators are treated as plain text. In a script without spaces
/// between words, the result contains pairs of characters instead of words. The result, joined by spaces, is a query
/// for the same words.
pub fn query_words(query: &str) -> Vec<String> {
    let query = query.get(..query.floor_char_boundary(MAX_QUERY_BYTES)).unwrap_or_default();
    query_tokens(query, false).into_iter().map(|part| part.token).collect()
}

/// Tokens of a part of a query. In a script without spaces, tokens are pairs of characters. Unlike in a document, the
/// last character of a longer run is not a separate token, because the run may continue in a document. A run of a
/// single character matches every pair that begins with it.
pub(crate) fn query_tokens(text: &str, is_unfinished: bool) -> Vec<QueryToken> {
    let mut words = Words::new(text);
    let mut out: Vec<QueryToken> = Vec::new();
    let mut position = 0;
    while let Some(word) = words.next_word() {
        if word.shape != TokenShape::Tail {
            out.push(QueryToken { token: word.text.to_owned(), is_prefix: word.shape == TokenShape::Single, position });
        }
        position += 1;
    }
    if let Some(last) = out.last_mut().filter(|_| is_unfinished) {
        last.is_prefix = true;
    }
    out.truncate(MAX_WORDS);
    out
}
