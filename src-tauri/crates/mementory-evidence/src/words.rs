//! Divides a text into the words that are compared.
use crate::filler::{UNSPACED_PERSON_WORDS, has_unspaced_negation, is_filler, is_negation};
use mementory_model::{fold, is_of_unspaced_script};

/// A word that is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// The word, folded as in the search index.
    pub(crate) folded: String,
    /// The folded word without its usual ending.
    pub(crate) stem: String,
    pub(crate) shape: WordShape,
    /// True if the word begins with a capital in the text.
    pub(crate) is_capitalised: bool,
}

/// The type of a word, on which its weight depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordShape {
    /// A word that is delimited by spaces or punctuation.
    Word,
    /// A word with a digit.
    Number,
    /// Two neighbouring characters of an unspaced script.
    Pair,
    /// Two neighbouring hiragana, which are mostly endings and particles, or a single other character of an unspaced
    /// script.
    WeakPair,
}

/// The words of a text that are compared, and whether the text negates something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Words {
    pub(crate) words: Vec<Word>,
    pub(crate) is_negated: bool,
}

impl Words {
    pub(crate) fn new(text: &str) -> Self {
        let mut out = Self::default();
        let mut run = String::new();
        let mut is_run_unspaced = false;
        for (position, c) in text.char_indices() {
            if is_thousands_separator(text, position, c) {
                continue;
            }
            let is_unspaced = is_of_unspaced_script(c);
            // A combining mark belongs to the letter before it.
            let is_word_char = c.is_alphanumeric() || is_mark(c) && !run.is_empty();
            if !run.is_empty() && (!is_word_char || is_unspaced != is_run_unspaced && !is_mark(c)) {
                out.push_run(&run, is_run_unspaced);
                run.clear();
            }
            if is_word_char {
                if run.is_empty() {
                    is_run_unspaced = is_unspaced;
                }
                run.push(c);
            }
        }
        if !run.is_empty() {
            out.push_run(&run, is_run_unspaced);
        }
        out
    }

    fn push_run(&mut self, run: &str, is_unspaced_script: bool) {
        if is_unspaced_script { self.push_pairs(run) } else { self.push_word(run) }
    }

    fn push_word(&mut self, run: &str) {
        let folded = fold(run);
        self.is_negated |= is_negation(&folded);
        if is_filler(&folded) || is_negation(&folded) {
            return;
        }
        let shape = if folded.contains(|c: char| c.is_numeric()) { WordShape::Number } else { WordShape::Word };
        let stem = if shape == WordShape::Number { folded.clone() } else { stem(&folded) };
        let is_capitalised = run.chars().next().is_some_and(char::is_uppercase);
        self.words.push(Word { stem, shape, is_capitalised, folded });
    }

    fn push_pairs(&mut self, run: &str) {
        // Hangul is not folded, because folding would divide its syllables into letters.
        let is_hangul = run.contains(|c: char| matches!(c, '\u{ac00}'..='\u{d7ff}'));
        let mut folded = if is_hangul { run.to_owned() } else { fold(run) };
        self.is_negated |= has_unspaced_negation(&folded);
        for frame in UNSPACED_PERSON_WORDS {
            if folded.contains(frame) {
                folded = folded.replace(frame, " ");
            }
        }
        for piece in folded.split(' ') {
            let chars: Vec<char> = piece.chars().collect();
            for pair in chars.windows(2) {
                let is_weak = pair.iter().all(|c| matches!(c, '\u{3040}'..='\u{309f}'));
                let text: String = pair.iter().collect();
                let shape = if is_weak { WordShape::WeakPair } else { WordShape::Pair };
                self.words.push(Word { stem: text.clone(), folded: text, shape, is_capitalised: false });
            }
            if let [single] = chars.as_slice()
                && !matches!(single, '\u{3040}'..='\u{309f}')
            {
                let text = single.to_string();
                self.words.push(Word {
                    stem: text.clone(),
                    folded: text,
                    shape: WordShape::WeakPair,
                    is_capitalised: false,
                });
            }
        }
    }
}

/// The search terms for messages that support a memory, separated by spaces. Fillers, negations and words that refer
/// to the person ("I", "user") are left out. Runs of unspaced scripts are not divided any further.
pub fn key_words(text: &str) -> String {
    let mut out = String::new();
    for run in text.split(|c: char| !c.is_alphanumeric() && !is_mark(c)).filter(|run| !run.is_empty()) {
        let folded = fold(run);
        if is_filler(&folded) || is_negation(&folded) {
            continue;
        }
        let cleaned = UNSPACED_PERSON_WORDS.iter().fold(folded, |text, frame| text.replace(frame, " "));
        for piece in cleaned.split(' ').filter(|piece| !piece.is_empty()) {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(piece);
        }
    }
    out
}

/// True for a thousands separator: 4,150 and 4.150 both mean 4150.
fn is_thousands_separator(text: &str, position: usize, c: char) -> bool {
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    matches!(c, ',' | '.')
        && position > 0
        && digit(bytes.get(position - 1))
        && (1..=3).all(|n| digit(bytes.get(position + n)))
        && !digit(bytes.get(position + 4))
}

/// Endings of English, German, French and Spanish words. If two endings match a word, the longer ending comes first.
const ENDINGS: &[&str] = &[
    "ungen", "ingly", "ations", "ation", "ings", "edly", "ies", "ied", "ing", "ung", "ers", "est", "ern", "ens", "ed",
    "es", "ly", "en", "er", "em", "st", "ic", "ie", "e", "s", "n", "y", "a", "o",
];
/// Smallest number of letters of a stem.
const MIN_STEM_CHARS: usize = 3;

fn stem(word: &str) -> String {
    let chars = word.chars().count();
    for ending in ENDINGS {
        let stem_chars = chars.saturating_sub(ending.len());
        // An ending is rarely longer than its stem.
        if stem_chars >= MIN_STEM_CHARS.max(ending.len()) && word.ends_with(ending) {
            return word.get(..word.len() - ending.len()).unwrap_or(word).to_owned();
        }
    }
    word.to_owned()
}

/// The similarity of two words: 0 to 1. Numbers and words of unspaced scripts must be equal.
pub(crate) fn similarity(a: &Word, b: &Word) -> f32 {
    if a.folded == b.folded {
        return 1.0;
    }
    if a.shape != WordShape::Word || b.shape != WordShape::Word {
        return 0.0;
    }
    if a.stem == b.stem {
        return 0.95;
    }
    let common_count = a.folded.chars().zip(b.folded.chars()).take_while(|(x, y)| x == y).count();
    let (x, y) = (a.folded.chars().count(), b.folded.chars().count());
    let (shorter_count, longer_count) = (x.min(y), x.max(y));
    if common_count >= 5 && common_count * 10 >= longer_count * 6
        || common_count >= 4 && longer_count - common_count <= 1
    {
        return 0.85;
    }
    let (inner, outer) = if x <= y { (&a.stem, &b.folded) } else { (&b.stem, &a.folded) };
    if shorter_count >= 5 && inner.chars().count() >= 5 && outer.contains(inner.as_str()) { 0.75 } else { 0.0 }
}

fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        Words::new(text).words.into_iter().map(|word| word.stem).collect()
    }

    #[test]
    fn words_for_the_user_and_endings_do_not_count() {
        assert_eq!(stems("The user's living in Graz."), stems("I live in Graz"));
        assert_eq!(stems("Der Nutzer wohnt in Graz"), ["wohnt", "graz"]);
        assert!(Words::new("I don't like tea").is_negated && !Words::new("I like tea").is_negated);
        assert!(Words::new("お茶を飲まない").is_negated);
    }

    #[test]
    fn an_unspaced_text_gives_pairs_without_words_for_the_user() {
        let words = Words::new("ユーザーは京都に住んでいる");
        assert!(words.words.iter().any(|w| w.folded == "京都" && w.shape == WordShape::Pair));
        assert!(words.words.iter().all(|w| !w.folded.contains('ユ')));
        assert_eq!(key_words("User is allergic to penicillin."), "allergic penicillin");
    }

    #[test]
    fn words_match_by_stem_prefix_and_inside_compounds() {
        let word = |text: &str| Words::new(text).words.remove(0);
        assert!(similarity(&word("allergy"), &word("allergic")) > 0.8);
        assert!(similarity(&word("Penicillinallergie"), &word("Penicillin")) > 0.7);
        assert!(similarity(&word("marathon"), &word("market")) == 0.0);
        assert!(similarity(&word("34"), &word("345")) == 0.0);
        assert_eq!(word("4,150 euros").folded, word("4.150 Euro").folded);
        assert_eq!(stems("1,5 km, 10.2026"), ["1", "5", "km", "10", "2026"]);
    }
}
