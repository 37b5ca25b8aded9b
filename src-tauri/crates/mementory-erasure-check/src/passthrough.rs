//! Searches the passthrough files from the first byte to the last, without the code that rewrites them. The words are
//! searched for as bytes: plain, escaped, and in other encodings.
use crate::{
    ErasureCheck, Evidence, PlaceOutcome, ReceiptPlace,
    internal::search_for,
    joined_forms::JoinedForms,
    other_forms::OtherForms,
    phrases::{MAX_GAP_BYTES, SplitLines, are_around_mark, is_long_phrase, pieces_of, sentences_left},
    quoted_lines::QuotedLines,
    receipt::checked_place,
    utf16::{Utf16Reader, unit_decoder},
};
use memchr::memmem;
use mementory_model::normal_text;
use mementory_search::Needles;
use mementory_store::StoreResult;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    io::Read,
    ops::Range,
};

/// Length in bytes of the beginning of a text that is searched for. Where it is found, the whole text is compared.
const HEAD_BYTES: usize = 48;
/// Texts with fewer bytes than this are not searched for, since they occur in any file by chance.
const MIN_TEXT_BYTES: usize = 5;
/// Length in bytes of the longest redaction mark next to which a piece is found even if two windows divide the piece.
const MAX_MARK_BYTES: usize = 128;
/// Start of a redaction mark.
const REDACTED: &[u8] = mementory_model::REDACTED.as_bytes();
/// The end of the mark that an erasure writes. The mark starts with [`REDACTED`].
const ERASED_MARK_END: &[u8] = b"erased]";
/// Largest number of backslashes before a character that are kept in the same window as the character.
const MAX_BACKSLASHES: usize = 64;
/// Number of bytes read at a time. If the texts are long, more bytes are read at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// Size in bytes from which the deletion reads a file in blocks.
const LARGE_FILE_BYTES: u64 = 64 << 20;
/// Length in bytes from which a line of a large file is too long for the deletion to compare its pieces.
const LONG_LINE_BYTES: u64 = 8 << 20;
/// Largest number of files whose ids are given in a receipt.
const MAX_LISTED_FILES: usize = 20;
/// First bytes of compressed files, in which words cannot be found.
const COMPRESSED_SIGNATURES: [&[u8]; 8] =
    [b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x89PNG", b"\xff\xd8\xff", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf"];

struct TextFinder {
    heads: Needles,
    forms: Vec<Vec<u8>>,
    max_form_bytes: usize,
    /// Finds texts in other encodings, and texts with escapes that writers of JSON do not use.
    other_forms: OtherForms,
    /// All forms of the texts and of their pieces, in which pieces of files are looked up.
    joined_forms: JoinedForms,
    /// None after a redaction, or if the texts have no redaction marks.
    split_lines: Option<SplitLines>,
    /// None after a redaction, or if no text has several lines.
    quoted_lines: Option<QuotedLines>,
    /// True after an erasure if a text is so long that the deletion looks for pieces of it next to redaction marks.
    has_long_text: bool,
    /// True if the checked erasure has rewritten files, so that it may have written the erasure marks in them.
    has_written_marks: bool,
}

/// Bytes of a file that are searched together.
struct Window<'w> {
    bytes: &'w [u8],
    /// True if the file begins with these bytes.
    is_start: bool,
    /// True if the file ends with these bytes.
    is_end: bool,
    is_json: bool,
}

/// Result of searching one file.
#[derive(Debug, PartialEq, Eq)]
enum SearchResult {
    Clean,
    /// The file begins like one in UTF-16, and nothing was found in its text. Its bytes were not searched.
    Utf16,
    Compressed,
    Found,
    /// A line is so long that the deletion did not compare the pieces of quoted texts in it.
    LongLine,
}

impl ErasureCheck<'_> {
    pub(crate) fn check_passthrough(&self, evidence: &Evidence) -> StoreResult<ReceiptPlace> {
        // The digest of each blob, and the id of a record that refers to it.
        let blobs: BTreeMap<[u8; 32], String> = {
            let connection = self.store.new_reader()?;
            // The join begins with the few blobs in use, because there is no index on the records' kind.
            let mut statement = connection.prepare(
                "SELECT n.blob, lower(hex(r.id)) FROM named_blobs n CROSS JOIN records r ON r.row = n.row \
                 WHERE r.kind = ?1",
            )?;
            let kind = mementory_store::kind_code(mementory_model::Kind::Foreign);
            let files = statement.query_map([kind], |r| Ok((r.get(0)?, r.get(1)?)))?;
            files.collect::<Result<_, _>>()?
        };
        let finder =
            TextFinder::new(&evidence.texts, &evidence.quotations, !evidence.erased_rows.is_empty())?.map(|finder| {
                TextFinder {
                    // If the deletion rewrote no file, no file can have a mark that this deletion wrote.
                    has_written_marks: evidence.passthrough_files > 0,
                    ..finder
                }
            });
        let Some(finder) = finder.filter(|_| !blobs.is_empty()) else {
            let reason = if blobs.is_empty() { "there are none" } else { "nothing long enough to be looked for" };
            return Ok(checked_place(
                "passthrough",
                true,
                place_outcome(evidence),
                with_rewritten_count(evidence, reason.into()),
            ));
        };
        let (mut found_count, mut unreadable_count, mut compressed_count, mut long_line_count) = (0, 0, 0, 0);
        let mut failed_ids = BTreeSet::new();
        for (blob, id) in &blobs {
            let mut search_result = self.blobs.open(blob).map(|source| finder.search(source));
            if matches!(search_result, Ok(Ok(SearchResult::Utf16))) {
                // Text in another encoding may have been appended.
                search_result = self.blobs.open(blob).map(|source| finder.search_bytes(source));
            }
            let count = match search_result {
                Ok(Ok(SearchResult::Clean | SearchResult::Utf16)) => continue,
                Ok(Ok(SearchResult::Compressed)) => {
                    compressed_count += 1;
                    continue;
                }
                Ok(Ok(SearchResult::Found)) => &mut found_count,
                Ok(Ok(SearchResult::LongLine)) => &mut long_line_count,
                Ok(Err(_)) | Err(_) => &mut unreadable_count,
            };
            *count += 1;
            failed_ids.insert(id.as_str());
        }
        let mut detail = format!("{} parts of imports searched", blobs.len());
        for (n, what) in [
            (found_count, "still hold the words"),
            (unreadable_count, "could not be read"),
            (long_line_count, "have lines too long to be searched around earlier redactions"),
            (compressed_count, "are compressed inside and were searched as they are"),
        ] {
            if n > 0 {
                let _ = write!(detail, ", {n} {what}");
            }
        }
        if !failed_ids.is_empty() {
            // Names of files may contain erased words, so only ids are given.
            let listed_ids: Vec<&str> = failed_ids.iter().copied().take(MAX_LISTED_FILES).collect();
            let _ = write!(detail, "; to remove these files as a whole, erase {}", listed_ids.join(", "));
            if failed_ids.len() > listed_ids.len() {
                let _ = write!(detail, " and {} more", failed_ids.len() - listed_ids.len());
            }
        }
        Ok(checked_place(
            "passthrough",
            found_count + unreadable_count + long_line_count == 0,
            place_outcome(evidence),
            with_rewritten_count(evidence, detail),
        ))
    }
}

fn place_outcome(evidence: &Evidence) -> PlaceOutcome {
    if evidence.passthrough_files > 0 { PlaceOutcome::Redacted } else { PlaceOutcome::NotPresent }
}

fn with_rewritten_count(evidence: &Evidence, detail: String) -> String {
    if evidence.passthrough_files > 0 { format!("{} rewritten; {detail}", evidence.passthrough_files) } else { detail }
}

impl TextFinder {
    /// Prepares the search for these texts. None if none of them is long enough. After an erasure, a text that has
    /// redaction marks is also searched for in pieces. After a redaction, no text is searched for in pieces, because a
    /// redaction removes no pieces. The former texts of `quotations` are never divided into pieces.
    fn new(texts: &[String], quotations: &[(String, String)], is_erasure: bool) -> StoreResult<Option<Self>> {
        let texts: &[String] = &with_windows_line_ends(texts.to_vec());
        let quoted = with_windows_line_ends(quotations.iter().map(|(former, _)| former.clone()).collect());
        let is_distinctive = |t: &&String| {
            t.len() >= MIN_TEXT_BYTES
                && t.chars().any(char::is_alphabetic)
                && !["true", "false", "null"].contains(&t.as_str())
        };
        let pieces = if is_erasure { pieces_of(texts) } else { BTreeSet::new() };
        let long_pieces = pieces.iter().filter(|piece| is_long_phrase(&normal_text(piece)));
        let sentences_left = if is_erasure { sentences_left(texts) } else { BTreeSet::new() };
        let erased: Vec<&String> =
            texts.iter().filter(is_distinctive).chain(long_pieces).chain(&sentences_left).collect();
        let quoted: Vec<&String> = quoted.iter().filter(is_distinctive).collect();
        let mut forms: Vec<Vec<u8>> = erased.iter().flat_map(|text| written_forms(text)).collect();
        let forms_of_pieces: Vec<Vec<u8>> = pieces.iter().flat_map(|piece| written_forms(piece)).collect();
        // `quoted` is not added to the joined forms. It contains texts of records that were only changed, and a
        // quotation of such a text in a file rightly keeps the words next to the new marks.
        let joined_forms = JoinedForms::new(forms.iter().chain(&forms_of_pieces));
        forms.extend(quoted.iter().flat_map(|text| written_forms(text)));
        let Some(max_form_bytes) = forms.iter().map(Vec::len).max() else { return Ok(None) };
        let heads: Vec<&[u8]> = forms.iter().map(|f| f.get(..HEAD_BYTES).unwrap_or(f)).collect();
        let heads = search_for(&heads)?;
        let other_forms = OtherForms::new(erased.into_iter().chain(quoted))?;
        let split_lines = if is_erasure { SplitLines::new(texts, written_forms)? } else { None };
        let quoted_lines = if is_erasure { QuotedLines::new(texts)? } else { None };
        let has_long_text = is_erasure && texts.iter().any(|text| is_long_phrase(&normal_text(text)));
        Ok(Some(Self {
            heads,
            forms,
            max_form_bytes,
            other_forms,
            joined_forms,
            split_lines,
            quoted_lines,
            has_long_text,
            has_written_marks: false,
        }))
    }

    fn search(&self, mut source: impl Read) -> std::io::Result<SearchResult> {
        let mut start = Vec::new();
        source.by_ref().take(2).read_to_end(&mut start)?;
        match unit_decoder(&start) {
            Some(unit) => match self.search_bytes(Utf16Reader::new(source, unit))? {
                SearchResult::Clean => Ok(SearchResult::Utf16),
                found => Ok(found),
            },
            None => self.search_bytes(start.as_slice().chain(source)),
        }
    }

    fn search_bytes(&self, mut source: impl Read) -> std::io::Result<SearchResult> {
        let mut window: Vec<u8> = Vec::new();
        let mut search_result = SearchResult::Clean;
        let mut is_first_window = true;
        let mut is_start = true;
        let mut is_json = false;
        let mut lines = LongLines { counts_erased: !self.has_written_marks, ..LongLines::default() };
        // The end of each window is searched again together with the next bytes, because a text, or two pieces of a
        // text, may begin there. At least as many new bytes are read each time, so that no byte is searched more than
        // twice.
        let max_kept_bytes =
            self.other_forms.max_bytes().max(2 * self.max_form_bytes + MAX_GAP_BYTES.max(MAX_MARK_BYTES));
        let chunk_bytes = CHUNK_BYTES.max(max_kept_bytes) as u64;
        loop {
            let kept_bytes = window.len();
            let read_bytes = source.by_ref().take(chunk_bytes).read_to_end(&mut window)?;
            let is_end = (read_bytes as u64) < chunk_bytes;
            if is_first_window && COMPRESSED_SIGNATURES.iter().any(|magic| window.starts_with(magic)) {
                search_result = SearchResult::Compressed;
            }
            if is_first_window {
                let start = window.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&window).trim_ascii_start();
                is_json = start.starts_with(b"{") || start.starts_with(b"[") && !start.starts_with(REDACTED);
            }
            is_first_window = false;
            if self.is_in_window(&Window { bytes: &window, is_start, is_end, is_json }) {
                return Ok(SearchResult::Found);
            }
            lines.add(&window, kept_bytes);
            if is_end {
                let is_unsearched = self.has_long_text && lines.have_marks();
                return Ok(if is_unsearched { SearchResult::LongLine } else { search_result });
            }
            let dropped_bytes = before_backslashes(&window, window.len().saturating_sub(max_kept_bytes));
            window.drain(..dropped_bytes);
            is_start &= dropped_bytes == 0;
        }
    }

    fn is_in_window(&self, window: &Window<'_>) -> bool {
        let bytes = window.bytes;
        let is_text_at = |(number, start): (usize, usize)| {
            let rest = bytes.get(start..).unwrap_or_default();
            let is_text = !(window.is_json && is_letter_of_escape(bytes, start));
            is_text && self.forms.get(number).is_some_and(|form| rest.starts_with(form))
        };
        if self.heads.occurrences(bytes).any(is_text_at) || self.other_forms.occur_in(bytes) {
            return true;
        }
        let marks = redaction_marks(bytes);
        self.has_piece_beside_mark(window, &marks)
            || self.quoted_lines.as_ref().is_some_and(|lines| lines.are_around(bytes, &marks))
            || self.split_lines.as_ref().is_some_and(|lines| lines.occur_in(bytes, window.is_json))
    }

    /// True if the text before or after a redaction mark in the window is part of one of the erased texts. An earlier
    /// redaction then left its mark in a quotation of that text. The text on each side of a mark extends to the next
    /// mark, or to the end of the string, line or file.
    fn has_piece_beside_mark(&self, window: &Window<'_>, marks: &[Range<usize>]) -> bool {
        let bytes = window.bytes;
        let is_piece_edge = |at: &usize| is_edge(bytes, *at, window.is_json);
        // A piece that extends beyond the window is left out, since the next window contains all of it.
        let file_start = window.is_start.then_some(0);
        let file_end = window.is_end.then_some(bytes.len());
        marks.iter().enumerate().any(|(n, mark)| {
            let previous_mark_end = n.checked_sub(1).and_then(|n| marks.get(n)).map(|mark| mark.end);
            let next_mark_start = marks.get(n + 1).map(|mark| mark.start);
            let from = (previous_mark_end.unwrap_or(0)..mark.start).rev().find(is_piece_edge);
            let to = (mark.end..next_mark_start.unwrap_or(bytes.len())).find(is_piece_edge);
            let from = from.map(|at| at + 1).or(previous_mark_end).or(file_start);
            let to = to.or(next_mark_start).or(file_end);
            let before = from.and_then(|from| bytes.get(from..mark.start));
            let after = to.and_then(|to| bytes.get(mark.end..to));
            are_around_mark(&self.joined_forms, before, after)
        })
    }
}

/// Finds lines with redaction marks in large files. If such a line is too long, the deletion does not compare the
/// pieces of quoted texts in it.
#[derive(Default)]
struct LongLines {
    /// True if the marks of erasures count. They do not count if the checked erasure may have written them.
    counts_erased: bool,
    /// Number of bytes of the file so far.
    bytes: u64,
    /// Number of bytes of the line so far.
    line_bytes: u64,
    line_has_mark: bool,
    have_marks: bool,
}

impl LongLines {
    /// Adds the next bytes of the file. The first `kept_bytes` bytes of the window were added before.
    fn add(&mut self, window: &[u8], kept_bytes: usize) {
        self.bytes += window.len().saturating_sub(kept_bytes) as u64;
        let mut at = kept_bytes;
        while at < window.len() {
            let line_end = window.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|n| at + n + 1);
            let end = line_end.unwrap_or(window.len());
            // A mark may begin before these bytes.
            let bytes_before = self.line_bytes.min((REDACTED.len() + ERASED_MARK_END.len() - 1) as u64) as usize;
            let part = window.get(at.saturating_sub(bytes_before)..end).unwrap_or_default();
            self.line_has_mark |= if self.counts_erased { has_mark(part) } else { has_mark_of_redaction(part) };
            self.line_bytes += (end - at) as u64;
            self.have_marks |= self.line_has_mark && self.line_bytes >= LONG_LINE_BYTES;
            if line_end.is_some() {
                (self.line_bytes, self.line_has_mark) = (0, false);
            }
            at = end;
        }
    }

    fn have_marks(&self) -> bool {
        self.have_marks && self.bytes >= LARGE_FILE_BYTES
    }
}

fn has_mark(bytes: &[u8]) -> bool {
    memmem::find(bytes, REDACTED).is_some()
}

/// True if the bytes contain a mark that no erasure wrote. A cut-off mark that may be from an erasure does not count.
fn has_mark_of_redaction(bytes: &[u8]) -> bool {
    let mut classes = memmem::find_iter(bytes, REDACTED).filter_map(|at| bytes.get(at + REDACTED.len()..));
    classes.any(|class| !class.starts_with(ERASED_MARK_END) && !ERASED_MARK_END.starts_with(class))
}

/// The positions of the redaction marks in a window.
fn redaction_marks(window: &[u8]) -> Vec<Range<usize>> {
    let mark_at = |start: usize| {
        let class = window.get(start + REDACTED.len()..)?;
        let length = class.iter().take_while(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')).count();
        let is_mark = length > 0 && class.get(length) == Some(&b']');
        is_mark.then_some(start..start + REDACTED.len() + length + 1)
    };
    memmem::find_iter(window, REDACTED).filter_map(mark_at).collect()
}

/// True if a string or a line ends at this byte: an unescaped quotation mark of JSON, or a line break.
fn is_edge(window: &[u8], at: usize, is_json: bool) -> bool {
    match window.get(at) {
        Some(b'\n') => true,
        Some(b'"') => is_json && !is_escaped(window, at),
        _ => false,
    }
}

/// True if the byte is the letter of an escape, which represents another character: `\nut` means a line break and `ut`.
fn is_letter_of_escape(window: &[u8], at: usize) -> bool {
    window.get(at).is_some_and(|byte| b"bfnrtu".contains(byte)) && is_escaped(window, at)
}

/// Returns `end`, or an earlier position if `end` would divide an escape.
fn before_backslashes(window: &[u8], end: usize) -> usize {
    let before = window.get(..end).unwrap_or_default();
    end - before.iter().rev().take(MAX_BACKSLASHES).take_while(|byte| **byte == b'\\').count()
}

fn is_escaped(window: &[u8], at: usize) -> bool {
    window.iter().take(at).rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Returns the texts and, for each text with several lines, also the text with the line endings of Windows
/// (`\r\n`).
fn with_windows_line_ends(mut texts: Vec<String>) -> Vec<String> {
    let has_line_feeds = |text: &&String| text.contains('\n') && !text.contains('\r');
    let windows: Vec<String> = texts.iter().filter(has_line_feeds).map(|text| text.replace('\n', "\r\n")).collect();
    texts.extend(windows);
    texts
}

/// The text as it is, escaped as in JSON, and escaped as in ASCII-only JSON (with lower-case and upper-case escapes).
fn written_forms(text: &str) -> BTreeSet<Vec<u8>> {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let json = quoted.trim_matches('"').to_owned();
    let mut out = BTreeSet::from([text.to_owned(), json.clone()]);
    for upper in [false, true] {
        let mut ascii = String::new();
        for unit in json.encode_utf16() {
            let _ = match (char::from_u32(u32::from(unit)).filter(char::is_ascii), upper) {
                (Some(c), _) => write!(ascii, "{c}"),
                (None, false) => write!(ascii, "\\u{unit:04x}"),
                (None, true) => write!(ascii, "\\u{unit:04X}"),
            };
        }
        out.insert(ascii);
    }
    out.into_iter().map(String::into_bytes).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn words_are_found_across_chunks_and_when_escaped() {
        let finder = TextFinder::new(&["Herr \"Müller\"".to_owned()], &[], true).unwrap().unwrap();
        let mut source = vec![b'x'; CHUNK_BYTES - 4];
        source.extend_from_slice("Herr \"Müller\"".as_bytes());
        assert!(matches!(finder.search(source.as_slice()), Ok(SearchResult::Found)), "across an edge");
        assert!(
            matches!(finder.search(&b"{\"a\":\"Herr \\\"M\\u00FCller\\\"\"}"[..]), Ok(SearchResult::Found)),
            "escaped"
        );
        assert!(matches!(finder.search(&b"Herr nobody"[..]), Ok(SearchResult::Clean)), "something else");
    }

    #[test]
    fn escaped_words_are_found_across_chunks_and_in_utf_16() {
        let finder = TextFinder::new(&["Herr \"Müller\" & Co\nsays <no>.".to_owned()], &[], true).unwrap().unwrap();
        let escaped = [
            r#"part0 = {"t":"Herr \"M\u00fcller\" \u0026 Co\nsays \u003cno\u003e."}"#,
            r#"a log: {"t":"{\"u\":\"Herr \\\"Müller\\\" & Co\\nsays <no>.\"}"}"#,
            "<p>Herr &quot;M&uuml;ller&quot; &amp; Co\nsays &#60;no&#62;.</p>",
        ];
        for escaped in escaped {
            for before in [0, CHUNK_BYTES - 30] {
                let source = [vec![b'x'; before].as_slice(), escaped.as_bytes()].concat();
                assert_eq!(finder.search(source.as_slice()).unwrap(), SearchResult::Found, "{before}: {escaped}");
            }
            let utf16: Vec<u8> = format!("\u{feff}{escaped}").encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_eq!(finder.search(utf16.as_slice()).unwrap(), SearchResult::Found, "UTF-16: {escaped}");
        }
        assert_eq!(finder.search(&b"t = \"Herr \\\"Meier\\\"\""[..]).unwrap(), SearchResult::Clean);
    }

    #[test]
    fn letters_of_escapes_in_json_are_not_words() {
        let finder = TextFinder::new(&["never".to_owned()], &[], true).unwrap().unwrap();
        for (file, expected) in [
            (r#"{"t":"Go.\never after"}"#, SearchResult::Clean),
            (r#"{"t":"C:\\never"}"#, SearchResult::Found),
            (r"C:\never", SearchResult::Found),
        ] {
            assert_eq!(finder.search(file.as_bytes()).unwrap(), expected, "{file}");
        }
    }

    #[test]
    fn words_of_a_long_text_are_found_across_its_chunks() {
        let text = format!("Plan: {}", "a green door. ".repeat(CHUNK_BYTES / 10));
        let finder = TextFinder::new(std::slice::from_ref(&text), &[], true).unwrap().unwrap();
        for before in [0, 4 * CHUNK_BYTES] {
            let mut source = vec![b'x'; before];
            source.extend_from_slice(text.as_bytes());
            assert_eq!(finder.search(source.as_slice()).unwrap(), SearchResult::Found, "after {before} bytes");
        }
    }

    #[test]
    fn pieces_of_a_quoted_text_beside_a_mark_are_found() {
        let texts = ["The key is under the \"red\" stone of the shed. Tell nobody.".to_owned()];
        let finder = TextFinder::new(&texts, &[], true).unwrap().unwrap();
        let is_found = |bytes: &str| finder.search(bytes.as_bytes()).unwrap() == SearchResult::Found;
        assert!(
            is_found(r#"{"a":"The key is under the \"red\" stone of the sh[REDACTED:name]."}"#),
            "before a mark, in JSON"
        );
        assert!(
            is_found("x\n[REDACTED:name]under the \"red\" stone of the shed. Tell nobody.\n"),
            "after a mark, in a line"
        );
        assert!(is_found(r#"{"a":"The key is[REDACTED:name]the \"red\" stone of the shed."}"#), "two short pieces");
        assert!(!is_found(r#"{"a":"Other words. [REDACTED:name] And more."}"#), "other words");
        assert!(!is_found(r#"{"a":"nobody [REDACTED:name]","b":"The key"}"#), "too short");
        assert!(!is_found(r#"{"a":"The key is under the [REDACTED:name], he says."}"#), "a phrase of other texts too");
        assert!(!is_found(r#"{"a":"So the key is under the [REDACTED:name]"}"#), "more than the text");
    }

    #[test]
    fn pieces_at_the_start_and_the_end_of_a_file_are_found() {
        let texts = ["The key is under the \"red\" stone of the shed. Tell nobody.".to_owned()];
        let finder = TextFinder::new(&texts, &[], true).unwrap().unwrap();
        let is_found = |bytes: &str| finder.search(bytes.as_bytes()).unwrap() == SearchResult::Found;
        assert!(is_found("The key is under the \"red\" stone of the [REDACTED:name], he says."), "at the start");
        assert!(is_found("[REDACTED:name] under the \"red\" stone of the shed. Tell nobody."), "at the end");
        assert!(!is_found(&format!("{}[REDACTED:name] is under the", "x".repeat(CHUNK_BYTES))), "too short");
    }

    #[test]
    fn the_lines_around_a_marked_line_are_found() {
        let text =
            "Plan of the garden:\nThe old key is under the shed.\nAsk Müller for it.\nTea is at four in the garden.";
        let finder = TextFinder::new(&[text.to_owned()], &[], true).unwrap().unwrap();
        let is_found = |bytes: &str| finder.search(bytes.as_bytes()).unwrap() == SearchResult::Found;
        let quoted = text.replace("Müller", "[REDACTED:name]");
        assert!(is_found(&format!("# Notes\n{quoted}\nOr not.\n")));
        assert!(is_found("Or [REDACTED:name] for it.\nTea is at four in the garden. Or not."), "the end of the text");
        assert!(!is_found("Plan of the garden:\nThe old key is under the shed.\nOr [REDACTED:name]."), "other words");
    }

    #[test]
    fn pieces_of_scripts_without_spaces_are_found() {
        let texts = ["庭の小屋の鍵は赤い石の下にあります。田中さんが知っています。".to_owned()];
        let finder = TextFinder::new(&texts, &[], true).unwrap().unwrap();
        let is_found = |bytes: &str| finder.search(bytes.as_bytes()).unwrap() == SearchResult::Found;
        assert!(is_found(r#"{"a":"庭の小屋の鍵は赤い石の下にあります。[REDACTED:name]"}"#));
        let escaped: String =
            "庭の小屋の鍵は赤い石の下にあります。".encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        assert!(is_found(&format!(r#"{{"a":"{escaped}[REDACTED:name]"}}"#)), "escaped");
        assert!(!is_found(r#"{"a":"石の下に[REDACTED:name]"}"#), "a phrase of other texts too");
    }

    #[test]
    fn a_text_with_marks_is_searched_for_in_pieces_after_an_erasure() {
        let lines =
            "The key is under the [REDACTED:x] stone of the shed.\n[REDACTED:y] He who knows the way is Müller now.";
        let texts = [lines.to_owned()];
        for (is_erasure, expected) in [(true, SearchResult::Found), (false, SearchResult::Clean)] {
            let finder = TextFinder::new(&texts, &[], is_erasure).unwrap().unwrap();
            let pair = "I see: The key is under the red stone of the shed.";
            for quoted in [pair, "So: He who knows the way is Müller now. Yes."] {
                let quoted = format!("{quoted}\nThe key is under the");
                assert_eq!(finder.search(quoted.as_bytes()).unwrap(), expected, "{quoted}");
            }
            let other = "The key is under the table.\nIn the stone of the shed";
            assert_eq!(finder.search(other.as_bytes()).unwrap(), SearchResult::Clean, "a phrase of other texts too");
        }
    }

    #[test]
    fn what_an_earlier_erasure_left_and_quotations_of_changed_texts_are_found() {
        let texts = ["[REDACTED:erased] My PIN is 4711.".to_owned()];
        let quotations = [("Ask Müller.\nHe has it.".to_owned(), "Ask [REDACTED:x].\nHe has it.".to_owned())];
        for (is_erasure, expected) in [(true, SearchResult::Found), (false, SearchResult::Clean)] {
            let finder = TextFinder::new(&texts, &quotations, is_erasure).unwrap().unwrap();
            let result = finder.search(&br#"{"a":"The key is here. My PIN is 4711."}"#[..]).unwrap();
            assert_eq!(result, expected, "{is_erasure}");
            for quoted in [r#"{"a":"Ask M\u00fcller.\nHe has it."}"#, "Ask Müller.\r\nHe has it."] {
                assert_eq!(finder.search(quoted.as_bytes()).unwrap(), SearchResult::Found, "{quoted}");
            }
            assert_eq!(finder.search(&b"He has it."[..]).unwrap(), SearchResult::Clean);
            let changed = r#"{"a":"Ask [REDACTED:x].\nHe has it."}"#;
            assert_eq!(finder.search(changed.as_bytes()).unwrap(), SearchResult::Clean);
        }
    }

    #[test]
    fn a_long_line_with_a_mark_in_a_large_file_is_not_clean_after_an_erasure() {
        let texts = ["Some text of a record that is longer than a phrase.".to_owned()];
        let long_line = |mark: &str| {
            let mut line = mark.as_bytes().to_vec();
            line.resize(LONG_LINE_BYTES as usize, b'x');
            line
        };
        // Chunks divide `LARGE_FILE_BYTES` evenly. With the line break, the mark begins 7 bytes before a chunk ends.
        let across_chunks = LARGE_FILE_BYTES - 8;
        for (mark, first_line_bytes, is_erasure, has_written_marks, expected) in [
            ("[REDACTED:name]", LARGE_FILE_BYTES, true, true, SearchResult::LongLine),
            ("[REDACTED:name]", across_chunks, true, true, SearchResult::LongLine),
            ("", LARGE_FILE_BYTES, true, false, SearchResult::Clean),
            ("[REDACTED:name]", 1 << 20, true, false, SearchResult::Clean),
            ("[REDACTED:name]", LARGE_FILE_BYTES, false, false, SearchResult::Clean),
            ("[REDACTED:erased]", LARGE_FILE_BYTES, true, true, SearchResult::Clean),
            ("[REDACTED:erased]", across_chunks, true, true, SearchResult::Clean),
            ("[REDACTED:erased]", LARGE_FILE_BYTES, true, false, SearchResult::LongLine),
        ] {
            let finder = TextFinder::new(&texts, &[], is_erasure).unwrap().unwrap();
            let finder = TextFinder { has_written_marks, ..finder };
            let line = long_line(mark);
            let first_line = std::io::repeat(b'y').take(first_line_bytes).chain(&b"\n"[..]);
            let result = finder.search(first_line.chain(line.as_slice())).unwrap();
            assert_eq!(result, expected, "{mark:?} after {first_line_bytes} bytes, {is_erasure}");
        }
    }
}
