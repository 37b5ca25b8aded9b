//! Splits a text into sentences. Each caller decides what ends a sentence, because abbreviations, quotations and dates are
//! different in the memories of a document, in messages, and in plans. Erasures use the sentences of Unicode instead
//! (`normal_sentences`), because they must find the same sentences in every text.

/// A character of a text, and what is around it.
#[derive(Debug, Clone, Copy)]
pub struct SentenceMark<'t> {
    /// The character.
    pub character: char,
    /// Position of the character in the text, in bytes.
    pub at: usize,
    /// The text of the sentence before the character.
    pub before: &'t str,
    /// The text after the character, to the end of the whole text.
    pub after: &'t str,
    /// Number of characters of the sentence up to this one.
    pub length: u32,
}

impl SentenceMark<'_> {
    /// True for the Chinese and Japanese marks that end a sentence without a space after them.
    pub fn is_full_width(&self) -> bool {
        matches!(self.character, '。' | '！' | '？')
    }

    /// True for a full stop, exclamation mark or question mark before white space.
    pub fn is_before_space(&self) -> bool {
        matches!(self.character, '.' | '!' | '?') && self.after.starts_with(char::is_whitespace)
    }
}

/// Splits a text after each character for which `ends_sentence` returns true. The sentences together are the whole
/// text, and none of them is empty.
pub fn split_sentences<'t>(text: &'t str, ends_sentence: impl Fn(&SentenceMark<'t>) -> bool) -> Vec<&'t str> {
    let mut out = Vec::new();
    let (mut start, mut length) = (0, 0);
    for (at, character) in text.char_indices() {
        let end = at + character.len_utf8();
        length += 1;
        let mark = SentenceMark { character, at, before: &text[start..at], after: &text[end..], length };
        if ends_sentence(&mark) {
            out.push(&text[start..end]);
            (start, length) = (end, 0);
        }
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentences_are_the_whole_text() {
        for (text, expected) in [
            ("", vec![]),
            ("No end", vec!["No end"]),
            ("Likes tea. Lives in Graz.", vec!["Likes tea.", " Lives in Graz."]),
            ("猫が好き。犬も好き。", vec!["猫が好き。", "犬も好き。"]),
            ("Version 2.5 is out! \n", vec!["Version 2.5 is out!", " \n"]),
        ] {
            assert_eq!(
                split_sentences(text, |mark| mark.is_full_width() || mark.is_before_space()),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_mark_knows_its_sentence() {
        let sentences = split_sentences("éa。bcd", |mark| {
            assert_eq!(mark.before.chars().count() as u32 + 1, mark.length);
            let rest: String = [mark.character.to_string().as_str(), mark.after].concat();
            assert_eq!(Some(rest.as_str()), "éa。bcd".get(mark.at..));
            mark.is_full_width() || mark.length == 2 && mark.before == "b"
        });
        assert_eq!(sentences, ["éa。", "bc", "d"]);
    }
}
