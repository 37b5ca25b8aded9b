//! Splits text of any script into searchable words.
//!
//! A word is a run of letters and digits with their combining marks. It is folded (case, accents, compatibility forms).
//! Scripts without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese, and also Hangul) give overlapping pairs
//! of characters instead. The last character of a run is also a separate token, so that a token begins at every
//! character. Words of more than 120 bytes are left out as noise (base64, long hashes).
use mementory_model::is_of_unspaced_script;
use std::collections::VecDeque;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Maximum length of a word in bytes.
const MAX_WORD_BYTES: usize = 120;
/// A run without spaces is processed in parts of this many bytes, to limit memory.
const PIECE_BYTES: usize = 2048;

/// The words of a text, in order and folded as in the index.
pub fn tokens(text: &str) -> Vec<String> {
    let mut words = Words::new(text);
    let mut out = Vec::new();
    while let Some(word) = words.next_word() {
        out.push(word.text.to_owned());
    }
    out
}

/// A word with its position in the text.
pub(crate) struct Word<'w> {
    pub(crate) text: &'w str,
    /// Start of the word in the source text, in bytes. `to` is the end.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) shape: TokenShape,
}

/// How a token is derived from the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenShape {
    /// A word that is delimited by spaces or punctuation.
    Word,
    /// Two adjacent characters in a run without spaces.
    Pair,
    /// The last character of a run without spaces, which is also part of the preceding pair.
    Tail,
    /// The only character of a run.
    Single,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    /// Whitespace, punctuation or a symbol.
    Gap,
    /// A combining mark, which belongs to the character before it.
    Mark,
    /// A letter or digit of a script with spaces.
    Letter,
    /// A character of a script without spaces.
    Unspaced,
}

fn char_class(c: char) -> CharClass {
    let unspaced = is_of_unspaced_script(c);
    // A vowel sign in Thai or a similar script is both a letter and a combining mark. Here it counts as a mark.
    match (c.is_alphanumeric(), is_combining_mark(c)) {
        (true, true) if unspaced => CharClass::Mark,
        (true, _) if unspaced => CharClass::Unspaced,
        (true, _) => CharClass::Letter,
        (false, true) => CharClass::Mark,
        (false, false) => CharClass::Gap,
    }
}

/// Folds a text as `fold` of mementory-model does, and also replaces letters such as ø, which are not on many
/// keyboards. Composes the result, so that a Hangul syllable is a single character.
fn fold_into(text: &str, out: &mut String) {
    let folded = text.nfkd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase);
    let mut replaced = String::with_capacity(text.len());
    for c in folded {
        match c {
            'ß' => replaced.push_str("ss"),
            'æ' => replaced.push_str("ae"),
            'œ' => replaced.push_str("oe"),
            'ø' => replaced.push('o'),
            'ł' => replaced.push('l'),
            'đ' => replaced.push('d'),
            'ħ' => replaced.push('h'),
            'ı' => replaced.push('i'),
            'ς' => replaced.push('σ'),
            // Converting a letter such as İ to lower case leaves a combining mark, which is removed here.
            c if is_combining_mark(c) => {}
            c => replaced.push(c),
        }
    }
    out.extend(replaced.nfc());
}

struct PendingWord {
    text: String,
    from: usize,
    to: usize,
    shape: TokenShape,
}

/// Iterates over the words of a text. ASCII words need no allocation.
pub(crate) struct Words<'t> {
    text: &'t str,
    /// Byte offset of the first character that has not been read yet.
    at: usize,
    current: String,
    pending: VecDeque<PendingWord>,
}

impl<'t> Words<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0, current: String::with_capacity(64), pending: VecDeque::new() }
    }

    pub(crate) fn next_word(&mut self) -> Option<Word<'_>> {
        loop {
            if let Some(next) = self.pending.pop_front() {
                self.current = next.text;
                return Some(Word { text: &self.current, from: next.from, to: next.to, shape: next.shape });
            }
            let bytes = self.text.as_bytes();
            while bytes.get(self.at).is_some_and(|b| b.is_ascii() && !b.is_ascii_alphanumeric()) {
                self.at += 1;
            }
            let from = self.at;
            while bytes.get(self.at).is_some_and(u8::is_ascii_alphanumeric) {
                self.at += 1;
            }
            match bytes.get(self.at) {
                Some(b) if !b.is_ascii() => self.mixed_run(from),
                next => {
                    if self.at > from && self.at - from <= MAX_WORD_BYTES {
                        self.current.clear();
                        self.current.push_str(self.text.get(from..self.at).unwrap_or_default());
                        self.current.make_ascii_lowercase();
                        return Some(Word { text: &self.current, from, to: self.at, shape: TokenShape::Word });
                    }
                    next?;
                }
            }
        }
    }

    /// Reads a run that starts at `from` and contains a character outside ASCII. Consumes at least one character.
    fn mixed_run(&mut self, from: usize) {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut kind = None;
        let mut end = rest.len();
        let mut is_continued = false;
        for (i, c) in rest.char_indices() {
            let char_class = if c.is_ascii_alphanumeric() { CharClass::Letter } else { char_class(c) };
            match (char_class, kind) {
                (CharClass::Gap, None) | (CharClass::Mark, None) => {
                    self.at = from + i + c.len_utf8();
                    return;
                }
                (CharClass::Mark, Some(_)) => continue,
                (_, None) => kind = Some(char_class),
                (CharClass::Unspaced, Some(CharClass::Unspaced)) if i > PIECE_BYTES => {
                    // The next part starts with this character again, so that no pair is lost.
                    end = i + c.len_utf8();
                    is_continued = true;
                    break;
                }
                (_, Some(k)) if k == char_class => {}
                _ => {
                    end = i;
                    break;
                }
            }
        }
        let run = rest.get(..end).unwrap_or_default();
        self.at = from + end;
        if kind == Some(CharClass::Unspaced) {
            if is_continued {
                self.at -= run.chars().next_back().map_or(0, char::len_utf8);
            }
            self.push_pairs(run, from, is_continued);
        } else {
            self.push_words(run, from);
        }
    }

    fn push_words(&mut self, run: &str, from: usize) {
        // Folding keeps at least a quarter of the bytes, so a run this long exceeds the limit even when folded.
        if run.len() > MAX_WORD_BYTES * 4 {
            return;
        }
        let mut folded = String::with_capacity(run.len());
        if run.is_ascii() {
            // The run is ASCII, but a typographic quote or dash outside ASCII follows it directly.
            folded.push_str(run);
            folded.make_ascii_lowercase();
        } else {
            fold_into(run, &mut folded);
        }
        // A folded character can contain a separator: ½ becomes 1⁄2.
        for part in folded.split(|c: char| !c.is_alphanumeric()).filter(|p| !p.is_empty() && p.len() <= MAX_WORD_BYTES)
        {
            self.pending.push_back(PendingWord {
                text: part.to_owned(),
                from,
                to: from + run.len(),
                shape: TokenShape::Word,
            });
        }
    }

    fn push_pairs(&mut self, run: &str, from: usize, is_continued: bool) {
        let mut folded = String::with_capacity(run.len());
        fold_into(run, &mut folded);
        let chars: Vec<char> = folded.chars().filter(|c| c.is_alphanumeric()).collect();
        // Offsets in the source, one per folded character unless folding changed the number of characters.
        let mut starts: Vec<usize> =
            run.char_indices().filter(|(_, c)| !is_combining_mark(*c)).map(|(i, _)| from + i).collect();
        let has_offsets = starts.len() == chars.len();
        starts.push(from + run.len());
        for i in 0..chars.len() {
            let is_last = i + 1 == chars.len();
            if is_last && is_continued {
                break;
            }
            let text: String = chars[i..if is_last { i + 1 } else { i + 2 }].iter().collect();
            let (from, to) =
                if has_offsets { (starts[i], starts[(i + 2).min(chars.len())]) } else { (from, from + run.len()) };
            let shape = match (is_last, i) {
                (true, 0) => TokenShape::Single,
                (true, _) => TokenShape::Tail,
                _ => TokenShape::Pair,
            };
            self.pending.push_back(PendingWord { text, from, to, shape });
        }
    }
}

/// Passes the words of [`Words`] to tantivy as tokens.
#[derive(Clone, Default)]
pub(crate) struct WordTokenizer;

/// The words of one text as tantivy's tokens.
pub(crate) struct WordStream<'t> {
    words: Words<'t>,
    token: Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream { words: Words::new(text), token: Token::default() }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next_word() else { return false };
        self.token.text.clear();
        self.token.text.push_str(word.text);
        self.token.offset_from = word.from;
        self.token.offset_to = word.to;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
