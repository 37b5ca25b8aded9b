//! Reads numbers that are written as words: "forty-two", "zweiundvierzig", 四十二.
use crate::word_lists::{NUMBERS, TENS};
use std::{ops::RangeInclusive, sync::OnceLock};

/// The words for 1 that are not also articles. Other words for 0 and 1 are also articles: "a", "kein".
const ONE: [&str; 2] = ["one", "eins"];
/// From this number on, a number word after "is" counts as an age. Smaller numbers may be a rank or a mark: "is two".
const FIRST_OF_AGES: usize = 13;

/// The value of a number that is written as words, in a folded text. None if the text is anything else.
pub(crate) fn spelled_number(folded: &str) -> Option<f64> {
    small(folded).or_else(|| with_tens(folded)).or_else(|| kanji(folded)).map(|value| value as f64)
}

/// The value of a folded word for a small number, which is its position in `NUMBERS`.
fn small(word: &str) -> Option<usize> {
    NUMBERS.iter().position(|names| names.contains(&word))
}

fn tens(word: &str) -> Option<usize> {
    TENS.iter().position(|names| names.contains(&word)).map(|n| (n + 2) * 10)
}

/// Parses a number with tens: "forty", "forty-two", "forty two" or "zweiundvierzig".
fn with_tens(folded: &str) -> Option<usize> {
    let unit = |word: &str| small(word).filter(|value| (1..=9).contains(value));
    tens(folded)
        .or_else(|| {
            let (ten, one) = folded.split_once(['-', ' '])?;
            Some(tens(ten)? + unit(one)?)
        })
        .or_else(|| {
            let (one, ten) = folded.split_once("und")?;
            Some(tens(ten)? + unit(one)?)
        })
}

/// Parses a number in Kanji below ten thousand: 四十二, 百五.
fn kanji(folded: &str) -> Option<usize> {
    const DIGITS: &str = "〇一二三四五六七八九";
    /// Largest number of characters of a number in Kanji.
    const MAX_CHARS: usize = 7;
    if folded.is_empty() || folded.chars().count() > MAX_CHARS {
        return None;
    }
    let (mut total, mut current) = (0usize, 0usize);
    for c in folded.chars() {
        let factor = match c {
            '十' => 10,
            '百' => 100,
            '千' => 1000,
            _ => {
                current = current * 10 + DIGITS.chars().position(|digit| digit == c)?;
                continue;
            }
        };
        total += current.max(1) * factor;
        current = 0;
    }
    Some(total + current)
}

/// Replaces the placeholders in a pattern of a word list by number words: `{number}` by all, `{kanji}` by numbers in
/// Kanji, and `{age}` by the number words from 13 on, so that "is two" does not count as an age.
pub(crate) fn expand_numbers(pattern: &str) -> String {
    static WORDS: OnceLock<[String; 2]> = OnceLock::new();
    let [all, ages] = WORDS.get_or_init(|| [alternatives(1), alternatives(FIRST_OF_AGES)]);
    pattern.replace("{number}", all).replace("{age}", ages).replace("{kanji}", "[〇一二三四五六七八九十百]{1,5}")
}

/// A pattern for the English and German number words from `first` on. Longer words come first, because the first
/// alternative that matches is used.
fn alternatives(first: usize) -> String {
    let is_spelled = |word: &&&str| !word.chars().any(crate::fold::is_east_asian);
    // The words for a range of numbers. For 1, only the words in `one` are included, because other words for 1 are also
    // articles unless they are part of a longer number word.
    let spelled = |range: RangeInclusive<usize>, one: &[&str]| -> Vec<&str> {
        let numbers = NUMBERS.iter().enumerate().filter(|(n, _)| range.contains(n));
        numbers
            .flat_map(|(n, names)| names.iter().filter(is_spelled).filter(move |word| n > 1 || one.contains(*word)))
            .copied()
            .collect()
    };
    let units = spelled(1..=9, &["one", "eins", "ein"]).join("|");
    let tens = TENS.concat().join("|");
    let mut words = spelled(first..=NUMBERS.len(), &ONE);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    format!("(?:(?:{units})und(?:{tens})|(?:{tens})(?:[- ](?:{units}))?|{})", words.join("|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_words_of_three_languages_are_read() {
        for (text, wanted) in [
            ("forty-two", 42.0),
            ("forty two", 42.0),
            ("thirty", 30.0),
            ("zweiundvierzig", 42.0),
            ("einundzwanzig", 21.0),
            ("sechzehn", 16.0),
            ("四十二", 42.0),
            ("十八", 18.0),
            ("百五", 105.0),
        ] {
            assert_eq!(spelled_number(text), Some(wanted), "{text}");
        }
        for text in ["forty-eleven", "undvierzig", "rund", "四谷", "", "forty-"] {
            assert_eq!(spelled_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_pattern_takes_the_whole_number_word() {
        let regex = regex::Regex::new(&expand_numbers("is (?P<v>{age})$")).ok();
        let value = |text: &str| Some(regex.as_ref()?.captures(text)?.name("v")?.as_str().to_owned());
        assert_eq!(value("is forty-two").as_deref(), Some("forty-two"));
        assert_eq!(value("is sechsunddreißig").as_deref(), Some("sechsunddreißig"));
        assert_eq!(value("is two"), None);
    }
}
