//! Normalized text, for search, fingerprints and finding the same words in other records.
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};
use unicode_segmentation::UnicodeSegmentation;

/// Start of the mark that replaces a removed value in a text. It is followed by the class of the value and `]`:
/// `[REDACTED:email]`.
pub const REDACTED: &str = "[REDACTED:";

/// Shortest text, in characters, that is searched for in names and outside of a chosen span. A single letter occurs
/// everywhere.
pub const MIN_SEARCHED_CHARS: usize = 3;

/// True for characters of scripts without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese), and of Hangul.
pub fn is_of_unspaced_script(c: char) -> bool {
    matches!(c,
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
        | '\u{20000}'..='\u{323af}')
}

/// Number of characters that count as a word in scripts without spaces. The stock phrase `お世話になっております` has eleven
/// characters, but counts as few words, as its translations do.
const CHARACTERS_PER_WORD: usize = 4;

/// Number of words of a text in the form of [`normal_text`]. In scripts without spaces, four characters count as a word.
/// Korean has spaces between words.
pub fn word_count(normal: &str) -> usize {
    let is_hangul = |c: char| {
        matches!(c,
            '\u{1100}'..='\u{11ff}'
            | '\u{3130}'..='\u{318f}'
            | '\u{a960}'..='\u{a97f}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{ffa0}'..='\u{ffdc}')
    };
    let words_of = |run: &str| {
        let unspaced_count = run.chars().filter(|c| is_of_unspaced_script(*c) && !is_hangul(*c)).count();
        unspaced_count.div_ceil(CHARACTERS_PER_WORD).max(1)
    };
    normal.split(' ').filter(|run| !run.is_empty()).map(words_of).sum()
}

/// The text in lower case and without accents. Compatibility forms are decomposed, combining marks are removed, and `ß`
/// becomes `ss`.
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

/// The folded words of a text without punctuation, separated by single spaces.
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

/// The sentences of a text in the form of [`normal_text`]. Sentences without words, and those that consist only of
/// redaction marks, are left out, because every redacted text may have the same marks.
pub fn normal_sentences(text: &str) -> Vec<String> {
    let sentences = text.split('\n').flat_map(|line| line.unicode_sentences());
    let has_words = |sentence: &&str| !normal_text(&without_redaction_marks(sentence)).is_empty();
    sentences.filter(has_words).map(normal_text).collect()
}

/// The positions of the redaction marks in a text, in bytes. Classes consist of `a` to `z`, `0` to `9` and `_`.
pub fn redaction_marks(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices(REDACTED).filter_map(|(start, _)| {
        let rest = text.get(start + REDACTED.len()..)?;
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'))?;
        (end > 0 && rest[end..].starts_with(']')).then_some(start..start + REDACTED.len() + end + 1)
    })
}

/// The byte ranges of a text around its redaction marks: before the first, between them, and after the last. Without
/// marks, the only range is the whole text.
pub fn between_redaction_marks(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for mark in redaction_marks(text) {
        pieces.push(at..mark.start);
        at = mark.end;
    }
    pieces.push(at..text.len());
    pieces
}

/// The text without its redaction marks.
pub fn without_redaction_marks(text: &str) -> String {
    between_redaction_marks(text).into_iter().map(|piece| &text[piece]).collect()
}

/// True if `name` contains `words`. False if `words` has fewer than [`MIN_SEARCHED_CHARS`] characters. Words of fewer
/// than 8 bytes count only if no letter or digit is directly before or after them.
pub fn contains_words(name: &str, words: &str) -> bool {
    let is_boundary = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
    words.chars().count() >= MIN_SEARCHED_CHARS
        && name.match_indices(words).any(|(at, _)| {
            words.len() >= 8
                || is_boundary(name.get(..at).and_then(|s| s.chars().next_back()))
                    && is_boundary(name.get(at + words.len()..).and_then(|s| s.chars().next()))
        })
}

/// True if the words of the text occur in the id, or the words of the id in the text, in any notation. The id of a file
/// can be its path, which often contains the title, and other ids are short forms of a title.
pub fn shares_words(id: &str, text: &str) -> bool {
    if text.contains(id) || contains_words(id, text) {
        return true;
    }
    let (id, text) = (format!(" {} ", normal_text(id)), format!(" {} ", normal_text(text)));
    let are_words = |s: &str| s.trim().contains(' ');
    let is_word = text.trim().chars().count() >= MIN_SEARCHED_CHARS;
    (is_word || are_words(&text)) && id.contains(&text) || are_words(&id) && text.contains(&id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_in_scripts_with_and_without_spaces() {
        for (text, expected) in [
            ("", 0),
            ("The old key, again.", 4),
            ("古い鍵は", 1),
            ("お世話になっております", 3),
            ("오늘 정원에서", 2),
            ("กุญแจเก่า", 2),
        ] {
            assert_eq!(word_count(&normal_text(text)), expected, "{text}");
        }
    }

    #[test]
    fn redaction_marks_alone_are_not_a_sentence() {
        let text = "[REDACTED:erased] [REDACTED:access_key]. The key [REDACTED:password] is old. [REDACTED:]";
        assert_eq!(normal_sentences(text), ["the key redacted password is old", "redacted"]);
        assert_eq!(
            without_redaction_marks("a [REDACTED:x9]b [REDACTED:X] [REDACTED:y"),
            "a b [REDACTED:X] [REDACTED:y"
        );
    }

    #[test]
    fn ids_that_contain_the_words_are_recognised() {
        assert!(shares_words("notes/Secret trip.md", "Secret trip"), "a path");
        assert!(shares_words("secret-trip-to-rome", "Secret trip"), "a slug");
        assert!(shares_words("places/ghent", "Ghent"), "a slug of one word");
        assert!(shares_words("trip", "a secret trip"), "part of the text");
        assert!(!shares_words("ep_0123", "a secret trip"), "an id without words of the text");
        assert!(!shares_words("5f0e7a19", "e7"), "two letters are no words");
        assert!(!shares_words("5f0e-e7", "E7"), "two letters are no words");
    }
}
