//! Divides a text in a language with spaces between words into words, for the search for names.
use super::lexicon::is_no_person;
use crate::fold::{fold, is_east_asian};

/// A word of a text.
#[derive(Debug, Clone)]
pub(super) struct Token<'t> {
    /// The word as it was written, without a genitive `'s`.
    pub(super) text: &'t str,
    pub(super) folded: String,
    /// The text between the previous word and this one.
    pub(super) before: &'t str,
    /// True if the word is a genitive with `'s`: "Ruth's".
    pub(super) is_genitive: bool,
    /// True if the word is the first of a sentence or of a line.
    pub(super) starts_sentence: bool,
}

impl Token<'_> {
    /// True if only white space separates this word from the previous one, and both are in the same sentence.
    pub(super) fn follows_directly(&self) -> bool {
        !self.starts_sentence && self.before.chars().all(char::is_whitespace)
    }

    /// True if this word may be a name. It must begin with a capital letter and then a lower-case letter or an
    /// apostrophe, and must not be in the lists of places, languages and things.
    pub(super) fn may_be_name(&self) -> bool {
        let mut chars = self.text.chars();
        let has_capital = chars.next().is_some_and(char::is_uppercase);
        let rest = chars.as_str();
        has_capital
            && rest.chars().next().is_some_and(|c| c.is_lowercase() || matches!(c, '\'' | '’'))
            && rest.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
            && !is_no_person(&self.folded)
    }
}

/// Splits `text` into words. The full stop of an abbreviated title ("Dr.") does not end a sentence.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut out: Vec<Token<'_>> = Vec::new();
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if !c.is_alphanumeric() || is_east_asian(c) {
            continue;
        }
        let mut word_end = start + c.len_utf8();
        while let Some((at, next)) = chars.peek().copied() {
            let is_inside_word = matches!(next, '-' | '\'' | '’')
                && text[at + next.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric);
            if !(next.is_alphanumeric() && !is_east_asian(next) || is_inside_word) {
                break;
            }
            word_end = at + next.len_utf8();
            chars.next();
        }
        let before = &text[end..start];
        let with_genitive = &text[start..word_end];
        let without_genitive = ["'s", "’s"].iter().find_map(|ending| with_genitive.strip_suffix(ending));
        let follows_abbreviation = before.trim() == "." && is_abbreviated(out.last());
        let starts_sentence = out.is_empty()
            || before.contains(['!', '?', '\n', '•', ';'])
            || before.contains('.') && !follows_abbreviation;
        let word = without_genitive.unwrap_or(with_genitive);
        out.push(Token {
            text: word,
            folded: fold(word),
            before,
            is_genitive: without_genitive.is_some(),
            starts_sentence,
        });
        end = word_end;
    }
    out
}

fn is_abbreviated(token: Option<&Token<'_>>) -> bool {
    token.is_some_and(|token| matches!(token.folded.as_str(), "mr" | "mrs" | "ms" | "dr" | "prof" | "st"))
}
