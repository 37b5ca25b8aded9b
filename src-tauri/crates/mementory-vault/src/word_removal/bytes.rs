//! Removes words from bytes of any kind. The words may be plain, escaped as in JSON or HTML, or in another encoding.
use crate::{
    VaultError, VaultResult,
    word_removal::{
        Removal,
        changed_parts::{changed_parts, mark_of},
        pattern_finder::PatternFinder,
        unescape::{Unescaped, decoded_forms},
        utf16,
    },
};
use aho_corasick::AhoCorasick;
use std::{cmp::Reverse, collections::HashSet, fmt::Write, ops::Range, sync::OnceLock};

/// A first search looks only for this many leading bytes of the words, which rules out most files quickly.
const HEAD_BYTES: usize = 32;
/// Largest number of passes over the same bytes. A replacement may complete a text that only the next pass finds.
const MAX_PASSES: usize = 4;
/// Number of bytes that are decoded and searched at once. A window is larger if a form of the words is longer.
const WINDOW_BYTES: usize = 1 << 20;
/// An escaped text that crosses the edge of a window is found if it is at most this many times as long as the original.
const MAX_GROWTH: usize = 8;
/// Largest number of backslashes before a character that are kept in the same window as the character.
const MAX_BACKSLASHES: usize = 64;
/// The characters from 0x80 to 0x9f in Windows-1252, without the unused ones.
const WINDOWS_1252: [(char, u8); 27] = [
    ('€', 0x80),
    ('‚', 0x82),
    ('ƒ', 0x83),
    ('„', 0x84),
    ('…', 0x85),
    ('†', 0x86),
    ('‡', 0x87),
    ('ˆ', 0x88),
    ('‰', 0x89),
    ('Š', 0x8a),
    ('‹', 0x8b),
    ('Œ', 0x8c),
    ('Ž', 0x8e),
    ('‘', 0x91),
    ('’', 0x92),
    ('“', 0x93),
    ('”', 0x94),
    ('•', 0x95),
    ('–', 0x96),
    ('—', 0x97),
    ('˜', 0x98),
    ('™', 0x99),
    ('š', 0x9a),
    ('›', 0x9b),
    ('œ', 0x9c),
    ('ž', 0x9e),
    ('Ÿ', 0x9f),
];

/// The exact words of a removal, prepared to be found and replaced in bytes.
pub(crate) struct WordRemover<'r> {
    removal: &'r Removal,
    heads: Heads,
    forms: OnceLock<Option<SearchForms<'r>>>,
}

/// Removes the exact words of `removal`, however they are escaped. Returns None if the bytes contain none of the words.
pub(crate) fn without_words(bytes: &[u8], removal: &Removal) -> VaultResult<Option<Vec<u8>>> {
    Ok(WordRemover::new(removal)?.without_words(bytes))
}

/// The beginnings of the words, in each encoding and in decoded form.
struct Heads {
    encoded: AhoCorasick,
    decoded: AhoCorasick,
}

/// All forms of the words: those that are searched for in the bytes, and those that are searched for in decoded bytes.
struct SearchForms<'r> {
    encoded: Forms,
    decoded: Forms,
    /// The replacements in each exact string. The forms refer to the elements by index.
    changes: Vec<Changes<'r>>,
    /// Largest number of bytes that a form may have in a file.
    longest_form_bytes: usize,
}

/// The replacements in an exact string. A quotation of a redacted record loses only some of its words.
struct Changes<'r> {
    words: &'r str,
    /// The parts of the words that are replaced, each with its replacement.
    parts: Vec<(Range<usize>, &'r str)>,
    mark: &'r str,
}

impl<'r> Changes<'r> {
    fn new((words, to): &'r (String, String)) -> Self {
        Self { words, parts: changed_parts(words, to), mark: mark_of(to) }
    }

    /// Returns the parts of one form of the words that are replaced. If the form has other bytes than the words
    /// (because of its encoding, or of escapes in the words), the parts are not known, and the form is replaced as a
    /// whole.
    fn in_form(&self, form: &[u8]) -> Vec<(Range<usize>, &'r str)> {
        let is_plain = form == self.words.as_bytes();
        if is_plain { self.parts.clone() } else { vec![(0..form.len(), self.mark)] }
    }
}

/// How replacements in a file have to be made.
#[derive(Clone, Copy)]
pub(crate) struct Syntax {
    /// True if replacements must keep the number of bytes.
    pub is_binary: bool,
    /// True if the bytes are JSON, in which the letter after a backslash is not text.
    pub is_json: bool,
}

/// Forms of the words, and for each form the index of the words that it represents.
struct Forms {
    finder: PatternFinder,
    numbers: Vec<usize>,
}

impl Forms {
    fn new(forms: Vec<(Vec<u8>, usize)>) -> Self {
        let (patterns, numbers): (Vec<Vec<u8>>, Vec<usize>) = forms.into_iter().unzip();
        // Longer words are matched first. If a shorter word inside them were removed first, the rest of them would
        // remain.
        Self { finder: PatternFinder::of_longest(&patterns), numbers }
    }

    /// Returns the places of the forms in ascending order and without overlaps, each with the index of its words.
    fn find<'b>(&'b self, bytes: &'b [u8]) -> impl Iterator<Item = (Range<usize>, usize)> + 'b {
        let numbers = &self.numbers;
        let found = self.finder.find(bytes);
        found.filter_map(move |(form, place)| Some((place, *numbers.get(form)?)))
    }
}

impl<'r> WordRemover<'r> {
    pub(crate) fn new(removal: &'r Removal) -> VaultResult<Self> {
        let head = |mut form: Vec<u8>| {
            form.truncate(HEAD_BYTES);
            form
        };
        let finder = |heads: HashSet<Vec<u8>>| AhoCorasick::new(heads).map_err(|e| VaultError::Internal(e.to_string()));
        let (mut encoded, mut decoded) = (HashSet::new(), HashSet::new());
        for (from, _) in removal.exact_pairs() {
            encoded.extend(encoded_forms(from).into_iter().map(head));
            decoded.extend(forms_after_decoding(from).into_iter().map(head));
        }
        let heads = Heads { encoded: finder(encoded)?, decoded: finder(decoded)? };
        Ok(Self { removal, heads, forms: OnceLock::new() })
    }

    /// True if the bytes may contain the words, plain or escaped.
    fn may_contain(&self, bytes: &[u8]) -> bool {
        let is_in_decoded = |window: &[u8]| {
            Unescaped::new(window).is_some_and(|unescaped| self.heads.decoded.is_match(&unescaped.bytes))
        };
        self.heads.encoded.is_match(bytes)
            || windows(bytes.len()).any(|window| bytes.get(window).is_some_and(is_in_decoded))
    }

    /// Removes the words from a whole file or a whole line. Returns None if the bytes contain none of the words.
    pub(crate) fn without_words(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        match utf16::decode(bytes) {
            Some((text, order)) => {
                let new = self.without_words_in_part(text.as_bytes(), begins_like_json(text.as_bytes()));
                let encoded = new.map(|new| utf16::encode(&String::from_utf8_lossy(&new), order));
                // Text in another encoding may have been appended.
                self.replace_all(encoded.as_deref().unwrap_or(bytes), false).or(encoded)
            }
            None => self.without_words_in_part(bytes, begins_like_json(bytes)),
        }
    }

    /// Removes the words from a part of a file. `is_json` says whether the part is JSON. Returns None if the part
    /// contains none of the words.
    pub(crate) fn without_words_in_part(&self, bytes: &[u8], is_json: bool) -> Option<Vec<u8>> {
        let pieces_removed = self.removal.pieces().and_then(|pieces| pieces.without_pieces(bytes));
        let mut out =
            match (self.without_words_once(pieces_removed.as_deref().unwrap_or(bytes), is_json), pieces_removed) {
                (Some(out), _) | (None, Some(out)) => out,
                (None, None) => return None,
            };
        // A replacement may complete another of the searched texts, if that text itself contains a redaction mark.
        for _ in 1..MAX_PASSES {
            match self.without_words_once(&out, is_json) {
                Some(new) if new != out => out = new,
                _ => break,
            }
        }
        Some(out)
    }

    fn without_words_once(&self, bytes: &[u8], is_json: bool) -> Option<Vec<u8>> {
        if !self.may_contain(bytes) {
            return None;
        }
        let Ok(text) = std::str::from_utf8(bytes) else { return self.replace_all(bytes, is_json) };
        if let Some(Some(new)) = self.removal.json(text.trim_end()) {
            let end = text.get(text.trim_end().len()..).unwrap_or_default();
            return Some((new + end).into_bytes());
        }
        if text.trim_end().contains('\n') {
            // The bytes are JSON Lines or plain lines.
            let mut out = Vec::with_capacity(bytes.len());
            let mut changed = false;
            for line in text.split_inclusive('\n') {
                let new = line
                    .trim_start()
                    .starts_with(['{', '[', '"'])
                    .then(|| self.without_words_once(line.as_bytes(), is_json))
                    .flatten();
                changed |= new.is_some();
                out.extend_from_slice(new.as_deref().unwrap_or(line.as_bytes()));
            }
            // Words may extend over more than one line.
            return self.replace_all(&out, is_json).or(changed.then_some(out));
        }
        self.replace_all(bytes, is_json)
    }

    fn replace_all(&self, bytes: &[u8], is_json: bool) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        let syntax = Syntax { is_binary: is_binary(bytes), is_json };
        self.replace_upto(bytes, bytes.len(), syntax, &mut out).1.then_some(out)
    }

    /// Returns the largest number of bytes that a form of the words may have in a file. A match that begins this far
    /// before the end of the buffer is complete.
    pub(crate) fn longest_form_bytes(&self) -> usize {
        self.search_forms().map_or(1, |f| f.longest_form_bytes)
    }

    /// Copies `bytes` to `out` and replaces every form that begins before `until`. Returns the number of bytes
    /// processed, and whether a form was replaced.
    pub(crate) fn replace_upto(&self, bytes: &[u8], until: usize, syntax: Syntax, out: &mut Vec<u8>) -> (usize, bool) {
        let (mut at, mut changed) = (0, false);
        // Decoding requires several times as much memory as the bytes, so it is done in windows.
        while at < until {
            let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) else { break };
            let step = WINDOW_BYTES.max(self.longest_form_bytes());
            let window = rest.get(..step + self.longest_form_bytes()).unwrap_or(rest);
            let end = before_backslashes(rest, step.min(until - at));
            let (length, replaced) = self.replace_in_window(window, end, syntax, out);
            changed |= replaced;
            at += length;
        }
        (at, changed)
    }

    fn replace_in_window(&self, bytes: &[u8], until: usize, syntax: Syntax, out: &mut Vec<u8>) -> (usize, bool) {
        let mut at = 0;
        let matches = self.find(bytes, until, syntax.is_json);
        for (place, mark) in &matches {
            // A plain form and a decoded form may overlap. Both are then replaced by one mark.
            let is_separate = place.start >= at;
            out.extend_from_slice(bytes.get(at..place.start).unwrap_or_default());
            if syntax.is_binary {
                out.resize(out.len() + place.end.saturating_sub(at.max(place.start)), b'*');
            } else if is_separate {
                out.extend_from_slice(mark.as_bytes());
            }
            at = place.end.max(at);
        }
        let end = until.max(at).min(bytes.len());
        out.extend_from_slice(bytes.get(at..end).unwrap_or_default());
        (end, !matches.is_empty())
    }

    /// Returns the places to replace in all forms that begin before `until`, in ascending order, each with its
    /// replacement.
    fn find(&self, bytes: &[u8], until: usize, is_json: bool) -> Vec<(Range<usize>, &'r str)> {
        let Some(forms) = self.search_forms() else { return Vec::new() };
        let is_text = |(place, _): &(Range<usize>, usize)| !(is_json && is_letter_of_escape(bytes, place.start));
        let encoded = forms.encoded.find(bytes).take_while(|(place, _)| place.start < until).filter(is_text);
        let mut matches: Vec<_> = encoded.flat_map(|(place, number)| forms.changes_in(bytes, &place, number)).collect();
        if let Some(unescaped) = Unescaped::new(bytes) {
            let decoded = forms.decoded.find(&unescaped.bytes);
            let decoded = decoded.take_while(|(place, _)| unescaped.original(place).start < until);
            let changes = decoded.flat_map(|(place, number)| forms.changes_in(&unescaped.bytes, &place, number));
            matches.extend(changes.map(|(place, mark)| (unescaped.original(&place), mark)));
        }
        matches.sort_by_key(|(place, _)| (place.start, Reverse(place.end)));
        // The search in the bytes and the search in the decoded bytes may find the same match.
        matches.dedup();
        matches
    }

    fn search_forms(&self) -> Option<&SearchForms<'r>> {
        let pairs: &'r [(String, String)] = self.removal.exact_pairs();
        let build_forms = || {
            let mut encoded: Vec<(Vec<u8>, usize)> = Vec::new();
            let mut decoded: Vec<(Vec<u8>, usize)> = Vec::new();
            for (number, (from, _)) in pairs.iter().enumerate() {
                encoded.extend(encoded_forms(from).into_iter().map(|form| (form, number)));
                decoded.extend(forms_after_decoding(from).into_iter().map(|form| (form, number)));
            }
            let longest_encoded = encoded.iter().map(|(form, _)| form.len()).max()?;
            let longest_decoded = decoded.iter().map(|(form, _)| form.len()).max().unwrap_or_default();
            let longest_form_bytes = longest_encoded.max(longest_decoded.saturating_mul(MAX_GROWTH));
            let changes = pairs.iter().map(Changes::new).collect();
            let (encoded, decoded) = (Forms::new(encoded), Forms::new(decoded));
            Some(SearchForms { encoded, decoded, changes, longest_form_bytes })
        };
        self.forms.get_or_init(build_forms).as_ref()
    }
}

impl<'r> SearchForms<'r> {
    /// Returns the places in `bytes` to replace in the form at `place`, each with its replacement.
    fn changes_in(&self, bytes: &[u8], place: &Range<usize>, number: usize) -> Vec<(Range<usize>, &'r str)> {
        let form = bytes.get(place.clone()).unwrap_or_default();
        let parts = self.changes.get(number).map(|changes| changes.in_form(form)).unwrap_or_default();
        parts.into_iter().map(|(part, mark)| (place.start + part.start..place.start + part.end, mark)).collect()
    }
}

/// Returns `end`, or an earlier position if an escape would be divided at `end`.
fn before_backslashes(bytes: &[u8], end: usize) -> usize {
    let bytes_before = bytes.get(..end).unwrap_or_default();
    let backslashes = bytes_before.iter().rev().take(MAX_BACKSLASHES).take_while(|byte| **byte == b'\\').count();
    if end == bytes.len() || backslashes == end { end } else { end - backslashes }
}

/// True if a file that begins with these bytes is probably JSON or JSON Lines.
pub(crate) fn begins_like_json(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    start.starts_with(b"{") || start.starts_with(b"[") && !start.starts_with(mementory_model::REDACTED.as_bytes())
}

/// True if the byte at this position is the letter of an escape such as `\n`. Words that seem to begin with this letter
/// are not in the file: `\nut` is a line break and `ut`, not the word `nut`.
fn is_letter_of_escape(bytes: &[u8], at: usize) -> bool {
    let backslashes = bytes.iter().take(at).rev().take_while(|byte| **byte == b'\\').count();
    backslashes % 2 == 1 && matches!(bytes.get(at), Some(b'b' | b'f' | b'n' | b'r' | b't' | b'u'))
}

/// True if the bytes include a NUL. Such bytes are treated as binary data, in which offsets and lengths have to stay
/// valid, so a replacement keeps the length.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    memchr::memchr(0, bytes).is_some()
}

/// Splits bytes into windows. Each window includes the beginning of the next one, so that every head lies completely in
/// one window.
fn windows(length: usize) -> impl Iterator<Item = Range<usize>> {
    (0..length).step_by(WINDOW_BYTES).map(move |start| {
        let end = start + WINDOW_BYTES + HEAD_BYTES * MAX_GROWTH;
        start..end.min(length)
    })
}

/// Returns the forms of a text that are searched for in the bytes of a file: the text in each encoding. If the decoded
/// form of the text cannot be searched for, also returns the text with the usual escapes.
fn encoded_forms(text: &str) -> Vec<Vec<u8>> {
    let mut out = encodings(text);
    if forms_after_decoding(text).is_empty() {
        out.extend(escaped_forms(text));
    }
    out
}

/// Returns the forms of a text that are searched for in decoded bytes.
fn forms_after_decoding(text: &str) -> Vec<Vec<u8>> {
    let mut out = decoded_forms(text.as_bytes());
    out.extend(windows_1252(text).map(|bytes| decoded_forms(&bytes)).unwrap_or_default());
    out
}

/// Returns the text in the usual file encodings.
fn encodings(text: &str) -> Vec<Vec<u8>> {
    let mut out = vec![text.as_bytes().to_vec()];
    out.push(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    out.push(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    out.extend(windows_1252(text));
    out
}

/// Returns the text in Windows-1252, which extends Latin-1. Returns None if the text has other characters, or only
/// ASCII characters.
fn windows_1252(text: &str) -> Option<Vec<u8>> {
    let byte = |c: char| {
        let other = || WINDOWS_1252.iter().find(|(other, _)| *other == c).map(|(_, byte)| *byte);
        u8::try_from(u32::from(c)).ok().or_else(other)
    };
    if text.is_ascii() { None } else { text.chars().map(byte).collect() }
}

/// Returns the text with the escapes of JSON strings and HTML.
fn escaped_forms(text: &str) -> Vec<Vec<u8>> {
    let mut json = String::new();
    mementory_json::write_string(text, &mut json);
    let json = json.get(1..json.len().saturating_sub(1)).unwrap_or_default().to_owned();
    let ascii = |upper: bool| {
        json.chars().fold(String::new(), |mut out, c| {
            if c.is_ascii() {
                out.push(c);
            }
            for unit in c.encode_utf16(&mut [0; 2]).iter().filter(|_| !c.is_ascii()) {
                // Writing into a String cannot fail.
                let _ = if upper { write!(out, "\\u{unit:04X}") } else { write!(out, "\\u{unit:04x}") };
            }
            out
        })
    };
    let html = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let quoted = html.replace('"', "&quot;").replace('\'', "&#39;");
    let all: HashSet<String> = [ascii(false), ascii(true), json.replace('/', "\\/"), json.clone(), html, quoted].into();
    all.into_iter().filter(|form| form != text).map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::word_removal::ERASED_MARK;

    fn without_words(text: &str, bytes: &[u8]) -> Option<String> {
        let removal = Removal::exact(vec![(text.into(), "[X]".into())]);
        WordRemover::new(&removal).unwrap().without_words(bytes).map(|b| String::from_utf8_lossy(&b).into_owned())
    }

    #[test]
    fn a_quotation_loses_the_words_that_its_record_loses() {
        let text = "One \"é\" key & more.\nTwo keys.\nThree <keys>.";
        let new = "One \"é\" key & more.\n[X]\nThree <keys>.".replace("[X]", ERASED_MARK);
        let removal = Removal::erased(&[], &[(text.to_owned(), new.clone())]);
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let ascii = |text: &str| json(text).replace('é', "\\u00E9").replace('<', "\\u003c");
        let html = |text: &str| text.replace('&', "&amp;").replace('<', "&#60;").replace('"', "&quot;");
        let windows = |text: &str| text.replace('\n', "\r\n");
        type Form<'f> = (&'f str, &'f dyn Fn(&str) -> String);
        let forms: [Form<'_>; 6] = [
            ("JSON", &|text: &str| format!("{{\"q\":{}}}", json(text))),
            ("a script", &|text: &str| format!("part0 = [{{\"q\":{}}}]", ascii(text))),
            ("a line of a log", &|text: &str| format!("12:00 {}\n12:01 end\n", json(&format!("got {}", json(text))))),
            ("HTML", &|text: &str| format!("<p>{}</p>", html(text))),
            ("a text file", &|text: &str| format!("# Notes\n{text}\nOr not.\n")),
            ("a text file of Windows", &|text: &str| format!("# Notes\r\n{}\r\nOr not.\r\n", windows(text))),
        ];
        for (form, write) in forms {
            let cleaned = WordRemover::new(&removal).unwrap().without_words(write(text).as_bytes());
            let cleaned = cleaned.map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(cleaned, Some(write(&new)), "{form}");
        }
        let other = b"t = \"Two keys.\\nThree <keys>.\"";
        assert_eq!(WordRemover::new(&removal).unwrap().without_words(other), None, "a part of the text");
    }

    #[test]
    fn a_quotation_whose_parts_are_not_known_is_removed_as_a_whole() {
        let pair = ("The café is closed. Ask me.".to_owned(), format!("{ERASED_MARK} Ask me."));
        let removal = Removal::erased(&[], &[pair]);
        let file = b"t = 'The caf\xe9 is closed. Ask me.' \xff";
        let new = WordRemover::new(&removal).unwrap().without_words(file).unwrap();
        assert_eq!(new, [b"t = '", ERASED_MARK.as_bytes(), b"' \xff"].concat());
    }

    #[test]
    fn words_are_removed_from_lines_of_json() {
        let lines = "{\"a\":\"Herr M\\u00fcller\",\"n\":1.50}\n{\"b\":1}\n";
        assert_eq!(
            without_words("Müller", lines.as_bytes()).as_deref(),
            Some("{\"a\":\"Herr [X]\",\"n\":1.50}\n{\"b\":1}\n")
        );
    }

    #[test]
    fn words_are_removed_from_bytes_that_are_not_json() {
        assert_eq!(without_words("say \"M\"", b"x = \"say \\\"M\\\" now").as_deref(), Some("x = \"[X] now"), "escaped");
        assert_eq!(
            without_words("Müller", b"<p>M\\u00FCller</p>").as_deref(),
            Some("<p>[X]</p>"),
            "escaped in capitals"
        );
        assert_eq!(without_words("Müller", b"caf\xe9 M\xfcller").as_deref(), Some("caf\u{fffd} [X]"), "Latin 1");
        assert_eq!(without_words("a < b & c", b"<p>a &lt; b &amp; c</p>").as_deref(), Some("<p>[X]</p>"), "HTML");
        assert_eq!(without_words("Müller", b"nothing of it"), None);
    }

    #[test]
    fn words_are_removed_however_they_are_escaped() {
        let text = "He said: \"The café/bar is closed.\"\nAsk R&D, it's <new>.";
        let json = |text: &str| serde_json::to_string(text).unwrap();
        let ascii = |text: &str| json(text).replace('é', "\\u00E9").replace('/', "\\/");
        let html = |text: &str| text.replace('&', "&amp;").replace('<', "&#60;").replace('\'', "&apos;");
        let log = json(&format!("{{\"q\":{}}}", json(text)));
        for (form, file) in [
            ("a script", format!("window.data.part0 = [{{\"id\":1,\"t\":{},\"n\":2}}]", ascii(text))),
            ("a line of a log", format!("12:00 INFO got {{\"t\":{}}}\n12:01 INFO end\n", json(text))),
            ("JSON in a JSON string", format!("12:00 INFO got {log}\n")),
            ("JSON in a JSON string in JSON", format!("{{\"log\":{}}}", json(&format!("got {log} at 12:00")))),
            ("a block of code", format!("# Notes\n```json\n{{\n  \"t\": {}\n}}\n```\n", ascii(text))),
            ("HTML", format!("<p>{}</p>", html(text).replace('"', "&quot;"))),
            ("HTML with names", format!("<p title='{}'>", html(text).replace('"', "&#x22;").replace('é', "&eacute;"))),
            ("JSON in an attribute", format!("<p data-t=\"{}\">", html(&json(text)).replace('"', "&quot;"))),
            ("HTML in JSON", format!("x={{\"h\":{}}}", json(&html(text)).replace('<', "\\u003c"))),
        ] {
            let new = without_words(text, file.as_bytes()).unwrap_or(file);
            assert!(new.contains("[X]"), "{form}: {new}");
            for word in ["said", "caf", "closed", "Ask", "new&", "new>"] {
                assert!(!new.contains(word), "{form}: {new}");
            }
        }
    }

    #[test]
    fn letters_of_escapes_in_json_are_not_words() {
        for file in [r#"{"t":"Salt\nutter and \table"}"#, "{\"t\":\"a\\nut\"}\n{\"t\":\"b\\table\"}\n"] {
            for word in ["nut", "table"] {
                assert_eq!(without_words(word, file.as_bytes()), None, "{word} in {file}");
            }
        }
        let file = r#"{"t":"a\nut","u":"C:\\nut","v":"a nut"}"#;
        assert_eq!(
            without_words("nut", file.as_bytes()).as_deref(),
            Some(r#"{"t":"a\nut","u":"C:\\[X]","v":"a [X]"}"#)
        );
        assert_eq!(without_words("nut", br"C:\nut").as_deref(), Some(r"C:\[X]"), "not JSON");
    }

    #[test]
    fn only_the_escaped_words_are_replaced() {
        let file = br#"part0 = [{"t":"\\\"He said \"yes\".\\ Or\u00e9"}]"#;
        let new = without_words("He said \"yes\".", file);
        assert_eq!(new.as_deref(), Some(r#"part0 = [{"t":"\\\"[X]\\ Or\u00e9"}]"#));
        for other in [&br"He said \yes\."[..], br#"t = "He said \"no\".""#, b"He said &quot;yes&quot;!"] {
            assert_eq!(without_words("He said \"yes\".", other), None);
        }
    }

    #[test]
    fn escaped_words_are_removed_after_a_backslash_of_other_words() {
        let new = without_words("new plan of the \"old\" garden", br#"t = "C:\\new plan of the \"old\" garden!""#);
        assert_eq!(new.as_deref(), Some(r#"t = "C:[X]!""#));
    }

    #[test]
    fn escaped_words_are_removed_across_the_edge_of_a_window() {
        let words = br#"The \u006fld \"key\" is here."#;
        for before in WINDOW_BYTES - words.len()..=WINDOW_BYTES {
            let file = [vec![b'x'; before].as_slice(), words, b"y"].concat();
            let new = without_words("The old \"key\" is here.", &file).unwrap();
            assert_eq!(new.get(before..), Some("[X]y"), "{before}");
        }
    }

    #[test]
    fn words_are_removed_from_files_in_windows_1252() {
        let file = b"t = \"\x93M\xfcller\x94 sagt \\\"nie\\\" \x96 oft\"";
        assert_eq!(without_words("“Müller” sagt \"nie\" – oft", file).as_deref(), Some("t = \"[X]\""));
    }

    #[test]
    fn words_are_removed_from_files_in_utf_16() {
        let file = "[\"He said \\\"no\\\".\",1]";
        for order in [u16::to_le_bytes, u16::to_be_bytes] {
            let removal = Removal::exact(vec![("He said \"no\".".into(), "[X]".into())]);
            let new = WordRemover::new(&removal).unwrap().without_words(&utf16::encode(file, order));
            assert_eq!(new, Some(utf16::encode("[\"[X]\",1]", order)));
            for appended in ["He said \"no\".", "He said \"no\"!\nHe said \"no\". "] {
                let mixed = [utf16::encode("Notes\n", order), appended.into()].concat();
                let new = WordRemover::new(&removal).unwrap().without_words(&mixed).unwrap();
                assert!(!new.windows(14).any(|part| part == b"He said \"no\"."), "appended in UTF-8");
            }
        }
    }

    #[test]
    fn files_with_nul_bytes_keep_their_length() {
        assert_eq!(without_words("Muller", b"\0\x01Muller\xff\0").as_deref(), Some("\0\x01******\u{fffd}\0"));
        assert_eq!(
            without_words("a \"red\" key", b"\0\xff{\"t\":\"a \\\"red\\\" key\"}").as_deref(),
            Some("\0\u{fffd}{\"t\":\"*************\"}")
        );
    }

    #[test]
    fn a_text_that_a_replacement_completes_is_removed_too() {
        let pairs = ["the blue kite", "[X] flew away"].map(|text| (text.to_owned(), "[X]".to_owned()));
        let removal = Removal::exact(pairs.into());
        let new = WordRemover::new(&removal).unwrap().without_words(br#"{"q":"the blue kite flew away"}"#);
        assert_eq!(new.as_deref(), Some(&br#"{"q":"[X]"}"#[..]));
    }

    #[test]
    fn words_are_removed_from_json_inside_json() {
        let inner = serde_json::to_string(&serde_json::json!({ "q": "Herr \"Müller\"" })).unwrap();
        let outer = serde_json::to_string(&serde_json::json!({ "args": inner })).unwrap();
        let new = without_words("\"Müller\"", outer.as_bytes()).unwrap();
        assert!(!new.contains("ller"), "{new}");
    }
}
