//! Divides a text into sentences, and a long sentence of a memory into clauses. Positions are code points.
use mementory_model::{SentenceMark, split_sentences};

/// A part of a text, such as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part<'t> {
    /// The text of the part, without white space around it.
    pub text: &'t str,
    /// Position of the first code point of the part.
    pub start: u32,
    /// Position after the last code point of the part.
    pub end: u32,
}

/// Abbreviations in lower case. The full stop after them does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "vs", "etc", "e.g", "i.e", "z.b", "bzw", "ca", "nr", "no", "usw", "d.h",
    "inc",
];
/// A sentence that reaches this many characters is divided at the next space, to limit the time for a text without
/// sentence ends.
const MAX_SENTENCE_CHARS: u32 = 1_000;

/// The sentences of a text, without white space around them. A line break ends a sentence.
pub fn sentences(text: &str) -> Vec<Part<'_>> {
    let mut out = Vec::new();
    let mut start = 0;
    for sentence in split_sentences(text, ends_sentence) {
        push(&mut out, sentence, start);
        start += sentence.chars().count() as u32;
    }
    out
}

fn ends_sentence(mark: &SentenceMark<'_>) -> bool {
    let next_char = mark.after.chars().next();
    match mark.character {
        '\n' | '。' | '！' | '？' | '!' | '?' | '…' => {
            next_char.is_none_or(|n| !matches!(n, '!' | '?' | '！' | '？' | '」'))
        }
        '.' => next_char.is_none_or(char::is_whitespace) && !ends_with_abbreviation(mark.before),
        c => mark.length >= MAX_SENTENCE_CHARS && c.is_whitespace(),
    }
}

fn push<'t>(out: &mut Vec<Part<'t>>, untrimmed_text: &'t str, start: u32) {
    let text = untrimmed_text.trim();
    if !text.contains(char::is_alphanumeric) {
        return;
    }
    let blank_count = untrimmed_text.chars().take_while(|c| c.is_whitespace()).count() as u32;
    let start = start + blank_count;
    out.push(Part { text, start, end: start + text.chars().count() as u32 });
}

fn ends_with_abbreviation(text_before: &str) -> bool {
    let word = text_before.rsplit(char::is_whitespace).next().unwrap_or_default().to_lowercase();
    let is_single_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    is_single_letter
        || ABBREVIATIONS.contains(&word.as_str())
        || word.chars().all(|c| c.is_ascii_digit()) && word.len() <= 2 && !word.is_empty()
}

/// The clauses of a sentence, divided at list separators and at words that begin another statement.
pub(crate) fn clauses(sentence: &str) -> Vec<&str> {
    const BORDERS: &[&str] = &[";", "、", "；", "，", ", ", " and ", " und ", " but ", " aber ", " who ", " – ", " — "];
    let mut parts = vec![sentence];
    for border in BORDERS {
        parts = parts.into_iter().flat_map(|part| part.split(border)).collect();
    }
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_sentences_are_in_code_points() {
        let text = "Grüße, Dr. Weiß! Ich wohne in Graz.\n京都に住んでいる。はい。";
        let found_sentences: Vec<(&str, u32, u32)> = sentences(text).iter().map(|p| (p.text, p.start, p.end)).collect();
        assert_eq!(found_sentences[0], ("Grüße, Dr. Weiß!", 0, 16));
        assert_eq!(found_sentences[1], ("Ich wohne in Graz.", 17, 35));
        assert_eq!(found_sentences[2], ("京都に住んでいる。", 36, 45));
        let chars: Vec<char> = text.chars().collect();
        for part in sentences(text) {
            let part_text: String = chars[part.start as usize..part.end as usize].iter().collect();
            assert_eq!(part_text, part.text);
        }
    }

    #[test]
    fn empty_and_endless_text_do_not_panic() {
        assert!(sentences("").is_empty() && sentences(" \n… ").is_empty());
        assert!(sentences(&"word ".repeat(100_000)).len() > 100);
        assert_eq!(sentences(&"語".repeat(50_000)).len(), 1);
    }
}
