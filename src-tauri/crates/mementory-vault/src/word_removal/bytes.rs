//! Removes words from bytes of any kind. The words may be plain, escaped as in JSON or HTML, or in another encoding.
use crate::{VaultError, VaultResult, word_removal::Removal};
use aho_corasick::{AhoCorasick, MatchKind};
use std::{collections::HashSet, fmt::Write, sync::OnceLock};

/// Number of bytes at the start of the words that are searched for first. This search rules out most files quickly.
const HEAD_BYTES: usize = 32;
/// Largest number of levels that are decoded when a JSON string contains JSON itself.
const MAX_LAYERS: usize = 4;
/// Largest number of passes over the same bytes.
const MAX_PASSES: usize = 4;

/// The exact words of a removal, prepared to be found and replaced in bytes.
pub(crate) struct Words<'r> {
    removal: &'r Removal,
    heads: AhoCorasick,
    forms: OnceLock<Option<SearchForms>>,
}

/// Removes the exact words of `removal`, however they are escaped. None if the bytes contain none of them.
pub(crate) fn without(bytes: &[u8], removal: &Removal) -> VaultResult<Option<Vec<u8>>> {
    Ok(Words::new(removal)?.without(bytes))
}

/// All forms of the words: each encoding, plain and escaped.
struct SearchForms {
    finder: AhoCorasick,
    /// The replacement of each form.
    marks: Vec<String>,
    longest_form_bytes: usize,
}

impl<'r> Words<'r> {
    pub(crate) fn new(removal: &'r Removal) -> VaultResult<Self> {
        let heads: HashSet<Vec<u8>> = removal
            .exact_pairs()
            .iter()
            .flat_map(|(from, _)| encodings(from))
            .map(|mut bytes| {
                bytes.truncate(HEAD_BYTES);
                bytes
            })
            .collect();
        let heads = AhoCorasick::new(heads).map_err(|e| VaultError::Usage(e.to_string()))?;
        Ok(Self { removal, heads, forms: OnceLock::new() })
    }

    /// True when the bytes may contain the words. Escapes are decoded, even those of JSON inside JSON strings.
    fn may_contain(&self, bytes: &[u8]) -> bool {
        if self.heads.is_match(bytes) {
            return true;
        }
        let mut layer = None::<Vec<u8>>;
        for _ in 0..MAX_LAYERS {
            let current = layer.as_deref().unwrap_or(bytes);
            if memchr::memchr2(b'\\', b'&', current).is_none() {
                return false;
            }
            let decoded = decode_escapes(current);
            if decoded == current {
                return false;
            }
            if self.heads.is_match(&decoded) {
                return true;
            }
            layer = Some(decoded);
        }
        false
    }

    /// Removes the words from a whole file or a whole line. None if it contains none of them.
    pub(crate) fn without(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let pieces_removed = self.removal.pieces().and_then(|pieces| pieces.without(bytes));
        let mut out = match (self.without_once(pieces_removed.as_deref().unwrap_or(bytes)), pieces_removed) {
            (Some(out), _) | (None, Some(out)) => out,
            (None, None) => return None,
        };
        // A replacement may produce another of the texts, if that text contains a mark of an earlier redaction.
        for _ in 1..MAX_PASSES {
            match self.without_once(&out) {
                Some(new) if new != out => out = new,
                _ => break,
            }
        }
        Some(out)
    }

    fn without_once(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        if !self.may_contain(bytes) {
            return None;
        }
        let Ok(text) = std::str::from_utf8(bytes) else { return self.replace_all(bytes) };
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
                    .then(|| self.without_once(line.as_bytes()))
                    .flatten();
                changed |= new.is_some();
                out.extend_from_slice(new.as_deref().unwrap_or(line.as_bytes()));
            }
            // Words may extend over more than one line.
            return self.replace_all(&out).or(changed.then_some(out));
        }
        self.replace_all(bytes)
    }

    fn replace_all(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(bytes.len());
        self.replace_upto(bytes, bytes.len(), &mut out).1.then_some(out)
    }

    /// Length in bytes of the longest form. A match that begins this far before the end of the buffer is complete.
    pub(crate) fn longest_form_bytes(&self) -> usize {
        self.search_forms().map_or(1, |f| f.longest_form_bytes)
    }

    /// Copies `bytes` to `out` and replaces every form that begins before `until`. Returns the number of bytes
    /// processed, and whether a form was replaced.
    pub(crate) fn replace_upto(&self, bytes: &[u8], until: usize, out: &mut Vec<u8>) -> (usize, bool) {
        let mut at = 0;
        let mut changed = false;
        // Bytes that include a NUL are treated as binary data, whose offsets and lengths have to stay valid, so the
        // replacement keeps the length. Only these bytes are searched for a NUL, not the whole file.
        let is_binary = memchr::memchr(0, bytes).is_some();
        if let Some(forms) = self.search_forms() {
            for found in forms.finder.find_iter(bytes).take_while(|m| m.start() < until) {
                out.extend_from_slice(&bytes[at..found.start()]);
                if is_binary {
                    out.resize(out.len() + found.len(), b'*');
                } else {
                    out.extend_from_slice(forms.marks.get(found.pattern().as_usize()).map_or(b"", |m| m.as_bytes()));
                }
                at = found.end();
                changed = true;
            }
        }
        let end = until.max(at).min(bytes.len());
        out.extend_from_slice(&bytes[at..end]);
        (end, changed)
    }

    fn search_forms(&self) -> Option<&SearchForms> {
        let build_forms = || {
            let mut patterns = Vec::new();
            let mut marks = Vec::new();
            for (from, to) in self.removal.exact_pairs() {
                for form in encodings(from).into_iter().chain(escaped_forms(from)) {
                    patterns.push(form);
                    marks.push(to.clone());
                }
            }
            let longest_form_bytes = patterns.iter().map(Vec::len).max()?;
            // Longer words are matched first, since removing a shorter one inside them would leave the rest.
            let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns).ok()?;
            Some(SearchForms { finder, marks, longest_form_bytes })
        };
        self.forms.get_or_init(build_forms).as_ref()
    }
}

/// The text in the usual file encodings.
fn encodings(text: &str) -> Vec<Vec<u8>> {
    let mut out = vec![text.as_bytes().to_vec()];
    out.push(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
    out.push(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
    if !text.is_ascii()
        && let Some(latin) = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect()
    {
        out.push(latin);
    }
    out
}

/// The text with the escapes of JSON strings and HTML.
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

/// Decodes JSON escapes and the most common HTML entities.
fn decode_escapes(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = memchr::memchr2(b'\\', b'&', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let (decoded, consumed) = decode_escape(rest).unwrap_or_else(|| (rest[..1].to_vec(), 1));
        out.extend_from_slice(&decoded);
        rest = &rest[consumed..];
    }
    out.extend_from_slice(rest);
    out
}

/// Decodes the escape at the start of the bytes. Returns its character and its length in bytes.
fn decode_escape(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    const NAMED_ESCAPES: [(&[u8], u8); 13] = [
        (b"\\\"", b'"'),
        (b"\\\\", b'\\'),
        (b"\\/", b'/'),
        (b"\\n", b'\n'),
        (b"\\t", b'\t'),
        (b"\\r", b'\r'),
        (b"\\b", 8),
        (b"\\f", 12),
        (b"&amp;", b'&'),
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&quot;", b'"'),
        (b"&#39;", b'\''),
    ];
    if let Some((name, byte)) = NAMED_ESCAPES.iter().find(|(name, _)| bytes.starts_with(name)) {
        return Some((vec![*byte], name.len()));
    }
    let unit = |at: usize| -> Option<u16> {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let first = unit(0)?;
    let pair = [Some(first), unit(6)].into_iter().flatten();
    let c = char::decode_utf16(pair).next()?.ok()?;
    let mut buffer = [0; 4];
    Some((c.encode_utf8(&mut buffer).as_bytes().to_vec(), if c.len_utf16() == 2 { 12 } else { 6 }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn without(text: &str, bytes: &[u8]) -> Option<String> {
        let removal = Removal::exact(vec![(text.into(), "[X]".into())]);
        Words::new(&removal).unwrap().without(bytes).map(|b| String::from_utf8_lossy(&b).into_owned())
    }

    #[test]
    fn words_are_removed_from_lines_of_json() {
        let lines = "{\"a\":\"Herr M\\u00fcller\",\"n\":1.50}\n{\"b\":1}\n";
        assert_eq!(
            without("Müller", lines.as_bytes()).as_deref(),
            Some("{\"a\":\"Herr [X]\",\"n\":1.50}\n{\"b\":1}\n")
        );
    }

    #[test]
    fn words_are_removed_from_bytes_that_are_not_json() {
        assert_eq!(without("say \"M\"", b"x = \"say \\\"M\\\" now").as_deref(), Some("x = \"[X] now"), "escaped");
        assert_eq!(without("Müller", b"<p>M\\u00FCller</p>").as_deref(), Some("<p>[X]</p>"), "escaped in capitals");
        assert_eq!(without("Müller", b"caf\xe9 M\xfcller").as_deref(), Some("caf\u{fffd} [X]"), "Latin 1");
        assert_eq!(without("a < b & c", b"<p>a &lt; b &amp; c</p>").as_deref(), Some("<p>[X]</p>"), "HTML");
        assert_eq!(without("Müller", b"nothing of it"), None);
    }

    #[test]
    fn files_with_nul_bytes_keep_their_length() {
        assert_eq!(without("Muller", b"\0\x01Muller\xff\0").as_deref(), Some("\0\x01******\u{fffd}\0"));
    }

    #[test]
    fn a_text_that_a_replacement_completes_is_removed_too() {
        let pairs = ["the blue kite", "[X] flew away"].map(|text| (text.to_owned(), "[X]".to_owned()));
        let removal = Removal::exact(pairs.into());
        let new = Words::new(&removal).unwrap().without(br#"{"q":"the blue kite flew away"}"#);
        assert_eq!(new.as_deref(), Some(&br#"{"q":"[X]"}"#[..]));
    }

    #[test]
    fn words_are_removed_from_json_inside_json() {
        let inner = serde_json::to_string(&serde_json::json!({ "q": "Herr \"Müller\"" })).unwrap();
        let outer = serde_json::to_string(&serde_json::json!({ "args": inner })).unwrap();
        let new = without("\"Müller\"", outer.as_bytes()).unwrap();
        assert!(!new.contains("ller"), "{new}");
    }
}
