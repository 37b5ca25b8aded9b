//! What a character is to the cutting of words: which script, which marks make another letter, which signs mean something.

/// How the words of a script are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Script {
    /// Words have spaces between them.
    Spaced,
    /// Grammar of Japanese, and some words.
    Hiragana,
    /// Foreign words in Japanese: a run is a word.
    Katakana,
    /// Chinese characters: each counts.
    Han,
    /// Thai, Lao, Khmer, Burmese: no spaces, each letter counts.
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

/// What a character that is no letter and no digit says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// It ends a sentence.
    End,
    /// It joins the members of a list.
    Join,
    /// It stands for a letter that was left out, or for a possessive.
    Apostrophe,
    /// A unit, a currency, a comparison: as decisive as a number.
    Hard,
    /// Crossed out.
    Cross,
    /// A picture: as good as a word.
    Picture,
    /// Nothing.
    Nothing,
}

/// What a character that is no letter and no digit says.
pub(crate) fn sign(c: char) -> Sign {
    match c {
        '.' | '!' | '?' | '\n' | ':' | '\u{3002}' | '\u{2026}' => Sign::End,
        ',' | ';' | '&' | '/' | '\u{3001}' | '\u{60c}' | '\u{30fb}' => Sign::Join,
        '\'' | '\u{2019}' | '\u{2018}' => Sign::Apostrophe,
        '%' | '\u{2030}' | '°' | '$' | '¢' | '£' | '¥' | '\u{20a0}'..='\u{20cf}' => Sign::Hard,
        '<' | '>' | '=' | '±' | '≤' | '≥' | '≈' | '∞' => Sign::Hard,
        '❌' | '✗' | '✘' | '🚫' | '👎' => Sign::Cross,
        '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' => Sign::Picture,
        _ => Sign::Nothing,
    }
}
