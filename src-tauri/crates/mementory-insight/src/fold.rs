//! Folds a text for comparison with word lists, divides it into words, and recognises its language.
use crate::word_lists::{ABOUT, ENGLISH_WORDS, GERMAN_WORDS, OTHER_CHARACTERS, OTHER_WORDS};
use std::collections::HashSet;
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization;

/// Only this many characters from the start of a text are examined. Most memories are shorter than a page, and text
/// after the first page hardly changes what a memory is about.
pub(crate) const MAX_CHARS: usize = 4000;

/// A text prepared for comparison with the word lists.
#[derive(Debug, Clone)]
pub(crate) struct Folded {
    /// The beginning of the text in lower case and NFKC, with single spaces.
    pub(crate) text: String,
    /// The beginning of the text as it was written.
    pub(crate) written: String,
    pub(crate) languages: Languages,
}

/// The languages in which a text may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Languages {
    pub(crate) en: bool,
    pub(crate) de: bool,
    pub(crate) ja: bool,
    /// True if the text is probably in a language that has no word lists.
    pub(crate) other: bool,
}

impl Languages {
    /// True if both texts may be in the same language.
    pub(crate) fn may_share(self, other: Self) -> bool {
        self.en && other.en || self.de && other.de || self.ja && other.ja
    }

    /// True if the text may be in the language with this code.
    pub(crate) fn may_be(self, code: &str) -> bool {
        match code {
            "en" => self.en,
            "de" => self.de,
            _ => self.ja,
        }
    }
}

impl Folded {
    pub(crate) fn new(text: &str) -> Self {
        let written: String = text.chars().take(MAX_CHARS).collect();
        let folded = fold(&written);
        let languages = languages(&folded);
        Self { text: folded, written, languages }
    }
}

/// Converts the text to lower case and NFKC, unifies quotes and dashes, and replaces each run of white space and
/// control characters by one space.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        let c = match c {
            '’' | '‘' | '`' => '\'',
            '‐' | '‑' | '–' | '—' => '-',
            c if c.is_whitespace() || c.is_control() => ' ',
            c => c,
        };
        if c != ' ' || !out.ends_with(' ') {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// True for a Chinese character or a kana, which are written without spaces between words.
pub(crate) fn is_east_asian(c: char) -> bool {
    matches!(u32::from(c), 0x3005..=0x3007 | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x2ffff)
}

/// True for a letter or digit of a script with spaces between words.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() && !is_east_asian(c)
}

/// The words of a folded text. In a script without spaces, each run of characters is one word.
pub(crate) fn words(folded: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start: Option<(usize, bool)> = None;
    for (at, c) in folded.char_indices() {
        let is_asian = is_east_asian(c);
        let is_inside = c.is_alphanumeric();
        if let Some((from, was_asian)) = start
            && (!is_inside || is_asian != was_asian)
        {
            out.push(&folded[from..at]);
            start = None;
        }
        if is_inside && start.is_none() {
            start = Some((at, is_asian));
        }
    }
    if let Some((from, _)) = start {
        out.push(&folded[from..]);
    }
    out
}

/// The probable nouns in a word of a script without spaces: its runs of at least `katakana` Katakana characters, and
/// its runs of at least `kanji` Kanji characters. The Japanese word for "user" is left out.
pub(crate) fn noun_runs(word: &str, katakana: usize, kanji: usize) -> Vec<&str> {
    let class_of = |c: char| match u32::from(c) {
        0x30a0..=0x30ff => Some((1, katakana)),
        0x3400..=0x9fff | 0x3005 => Some((2, kanji)),
        _ => None,
    };
    let mut out = Vec::new();
    let (mut start, mut current_class) = (0, None);
    for (at, class) in word.char_indices().map(|(at, c)| (at, class_of(c))).chain([(word.len(), None)]) {
        if class != current_class {
            let run = &word[start..at];
            if current_class.is_some_and(|(_, min_chars)| run.chars().count() >= min_chars) && run != "ユーザー" {
                out.push(run);
            }
            (start, current_class) = (at, class);
        }
    }
    out
}

/// The function words (articles, pronouns, particles) of each language that has word lists.
fn function_words() -> &'static [(&'static str, HashSet<&'static str>)] {
    static WORDS: OnceLock<Vec<(&str, HashSet<&str>)>> = OnceLock::new();
    WORDS.get_or_init(|| {
        ABOUT.iter().map(|language| (language.code, language.function_words.iter().copied().collect())).collect()
    })
}

/// True for a function word of any language that has word lists.
pub(crate) fn is_function_word(word: &str) -> bool {
    function_words().iter().any(|(_, list)| list.contains(word))
}

/// The words by which English or German is recognised: function words and other frequent words. With the latter, even
/// the language of "Wohnt in Jena" is recognised.
fn language_words(code: &str) -> &'static HashSet<&'static str> {
    static WORDS: OnceLock<[HashSet<&str>; 2]> = OnceLock::new();
    let [english, german] = WORDS.get_or_init(|| {
        let with_function_words = |code: &str, further: &[&'static str]| {
            let of_language = function_words().iter().find(|(other, _)| *other == code);
            of_language.iter().flat_map(|(_, list)| list.iter()).chain(further).copied().collect()
        };
        [with_function_words("en", ENGLISH_WORDS), with_function_words("de", GERMAN_WORDS)]
    });
    if code == "en" { english } else { german }
}

/// The function words of languages that have no word lists.
fn other_function_words() -> &'static HashSet<&'static str> {
    static WORDS: OnceLock<HashSet<&str>> = OnceLock::new();
    WORDS.get_or_init(|| OTHER_WORDS.iter().copied().collect())
}

fn languages(folded: &str) -> Languages {
    let is_other = |c: char| !c.is_ascii() && OTHER_CHARACTERS.iter().any(|list| list.contains(c));
    if folded.chars().any(|c| matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff)) {
        let is_kana = |c: char| matches!(u32::from(c), 0x3040..=0x30ff);
        let other = !folded.chars().any(is_kana) && folded.chars().any(is_other);
        return Languages { en: false, de: false, ja: true, other };
    }
    let words = words(folded);
    let count = |list: &HashSet<&str>| words.iter().filter(|word| list.contains(*word)).count();
    let umlauts = folded.chars().filter(|c| matches!(c, 'ä' | 'ö' | 'ü' | 'ß')).count();
    let (en, de) = (count(language_words("en")), count(language_words("de")) + umlauts.min(2));
    let is_latin = |c: char| c.is_alphabetic() && u32::from(c) < 0x0250;
    let is_not_latin = |c: char| c.is_alphabetic() && u32::from(c) >= 0x0370;
    let has_other_script = folded.chars().any(is_not_latin) && !folded.chars().any(is_latin);
    let of_others = count(other_function_words()) + usize::from(folded.chars().any(is_other));
    let other = has_other_script || of_others > en.max(de);
    // A text with as many English as German function words, or with none, may be in either language.
    Languages { en: en >= de, de: de >= en, ja: false, other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_folded_and_divided_into_words() {
        assert_eq!(fold("  Ｋätzchen\u{0} ’s\n "), " kätzchen 's");
        assert_eq!(words("has 2 cats, 猫がいる ok"), ["has", "2", "cats", "猫がいる", "ok"]);
    }

    #[test]
    fn the_language_of_a_text_is_recognised() {
        let languages_of = |text: &str| Folded::new(text).languages;
        assert!(languages_of("The user lives in Leeds.").en && !languages_of("The user lives in Leeds.").de);
        assert!(languages_of("Die Nutzerin wohnt in Köln.").de && !languages_of("Die Nutzerin wohnt in Köln.").en);
        assert!(languages_of("東京に住んでいる").ja);
        assert!(languages_of("Vegan").en && languages_of("Vegan").de);
        for text in [
            "Vit dans une ferme avec sa sœur.",
            "Vive con su hermano en Vigo y no tiene coche.",
            "Lavora in una libreria di Torino.",
            "Woont met haar broer op het platteland.",
            "Mora com o irmão em uma quinta.",
            "Mieszka z siostrą na wsi i nie ma samochodu.",
            "У неё две кошки",
            "두 마리의 고양이가 있다",
            "她有两只猫",
        ] {
            assert!(languages_of(text).other, "{text}");
        }
        for text in ["Lives in La Paz with her son.", "Wohnt in El Alto.", "猫", "猫が二匹いる", "Vegan"] {
            assert!(!languages_of(text).other, "{text}");
        }
    }
}
