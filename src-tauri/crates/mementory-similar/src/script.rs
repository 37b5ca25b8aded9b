//! Properties of characters: their script, whether they are marks that turn a letter into a different one, and whether
//! they are signs with a meaning.

/// Scripts, by how their words are separated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Script {
    /// Words are separated by spaces.
    Spaced,
    /// Japanese script for grammatical words and endings, and for some other words.
    Hiragana,
    /// Japanese script for foreign words. A run of Katakana is one word.
    Katakana,
    /// Chinese characters. Each one is a word.
    Han,
    /// Thai, Lao, Khmer and Burmese. There are no spaces between words, so each letter is treated as a word.
    Other,
}

/// The script of a letter or digit.
pub(crate) fn script_of(c: char) -> Script {
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

/// Whether a combining mark turns the letter before it into a different letter. Such marks are the vowel signs of Indic
/// scripts, Thai, Lao, Tibetan, Burmese and Khmer, and the voicing marks of kana (ハハ means mother, and パパ means
/// father). All other marks are accents.
pub(crate) fn makes_another_letter(mark: char) -> bool {
    matches!(mark, '\u{0900}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3099}' | '\u{309a}')
}

/// The meaning of a character that is neither a letter nor a digit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// Ends a sentence.
    SentenceEnd,
    /// Separates the items of a list.
    Separator,
    /// Replaces an omitted letter or marks a possessive.
    Apostrophe,
    /// A unit, currency or comparison, which is as decisive as a number.
    Decisive,
    /// A cross or a prohibition sign, which means "not".
    Negation,
    /// An emoji, which is treated as a word.
    Emoji,
    /// A character without a meaning.
    Ignored,
}

/// The meaning of a character that is neither a letter nor a digit.
pub(crate) fn meaning_of_sign(c: char) -> Sign {
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
