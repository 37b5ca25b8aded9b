//! Folding and normalising of text, shared by search, fingerprints and the search for the same words elsewhere.
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// Case and accents folded: compatibility decomposition, combining marks dropped, lower case, `ß` as `ss`.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).fold(
        String::with_capacity(text.len()),
        |mut out, c| {
            if c == 'ß' {
                out.push_str("ss")
            } else {
                out.push(c)
            }
            out
        },
    )
}

/// Folded words with single spaces between them, without punctuation.
pub fn normal_text(text: &str) -> String {
    let folded = fold(text);
    let mut out = String::with_capacity(folded.len());
    for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The sentences in normal form, without empty ones.
pub fn normal_sentences(text: &str) -> Vec<String> {
    text.split('\n').flat_map(|line| line.unicode_sentences()).map(normal_text).filter(|s| !s.is_empty()).collect()
}
