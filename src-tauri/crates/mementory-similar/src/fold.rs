//! Folds case and marks, so that spelling variants of a word become equal.
use crate::script::makes_another_letter;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Folds a word from a word list the same way as the words of a text.
pub(crate) fn fold_word(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.nfkd() {
        fold_char(c, !out.is_empty(), |c| out.push(c));
    }
    out
}

/// Folds one character of a decomposed text by the rules of `mementory_model::fold`, but keeps the marks that turn a
/// letter into a different letter.
pub(crate) fn fold_char(c: char, is_after_letter: bool, mut out: impl FnMut(char)) {
    if is_combining_mark(c) {
        if is_after_letter && makes_another_letter(c) {
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
