//! Properties of characters: the script, the marks that make another letter, the signs that have a meaning.

/// How the words of a script are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Script {
    /// Words have spaces between them.
    Spaced,
    /// Japanese grammar and some words.
    Hiragana,
    /// Foreign words in Japanese. A run of it is one word.
    Katakana,
    /// Chinese characters. Each is a word.
    Han,
    /// Thai, Lao, Khmer, Burmese: no spaces, each letter is a word.
    Other,
}

/// The script of a letter or digit.
pub(crate) fn script(c: char) -> Script {
    match c {
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' => Script::Katakana,
        '\u{3005}'..='\u{3007}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}' => Script::Han,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' => Script::Other,
        _ => Script::Spaced,
    }
}

/// A combining mark that makes another letter of the one before it: vowel signs of Indic scripts and of Thai, Lao,
/// Tibetan, Burmese and Khmer, and the voicing of kana (ハハ is a mother, パパ a father). All others are accents.
pub(crate) fn makes_a_letter(mark: char) -> bool {
    matches!(mark, '\u{0900}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3099}' | '\u{309a}')
}

/// The meaning of a character that is neither a letter nor a digit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// It ends a sentence.
    SentenceEnd,
    /// It separates the members of a list.
    Separator,
    /// It replaces an omitted letter or marks a possessive.
    Apostrophe,
    /// A unit, currency or comparison: as decisive as a number.
    Decisive,
    /// A cross or a prohibition: counts as "not".
    Negation,
    /// An emoji: counts as a word.
    Emoji,
    /// No meaning.
    Ignored,
}

/// The meaning of a character that is neither a letter nor a digit.
pub(crate) fn sign(c: char) -> Sign {
    match c {
        '.' | '!' | '?' | '\n' | ':' | '\u{3002}' | '\u{2026}' => Sign::SentenceEnd,
        ',' | ';' | '&' | '/' | '\u{3001}' | '\u{60c}' | '\u{30fb}' => Sign::Separator,
        '\'' | '\u{2019}' | '\u{2018}' => Sign::Apostrophe,
        '%' | '\u{2030}' | '°' | '$' | '¢' | '£' | '¥' | '\u{20a0}'..='\u{20cf}' => Sign::Decisive,
        '<' | '>' | '=' | '±' | '≤' | '≥' | '≈' | '∞' => Sign::Decisive,
        '❌' | '✗' | '✘' | '🚫' | '👎' => Sign::Negation,
        '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' => Sign::Emoji,
        _ => Sign::Ignored,
    }
}
